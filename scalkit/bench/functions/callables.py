"""Measures a Python callable over a parameter: `measure_callable`."""

import inspect
import json
import math
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import numpy as np
import xarray as xr

from scalkit.bench.functions.sampling import Clock, Effort, Loop, Samples, TooSlowError, sample_all, timed_loop
from scalkit.errors import DataError, UsageError
from scalkit.measure import measurements
from scalkit.support.arguments import each_of, require_kind, require_positive


def measure_callable(
    func: Callable[..., object],
    parameter: str = "n",
    values: Iterable[Any] = (),
    *,
    setup: Callable[[Any], object] | None = None,
    fresh: bool = False,
    name: str | None = None,
    seed: int = 0,
    clock: Clock = time.perf_counter_ns,
    watch: Clock | None = None,
    **effort: float,
) -> xr.Dataset:
    """Return the run times of a callable for several values of a parameter, for `scalkit.validate`.

    Each sample repeats the call until it lasts a millisecond; settings take turns in random order; the garbage collector is
    off meanwhile. A setting is done when the 95 % interval of the first quartile of its samples is narrow.

    Parameters
    ----------
    func : callable
    parameter : str
        Name of the parameter, as in the expectation.
    values : iterable of positive numbers
        Its settings.
    setup : callable, optional
        Makes from one value what `func` is called with: a tuple is all arguments, anything else the only one. Not timed.
        Short calls take turns with up to 32 inputs, prepared in about 5 ms; random ones should differ from call to call.
        Without it, `func` is called with the value itself.
    fresh : bool
        Whether `setup` is called anew before each call, because `func` changes its arguments.
    name : str, optional
        By default that of `func`.
    seed : int
        Of the order of measuring.
    clock : callable
        Nanoseconds; ``time.process_time_ns`` leaves out what other programs take.
    watch : callable, optional
        Nanoseconds, of the budget; by default `clock`.
    **effort : float
        ``budget_s`` (2 s for all settings together; the last settings are left out, with a note, when it does not last),
        ``min_sample_s`` (1 ms), ``tolerance`` (5 %), ``max_samples`` (100), ``min_samples`` (5), ``min_points`` (5).

    Returns
    -------
    xarray.Dataset
        Metric ``time`` in s; variables ``status``, ``n_repetitions``, ``loops`` (calls in a sample) and ``time_first``.

    Raises
    ------
    UsageError
        If `func` cannot be measured, there is no value, one is no positive number, or an option is unknown.
    DataError
        If the calls take far longer than the budget.

    References
    ----------
    Hoefler and Belli 2015 (docs/references.md).
    """
    label = name or name_of(func)
    require_plain(func, label, setup)
    if not callable(clock) or not callable(watch or clock):
        raise UsageError("a clock cannot be called; give a function such as time.perf_counter_ns.")
    require_kind(seed, int, "the seed", "give a whole number")
    points = _points(values, parameter)
    chosen = _effort(effort)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    loops = _loops(func, points, setup, fresh, clock, f"{label!r} at {parameter}")
    try:
        samples = sample_all(loops, [float(point) for point in points], chosen, seed, clock, watch)
    except TooSlowError as error:
        raise DataError(
            f"measuring {label!r} was given up: one call at {parameter} = {float(points[error.index]):g} would take about "
            f"{error.forecast_s:.3g} s, far beyond the budget of {chosen.budget_s:g} s, and only {error.index} settings are "
            f"measured; choose smaller values of {parameter}, or a larger budget."
        ) from error
    ds = _dataset(points[: len(samples)], samples, parameter, label)
    left = [f"{float(point):g}" for point in points[len(samples) :]]
    notes = [f"the budget of {chosen.budget_s:g} s did not last for {parameter} = {', '.join(left)}"] if left else []
    ds.attrs |= {
        "source": "scalkit.bench.measure_callable",
        "measured_on": platform.node(),
        "started": started,
        "python": platform.python_version(),
        "seed": seed,
        **({"notes": json.dumps(notes)} if notes else {}),
    }
    return ds


