"""What `fit_models` returns: arrays over the series, a `Model` of one of them on request."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Flags, Floats, Ints
from scalkit.errors import DataError
from scalkit.fit.model import Model
from scalkit.growth import Growth
from scalkit.markup import block, counted, details, formula, paragraph, table


@dataclass(frozen=True, eq=False)
class FitModels:
    """The chosen models of many series, as arrays of shape (series,).

    Attributes
    ----------
    growths : tuple of Growth
        The constant first, then the ticks, ascending.
    best : ndarray of int
        Which of `growths` each series follows; 0 is the constant.
    constant, coefficient : ndarray, in `unit`
        The coefficient of a constant model is 0.
    log2_coefficient : ndarray
        log2 of the size of the coefficient, which exists where that is too small or too large for a float; -inf for a
        constant model.
    adjusted_r2 : ndarray
        NaN for a constant model.
    rss : ndarray
        Residual sum of squares: of relative errors, or with ``weights="none"`` of absolute ones.
    n_points : ndarray of int
        Points with a value.
    is_rough : ndarray of bool
        Whether no model follows the values to within 25 %, root mean square; `scalkit.validate` fits such series on a
        logarithmic scale.
    parameter, unit : str
    all_constants, all_coefficients, all_adjusted_r2 : ndarray of shape (series, growths), or None
        Those of every growth, on request; NaN where a tick does not fit, R^2 also for the constant.
    """

    growths: tuple[Growth, ...]
    best: Ints
    constant: Floats
    coefficient: Floats
    log2_coefficient: Floats
    adjusted_r2: Floats
    rss: Floats
    n_points: Ints
    is_rough: Flags
    parameter: str = "p"
    unit: str = "s"
    all_constants: Floats | None = None
    all_coefficients: Floats | None = None
    all_adjusted_r2: Floats | None = None

    def __len__(self) -> int:
        return len(self.best)

    def growth(self, i: int) -> Growth:
        """Return the growth of series `i`."""
        return self.growths[int(self.best[i])]

    def model(self, i: int) -> Model:
        """Return the model of series `i`. Raises DataError if its coefficient is negative, which a `Model` cannot hold."""
        if self.coefficient[i] < 0:
            raise DataError(
                f"series {i} has the negative coefficient {self.coefficient[i]:g}; a Model has none, use predict() or the arrays."
            )
        return Model(
            constant=float(self.constant[i]),
            coefficient=float(self.coefficient[i]),
            growth=self.growth(i),
            parameter=self.parameter,
            unit=self.unit,
            adjusted_r2=float(self.adjusted_r2[i]),
            rss=float(self.rss[i]),
            log2_coefficient=float(self.log2_coefficient[i]),
            is_rough=bool(self.is_rough[i]),
        )

    def predict(self, x: ArrayLike) -> Floats:
        """Return all models at `x`, of shape (series, points), in `unit`.

        `x`: shape (points,).
        """
        at = np.atleast_1d(np.asarray(x, dtype=np.float64))
        values = np.repeat(self.constant[:, None], len(at), axis=1)
        with np.errstate(over="ignore"):
            for index in np.unique(self.best):
                if index:
                    rows = self.best == index
                    term = np.exp2(self.log2_coefficient[rows, None] + self.growths[index].log2_value(at))
                    values[rows] += np.sign(self.coefficient[rows, None]) * term
        return values

    def counts(self) -> dict[Growth, int]:
        """Return how many series follow each growth that any follows, slowest first."""
        found = np.bincount(self.best, minlength=len(self.growths))
        return {growth: int(n) for growth, n in zip(self.growths, found, strict=True) if n}

    def __repr__(self) -> str:
        n_rough = int(np.count_nonzero(self.is_rough))
        most = max(self.counts().items(), key=lambda item: item[1], default=(None, math.nan))
        return f"FitModels({len(self)} series, {len(self.growths)} growths, most often {most[0]}, {n_rough} rough)"

    def _repr_html_(self) -> str:
        rows = [(formula(growth), f"{n}") for growth, n in self.counts().items()]
        return block(
            paragraph(self), details(f"{counted(len(rows), 'growth')} that any follows", table(("growth", "series"), rows))
        )
