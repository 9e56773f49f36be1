"""`sk.check`: does a Python callable grow as claimed? Sizes, clock and repetitions are chosen within a budget of time."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import xarray as xr

from scalkit.bench.functions.callables import measure_callable, name_of, require_plain
from scalkit.bench.functions.probe import FEWEST, Probe
from scalkit.bench.functions.probe import sizes as sizes_within
from scalkit.bench.provenance import ForeignLoad
from scalkit.errors import UsageError
from scalkit.judge import Expectation, Validation, validate
from scalkit.measure import combine
from scalkit.support.arguments import require_kind, require_positive
from scalkit.support.text import as_percent, brief

_PROBING = 0.2
"""Share of the budget for finding the sizes, so that most of it measures."""
_CALLS = 60
"""The largest size takes at most the budget divided by this: some ten samples there, as many at the next, two runs."""
_PREPARING = 0.25
"""Share of the time of `setup` that counts, as it is called twice for a large size, the function some twenty times."""
_BUSY = 0.1
"""A share of the machine that others use from which on their turns on the cores show in wall times."""
_WAITS = 0.5
"""A function that computes less than this share of its time waits for something else, which a clock of the processor misses."""
_OFTEN = 0.5
"""More of its calls give the processor away by themselves: it waits also where others leave it little of the machine."""
_CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}


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
) -> Validation:
    """Return the verdict on how the run time of a callable grows; print it in a script, a notebook shows it.

    Parameters
    ----------
    func : callable
    expectation : Expectation or str
        In one parameter, for example ``"n log n"``.
    setup : callable, optional
        Makes the arguments from a size: a tuple is all of them, anything else the only one. Not timed. Short calls take turns
        with up to 32 inputs, each from a call of `setup`, because a processor learns the branches of an input that is always
        the same. Random inputs must therefore differ from call to call: do not seed them with the size. Without `setup`,
        `func` is called with the size itself.
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
    Validation
        With one verdict. Its notes have the sizes, the time that all of it took, and the clock.

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
    >>> sk.check(sum, "n", setup=lambda n: list(range(n)), budget=1).answer  # doctest: +SKIP
    'fine'
    """
    started = time.monotonic()
    _require_sensible(func, setup, n, budget, clock, seed)
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
    at, seconds = data[parameter].values.tolist(), time.monotonic() - started
    took = f"{len(at)} sizes, {parameter} = {at[0]:,.9g} to {at[-1]:,.9g}, {seconds:.1f} s in all, {chosen} clock"
    return replace(result, notes=(took, *remarks, *result.notes))


def _require_sensible(func: object, setup: object, n: object, budget: object, clock: str, seed: object) -> None:
    """Return nothing if something can be measured; else raise UsageError."""
    require_positive(budget, "the budget")
    if not callable(func):
        raise UsageError(f"{brief(func)} cannot be called; give the function itself, as in sk.check(sorted, 'n log n', ...).")
    require_plain(func, name_of(func), setup)
    require_kind(n, Iterable | None, "n", "give sizes such as [1000, 2000, 4000, 8000, 16000]")
    if clock not in ("auto", *_CLOCKS):
        raise UsageError(f"the clock {clock!r} is unknown; choose auto, wall or cpu.")
    require_kind(seed, int, "the seed", "give a whole number")


def _clock(wanted: str, foreign: float, tried: Probe) -> tuple[str, tuple[str, ...]]:
    """Return the clock, and why it is not the usual one."""
    if wanted != "auto" or foreign <= _BUSY:
        return ("wall" if wanted == "auto" else wanted), ()
    others = f"others use {as_percent(foreign)} of this machine"
    computed = tried.cpu_s / tried.wall_s
    if computed < (1 - foreign) * _WAITS or (computed < _WAITS and tried.waiting > _OFTEN):  # not only kept waiting by others
        return "wall", (f"{others}, and the function waits most of its time: measure it again on an idle machine.",)
    return "cpu", (f"{others}, so the time of the processor is measured, which they do not share.",)
