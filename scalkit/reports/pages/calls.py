"""The content of the page on a profile: the time that a program spent in each function of MPI, and from where."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from scalkit.reports.content import Content, written_now
from scalkit.trace.calls.profile import Profile, head_line, read_profile


@dataclass(frozen=True, eq=False)
class CallsPage(Content):
    """A profile of calls."""

    kind: ClassVar[str] = "calls"

    profile: Profile
    title: str
    made: str

    @property
    def answer(self) -> str:
        """The time in MPI, and the function that most of it was spent in."""
        head = head_line(self.profile)
        if not self.profile.calls:
            return f"{head}."
        most = self.profile.calls[0]
        by = f", called by {most.where}" if most.where else ""
        return f"{head}; most of that in {most.function}{by}."


def open_calls(folder: str, *, title: str = "") -> CallsPage:
    """Return the content of the page on a profile. `folder`: of the profile. Raises DataError if it cannot be read."""
    return CallsPage(read_profile(Path(folder)), title or f"What does {folder} spend in MPI?", written_now())
