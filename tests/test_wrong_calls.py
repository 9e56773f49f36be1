"""A wrong call of any public function is one sentence of our own, also of those to come."""

from __future__ import annotations

import inspect
import itertools
import math
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from good_calls import KEYWORDS, MAY_FAIL, NOT_TRIED, TAKES_LONG, GoodCalls, good_calls

import scalkit as sk
from scalkit.errors import ScalkitError
from scalkit.judge import Verdict
from scalkit.perfmodels.models.model import PerformanceModel

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

Patch = pytest.MonkeyPatch
Asked = Callable[[Verdict], object]

PACKAGES = (sk, sk.trace, sk.bench, sk.store, sk.perfmodels, sk.guidelines, sk.plots, sk.widgets)
RESULTS = {sk.guidelines.Assessment, sk.store.Report, sk.perfmodels.ModelCard}
"""Classes that users never make: `assess`, `validate` and `fit_folder` return them."""

RETURNED = ("Comparison", "Piecewise", "Validation", "Verdict", "SeveralVerdict", "AlongVerdict")
"""Classes without a public name, instances of which users get and ask."""

NOT_CHECKED = {
    "AnyModel.inner_bounds",  # steps of `bounds`, which checks what they get
    "AnyModel.own_bounds",
    "AnyModel.checked_bounds",
    "Arguments.differing",  # for scalkit's own use, which gives what it has checked
    "Guideline.holds_for",
    "Mpi.environment_for",
    "Refinement.require_points",
    "Store.is_trusted",
    "Campaign",  # abstract: only its maker is called
    "Ruler.set_state",  # of ipywidgets
    "TimelineView",  # needs a recording, as TraceExplorer does
    "TraceExplorer",
}


def measured() -> Any:
    p = [2, 4, 8, 16, 32, 64, 128]
    return sk.measurements(p, [1.0, 2, 3, 4, 5, 6, 7], name="MPI_Bcast", unit="us")


def session() -> sk.Session:
    """Return a session, which a call may change; so each call has one of its own."""
    made = sk.Session(measured(), "log p")
    return made.snapshot("A")


@cache
def examples() -> dict[str, Any]:
    """Return an instance of each public class, and of what public functions return."""
    result = sk.validate(measured(), "log p")
    grid = list(itertools.product((2, 4, 8, 16, 32), repeat=2))
    times = [float(p * n) for p, n in grid]
    several = sk.measurements(grid, times, ("p", "n"), name="f", unit="us")
    models = sk.perfmodels
    loggp = models.LogGP(1e-6, 1e-6, 1e-6, 1e-6, 1e-9)
    exact = models.ExactModel("a + b*S", {"a": "2 us", "b": "1 ns/B"})
    cells = models.Cells("broadcast", "MPI_Bcast", [1, 8], [2, 4], [1e-6, 2e-6])
    return {
        "Growth": sk.Growth("p"),
        "Baseline": sk.Baseline(result),
        "Comparison": sk.Baseline(result).compare(result),
        "Expectation": sk.Expectation("log p"),
        "Piecewise": sk.piecewise(measured()),
        "SearchSpace": sk.SearchSpace.around(sk.Expectation("p")),
        "Session": session(),
        "Ruler": sk.Ruler(expectation="log p"),
        "Validation": result,
        "Verdict": result["MPI_Bcast"],
        "SeveralVerdict": sk.validate(several, "p*n")["f"],
        "AlongVerdict": result["MPI_Bcast"].along(),
        "TraceBuilder": sk.trace.TraceBuilder(2),
        "Options": sk.trace.Options(),
        "Arguments": sk.bench.Arguments(("collectives",), (2, 4), 1, 0),
        "Refinement": sk.bench.Refinement("sizes"),
        "Mpi": sk.bench.Mpi("mpicc", "mpiexec", "MPICH", "MPICH 4", "4.0", "hydra"),
        "Store": sk.store.open("data/store", readonly=True),
        "Policy": sk.store.Policy(),
        "Cells": cells,
        "Range": models.Range(1, 8),
        "ExactModel": exact,
        "RangeModel": models.RangeModel("S", [(models.Range(1, 8), exact)]),
        "AsymptoticModel": models.AsymptoticModel("log(P) + S"),
        "BoundedModel": models.BoundedModel(exact),
        "LogGP": loggp,
        "PointToPoint": loggp.point_to_point(),
        "Guideline": sk.guidelines.guidelines()[0],
        "PlotView": sk.widgets.PlotView({"data": []}),
        "Explorer": sk.explore(measured(), "log p"),
    }


