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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from scalkit.errors import DataError
from scalkit.store.flags import Group, flag, shown_copy
from scalkit.store.records import FLAGS, Record, record_name
from scalkit.store.statements import in_effect
from scalkit.store.submissions.containers import Policy
from scalkit.store.submissions.copies import MarkedRun, Marks, Origin, copies, repeating, times_in
from scalkit.support.arguments import path_of, require_kind
from scalkit.support.extras import require

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

    `statements`: retractions that the submission carries, and restorations, which have ``restored``.
    `signatures`: of runs that it carries, not yet verified.
    `confined`: what kept the process that read it from the network, from starting programs and from writing elsewhere; see
    `scalkit.store.submissions.sandbox.confine`.
    `notes`: what is to be said besides.
    `flags`: what is implausible in its runs. `groups`: of those of its runs that are copies of each other.
    """

    path: str
    checked: tuple[Checked, ...]
    statements: tuple[dict[str, str], ...] = ()
    confined: tuple[str, ...] = ()
    signatures: tuple[dict[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    flags: tuple[Record, ...] = ()
    groups: tuple[Group, ...] = ()

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
        return bool(self.accepted) and not self.refused and not any("found" in entry for entry in self._hidden())

    def _hidden(self) -> list[Record]:
        """Return the retractions and flags that count."""
        return in_effect(self.statements, flags=self.flags, groups=self.groups, there=self.accepted)

    def __str__(self) -> str:
        flagged = f", {len(self.flagged)} of them flagged" if self.flagged else ""
        lines = [f"{self.path}: {len(self.accepted)} accepted{flagged}, {len(self.refused)} refused."]
        restored = restorations(self.statements)
        for one in self.checked:
            accepted = restored.get(one.run_id)
            mark = "refused" if one.refused else f"flagged, and accepted {accepted}" if accepted else "flagged"
            found = one.refused or one.flags
            lines += [f"  {one.file}: {mark}: {text} [{code}]" for code, text in found[:_MOST_SHOWN]]
            if len(found) > _MOST_SHOWN:
                lines.append(f"  {one.file}: and {len(found) - _MOST_SHOWN} more")
        hidden = in_effect(self.statements, flags=self.flags, groups=self.groups)
        for entry in (retracted := [one for one in hidden if "found" not in one])[:_MOST_SHOWN]:
            reason = " ".join(entry["reason"].split())
            lines.append(f"  retracted there: {entry['run_id'][:12]}: {reason!r}, by {entry['by'] or 'nobody named'}")
        if len(retracted) > _MOST_SHOWN:
            lines.append(f"  retracted there: and {len(retracted) - _MOST_SHOWN} more")
        if any("found" in entry for entry in self._hidden()):
            lines.append(
                "  What is flagged is taken over and left out of all answers; 'scalkit store retract --restore' accepts a run."
            )
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

    `policy`: the limits.
    Raises DataError if there is nothing at the path.
    """
    with examined(path_of(path, "a submission"), policy) as (report, _):
        return report


@contextlib.contextmanager
def examined(path: Path, policy: Policy | None = None) -> Iterator[tuple[Report, Path]]:
    """Provide the report, and for that time a folder with the accepted runs, written again by this version."""
    require("store")
    require_kind(policy, Policy | None, "the policy", "give scalkit.store.Policy(...)")
    policy = policy or Policy()
    if not path.exists():
        raise DataError(f"there is nothing at {str(path)!r}; name a store, a zip of one, or a run's Parquet file.")
    scratch = Path(tempfile.mkdtemp(prefix="examine-"))
    try:
        found, ending = _run(path.absolute(), scratch, policy)
        report = with_flags(report_of(path, found, ending), scratch / "clean", policy)
        brought = [record for one in found for record in one.get("brought_flags", ())]
        yield replace(report, checked=(*report.checked, *_wrong_flags(report, brought))), scratch / "clean"
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _run(path: Path, scratch: Path, policy: Policy) -> tuple[list[dict[str, Any]], str]:
    """Return what other processes printed, one after the other where a file ends them, and how the last ended if not well."""
    found: list[dict[str, Any]] = []
    until = time.monotonic() + policy.wall_s
    while True:
        files = [one for one in found if "refused" in one]
        request = {"path": str(path), "scratch": str(scratch), "policy": asdict(policy)}
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


