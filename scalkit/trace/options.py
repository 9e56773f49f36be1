"""Readings of the pattern that a user may choose; they are kept in the result."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from scalkit.errors import UsageError


@dataclass(frozen=True)
class Options:
    """How Wait for Progress is read where its definition leaves a choice.

    `no_overlap`: wait of a call during which no target came to progress: none, or the whole call. With hardware that
    completes transfers without the target, "cap" is wrong.
    `tail`: whether, with several targets, the time after the last of their first progress calls counts.
    `several`: with several targets: time without overlap with any of them, or until the last of them came.
    `search`: from when on progress of a target counts: since the last operation to it was posted, or since the completing
    call began. Of operations posted ahead the first finds little of the waiting (1 to 2 % in simulations), as any call of
    the target after the posting counts; the second finds most of it (65 to 75 %), and may find too much where transfers are
    served before the completing call.
    `all_targets`: targets of a call that completes a whole window: those with operations that are not complete yet, or all.
    `no_progress`: functions that progress nothing, such as ``"MPI_Iprobe"``; the trace must call them.
    `chunk`: requests that a rank handles at once; it bounds memory and changes no result.
    """

    no_overlap: Literal["zero", "cap"] = "zero"
    tail: Literal["exclude", "include"] = "exclude"
    several: Literal["gaps", "latest"] = "gaps"
    search: Literal["posting", "entering"] = "posting"
    all_targets: Literal["outstanding", "window"] = "outstanding"
    no_progress: tuple[str, ...] = ()
    chunk: int = 1 << 16

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise UsageError(f"{name} is {getattr(self, name)!r}; it may be {' or '.join(allowed)}.")
        if self.chunk < 1:
            raise UsageError(f"chunk is {self.chunk}; a number from 1 on is needed.")

    def to_dict(self) -> dict[str, Any]:
        """Return what can change a result, as plain values."""
        given = asdict(self)
        del given["chunk"]
        given["no_progress"] = sorted(self.no_progress)
        return given


CHOICES: dict[str, tuple[str, ...]] = {
    name: get_args(hint) for name, hint in get_type_hints(Options).items() if get_origin(hint) is Literal
}
"""What each option may be, its usual value first."""
