"""The formula that a refinement fits: a constant and coefficients times growths whose powers may be free."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError, UsageError
from scalkit.growth import Growth
from scalkit.judge.fit.model import at_points
from scalkit.support.arrays import Floats

_LARGEST = 1000.0


@dataclass(frozen=True)
class Formula:
    """``constant + sum of coefficients * growths``, as a function of a vector of values in the order of `names`.

    `coefficients`: name of each growth's coefficient.
    `exponents`: parameter whose power is free, and name of that power; shared by all growths in which it has a power.
    """

    growths: tuple[Growth, ...]
    parameters: tuple[str, ...]
    coefficients: tuple[str, ...]
    exponents: tuple[tuple[str, str], ...]
    has_constant: bool

    @classmethod
    def of(cls, growths: Sequence[Growth], parameters: Sequence[str], constant: bool, free: bool) -> "Formula":
        """Return the formula of some growths; the names are those of `Refined`.

        Raises UsageError if powers shall be free and there is none, or those of one parameter differ between the
        growths.
        """
        n = len(growths)
        coefficients = ("coefficient",) if n == 1 else tuple(f"coefficient_{k + 1}" for k in range(n))
        freed: list[str] = []
        for name in parameters if free else ():
            powers = {growth.power(name) for growth in growths if growth.power(name)}
            if len(powers) > 1:
                shown = ", ".join(map(str, sorted(powers)))
                raise UsageError(f"'{name}' has several powers ({shown}), so its exponent cannot be free; leave it fixed.")
            freed += [name] if powers else []
        if free and not freed:
            shown = " + ".join(map(str, growths)) or "1"
            raise UsageError(f"'{shown}' has no power of a parameter to free; leave the exponents fixed.")
        only = len(parameters) == 1
        exponents = tuple((name, "exponent" if only else f"exponent_{name}") for name in freed)
        return cls(tuple(growths), tuple(parameters), coefficients, exponents, constant)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all values."""
        constant = ("constant",) if self.has_constant else ()
        return (*constant, *self.coefficients, *(name for _, name in self.exponents))

    def at(self, x: ArrayLike | Mapping[str, ArrayLike]) -> dict[str, Floats]:
        """Return the values of each parameter from those of the only one, from points, or from a mapping."""
        if len(self.parameters) == 1 and not isinstance(x, Mapping):
            return {self.parameters[0]: np.asarray(x, dtype=np.float64)}
        return at_points(x, self.parameters)

    def values_of(self, at: Mapping[str, Floats]) -> Floats:
        """Return log2 of the fixed part of each growth, of shape (growths, points).

        Raises DataError if a growth does not exist at a point or is beyond the range of floating-point numbers.
        """
        log2 = [growth.log2_value(at) for growth in self.growths]
        for growth, row in zip(self.growths, log2, strict=True):
            if np.isnan(row).any() or (row > _LARGEST).any():
                raise DataError(f"'{growth}' is not a number or above 2^{_LARGEST:.0f} at a point; leave that point out.")
        free = {name for name, _ in self.exponents}
        shape = np.broadcast_shapes(*(value.shape for value in at.values()))
        found = np.zeros((len(self.growths), *shape))
        for k, (growth, row) in enumerate(zip(self.growths, log2, strict=True)):
            fixed = row
            for name in free:
                with np.errstate(divide="ignore"):
                    fixed = fixed - float(growth.power(name)) * np.log2(at[name])
            found[k] = fixed
        return found

    def value(self, vector: Floats, at: Mapping[str, Floats], fixed: Floats | None = None) -> Floats:
        """Return the formula at the points; `fixed` is what `values_of` returns."""
        terms = self._terms(vector, at, self.values_of(at) if fixed is None else fixed)
        constant = vector[0] if self.has_constant else 0.0
        return np.asarray(constant + np.tensordot(self._coefficients(vector), terms, axes=1))

    def slopes(self, vector: Floats, at: Mapping[str, Floats], fixed: Floats | None = None) -> Floats:
        """Return the derivatives by each value, of shape (names, points)."""
        terms = self._terms(vector, at, self.values_of(at) if fixed is None else fixed)
        rows = [np.ones(terms.shape[1:])] if self.has_constant else []
        rows += list(terms)
        for parameter, _ in self.exponents:
            having = np.array([float(growth.power(parameter) != 0) for growth in self.growths])
            rows.append(np.tensordot(self._coefficients(vector) * having, terms, axes=1) * np.log(at[parameter]))
        return np.array(rows)

    def start(
        self, at: Mapping[str, Floats], y: Floats, error: Floats, known: Mapping[str, float], nonnegative: bool
    ) -> dict[str, float]:
        """Return values to start from: the known ones; without all of them, linear least squares at the given exponents."""
        found = {name: self._power(parameter) for parameter, name in self.exponents} | dict(known)
        if all(name in found for name in self.names):
            return found
        exponents = np.array([found[name] for _, name in self.exponents])
        n_linear = len(self.names) - len(self.exponents)
        vector = np.concatenate([np.ones(n_linear), exponents])
        columns = self.slopes(vector, at)[:n_linear] / error
        size = np.sqrt((columns**2).sum(axis=1))
        if nonnegative:
            from scipy.optimize import nnls

            solved = nnls((columns / size[:, None]).T, y / error)[0] / size
        else:
            solved = np.linalg.lstsq((columns / size[:, None]).T, y / error, rcond=None)[0] / size
        return dict(zip(self.names, solved.tolist(), strict=False)) | found

    def contributions(self, vector: Floats, fixed: Floats, at: Mapping[str, Floats]) -> dict[str, float]:
        """Return the largest share of the value that the constant and each coefficient make up; 1 for exponents."""
        terms = self._terms(vector, at, fixed) * self._coefficients(vector)[:, None]
        parts = [np.full(terms.shape[1:], vector[0])] if self.has_constant else []
        rows = np.abs(np.array([*parts, *terms]))
        total = np.maximum(rows.sum(axis=0), 1e-300)
        shares = (rows / total).max(axis=1)
        return dict(zip(self.names, shares.tolist(), strict=False)) | {name: 1.0 for _, name in self.exponents}

    def _power(self, parameter: str) -> float:
        return next(float(growth.power(parameter)) for growth in self.growths if growth.power(parameter))

    def _coefficients(self, vector: Floats) -> Floats:
        first = int(self.has_constant)
        return vector[first : first + len(self.growths)]

    def _terms(self, vector: Floats, at: Mapping[str, Floats], fixed: Floats) -> Floats:
        """Return each growth with the free powers in place, of shape (growths, points)."""
        log2 = fixed
        first = int(self.has_constant) + len(self.growths)
        for k, (parameter, _) in enumerate(self.exponents):
            having = np.array([float(growth.power(parameter) != 0) for growth in self.growths])
            log2 = log2 + np.multiply.outer(having * vector[first + k], np.log2(at[parameter]))
        with np.errstate(over="ignore"):
            return np.asarray(np.exp2(log2))

    def __str__(self) -> str:
        parts = ["constant"] if self.has_constant else []
        for coefficient, growth in zip(self.coefficients, self.growths, strict=True):
            shown = [coefficient]
            rest = growth
            for parameter, name in self.exponents:
                if growth.power(parameter):
                    shown.append(f"{parameter}^{name}")
                    rest = rest / Growth.of(parameter, power=growth.power(parameter))
            parts.append(" * ".join([*shown, *([] if rest.is_constant else [str(rest)])]))
        return " + ".join(parts)
