"""Times verdicts on batches of 1,000 series: the posterior alone, `validate`, and the interval of a verdict.

Simulated series: six settings p = 32, ..., 1024 by default, five repetitions, log-normal noise of 1 to 10 %, an expectation of p
and the 26 growths of the preset ``ics15``. CPU time, all threads together, after one warm-up batch; an interval when it is asked
for first, and again.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

SETTINGS = 6
BATCH = 1000
INTERVALS = 100


def settings(n: int) -> np.ndarray:
    return 32 * 2.0 ** np.arange(n)


def make_batch(seed: int, n: int = SETTINGS) -> np.ndarray:
    import scalkit as sk

    x = settings(n)
    ticks = sk.SearchSpace.preset("ics15").ticks
    rng = np.random.default_rng(seed)
    shapes = np.array([tick(x) / tick(x).max() for tick in ticks])
    share = rng.random((BATCH, 1))
    y = share + (1 - share) * shapes[rng.integers(len(ticks), size=BATCH)]
    noise = rng.choice([0.01, 0.02, 0.05, 0.1], (BATCH, 1, 1))
    return y[:, :, None] * np.exp(noise * rng.standard_normal((BATCH, n, 5)))


def posteriors(values: np.ndarray) -> None:
    """Compute the posterior of each series, and what a verdict takes from it first."""
    import scalkit as sk
    from scalkit.fit.regression.locations import standard_errors
    from scalkit.fit.regression.posterior import posteriors as posteriors_of
    from scalkit.fit.regression.priors import TIMES

    x = settings(values.shape[1])
    y = np.quantile(values, 0.25, axis=2)
    error = np.array([standard_errors(one, low) for one, low in zip(values, y, strict=True)])
    claim = sk.Growth.parse("p")
    for one in posteriors_of(x, "p", y, error, sk.SearchSpace.preset("ics15").ticks, claim, TIMES):
        one.too_fast(claim)


def validated(values: np.ndarray) -> tuple[float, float, float]:
    """Return the CPU time of `validate` on all series, and of an interval that is asked for first, and again; in s."""
    import scalkit as sk

    x = settings(values.shape[1])
    one = sk.measurements(x, values[0])
    names = [f"f{place}" for place in range(len(values))]
    data = one.isel(function=[0] * len(values)).assign_coords(function=names)
    data["time"] = data.time.copy(data=values[:, :, None, :])
    claims = {name: {"expectation": "p", "deviation": "p^(1/2)", "space": "ics15"} for name in names}
    start = time.process_time()
    found = tuple(sk.validate(data, claims, progress=False).verdicts)
    took = [time.process_time() - start]
    found[0].interval(x[-1] * 2)
    for factor in (4, 16):
        start = time.process_time()
        for verdict in found[1 : INTERVALS + 1]:
            verdict.interval(x[-1] * factor)
        took.append((time.process_time() - start) / INTERVALS)
    return took[0], took[1], took[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--settings", type=int, default=SETTINGS)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    posteriors(make_batch(args.seed, args.settings))
    validated(make_batch(args.seed, args.settings))
    rates, times = [], []
    for batch in range(args.batches):
        values = make_batch(args.seed + batch + 1, args.settings)
        times.append(validated(values))
        start = time.process_time()
        posteriors(values)
        rates.append(BATCH / (time.process_time() - start))
    whole, first, again = np.median(times, axis=0)
    result = {
        "posteriors_per_second": {"best": max(rates), "median": float(np.median(rates)), "slowest": min(rates)},
        "validate_per_second": BATCH / whole,
        "interval_ms": {"first": 1e3 * first, "again": 1e3 * again},
    }
    if args.json:
        print(json.dumps(result))
    else:
        print("posterior: " + "  ".join(f"{k} {v:,.0f}/s" for k, v in result["posteriors_per_second"].items()))
        print(f"validate: median {BATCH / whole:,.0f} verdicts/s; an interval: {1e3 * first:.2f} ms, again {1e3 * again:.2f} ms")


if __name__ == "__main__":
    main()
