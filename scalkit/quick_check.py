"""`sk.check`: does a Python callable grow as claimed? Sizes, clock and repetitions are chosen within a budget of time."""

import math
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from scalkit.bench.functions.callables import measure_callable, name_of
from scalkit.bench.load import ForeignLoad
from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.measure import combine
from scalkit.validation import Expectation, Validation, Verdict, validate
from scalkit.validation.answer import Answer, excess, scaled
from scalkit.validation.posterior.posterior import SURE

_PROBING = 0.2
"""Share of the budget for finding the sizes, so that most of it measures."""
_CALLS = 60
"""The largest size takes at most the budget divided by this: some ten samples there, as many at the next, two runs."""
_PREPARING = 0.25
"""What counts of the setup, which is called twice for a size while the function is called some twenty times."""
_SIZES, _FEWEST, _LEAST_SIZE = 12, 5, 4
_TRIES = 3
_NOTICED_S = 1e-4
"""Calls that take less are no burden, and their times say little about growth."""
_REACH = 512
"""Smallest to largest size: nine doublings tell n from n log n; below them start-up costs and caches of level 1 dominate."""
_MOST = 2**21
_BUSY = 0.1
"""A share of the machine that others use from which on their turns on the cores show in wall times."""
_WAITS = 0.5
"""A function that computes less than this share of its time waits for something else, which a clock of the processor misses."""
_HARDWARE, _CROWDED = 8.0, 32.0
"""So much dearer an element may become as data outgrow caches, branch predictors and pools of small objects: `sorted` of 500
numbers that it has seen takes a third of the time for each comparison that it takes for 50,000, and memory is an eighth as fast
as a cache; where others use the machine, caches and memory are theirs, too."""
_CLEAR, _SEEN = 64.0, 4.0
"""A claim that grows by more than the first is not confirmed by times that grow by less than the second."""
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
        if self._doubt:
            return "cannot tell"
        return "fine" if self._near else "fix" if self._far else self.verdict.answer

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
        if self.verdict.excess < self.tolerated:
            return (
                f"{claim} by a factor of {self.verdict.excess:.1f} over these sizes; up to {self.tolerated:g} may be caches"
                f"{' and other programs' * (self.tolerated > _HARDWARE)}: try larger sizes."
            )
        return ""

    @property
    def _near(self) -> str:
        """Why a claim is believed that the verdict does not decide; empty if it is not."""
        verdict, claim = self.verdict, self.verdict.expectation.growth
        if (
            verdict.answer != "cannot tell"
            or not verdict.decides
            or verdict.is_poor
            or verdict.too_fast >= SURE
            or verdict.model.growth != claim
            or self._hidden
        ):
            return ""
        x, y = np.maximum(verdict.series.x, 2.0), verdict.series.y
        upper = x >= math.sqrt(x[0] * x[-1])  # caches and branch predictors are outgrown at small sizes
        x, y = x[upper], y[upper]
        claimed = [scaled(claim, x)]
        outgrown, more = excess(y, claimed), excess(scaled(claim * Growth.of(verdict.parameter, log=1), x), claimed)
        if outgrown**2 >= more:
            return ""
        return (
            f"{verdict.function} grows as claimed, {claim}: from {verdict.parameter} = {x[0]:,.9g} on the times outgrow it by a "
            f"factor of {outgrown:.2f}, which caches do; a logarithm more would by {more:.2f}."
        )

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
        why = self._doubt or self._near or self._far or self.verdict.problem or self.verdict.sentence
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
    _require_sensible(func, n, budget, clock)
    expected = expectation if isinstance(expectation, Expectation) else Expectation(expectation)
    parameter = expected.parameter if expected.growth.parameters else "n"
    expected, label = expected.in_parameter(parameter), name_of(func)
    with ForeignLoad() as load:
        tried = _Probe(func, setup, _PROBING * budget, budget / _CALLS, 1.0 if fresh else _PREPARING)
    sizes = _chosen(tried.most, expected) if n is None else list(n)
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

    data = measured(0, sizes, _FEWEST if n is not None else len(sizes))
    result = judged(data)
    if result.answer != "fine":
        at = data[parameter].values.tolist()  # a size of one run alone would show how the machine was then
        data = combine([data, measured(1, at, len(at))])
        result = judged(data)
    is_shaky = result.answer == "fix" and data.sizes[parameter] > _FEWEST
    rests_on_one = is_shaky and judged(data.isel({parameter: slice(None, -1)})).answer != "fix"
    tolerated = _CROWDED if (load.share or 0.0) > _BUSY else _HARDWARE
    verdict, took = result.along_one[0], time.monotonic() - started
    found = Check(verdict, result, data, took, chosen, remarks, tolerated, rests_on_one)
    if not hasattr(sys, "ps1") and not _is_in_ipython():
        sys.stdout.write(f"{found.text}\n")
    return found


