"""Times the posterior over the ruler: probabilities, rivals, crossing and hidden share of batches of 1,000 series.

Simulated series: six settings p = 32, ..., 1024, five repetitions, log-normal noise of 1 to 10 %, an expectation of p and the 26
growths of the preset ``ics15``. CPU time, all threads together, after one warm-up batch.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

X = 32 * 2.0 ** np.arange(6)
BATCH = 1000


def make_batch(seed: int) -> np.ndarray:
    import scalkit as sk

    ticks = sk.SearchSpace.preset("ics15").ticks
    rng = np.random.default_rng(seed)
    shapes = np.array([tick(X) / tick(X).max() for tick in ticks])
    share = rng.random((BATCH, 1))
    y = share + (1 - share) * shapes[rng.integers(len(ticks), size=BATCH)]
    noise = rng.choice([0.01, 0.02, 0.05, 0.1], (BATCH, 1, 1))
    return y[:, :, None] * np.exp(noise * rng.standard_normal((BATCH, len(X), 5)))


def verdicts(values: np.ndarray) -> dict[str, np.ndarray]:
    """Return what a verdict carries, for each series."""
    import scalkit as sk
    from scalkit.validation.crossing import crossing
    from scalkit.validation.posterior.hypotheses import hypotheses
    from scalkit.validation.posterior.masses import noisy_masses
    from scalkit.validation.posterior.noise import summarise

    expectation = sk.Expectation("p", deviation="p^(1/2)")
    hyp = hypotheses(X, expectation, sk.SearchSpace.preset("ics15").ticks)
    masses = noisy_masses(summarise(values), hyp)
    crossings = np.array([crossing(growth, expectation) for growth in hyp.growths])
    order = np.argsort(-masses.growth, axis=1)[:, :6]
    return {
        "probability": np.stack([masses.growth[:, hyp.rank == rank].sum(axis=1) for rank in range(3)], axis=1),
        "rivals": order,
        "weights": np.take_along_axis(masses.growth, order, axis=1),
        "crossing": crossings[order[:, 0]],
        "hidden": masses.bound,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    verdicts(make_batch(args.seed))
    rates = []
    for batch in range(args.batches):
        values = make_batch(args.seed + batch + 1)
        start = time.process_time()
        verdicts(values)
        rates.append(BATCH / (time.process_time() - start))
    result = {"verdicts_per_second": {"best": max(rates), "median": float(np.median(rates)), "slowest": min(rates)}}
    if args.json:
        print(json.dumps(result))
    else:
        print("  ".join(f"{k} {v:,.0f} verdicts/s" for k, v in result["verdicts_per_second"].items()))


if __name__ == "__main__":
    main()
