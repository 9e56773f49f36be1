"""Commits that are off for reasons of their own: no change, wherever they are, and what it takes to make one."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import DataError
from scalkit.history import History, history
from scalkit.measure import combine

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import changes

# Medians of a benchmark of TigerBeetle, in the order of the commits: tests/tigerbeetle_test.py of apache/otava (Apache-2.0).
TIGERBEETLE = (
    *(26705, 26475, 26641, 26806, 26835, 26911, 26564, 26812, 26874, 26682, 15672, 26745, 26460, 26977, 26851),
    *(23412, 23547, 23674, 23519, 23670, 23662, 23462, 23750, 23717, 23524, 23588, 23687, 23793, 23937, 23715),
    *(23570, 23730, 23690, 23699, 23670, 23860, 23988, 23652, 23681, 23798, 23728, 23604, 23523, 23412, 23685),
    *(23773, 23771, 23718, 23409, 23739, 23674, 23597, 23682, 23680, 23711, 23660, 23990, 23938, 23742, 23703),
)
GROWN = changes.CHANGES["n to n log n"] / changes.TIME


def commit(rng: np.random.Generator, *factors: Any) -> Any:
    """Return measurements of a commit whose runs, of one value each, take so many times as long as usual."""
    runs = [sk.measurements(changes.N, changes.TIME * f * rng.lognormal(0, 0.01, 6), parameter="n", name="f") for f in factors]
    return combine(runs) if len(runs) > 1 else runs[0]


def history_of(factors: Sequence[Any], **options: Any) -> History:
    """Return the history of commits; a tuple stands for the runs of one of them."""
    rng = np.random.default_rng(7)
    each = [one if isinstance(one, tuple) else (one,) for one in factors]
    return history([(f"c{k}", commit(rng, *one)) for k, one in enumerate(each)], **options)


def test_one_fast_run_is_no_change_and_an_improvement_is_one() -> None:
    n = 1000.0 * 2 ** np.arange(5)
    found = history([(f"c{k}", sk.measurements(n, 1e-9 * t * n, parameter="n", name="f")) for k, t in enumerate(TIGERBEETLE)])
    assert (found.first_bad, found.exit_status(), found.measure_again) == (None, 0, ())
    (step,), (odd,) = found.steps, found.odd
    assert (step.label, step.change.is_slower, round(step.change.factor, 2)) == ("c15", False, 0.89)
    assert (odd.label, odd.position, round(odd.change.factor, 2)) == ("c10", "middle", 0.59)
    assert odd.sentence.startswith("f (time) is off at c10: 0.586 (")
    assert odd.sentence.endswith(
        "the value of before everywhere, a constant factor. It did not last, so it is not counted as a change."
    )


@pytest.mark.parametrize("factor", [0.6, 1.6, GROWN**2, 1 / GROWN**2], ids=["fast", "slow", "grows", "grows less"])
@pytest.mark.parametrize("place", range(12))
def test_one_commit_is_no_change_wherever_it_is(place: int, factor: Any) -> None:
    found = history_of([factor if k == place else 1 for k in range(12)])
    assert (found.first_bad, found.exit_status(), found.steps) == (None, 0, ())
    assert [one.label for one in found.odd] == [f"c{place}"]
    is_slow = found.odd[0].change.is_slower
    assert is_slow == (np.max(factor) > 1)
    assert found.measure_again == (("c11",) if place == 11 and is_slow else ())


@pytest.mark.parametrize(("factor", "shape"), [(1.3, "everywhere"), (GROWN, "growing")])
def test_two_commits_that_agree_are_a_change(factor: Any, shape: str) -> None:
    found = history_of([1] * 10 + [factor] * 2)
    assert (found.first_bad, found.exit_status(), found.odd) == ("c10", 1, ())
    assert found.steps[0].change.shape == shape


def test_a_change_within_the_tolerance_is_none_and_its_commits_are_one_level() -> None:
    found = history_of([1] * 6 + [1.06] * 6 + [1.4] * 4)
    assert [step.label for step in found.steps] == ["c12"]
    assert found.steps[0].change.factor == pytest.approx(1.36, abs=0.02)
    assert [step.label for step in history_of([1] * 6 + [1.06] * 6, tolerance=0.03).steps] == ["c6"]


def test_a_function_that_is_not_there_is_named_with_those_that_are() -> None:
    found = history_of([1, 1])
    assert repr(found) == "<History: nothing is worse at the end: 1 function over 2 commits>"
    with pytest.raises(DataError, match=r"the history has no 'g'; it has f \(time\)\."):
        found["g"]


def test_two_commits_that_do_not_agree_are_none() -> None:
    found = history_of([1] * 10 + [1.3, 2.0])
    assert (found.first_bad, found.exit_status(), found.measure_again) == (None, 0, ("c11",))
    assert [(one.label, one.position) for one in found.odd] == [("c10", "middle"), ("c11", "last")]


def test_one_commit_or_two_that_come_back_are_none_and_three_are_a_change() -> None:
    for many in (1, 2):
        found = history_of([1] * 6 + [0.7] * many + [1] * 6)
        assert (found.first_bad, found.steps) == (None, ())
        assert [one.label for one in found.odd] == [f"c{6 + k}" for k in range(many)]
    found = history_of([1] * 6 + [0.7] * 3 + [1] * 6)
    assert ([step.label for step in found.steps], found.first_bad, found.exit_status()) == (["c6", "c9"], "c9", 1)


def test_an_improvement_and_a_later_regression_are_two_changes_around_odd_commits() -> None:
    found = history_of([1, 1, 1, 1.9, 1] + [0.7] * 4 + [0.3] + [0.7] * 4 + [1] * 4)
    assert [step.label for step in found.steps] == ["c5", "c14"]
    assert (found.first_bad, [one.label for one in found.odd]) == ("c14", ["c3", "c9"])


def test_an_odd_commit_beside_a_change_hides_it_not() -> None:
    behind = history_of([1] * 6 + [1.3, 1.9, 1.3, 1.3])
    assert (behind.first_bad, [one.label for one in behind.odd]) == ("c6", ["c7"])
    before = history_of([1] * 6 + [1.9, 1.3, 1.3, 1.3])
    step = before.steps[0]
    assert (before.first_bad, step.earliest, step.latest) == ("c7", "c6", "c7")


def test_a_bad_commit_stays_the_first_one_where_only_the_last_is_good() -> None:
    found = history_of([1] * 6 + [1.3] * 4 + [1])
    assert (found.first_bad, found.exit_status()) == ("c6", 1)
    assert found.odd[-1].sentence.startswith("f (time) looks faster at c10, the last commit: 0.7")


@pytest.mark.parametrize(
    ("runs", "first_bad", "reason"),
    [
        ((1.3,), None, "one measurement is not enough for a change"),
        ((1.3, 1.32), "c9", ""),
        ((1.3, 1.3, 1.31, 1.0), "c9", ""),
        ((1.0, 1.3, 2.0), None, "its runs do not agree"),
        ((1.0, 1.6), None, "its runs do not agree"),
    ],
)
def test_the_last_commit_alone_needs_runs_that_agree(runs: tuple[float, ...], first_bad: str | None, reason: str) -> None:
    found = history_of([1] * 9 + [runs])
    assert (found.first_bad, found.exit_status()) == (first_bad, int(first_bad is not None))
    if reason:
        assert (
            found.headline
            == f"the last commit, c9, looks slower (f) and must be measured again: {reason}; 1 function over 10 commits"
        )
        assert found.odd[0].sentence.endswith(f"Measure it again in several independent runs: {reason}.")
        assert found.to_dict()["measure_again"] == ["c9"]


def test_a_run_that_lacks_settings_counts_with_those_it_has() -> None:
    def last(small: float) -> History:
        few = sk.measurements(changes.N[:3], small * changes.TIME[:3], parameter="n", name="f")
        rng = np.random.default_rng(7)
        commits = [(f"c{k}", commit(rng, 1)) for k in range(6)]
        return history([*commits, ("c6", combine([commit(rng, 1.5), few]))])

    assert last(1.5).first_bad == "c6"
    assert (last(1.0).first_bad, last(1.0).measure_again) == (None, ("c6",))


def test_repetitions_in_one_run_are_one_measurement() -> None:
    rng = np.random.default_rng(7)
    times = [changes.TIME * (1.5 if k == 9 else 1) for k in range(10)]
    found = history([(f"c{k}", changes.measured(rng, y, 0.01)) for k, y in enumerate(times)])
    assert (found.first_bad, found.measure_again) == (None, ("c9",))


def test_the_first_commit_alone_needs_runs_that_agree() -> None:
    found = history_of([0.7] + [1] * 9)
    assert (found.first_bad, found.steps) == (None, ())
    assert found.odd[0].sentence.startswith("f (time) looks faster at c0, the first commit: 0.699 (")
    assert "times the value of the commits after it everywhere" in found.odd[0].sentence
    assert history_of([(0.7, 0.7, 0.71)] + [1] * 9).first_bad == "c1"


def test_two_commits_alone() -> None:
    found = history_of([1, 1.5])
    assert (found.first_bad, found.measure_again) == (None, ("c1",))
    assert history_of([(1, 1, 1), (1.5, 1.5, 1.5)]).first_bad == "c1"
    assert history_of([1, 1.01]).headline == "nothing is worse at the end: 1 function over 2 commits"


def test_exact_values_repeat_so_that_one_commit_is_enough_where_it_lasts() -> None:
    def follow(*values: float) -> History:
        data = [
            sk.measurements(changes.N, y * changes.N, parameter="n", name="f", metric="m", unit="B", exact=True) for y in values
        ]
        return history([(f"c{k}", one) for k, one in enumerate(data)])

    assert follow(64, 64, 80).first_bad == "c2"
    assert [step.label for step in follow(64, 80, 100).steps] == ["c1", "c2"]
    dip = follow(64, 64, 32, 64, 64)
    assert (dip.first_bad, dip.steps, [one.label for one in dip.odd]) == (None, (), ["c2"])
    gone = follow(64, 64, 0, 64, 64)
    assert gone.odd[0].sentence == "f (m) is off at c2: it fell to zero. It did not last, so it is not counted as a change."
    assert gone.odd[0].to_dict()["factor"] is None


def test_what_is_no_time_looks_worse() -> None:
    data = [sk.measurements(changes.N, y * changes.N, parameter="n", name="f", metric="misses", unit="1") for y in (1, 1, 1, 2)]
    found = history([(f"v{k}", one) for k, one in enumerate(data)], step="version")
    assert found.headline.startswith("the last version, v3, looks worse (f) and must be measured again")


def test_the_last_commit_of_a_function_is_named_as_such() -> None:
    rng = np.random.default_rng(7)

    def both(g: float | None) -> Any:
        other = [] if g is None else [sk.measurements(changes.N, g * changes.TIME, parameter="n", name="g")]
        return combine([commit(rng, 1), *other])

    found = history([(f"c{k}", both(g)) for k, g in enumerate((1, 1, 1, 2, None))])
    assert found.headline.startswith("c3, the last commit with g, looks slower (g) and must be measured again")
    assert "g (time) looks slower at c3" in found._repr_html_()


@pytest.mark.parametrize("of", ["value", "commit"])
def test_odd_commits_and_drift_make_no_first_bad_one(of: str) -> None:
    for name, factors in changes.UNCHANGED.items():
        assert changes.false_first_bad(4, 3, of, 0.02, factors)["first bad"] == 0, name


def test_a_machine_that_is_slower_at_half_of_the_commits_is_noise() -> None:
    factors = changes.TWO_MODES["15 % slower at half of them"]
    assert changes.false_first_bad(6, 3, "value", 0.01, factors) == {"series": 6, "first bad": 0, "measure again": 0}


def written(folder: Path, factors: Sequence[float | tuple[float, ...]]) -> list[str]:
    """Write a table for each commit and return their paths; a tuple stands for the runs of one of them."""
    rng = np.random.default_rng(7)
    for k, one in enumerate(factors):
        runs = one if isinstance(one, tuple) else (one,)
        times = [(n, run, 1e-6 * n * f * rng.lognormal(0, 0.01)) for run, f in enumerate(runs) for n in (1000, 2000, 4000, 8000)]
        (folder / f"{k:04}.csv").write_text("n,run,time [s]\n" + "".join(f"{n},{run},{t:.6g}\n" for n, run, t in times))
    return [str(path) for path in sorted(folder.iterdir())]


@pytest.mark.parametrize(
    ("factors", "status", "first_bad", "again", "said"),
    [
        ([1, 1, 1, 1, 1, 1, 0.6, 1], 0, None, [], "Nothing is worse at the end: 1 function over 8 commits. Exit status 0."),
        ([1, 1, 1, 1, 1, 1, 1.4, 1.4], 1, "0006.csv", [], "The first bad commit is 0006.csv: f got worse"),
        (
            [1, 1, 1, 1, 1, 1, 1, 1.4],
            0,
            None,
            ["0007.csv"],
            "The last commit, 0007.csv, looks slower (f) and must be measured again",
        ),
        ([1, 1, 1, 1, 1, 1, 1, (1.4, 1.4, 1.4)], 1, "0007.csv", [], "The first bad commit is 0007.csv: f got worse"),
    ],
)
def test_the_command(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    factors: list[float | tuple[float, ...]],
    status: int,
    first_bad: str | None,
    again: list[str],
    said: str,
) -> None:
    paths = written(tmp_path, factors)
    assert main(["history", *paths]) == status
    assert said in capsys.readouterr().out
    assert main(["history", *paths, "--json"]) == status
    found = json.loads(capsys.readouterr().out)
    assert (found["first_bad"], found["exit_status"], found["measure_again"]) == (first_bad, status, again)


def test_the_command_warns_of_a_last_commit_that_looks_slower(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = written(tmp_path, [1, 1, 1, 1, 1, 1.4])
    assert main(["history", *paths, "--annotations", "github"]) == 0
    assert "::warning title=f (time)%3A measure 0005.csv again::f (time) looks slower at 0005.csv" in capsys.readouterr().out