@cache
def good() -> dict[str, Any]:
    """Return right arguments by the names of their parameters, so that the wrong one is reached."""
    made = examples()
    trace = sk.trace.TraceBuilder(2)
    trace.call(0, "MPI_Init", 0, 1)
    with tempfile.TemporaryDirectory() as folder:
        analysed = sk.trace.analyse(trace.write(folder))
    return {
        "algorithm": "binomial",
        "arguments": made["Arguments"],
        "cells": made["Cells"],
        "columns": ["p"],
        "ds": analysed,
        "expectation": sk.Expectation("log p"),
        "func": sorted,
        "function": "MPI_Bcast",
        "message": made["PointToPoint"],
        "name": "binomial",
        "operation": "broadcast",
        "out": "campaign",
        "parameter": "S",
        "ticks": ["1", "p"],
    }


@cache
def wrong() -> tuple[object, ...]:
    return 3, None, "nowhere", [], measured(), examples()["Validation"]


@pytest.fixture(scope="module", autouse=True)
def _forgotten() -> Iterator[None]:
    """Drop what was made, as DuckDB complains of connections that outlive Python."""
    yield
    for made in (wrong, good, examples):
        made.cache_clear()


def public_callables() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield name and getter of all public functions, classes, and methods of public classes."""
    for package in PACKAGES:
        for name in package.__all__:
            value = getattr(package, name)
            if isinstance(value, ModuleType) or not callable(value) or value in RESULTS:
                continue
            yield f"{package.__name__}.{name}", lambda value=value: value
            if inspect.isclass(value):
                yield from methods_of(value, session if name == "Session" else lambda name=name: examples()[name])
    for name in RETURNED:
        yield from methods_of(type(examples()[name]), lambda name=name: examples()[name])


def methods_of(kind: type, instance: Callable[[], Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    for name in dir(kind):
        method = inspect.getattr_static(kind, name)
        if (
            name.startswith("_")
            or kind.__name__ in NOT_CHECKED
            or not str(getattr(method, "__module__", "")).startswith("scalkit")
        ):
            continue
        where = "AnyModel" if issubclass(kind, PerformanceModel) else kind.__name__
        if isinstance(method, classmethod | staticmethod):
            yield f"{kind.__name__}.{name}", lambda name=name: getattr(kind, name)
        elif inspect.isfunction(method) and f"{where}.{name}" not in NOT_CHECKED:
            yield f"{kind.__name__}.{name}", lambda name=name: getattr(instance(), name)


CALLABLES = dict(public_callables())


def positions(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters that a call must have by position, at least the first one."""
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL
    found = [one for one in inspect.signature(function).parameters.values() if one.kind in kinds]
    needed = [one for one in found if one.default is one.empty and one.kind is kinds[0]]
    return needed or found[:1]


def complaint(call: Callable[..., Any], given: list[Any], named: dict[str, Any]) -> str:
    """Return what is wrong with how a call ends; empty if it returns or raises a ScalkitError."""
    try:
        str(call(*given, **named))
    except ScalkitError as error:
        return "" if "\n" not in str(error).strip() else f"more than one line: {error}"
    except Exception as error:
        shown = ", ".join(" ".join(repr(one).split())[:30] for one in [*given, *named.items()])
        return f"({shown}) raises {type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("name", CALLABLES)
def test_a_wrong_argument_is_named(name: str, tmp_path: Path, monkeypatch: Patch) -> None:
    function = CALLABLES[name]()
    monkeypatch.chdir(tmp_path)
    parameters = positions(function)
    complaints = []
    for place in range(len(parameters)):
        for value in wrong():
            arguments = [good().get(one.name, value) for one in parameters]
            arguments[place] = value
            complaints.append(complaint(function, arguments, {}))
    assert [one for one in complaints if one] == []


