"""`validate`: tells whether a submission can be taken over, and why not. Nothing is repaired."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scalkit.errors import DataError
from scalkit.extras import require
from scalkit.store.records import Record
from scalkit.store.statements import flag, in_effect
from scalkit.store.submissions.containers import Policy
from scalkit.store.submissions.copies import Marks, Origin, copies, times_in
from scalkit.store.wire import fetched, is_url, shown
from scalkit.text import counted

if TYPE_CHECKING:
    from scalkit.store.store import Store


_MOST_SHOWN = 5


@dataclass(frozen=True)
class Checked:
    """One file of a submission.

    `run_id`: of what is in it; empty if it cannot be read.
    `refused`, `flags`, tuple of (code, sentence): reasons not to accept it, and what is implausible. A flagged run is taken
    over and left out of all answers, until a person accepts it.
    `origin`: what copies are told by, with `marks`. `marks`: of the measurements; see `scalkit.store.runs.marks.marks_of`.
    """

    file: str
    run_id: str = ""
    refused: tuple[tuple[str, str], ...] = ()
    flags: tuple[tuple[str, str], ...] = ()
    origin: Origin | None = None
    marks: Mapping[str, Sequence[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """What a validation found.

    `statements`: retractions that the submission carries, and restorations, which have ``restored``; and the flags of its runs.
    `signatures`: of runs that it carries, not yet verified.
    `confined`: what kept the process that read it from the network, from starting programs and from writing elsewhere; see
    `scalkit.store.submissions.sandbox.confine`.
    `notes`: what is to be said besides.
    """

    path: str
    checked: tuple[Checked, ...]
    statements: tuple[dict[str, str], ...] = ()
    confined: tuple[str, ...] = ()
    signatures: tuple[dict[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def accepted(self) -> tuple[str, ...]:
        """Ids of the runs that can be taken over."""
        return tuple(one.run_id for one in self.checked if one.run_id and not one.refused)

    @property
    def refused(self) -> tuple[Checked, ...]:
        """The files that cannot."""
        return tuple(one for one in self.checked if one.refused)

    @property
    def flagged(self) -> tuple[Checked, ...]:
        """The files whose runs are accepted, and flagged."""
        return tuple(one for one in self.checked if one.flags and not one.refused)

    @property
    def ok(self) -> bool:
        """Whether there is something to take over, nothing is refused, and a person accepted what is flagged."""
        hidden = {entry["run_id"] for entry in in_effect(self.statements) if "found" in entry}
        return bool(self.accepted) and not self.refused and not hidden

    def __str__(self) -> str:
        flagged = f", {len(self.flagged)} of them flagged" if self.flagged else ""
        lines = [f"{self.path}: {len(self.accepted)} accepted{flagged}, {len(self.refused)} refused."]
        for one in self.checked:
            for mark, found in (("refused", one.refused), ("flagged", one.flags if not one.refused else ())):
                lines += [f"  {one.file}: {mark}: {text} [{code}]" for code, text in found[:_MOST_SHOWN]]
                if len(found) > _MOST_SHOWN:
                    lines.append(f"  {one.file}: and {len(found) - _MOST_SHOWN} more")
        hidden = in_effect(self.statements)
        for entry in (retracted := [one for one in hidden if "found" not in one])[:_MOST_SHOWN]:
            reason = " ".join(entry["reason"].split())
            lines.append(f"  retracted there: {entry['run_id'][:12]}: {reason!r}, by {entry['by'] or 'nobody named'}")
        if len(retracted) > _MOST_SHOWN:
            lines.append(f"  retracted there: and {len(retracted) - _MOST_SHOWN} more")
        if len(retracted) < len(hidden):
            lines.append("  What is flagged is taken over and left out of all answers; 'scalkit store restore' accepts a run.")
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "path": self.path,
            "ok": self.ok,
            "accepted": list(self.accepted),
            "refused": reasons_of(self.refused),
            "flagged": reasons_of(self.flagged, "flags"),
            "statements": [dict(entry) for entry in self.statements],
            "confined": list(self.confined),
            "notes": list(self.notes),
        }


def reasons_of(checked: Iterable[Checked], of: Literal["refused", "flags"] = "refused") -> list[dict[str, Any]]:
    """Return the reasons of each file that has some, for JSON."""
    return [
        {"file": one.file, "reasons": [{"code": code, "text": text} for code, text in getattr(one, of)]}
        for one in checked
        if getattr(one, of)
    ]


def validate(path: str | os.PathLike[str], *, policy: Policy | None = None) -> Report:
    """Return whether a run file, a folder of them or a zip can be taken over.

    It is read by another process, with limits on memory, time, files and what it writes; that process may crash. As far as the
    kernel allows, it has no network, can start nothing, and can write into its own scratch folder only.

    `path`: also the URL of a folder or a zip. `policy`: the limits.
    Raises DataError if there is nothing at the path; StoreError if a server does not answer, or what it sends breaks off.
    """
    if is_url(path):
        with fetched(str(path), policy) as copy, examined(copy, policy) as (report, _):
            return replace(report, path=shown(str(path)))
    with examined(Path(path), policy) as (report, _):
        return report


@contextlib.contextmanager
def examined(path: Path, policy: Policy | None = None, *, integrity: bool = False) -> Iterator[tuple[Report, Path]]:
    """Provide the report, and for that time a folder with the accepted runs, written again by this version.

    `integrity`: tell only whether the files are what was filed; nothing is written again.
    """
    require("store")
    policy = policy or Policy()
    if not path.exists():
        raise DataError(f"there is nothing at {str(path)!r}; name a store, a zip of one, or a run's Parquet file.")
    scratch = Path(tempfile.mkdtemp(prefix="examine-"))
    try:
        found, ending = _run(path.absolute(), scratch, policy, integrity=integrity)
        report = report_of(path, found, ending)
        yield (report if integrity else with_flags(report, scratch / "clean")), scratch / "clean"
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _run(path: Path, scratch: Path, policy: Policy, *, integrity: bool) -> tuple[list[dict[str, Any]], str]:
    """Return what other processes printed, one after the other where a file ends them, and how the last ended if not well."""
    found: list[dict[str, Any]] = []
    until = time.monotonic() + policy.wall_s
    while True:
        files = [one for one in found if "refused" in one]
        request = {"path": str(path), "scratch": str(scratch), "policy": asdict(policy), "integrity": integrity}
        request |= {"done": [one["file"] for one in files]}
        said, ending = _read(request, scratch, policy, max(until - time.monotonic(), 0.001))
        reading = [str(one["reading"]) for one in said if "reading" in one]
        found += [one for one in said if "reading" not in one]
        named = {one["file"] for one in found if "refused" in one}
        if not ending or not reading or reading[-1] in named or time.monotonic() >= until:
            return found, ending
        text = f"{reading[-1]}: {ending}; the other files were read."
        found.append({"file": reading[-1], "refused": [["reader-died", text]], "flags": []})


def _read(request: dict[str, Any], scratch: Path, policy: Policy, wall_s: float) -> tuple[list[dict[str, Any]], str]:
    """Return what another process printed, and how it ended if it did not end well."""
    environment = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "LC_ALL", "PYTHONPATH")}
    environment |= {"HOME": str(scratch), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_IO_THREADS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "scalkit.store.submissions.examine"],
            input=json.dumps(request).encode(),
            capture_output=True,
            env=environment,
            cwd=scratch,
            timeout=wall_s,
            check=False,
        )
        out, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as error:
        out, status = error.stdout or b"", -signal.SIGKILL
    found = []
    for line in out.splitlines():
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    if status == 0:
        return found, ""
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return found, f"reading it took more than {policy.file_cpu_s} s of computing or {policy.wall_s:.0f} s in all"
    if status < 0:
        return found, f"reading it ended with signal {-status}"
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
    return found, f"reading it failed: {last[0][:160]}"


def report_of(path: Path, found: list[dict[str, Any]], ending: str) -> Report:
    """Return the report of what a reader found in a submission.

    `ending`: how the reader ended, if not well.
    """
    checked = [
        Checked(
            file=str(one["file"]),
            run_id=str(one.get("run_id", "")),
            refused=tuple((str(code), str(text)) for code, text in one["refused"]),
            flags=tuple((str(code), str(text)) for code, text in one["flags"]),
            origin=_origin(one),
            marks=one.get("marks", {}),
        )
        for one in found
        if "refused" in one
    ]
    statements = tuple(entry for one in found for entry in one.get("statements", ()))
    if ending:
        checked.append(Checked(path.name, refused=(("reader-died", f"{path.name}: {ending}; the rest was not read."),)))
    confined = tuple(dict.fromkeys(str(means) for one in found for means in one.get("confined", ())))
    signatures = tuple(entry for one in found for entry in one.get("signatures", ()))
    notes = tuple(str(note) for one in found for note in one.get("notes", ()))
    return Report(str(path), tuple(checked), statements, confined, signatures, notes)


def _origin(found: Mapping[str, Any]) -> Origin | None:
    if not found.get("origin"):
        return None
    same, computed = found["origin"]
    return Origin(str(found["run_id"]), tuple(map(str, same)), bool(computed))


_WORDS = {
    "raw-duplicated": "its repetitions are those of",
    "raw-copied": "its repetitions are, shifted, scaled, in another order or in part, those of",
    "raw-resembles": "its repetitions are, with noise added or some left out, those of",
}


def with_flags(report: Report, clean: Path) -> Report:
    """Return the report with the flags of its runs, and without runs that have one measurement twice.

    `clean`: where the accepted runs are.
    """
    looked_at = [one for one in report.checked if one.origin is not None and one.marks and not one.refused]
    of_copies: dict[str, list[Record]] = {}
    for entry in flags_of_copies(
        marks_of_files(looked_at), lambda run_id: (clean / f"{run_id}.parquet").read_bytes(), selves=True
    ):
        of_copies.setdefault(entry["run_id"], []).append(entry)
    files = {one.run_id: one.file for one in report.checked}
    checked: list[Checked] = []
    flags: list[Record] = []
    for one in report.checked:
        entries = of_copies.get(one.run_id, [])
        code = next((entry["found"] for entry in entries if entry["copy_of"] == one.run_id), "")
        if one.refused:
            checked.append(one)
        elif code:
            text = f"{one.file} has the repetitions of one measurement twice."
            checked.append(replace(one, refused=((code, text),)))
        else:
            flags += [flag(one.run_id, code, text) for code, text in one.flags] + entries
            named = [(entry["found"], f"{_WORDS[entry['found']]} {files[entry['copy_of']]}.") for entry in entries]
            checked.append(replace(one, flags=(*one.flags, *named)))
    return replace(report, checked=tuple(checked), statements=(*report.statements, *flags))


def marks_of_files(checked: Iterable[Checked]) -> Marks:
    """Return the marks of the runs in some files."""
    both = [(one.origin, one.marks) for one in checked if one.origin is not None]
    return Marks.of([origin for origin, _ in both], [marks for _, marks in both])


def flags_of_copies(
    marks: Marks, content: Callable[[str], bytes], known: Collection[tuple[str, str]] = (), *, selves: bool = False
) -> list[Record]:
    """Return a flag of the later run of each two that are copies of each other.

    `content`: return the content of the file of a run, by its id.
    `known`: ids of pairs of runs that are not looked at.
    `selves`: also of runs that have one measurement twice, as copies of themselves.
    """
    places = {origin.run_id: place for place, origin in enumerate(marks.origins)}
    pairs = [(places[one], places[other]) for one, other in known if one in places and other in places]
    if not selves:
        pairs += [(place, place) for place in places.values()]

    @functools.lru_cache(maxsize=64)
    def measured(place: int) -> dict[int, Any]:
        run_id = marks.origins[place].run_id
        return times_in(content(run_id), run_id)

    found = []
    for one in copies(marks, measured, [(min(pair), max(pair)) for pair in pairs]):
        first, second = sorted((marks.origins[one.first], marks.origins[one.second]), key=lambda origin: origin.order)
        reason = f"{_WORDS[one.code]} the run {first.run_id[:12]}"
        found.append(flag(second.run_id, one.code, reason, first.run_id))
    return found


_OWN = Policy(max_files=10**8, max_statements=10**8, max_file_bytes=1 << 40, max_total_bytes=1 << 60, cpu_s=10**7, wall_s=1e6)
"""One's own store may be large; a file that takes long, or too much memory, is still named and passed over."""


@dataclass(frozen=True)
class Verified:
    """What a verification found.

    `intact`: ids of the runs whose content has its hash and whose summaries follow from it.
    `damaged`: the files that are something else, each with the reason.
    """

    path: str
    intact: tuple[str, ...]
    damaged: tuple[Checked, ...]

    @property
    def ok(self) -> bool:
        """Whether no file is damaged."""
        return not self.damaged

    def __str__(self) -> str:
        lines = [f"{self.path}: {counted(len(self.intact), 'run')} as filed, {len(self.damaged)} damaged or changed."]
        lines += [f"  {text} [{code}]" for one in self.damaged for code, text in one.refused]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"path": self.path, "ok": self.ok, "intact": list(self.intact), "damaged": reasons_of(self.damaged)}


def verify(store: Store) -> Verified:
    """Return which files of a store are what was filed: another process reads every one and checks all hashes."""
    with examined(store.path, _OWN, integrity=True) as (report, _):
        return Verified(str(store.folder.shown), report.accepted, report.refused)
