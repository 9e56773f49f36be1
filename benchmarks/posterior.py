"""Times batches of 1,000 verdicts and their intervals, and Extra-P on the first 200 series of each.

Simulated series: seven points p = 32, ..., 2048 by default, five repetitions, log-normal noise of
1 to 10 %, an expectation of p, and the growths that compete by default. CPU time of one thread,
after one batch to warm up. Extra-P 4.2.5 runs in an environment of its own (see extra_p.py).
"""

from __future__ import annotations

import os

# Set before numpy starts its threads: all times are those of one.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import contextlib
import io
import json
import sys
import time

import extra_p
import numpy as np

POINTS = 7
BATCH = 1000
ALONE = 100
"""Series that are judged one at a time."""
PEERS = 200
"""Series that Extra-P models."""
AHEAD = 2
"""Intervals are those at so many times the largest point."""


def points(n: int) -> np.ndarray:
    """Return the points of the series: powers of two."""
    return 32 * 2.0 ** np.arange(n)


def make_batch(seed: int, n: int = POINTS) -> np.ndarray:
    """Return repetitions of series, shape (series, points, repetitions)."""
    import scalkit as sk

    x = points(n)
    terms = sk.SearchSpace.preset("ics15").ticks
    rng = np.random.default_rng(seed)
    shapes = np.array([term(x) / term(x).max() for term in terms])
    constant = rng.random((BATCH, 1))
    y = constant + (1 - constant) * shapes[rng.integers(len(terms), size=BATCH)]
    noise = rng.choice([0.01, 0.02, 0.05, 0.1], (BATCH, 1, 1))
    return y[:, :, None] * np.exp(noise * rng.standard_normal((BATCH, n, 5)))


def measured(values: np.ndarray) -> dict[str, float]:
    """Return CPU seconds for each series: verdicts in a batch, intervals, and verdicts alone."""
    import scalkit as sk

    x = points(values.shape[1])
    names = [f"f{place}" for place in range(len(values))]
    data = sk.measurements(x, values[0]).isel(function=[0] * len(values)).assign_coords(function=names)
    data["time"] = data.time.copy(data=values[:, :, None, :])
    start = time.process_time()
    verdicts = tuple(sk.validate(data, dict.fromkeys(names, "p"), progress=False).verdicts)
    judged = time.process_time()
    for verdict in verdicts:
        verdict.interval(AHEAD * x[-1])
    asked = time.process_time()
    for one in names[:ALONE]:
        sk.validate(data.sel(function=[one]), {one: "p"}, progress=False)
    alone = time.process_time()
    return {"verdict": (judged - start) / len(names), "interval": (asked - judged) / len(names), "alone": (alone - asked) / ALONE}


def extrap_seconds(series: list[list[list[float]]]) -> float:
    """Return Extra-P's CPU seconds for each series; runs in its environment."""
    from extrap.entities.callpath import Callpath
    from extrap.entities.coordinate import Coordinate
    from extrap.entities.experiment import Experiment
    from extrap.entities.measurement import Measurement
    from extrap.entities.metric import Metric
    from extrap.entities.parameter import Parameter
    from extrap.modelers.model_generator import ModelGenerator
    from extrap.modelers.single_parameter.basic import SingleParameterModeler

    def seconds(some: list[list[list[float]]]) -> float:
        experiment = Experiment()
        experiment.add_parameter(Parameter("p"))
        for number, repetitions in enumerate(some):
            for x, values in zip(points(len(repetitions)).tolist(), repetitions, strict=True):
                path = Callpath(f"f{number}")
                experiment.add_measurement(Measurement(Coordinate(x), path, Metric("time"), values))
        start = time.process_time()
        with contextlib.redirect_stderr(io.StringIO()):
            ModelGenerator(experiment, modeler=SingleParameterModeler()).model_all()
        return (time.process_time() - start) / len(some)

    seconds(series[:5])  # what is loaded once is not counted
    return seconds(series)


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--batches", type=int, default=3, choices=range(1, 101), metavar="N", help="1 to 100; default: %(default)s"
    )
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--points", type=int, default=POINTS, help="of each series; default: %(default)s")
    parser.add_argument("--no-extrap", action="store_true", help="leave Extra-P out")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(extra_p.WORKER, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.extrap_worker:
        print(json.dumps(extrap_seconds(json.load(sys.stdin))))
        return
    measured(make_batch(options.seed, options.points)[:ALONE])
    rounds = []
    for batch in range(1, options.batches + 1):
        values = make_batch(options.seed + batch, options.points)
        took = measured(values)
        if not options.no_extrap:
            took["Extra-P"] = float(extra_p.answer(__file__, values[:PEERS].tolist()))
        rounds.append(took)
    median = {name: float(np.median([took[name] for took in rounds])) for name in rounds[0]}
    median = {"verdict and interval": median["verdict"] + median["interval"], **median}
    if options.json:
        print(json.dumps({"points": options.points, "seconds_each": median}))
        return
    peer = median.get("Extra-P")
    for name, seconds in median.items():
        ratio = f"   Extra-P takes {peer / seconds:.1f} times as long" if peer and name != "Extra-P" else ""
        print(f"{name:20s} {1e3 * seconds:7.2f} ms   {1 / seconds:5.0f} a second{ratio}")


if __name__ == "__main__":
    main()
