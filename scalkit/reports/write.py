"""Writes a report of any kind: papermill runs the notebook, and all files of the report appear at once."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.errors import ReportError
from scalkit.reports.content import OUTCOME
from scalkit.reports.inputs import MEMORY, plain_inputs
from scalkit.reports.kernel import execute, notebook_text
from scalkit.support.bundled import bundled
from scalkit.support.extras import require
from scalkit.support.text import shortened

_MOST_SHOWN = 80


@dataclass(frozen=True)
class Target:
    """The files of one report: ``report.html``, ``report.verdict.json``, ``report.junit.xml``; on demand ``report.ipynb``."""

    html: Path
    verdict_json: Path
    junit_xml: Path
    notebook: Path | None = None
    alone: bool = False

    @classmethod
    def of(cls, out: str | os.PathLike[str], *, force: bool = False, notebook: bool = False, alone: bool = False) -> Target:
        """Return the files that belong to `out`, after checking that they can be written.

        `out`: name of the HTML file; the others get its name without ``.html``, or all of it where it ends otherwise.
        `force`: whether existing files may be replaced.
        `notebook`: whether ``report.ipynb`` belongs to it.
        `alone`: whether nothing is written beside the page.
        Raises ReportError if `out` is no usable path, the folder is missing or not writable, one of the files is a
        folder or a device, or a file exists and `force` is false; MissingPackageError if what writes reports is not
        installed.
        """
        require("report")
        try:
            target = cls._beside(Path(out).expanduser().absolute(), notebook, alone)
            problem = target._problem(force)
        except (OSError, ValueError, RuntimeError, TypeError) as error:
            shown = shortened(ascii(out), _MOST_SHOWN)
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).rstrip(".")
            raise ReportError(f"cannot write the report {shown}: {reason}; choose another name.") from error
        if problem:
            raise ReportError(problem)
        return target

    @classmethod
    def _beside(cls, html: Path, notebook: bool, alone: bool) -> Target:
        stem = html.name.removesuffix(html.suffix) if html.suffix.lower() == ".html" else html.name
        verdict_json, junit_xml, ipynb = (html.with_name(f"{stem}.{end}") for end in ("verdict.json", "junit.xml", "ipynb"))
        return cls(html, verdict_json, junit_xml, ipynb if notebook else None, alone)

    def _problem(self, force: bool) -> str:
        """Return why the files cannot be written and how to go on; empty if they can be."""
        folder, what = self.html.parent, f"cannot write the report {self.html}"
        if not folder.is_dir():
            return f"{what}: there is no folder {folder}; create it or choose another."
        if self.html.is_dir():
            return f"{what}: it is a folder; name a file in it, such as report.html."
        existing = [path for path in self.files if _exists(path)]
        for path in existing:
            if not path.is_file() and not path.is_symlink():
                kind = "a folder" if path.is_dir() else "no ordinary file"
                if path == self.html:
                    return f"{what}: it is {kind}; choose another name."
                return f"{what}: beside it {path.name} is {kind}; rename one of them."
        if existing and not force:
            names = ", ".join(path.name for path in existing)
            return (
                f"the report {self.html} would replace {names} in {folder}; choose another name or allow it "
                "(force=True, --force)."
            )
        return "" if os.access(folder, os.W_OK) else f"{what}: the folder {folder} is not writable; choose another."

    @property
    def files(self) -> tuple[Path, ...]:
        """All paths, the HTML file last: when it is there, the others are."""
        if self.alone:
            return (self.html,)
        return (self.verdict_json, self.junit_xml, *([self.notebook] if self.notebook else []), self.html)

    def write(self, contents: Mapping[Path, str]) -> None:
        """Write all files under temporary names, then rename them; after a failure all is as it was.

        `contents`: one for each of `files`.
        Raises ReportError if the disk is full or the folder went away.
        """
        try:
            with tempfile.TemporaryDirectory(prefix=".scalkit-", dir=self.html.parent) as folder:
                new, before = Path(folder) / "new", Path(folder) / "before"
                new.mkdir()
                before.mkdir()
                for path in self.files:
                    (new / path.name).write_text(contents[path], encoding="utf-8")
                    if path.exists():
                        shutil.copy2(path, before / path.name)
                self._replace(new, before)
        except OSError as error:
            raise ReportError(
                f"cannot write the report {self.html}: {error.strerror or error}; make room or choose another place."
            ) from error

    def _replace(self, new: Path, before: Path) -> None:
        """Put the files of the folder `new` in place; when one fails, put those in `before` back and remove the others."""
        done = []
        try:
            for path in self.files:
                os.replace(new / path.name, path)
                done.append(path)
        except BaseException:
            for path in done:
                if (before / path.name).exists():
                    os.replace(before / path.name, path)
                else:
                    path.unlink(missing_ok=True)
            raise


def _exists(path: Path) -> bool:
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


@dataclass(frozen=True)
class ReportResult:
    """What was written, and the verdict.

    `html`, `verdict_json`, `junit_xml`: a profile of calls is the page alone.
    `status`: 0 or 1, as the command that writes the report would end.
    `answer`: the verdicts in a few sentences.
    `notebook`: None if not asked for.
    """

    html: Path
    verdict_json: Path
    junit_xml: Path
    status: int
    answer: str
    notebook: Path | None = None


@contextmanager
def _work_folder() -> Iterator[Path]:
    """Yield a temporary folder for what the notebook's process reads and writes.

    Raises ReportError if ``SOURCE_DATE_EPOCH`` is no number.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "0")
    if not (epoch.isascii() and epoch.isdecimal() and len(epoch) <= 11):
        raise ReportError(f"SOURCE_DATE_EPOCH is {epoch[:40]!r}; seconds since 1970 are needed, or unset it.")
    with tempfile.TemporaryDirectory(prefix="scalkit-report-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _lasting(inputs: Mapping[str, Any], kind: str, page: Path, folder: Path) -> Any:
    """Return inputs without temporary files: the page stands for data in memory, because it holds them as a session."""
    text = json.dumps(inputs)
    if MEMORY in text and kind == "report":
        return {"runs": [page.name]}
    return json.loads(text.replace(f"{folder}{os.sep}", ""))


NOTEBOOK = "notebooks/90_report.ipynb"


def write_report(
    kind: str, out: str | os.PathLike[str], *, force: bool = False, notebook: bool = False, **inputs: Any
) -> ReportResult:
    """Write a report of any kind: papermill runs the notebook, and all files appear at once.

    `kind`: ``"report"``, ``"compare"``, ``"guidelines"``, ``"waiting"`` or ``"calls"``.
    `out`: the HTML file; for ``r.html``, ``r.verdict.json`` and ``r.junit.xml`` are written next to it, if there are verdicts.
    `force`: replace existing files.
    `notebook`: also write ``r.ipynb``, the notebook as it ran.
    `**inputs`: what the report is about and how it is judged: the arguments of the function that ``kinds.toml`` names.
    Raises ScalkitError if an input is wrong; ReportError if the notebook fails, or the files cannot be written;
    nothing is left there then.
    """
    is_alone = kind == "calls"
    target = Target.of(out, force=force, notebook=notebook, alone=is_alone)
    with _work_folder() as folder:
        plain = plain_inputs(inputs, folder)
        done = execute(bundled(NOTEBOOK), {"kind": kind, "inputs": plain, "outcome": str(folder)}, folder, Path.cwd())
        outcome = json.loads((folder / OUTCOME).read_text(encoding="utf-8"))
        contents = {target.html: (folder / "page.html").read_text(encoding="utf-8")}
        if not is_alone:
            for name, path in (("verdict.json", target.verdict_json), ("junit.xml", target.junit_xml)):
                contents[path] = (folder / name).read_text(encoding="utf-8")
        if target.notebook is not None:
            contents[target.notebook] = notebook_text(done, {"kind": kind, "inputs": _lasting(plain, kind, target.html, folder)})
    target.write(contents)
    files = (target.html, target.verdict_json, target.junit_xml)
    return ReportResult(*files, outcome["status"], outcome["answer"], target.notebook)
