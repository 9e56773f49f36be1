"""Nothing that a store says of itself is believed: what is derived is computed anew, what is filed has its hash."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostile_submissions import good

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import DataError
from scalkit.store import index
from scalkit.store.runs.content import KEY, decoded, trusted
from scalkit.store.runs.marks import mark_of, tokens_of
from scalkit.store.runs.summaries import raw_hash
from scalkit.store.submissions.containers import Policy
from scalkit.store.submissions.copies import Marks, Origin, copies

ROOT = Path(__file__).resolve().parents[2]
SUMMARIES = ("value", "min", "q1", "med", "q3", "max", "mean", "cut_mean")


@pytest.fixture
def store(tmp_path: Path) -> sk.store.Store:
    return sk.store.open(good(tmp_path / "s"))


def _only_file(store: sk.store.Store) -> Path:
    return next(store.folder.runs.iterdir())


def _lowered(table: pa.Table) -> pa.Table:
    for name in SUMMARIES:
        values = [0.1 * value for value in table[name].to_pylist()]
        table = table.set_column(table.column_names.index(name), table.schema.field(name), pa.array(values, pa.float64()))
    return table


def _rewritten(path: Path) -> None:
    """Write a run with summaries that are a tenth, and everything else, its hashes included, as it is."""
    footer = pq.read_metadata(path).metadata
    table = _lowered(decoded(path, path.name)[1])
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: footer[KEY]})


def test_an_index_that_was_brought_is_not_believed(
    store: sk.store.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_FRESH_WRITTEN", 0)
    honest = store.points()["med"].tolist()
    made = next(path.parent for path in store.folder.index.rglob("points.parquet"))
    theirs = tmp_path / "theirs"
    shutil.copytree(store.path, theirs)
    shutil.copytree(made, theirs / "index" / made.name)
    points = theirs / "index" / made.name / "points.parquet"
    poisoned = _lowered(pq.read_table(points))
    pq.write_table(poisoned.replace_schema_metadata(pq.read_schema(points).metadata), points)
    archive = tmp_path / "theirs.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        for one in theirs.rglob("*"):
            if one.is_file():
                opened.write(one, one.relative_to(theirs))
    for place in (theirs, archive):
        assert [code for one in sk.store.validate(place).refused for code, _ in one.refused] == ["index-brought"]
        assert sk.store.open(place, readonly=True).points()["med"].tolist() == honest


def test_summaries_of_a_file_are_computed_from_its_repetitions(store: sk.store.Store) -> None:
    honest = store.points()["med"].tolist()
    path = _only_file(store)
    _rewritten(path)
    assert decoded(path, path.name)[1]["med"].to_pylist() == pytest.approx([0.1 * one for one in honest])
    again = sk.store.open(store.path)
    assert again.points()["med"].tolist() == again.table(path.stem)["med"].to_pylist() == honest
    assert [code for one in sk.store.validate(store.path).refused for code, _ in one.refused] == ["summary-mismatch"]


def test_another_run_under_a_name_is_not_read(store: sk.store.Store, capsys: pytest.CaptureFixture[str]) -> None:
    path = _only_file(store)
    assert main(["store", "validate", str(store.path)]) == 0
    other = path.with_name(f"{'ab' * 16}.parquet")
    path.rename(other)
    again = sk.store.open(store.path)
    sentence = (
        f"{other.name} was changed or damaged: its content is that of run {path.stem[:12]}, not abababababab; restore it from "
        "another copy of the store."
    )
    assert (len(again.runs()), again.problems) == (0, (sentence,))
    capsys.readouterr()
    assert main(["store", "validate", str(store.path)]) == 1
    named = f"runs/{other.name}: refused: the file is named {other.name}, its content is run {path.stem}. [id-mismatch]"
    assert capsys.readouterr().out.splitlines()[1:] == [f"  {named}"]


def test_a_replaced_file_is_read_again(store: sk.store.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_FRESH_WRITTEN", 0)
    assert store.problems == ()
    path = _only_file(store)
    record, _ = decoded(path, path.name)
    path.write_bytes(path.read_bytes().replace(b"somebody", b"somebodi"))
    assert record["filing"]["user"] == "somebody"
    assert store.problems == (
        f"{path.name} has a record that does not fit its hash: it was changed or damaged; restore it from another copy.",
    )


@pytest.mark.parametrize("place", [0.02, 0.1, 0.3, 0.5, 0.7])
def test_a_flipped_bit_is_never_silent(store: sk.store.Store, place: float) -> None:
    path = _only_file(store)
    before = trusted(path.read_bytes(), path.stem)
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 4
    path.write_bytes(content)
    with contextlib.suppress(DataError):
        assert trusted(path.read_bytes(), path.stem) == before


@pytest.mark.slow
def test_one_bad_file_stops_only_itself(store: sk.store.Store, tmp_path: Path) -> None:
    """A file that takes more than its time ends the process that reads; the next one goes on behind it."""
    folder = tmp_path / "many"
    folder.mkdir()
    path = _only_file(store)
    names = ["a.parquet", "k.parquet", "z.parquet"]
    for name in names:
        shutil.copy(path, folder / name)
    table = decoded(path, path.name)[1].slice(0, 1)
    many = pa.ListArray.from_arrays(pa.array([0, 49_000_000], pa.int32()), pa.array(np.full(49_000_000, 7)))
    place = table.column_names.index("raw")
    table = table.set_column(place, table.schema.field("raw"), many)
    with pq.ParquetWriter(folder / "k.parquet", table.schema, store_schema=False, compression="zstd") as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: pq.read_metadata(path).metadata[KEY]})
    report = sk.store.validate(folder, policy=Policy(file_cpu_s=1, memory_bytes=16 << 30))
    assert [(one.file, [code for code, _ in one.refused]) for one in report.checked] == [
        *((name, ["reader-died"] if name == "k.parquet" else []) for name in names)
    ]
    assert report.refused[0].refused[0][1].endswith("; the other files were read.")


def test_nothing_prints_terminal_escapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = sk.store.open(tmp_path / "s")
    (run_id,) = store.put(sk.measurements([2, 4], [1e-6, 2e-6], name="f\x1b[2J\u202eg\x9b"), machine="m").added
    for words in (
        ["runs", "--suites"],
        ["runs", "--suites", "--json"],
        ["runs", "--where", "machine=\x1b[2J"],
        ["runs", "--where", "\x1b[2J=1"],
    ):
        main(["store", words[0], str(store.path), *words[1:]])
        printed = capsys.readouterr()
        assert not set("\x1b\u202e\x9b") & set(printed.out + printed.err), words
    main(["store", "runs", str(store.path), "--suites", "--json"])
    assert json.loads(capsys.readouterr().out)[0]["run_id"] == run_id


CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "shifted": lambda raw: raw + 1,
    "reversed": lambda raw: raw[::-1],
    "half as long": lambda raw: raw // 2,
    "the first half": lambda raw: raw[: len(raw) // 2],
    "shuffled, scaled and shifted": lambda raw: np.random.default_rng(3).permutation(raw) * 3 + 7,
    "with noise": lambda raw: np.rint(raw * np.random.default_rng(3).normal(1, 0.01, len(raw))).astype(np.int64),
    "shuffled, two left out": lambda raw: np.random.default_rng(3).permutation(raw)[2:],
    "shuffled, two left out, shifted": lambda raw: np.random.default_rng(3).permutation(raw)[2:] + 5,
    "every second": lambda raw: raw[::2],
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("simulated", [False, True])
def test_copies_are_found(name: str, simulated: bool) -> None:
    rng = np.random.default_rng(7)
    raws = [np.rint(rng.lognormal(np.log(centre), 0.1, 60)).astype(np.int64) for centre in (9e3, 2e4, 5e5)]
    changed = [CHANGES[name](raw) for raw in raws]
    honest = [np.rint(rng.lognormal(np.log(centre), 0.1, 60)).astype(np.int64) for centre in (9e3, 2e4, 5e5)]
    runs = {"first": (raws, False), "copy": (changed, simulated), "other": (honest, False)}
    assert _pairs(runs) == _pairs(dict(reversed(runs.items()))) == {("copy", "first")}


def test_copies_do_not_depend_on_the_order_of_runs() -> None:
    """With so much noise that some pairs are copies just so."""
    rng = np.random.default_rng(11)
    raws = [np.rint(rng.lognormal(np.log(centre), 0.1, 40)).astype(np.int64) for centre in (9e3, 2e4, 5e5)]
    runs = {"first": (raws, False)}
    for k in range(8):
        runs[f"copy {k}"] = [np.rint(raw * rng.normal(1, 0.03 + 0.01 * k, 40)).astype(np.int64) for raw in raws], False
    found = {frozenset(_pairs(dict(rng.permutation(np.array(list(runs.items()), dtype=object)).tolist()))) for _ in range(20)}
    assert len(found) == 1
    assert 0 < len(found.pop()) < 8


def test_what_computers_repeat_is_no_copy() -> None:
    raws = [np.arange(20, dtype=np.int64) * 17 + 100]
    assert _pairs({"first": (raws, True), "second": (raws, True)}) == set()


@pytest.mark.parametrize("rhythm", ["random waits of one seed", "warm-up", "drift", "sorted", "every second slow"])
def test_runs_of_one_rhythm_are_no_copies(rhythm: str) -> None:
    """Programs that do the same in turn have repetitions that are long and short at the same places."""

    def measured(rng: np.random.Generator) -> list[np.ndarray]:
        return [np.rint(_times(rhythm, rng, 60) * centre).astype(np.int64) for centre in np.geomspace(1e3, 1e6, 10)]

    runs = {f"run {seed}": (measured(np.random.default_rng(seed)), False) for seed in range(6)}
    assert _pairs(runs) == set()


def _times(rhythm: str, rng: np.random.Generator, n: int) -> np.ndarray:
    noise: np.ndarray = rng.lognormal(0, 0.3, n)
    if rhythm == "random waits of one seed":
        return noise * np.random.default_rng(1).lognormal(0, 0.5, n)
    if rhythm == "warm-up":
        return noise * (1 + 5 * np.exp(-np.arange(n) / 4))
    if rhythm == "drift":
        return noise * (1 + np.arange(n) / n)
    if rhythm == "sorted":
        return np.sort(noise)
    return noise * np.where(np.arange(n) % 2, 2.0, 1.0)


def test_the_benchmark_of_trust() -> None:
    """A few of the 1,000 bits and of the copies of `benchmarks/store_trust.py`."""
    spec = importlib.util.spec_from_file_location("store_trust", ROOT / "benchmarks" / "store_trust.py")
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    runs = benchmark.measured_runs(3)
    for name, found in benchmark.disguised(runs).items():
        assert found["found"] >= (2 if name in ("the first half", "every second repetition") else 3), name  # one run has few
        assert found["wrong pairs"] == 0, name
    assert benchmark.honest(runs, 4) == {"pairs": 9, "taken for copies": 0}
    for clock, counts in benchmark.clocks(32).items():
        assert counts["flagged"] == 0, clock
    for kind, counted in benchmark.flips(28, 1).items():
        assert set(counted) <= {"said", "harmless"}, kind


Runs = dict[str, tuple[list[np.ndarray], bool]]


def _pairs(runs: Runs) -> set[tuple[str, str]]:
    """Return the pairs of runs of which one is taken for a copy of the other."""
    columns = []
    for raws, _ in runs.values():
        shapes, sketches = zip(*(mark_of(raw) for raw in raws), strict=True)
        tokens = tokens_of(raws)
        columns.append({"raw_hash": [raw_hash(raw) for raw in raws], "shape": shapes, "sketch": sketches, "tokens": tokens})
    origins = [Origin(run_id, ("", run_id), computed) for run_id, (_, computed) in runs.items()]
    measured = {run_id: {raw_hash(raw): raw for raw in raws} for run_id, (raws, _) in runs.items()}
    return {
        (group[0][0], one)
        for group in copies(Marks.of(zip(origins, columns, strict=True)), measured.__getitem__)
        for (one,) in group[1:]
    }
