"""What a notebook hands to the process that runs it: the files beside the page, and the sessions inside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.session.file import script_of
from scalkit.session.in_page import SCRIPT_ID

_FILE = "outcome.json"


@dataclass(frozen=True)
class Outcome:
    """What came out of a run of a template.

    Attributes
    ----------
    title, answer : str
        Plain text.
    status : int
        0 or 1.
    sessions : str
        Script elements for the page.
    texts : mapping from name to text
        ``verdict.json`` and ``junit.xml``.
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
