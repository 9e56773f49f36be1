"""`verify`: tells whether the files of a store are what was filed, down to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scalkit.store.submissions.policy import Policy
from scalkit.store.submissions.report import Checked, examined
from scalkit.text import counted

if TYPE_CHECKING:
    from scalkit.store.store import Store

_OWN = Policy(max_files=10**8, max_file_bytes=1 << 40, max_total_bytes=1 << 60, cpu_s=10**7, wall_s=1e6)
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
        damaged = [
            {"file": one.file, "reasons": [{"code": code, "text": text} for code, text in one.refused]}
            for one in self.damaged
        ]
        return {"path": self.path, "ok": self.ok, "intact": list(self.intact), "damaged": damaged}


def verify(store: Store) -> Verified:
    """Return which files of a store are what was filed: another process reads every one and checks all hashes."""
    with examined(store.folder.runs, _OWN, integrity=True) as (report, _):
        empty = [one for one in report.refused if one.refused[0][0] != "no-runs"]
        return Verified(str(store.folder.shown), report.accepted, tuple(empty))