def name_of(func: Callable[..., object]) -> str:
    """Return a name for a callable: its own, that of the function inside a partial, or that of its type."""
    inner = getattr(func, "func", func)
    return str(getattr(inner, "__qualname__", type(inner).__qualname__)).replace("<locals>.", "")[-200:]


def require_plain(func: object, label: str, setup: object = None) -> None:
    """Check that a call of a function runs it, and that `setup` can be called.

    Raises UsageError.
    """
    if setup is not None and not callable(setup):
        raise UsageError(f"setup is {setup!r:.60}; give a function that makes the arguments.")
    if not callable(func):
        raise UsageError(f"{label!r} cannot be called; pass a function, for example measure_callable(sorted, ...).")
    for kind, is_kind in (
        ("a coroutine function", inspect.iscoroutinefunction),
        ("a generator function", inspect.isgeneratorfunction),
        ("an asynchronous generator function", inspect.isasyncgenfunction),
    ):
        if is_kind(func):
            raise UsageError(f"{label!r} is {kind}, whose call runs nothing; measure a function that runs it to its end.")


def _points(values: Iterable[Any], parameter: str) -> list[Any]:
    found = each_of(values, object, f"the values of {parameter!r}", "give a list of numbers")
    if not found:
        raise UsageError(f"there is no value of {parameter!r} to measure at; pass some, for example [100, 1000, 10000].")
    for value in found:
        require_positive(value, f"a value of {parameter!r}")
    return sorted(set(found))


def _effort(options: dict[str, float]) -> Effort:
    known = {field.name for field in fields(Effort)}
    for key, value in options.items():
        if key not in known:
            raise UsageError(f"the option {key!r} is unknown; known are {', '.join(sorted(known))}.")
        require_positive(value, f"the option {key!r}")
    return Effort(**options)  # type: ignore[arg-type]


def _loops(
    func: Callable[..., object],
    points: Sequence[Any],
    setup: Callable[[Any], object] | None,
    fresh: bool,
    clock: Clock,
    where: str,
) -> Iterator[Loop]:
    """Yield the loop of each point; an error of the user's code says at which point it came."""
    for point in points:

        def arguments(point: Any = point) -> tuple[Any, ...]:
            with _said(f"{where} = {point}, in its setup"):
                made = point if setup is None else setup(point)
            return made if isinstance(made, tuple) else (made,)

        yield _saying(timed_loop(func, arguments, fresh, clock), f"{where} = {point}")


def _saying(loop: Loop, where: str) -> Loop:
    def with_place(k: int) -> int:
        with _said(where):
            return loop(k)

    return with_place


@contextmanager
def _said(where: str) -> Iterator[None]:
    """Add to any exception where it came from, unless an inner place said so."""
    note = f"while measuring {where}"
    try:
        yield
    except BaseException as error:
        if not any(one.startswith(note) for one in getattr(error, "__notes__", ())):
            error.add_note(note)
        raise


def _dataset(points: Sequence[Any], samples: Sequence[Samples], parameter: str, name: str) -> xr.Dataset:
    depth = max(len(one.call_ns) for one in samples)
    rows = [[t * 1e-9 for t in one.call_ns] + [math.nan] * (depth - len(one.call_ns)) for one in samples]
    ds = measurements(points, rows, parameter=parameter, name=name)
    ds["time"].attrs["long_name"] = "run time of a call"
    ds.attrs["title"] = f"run time of {name}"
    dims = ("function", parameter, "run")
    extra = {
        "n_repetitions": ([len(one.call_ns) for one in samples], {"role": "quality", "long_name": "samples"}),
        "status": ([one.status for one in samples], {"role": "quality", "long_name": "how the repetitions ended"}),
        "loops": ([one.loops for one in samples], {"role": "detail", "long_name": "calls in a sample", "units": "1"}),
        "time_first": ([one.first_ns * 1e-9 for one in samples], {"role": "detail", "units": "s"}),
    }
    return ds.assign({key: (dims, np.array(data)[np.newaxis, :, np.newaxis], attrs) for key, (data, attrs) in extra.items()})