def optional(name: str, function: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments that a call may have."""
    found = inspect.signature(function).parameters.values()
    given = [one for one in found if one.default is not one.empty]
    if name in TAKES_LONG:
        given = [one for one in given if not isinstance(one.default, bool)]
    names = [one.name for one in given] + list(KEYWORDS.get(name, ()))
    return [one for one in names if (name, one) not in NOT_TRIED]


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> GoodCalls:
    return good_calls(examples(), measured(), tmp_path_factory.mktemp("good"))


@pytest.mark.parametrize("name", [name for name in CALLABLES if optional(name, CALLABLES[name]())])
def test_a_wrong_optional_argument_is_named(name: str, calls: GoodCalls, tmp_path: Path, monkeypatch: Patch) -> None:
    owner, _, method = name.rpartition(".")
    make = calls.instances.get(owner)
    function = getattr(make(), method) if make else CALLABLES[name]()
    given = calls.arguments.get(name, {})
    monkeypatch.chdir(tmp_path)
    if name not in MAY_FAIL:
        str(function(**given))
    complaints = [
        complaint(function, [], {**given, argument: value})
        for argument in optional(name, function)
        for value in (("nowhere", [], math.nan) if name in TAKES_LONG else (3, None, "nowhere", [], -1, math.nan))
    ]
    assert [one for one in complaints if one] == []


def test_every_public_class_has_an_example() -> None:
    names = [(package, name) for package in PACKAGES for name in package.__all__]
    classes = {name for package, name in names if inspect.isclass(getattr(package, name))}
    assert classes - {kind.__name__ for kind in RESULTS} <= set(examples()) | NOT_CHECKED


SENTENCES: list[tuple[Asked, str]] = [
    (lambda v: sk.check(sorted, "n", setup=3), "setup is 3; give a function that makes the arg"),
    (lambda v: sk.bench.measure_callable(sorted, values=3), "the values of 'n' cannot be 3; give "),
    (lambda v: sk.bench.prepare("x", 3, examples()["Mpi"]), "what to measure cannot be 3; give "),
    (lambda v: sk.bench.Campaign("x"), "a Campaign has no launches; make one by scalkit.bench."),
    (lambda v: sk.validate(measured(), "log p", rules=3), "the rules cannot be 3; give texts such"),
    (lambda v: v.interval([]), "there is no point to predict at; give a number, or an array of"),
    (lambda v: v.model([]), "there is no point to predict at; give a number, or an array of them."),
    (lambda v: examples()["SeveralVerdict"].along(), "there is no verdict along None; choose "),
    (lambda v: sk.plots.fit(examples()["Validation"]), "the verdict cannot be <Validation>; give "),
    (lambda v: sk.store.Store("x"), "the folder cannot be 'x'; open it by scalkit.store.open"),
    (lambda v: sk.trace.over_processes([measured()]), "<Dataset> is no result of an analysis; "),
    (lambda v: examples()["Baseline"].compare(measured()), "the later result cannot be <Dataset>; "),
    (lambda v: v.interval(8, level=2), "the level 2 is no probability between 0 and 1; 0.9 is usual."),
    (lambda v: sk.store.Policy(max_files=-1), "max_files is -1; a positive number is needed."),
    (lambda v: sk.trace.Options(chunk=0), "chunk is 0; a positive whole number is needed."),
    (lambda v: sk.piecewise(measured(), max_pieces=-1), "max_pieces is -1; a positive whole number"),
    (lambda v: sk.Growth.of("p", power="1/0"), "an exponent of p is no rational number: "),
    (lambda v: sk.plots.divergence(examples()["Validation"], math.nan), "the target is nan; a posi"),
    (lambda v: sk.guidelines.assess(measured(), p_threshold=math.nan), "the threshold of p is nan; "),
    (lambda v: sk.guidelines.assess(measured(), v_threshold=1), "the threshold of the ratio is 1; "),
    (lambda v: sk.perfmodels.Cells("broadcast", "f", [1], [2], [1], crowded=[]), "crowded is []; "),
    (lambda v: sk.trace.analyse("trace", comm=3), "the communicator cannot be 3; give one of mpi4"),
]


@pytest.mark.parametrize(("call", "sentence"), SENTENCES, ids=[text for _, text in SENTENCES])
def test_the_sentence_names_value_and_way_on(call: Asked, sentence: str) -> None:
    with pytest.raises(ScalkitError) as caught:
        call(examples()["Verdict"])
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_along_the_only_parameter_needs_no_name() -> None:
    verdict = examples()["Verdict"]
    assert verdict.along() is verdict.along("p")
