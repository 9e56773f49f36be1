"""The pytest plugin: the marker ``scaling`` and the fixture of the same name (docs/testing.md).

Everything of scalkit is imported when a marked test runs, not before.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from scalkit.judge import Verdict
    from scalkit.pytest_plugin.scaling_check import ScalingCheck

__all__ = ["Scaling", "ScalingWarning"]

_MARKER = (
    "scaling(expectation, *, n=[...], setup=None, fresh=False, deviation=None, budget=2.0, fail_on=(), clock='wall', {}): "
    "fails unless the run time grows with n as expected, for example 'O(n log n)'."
)
_FIXTURE = "scaling"


class ScalingWarning(UserWarning):
    """The measurements of a scaling test do not decide whether it passes."""


class _Measured:
    """Stands for an argument that the measurement fills in."""

    def __repr__(self) -> str:
        return "<filled in by the marker 'scaling'>"


_MEASURED = _Measured()


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    from scalkit.support.options import OPTIONS

    options = ", ".join(f"{name}={one.default!r}" for name, one in OPTIONS.items())
    config.addinivalue_line("markers", _MARKER.format(options))


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make the arguments that the measurement fills in known to pytest, which would look for fixtures."""
    marker = metafunc.definition.get_closest_marker("scaling")
    if marker is None or _FIXTURE in metafunc.fixturenames:
        return
    names = _open_arguments(metafunc)
    if names:
        hidden = getattr(pytest, "HIDDEN_PARAM", "scaling")
        metafunc.parametrize(",".join(names), [[_MEASURED] * len(names)] if len(names) > 1 else [_MEASURED], ids=[hidden])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a marked test that could not measure anything, instead of letting it pass."""
    if item.get_closest_marker("scaling") is None or _FIXTURE in getattr(item, "fixturenames", ()):
        return
    params = getattr(getattr(item, "callspec", None), "params", {})
    if not any(value is _MEASURED for value in params.values()):
        pytest.fail(
            f"{item.name} is marked 'scaling' and takes neither the parameter nor the fixture 'scaling'; write "
            "def test(n): ..., or def test(scaling): scaling(function, setup).",
            pytrace=False,
        )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object | None:
    """Measure a marked test function instead of calling it once."""
    marker = pyfuncitem.get_closest_marker("scaling")
    if marker is None or _FIXTURE in pyfuncitem.fixturenames:
        return None
    from scalkit.errors import ScalkitError

    wrong = ""
    try:
        _judge(pyfuncitem, _check(marker, {}), _measured_part(pyfuncitem), _label(pyfuncitem))
    except ScalkitError as error:
        wrong = str(error)
    if wrong:
        pytest.fail(f"{_label(pyfuncitem)}: {wrong}", pytrace=False)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that asked for the fixture and never used it."""
    result = yield
    fixture = getattr(item, "funcargs", {}).get(_FIXTURE)
    if isinstance(fixture, Scaling) and not fixture.verdicts:
        pytest.fail(f"{item.name} never called its fixture 'scaling', so nothing was measured.", pytrace=False)
    return result


@pytest.fixture
def scaling(request: pytest.FixtureRequest) -> Scaling:
    """Return a function that measures a callable and fails the test unless it scales as expected.

    ``scaling(func, setup=None, expectation=None, **options)``; what is not given, the marker ``scaling`` of the test says.
    """
    return Scaling(request.node)


class Scaling:
    """Measures callables within one test; the value of the fixture ``scaling``. `verdicts`: what the calls returned so far."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self.verdicts: list[Verdict] = []

    def __call__(
        self,
        func: Callable[..., object],
        setup: Callable[[Any], object] | None = None,
        expectation: object | None = None,
        **options: Any,
    ) -> Verdict:
        """Return the verdict on `func`; fail the test if it is not one to pass with.

        `func`: what is timed.
        `setup`: makes its arguments from a value of the parameter: a tuple is all of them, anything else the only one.
        `**options`: as those of the marker, which they override; ``n=[...]`` names the parameter and its values,
        ``name`` the function in the verdict.
        Raises UsageError if neither the marker nor the call says expectation and values, or an option is wrong;
        DataError if the calls take far longer than the budget.
        """
        from scalkit.bench.functions.callables import name_of

        given = {"setup": setup, "expectation": expectation}
        options |= {key: value for key, value in given.items() if value is not None}
        name = options.pop("name", None) or name_of(func)
        check = _check(self._item.get_closest_marker("scaling"), options)
        return _judge(self._item, check, func, str(name), self.verdicts)


def _check(marker: pytest.Mark | None, options: Mapping[str, Any]) -> ScalingCheck:
    from scalkit.errors import UsageError
    from scalkit.pytest_plugin.scaling_check import ScalingCheck

    args, kwargs = (marker.args, marker.kwargs) if marker is not None else ((), {})
    if len(args) > 1:
        raise UsageError(f"the marker 'scaling' has one expectation, got {args!r}; values go by name, as in n=[...].")
    return ScalingCheck.of(dict(zip(("expectation",), args, strict=False)), kwargs, options)


def _judge(
    item: pytest.Item, check: ScalingCheck, func: Callable[..., object], name: str, verdicts: list[Verdict] | None = None
) -> Verdict:
    """Measure, leave a trace in the reports of the test, and fail or warn."""
    outcome = check.run(func, name)
    verdict = outcome.verdict
    if verdicts is not None:
        verdicts.append(verdict)
    item.user_properties += [("scaling", verdict.sentence), ("scaling_model", f"{verdict.model}")]
    if outcome.failed or (outcome.cannot_tell and not _warned(item, verdict.sentence)):
        busy = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1") or 1) > 1
        hint = "\n\nOther tests ran at the same time; measure alone: pytest -m scaling -n 0" if busy else ""
        pytest.fail(outcome.text + hint, pytrace=False)
    item.add_report_section("call", "scaling", outcome.text)
    return verdict


def _label(item: pytest.Item) -> str:
    """Return the name of a test without the id that pytest before 8.4 cannot hide."""
    return item.name.replace("[scaling]", "").replace("-scaling]", "]")


def _warned(item: pytest.Item, text: str) -> bool:
    """Return whether a warning was given; False where the filters make errors of warnings."""
    try:
        item.warn(ScalingWarning(text))
    except ScalingWarning:
        return False
    return True


def _open_arguments(metafunc: pytest.Metafunc) -> list[str]:
    """Return the arguments of the function that are neither fixtures nor parametrized."""
    known = set(getattr(getattr(metafunc.definition, "_fixtureinfo", None), "name2fixturedefs", {})) | {"request"}
    for mark in metafunc.definition.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
        known |= {part.strip() for part in names.split(",")} if isinstance(names, str) else set(names)
    return [name for name in _arguments(metafunc.function) if name in metafunc.fixturenames and name not in known]


def _measured_part(item: pytest.Function) -> Callable[..., object]:
    """Return the test function with its fixtures filled in, as a function of the arguments to measure with."""
    names = [name for name in _arguments(item.obj) if name in item.funcargs]
    own = [name for name in names if item.funcargs[name] is _MEASURED]
    fixed = {name: item.funcargs[name] for name in names if name not in own}
    function: Callable[..., object] = item.obj
    if own == names:
        return function

    def with_fixtures(*args: object) -> object:
        return function(**fixed, **dict(zip(own, args, strict=True)))

    return with_fixtures


def _arguments(function: Callable[..., object]) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind in kinds and p.default is p.empty]
