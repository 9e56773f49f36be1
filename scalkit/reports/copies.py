"""Copies the notebooks that come with scalkit into a folder of the user, and never over what was changed there.

Of the lessons it is the students' edition, without solutions.
"""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from scalkit.bundled import bundled
from scalkit.errors import UsageError
from scalkit.files import whole_file
from scalkit.teaching.strip import students_edition
from scalkit.text import counted

_LESSONS = "teach/"
_RUN_BY_COMMANDS = ("90_report.ipynb", "explore.ipynb", "store_explorer.ipynb")
"""Templates of reports and pages, which stay where they are: a newcomer has nothing to do with them."""

_RECORD = ".scalkit-notebooks.json"
"""Beside the copies: the hash of each file as it was copied, which shows what the user changed since."""


@dataclass(frozen=True)
class Copies:
    """What `copy_notebooks` did.

    `folder`: absolute.
    `new`, `updated`: names that were not there, and that were there unchanged in an older version.
    `kept`: names that the user changed, left alone.
    `outdated`: of these, the ones that scalkit has a newer version of.
    """

    folder: Path
    new: tuple[str, ...]
    updated: tuple[str, ...]
    kept: tuple[str, ...]
    outdated: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was done, in plain words."""
        said = []
        if self.new:
            said.append(f"Copied {counted(len(self.new), 'notebook')} to {self.folder}.")
        if self.updated:
            said.append(f"Brought up to date: {', '.join(self.updated)}.")
        if self.kept:
            said.append(f"Kept as you changed {'it' if len(self.kept) == 1 else 'them'}: {', '.join(self.kept)}.")
        if self.outdated:
            said.append(f"scalkit has a newer version of {', '.join(self.outdated)}; rename yours and run this again to get it.")
        return tuple(said)


def copy_notebooks(folder: str | os.PathLike[str]) -> Copies:
    """Copy the notebooks of the checkout or the installed package into a folder.

    A copy that is still as scalkit wrote it is brought up to date; one that was changed, or that scalkit did not write, is
    left alone.

    `folder`: made if it is not there.
    Raises UsageError if it is a file, is where the notebooks come from, or cannot be written to.
    """
    source, target = bundled("notebooks"), Path(folder).absolute()
    if target.is_file():
        raise UsageError(f"'{folder}' is a file; name a folder for the notebooks.")
    if target.resolve() == source.resolve():
        raise UsageError(f"'{folder}' is where the notebooks come from; name another folder for the copies.")
    try:
        return _copied(source, target)
    except OSError as error:
        raise UsageError(f"cannot write the notebooks to '{folder}': {error.strerror or error}; name another folder.") from error


def _copied(source: Path, target: Path) -> Copies:
    target.mkdir(parents=True, exist_ok=True)
    before = _record(target / _RECORD)
    after, found = dict(before), dict[str, list[str]](new=[], updated=[], kept=[], outdated=[])
    for path in _files(source):
        name = path.relative_to(source).as_posix()
        content = students_edition(path).encode() if name.startswith(_LESSONS) else path.read_bytes()
        own = target / name
        wanted = _hash(content)
        if own.exists():
            there = _hash(own.read_bytes())
            if there == wanted:
                after[name] = wanted
                continue
            if there != before.get(name):
                found["kept"].append(name)
                if before.get(name) not in (None, wanted):
                    found["outdated"].append(name)
                continue
        found["updated" if own.exists() else "new"].append(name)
        _write(own, content)
        after[name] = wanted
    if after != before:
        _write(target / _RECORD, (json.dumps(after, indent=1, sort_keys=True) + "\n").encode())
    return Copies(target, **{kind: tuple(names) for kind, names in found.items()})


def _files(source: Path) -> list[Path]:
    """Return what is to be copied: all files but those that commands run, hidden ones, and those in hidden folders."""
    found = (p for p in source.rglob("*") if p.is_file() and not any(map(p.match, _RUN_BY_COMMANDS)))
    return sorted(p for p in found if not any(part.startswith((".", "__")) for part in p.relative_to(source).parts))


def _record(path: Path) -> dict[str, str]:
    """Return the hashes of an earlier call; none if they cannot be read, so that every file counts as changed."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in content.items()} if isinstance(content, dict) else {}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    """Write a file such that it is whole or as before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, UsageError, "name another folder") as part:
        part.write_bytes(content)
