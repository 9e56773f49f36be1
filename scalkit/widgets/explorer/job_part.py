"""A part that runs a command beside the kernel: one at a time, to be waited for, given up, and ended with the part."""

from __future__ import annotations

from typing import Any, Self

from scalkit.session import Session
from scalkit.widgets.base.part import Part
from scalkit.widgets.explorer.job import Job


class JobPart(Part):
    """Holds the running command; a class that derives from it starts one and shows how it goes."""

    def __init__(self, session: Session, **traits: Any) -> None:
        self._job: Job | None = None
        self._note = ""
        super().__init__(session, **traits)

    @property
    def is_running(self) -> bool:
        """Whether the command runs now."""
        return self._job is not None

    def cancel(self) -> Self:
        """End the command early and return the part. Without anything that runs, nothing happens."""
        if self._job is not None:
            self._note = "Ending the processes."
            self._job.cancel()
            self.refresh()
        return self

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end outside a notebook, or for some seconds; return whether it ended."""
        return self._job is None or self._job.wait(seconds)

    def close(self) -> None:
        """Close the widget and end what it runs."""
        if self._job is not None:
            self._job.cancel()
        super().close()
