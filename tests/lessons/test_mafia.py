"""MAFIA: the C functions against brute force and closed forms, and measurements of them."""

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

SANITIZED = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -Werror"
SOURCES = Path(__file__).resolve().parents[2] / "notebooks" / "mafia"
FUNCTIONS = ("gen", "dedup", "pcount", "unjoin")
K = range(3, 9)
SMALL = (f"K={' '.join(map(str, K))}", "N=2000", "D=9", "RUNS=0", "MAX_REPS=5", "BUDGET=0.2", "SEED=7")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("mafia")
    made = subprocess.run(
        ["make", "-s", "-C", str(SOURCES), f"BUILD={build}", f"CFLAGS={SANITIZED}"], capture_output=True, text=True
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


def _measure(program: Path, out: Path, *settings: str) -> subprocess.CompletedProcess[str]:
    words = ["make", "-s", "-C", str(SOURCES), "measure", f"BUILD={program.parent}", f"OUT={out}", f"CFLAGS={SANITIZED}"]
    return subprocess.run([*words, *settings], capture_output=True, text=True)


@pytest.fixture(scope="module")
def measured(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("campaign") / "mafia"
    done = _measure(program, out, *SMALL)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.split()) == [f"{out}/mafia-k{k:02d}-r00.jsonl" for k in K]
    return out


def test_measurements_are_read_and_judged(measured: Path) -> None:
    ds = sk.read(measured)
    assert (ds.attrs["parameter"], ds["k"].values.tolist()) == ("k", list(K))
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


def test_measuring_resumes(program: Path, measured: Path, tmp_path: Path) -> None:
    out = tmp_path / "mafia"
    shutil.copytree(measured, out)
    (out / "mafia-k05-r00.jsonl").unlink()
    assert _measure(program, out, *SMALL).stdout == f"{out}/mafia-k05-r00.jsonl\n"
    assert not list(out.glob("*.part"))


def test_a_wrong_result_is_reported_and_marked(program: Path, tmp_path: Path) -> None:
    done = _measure(program, tmp_path / "few", "K=2", "N=1000", "M=5", "RUNS=0", "MAX_REPS=1")
    message = "k = 2: what was planted is not exactly what was found; use more points (--n) or another --seed"
    assert (done.returncode, done.stderr) == (0, f"sk_mafia: {message}\n")
    assert not sk.read(tmp_path / "few")["verified"].any()


def test_a_wrong_setting_stops_and_leaves_no_run_file(program: Path, tmp_path: Path) -> None:
    done = _measure(program, tmp_path / "wrong", "K=9", "D=8")
    assert done.returncode == 2
    assert "sk_mafia: --k 9: a cluster cannot have more dimensions than the points, --d 8" in done.stderr
    assert list((tmp_path / "wrong").iterdir()) == []