def restorations(statements: Iterable[Record]) -> dict[str, str]:
    """Return by whom and why runs were restored, in words, by the ids of those that nobody retracted again."""
    retracted = {entry["run_id"] for entry in in_effect(statements)}
    latest = sorted((one for one in statements if "restored" in one), key=lambda one: one["when"])
    return {
        one["run_id"]: f"by {one['by'] or 'somebody'} ({' '.join(one['reason'].split())!r})"
        for one in latest
        if one["run_id"] not in retracted
    }


def with_flags(report: Report, clean: Path, policy: Policy) -> Report:
    """Return the report with the flags of its runs, and without runs that have one measurement twice.

    `clean`: where the accepted runs are.
    """
    looked_at = [one for one in report.checked if one.origin is not None and one.marks and not one.refused]
    marks = Marks.of(marked(looked_at))
    twice = {marks.origins[place].run_id for place in repeating(marks)}
    kept = [one for one in looked_at if one.run_id not in twice]
    groups = copies_of(marked(kept), lambda run_id: (clean / f"{run_id}.parquet").read_bytes(), policy)
    files = {one.run_id: one.file for one in report.checked}
    by_run: dict[str, list[tuple[str, str]]] = {}
    for group in groups:
        original = group[0][0]
        for run_id in (run_id for unit in group[1:] for run_id in unit):
            shown = shown_copy(run_id, original, files[original])
            by_run.setdefault(run_id, []).append((shown["found"], f"{shown['reason']}."))
    checked: list[Checked] = []
    for one in report.checked:
        if one.run_id in twice and not one.refused:
            text = f"{one.file} has the repetitions of one measurement twice."
            checked.append(replace(one, refused=(("raw-duplicated", text),), flags=()))
        elif not one.refused:
            checked.append(replace(one, flags=(*one.flags, *by_run.get(one.run_id, ()))))
        else:
            checked.append(one)
    flags = [flag(one.run_id, code, text) for one in kept for code, text in one.flags]
    return replace(report, checked=tuple(checked), flags=tuple(flags), groups=groups)


def _wrong_flags(report: Report, brought: Iterable[Record]) -> Iterator[Checked]:
    """Yield the flags of accepted runs that do not follow from these runs."""
    for one in brought:
        if one["run_id"] in report.accepted and one not in report.flags:
            name = f"{FLAGS}/{record_name(one)}"
            said = (
                f"{name} says of the run {one['run_id'][:12]} what does not follow from it: {one['reason']!r}; delete that file."
            )
            yield Checked(name, one["run_id"], (("flag-wrong", said),))


def marked(checked: Iterable[Checked]) -> list[MarkedRun]:
    """Return the runs in some files with their marks."""
    return [(one.origin, one.marks) for one in checked if one.origin is not None]


def copies_of(
    runs: Iterable[MarkedRun], content: Callable[[str], bytes], policy: Policy, unreadable: set[str] | None = None
) -> tuple[Group, ...]:
    """Return the groups of runs that are copies of each other.

    `content`: return the content of the file of a run, by its id. `unreadable`: takes the ids of runs whose files are damaged.
    """

    @functools.lru_cache(maxsize=64)
    def measured(run_id: str) -> dict[int, Any]:
        try:
            return times_in(content(run_id), run_id)
        except (DataError, FileNotFoundError):
            if unreadable is not None:
                unreadable.add(run_id)
            return {}

    return copies(Marks.of(runs), measured, policy.wall_s)
