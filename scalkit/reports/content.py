"""The content of a report of any kind: an answer, an exit status and sections, shown by a notebook and as one HTML file."""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import hashlib
import json
import os
import platform
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, ClassVar

from markupsafe import Markup

from scalkit import __version__
from scalkit.errors import UsageError
from scalkit.reports.pieces import PLOTLY, Piece, rendered, templates
from scalkit.session.file import SCRIPT_ID, script_of
from scalkit.support.colours import CSS, SCRIPT
from scalkit.support.junit import Case, junit_xml
from scalkit.support.text import did_you_mean
from scalkit.support.toml.tables import table_beside

_HERE = Path(__file__).resolve().parent
PLOTLY_BUNDLE = _HERE / "vendor" / "plotly-cartesian.min.js"
OUTCOME = "outcome.json"


@dataclass(frozen=True)
class Section:
    """A part of a page.

    `heading`: plain text. `lead`: markup that says what to look for.
    `is_folded`: whether it is folded on the screen. `prints`: whether it is open on paper even so.
    """

    heading: str
    lead: Markup
    pieces: tuple[Piece, ...]
    is_folded: bool = False
    prints: bool = False

    @property
    def id(self) -> str:
        """Identifier of its place in the page."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.heading.lower()).split())


class Content(ABC):
    """The content of one page; a subclass for each kind of report in ``kinds.toml``."""

    kind: ClassVar[str]
    title: str
    """Plain text."""
    made: str
    """Time of the report, UTC."""

    @property
    @abstractmethod
    def answer(self) -> str:
        """The outcome in a few sentences."""

    @property
    def status(self) -> int:
        """Exit status of the command that writes the page: 0 or 1."""
        return 0

    @property
    def sessions(self) -> Mapping[str, dict[str, Any]]:
        """Label to values of a session; `Session.load` finds the first one in the page."""
        return {}

    def to_json(self) -> str:
        """Return the results as JSON text; empty if no file belongs beside the page."""
        return ""

    def cases(self) -> Mapping[str, list[Case]]:
        """Return the test cases for JUnit XML by the name of their suite."""
        return {}

    @cached_property
    def top(self) -> tuple[Piece, ...]:
        """What stands above the sections: the answer, and what was measured where."""
        kind = table_beside(__file__, "kinds.toml")[self.kind]
        return rendered("top.html", page=self, kicker=kind["kicker"], **{"tiles": (), **_values(self, kind["top"])})

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The sections that have something to show."""
        return tuple(filter(None, (self.section(one["make"]) for one in _entries(self.kind))))

    def section(self, make: str) -> Section | None:
        """Return the section that a function makes, such as ``"summary.overview"``; None if it has nothing to show."""
        entry = next(one for one in _entries(self.kind) if one["make"] == make)
        values = _values(self, make)
        if values is None:
            return None
        folded, prints = entry.get("folded", False), entry.get("prints", False)
        pieces = rendered(f"{make.replace('.', '/')}.html", page=self, **values)
        return Section(entry["heading"], Markup(entry["lead"]), pieces, folded, prints)

    def to_html(self) -> str:
        """Return the page as text that needs nothing from outside.

        The plotting library is included once, compressed, and is unpacked by the browser. A content security policy names the
        two scripts of the page by their hash and allows nothing else: no request, and no script that data bring along.
        """
        script, bundle = SCRIPT + _text("page.js"), PLOTLY_BUNDLE.read_bytes()
        page = {
            "generator": f"scalkit {__version__}",
            "style": Markup(CSS + _text("page.css")),
            "script": Markup(script),
            "plotly": base64.b64encode(gzip.compress(bundle, 9, mtime=0)).decode("ascii"),
            "sessions": Markup("\n".join(_script(one, k) for k, one in enumerate(self.sessions.values(), 1))),
            "policy": Markup(_policy(script.encode(), bundle)),
        }
        return templates().get_template("page.html").render(page=self, mime=PLOTLY, **page) + "\n"

    def save(self, folder: str) -> None:
        """Write the files of the report, and what the command says of it, into a folder; nothing if its name is empty."""
        if not folder:
            return
        outcome = Path(folder)
        (outcome / "page.html").write_text(self.to_html(), encoding="utf-8")
        if found := self.to_json():
            (outcome / "verdict.json").write_text(found, encoding="utf-8")
            (outcome / "junit.xml").write_text(junit_xml(self.cases()), encoding="utf-8")
        (outcome / OUTCOME).write_text(json.dumps({"status": self.status, "answer": self.answer}), encoding="utf-8")

    def _ipython_display_(self) -> None:
        from IPython import display

        show: Callable[..., object] = display.display
        for piece in self.top:
            show(piece.bundle(), raw=True)
        for section in self.sections:
            show({"text/markdown": f"## {section.heading}\n\n{section.lead}", "text/plain": section.heading}, raw=True)
            for piece in section.pieces:
                show(piece.bundle(), raw=True)


def open_report(kind: str, inputs: Mapping[str, Any] | None = None) -> Content:
    """Return the content of a report.

    `kind`: one of ``kinds.toml``.
    `inputs`: arguments of the function that opens this kind; by default small data that come with scalkit.
    Raises UsageError if there is no such kind; ScalkitError if an input is wrong.
    """
    kinds = table_beside(__file__, "kinds.toml")
    if kind not in kinds:
        raise UsageError(f"there is no report {kind!r:.60}; choose from {', '.join(kinds)}.{did_you_mean(kind, kinds)}")
    module, _, name = kinds[kind]["open"].partition(".")
    opened: Content = getattr(import_module(f"scalkit.reports.pages.{module}"), name)(**(inputs or {}))
    return opened


def _entries(kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table_beside(__file__, "kinds.toml")[kind]["sections"]
    return found


def _values(page: Content, make: str) -> Any:
    module, _, name = make.partition(".")
    return getattr(import_module(f"scalkit.reports.sections.{module}"), name)(page)


def _text(name: str) -> str:
    return (_HERE / "templates" / name).read_text(encoding="utf-8")


def _policy(*scripts: bytes) -> str:
    digests = (base64.b64encode(hashlib.sha256(script).digest()).decode("ascii") for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"


def _script(plain: dict[str, Any], number: int) -> str:
    text = script_of(plain)
    return text if number == 1 else text.replace(f'id="{SCRIPT_ID}"', f'id="{SCRIPT_ID}-{number}"', 1)


def json_text(content: Mapping[str, Any]) -> str:
    """Return JSON text for a file beside a page."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def written_now() -> str:
    """Return the time of a report, UTC; ``SOURCE_DATE_EPOCH`` sets it."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = dt.datetime.fromtimestamp(int(epoch), dt.UTC) if epoch else dt.datetime.now(dt.UTC)
    return now.strftime("%Y-%m-%d %H:%M UTC")


def made_with(*packages: str) -> dict[str, str]:
    """Return the versions that a page was made with, by name."""
    python = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return {"scalkit": __version__, "Python": python, "packages": ", ".join(f"{p} {metadata.version(p)}" for p in packages)}
