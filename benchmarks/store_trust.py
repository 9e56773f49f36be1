"""Flips bits of files of a store, and disguises copies of measurements: how many are read wrong in silence, or found.

    python benchmarks/store_trust.py                      1,000 bits of files of every kind; all runs of data/store,
                                                          disguised in six ways
    python benchmarks/store_trust.py --flips 40 --runs 6  a few of them

Each flipped file is read by a process of its own, since a bit can end it. Copies are those of runs that were measured, in the
bundled store; honest pairs are all pairs of different runs of it, and of runs of the same machine drawn from one distribution.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import scalkit as sk
from scalkit.errors import DataError, StoreError
from scalkit.store.flags import flag
from scalkit.store.records import FILING
from scalkit.store.runs.content import RunContent, encoded, trusted
from scalkit.store.runs.marks import mark_of, times_of, tokens_of
from scalkit.store.runs.summaries import raw_hash
from scalkit.store.signing import Signers
from scalkit.store.submissions.copies import Marks, Origin, copies
from scalkit.store.submissions.table_checks import table_flags

STORE = Path(__file__).resolve().parents[1] / "data" / "store"
Change = Callable[[np.ndarray], np.ndarray]
DISGUISES: dict[str, Change] = {
    "renamed": lambda raw: raw,
    "later by 1 ns": lambda raw: raw + 1,
    "backwards": lambda raw: raw[::-1],
    "half as long": lambda raw: raw // 2,
    "the first half": lambda raw: raw[: len(raw) // 2],
    "shuffled, 1.5 times as long": lambda raw: shuffled(np.rint(raw * 1.5).astype(np.int64)),
    "noise of 0.1 %": lambda raw: noisy(raw, 0.001),
    "noise of 1 %": lambda raw: noisy(raw, 0.01),
    "noise of 1 %, half as long": lambda raw: noisy(raw, 0.01) // 2,
    "shuffled, without one repetition": lambda raw: shuffled(raw)[1:],
    "shuffled, without one, later by 3 ns": lambda raw: shuffled(raw)[1:] + 3,
    "every second repetition": lambda raw: raw[::2],
    "any half of the repetitions": lambda raw: shuffled(raw)[: len(raw) // 2],
}


def shuffled(raw: np.ndarray) -> np.ndarray:
    """Return repetitions in another order, which differs from measurement to measurement."""
    return np.random.default_rng(raw_hash(raw)).permutation(raw)


def noisy(raw: np.ndarray, share: float) -> np.ndarray:
    """Return repetitions with noise, a share of each."""
    return np.maximum(np.rint(raw * (1 + share * np.random.default_rng(raw_hash(raw)).standard_normal(len(raw)))), 1).astype(
        np.int64
    )


def flips(number: int, seed: int) -> dict[str, dict[str, int]]:
    """Return for each kind of file how often a flipped bit was said, was harmless, ended the reader, or was silent.

    Silent is what is read wrong without a word.
    """
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        files = _store_with_every_kind(Path(folder))
        kinds = itertools.cycle(files)
        found: dict[str, Counter[str]] = {kind: Counter() for kind in files}
        for kind, _ in zip(kinds, range(number), strict=False):
            path = rng.choice(files[kind])
            content = path.read_bytes()
            flipped = bytearray(content)
            at = rng.randrange(8 * len(content))
            flipped[at // 8] ^= 1 << at % 8
            if kind == "run":
                other = Path(folder) / "flipped.parquet"
                other.write_bytes(flipped)
                found[kind][_read(path, other)] += 1
                continue
            expected = _state(Path(folder))
            path.write_bytes(flipped)
            try:
                found[kind]["harmless" if _state(Path(folder)) == expected else "silent"] += 1
            except StoreError:
                found[kind]["said"] += 1
            path.write_bytes(content)
    return {kind: dict(counted) for kind, counted in found.items()}


def _store_with_every_kind(folder: Path) -> dict[str, list[Path]]:
    """Make a store with files of every kind and a list of signers; return the files by kind."""
    bundled = sk.store.open(STORE, readonly=True)
    written = sk.store.open(folder / "s", signers=folder / "signers")
    run_ids = sorted(bundled.runs(clock="real")["run_id"])[:4]
    for k, run_id in enumerate(run_ids):  # as this version writes it, with checksums of pages
        record, table = trusted(bundled.folder.read_run(run_id), run_id)
        written.folder.add(run_id, encoded(RunContent.of(record["measured"], record["filing"], table)))
        written.retract(run_id, "wrong clock", by="alice")
        signature = {"run_id": run_id, "signer": "alice", "signature": f"signature {k}"}
        written.folder.add_records(
            "signatures", [{**signature, **dict.fromkeys(FILING, "somebody else"), "filed": "2026-11-28T00:00:00Z"}]
        )
    written.folder.add_records("flags", [flag(run_id, "clock-stopped", f"found {run_id}") for run_id in run_ids])
    written.folder.set_copies([((run_ids[0],), (run_ids[1],)), ((run_ids[2],), (run_ids[3],))])
    for k in range(3):
        key = folder / f"{k}.pub"
        key.write_text(f"ssh-ed25519 {'A' * 60}{k}\n")
        sk.store.trust(f"signer{k}", key, signers=folder / "signers")
    kinds = {name: sorted((folder / "s" / f"{name}s").iterdir()) for name in ("run", "statement", "signature", "flag")}
    kinds["copies"] = [folder / "s" / "copies.json"]
    return {**kinds, "marker": [folder / "s" / "scalkit-store.json"], "list of signers": [folder / "signers"]}


def _state(folder: Path) -> tuple[Any, ...]:
    """Return all that the records of a store and the list of signers say."""
    store = sk.store.open(folder / "s", readonly=True)
    records = store.folder.statements(), store.folder.signatures(), store.folder.flags(), store.folder.copies()
    return *records, store.folder.run_ids(), Signers(folder / "signers").lines()


def _read(path: Path, flipped: Path) -> str:
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            same = trusted(flipped.read_bytes(), path.stem) == trusted(path.read_bytes(), path.stem)
            os._exit(0 if same else 2)
        except DataError:
            os._exit(1)
        except BaseException:  # a traceback is a word, too, though none that should be
            os._exit(3)
    status = os.waitpid(child, 0)[1]
    words = {0: "harmless", 1: "said", 2: "silent", 3: "traceback"}
    return words[os.WEXITSTATUS(status)] if os.WIFEXITED(status) else "ended the reader"


def measured_runs(most: int) -> dict[str, list[np.ndarray]]:
    """Return the times of at most so many measured runs of the bundled store that have times."""
    store = sk.store.open(STORE, readonly=True)
    runs = store.runs(clock="real")
    found: dict[str, list[np.ndarray]] = {}
    for run_id in sorted(runs["run_id"]):
        if len(found) == most:
            break
        raws = times_of(store.table(run_id))
        if raws:
            found[run_id] = raws
    return found


def marks(runs: dict[str, list[np.ndarray]]) -> Marks:
    """Return the marks of runs that are not computed."""
    columns = []
    for raws in runs.values():
        shapes, sketches = zip(*(mark_of(raw) for raw in raws), strict=True)
        columns.append(
            {"raw_hash": [raw_hash(raw) for raw in raws], "shape": shapes, "sketch": sketches, "tokens": tokens_of(raws)}
        )
    return Marks.of((Origin(run_id, ("", run_id), False), one) for run_id, one in zip(runs, columns, strict=True))


def pairs_found(runs: dict[str, list[np.ndarray]]) -> set[tuple[str, str]]:
    """Return the pairs of runs that are taken for copies."""
    own = marks(runs)
    by_hash = {run_id: {raw_hash(raw): raw for raw in raws} for run_id, raws in runs.items()}
    groups = copies(own, by_hash.__getitem__)
    return {(one, other) for group in groups for one, other in itertools.combinations(sorted(run for (run,) in group), 2)}


def disguised(runs: dict[str, list[np.ndarray]]) -> dict[str, Any]:
    """Return for each disguise how many runs are found beside their copies, and how many pairs that are none."""
    shares = {}
    for name, change in DISGUISES.items():
        copied = {f"copy of {run_id}": [change(raw) for raw in raws] for run_id, raws in runs.items()}
        found = pairs_found({**runs, **copied})
        right = sum(tuple(sorted((run_id, f"copy of {run_id}"))) in found for run_id in runs)
        wrong = sum(one.removeprefix("copy of ") != other.removeprefix("copy of ") for one, other in found)
        shares[name] = {"found": right, "of": len(runs), "wrong pairs": wrong}
    return shares


def honest(runs: dict[str, list[np.ndarray]], drawn: int) -> dict[str, Any]:
    """Return how many pairs of honest runs are taken for copies."""
    n = len(runs)
    rng = np.random.default_rng(5)
    same: dict[str, list[np.ndarray]] = {}
    for k in range(drawn):  # runs of one machine, some with a coarse clock: the same distributions, other times
        ticks, lengths = itertools.cycle((1, 10, 41, 1000)), itertools.cycle((10, 40, 400))
        same[f"drawn {k}"] = [
            np.rint(rng.lognormal(np.log(centre), 0.05, next(lengths)) / (tick := next(ticks))).astype(np.int64) * tick
            for centre in np.geomspace(300, 1e6, 24)
        ]
    pairs = n * (n - 1) // 2 + drawn * (drawn - 1) // 2
    return {"pairs": pairs, "taken for copies": len(pairs_found(runs)) + len(pairs_found(same))}


CLOCKS = {  # the true step of a clock in ns, the step that the run tells, and the range of the times
    "1 ns": (1.0, 1, (25, 1e3)),
    "1 ns, long times": (1.0, 1, (1e4, 1e6)),
    "40 ns, and tells of 1": (40.0, 1, (400, 1e6)),
    "41.67 ns, and tells of 41": (41.67, 41, (400, 1e6)),
    "41.67 ns, and tells nothing": (41.67, None, (400, 1e6)),
    "1 us": (1000.0, 1000, (2e4, 1e6)),
    "1 us, short times": (1000.0, 1000, (2e3, 1e5)),
    "1 us, and tells nothing": (1000.0, None, (2e4, 1e6)),
    "4 ms, and tells of 1 ns": (4e6, 1, (4.3e6, 3.7e8)),
}
"""Clocks of honest runs."""


def clocks(number: int) -> dict[str, dict[str, Any]]:
    """Return the numbers of honest runs that are flagged for their clock, by clock, over noises and numbers of repetitions."""
    found: dict[str, dict[str, Any]] = {}
    for name, (step, told, (least, most)) in CLOCKS.items():
        rng = np.random.default_rng(7)
        flagged = 0
        for k in range(number):
            noise, n = (0.005, 0.01, 0.02, 0.1)[k % 4], (10, 100)[k // 4 % 2]
            rows = []
            for x, middle in enumerate(np.geomspace(least, most, (3, 24)[k // 8 % 2])):
                begins, times = rng.uniform(0, step, n), middle * rng.lognormal(0, noise, n)
                raw = (np.floor((begins + times) / step) * step).astype(np.int64)
                row = {"op": "f", "x": x, "p": 1, "msg_By": 0, "pattern": "kernel", "metric": "time", "unit": "ns"}
                rows.append({**row, "raw": np.maximum(raw, 1).tolist(), "med": float(np.median(raw))})
            timer = {} if told is None else {"timer": {"resolution_ns": told}}
            flagged += bool(list(table_flags({"measured": {"clock": "real", **timer}}, pa.Table.from_pylist(rows))))
        found[name] = {"flagged": flagged, "of": number}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=1000, help="at most so many of the bundled store")
    parser.add_argument("--drawn", type=int, default=100, help="honest runs that are drawn")
    parser.add_argument("--clocks", type=int, default=1000, help="honest runs of each kind of clock")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    runs = measured_runs(args.runs)
    found = {"copies": disguised(runs), "honest": honest(runs, args.drawn), "clocks": clocks(args.clocks)}
    found |= {"flips": flips(args.flips, args.seed)}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
