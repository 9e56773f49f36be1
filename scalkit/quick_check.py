"""`sk.check`: does a Python callable grow as claimed? Sizes, clock and repetitions are chosen within a budget of time."""

import math
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from scalkit.arrays import Floats
from scalkit.bench.functions.callables import measure_callable, name_of, require_plain
from scalkit.bench.functions.probe import FEWEST, Probe
from scalkit.bench.functions.probe import sizes as sizes_within
from scalkit.bench.provenance import ForeignLoad
from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.measure import combine
from scalkit.text import as_percent
from scalkit.validation import Expectation, Validation, Verdict, validate
from scalkit.validation.answer import Answer, excess, scaled
from scalkit.validation.posterior.posterior import SURE

_PROBING = 0.2
"""Share of the budget for finding the sizes, so that most of it measures."""
_CALLS = 60
"""The largest size takes at most the budget divided by this: some ten samples there, as many at the next, two runs."""
_PREPARING = 0.25
"""What counts of the setup, which is called twice for a size while the function is called some twenty times."""
_BUSY = 0.1
"""A share of the machine that others use from which on their turns on the cores show in wall times."""
_WAITS = 0.5
"""A function that computes less than this share of its time waits for something else, which a clock of the processor misses."""
_OFTEN = 0.5
"""More of its calls give the processor away by themselves: it waits also where others leave it little of the machine."""
_HARDWARE, _CROWDED = 8.0, 32.0
"""So much dearer an element may become as data outgrow caches, branch predictors and pools of small objects: `sorted` of 500
numbers that it has seen takes a third of the time for each comparison that it takes for 50,000, and memory is an eighth as fast
as a cache; where others use the machine, caches and memory are theirs, too."""
_CLEAR, _SEEN = 64.0, 4.0
"""A claim that grows by more than the first is not confirmed by times that grow by less than the second."""
_ENOUGH, _ENOUGH_REACH = 4, 8
"""So many sizes, and the largest over the smallest of them, tell a claim from a logarithm more: at a million that is 17 %."""
_SEEN_OF_MORE, _SEEN_OF_A_LOGARITHM = 1 / 2, 1 / 4
"""A claim is believed where times outgrow it by less than so much of what a logarithm more does: of claims without a logarithm
less, for functions such as k-d trees do both, and of few elements the linear part is the greater one."""
_SEEN_TWICE = 2.0
"""What the smallest size takes is subtracted where times are so many times as long at least: below, noise is left."""
_SHORT_S = 2e-6
"""A call that takes less touches less than a cache of level 2 holds, and finds it there when it is called again."""
_HALVES, _UNEVEN, _OFF = 8, 1.5, 0.1
"""Of so many sizes, both halves grow alike up to the second, and no size is off by more than the third of the whole rise: binary
search is within 5 %; lookups at random places of a dict slow down three times as much in the upper half as in the lower."""
_CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}


