"""What every kind of report has in common: its content has a title, an answer, a status, and files beside the page."""

import datetime as dt
import json
import os
import platform
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from scalkit import __version__
from scalkit.junit import Case, junit_xml
from scalkit.session.file import SCRIPT_ID, script_of


class Content(ABC):
    """The content of one page, which a notebook builds and its sections show. Each kind of report has a subclass."""

    title: str
    """Plain text."""

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

    def save(self, folder: str) -> None:
        """Write what the process that runs the notebook reads into `folder`; nothing if its name is empty."""
        if folder:
            found = self.to_json()
            texts = {"verdict.json": found, "junit.xml": junit_xml(self.cases())} if found else {}
            write_outcome(Path(folder), self.title, self.status, self.answer, texts, self.sessions)


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


_FILE = "outcome.json"


@dataclass(frozen=True)
class Outcome:
    """What came out of a run of a template.

    `title`, `answer`: plain text. `status`: 0 or 1. `sessions`: script elements for the page.
    `texts`, mapping from name to text: ``verdict.json`` and ``junit.xml``.
    """

    title: str
    answer: str
    status: int
    sessions: str
    texts: Mapping[str, str]


def write_outcome(
    folder: Path, title: str, status: int, answer: str, texts: Mapping[str, str], sessions: Mapping[str, dict[str, Any]]
) -> None:
    """Write the outcome of a template into a folder.

    `title`, `status`, `answer`: see `Outcome`.
    `sessions`: the first is the one that `Session.load` finds in the page.
    """
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    scripts = [_script(plain, number) for number, plain in enumerate(sessions.values(), 1)]
    content = {"title": title, "status": status, "answer": answer, "texts": list(texts), "sessions": "\n".join(scripts)}
    (folder / _FILE).write_text(json.dumps(content), encoding="utf-8")


def read_outcome(folder: Path) -> Outcome:
    """Return what `write_outcome` wrote."""
    content = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in content["texts"]}
    return Outcome(content["title"], content["answer"], int(content["status"]), content["sessions"], texts)


def _script(plain: dict[str, Any], number: int) -> str:
    text = script_of(plain)
    return text if number == 1 else text.replace(f'id="{SCRIPT_ID}"', f'id="{SCRIPT_ID}-{number}"', 1)
