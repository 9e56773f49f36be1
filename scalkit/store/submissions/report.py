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
from typing import TYPE_CHECKING, Any, Literal

from scalkit.errors import DataError
from scalkit.extras import require
from scalkit.store.statements import in_effect
from scalkit.store.submissions.containers import Policy
from scalkit.store.submissions.copies import Marks, Origin, copies, raws_in
from scalkit.store.wire import fetched, is_url, shown
from scalkit.text import counted

if TYPE_CHECKING:
    from scalkit.store.store import Store


_MOST_SHOWN = 5


@dataclass(frozen=True)
class Checked:
    """One file of a submission.

    `run_id`: of what is in it; empty if it cannot be read.
    `refused`, `warnings`, tuple of (code, sentence): reasons not to accept it, and what is odd.
    `origin`: what copies are told by, with `marks`. `marks`: of the measurements; see `scalkit.store.runs.marks.marks_of`.
    """

    file: str
    run_id: str = ""
    refused: tuple[tuple[str, str], ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()
    origin: Origin | None = None
    marks: Mapping[str, Sequence[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """What a validation found.

    `statements`: retractions that the submission carries, and restorations, which have ``restored``.
    `signatures`: of runs that it carries, not yet verified.
    `confined`: what kept the process that read it from the network, from starting programs and from writing elsewhere; see
    `scalkit.store.submissions.sandbox.confine`.
    """

    path: str
    checked: tuple[Checked, ...]
    statements: tuple[dict[str, str], ...] = ()
    confined: tuple[str, ...] = ()
    signatures: tuple[dict[str, str], ...] = ()

    @property
    def accepted(self) -> tuple[str, ...]:
        """Ids of the runs that can be taken over."""
        return tuple(one.run_id for one in self.checked if one.run_id and not one.refused)

    @property
    def refused(self) -> tuple[Checked, ...]:
        """The files that cannot."""
        return tuple(one for one in self.checked if one.refused)

    @property
    def ok(self) -> bool:
        """Whether there is something to take over, and nothing is refused."""
        return bool(self.accepted) and not self.refused

    def __str__(self) -> str:
        lines = [f"{self.path}: {len(self.accepted)} accepted, {len(self.refused)} refused."]
        for one in self.checked:
            for mark, found in (("refused", one.refused), ("odd", one.warnings)):
                lines += [f"  {one.file}: {mark}: {text} [{code}]" for code, text in found[:_MOST_SHOWN]]
                if len(found) > _MOST_SHOWN:
                    lines.append(f"  {one.file}: and {len(found) - _MOST_SHOWN} more")
        for entry in (retracted := in_effect(self.statements))[:_MOST_SHOWN]:
            reason = " ".join(entry["reason"].split())
            lines.append(f"  retracted there: {entry['run_id'][:12]}: {reason!r}, by {entry['by'] or 'nobody named'}")
        if len(retracted) > _MOST_SHOWN:
            lines.append(f"  retracted there: and {len(retracted) - _MOST_SHOWN} more")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "path": self.path,
            "ok": self.ok,
            "accepted": list(self.accepted),
            "refused": reasons_of(self.refused),
            "warnings": reasons_of(self.checked, "warnings"),
            "statements": [dict(entry) for entry in self.statements],
            "confined": list(self.confined),
        }


def reasons_of(checked: Iterable[Checked], of: Literal["refused", "warnings"] = "refused") -> list[dict[str, Any]]:
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
        report = _report(path, found, ending)
        yield (report if integrity else without_copies(report, scratch / "clean")), scratch / "clean"
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
        found.append({"file": reading[-1], "refused": [["reader-died", text]], "warnings": []})


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


def _report(path: Path, found: list[dict[str, Any]], ending: str) -> Report:
    checked = [
        Checked(
            file=str(one["file"]),
            run_id=str(one.get("run_id", "")),
            refused=tuple((str(code), str(text)) for code, text in one["refused"]),
            warnings=tuple((str(code), str(text)) for code, text in one["warnings"]),
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
    return Report(str(path), tuple(checked), statements, confined, signatures)


def _origin(found: Mapping[str, Any]) -> Origin | None:
    if not found.get("origin"):
        return None
    same, computed = found["origin"]
    return Origin(str(found["run_id"]), str(found["file"]), tuple(map(str, same)), bool(computed))


def without_copies(
    report: Report, clean: Path, known: Marks | None = None, read_known: Callable[[str], bytes] | None = None
) -> Report:
    """Return the report, with the copies of other runs refused.

    `clean`: where the accepted runs are. `known`: of runs to compare them with, too.
    `read_known`: return the content of the file of one of these, by its id.
    """
    looked_at = [one for one in report.checked if one.origin is not None and one.marks and not one.refused]
    new = Marks.of([one.origin for one in looked_at if one.origin is not None], [one.marks for one in looked_at])
    own = {one.run_id for one in looked_at}

    @functools.lru_cache(maxsize=16)
    def raws(run_id: str) -> dict[int, Any]:
        if run_id in own or read_known is None:
            return raws_in((clean / f"{run_id}.parquet").read_bytes(), run_id)
        return raws_in(read_known(run_id), run_id)

    found = copies(new, known or Marks.of([], []), lambda run_id, number: raws(run_id)[number])
    words = {"raw-duplicated": "the very repetitions of", "raw-copied": "repetitions that are, changed, those of"}
    checked = []
    for one in report.checked:
        if one.run_id in found and not one.refused:
            code, name = found[one.run_id]
            one = replace(one, refused=((code, f"{one.file} has {words[code]} {name}."),))
        checked.append(one)
    return replace(report, checked=tuple(checked))


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