@dataclass(frozen=True, eq=False)
class Check:
    """What `check` found out; on a terminal its sentence, in a notebook also the picture.

    `data`: what was measured, metric ``time`` in s.
    `seconds`: that all of it took.
    `clock`: ``"wall"`` or ``"cpu"``.
    `remarks`: about the clock and the sizes.
    `tolerated`: the factor by which the hardware alone may let times outgrow a claim over the sizes.
    `rests_on_one`: whether the verdict is to fix, and is not without the largest size.
    """

    verdict: Verdict
    validation: Validation
    data: xr.Dataset
    seconds: float
    clock: str
    remarks: tuple[str, ...] = ()
    tolerated: float = _HARDWARE
    rests_on_one: bool = False

    @property
    def answer(self) -> Answer:
        """``"fine"``, ``"fix"`` or ``"cannot tell"``; not to fix what the hardware or the largest size alone may be.

        Nor fine where overhead hides the growth. Where the verdict does not decide, it is fine if the times lie nearer to the
        claim, the most probable growth, than to a logarithm more, and to fix if they outgrow it by more than hardware does.
        """
        if self._near:
            return "fine"
        return "cannot tell" if self._doubt else "fix" if self._far else self.verdict.answer

    @property
    def _doubt(self) -> str:
        """Why a verdict is not believed; empty if it is."""
        if self.verdict.answer == "fine":
            return self._hidden
        if self.verdict.answer != "fix":
            return ""
        claim = f"{self.verdict.function} outgrows {self.verdict.expectation}"
        if self.rests_on_one:
            return f"{claim} at the largest size alone: try larger sizes, or a machine that nobody else uses."
        if self.verdict.excess < self.tolerated and not self._is_even:
            return (
                f"{claim} by a factor of {self.verdict.excess:.1f} over these sizes; up to {self.tolerated:g} may be caches"
                f"{' and other programs' * (self.tolerated > _HARDWARE)}: try larger sizes."
            )
        return ""

    @property
    def _is_even(self) -> bool:
        """Whether a short call claimed to be constant takes evenly longer with each doubling: caches come in steps."""
        x, y = np.log2(np.maximum(self.verdict.series.x, 1.0)), self.verdict.series.y
        if not self.verdict.expectation.growth.is_constant or y.max() > _SHORT_S or len(x) < _HALVES or x[0] == x[-1]:
            return False
        parts = [np.polyfit(x[part], y[part], 1)[0] for part in (slice(None), slice(len(x) // 2 + 1), slice(len(x) // 2, None))]
        off = np.abs(y - y.mean() - parts[0] * (x - x.mean()))
        return bool(min(parts) > max(parts) / _UNEVEN and off.max() < _OFF * (y[-1] - y[0]))

    @property
    def _near(self) -> str:
        """Why a claim is believed that the verdict does not decide, or refutes by what may be caches; empty if it is not."""
        verdict, claim = self.verdict, self.verdict.expectation.growth
        if not verdict.decides or not (verdict.answer == "cannot tell" or (verdict.answer == "fix" and self._doubt)):
            return ""
        x, y = np.maximum(verdict.series.x, 2.0), verdict.series.y
        rises = _rises(x, y, claim, claim * Growth.of(verdict.parameter, log=1))
        fits = verdict.too_fast < SURE and not verdict.is_poor and verdict.model.growth == claim and not self._hidden
        upper = x >= min(
            math.sqrt(x[0] * x[-1]), x[-1] / _ENOUGH_REACH
        )  # caches and branch predictors are outgrown at small sizes
        if fits and upper.sum() >= _ENOUGH and x[-1] >= _ENOUGH_REACH * x[upper][0]:
            terms = [scaled(one, x[upper]) for one in (claim, claim * Growth.of(verdict.parameter, log=1))]
            rises += [(float(x[upper][0]), excess(y[upper], terms[:1]), excess(terms[1], terms[:1]))]
        share = _SEEN_OF_MORE if claim.log(verdict.parameter) else _SEEN_OF_A_LOGARITHM
        for least, outgrown, more in rises:
            if outgrown < more**share:
                return (
                    f"{verdict.function} grows as claimed, {claim}: from {verdict.parameter} = {least:,.9g} on the times outgrow "
                    f"it by a factor of {outgrown:.2f}, which caches do; a logarithm more would by {more:.2f}."
                )
        return ""

    @property
    def _far(self) -> str:
        """Why a claim is refuted though no term follows the values closely; empty if it is not."""
        verdict, claim = self.verdict, self.verdict.expectation.growth
        if verdict.answer != "cannot tell" or not verdict.decides or verdict.too_fast < SURE:
            return ""
        x, y = verdict.series.x, verdict.series.y
        factor, before = excess(y, [scaled(claim, x)]), excess(y[:-1], [scaled(claim, x[:-1])])
        if min(factor, before) < self.tolerated:  # nor may it be the largest size alone
            return ""
        return f"{verdict.function} outgrows {verdict.expectation} by a factor of {factor:,.0f} over these sizes."

    @property
    def _hidden(self) -> str:
        """Why a growth may be there that is not seen; empty if that is not so."""
        x, y = self.verdict.series.x, self.verdict.series.y
        first, last = self.verdict.expectation.growth.log2_value(np.array([max(2.0, x[0]), x[-1]]))
        if last - first >= math.log2(_CLEAR) and y[-1] <= _SEEN * y[0]:
            largest = f"{self.verdict.parameter} = {x[-1]:,.9g}"
            return (
                f"{self.verdict.function} takes {y[-1] / y[0]:.1f} times as long at {largest} as at {x[0]:,.9g}: what every call "
                "costs hides the growth; try larger sizes."
            )
        found, claim = self.verdict.model.growth, self.verdict.expectation.growth
        if claim < found:
            return f"{self.verdict.function} fits {found} better than {claim}, by too little for these sizes; try larger ones."
        return ""

    @property
    def text(self) -> str:
        """Answer, sentence, and what it took, in two lines, with remarks below."""
        x = self.verdict.series.x
        name = self.verdict.parameter
        took = f"{len(x)} sizes, {name} = {x[0]:,.9g} to {x[-1]:,.9g}, {self.seconds:.1f} s in all, {self.clock} clock"
        why = self._near or self._doubt or self._far or self.verdict.problem or self.verdict.sentence
        first = f"{self.answer}: {why}"
        return "\n".join([first, f"({took})", *self.remarks])

    def plot(self) -> Any:
        """Return the measurements with model and claim, the plotly figure of `scalkit.plots.fit`."""
        from scalkit.plots import fit

        return fit(self.verdict)

    def __repr__(self) -> str:
        return self.text

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display({"text/plain": self.text}, raw=True)  # type: ignore[no-untyped-call]
        if "ipykernel" in sys.modules:
            display(self.plot())  # type: ignore[no-untyped-call]


def check(
    func: Callable[..., object],
    expectation: object,
    setup: Callable[[Any], object] | None = None,
    *,
    n: Iterable[Any] | None = None,
    fresh: bool = False,
    budget: float = 4.0,
    clock: str = "auto",
    seed: int = 0,
    **judging: Any,
) -> Check:
    """Return whether the run time of a callable grows as claimed; a script prints it, a notebook shows it.

    Parameters
    ----------
    func : callable
    expectation : Expectation or str
        In one parameter, for example ``"n log n"``.
    setup : callable, optional
        Makes the arguments from a size: a tuple is all of them, anything else the only one. Not timed. Without it, `func` is
        called with the size itself.
    n : iterable of positive numbers, optional
        The sizes; by default up to twelve that the budget allows, over a range of at most 512.
    fresh : bool
        Whether `setup` is called anew before each call, because `func` changes its arguments.
    budget : float, in s
        For choosing sizes and measuring, half of it for a second run where the first alone is not fine.
    clock : {"auto", "wall", "cpu"}
        ``"cpu"`` leaves out what other programs take; ``"auto"`` chooses it where they use more than a tenth of the machine,
        unless the function waits most of its time.
    seed : int
        Of the order of measuring.
    **judging
        How it is judged, as for `scalkit.validate`.

    Returns
    -------
    Check

    Raises
    ------
    UsageError
        If the budget or the clock makes no sense, or `func` cannot be measured.
    DataError
        If not even five sizes can be measured within the budget.
    ExpectationError
        If the expectation cannot be read, or is in several parameters.

    References
    ----------
    Hoefler and Belli 2015 (docs/references.md): order statistics, and the time taken until they are known.

    Examples
    --------
    >>> import scalkit as sk
    >>> result = sk.check(sum, "n", setup=lambda n: list(range(n)), budget=1)  # doctest: +SKIP
    fine: sum grows as n, as expected.
    """
    started = time.monotonic()
    _require_sensible(func, n, budget, clock, seed)
    expected = expectation if isinstance(expectation, Expectation) else Expectation(expectation)
    parameter = expected.parameter if expected.growth.parameters else "n"
    expected, label = expected.in_parameter(parameter), name_of(func)
    with ForeignLoad() as load:
        tried = Probe(func, setup, _PROBING * budget, budget / _CALLS, 1.0 if fresh else _PREPARING)
    is_exponential = expected.growth.exponential(parameter) > 0
    sizes = sizes_within(tried.least, tried.most, is_exponential) if n is None else list(n)
    chosen, remarks = _clock(clock, load.share or 0.0, tried)
    share = max(0.1, 0.5 * (budget - (time.monotonic() - started)))

    def measured(number: int, at: list[Any], least: int) -> xr.Dataset:
        return measure_callable(
            func,
            parameter,
            at,
            setup=setup,
            fresh=fresh,
            name=label,
            seed=seed + number,
            clock=_CLOCKS[chosen],
            watch=time.perf_counter_ns,
            budget_s=share,
            min_points=least,
        )

    def judged(data: xr.Dataset) -> Validation:
        return validate(data, {label: expected}, **{"progress": False, **judging})

    data = measured(0, sizes, FEWEST if n is not None else len(sizes))
    result = judged(data)
    if result.answer != "fine":
        at = data[parameter].values.tolist()  # a size of one run alone would show how the machine was then
        data = combine([data, measured(1, at, len(at))])
        result = judged(data)
    is_shaky = result.answer == "fix" and data.sizes[parameter] > FEWEST
    rests_on_one = is_shaky and judged(data.isel({parameter: slice(None, -1)})).answer != "fix"
    tolerated = _CROWDED if (load.share or 0.0) > _BUSY else _HARDWARE
    verdict, took = result.along_one[0], time.monotonic() - started
    found = Check(verdict, result, data, took, chosen, remarks, tolerated, rests_on_one)
    if not hasattr(sys, "ps1") and not _is_in_ipython():
        sys.stdout.write(f"{found.text}\n")
    return found


def _require_sensible(func: object, n: object, budget: object, clock: str, seed: object) -> None:
    """Return nothing if something can be measured; else raise UsageError."""
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not 0 < budget < math.inf:
        raise UsageError(f"the budget is {budget!r}; a positive number of seconds is needed, such as 4.")
    if not callable(func):
        raise UsageError(f"{func!r:.60} cannot be called; give the function itself, as in sk.check(sorted, 'n log n', ...).")
    require_plain(func, name_of(func))
    if n is not None and not isinstance(n, Iterable):
        raise UsageError(f"n is {n!r:.60}; sizes are needed, such as [1000, 2000, 4000, 8000, 16000].")
    if clock not in ("auto", *_CLOCKS):
        raise UsageError(f"the clock {clock!r} is unknown; choose auto, wall or cpu.")
    if not isinstance(seed, int):
        raise UsageError(f"the seed is {seed!r:.60}; a whole number is needed.")


def _is_in_ipython() -> bool:
    """Return whether IPython runs this, and shows results itself; a script may have imported it for something else."""
    return "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None


def _clock(wanted: str, foreign: float, tried: Probe) -> tuple[str, tuple[str, ...]]:
    """Return the clock, and why it is not the usual one."""
    if wanted != "auto" or foreign <= _BUSY:
        return ("wall" if wanted == "auto" else wanted), ()
    others = f"others use {as_percent(foreign)} of this machine"
    computed = tried.cpu_s / tried.wall_s
    if computed < (1 - foreign) * _WAITS or (computed < _WAITS and tried.waiting > _OFTEN):  # not only kept waiting by others
        return "wall", (f"{others}, and the function waits most of its time: measure it again on an idle machine.",)
    return "cpu", (f"{others}, so the time of the processor is measured, which they do not share.",)


def _rises(x: Floats, y: Floats, claim: Growth, more: Growth) -> list[tuple[float, float, float]]:
    """Return for ranges up to the largest size where they begin, and by what times and a faster growth outgrow a claim there.

    What the smallest size takes is subtracted from all of them, so that start-up does not hide growth.
    """
    if claim.is_constant:
        return []
    expected, faster = (term - term[0] for term in (scaled(claim, x), scaled(more, x)))
    found = []
    for first in range(len(x) // 2, len(x) - _ENOUGH + 1):
        if x[-1] < _ENOUGH_REACH * x[first]:
            break
        outgrown, faster_by = (part[first:] / expected[first:] for part in (y - y[0], faster))
        if y[first] >= _SEEN_TWICE * y[0]:
            found.append((float(x[first]), float(outgrown[-1] / outgrown.min()), float(faster_by[-1] / faster_by.min())))
    return found
