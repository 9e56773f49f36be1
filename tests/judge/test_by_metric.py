"""Expectations of single metrics: what was written for time does not judge visits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import ExpectationError
from scalkit.judge import ExpectationSet
from scalkit.judge.catalogue import expectation_set, load_expectations
from scalkit.judge.expectation import sure_match
from scalkit.judge.names import candidates, function_in, in_short, primary
from scalkit.measure import combine

P = 2.0 ** np.arange(2, 9)
VALUES = {
    ("MPI_Bcast", "time"): 1e-6 * (2 + 3 * np.log2(P)),
    ("MPI_Bcast", "visits"): 7 + 0 * P,
    ("MPI_Bcast", "bytes"): 8 * P,
    ("solve", "time"): 1e-3 * P,
    ("solve", "visits"): 2 * P,
}
UNITS = {"time": "s", "visits": "1", "bytes": "B"}


def measured(*names: tuple[str, str]) -> xr.Dataset:
    parts = [
        sk.measurements(P, y, metric=metric, unit=UNITS[metric], name=function)
        for (function, metric), y in VALUES.items()
        if not names or (function, metric) in names
    ]
    return combine(parts)


def judged(result: sk.Validation) -> dict[tuple[str, str], str]:
    return {(v.function, v.metric): str(v.expectation.growth) for v in result}


def test_an_expectation_without_metric_is_about_the_time() -> None:
    result = sk.validate(measured(), {"MPI_Bcast": "log(p)", "solve": "p"})
    assert judged(result) == {("MPI_Bcast", "time"): "log(p)", ("solve", "time"): "p"}
    assert set(result.unexpected) == {"MPI_Bcast (visits)", "MPI_Bcast (bytes)", "solve (visits)"}
    assert result.missing == ()
    said = next(text for text in result.warnings if text.startswith("measured, but"))
    assert "visits of MPI_Bcast, solve" in said
    assert "bytes of MPI_Bcast" in said


def test_every_metric_may_have_an_expectation_of_its_own() -> None:
    wanted = {"MPI_Bcast": {"time": "log(p)", "visits": "1"}, "solve (visits)": "p"}
    result = sk.validate(measured(), wanted)
    assert judged(result) == {("MPI_Bcast", "time"): "log(p)", ("MPI_Bcast", "visits"): "1", ("solve", "visits"): "p"}
    assert {sure_match(v.probability) for v in result} == {"total"}
    assert set(result.unexpected) == {"MPI_Bcast (bytes)", "solve (time)"}


def test_a_metric_that_was_not_measured_is_missing() -> None:
    result = sk.validate(measured(("MPI_Bcast", "time")), {"MPI_Bcast": {"time": "log(p)", "visits": "1"}})
    assert result.missing == ("MPI_Bcast (visits)",)
    with pytest.raises(ExpectationError) as refused:
        sk.validate(measured(("MPI_Bcast", "time")), {"MPI_Bcast": {"visits": "1"}})
    assert str(refused.value) == (
        "no measured function has an expectation: measured are MPI_Bcast (time); expectations name MPI_Bcast (visits). "
        "Did you mean 'MPI_Bcast (time)'?"
    )


@pytest.mark.parametrize(
    ("metrics", "meant"),
    [
        (["time", "visits"], {"time"}),
        (["visits", "time", "operations"], {"time", "operations"}),
        (["visits", "object_memory", "time"], {"object_memory", "time"}),
        (["visits", "bytes"], {"visits"}),
        (["operations", "visits"], {"operations"}),
    ],
)
def test_primary_metrics(metrics: list[str], meant: set[str]) -> None:
    assert primary(("f", metric) for metric in metrics) == {("f", metric) for metric in meant}


def test_variants_fall_back_metric_by_metric() -> None:
    assert list(candidates("f[a]", "time")) == ["f[a] (time)", "f[a]", "f (time)", "f"]
    assert list(candidates("f[a]", "visits", False)) == ["f[a] (visits)", "f (visits)"]
    given = expectation_set({"f": {"time": "p", "visits": "1"}})
    assert given.name_of("f[a]", "visits", False) == "f (visits)"
    assert given.of("f[a]", "bytes", False) is None
    assert given.names == ("f (time)", "f (visits)", "f")


def test_names_in_short() -> None:
    assert function_in("operator new (unsigned)") == "operator new"
    names = ["g", *(f"f{i} (visits)" for i in range(5)), "f0 (bytes)"]
    assert in_short(names) == ["g", "visits of f0, f1, f2 and 2 more", "bytes of f0"]


def written(tmp_path: Path, text: str) -> ExpectationSet:
    path = tmp_path / "e.toml"
    path.write_text(text, encoding="utf-8")
    return load_expectations(path)


def test_files_say_it_as_tables(tmp_path: Path) -> None:
    text = """
    deviation = "p^(1/2)"

    [expectations]
    MPI_Bcast = { time = "log(p)", visits = { expectation = 1, deviation = "log(p)" } }

    [expectations.solve]
    time = "p"
    visits = "p"
    """
    given = written(tmp_path, text)
    assert list(given.functions) == ["MPI_Bcast (time)", "MPI_Bcast (visits)", "solve (time)", "solve (visits)"]
    assert [str(one.expectation.deviation) for one in given.functions.values()] == [  # type: ignore[union-attr]
        "p^(1/2)",
        "log(p)",
        "p^(1/2)",
        "p^(1/2)",
    ]
    assert given.lines["solve (visits)"] == 9
    assert sk.validate(measured(), given).missing == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[expectations.f]\ntime = "log(p)"\nvisits = "p q("', r"line 3: function 'f \(visits\)': .*'p q\('"),
        ('[expectations]\nf = { time = { deviation = "p" } }', r"line 2: 'f \(time\)' has no key 'expectation'; add one"),
        (
            '[expectations]\n"f (time)" = "p"\nf = { time = "log(p)" }',
            r"line 3: what is expected of 'f \(time\)' is said twice; leave one out\.",
        ),
        ('[expectations]\nf = { expectaton = "p" }', r"'f' has the unknown key 'expectaton'; did you mean 'expectation'\?"),
        ('[expectations]\nf = { time = "p", space = "paper" }', r"'f' has the unknown key 'time'; known are"),
    ],
)
def test_wrong_files_are_refused_with_their_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ExpectationError, match=said):
        written(tmp_path, text)


def test_over_several_parameters(tmp_path: Path) -> None:
    S = 2.0 ** np.arange(3, 9)
    points = np.array([(p, s) for p in P for s in S])
    time = 1e-6 * (2 + np.log2(points[:, 0]) + points[:, 1])
    visits = 5 + 0 * time
    data = combine(
        [
            sk.measurements(points, time, ("p", "S"), name="f"),
            sk.measurements(points, visits, ("p", "S"), "visits", "1", name="f"),
        ]
    )
    alone = sk.validate(data, {"f": "log(p) + S"})
    assert [(v.function, v.metric) for v in alone] == [("f", "time")]
    assert alone.unexpected == ("f (visits)",)
    both = sk.validate(data, {"f": {"time": "log(p) + S", "visits": "1"}})
    assert {v.metric: sure_match(v.probability) for v in both} == {"time": "total", "visits": "total"}
