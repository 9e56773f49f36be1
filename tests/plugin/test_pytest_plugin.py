"""The marker and the fixture `scaling`, in pytest runs of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import scalkit.pytest_plugin.scaling_check  # noqa: F401  (an inner run forgets what it imports first, and numpy loads once in a process)

pytest_plugins = ["pytester"]

HEAD = """
import functools
import pytest
N = [400, 800, 1600, 3200, 6400, 12800]
now = 0

def clock():
    global now
    now += 20
    return now

def spend(ns):
    global now
    now += round(ns)

def numbers(n):
    return list(range(n))

scaling_mark = functools.partial(pytest.mark.scaling, clock=clock)
"""
"""The clock of the inner tests moves only when they say what they cost."""


@pytest.fixture
def run(pytester: pytest.Pytester):
    def started(body: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(HEAD + body)
        plain = ("-p", "no:cacheprovider", "-p", "no:randomly")  # in the order of the file
        return pytester.runpytest_inprocess(*plain, "--strict-markers", "-Wdefault", *options)

    return started


def test_the_marked_function_is_measured(run) -> None:
    result = run("""
@scaling_mark("O(n)", n=N)
def test_plain(n):
    spend(50 * n)
    return "not None"

class TestMethods:
    @pytest.mark.parametrize("kind", [list, tuple])
    @scaling_mark("n log n", n=N, setup=numbers, deviation="n^(1/4)")
    def test_with_setup_and_fixtures(self, values, kind, tmp_path):
        assert tmp_path.is_dir() and kind in (list, tuple) and values == numbers(len(values))
        spend(50 * len(values) * len(values).bit_length())
""", "-v")  # fmt: skip
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*::test_plain* PASSED*", "*TestMethods::test_with_setup_and_fixtures[[]list* PASSED*"])


def test_real_time(run) -> None:
    """What is found depends on the machine; that something is found does not. Only enough samples end it."""
    result = run("""
@pytest.mark.scaling("n", n=N, setup=numbers, budget=1e6, strictness="paper")
def test_sum(values):
    sum(values)
""", "-rA")  # fmt: skip
    found = result.parseoutcomes()
    assert found.get("passed", 0) + found.get("failed", 0) == 1
    assert "errors" not in found
    assert re.search(r"^(fine|fix|cannot tell): test_sum ", result.stdout.str(), re.MULTILINE)


GUIDE = (Path(__file__).resolve().parents[2] / "docs/howto/pytest.md").read_text(encoding="utf-8")
COUNTED = """
class Item:
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        spend(2000)
        return self.number == other.number

def items(n):
    return list(map(Item, range(n)))
"""


def test_the_guide_shows_what_is_printed(run) -> None:
    """The test of the guide with fewer elements, whose comparisons take 2 us by the clock of this test."""
    code, sample = (re.search(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL)[1] for kind in ("python", "console"))
    for there, here in (
        ("n=[100, 200, 400, 800, 1600]", "n=[10, 20, 40, 80, 160]"),
        ("setup=range", "setup=items"),
        ('clock="cpu"', "clock=clock"),
    ):
        assert there in code
        code = code.replace(there, here)
    result = run(f"{COUNTED}\n{code}")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"{line}*" for line in sample.splitlines()])


def test_failure_is_the_sentence_the_model_and_the_values(run) -> None:
    result = run("""
@scaling_mark("n", n=N)
def test_squared(n):
    spend(1000 + 7 * n**2)
""")  # fmt: skip
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "fix: test_squared grows as n^2 instead of n: * at n = *, where the claim allows *",
            "",
            "expected  O(n)",
            "excluded  anything faster than n^(9/4)",
            "model     * us + 7.00 ns [*] n^2 (adjusted R2 1.000)",
            "measured  5 settings, * samples each, 2 runs",
            "values    * at 400, * at *",
            "remarks   the budget of 2 s did not last for n = 12800",
            "FAILED *::test_squared*",
        ]
    )
    assert "pytest_plugin.py" not in result.stdout.str()
    lines = result.stdout.str().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("expected "))
    stop = next(i for i, line in enumerate(lines) if line.startswith("remarks "))
    assert max(len(line) for line in lines[start:stop]) <= 72


def test_better_than_expected_passes_unless_asked(run) -> None:
    result = run("""
@scaling_mark("n^3", n=N)
def test_better(n):
    spend(50 * n)

@scaling_mark("n^3", n=N, fail_on="better")
def test_not_better(n):
    spend(50 * n)
""")  # fmt: skip
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["fine: test_not_better grows slower than claimed, n instead of n^3, which is fine, *"])


def test_the_fixture_measures_and_returns_the_verdict(run) -> None:
    result = run("""
def linear(values):
    spend(50 * len(values))

@scaling_mark("O(n)", n=N)
def test_two(scaling):
    verdict = scaling(linear, numbers)
    assert (verdict.function, verdict.parameter, verdict.match) == ("linear", "n", "total")
    again = scaling(lambda k: spend(k**2), None, "k^2", k=N, name="another", fresh=True)
    assert (again.function, again.parameter, again.match) == ("another", "k", "total")
    assert scaling.verdicts == [verdict, again]

def test_without_marker(scaling):
    assert scaling(linear, numbers, expectation="n", n=N, clock="cpu", budget=1e6).series.metric == "time"

