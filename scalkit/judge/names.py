"""By which name a set of expectations knows what was measured: that of the function, or that of one metric of it."""

from collections.abc import Iterable, Mapping

from scalkit.measure.schema import METRICS

Name = tuple[str, str]
"""Function and metric."""

_OWN = (*METRICS, "operations")
_SHOWN = 3


def named(function: str, metric: str) -> str:
    """Return the name of one metric of a function: ``MPI_Bcast (visits)``."""
    return f"{function} ({metric})"


def function_in(name: str) -> str:
    """Return the function in a name, with or without a metric."""
    return name.rpartition(" (")[0] if name.endswith(")") and " (" in name else name


def metric_in(name: str) -> str:
    """Return the metric in a name; empty if it names a function alone."""
    function = function_in(name)
    return "" if function == name else name[len(function) + 2 : -1]


def candidates(function: str, metric: str = "", is_primary: bool = True) -> list[str]:
    """Return the names that a set may know something by, the first one that it has counts.

    A variant such as ``f[random]`` falls back to ``f``. A name without a metric stands for primary ones only.
    """
    found = []
    for one in dict.fromkeys((function, function.split("[", 1)[0])):
        found += [named(one, metric)] if metric else []
        found += [one] if is_primary else []
    return found


def primary(names: Iterable[Name]) -> frozenset[Name]:
    """Return what an expectation is about that names no metric.

    That is what scalkit measures itself: run time, memory, counted operations. Of a function that has none of these it is
    the first metric.
    """
    metrics: dict[str, list[str]] = {}
    for function, metric in names:
        metrics.setdefault(function, []).append(metric)
    return frozenset(
        (function, metric)
        for function, found in metrics.items()
        for metric in ([one for one in found if one in _OWN] or found[:1])
    )


def unexpected(expected: Mapping[Name, object | None]) -> tuple[str, ...]:
    """Return what was measured without being expected: functions, and metrics of functions that are expected."""
    functions = {function for (function, _), one in expected.items() if one is not None}
    found = (named(*name) if name[0] in functions else name[0] for name, one in expected.items() if one is None)
    return tuple(dict.fromkeys(found))


def in_short(names: Iterable[str]) -> list[str]:
    """Return names with those of the same metric joined: ``visits of MPI_Bcast, MPI_Reduce and 7 more``."""
    plain: list[str] = []
    by_metric: dict[str, list[str]] = {}
    for name in names:
        function = function_in(name)
        if function == name:
            plain.append(name)
        else:
            by_metric.setdefault(metric_in(name), []).append(function)
    return [*plain, *(f"{metric} of {_some(functions)}" for metric, functions in by_metric.items())]


def _some(functions: list[str]) -> str:
    shown, more = functions[:_SHOWN], len(functions) - _SHOWN
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
