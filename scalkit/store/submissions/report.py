"""`validate`: tells whether a submission can be taken over, and why not. Nothing is repaired."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scalkit.errors import DataError
from scalkit.extras import require
from scalkit.store.submissions.policy import Policy

_MOST_SHOWN = 5


@dataclass(frozen=True)
class Checked:
    """One file of a submission.

    Attributes
    ----------
    file : str
    run_id : str
        Of what is in it; empty if it cannot be read.
    refused, warnings : tuple of (code, sentence)
        Reasons not to accept it, and what is odd.
    campaign, label : str
        Of the run.
    hashes : tuple of int
        Of measurements that no other run has by accident.
    """

    file: str
    run_id: str = ""
    refused: tuple[tuple[str, str], ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()
    campaign: str = ""
    label: str = ""
    hashes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Report:
    """What a validation found.

    Attributes
    ----------
    path : str
    checked : tuple of Checked
    retracted : tuple of dict
        Retractions that the submission carries.
    confined : tuple of str
        What kept the process that read it from the network, from starting programs and from writing elsewhere; see
        `scalkit.store.submissions.sandbox.confine`.
    """

    path: str
    checked: tuple[Checked, ...]
    retracted: tuple[dict[str, str], ...] = ()
    confined: tuple[str, ...] = ()

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
        for entry in self.retracted[:_MOST_SHOWN]:
            reason = " ".join(entry["reason"].split())
            lines.append(f"  retracted there: {entry['run_id'][:12]}: {reason!r}, by {entry['by'] or 'nobody named'}")
        if len(self.retracted) > _MOST_SHOWN:
            lines.append(f"  retracted there: and {len(self.retracted) - _MOST_SHOWN} more")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "path": self.path,
            "ok": self.ok,
            "accepted": list(self.accepted),
            "refused": [{"file": one.file, "reasons": _plain(one.refused)} for one in self.refused],
            "warnings": [{"file": one.file, "reasons": _plain(one.warnings)} for one in self.checked if one.warnings],
            "retracted": [dict(entry) for entry in self.retracted],
            "confined": list(self.confined),
        }


def _plain(found: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"code": code, "text": text} for code, text in found]


def validate(path: str | os.PathLike[str], *, policy: Policy | None = None) -> Report:
    """Return whether a run file, a folder of them or a zip can be taken over.

    It is read by another process, with limits on memory, time, files and what it writes; that process may crash. As far as the
    kernel allows, it has no network, can start nothing, and can write into its own scratch folder only.

    Parameters
    ----------
    path : path
    policy : Policy, optional
        The limits.

    Raises
    ------
    DataError
        If there is nothing at the path.
    """
    with examined(Path(path), policy) as (report, _):
        return report


@contextlib.contextmanager
def examined(path: Path, policy: Policy | None = None, below: Path | None = None) -> Iterator[tuple[Report, Path]]:
    """Provide the report, and for that time a folder with the accepted runs, written again by this version.

    Parameters
    ----------
    below : Path, optional
        Where to make the scratch folder.
    """
    require("store")
    policy = policy or Policy()
    if not path.exists():
        raise DataError(f"there is nothing at {str(path)!r}; name a store, a zip of one, or a run's Parquet file.")
    scratch = Path(tempfile.mkdtemp(prefix="examine-", dir=below))
    try:
        found, ending = _run(path.absolute(), scratch, policy)
        yield _report(path, found, ending), scratch / "clean"
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _run(path: Path, scratch: Path, policy: Policy) -> tuple[list[dict[str, Any]], str]:
    """Return what the other process printed, and how it ended if it did not end well."""
    request = json.dumps({"path": str(path), "scratch": str(scratch), "policy": asdict(policy)})
    environment = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "LC_ALL", "PYTHONPATH")}
    environment |= {"HOME": str(scratch), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_IO_THREADS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "scalkit.store.submissions.examine", request],
            capture_output=True,
            env=environment,
            cwd=scratch,
            timeout=policy.wall_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        out, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as error:
        out, status = error.stdout or b"", -signal.SIGXCPU
    found = []
    for line in out.splitlines():
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    if status == 0:
        return found, ""
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return found, f"reading it took more than {policy.cpu_s} s of computing or {policy.wall_s:.0f} s in all"
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
            campaign=str(one.get("campaign", "")),
            label=str(one.get("label", "")),
            hashes=tuple(int(number) for number in one.get("hashes", ())),
        )
        for one in found
        if "refused" in one
    ]
    retracted = tuple(entry for one in found for entry in one.get("retracted", ()))
    if ending:
        checked.append(Checked(path.name, refused=(("reader-died", f"{path.name}: {ending}; the rest was not read."),)))
    confined = tuple(str(means) for one in found for means in one.get("confined", ()))
    return Report(str(path), tuple(_without_repeated(checked)), retracted, confined)


def _without_repeated(checked: list[Checked]) -> Iterator[Checked]:
    """Yield the files, those refused that have measurements of another file of the same submission."""
    seen: dict[int, Checked] = {}
    for one in checked:
        others = [seen[number] for number in one.hashes if number in seen and not _same_run(seen[number], one)]
        if others and not one.refused:
            text = f"{one.file} has the very repetitions of {others[0].file}."
            yield Checked(**{**_fields(one), "refused": (("raw-duplicated", text),)})
            continue
        seen |= dict.fromkeys(one.hashes, one)
        yield one


def _same_run(one: Checked, other: Checked) -> bool:
    """Return whether both are states of one run, of which the later has more launches."""
    return (one.campaign, one.label) == (other.campaign, other.label) and bool(one.campaign)


def _fields(one: Checked) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__dataclass_fields__}
