"""MAFIA: the C functions against brute force and closed forms, the campaign, and what reads it."""

from __future__ import annotations

import json
import shutil
import subprocess
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mafia_reference import Rules, joins, search

import scalkit as sk
from scalkit import native
from scalkit.bench.mafia import FUNCTIONS, MafiaSettings, measure_mafia
from scalkit.errors import LaunchError, UsageError

SANITIZED = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -Werror"
SMALL = MafiaSettings(k=(3, 4, 5, 6, 7, 8), n=2000, d=9, runs=1, max_reps=5, budget_s=1.0, seed=7)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("mafia")
    made = subprocess.run(
        ["make", "-s", "-C", str(native.sources("microbench") / "mafia"), f"BUILD={build}", f"CFLAGS={SANITIZED}"],
        capture_output=True,
        text=True,
    )
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    return build / "sk_mafia"


def _run(program: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *map(str, words)], capture_output=True, text=True)


def _records(path: Path, kind: str) -> dict[str, dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["op"]: line for line in lines if line["rec"] == kind}


def _write_points(path: Path, points: np.ndarray) -> None:
    rows = "\n".join(" ".join(repr(float(x)) for x in row) for row in points)
    path.write_text(f"{points.shape[0]} {points.shape[1]}\n{rows}\n", encoding="utf-8")


