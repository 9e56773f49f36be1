"""Writes a report of any kind: papermill runs its notebook, nbconvert makes one HTML file of it, all files appear at once."""

from __future__ import annotations

import base64
import copy
import gzip
import hashlib
import html
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit import __version__
from scalkit.colours import CSS, SCRIPT
from scalkit.errors import ReportError
from scalkit.extras import require
from scalkit.reports.writer.content import read_outcome
from scalkit.reports.writer.kernel import execute, notebook_text, parameters_there
from scalkit.reports.writer.pdf import print_page

if TYPE_CHECKING:
    from nbformat import NotebookNode

_MOST_SHOWN = 80


@dataclass(frozen=True)
class Target:
    """The files of one report: ``report.html``, ``report.verdict.json``, ``report.junit.xml``; on demand two more."""

    html: Path
    verdict_json: Path
    junit_xml: Path
    pdf: Path | None = None
    notebook: Path | None = None
    alone: bool = False

    @classmethod
    def of(
        cls, out: str | os.PathLike[str], *, force: bool = False, pdf: bool = False, notebook: bool = False, alone: bool = False
    ) -> Target:
        """Return the files that belong to `out`, after checking that they can be written.

        `out`: name of the HTML file; the others get its name without ``.html``, or all of it where it ends otherwise.
        `force`: whether existing files may be replaced.
        `pdf`, `notebook`: whether ``report.pdf`` and ``report.ipynb`` belong to it.
        `alone`: whether nothing is written beside the page.
        Raises ReportError if `out` is no usable path, the folder is missing or not writable, one of the files is a
        folder or a device, or a file exists and `force` is false; MissingPackageError if what writes reports is not
        installed.
        """
        require("report")
        try:
            target = cls._beside(Path(out).expanduser().absolute(), pdf, notebook, alone)
            problem = target._problem(force)
        except (OSError, ValueError, RuntimeError, TypeError) as error:
            name = ascii(out)
            shown = name if len(name) <= _MOST_SHOWN else f"{name[:_MOST_SHOWN]}..."
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).rstrip(".")
            raise ReportError(f"cannot write the report {shown}: {reason}; choose another name.") from error
        if problem:
            raise ReportError(problem)
        return target

    @classmethod
    def _beside(cls, html: Path, pdf: bool, notebook: bool, alone: bool) -> Target:
        stem = html.name.removesuffix(html.suffix) if html.suffix.lower() == ".html" else html.name
        beside = {end: html.with_name(f"{stem}.{end}") for end in ("verdict.json", "junit.xml", "pdf", "ipynb")}
        more = (beside["pdf"] if pdf else None, beside["ipynb"] if notebook else None)
        return cls(html, beside["verdict.json"], beside["junit.xml"], *more, alone)

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
            return f"the report {self.html} would replace {names} in {folder}; choose another name or allow it (--force)."
        return "" if os.access(folder, os.W_OK) else f"{what}: the folder {folder} is not writable; choose another."

    @property
    def files(self) -> tuple[Path, ...]:
        """All paths, the HTML file last: when it is there, the others are."""
        more = (path for path in (self.pdf, self.notebook) if path is not None)
        return (self.html,) if self.alone else (self.verdict_json, self.junit_xml, *more, self.html)

    def write(self, contents: Mapping[Path, str | bytes]) -> None:
        """Write all files under temporary names, then rename them; after a failure all is as it was.

        `contents`: one for each of `files`.
        Raises ReportError if the disk is full or the folder went away.
        """
        with ExitStack() as temporary:
            try:
                parts = {path: _written_part(path, contents[path], temporary) for path in self.files}
                before = {path: _copied_part(path, temporary) for path in self.files if path.exists()}
                self._replace(parts, before)
            except OSError as error:
                raise ReportError(
                    f"cannot write the report {self.html}: {error.strerror or error}; make room or choose another place."
                ) from error

    def _replace(self, parts: Mapping[Path, Path], before: Mapping[Path, Path]) -> None:
        """Put the new files in place; when one fails, put the earlier ones back and remove the others."""
        done = []
        try:
            for path, part in parts.items():
                os.replace(part, path)
                done.append(path)
        except BaseException:
            for path in done:
                if path in before:
                    os.replace(before[path], path)
                else:
                    path.unlink(missing_ok=True)
            raise


def _exists(path: Path) -> bool:
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


def _part(path: Path, temporary: ExitStack) -> tuple[int, Path]:
    """Return a new, open file beside `path` that is removed with `temporary` if it is still there."""
    handle, name = tempfile.mkstemp(prefix=".scalkit-", suffix=".part", dir=path.parent)
    temporary.callback(Path(name).unlink, missing_ok=True)
    return handle, Path(name)


def _written_part(path: Path, content: str | bytes, temporary: ExitStack) -> Path:
    """Return a new file beside `path` with `content` in it, readable as far as the user's mask allows."""
    handle, part = _part(path, temporary)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
    mask = os.umask(0)
    os.umask(mask)
    part.chmod(0o666 & ~mask)
    return part


def _copied_part(path: Path, temporary: ExitStack) -> Path:
    """Return a copy of `path` beside it."""
    handle, part = _part(path, temporary)
    os.close(handle)
    shutil.copy2(path, part)
    return part


@dataclass(frozen=True)
class ReportResult:
    """What was written, and the verdict.

    `html`, `verdict_json`, `junit_xml`: the report about one run of a store is the page alone.
    `status`: 0 or 1, as the command that writes the report would end.
    `answer`: the verdicts in a few sentences.
    `pdf`, `notebook`: None if not asked for.
    """

    html: Path
    verdict_json: Path
    junit_xml: Path
    status: int
    answer: str
    pdf: Path | None = None
    notebook: Path | None = None


