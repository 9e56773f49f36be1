"""Computes what the best possible judge says about the series of the group ``limit``.

The best judge knows how `judging_series` makes these series: one of nine classes, the distribution
of the constant, the noise. It knows nothing of the size of the values: the prior of its logarithm
is flat. Its probabilities are the exact posterior, so no judge that knows less can do better on
average. Run as a program, it prints how often the probability of growing faster than claimed is
clearly low or high.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

import numpy as np
from judging_series import (
    AHEAD,
    CLASSES,
    ONE_CLASS,
    TRUE,
    TWO_CLASSES,
    Array,
    Case,
    Term,
    ahead_of,
    claims_of,
    generate,
    limit_constant,
    term_values,
)

QUANTILES = (np.arange(2000) + 0.5) / 2000
"""Of the constant: the integral over it is a mean over these."""
UNIFORM, CLAIM_BOOSTED, CLAIM_KNOWN = "classes alike", "claim +0.3", "claims known"
PRIORS = (UNIFORM, CLAIM_BOOSTED, CLAIM_KNOWN)
BOOST = 0.3
FINE, GENEROUS, FIX = 0.25, 0.3, 0.95


def log_densities(case: Case) -> Array:
    """Return the log density of the series for each class (rows) and constant, without the prior.

    The means of the logarithms are all that matters, as the noise is log-normal and known. The
    flat prior of the logarithm of the scale takes away their mean.
    """
    means = np.log(case.repetitions).mean(axis=1)
    variance = case.noise**2 / case.repetitions.shape[1]
    found = []
    for term in CLASSES:
        growth = term_values(term, case.x) / term_values(term, case.x[:1])
        constants = limit_constant(case.row, QUANTILES, term, case.x)
        off = means - np.log(constants[:, None] + growth)
        found.append(-0.5 * off.var(axis=1) * len(case.x) / variance)
    return np.array(found)


def class_priors(claim: Term, prior: str = UNIFORM) -> Array:
    """Return the prior of the classes: uniform, with more for the claim, or as claims are made."""
    uniform = np.full(len(CLASSES), 1 / len(CLASSES))
    if prior == UNIFORM:
        return uniform
    if prior == CLAIM_BOOSTED:
        return (1 - BOOST) * uniform + BOOST * np.array([term == claim for term in CLASSES])
    weights = np.zeros(len(CLASSES))
    for kind in (TRUE, ONE_CLASS, TWO_CLASSES):
        about = [claims_of(term, kind) for term in CLASSES]
        weights += np.array([claim in claims for claims in about]) / sum(map(bool, about))
    return np.asarray(weights / weights.sum())


def best_posterior(case: Case, prior: str = UNIFORM) -> Array:
    """Return the exact probability of each class."""
    logs = log_densities(case)
    weights = np.exp(logs - logs.max()).mean(axis=1) * class_priors(case.claim, prior)
    return np.asarray(weights / weights.sum())


def best_too_fast(case: Case, prior: str = UNIFORM) -> float:
    """Return the exact probability that the values grow faster than claimed."""
    faster = np.array([term > case.claim for term in CLASSES])
    return float(best_posterior(case, prior)[faster].sum())


def best_prediction(case: Case, prior: str = UNIFORM) -> Array:
    """Return the predictions with the least expected relative error at 2, 4 and 16 times."""
    logs = log_densities(case)
    weights = np.exp(logs - logs.max()) * class_priors(case.claim, prior)[:, None]
    means = np.log(case.repetitions).mean(axis=1)
    values = np.empty((len(AHEAD), *weights.shape))
    for k, term in enumerate(CLASSES):
        growth = term_values(term, ahead_of(case.x)) / term_values(term, case.x[:1])
        constants = limit_constant(case.row, QUANTILES, term, case.x)
        shape = constants[:, None] + growth
        scale = (means - np.log(shape[:, : len(means)])).mean(axis=1, keepdims=True)
        values[:, k] = (shape[:, len(means) :] * np.exp(scale)).T
    found = []
    for value in values.reshape(len(AHEAD), -1):
        order = np.argsort(value)
        tilted = np.cumsum((weights.ravel() / value)[order])  # a median weighted with 1 / value
        found.append(value[order][np.searchsorted(tilted, tilted[-1] / 2)])
    return np.array(found)


def rates(cases: Sequence[Case], too_fast: Sequence[float]) -> dict[str, float]:
    """Return the rates, in %, at which the probability of growing too fast is clearly low or high."""
    found: dict[str, float] = {}
    values = np.asarray(too_fast)
    groups = {"true": (TRUE,), "one class": (ONE_CLASS,), "two classes": (TWO_CLASSES,), "one or two": (ONE_CLASS, TWO_CLASSES)}
    for short, kinds in groups.items():
        of_kind = values[[case.kind in kinds for case in cases]]
        if not of_kind.size:
            continue
        limits = {f"P <= {limit}": of_kind <= limit for limit in (FINE, GENEROUS)}
        limits[f"P >= {FIX}"] = of_kind >= FIX
        found |= {f"{short}: {n}": 100 * float(flags.mean()) for n, flags in limits.items()}
    wrong = np.array([case.truth > case.claim for case in cases])
    found["mean squared error of P"] = float(((values - wrong) ** 2).mean())
    return found


def report(cases: Sequence[Case], others: Mapping[str, Sequence[float]] | None = None) -> None:
    """Print the rates of the best judge, and of others whose probabilities are given.

    The best judge takes all classes for alike, or gives the claimed one 0.3 more, or even knows how
    often which claim is made about which class.
    """
    judges = {f"best, {p}": [best_too_fast(case, p) for case in cases] for p in PRIORS}
    judges |= {name: list(values) for name, values in (others or {}).items()}
    for row, noise in sorted({(case.row, case.noise) for case in cases}):
        places = [i for i, case in enumerate(cases) if (case.row, case.noise) == (row, noise)]
        some = [cases[i] for i in places]
        table = {name: rates(some, [p[i] for i in places]) for name, p in judges.items()}
        print(f"\n{row}, noise {100 * noise:g} %, {len(some)} series: % of the claims of a kind")
        print(" " * 24 + "".join(f" | {name}" for name in table))
        for quantity in next(iter(table.values())):
            digits = 3 if "squared" in quantity else 1
            cells = [f"{table[name][quantity]:.{digits}f}".rjust(len(name)) for name in table]
            print(quantity.ljust(24) + "".join(f" | {cell}" for cell in cells))
        errors = [100 * abs(best_prediction(case)[-1] / case.later[-1] - 1) for case in some]
        median, most = np.quantile(errors, (0.5, 0.9))
        print(f"best prediction at {AHEAD[-1]} times: median {median:.1f} %, p90 {most:.1f} %")
        print(f"{ONE_CLASS}: how often P >= {FIX}, by truth and claim, in the same order")
        for term in CLASSES[1:]:
            mine = [i for i in places if cases[i].truth == term and cases[i].kind == ONE_CLASS]
            if mine:
                shares = [100 * np.mean([p[i] >= FIX for i in mine]) for p in judges.values()]
                numbers = "".join(f"{share:6.0f}" for share in shares)
                print(f"  {term} over {cases[mine[0]].claim}, {len(mine)}:".ljust(32) + numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1800)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scalkit", action="store_true", help="judge with scalkit, too")
    options = parser.parse_args()
    cases = generate("limit", options.cases, options.seed)
    others = {}
    if options.scalkit:
        from judging import judge  # which imports this file

        others["scalkit"] = [one.too_fast for one in judge(cases)]
    report(cases, others)


if __name__ == "__main__":
    main()
