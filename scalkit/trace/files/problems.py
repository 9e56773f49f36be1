"""What can be wrong with a trace: each problem with its location and record."""

from dataclasses import dataclass

from scalkit.errors import DataError


@dataclass(frozen=True, order=True)
class Problem:
    """Something wrong at one place of a trace.

    `record`: number of the call or mark, as in the trace; -1 if it concerns the whole location.
    `kind`: ``"missing"``, ``"truncated"``, ``"damaged"``, ``"clock"``, ``"leave"``, ``"scope"`` or ``"target"``.
    `text`: what is wrong, without location and record.
    `count`: how many records of the location have it; `record` is the first.
    """

    location: int
    record: int
    kind: str
    text: str
    count: int = 1

    def __str__(self) -> str:
        place = f"location {self.location}" + (f", record {self.record}" if self.record >= 0 else "")
        more = f" (and {self.count - 1} more like it)" if self.count > 1 else ""
        return f"{place}: {self.text}{more}"


def refuse(problems: list[Problem], folder: object) -> DataError:
    """Return the error to raise for the first of `problems`."""
    others = len(problems) - 1
    more = f" {others} more problem{'s were' if others > 1 else ' was'} found." if others else ""
    return DataError(f"{folder}: {min(problems)}; record it again, or analyse the rest with --keep-going.{more}")