def _random_case(seed: int) -> tuple[np.ndarray, Rules]:
    """Return few points with crowds, ties, equal columns; some without any dense window."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 120)), int(rng.integers(1, 6))
    points = rng.uniform(-5, 5, (n, d))
    for _ in range(int(rng.integers(0, 3))):
        some = rng.random(n) < 0.6
        columns = rng.random(d) < 0.8
        points[np.ix_(some, columns)] = rng.normal(rng.uniform(-4, 4), 0.3, (some.sum(), columns.sum()))
    if seed % 3 == 0:
        points = np.round(points)
    if seed % 5 == 0:
        points[:, 0] = 3.25
    bins = int(rng.choice([1, 4, 10, 37]))
    rules = Rules(bins, int(rng.integers(1, bins + 3)), int(rng.integers(1, 6)), float(rng.choice([0.4, 1.2, 5.0])), 0.3)
    return points, rules


@pytest.mark.parametrize("seed", range(60))
def test_finds_what_brute_force_finds(program: Path, tmp_path: Path, seed: int) -> None:
    points, rules = _random_case(seed)
    _write_points(tmp_path / "points.txt", points)
    words = [f"--{name}={getattr(rules, name)}" for name in ("bins", "windows", "uniform", "alpha", "beta")]
    out, dump = tmp_path / "run.jsonl", tmp_path / "dump.txt"
    done = _run(program, "--points", tmp_path / "points.txt", "--dump", dump, "--out", out, "--max-reps", 1, *words)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in dump.read_text().splitlines()]
    windows = [tuple(map(int, words)) for kind, *words in lines if kind == "window"]
    found = {
        name: [tuple(windows[int(i)] for i in words) for kind, *words in lines if kind == name] for name in ("dense", "terminal")
    }
    expected_windows, dense, terminal = search(points, rules)
    assert windows == expected_windows
    assert (set(found["dense"]), set(found["terminal"])) == (dense, terminal)
    made = joins(dense)
    left = [count["units_left"] for count in _records(out, "count").values()]
    assert left == [len(made), len(set(made)), len(dense), len(terminal)]


def test_random_cases_cover_what_can_go_wrong() -> None:
    """Ties, no dense window at all, no candidates, and units of several dimensions are among them."""
    cases = [search(*_random_case(seed)) for seed in range(60)]
    assert any(not windows for windows, _, _ in cases)
    assert any(windows and not joins(dense) for windows, dense, _ in cases)
    assert any(max(map(len, dense), default=0) >= 4 for _, dense, _ in cases)
    assert any(len(set(joins(dense))) > len({u for u in dense if len(u) > 1}) for _, dense, _ in cases)


def _expected_of_one_cluster(k: int, words: int) -> dict[str, int]:
    """Return what gen and pcount do for one cluster: its C(k, s) dense units at every step s."""
    gen = pcount = 0
    for s in range(1, k + 1):
        keys, members = comb(k, s - 1), s * comb(k, s)
        hashed, compared = members * (s - 1), (members - keys) * (s - 1)
        gen += hashed + compared + keys * comb(k - s + 1, 2) * (s + 2)
        pcount += comb(k, s) * s * words if s > 1 else 0
    return {"gen": gen, "pcount": pcount}


@pytest.mark.parametrize("k", [1, 2, 5, 8])
def test_counts_of_one_cluster_are_the_closed_form(program: Path, tmp_path: Path, k: int) -> None:
    out = tmp_path / "run.jsonl"
    done = _run(program, "--n", 2000, "--d", 9, "--k", k, "--clusters", 1, "--max-reps", 1, "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    counts = _records(out, "count")
    assert {name: counts[name]["operations"] for name in ("gen", "pcount")} == _expected_of_one_cluster(k, 64)
    assert counts["pcount"]["units_left"] == 2**k - 1
    assert counts["gen"]["units_left"] == sum(comb(k, size) * comb(size, 2) for size in range(2, k + 1))


def test_planted_clusters_are_found_and_counts_repeat(program: Path, tmp_path: Path) -> None:
    for clusters in (1, 2, 3, 6):
        two = []
        for name in ("a", "b"):
            out = tmp_path / f"{name}.jsonl"
            words = ("--n", 4000, "--windows", 24, "--bins", 240, "--k", 5, "--clusters", clusters)
            done = _run(program, *words, "--max-reps", 2, "--out", out)
            assert (done.returncode, done.stderr) == (0, "")
            two.append(_records(out, "count"))
        assert two[0] == two[1]
        assert (two[0]["pcount"]["units_left"], two[0]["unjoin"]["units_left"]) == (31 * clusters, clusters)


def test_what_cannot_be_found_is_marked(program: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    done = _run(program, "--n", 2000, "--k", 3, "--alpha", 20, "--max-reps", 1, "--out", out)
    said = "sk_mafia: k = 3: what was planted is not exactly what was found; use more points (--n) or another --seed\n"
    assert (done.returncode, done.stderr) == (4, said)
    assert not _records(out, "cell")["gen"]["verified"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing to write: name a run file with --out, or a text file with --dump"),
        (("--out=x", "--k=21"), "--k 21: a cluster cannot have more dimensions than the points, --d 20"),
        (("--out=x", "--d=65"), "--d 65: at most 64 dimensions are possible"),
        (("--out=x", "--clusters=7"), "--clusters 7: 1 to 6 are possible"),
        (("--out=x", "--n=5"), "--n: '5' is not a whole number of at least 100; see --help"),
        (
            ("--out=x", "--windows=30"),
            "--bins 200 and --windows 30: planting needs at least 4 windows for each cluster, and bins that are a "
            "multiple of them",
        ),
        (("--out=x", "--points=cut.txt"), "--points cut.txt: value 2 of row 2 is missing or no finite number; 2 rows of 2 "
         "numbers are needed after the first line"),
        (("--out=x", "--points=no.txt"), "--points no.txt: the first line must be the number of points, at least 1, and of "
         "dimensions, 1 to 64"),
    ],
)  # fmt: skip
def test_wrong_input_is_said(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cut.txt").write_text("2 2\n1 2\n3")
    Path("no.txt").write_text("0 2\n")
    done = _run(program, *words)
    assert (done.returncode, done.stderr) == (2, f"sk_mafia: {said}\n")
    assert not Path("x").exists()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("campaign") / "mafia"
    assert measure_mafia(out, SMALL) == []
    return out


def test_campaign_is_read_and_judged(measured: Path) -> None:
    ds = sk.read(measured)
    assert (ds.attrs["parameter"], ds["k"].values.tolist()) == ("k", list(SMALL.k))
    assert sorted(ds["function"].values.tolist()) == sorted(FUNCTIONS)
    assert ds.attrs["title"] == "sk_mafia"
    assert "message_size_B" not in ds.attrs
    assert ds["operations"].attrs["exact"] == 1
    assert bool((ds["time"] > 0).all())
    assert bool((ds["n_repetitions"] == 5).all())
    found = sk.validate(ds, "mafia")
    assert {(v.function, v.metric) for v in found} == {(f, m) for f in FUNCTIONS for m in ("time", "operations")}
    counts = ds["operations"].sel(function="pcount", run=0).values
    assert all(2 < after / before < 4 for before, after in pairwise(counts))


def test_campaign_resumes(measured: Path, tmp_path: Path) -> None:
    out = tmp_path / "mafia"
    shutil.copytree(measured, out)
    (out / "mafia-k05-r00.jsonl").unlink()
    told: list[str] = []
    measure_mafia(out, SMALL, on_progress=lambda progress: told.append(progress.name))
    assert told == ["mafia-k05-r00"]
    assert not list(out.glob("*.part"))


def test_another_campaign_in_the_folder_is_refused(measured: Path) -> None:
    others = MafiaSettings(**{**SMALL.as_table(), "k": SMALL.k, "seed": 8})
    said = f"{measured} holds another campaign: seed was 7, is now 8. Repeat it as it was, or name another folder."
    with pytest.raises(UsageError) as caught:
        measure_mafia(measured, others)
    assert str(caught.value) == said


def test_a_wrong_result_is_a_remark(tmp_path: Path) -> None:
    few = MafiaSettings(k=(2,), n=1000, clusters=5, runs=1, max_reps=1)
    remarks = measure_mafia(tmp_path / "few", few)
    assert remarks == [
        "mafia-k02-r00: k = 2: what was planted is not exactly what was found; use more points (--n) or another --seed."
    ]
    assert not sk.read(tmp_path / "few")["verified"].any()


def test_a_failing_launch_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "sk_mafia"
    broken.write_text("#!/bin/sh\necho no such luck\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(native.Build, "program", lambda self, name: broken)
    with pytest.raises(LaunchError) as caught:
        measure_mafia(tmp_path / "out", MafiaSettings(k=(3,), n=2000, runs=1))
    said = "mafia-k03-r00 ended with status 3; what was measured before is kept. The last lines:\n  no such luck"
    assert str(caught.value) == said
    broken.chmod(0o644)
    with pytest.raises(LaunchError) as caught:
        measure_mafia(tmp_path / "out", MafiaSettings(k=(3,), n=2000, runs=1))
    assert str(caught.value) == f"cannot start {broken}: Permission denied; delete it to have it built anew."


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"k": ()}, "k = nothing: ascending numbers from 1 to 20 are needed, as in 3,4,5."),
        ({"k": (3, 3)}, "k = 3,3: ascending numbers from 1 to 20 are needed, as in 3,4,5."),
        ({"k": (3, 9), "d": 8}, "k = 9 is more than d = 8; a cluster cannot have more dimensions than d."),
        ({"clusters": 6}, "clusters = 6: a whole number from 1 to 5 is needed."),
        ({"budget_s": 0.0}, "a budget of 0 s: a positive number of seconds is needed."),
    ],
)
def test_wrong_settings_are_said(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        MafiaSettings(**wrong)
    assert str(caught.value) == said


def test_budget_goes_where_the_work_is() -> None:
    settings = MafiaSettings(k=(3, 4, 16), runs=2, budget_s=100.0)
    assert settings.budget_of(3) == 0.2
    assert settings.budget_of(16) == pytest.approx(50.0, rel=0.01)
    assert MafiaSettings().budget_of(16) == 10.0
