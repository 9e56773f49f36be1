"""Turns the executed notebook into one HTML file that makes no request: nbconvert with our own template."""

from __future__ import annotations

import base64
import copy
import gzip
import hashlib
import html
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit import __version__
from scalkit.colours import CSS, SCRIPT

if TYPE_CHECKING:
    from nbformat import NotebookNode


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