@contextmanager
def work_folder() -> Iterator[Path]:
    """Yield a temporary folder for what the notebook's process reads and writes.

    Raises ReportError if ``SOURCE_DATE_EPOCH`` is no number.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "0")
    if not (epoch.isascii() and epoch.isdecimal() and len(epoch) <= 11):
        raise ReportError(f"SOURCE_DATE_EPOCH is {epoch[:40]!r}; seconds since 1970 are needed, or unset it.")
    with tempfile.TemporaryDirectory(prefix="scalkit-report-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def given(**parameters: Any) -> dict[str, Any]:
    """Return the parameters that say something; an empty one keeps its default in the notebook."""
    return {key: value for key, value in parameters.items() if value not in ("", [], {}, None)}


def write(
    template: Path,
    parameters: Mapping[str, Any],
    target: Target,
    folder: Path,
    *,
    browser: str = "",
    progress: Callable[[int, int], object] | None = None,
) -> ReportResult:
    """Run a notebook and write the files of its report.

    `template`: a notebook whose last cell calls `Content.save` with the parameter ``outcome``.
    `parameters`, mapping of name to JSON value. `folder`: of `work_folder`.
    `browser`: the program that prints the PDF, where one is wanted.
    `progress`: called with the number of steps done and of all: the cells of the notebook, then the files.
    Raises what a cell raised; ReportError if the notebook fails, no browser prints the PDF, or the files cannot
    be written; nothing is left there then.
    """
    # The page, and with it the PDF, is a step of its own: the bar is full only once the files are written.
    counted = None if progress is None else (lambda done, total: progress(done, total + 1))
    done = execute(template, {**parameters, "outcome": str(folder)}, folder, progress=counted)
    outcome = read_outcome(folder)
    html = render(done, outcome.title, outcome.sessions)
    contents: dict[Path, str | bytes] = {target.html: html}
    if outcome.texts:
        contents |= {target.verdict_json: outcome.texts["verdict.json"], target.junit_xml: outcome.texts["junit.xml"]}
    if target.pdf is not None:
        page = folder / "page.html"
        page.write_text(html, encoding="utf-8")
        contents[target.pdf] = print_page(page, browser, folder)
    if target.notebook is not None:
        contents[target.notebook] = notebook_text(done, parameters_there(parameters, target.html))
    target.write(contents)
    files = (target.html, target.verdict_json, target.junit_xml)
    return ReportResult(*files, outcome.status, outcome.answer, target.pdf, target.notebook)


_HERE = Path(__file__).resolve().parents[1]
_TEMPLATES = _HERE / "templates"
PLOTLY_BUNDLE = _HERE / "vendor" / "plotly-cartesian.min.js"


def render(notebook: NotebookNode, title: str, sessions: str = "") -> str:
    """Return the page as text.

    `notebook`: executed; markdown cells that begin with ``## `` become sections.
    `title`: plain text for the title of the window.
    `sessions`: script elements with what `Session.load` reads.

    The plotting library travels once, compressed, and is unpacked by the browser. A content security policy names the
    two scripts of the page by their hash and allows nothing else: no request, and no script that data bring along.
    """
    from nbconvert import exporters

    style = CSS + (_TEMPLATES / "scalkit" / "page.css").read_text(encoding="utf-8")
    script = SCRIPT + (_TEMPLATES / "scalkit" / "page.js").read_text(encoding="utf-8")
    bundle = PLOTLY_BUNDLE.read_bytes()
    packed = base64.b64encode(gzip.compress(bundle, 9, mtime=0)).decode("ascii")
    page = {
        "title": title,
        "generator": f"scalkit {__version__}",
        "style": style,
        "script": script,
        "plotly": packed,
        "sessions": sessions,
        "policy": _policy(script.encode(), bundle),
    }
    make: Callable[..., Any] = exporters.HTMLExporter
    exporter = make(
        template_name="scalkit",
        extra_template_basedirs=[str(_TEMPLATES)],
        filters={"heading": _heading, "below_heading": _below_heading, "slug": _slug},
    )
    text, _ = exporter.from_notebook_node(_without_empty_sections(notebook), resources={"scalkit": page})
    return str(text)


def _without_empty_sections(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook without headings below which nothing is shown, as of changes without a baseline."""
    kept: list[Any] = []
    for cell in reversed(notebook.cells):
        is_heading = cell.cell_type == "markdown" and cell.source.startswith("## ")
        below = next((one for one in reversed(kept) if _is_shown(one)), None)
        if not is_heading or (below is not None and below.cell_type == "code"):
            kept.append(cell)
    shorter = copy.copy(notebook)
    shorter.cells = kept[::-1]
    return shorter


def _is_shown(cell: Any) -> bool:
    if cell.cell_type == "markdown":
        return "remove-cell" not in cell.metadata.get("tags", [])
    return any(output.output_type in ("display_data", "execute_result") for output in cell.outputs)


def _policy(*scripts: bytes) -> str:
    digests = (base64.b64encode(hashlib.sha256(script).digest()).decode("ascii") for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"


def _heading(source: str) -> str:
    return html.unescape(source.splitlines()[0].removeprefix("## ").strip())


def _below_heading(source: str) -> str:
    return "\n".join(source.splitlines()[1:]).strip()


def _slug(heading: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in heading.lower()).split())
