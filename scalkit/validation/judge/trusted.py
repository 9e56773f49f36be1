"""The coefficients of one growth where some settings are trusted more than others."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scalkit.arrays import Floats
from scalkit.fit.model import Model
from scalkit.validation.expectation import Expectation
from scalkit.validation.posterior.profiles import drifting

_STEPS = 30
_RANGE = 80.0  # natural logarithm of values that squares of 64 bits hold beside each other
_TINIEST = 1e-300
_LEAST = 1e-3  # of the term at a setting that a negative constant leaves
_CONVERGED = 1e-12
_SAME = 1 + 1e-12  # squares are flat at their least: a later step is nearer though rounding makes them no smaller
_COMPARABLE = 0.125
"""A growth that is this part as probable as the best may be shown; where a rank is sure, no other rank is."""
_CLOSE = 0.05
"""Relative misfit up to which exact times follow a model at all settings."""
_POSSIBLE = 0.01
"""A growth that is this part as probable as the best may be shown where times follow its model, and that of no comparable one:
the probability of these is of sums with a slower term, as of log(p) steps and a few bytes for each process."""
_DRIFT = 100.0
"""Variance by which exact times misfit more at the smallest setting than at the largest; chosen on half of the real series."""


def refitted(model: Model, x: Floats, y: Floats, precision: Floats, may_be_negative: bool) -> Model:
    """Return the model with the coefficients that leave the least ``r' P r``, `r` being logarithms of values over the model's.

    What the model says of its fit stays that of settings that are all alike. The same comes back where the growth is a
    constant or would have to fall.

    `precision` P of shape (points, points).
    `may_be_negative`: whether the constant may be, as far as no value is.
    """
    if model.growth.is_constant:
        return model
    z, logs = np.log(y), np.log(2.0) * model.growth.log2_value(x)
    if np.ptp(z) > _RANGE or np.ptp(logs) > _RANGE:
        return model
    term, unit = np.exp(logs - logs.max()), float(z[-1])
    found = _coefficients(z - unit, term, precision, may_be_negative)
    if found is None:
        return model
    log2 = (found[1] + unit - logs.max()) / math.log(2.0)
    coefficient = 2.0**log2 if abs(log2) < 1000 else model.coefficient
    return replace(model, constant=found[0] * math.exp(unit), coefficient=coefficient, log2_coefficient=log2)


def ahead(model: Model, x: Floats, y: Floats) -> Model:
    """Return the model with the coefficients that count large settings more, unless it is close to exact times everywhere."""
    off = np.abs(np.log(y) - np.log(np.maximum(model(x), _TINIEST)))
    return model if off.max() <= _CLOSE else refitted(model, x, y, drifting(tuple(x.tolist()), _DRIFT).precision, False)


def best_ahead(models: Sequence[Model], x: Floats, y: Floats, expectation: Expectation) -> int:
    """Return the place of the model that predicts the last exact time best from those before it, and misfits least.

    Only those that are about as probable as the first one take part; where the times follow none of these, the next one that
    they follow is taken, if it matches the expectation as the first one does, or misses it to the same side.
    """
    rank, side = expectation.rank(models[0].growth), expectation.direction(models[0].growth)
    found: list[float] = []
    follows = False
    for place, model in enumerate(models):
        is_comparable = model.weight >= _COMPARABLE * models[0].weight
        if not is_comparable and (follows or not model.weight >= _POSSIBLE * models[0].weight):
            break
        fitted = ahead(model, x, y)
        off = np.log(y) - np.log(np.maximum(fitted(x), _TINIEST))
        follows |= bool(np.abs(off).max() <= _CLOSE)
        if is_comparable:
            last = np.log(y[-1]) - np.log(np.maximum(ahead(model, x[:-1], y[:-1])(x[-1]), _TINIEST))
            found.append(float(abs(last) + np.sqrt(np.mean(off**2))))
        elif (
            follows and expectation.rank(model.growth) == rank and (rank != "none" or expectation.direction(model.growth) == side)
        ):
            return place
    return int(np.argmin(found)) if len(found) > 1 else 0


def _coefficients(z: Floats, term: Floats, precision: Floats, may_be_negative: bool) -> tuple[float, float] | None:
    """Return the constant, and the logarithm of what stands before the term, by Gauss and Newton's steps."""
    level = precision.sum(axis=0)
    alone = float(level @ (z - np.log(term)) / level.sum())
    best = (0.0, alone, _off(z - np.log(term) - alone, precision))
    columns = np.column_stack([np.ones_like(term), term]) / np.exp(z)[:, None]
    normal = columns.T @ precision @ columns
    if np.linalg.cond(normal) > 1e15:
        return None
    pair = _solved(normal, columns.T @ precision.sum(axis=1))
    for _ in range(_STEPS):
        values = pair[0] + pair[1] * term
        if pair[1] <= 0 or (values <= _LEAST * pair[1] * term).any():
            break
        rest = z - np.log(values)
        if (pair[0] >= 0 or may_be_negative) and _off(rest, precision) <= best[2] * _SAME:
            best = (float(pair[0]), math.log(pair[1]), _off(rest, precision))
        slopes = np.column_stack([np.ones_like(term), term]) / values[:, None]
        step = _solved(slopes.T @ precision @ slopes, slopes.T @ precision @ rest)
        pair = pair + step
        if (np.abs(step) <= _CONVERGED * np.abs(pair)).all():
            break
    return best[0], best[1]


def _solved(matrix: Floats, right: Floats) -> Floats:
    """Return the solution of two equations by Cramer's rule, which is forward stable for two of them."""
    (a, b), (c, d) = matrix.tolist()
    u, v = right.tolist()
    return np.array([u * d - v * b, a * v - c * u]) / (a * d - b * c or _TINIEST)


def _off(rest: Floats, precision: Floats) -> float:
    return float(rest @ precision @ rest)