@scaling_mark("O(n)", n=N)
def test_fails(scaling):
    scaling(linear, numbers)
    scaling(lambda k: spend(k**2), name="squared")
""")  # fmt: skip
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["fix: squared grows as n^2 instead of n: *"])


UNDECIDED = """
import scalkit.pytest_plugin.scaling_check as module
import dataclasses

class Open(module.Outcome):
    cannot_tell = True

@pytest.fixture(autouse=True)
def _open(monkeypatch):
    monkeypatch.setattr(module, "Outcome", Open)

@scaling_mark("n", n=N)
def test_open(n):
    spend(50 * n)
"""


def test_cannot_tell_is_a_warning(run) -> None:
    result = run(UNDECIDED, "-Wdefault")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*test_cannot_tell_is_a_warning.py:*: ScalingWarning: test_open *"])


def test_cannot_tell_fails_where_warnings_are_errors(run) -> None:
    result = run(UNDECIDED, "-Werror")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["fine: test_open *", "values    * at *"])
    result = run(UNDECIDED, "-Werror", "-Wdefault::scalkit.pytest_plugin.ScalingWarning")
    result.assert_outcomes(passed=1, warnings=1)


@pytest.mark.parametrize(
    ("marker", "arguments", "message"),
    [
        ('"n", 3, n=N', "n", "test_it: the marker 'scaling' has one expectation, got ('n', 3); values go by name, as in n=*"),
        ("n=N", "n", "test_it: a scaling test needs an expectation; for example scaling(*)."),
        ('"n"', "n", "test_it: a scaling test needs the values of one parameter, there are none; for example *"),
        ('"n", n=N, m=N', "n", "test_it: a scaling test needs the values of one parameter, there are n, m; for example *"),
        ('"n", n=N, budgte=3', "n", "test_it: a scaling test needs the values of one parameter, there are n, budgte; for *"),
        ('"n", n=7', "n", "test_it: 'n' is 7, neither a list of values nor one of the options setup, fresh, *"),
        ('"n", n=N, clock="sun"', "n", "test_it: the clock 'sun' is unknown; choose 'wall' or 'cpu', or a function of *"),
        ('"n!", n=N', "n", "test_it: cannot classify 'n!': *"),
        ('"p", n=N', "n", "test_it: the expectation 'p' is in terms of 'p', the data in terms of 'n'; write it in terms of n."),
        ('"n", n=[1, 2]', "n", "test_it: a scaling test needs 5 values of 'n', got 2; add some, or set min_points."),
        ('"n", n=N, fail_on="rain"', "n", "test_it: cannot fail on 'rain'; choose from better, predicted, cannot-tell."),
        ('"n", n=N', "scaling", "test_it never called its fixture 'scaling', so nothing was measured."),
    ],
)  # fmt: skip
def test_wrong_use(run, marker: str, arguments: str, message: str) -> None:
    result = run(f"\n@pytest.mark.scaling({marker})\ndef test_it({arguments}):\n    pass\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message])
    assert "During handling" not in result.stdout.str()


@pytest.mark.parametrize(
    "test",
    [
        "def test_it(): pass",
        "def test_it(tmp_path): pass",
        "class TestIt(__import__('unittest').TestCase):\n    def test_it(self): pass",
    ],
)
def test_a_marked_test_that_measures_nothing_does_not_pass(run, test: str) -> None:
    body = f"pytestmark = pytest.mark.scaling('n', n=N)\n{test}\n"
    result = run(body)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["test_it is marked 'scaling' and takes neither the parameter nor the fixture 'scaling'; *"])


def test_errors_and_skips_of_the_test_are_its_own(run) -> None:
    result = run("""
@pytest.mark.scaling("n", n=N)
def test_raises(n):
    raise KeyError(n)

@pytest.mark.scaling("n", n=N)
def test_skips(scaling):
    pytest.skip("not here")

@pytest.mark.scaling("n", n=N)
def test_raises_itself(scaling):
    raise ValueError("mine")
""")  # fmt: skip
    result.assert_outcomes(failed=2, skipped=1)
    result.stdout.fnmatch_lines(["E  *KeyError: 400", "E  *while measuring 'test_raises' at n = 400", "E  *ValueError: mine"])


def test_other_workers_are_named(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "2")
    result = run('@scaling_mark("1", n=N)\ndef test_linear(n):\n    spend(50 * n)\n')
    result.stdout.fnmatch_lines(["Other tests ran at the same time; measure alone: pytest -m scaling -n 0"])


def test_junit_has_the_verdict(run, pytester: pytest.Pytester) -> None:
    run('@scaling_mark("n", n=N)\ndef test_linear(n):\n    spend(50 * n)\n', "--junit-xml=out.xml")
    text = (pytester.path / "out.xml").read_text()
    assert '<property name="scaling" value="test_linear grows as claimed, n; anything faster than ' in text
    assert '<property name="scaling_model" value="' in text


def test_the_marker_is_listed(run) -> None:
    run("", "--markers").stdout.fnmatch_lines(["@pytest.mark.scaling(expectation, [*], n=*"])


def test_without_marked_tests_nothing_is_imported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\ndef test_it():\n    assert not {'numpy', 'xarray', 'scalkit.bench'} & set(sys.modules)\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", str(pytester.path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
