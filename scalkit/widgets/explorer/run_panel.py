"""Measures the MPI library of this machine beside the kernel, and gives the session what was measured."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalkit.errors import ScalkitError, UsageError
from scalkit.session import Session
from scalkit.widgets.base.part import Action
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.explorer.job import Ending, Job, shown_command
from scalkit.widgets.explorer.job_part import JobPart
from scalkit.widgets.explorer.run_choices import Choices, known_operations, lack_of_mpi, usual_operations

_PROGRESS = re.compile(r"\[(\d+)/(\d+)\] (.*)")
_MOST_LINES = 400


class RunPanel(JobPart):
    """Runs ``scalkit measure``: shows the exact command, its progress and its log, and can end it.

    What was measured becomes the data of the session, as a step that can be undone; what was measured until it was ended is
    kept, and the same command goes on from there.

    Attributes
    ----------
    choices : Choices
        What is chosen in the form.
    command : str
        The command, or empty if something chosen is not allowed.
    """

    shown = frozenset({"data"})

    def __init__(self, session: Session, **traits: Any) -> None:
        self._lines: list[str] = []
        self._done: tuple[int, int] = (0, 0)
        self._now = ""
        self._folder: Path | None = None
        measured = {function for function, _ in session.names}
        known = known_operations()
        ours = tuple(name for names in known.values() for name in names if name in measured)
        self.choices = self._filled = Choices(ours or usual_operations())
        self._lack = lack_of_mpi()
        super().__init__(session, **{"title": "Measure", **traits})

    @property
    def command(self) -> str:
        """The command that Start runs; empty if something chosen is not allowed."""
        try:
            return shown_command(self.choices.command())
        except ScalkitError:
            return ""

    def start(self, choices: Choices | None = None) -> "RunPanel":
        """Start measuring; it goes on beside the kernel.

        Raises ScalkitError if something chosen is not allowed, there is no MPI library, or it measures already.
        """
        if self._job is not None:
            raise UsageError("it measures already; wait for the end, or cancel it.")
        if self._lack:
            raise UsageError(self._lack)
        self.choices = self._filled = choices or self.choices
        arguments = self.choices.command()
        self._lines, self._done, self._now, self._folder = [], (0, 0), "", None
        self._note = "Starting: the programs are compiled if they have changed."
        self._job = Job(arguments, self._said, self._ended)
        self.refresh()
        return self

    def show_measured(self) -> "RunPanel":
        """Make what was measured so far the data of the session.

        Raises ScalkitError if nothing was measured, or it does not fit what was chosen.
        """
        if self._folder is None:
            raise UsageError("nothing was measured yet; start it first.")
        self.session.use_data(str(self._folder))
        self._folder = None
        return self

    def _drawn(self) -> dict[str, str]:
        refused = command = ""
        try:
            command = shown_command(self.choices.command())
        except ScalkitError as error:
            refused = str(error)
        return drawn("run_panel.html", panel=self, groups=known_operations(), refused=refused, command=command)

    def _actions(self) -> dict[str, Action]:
        return {"typing": self._type, "start": self._start, "cancel": lambda _: self.cancel(), "show": self._show}

    def _type(self, values: Mapping[str, str]) -> None:
        self.choices = Choices.of(values)

    def _start(self, values: Mapping[str, str]) -> None:
        self.start(Choices.of(values))

    def _show(self, _values: Mapping[str, str]) -> None:
        self.show_measured()
        self._note = "The session shows what was measured; Undo goes back to the data before."

    def _said(self, line: str) -> None:
        """Take a line of the command."""
        if self.comm is None or not line.strip():
            return
        if found := _PROGRESS.match(line):
            self._done = (int(found[1]), int(found[2]))
            self._note, self._now = "Measuring.", found[3].rpartition(";")[2].strip()
        self._keep(line, _MOST_LINES - 1)
        self.refresh()

    def _ended(self, ending: Ending) -> None:
        """Take the end of the command: the session gets what was measured, if all of it was."""
        self._job, self._now = None, ""
        if self.comm is None:
            return
        outcome = _outcome(ending.output)
        folder = Path(self.choices.out)
        kept = sum(1 for _ in folder.glob("*.jsonl")) if folder.is_dir() else 0
        self._folder = folder if kept else None
        if ending.was_cancelled:
            self._note = f"Cancelled. {kept} run files are kept in {folder}; Start goes on from there."
        elif ending.status == 0 and outcome:
            self._done = (int(outcome["done"]), int(outcome["launches"]))
            self._take(folder)
        else:
            self._note = f"It did not end well: {self._why(ending)}"
        self.refresh()

    def _take(self, folder: Path) -> None:
        try:
            self.show_measured()
        except ScalkitError as error:
            self.problem = str(error)
            self._note = f"Measured into {folder}, which the session cannot show."
        else:
            self._note = f"Done: the session shows {folder}; Undo goes back to the data before."


def _outcome(text: str) -> dict[str, Any]:
    """Return what the command printed as JSON; nothing if it printed none."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) and "done" in found and "launches" in found else {}
