"""A part of the explorer that runs a command beside the kernel: one at a time, to be waited for, given up, and ended."""

from typing import Any, Self

from scalkit.session import Session
from scalkit.widgets.base.part import Part
from scalkit.widgets.explorer.job import HoldsJob


class JobPart(HoldsJob, Part):
    """A class that derives from it starts the command and shows how it goes."""

    def __init__(self, session: Session, **traits: Any) -> None:
        self._note = ""
        super().__init__(session, **traits)

    def cancel(self) -> Self:
        """End the command early and return the part. Without anything that runs, nothing happens."""
        if self._job is not None:
            self._note = "Ending the processes."
            self._job.cancel()
            self.refresh()
        return self
