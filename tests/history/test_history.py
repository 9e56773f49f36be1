"""Change points over many commits, and the first bad one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import DataError, UsageError
from scalkit.history import history
from scalkit.measure import combine

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import changes

RNG_SEED = 5


@pytest.mark.parametrize(
    ("change", "shape"), [("1.3 times", "everywhere"), ("n to n log n", "growing"), ("1.3 times at one setting", "at")]
)
def test_a_planted_change_is_found_where_it_was_planted(change: str, shape: str) -> None:
    found = changes.history_of(np.random.default_rng(RNG_SEED), 12, 0.01, change, 7)
    assert found.first_bad == "7"
    assert [step.change.shape for step in found.steps] == [shape]
    step = found.steps[0]
    assert (step.earliest, step.latest) == ("7", "7")
    grown = [str(one.model.growth) for one in found["f"].segments if one.model is not None]
    assert grown == ["n", "n*log(n)" if shape == "growing" else "n"]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["first_bad"] == "7"


def test_without_a_change_nothing_is_worse() -> None:
    assert changes.alarms_in_history(1, 3, 0.05) == 0


def test_what_came_back_does_not_stand() -> None:
    rng = np.random.default_rng(RNG_SEED)
    values = [changes.TIME * (1.4 if 4 <= k < 8 else 1) for k in range(12)]
    found = history([(str(k), changes.measured(rng, y, 0.01)) for k, y in enumerate(values)])
    assert [step.label for step in found.steps] == ["4", "8"]
    assert found.exit_status() == 0
    assert "came back" in found.steps[0].sentence


def test_a_machine_that_is_slower_as_a_whole_at_some_commits_is_no_change() -> None:
    rng = np.random.default_rng(RNG_SEED)
    commits = [(str(k), changes.measured(rng, changes.TIME * np.exp(0.08 * rng.standard_normal()), 0.01)) for k in range(20)]
    assert history(commits).exit_status() == 0


def test_exact_values_and_functions_that_come_later() -> None:
    def commit(extra: int, *more: str) -> Any:
        names = ["f", *more]
        parts = [
            sk.measurements(changes.N, 64 + (16 + extra) * changes.N, parameter="n", name=name, metric="m", unit="B", exact=True)
            for name in names
        ]
        return combine(parts) if len(parts) > 1 else parts[0]

    found = history([("a", commit(0)), ("b", commit(0)), ("c", commit(16, "g"))])
    assert found.first_bad == "c"
    assert found.left_out == {"g (m)": "measured at c only"}


def test_what_is_no_history_says_so() -> None:
    one = changes.measured(np.random.default_rng(1), changes.TIME, 0.01)
    with pytest.raises(DataError, match="needs two commits or more, got 1"):
        history([("a", one)])
    with pytest.raises(DataError, match="same label, 'a'; give"):
        history([("a", one), ("a", one)])
    with pytest.raises(DataError, match="nothing was measured at two commits"):
        history([("a", one), ("b", one.assign_coords(n=one["n"] + 1))])


def test_a_change_that_does_not_decide_is_said_and_does_not_fail() -> None:
    rng = np.random.default_rng(RNG_SEED)
    crowded = {"oversubscribed": ("n", np.ones(len(changes.N), dtype=bool))}
    values = [changes.TIME * (1 if k < 3 else 2) for k in range(6)]
    found = history([(str(k), changes.measured(rng, y, 0.01).assign_coords(crowded)) for k, y in enumerate(values)])
    assert (found.exit_status(), found.steps[0].stands) == (0, True)
    assert found.headline.startswith("nothing is worse at the end by measurements that decide; by others f got worse")


def test_what_cannot_be_compared_is_left_out_or_refused() -> None:
    def one(name: str, unit: str) -> Any:
        return sk.measurements(changes.N, 8 * changes.N, parameter="n", name=name, metric="m", unit=unit)

    found = history([(label, combine([one("f", unit), one("g", "B")])) for label, unit in (("a", "B"), ("b", "B"))])
    assert found["f"].unit == "B"
    with pytest.raises(DataError, match=r"f \(m\): measured in B and 1"):
        history([("a", one("f", "B")), ("b", one("f", "1"))])
    for tolerance in (float("nan"), -0.1):
        with pytest.raises(UsageError, match=f"the tolerance is {tolerance}; a share such as 0.1"):
            history([("a", one("f", "B")), ("b", one("f", "B"))], tolerance=tolerance)


def test_names_of_functions_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(2):
        data = sk.measurements(changes.N, changes.N * 1e-6, parameter="n", name="f\x1b[31m")
        data.to_netcdf(tmp_path / f"{k}.nc")
    paths = [str(tmp_path / f"{k}.nc") for k in range(2)]
    for command in (["history", *paths], ["validate", paths[0], "--expectation", "f\x1b[31m = n"]):
        assert main(command) == 0
        said = capsys.readouterr().out
        assert "f\\u001b[31m" in said
        assert "\x1b" not in said


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(RNG_SEED)
    paths = []
    for k in range(8):
        paths.append(str(tmp_path / f"000{k}.nc"))
        changes.measured(rng, changes.TIME * (1.5 if k > 4 else 1), 0.02).to_netcdf(paths[-1])
    assert main(["history", *paths, "--annotations", "github"]) == 1
    said = capsys.readouterr().out
    assert "The first bad commit is 0005.nc: f got worse" in said
    assert "::error title=f (time)%3A worse since 0005.nc::" in said
    assert main(["history", *paths[:5], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["first_bad"] is None
    assert main(["history", *paths, "--tolerance", "2"]) == 2


def over_two(rng: np.random.Generator, slow: float) -> Any:
    """Return measurements over n and k, of which those with k = 16 are `slow` times as slow as they should be."""
    n, k = np.meshgrid(changes.N, [4.0, 16.0], indexing="ij")
    y = 1e-9 * n * k * np.where(k == 16, slow, 1)
    noisy = y[..., None] * rng.lognormal(0, 0.01, (*y.shape, 5))
    points = np.stack([n.ravel(), k.ravel()], axis=1)
    return sk.measurements(points, noisy.reshape(-1, 5), parameter=("n", "k"), name="f")


def test_several_parameters_are_followed_along_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(RNG_SEED)
    commits = [(f"c{place}", over_two(rng, 1.5 if place > 3 else 1)) for place in range(6)]
    found = history(commits)
    assert [track.function for track in found.tracks] == ["f [k = 4]", "f [k = 16]"]
    assert [(step.function, step.label) for step in found.failures] == [("f [k = 16]", "c4")]
    assert history(commits, parameter="k").tracks[0].function == "f [n = 1000]"
    with pytest.raises(DataError, match="'f' was measured over n and k, not along 'p'"):
        history(commits, parameter="p")
    paths = [str(tmp_path / f"{label}.nc") for label, _ in commits]
    for path, (_, data) in zip(paths, commits, strict=True):
        data.to_netcdf(path)
    assert main(["history", *paths]) == 1
    assert "The first bad commit is c4.nc: f [k = 16] got worse" in capsys.readouterr().out
    alone = str(tmp_path / "one.nc")
    changes.measured(rng, changes.TIME, 0.01).to_netcdf(alone)
    assert main(["history", alone, alone.replace("one", "c0"), "--parameter", "p"]) == 2
    assert "not along 'p'" in capsys.readouterr().err


def test_bytes_that_rise_from_zero_have_no_factor() -> None:
    p = 2.0 ** np.arange(1, 8)
    commits = [(f"c{k}", sk.measurements(p, 16 * p * (k > 1), metric="leak", unit="B", name="f")) for k in range(4)]
    found = history(commits)
    assert (found.first_bad, found.steps[0].to_dict()["factor"]) == ("c2", None)
    assert found.steps[0].sentence == "f (leak) rose from zero at c2; it grows as p instead of 1."


@pytest.mark.parametrize("shape", ["at p = 16 only", "up to p = 16"])
def test_zero_at_the_settings_that_change_has_no_factor(shape: str) -> None:
    p = 2.0 ** np.arange(1, 8)
    with_zero = np.where((p == 16) | ((p < 16) & ("up" in shape)), 0, 16 * p)
    values = {"rose from zero": (with_zero, 16 * p), "fell to zero": (16 * p, with_zero)}
    for said, (then, now) in values.items():
        commits = [(f"c{k}", sk.measurements(p, now if k > 1 else then, metric="leak", unit="B", name="f")) for k in range(4)]
        (step,) = history(commits).steps
        assert step.sentence.startswith(f"f (leak) {said} at c2, {shape}")
        assert step.to_dict()["factor"] is None


def test_large_sizes_are_followed_apart() -> None:
    points = [(p, size) for p in (2, 4, 8, 16) for size in (1_000_001, 1_000_002)]
    commits = [
        (label, sk.measurements(points, [slow * p for p, _ in points], ["p", "S"], name="f"))
        for label, slow in (("a", 1.0), ("b", 2.0))
    ]
    assert [track.function for track in history(commits).tracks] == ["f [S = 1000001]", "f [S = 1000002]"]


def test_a_commit_with_other_settings_is_left_out_alone() -> None:
    rng = np.random.default_rng(RNG_SEED)
    commits = [(f"c{k}", changes.measured(rng, changes.TIME * (1.5 if k > 3 else 1), 0.01)) for k in range(6)]
    commits[2] = ("c2", sk.measurements(changes.N + 7, changes.TIME, parameter="n", name="f"))
    found = history(commits)
    assert found.first_bad == "c4"
    assert found.left_out == {"f (time) at c2": "it has other settings than most commits"}
