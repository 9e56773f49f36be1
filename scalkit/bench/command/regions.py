"""What the regions of a program left behind: a file of each process, as scalkit/region.h and `sk.region` write it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MOST_REGIONS, _MOST_NAME = 1000, 500
_NUMBERS = ("calls", "ns", "open", "nested", "unbegun", "memory_calls", "kept", "peak")


@dataclass(frozen=True)
class Region:
    """One region in one repetition.

    `seconds` in s: of all its calls, in the process and thread that spent most.
    `calls`: the most of a process, its threads together.
    `kept_bytes` in B: of a call: allocated and not given back, in the process that kept most; None if unknown.
    `peak_bytes` in B: the most that resident memory rose above its begin in a call.
    """

    name: str
    seconds: float
    calls: int
    kept_bytes: float | None
    peak_bytes: int | None

    @staticmethod
    def joined(several: "Sequence[Region]") -> dict[str, Any]:
        """Return what a run file says of all repetitions of a launch: the least kept, for the first call fills caches."""
        kept = [one.kept_bytes for one in several if one.kept_bytes is not None]
        peaks = [one.peak_bytes for one in several if one.peak_bytes is not None]
        found = {"calls": several[0].calls}
        return found | ({"kept_B": round(min(kept))} if kept else {}) | ({"peak_B": min(peaks)} if peaks else {})


def regions_of(folder: Path, program: str) -> tuple[list[Region], list[str]]:
    """Return the regions that the processes of a program left in a folder, and what is odd about them, in sentences.

    `program`: name of the whole; a region of the same name is called ``NAME (region)``.
    """
    processes = [list(_lines(path)) for path in sorted(folder.glob("*.jsonl"))]
    names = list(dict.fromkeys(line["name"] for lines in processes for line in lines))[:_MOST_REGIONS]
    found: list[Region] = []
    odd: list[str] = []
    for name in names:
        of_each = [[line for line in lines if line["name"] == name] for lines in processes]
        odd += _oddities(name, of_each)
        ended = [[line for line in lines if line["calls"] > 0] for lines in of_each]
        if any(ended):
            found.append(_region(region_name(name, program), [lines for lines in ended if lines]))
    return found, odd


def region_name(name: str, program: str) -> str:
    """Return the name of a region in run files, where that of the whole program is another one."""
    return f"{name} (region)" if name == program else name


def _region(name: str, processes: Sequence[Sequence[dict[str, Any]]]) -> Region:
    ns = max(line["ns"] for lines in processes for line in lines)
    calls = max(sum(line["calls"] for line in lines) for lines in processes)
    kept = [
        sum(line["kept"] for line in lines) / sum(line["memory_calls"] for line in lines)
        for lines in processes
        if any(line["memory_calls"] for line in lines)
    ]
    peaks = [line["peak"] for lines in processes for line in lines if line["peak"] >= 0]
    return Region(name, 1e-9 * ns, calls, max(0.0, *kept) if kept else None, max(peaks, default=None))


def _oddities(name: str, of_each: Sequence[Sequence[dict[str, Any]]]) -> Iterator[str]:
    lines = [line for some in of_each for line in some]
    there = sum(bool(some) for some in of_each)
    if there < len(of_each):
        yield (
            f"region {name!r} was entered by {there} of {len(of_each)} processes; its time is the most of these, and a process "
            "without it counts as nothing."
        )
    if any(line["open"] for line in lines):
        yield f"region {name!r} was begun and never ended; that call is left out: end it on every way out of it."
    if any(line["unbegun"] for line in lines):
        yield f"region {name!r} was ended where it was not begun; that is left out: check the names of begin and end."
    if any(line["nested"] for line in lines):
        yield f"region {name!r} was begun again inside itself; only the outermost begin and end count."
    outer = {line["inside"] for line in lines if isinstance(line["inside"], str)} - {name}
    if outer and not any(line["unbegun"] for line in lines):
        yield f"region {name!r} lies inside {', '.join(map(repr, sorted(outer)))}; its time is part of both."


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file that are whole; a process that was killed may leave half of one."""
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if not isinstance(line, dict) or not isinstance(line.get("name"), str):
            continue
        if all(type(line.get(key)) is int for key in _NUMBERS) and 0 < len(line["name"]) <= _MOST_NAME:
            yield {**line, "inside": line.get("inside")}