def _require_sensible(func: object, n: object, budget: object, clock: str) -> None:
    """Return nothing if something can be measured; else raise UsageError."""
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not 0 < budget < math.inf:
        raise UsageError(f"the budget is {budget!r}; a positive number of seconds is needed, such as 4.")
    if not callable(func):
        raise UsageError(f"{func!r:.60} cannot be called; give the function itself, as in sk.check(sorted, 'n log n', ...).")
    if n is not None and not isinstance(n, Iterable):
        raise UsageError(f"n is {n!r:.60}; sizes are needed, such as [1000, 2000, 4000, 8000, 16000].")
    if clock not in ("auto", *_CLOCKS):
        raise UsageError(f"the clock {clock!r} is unknown; choose auto, wall or cpu.")


def _is_in_ipython() -> bool:
    """Return whether IPython runs this, and shows results itself; a script may have imported it for something else."""
    return "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None


class _Probe:
    """Calls at growing sizes, until the next one would cost more than is allowed.

    `most`: the size that would just fit, by the growth of the last two calls.
    `cpu_s`, `wall_s`: of all calls, without their setup.
    """

    def __init__(
        self, func: Callable[..., object], setup: Callable[[Any], object] | None, whole_s: float, most_s: float, preparing: float
    ) -> None:
        self.wall_s = self.cpu_s = spent = 0.0
        size, power, last = _LEAST_SIZE, 1.0, (_LEAST_SIZE, math.inf)
        while True:
            cost, ahead, forecast = math.inf, size, math.inf
            for _ in range(_TRIES):
                prepared, called = self._call(func, setup, size)
                spent, cost = spent + prepared + called, min(called + prepared * preparing, cost)
                if cost > last[1] and cost > _NOTICED_S:
                    power = max(1.0, math.log(cost / last[1]) / math.log(size / last[0]))
                ahead = min(_MOST, 2 * size if cost < _NOTICED_S else math.ceil(1.25 * size))
                forecast = cost * (ahead / size) ** power
                if max(forecast / most_s, (spent + forecast) / whole_s) < 1:
                    break  # else perhaps something disturbed the call
            else:
                break
            if size == _MOST:
                break
            last, size = (size, cost), ahead
        self.most = min(size * max(1.0, most_s / cost) ** (1 / power), ahead)

    def _call(self, func: Callable[..., object], setup: Callable[[Any], object] | None, size: int) -> tuple[float, float]:
        """Return what the setup of a call costs, and the call, in s."""
        begin = time.perf_counter()
        made = size if setup is None else setup(size)
        args = made if isinstance(made, tuple) else (made,)
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            func(*args)
        except TypeError as error:
            if setup is not None:
                raise
            raise UsageError(
                f"{name_of(func)}({size}) failed: {error}; if it takes something else than a size, give what makes that from a "
                "size, as in setup=lambda n: list(range(n))."
            ) from error
        called = time.perf_counter() - wall
        self.wall_s += called
        self.cpu_s += time.process_time() - cpu
        return wall - begin, called


def _clock(wanted: str, foreign: float, tried: _Probe) -> tuple[str, tuple[str, ...]]:
    """Return the clock, and why it is not the usual one."""
    if wanted != "auto" or foreign <= _BUSY:
        return ("wall" if wanted == "auto" else wanted), ()
    others = f"others use {100 * foreign:.0f} % of this machine"
    if tried.cpu_s < (1 - foreign) * _WAITS * tried.wall_s:
        return "wall", (f"{others}, and the function waits most of its time: measure it again on an idle machine.",)
    return "cpu", (f"{others}, so the time of the processor is measured, which they do not share.",)


def _chosen(most: float, expected: Expectation) -> list[int]:
    """Return sizes in equal ratios up to the largest that is affordable; neighbouring numbers where these are few."""
    if most < 3 * _SIZES or expected.growth.exponential(expected.parameter) > 0:
        top = max(int(most), _LEAST_SIZE + _FEWEST)
        return list(range(max(1, top - _SIZES), top + 1))
    least = max(_LEAST_SIZE, most / _REACH)
    return sorted({round(least * (most / least) ** (k / (_SIZES - 1))) for k in range(_SIZES)})
