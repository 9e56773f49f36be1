"""Growth classes that a file of expectations declares: what it takes, what it refuses and on which line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import DataError, ExpectationError
from scalkit.growth import forget_growth, plain_growths, register_again, registered_growths
from scalkit.validation import load_expectations

P = 2.0 ** np.arange(1, 11)
FILE = """\
[growth_classes.loglog]
expression = "log(log(p))"
faster_than = "1"

[growth_classes]
slowest = "log(loglog(p))"

[expectations]
f = { expectation = "p*loglog(p)", deviation = "loglog(p)" }
g = "slowest(p)"
h = "p"
"""


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    before = registered_growths()
    yield
    for kind in registered_growths():
        if kind not in before:
            forget_growth(kind.name)


def written(folder: Path, text: str) -> Path:
    path = folder / "expectations.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_texts_of_the_file_name_its_classes(tmp_path: Path) -> None:
    for _ in range(2):  # the same classes again are no news
        found = load_expectations(written(tmp_path, FILE))
    assert str(found.functions["f"].expectation.growth) == "p*loglog(p)"
    assert [kind.name for kind in registered_growths()] == ["slowest", "loglog"]


def test_the_command_knows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noise = np.exp(0.01 * np.random.default_rng(1).standard_normal((10, 5)))
    data = sk.measurements(P, 1e-6 * (1 + 2 * np.log2(np.log2(P)))[:, None] * noise, name="g")
    data.to_netcdf(tmp_path / "run.nc")
    text = FILE.replace("slowest(p)", "loglog(p)")
    status = main(["validate", str(tmp_path / "run.nc"), "--expect", str(written(tmp_path, text)), "--json"])
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert (status, verdict["expectation"], verdict["model"]["growth"]) == (0, "loglog(p)", "loglog(p)")


@pytest.mark.parametrize(
    ("classes", "line", "message"),
    [
        ("growth_classes = 3", 1, "'growth_classes' is 3; a table of growth classes is needed."),
        ("[growth_classes]\nown = 3", 2, "'expression' of the growth class 'own' is 3; text is needed."),
        (
            "[growth_classes.own]\nfaster_than = '1'",
            1,
            "the growth class 'own' has no key 'expression'; add one, for example expression = 'log(log(p))'.",
        ),
        (
            "[growth_classes.own]\nexpression = 'log(log(p))'\nfaster = '1'",
            3,
            "the growth class 'own' has the unknown key 'faster'; did you mean 'faster_than'?",
        ),
        ("[growth_classes]\nlog = 'log(log(p))'", 2, "'log' cannot name a growth class; take a letter"),
        ("[growth_classes]\n\nown = '__import__(p)'", 3, "cannot read the formula '__import__(p)'"),
        (
            "[growth_classes.own]\nexpression = 'log(log(p))'\nfaster_than = 'p'",
            1,
            "the growth class 'own' grows slower than log(p), not faster; correct slower_than or faster_than.",
        ),
        (
            "[growth_classes.own]\nexpression = 'log(log(p))'\nfaster_than = 3",
            3,
            "'faster_than' of the growth class 'own' is 3; text is needed.",
        ),
    ],
)
def test_refused_by_line(tmp_path: Path, classes: str, line: int, message: str) -> None:
    path = written(tmp_path, f"{classes}\n[expectations]\nf = 'p'\n")
    with pytest.raises(ExpectationError, match=re.escape(f"{path}, line {line}: {message}")):
        load_expectations(path)


def test_another_class_of_the_same_name(tmp_path: Path) -> None:
    sk.register_growth("loglog", "log(log(p))^2")
    with pytest.raises(ExpectationError, match=r"line 1: the growth class 'loglog' is registered as .* forget_growth"):
        load_expectations(written(tmp_path, FILE))


def test_a_file_that_is_refused_registers_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, "[growth_classes]\nfirst = 'log(log(p))'\nsecond = 'sin(p)'\n[expectations]\nf = 'p'\n")
    with pytest.raises(ExpectationError, match="line 3"):
        load_expectations(path)
    with pytest.raises(ExpectationError, match="sin"):
        register_again({"first": {"expression": "log(log(p))"}, "second": {"expression": "sin(p)"}})
    assert registered_growths() == ()


def test_an_expectation_without_a_value_at_a_setting_is_not_judged() -> None:
    sk.register_growth("loglog", "log(log(p))")
    x, one = 2.0 ** np.arange(8), {"f": "loglog(p)"}
    y = 1 + np.log2(np.maximum(np.log2(np.maximum(x, 2)), 1))
    message = "'time' of 'f' cannot be judged at p = 1, where the expectation loglog(p) has no value; leave that point out"
    with pytest.raises(DataError, match=re.escape(message)):
        sk.validate(sk.measurements(x, y), one)
    assert sk.validate(sk.measurements(x[1:], y[1:]), one)["f"].rank == "total"
    both = [sk.measurements(x, values, name=name) for name, values in (("f", y), ("g", x))]
    data = xr.concat(both, "function", data_vars="all", coords="minimal", compat="override", join="exact")
    found = sk.validate(data, one | {"g": "p"})
    assert [v.function for v in found] == ["g"]
    assert [text.startswith(message) for text in found.unjudged] == [True]
    assert found.missing == ()


def test_only_the_classes_that_a_text_names() -> None:
    sk.register_growth("loglog", "log(log(p))")
    sk.register_growth("log_log", "log(log(log(p)))")
    assert list(plain_growths("p*log_log(p)")) == ["log_log"]
    assert list(plain_growths("loglogs(p) xloglog(p)")) == []
    assert list(plain_growths()) == ["log_log", "loglog"]
