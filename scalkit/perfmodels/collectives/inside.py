"""Is a link congested? Measured times against the bounds of a model: a message alone below, the worst placement above."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.errors import DataError, UsageError
from scalkit.fit.pure_error import pure_error
from scalkit.markup import block, paragraph, table
from scalkit.perfmodels.collectives.cells import cell_times
from scalkit.perfmodels.formulas.quantities import PARAMETER_UNITS, format_value, level_in, values_in
from scalkit.perfmodels.models.exact import ExactModel, RangeModel
from scalkit.perfmodels.models.hierarchy import BoundedModel
from scalkit.perfmodels.models.model import PerformanceModel
from scalkit.perfmodels.models.point_to_point import PointToPoint
from scalkit.text import as_percent

Place = Literal["below", "inside", "above"]
_WORST_ON_TORUS = "3/2*cbrt(P)"


def congested(message: PointToPoint, factor: str = _WORST_ON_TORUS) -> BoundedModel:
    """Return bounds of the time of a message among P processes that all send: alone, and with the worst placement.

    Parameters
    ----------
    message : PointToPoint
        Alone on the network.
    factor : str
        How many messages share the busiest link at worst, a formula in P; by default that of a cubic torus, equation 2 of the
        paper.

    Raises
    ------
    UsageError
        If the factor is no formula in P alone.

    Examples
    --------
    >>> from scalkit.perfmodels import bluegene_p
    >>> paper = congested(PointToPoint(bluegene_p()["point-to-point"]))
    >>> [round(1e6 * float(one), 5) for one in paper.bounds(S="64 KiB", P=512)]
    [184.78112, 2109.57344]

    References
    ----------
    Hoefler et al. 2010, equation 2 (docs/references.md).
    """
    pieces = []
    for one in message.protocols():
        constants = {"alpha": f"{one.latency_s!r} s", "beta": f"{one.per_byte_s!r} s/B"}
        pieces.append((one.sizes, ExactModel(f"alpha + beta*S*({factor})", constants, name="worst placement")))
    upper: PerformanceModel = RangeModel("S", pieces, "worst placement")
    if set(upper.parameters) - {"S", "P"}:
        raise UsageError(f"the factor {factor!r:.60} must be a formula in P, as in '{_WORST_ON_TORUS}'.")
    return BoundedModel(message.time, upper, f"{message.name}, congested", message.source)


@dataclass(frozen=True, eq=False, repr=False)
class InsideBounds:
    """Where times lie between the bounds of a model.

    Attributes
    ----------
    model : PerformanceModel
    at : mapping from parameter to ndarray of shape (cells,)
    times, lower, upper : ndarray of shape (cells,), in s
        Medians, and both bounds; NaN where the model does not hold.
    noise : float
        Relative standard error of a median.
    places : tuple of {"below", "inside", "above"}
        Of each cell; outside only if it is off by more than noise explains.
    """

    model: PerformanceModel
    at: dict[str, Floats]
    times: Floats
    lower: Floats
    upper: Floats
    noise: float
    places: tuple[Place, ...]

    @property
    def shares(self) -> Floats:
        """How far on the way from the lower bound, 0, to the upper one, 1; NaN where they are one or there is no upper one."""
        width = self.upper - self.lower
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.isfinite(width) & (width > 0), (self.times - self.lower) / width, np.nan)

    @property
    def is_inside(self) -> bool:
        """Whether no time is outside."""
        return set(self.places) == {"inside"}

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        n, inside = len(self.places), self.places.count("inside")
        known = self.shares[np.isfinite(self.shares)]
        way = f", {as_percent(np.median(known))} of the way from the lower to the upper bound in the median" if known.size else ""
        said = [f"{inside} of {n} times are inside the bounds of '{self.model.name}'{way}."]
        for place, bound, word in (("above", self.upper, "longer"), ("below", self.lower, "shorter")):
            rows = [k for k, one in enumerate(self.places) if one == place]
            if not rows:
                continue
            off = [abs(math.log(self.times[k] / bound[k])) for k in rows]
            worst = rows[int(np.argmax(off))]
            said.append(
                f"{len(rows)} {'is' if len(rows) == 1 else 'are'} {place} them, at most at {self._setting(worst)}: "
                f"{math.exp(max(off)):.3g} times {word} than the bound."
            )
        return " ".join(said)

    def _setting(self, k: int) -> str:
        return ", ".join(f"{name} = {format_value(float(v[k]), PARAMETER_UNITS.get(name, '1'))}" for name, v in self.at.items())

    def __repr__(self) -> str:
        return f"InsideBounds({self.sentence})"

    def _repr_html_(self) -> str:
        rows = [
            (
                self._setting(k),
                format_value(float(self.times[k]), "s"),
                " to ".join(format_value(float(one[k]), "s") for one in (self.lower, self.upper)),
                place if math.isnan(share) else f"{place}, {as_percent(share)} of the way",
            )
            for k, (place, share) in enumerate(zip(self.places, self.shares.tolist(), strict=True))
        ]
        return block(paragraph(self.sentence), table(("", "time", "bounds", ""), rows))


def inside_bounds(model: PerformanceModel, times: ArrayLike, *, level: float = 0.99, **at: ArrayLike) -> InsideBounds:
    """Return where measured or simulated times lie between the bounds of a model.

    Parameters
    ----------
    model : PerformanceModel
        With bounds in s: of any kind but asymptotic, which bounds nothing.
    times : array_like of shape (cells,) or (cells, repetitions), in s
        Positive; NaN where a repetition is missing.
    level : float
        A time is outside if its median is, with this probability.
    **at
        The parameters of the model, a value or an array of shape (cells,) each, such as ``S="64 KiB", P=[8, 64]``.

    Raises
    ------
    DataError
        If a time is not positive, or the shapes differ.
    UsageError
        If the model bounds nothing or is in another unit, or a parameter is outside of its range.
    """
    from scipy.stats import norm

    level = level_in(level)
    if model.unit != "s" or model.kind == "asymptotic":
        raise UsageError(f"'{model.name}' is {model.kind}, in {model.unit}; bounds in s are needed.")
    table_of_times = cell_times(times)
    if not len(table_of_times):
        raise DataError("there are no times; give at least one.")
    given = {name: np.asarray(values_in(value, name), dtype=np.float64) for name, value in at.items()}
    n = len(table_of_times)
    if any(one.shape not in ((), (1,), (n,)) for one in given.values()):
        raise DataError(f"there are {n} times; give one value or as many of each parameter.")
    settings: dict[str, Any] = {name: np.broadcast_to(one, n).copy() for name, one in given.items()}
    lower, upper = (np.asarray(one, dtype=np.float64) for one in model.bounds(**settings))
    middle = np.nanmedian(table_of_times, axis=1)
    noise = pure_error(table_of_times, "median").error
    far = math.exp(float(norm.ppf((1 + level) / 2)) * noise)
    places: list[Place] = [
        "above" if t > high * far else "below" if t * far < low else "inside"
        for t, low, high in zip(middle, lower, upper, strict=True)
    ]
    return InsideBounds(model, settings, middle, lower, upper, noise, tuple(places))
