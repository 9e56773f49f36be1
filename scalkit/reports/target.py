"""Where a report goes: the three files beside each other, checked before the work and put in place all at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scalkit.errors import ReportError

__all__ = ["Target"]


@dataclass(frozen=True)
class Target:
    """The files of one report: ``report.html``, ``report.verdict.json``, ``report.junit.xml``."""

    html: Path
    verdict_json: Path
    junit_xml: Path

    @classmethod
    def of(cls, out: str | os.PathLike[str], *, force: bool = False) -> Target:
        """Return the files that belong to `out`, after checking that they can be written.

        Parameters
        ----------
        out : path
            Name of the HTML file; the others get its stem.
        force : bool
            Whether existing files may be replaced.

        Raises
        ------
        ReportError
            If the folder is missing or not writable, `out` is a folder, or a file exists and `force` is false.
        """
        html = Path(out).expanduser().absolute()
        folder = html.parent
        if not folder.is_dir():
            raise ReportError(
                f"cannot write the report {html}: there is no folder {folder}; create it or choose another."
            )
        if html.is_dir():
            raise ReportError(
                f"cannot write the report {html}: it is a folder; name a file in it, such as report.html."
            )
        target = cls(html, html.with_suffix(".verdict.json"), html.with_suffix(".junit.xml"))
        existing = [path for path in target.files if path.exists()]
        if existing and not force:
            names = ", ".join(path.name for path in existing)
            raise ReportError(
                f"the report {html} would replace {names} in {folder}; choose another name or allow it (--force)."
            )
        if not os.access(folder, os.W_OK):
            raise ReportError(f"cannot write the report {html}: the folder {folder} is not writable; choose another.")
        return target

    @property
    def files(self) -> tuple[Path, Path, Path]:
        """The three paths, the HTML file last: when it is there, the others are."""
        return (self.verdict_json, self.junit_xml, self.html)

    def write(self, contents: Mapping[Path, str]) -> None:
        """Write all files under temporary names, then rename them; after a failure nothing new is left.

        Parameters
        ----------
        contents : mapping of path to text
            One text for each of `files`.

        Raises
        ------
        ReportError
            If the disk is full or the folder went away.
        """
        parts: dict[Path, Path] = {}
        try:
            for path in self.files:
                parts[path] = _write_part(path, contents[path])
            for path in self.files:
                os.replace(parts[path], path)
        except OSError as error:
            for part in parts.values():
                part.unlink(missing_ok=True)
            raise ReportError(
                f"cannot write the report {self.html}: {error.strerror or error}; make room or choose another place."
            ) from error


def _write_part(path: Path, text: str) -> Path:
    """Return a new file beside `path` with `text` in it, readable as far as the user's mask allows."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    return part
