"""Choices of an analysis that can change its result; they are kept in it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from scalkit.errors import UsageError
from scalkit.support.arguments import each_of, require_positive
from scalkit.support.text import brief

SEARCHES = ("posting", "entering")
"""Values of `Options.search`, the usual one first."""


@dataclass(frozen=True)
class Options:
    """How Wait for Progress is read where its definition leaves a choice.

    `search`: from when on progress of a target counts: since the last operation to it was posted, or since the completing
    call began. Of operations posted ahead the first finds little of the waiting (1 to 2 % in simulations), as any call of
    the target after the posting counts; the second finds most of it (65 to 75 %), and may find too much where transfers are
    served before the completing call.
    `no_progress`: functions that progress nothing, such as ``"MPI_Iprobe"``; the trace must call them.
    `chunk`: requests that a rank handles at once; it bounds memory and changes no result.
    """

    search: Literal["posting", "entering"] = "posting"
    no_progress: tuple[str, ...] = ()
    chunk: int = 1 << 16

    def __post_init__(self) -> None:
        if self.search not in SEARCHES:
            raise UsageError(f"search is {brief(self.search)}; it may be {' or '.join(SEARCHES)}.")
        each_of(self.no_progress, str, "no_progress", "give names of functions")
        require_positive(self.chunk, "chunk", whole=True)

    def to_dict(self) -> dict[str, Any]:
        """Return what can change a result, as plain values."""
        given = asdict(self)
        del given["chunk"]
        given["no_progress"] = sorted(self.no_progress)
        return given
