"""Times `scalkit.fit_models` on many series with all 26 growths of the preset ``ics15``, beside Extra-P 4.2.5 on a part of them.

Series: eight points p = 2, 4, ..., 256, one value each; a random growth with a random share of a constant, between a
nanosecond and a second, log-normal noise of 0, 2, 5 and 10 %. CPU time, all threads together, after one warm-up call; the best
of the repetitions and all of them. Memory: the peak of a process that fits a million series, beyond that before
their creation and the series themselves.
Extra-P runs with its defaults in an environment of its own, which this program makes, because it needs numpy below 2; its
objects are made before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / "build" / "extrap-4.2.5"
X = 2.0 ** np.arange(1, 9)
BARS = {"series_per_second": 1e6, "times_extrap": 5e3, "memory_mib": 1024.0}
CHUNK = 20_000


def make_series(n_series: int, seed: int) -> np.ndarray:
    """Return values of shape (n_series, points)."""
    from scalkit import SearchSpace

    ticks = SearchSpace.preset("ics15").ticks
    shapes = np.array([tick(X) / tick(X).max() for tick in ticks])
    rng = np.random.default_rng(seed)
    values = np.empty((n_series, len(X)))
    for start in range(0, n_series, CHUNK):
        n = min(CHUNK, n_series - start)
        share = rng.random((n, 1))
        noise = rng.choice([0.0, 0.02, 0.05, 0.1], (n, 1)) * rng.standard_normal((n, len(X)))
        size = 10.0 ** rng.uniform(-9, 0, (n, 1))
        values[start : start + n] = size * (share + (1 - share) * shapes[rng.integers(len(ticks), size=n)]) * np.exp(noise)
    return values


def measure_rate(n_series: int, seed: int, repetitions: int) -> dict[str, Any]:
    import scalkit as sk

    values, space = make_series(n_series, seed), sk.SearchSpace.preset("ics15")
    sk.fit_models(X, values, space)
    rates = []
    for _ in range(repetitions):
        start = time.process_time()
        models = sk.fit_models(X, values, space)
        rates.append(n_series / (time.process_time() - start))
    return {"n_series": n_series, "best": max(rates), "all": rates, "constant": float(np.mean(models.best == 0))}


def measure_memory(n_series: int, seed: int) -> dict[str, float]:
    import scalkit as sk

    space = sk.SearchSpace.preset("ics15")
    sk.fit_models(X, make_series(10, seed), space)
    unit = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss is in bytes on macOS, in KiB elsewhere
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    values = make_series(n_series, seed)
    models = sk.fit_models(X, values, space)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = sum(np.asarray(getattr(models, name)).nbytes for name in ("best", "rss", "n_points", "is_rough")) + 5 * 8 * n_series
    return {
        "n_series": n_series,
        "input_mib": values.nbytes / 2**20,
        "result_mib": result / 2**20,
        "beyond_input_mib": (after - before) / unit - values.nbytes / 2**20,
    }


def in_process(*arguments: object, python: Path | str = sys.executable) -> Any:
    """Return what this program prints as JSON in a process of its own."""
    command = [str(argument) for argument in (python, __file__, *arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def extrap_python(environment: Path) -> Path:
    """Return the interpreter of Extra-P's environment, made at first use."""
    python = environment / "bin" / "python"
    if not (environment / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "extrap==4.2.5", "numpy<2"], check=True)
        (environment / "ready").touch()
    return python


def run_extrap(path: Path) -> dict[str, float]:
    """Model the series of a file; runs in Extra-P's environment."""
    from extrap.entities.callpath import Callpath
    from extrap.entities.coordinate import Coordinate
    from extrap.entities.experiment import Experiment
    from extrap.entities.measurement import Measurement
    from extrap.entities.metric import Metric
    from extrap.entities.parameter import Parameter
    from extrap.modelers.model_generator import ModelGenerator
    from extrap.modelers.single_parameter.basic import SingleParameterModeler

    values = np.load(path)

    def seconds(rows: np.ndarray) -> tuple[float, float]:
        start = time.process_time()
        experiment = Experiment()
        experiment.add_parameter(Parameter("p"))
        for i, row in enumerate(rows):
            for p, value in zip(X, row, strict=True):
                experiment.add_measurement(Measurement(Coordinate(p), Callpath(f"f{i}"), Metric("time"), [value]))
        middle = time.process_time()
        ModelGenerator(experiment, modeler=SingleParameterModeler()).model_all()
        return middle - start, time.process_time() - middle

    seconds(values[:20])
    objects_s, modelling_s = seconds(values)
    return {
        "n_series": len(values),
        "objects_s": objects_s,
        "modelling_s": modelling_s,
        "series_per_second": len(values) / modelling_s,
    }


def compare(args: argparse.Namespace) -> dict[str, Any]:
    memory = in_process("--memory", args.memory_series, "--seed", args.seed)  # first: a peak is handed down to children
    rate = measure_rate(args.series, args.seed, args.repetitions)
    found: dict[str, Any] = {"seed": args.seed, "numpy": np.__version__, "bars": BARS, "scalkit": rate, "memory": memory}
    if not args.no_extrap:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "series.npy"
            np.save(path, make_series(args.series, args.seed)[: args.extrap_series])
            found["extrap"] = in_process("--extrap", path, python=extrap_python(args.extrap_env))
        found["times_extrap"] = rate["best"] / found["extrap"]["series_per_second"]
    return found


def show(found: dict[str, Any]) -> None:
    rate, memory = found["scalkit"], found["memory"]
    print(f"{'':34s}{'measured':>14s}{'bar':>14s}")
    print(f"{'scalkit, series per CPU second':34s}{rate['best']:14,.0f}{BARS['series_per_second']:14,.0f}")
    print(f"{'  slowest repetition':34s}{min(rate['all']):14,.0f}")
    label = f"MiB beyond the input, {memory['n_series']:,}"
    print(f"{label:34s}{memory['beyond_input_mib']:14,.0f}{BARS['memory_mib']:14,.0f}")
    if "extrap" in found:
        print(f"{'Extra-P 4.2.5, series per second':34s}{found['extrap']['series_per_second']:14,.1f}")
        print(f"{'ratio':34s}{found['times_extrap']:14,.0f}{BARS['times_extrap']:14,.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=400_000)
    parser.add_argument("--extrap-series", type=int, default=1000, help="the first ones of the same")
    parser.add_argument("--memory-series", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--extrap-env", type=Path, default=ENVIRONMENT, help="made if it is not there: %(default)s")
    parser.add_argument("--no-extrap", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--extrap", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.extrap:
        print(json.dumps(run_extrap(args.extrap)))
    elif args.memory:
        print(json.dumps(measure_memory(args.memory, args.seed)))
    else:
        found = compare(args)
        print(json.dumps(found)) if args.json else show(found)


if __name__ == "__main__":
    main()
