"""What ``python -m mpi4py.bench`` and the benchmarks among mpi4py's demos print."""

import re
from itertools import pairwise

from scalkit.formats.readers.content import Content, base_unit, finite, shortened, split_unit
from scalkit.formats.readers.observed import Found, Gathered, Setting
from scalkit.formats.readers.osu import function_of_title
from scalkit.units import scaled

_TITLE = re.compile(r"#\s*MPI\s")
_HEADER = re.compile(r"#\s*Size\s*\[B\]")
_MEAN = re.compile(r"(time mean|latency)", re.IGNORECASE)


def is_mpi4py_bench(content: Content) -> bool:
    """Return whether the file begins with a title and a header as mpi4py prints them."""
    lines = [line for line in content.head.split("\n")[:20] if line.strip()]
    return any(_is_title(a) and _HEADER.match(b) for a, b in pairwise(lines))


def read_mpi4py_bench(content: Content) -> Found:
    """Return the mean times that mpi4py's benchmarks printed. The number of processes is not in the file.

    Raises DataError if a row is damaged.
    """
    gathered = Gathered(content.where)
    function, columns = "", list[tuple[str, str, float]]()
    for line in content.whole_lines():
        text = line.text.strip()
        if _is_title(text):
            function, columns = function_of_title(text.lstrip("# ")), []
        elif _HEADER.match(text):
            columns = _columns(text)
        elif text and not text.startswith("#") and columns:
            fields = text.replace("|", " ").replace("±", " ").split()
            if len(fields) != len(columns):
                raise content.error(
                    line,
                    f"the row {shortened(text)} has {len(fields)} fields, the header has {len(columns)}; the file is damaged "
                    "there, run the benchmark again.",
                )
            if finite(fields[0]) is None:
                continue
            _add(gathered, function, columns, [content.number(one, line, "a field") for one in fields])
    return Found(
        "mpi4py benchmark",
        gathered.observed(),
        attrs={"title": "what mpi4py's benchmarks measured"},
        notes=["run times are means over the repetitions"],
        cut=content.cut,
        needs_p=True,
    )


def _is_title(line: str) -> bool:
    return bool(_TITLE.match(line)) and line.split()[-1] == "Test"


def _columns(header: str) -> list[tuple[str, str, float]]:
    parts = re.findall(r"[A-Za-z][A-Za-z ]*?(?:\s*\[[^\]]*\])|Samples|Iterations", header.replace("±", " "))
    found = []
    for part in parts:
        name, unit = split_unit(part)
        factor, base = base_unit(unit or "1")
        found.append((name.strip().lower(), base, factor))
    return found


def _add(gathered: Gathered, function: str, columns: list[tuple[str, str, float]], row: list[float]) -> None:
    settings: dict[str, Setting] = {}
    for (name, _, _), value in zip(columns, row, strict=True):
        if name == "size" and function != "MPI_Barrier":
            settings["S"] = value
    for (name, base, factor), value in zip(columns, row, strict=True):
        if _MEAN.match(name) and base == "s":
            gathered.add(function, settings, [scaled(value, factor)])
        elif name in ("samples", "iterations"):
            gathered.add(function, settings, [value], "n_repetitions", "1", role="quality")
        elif name != "size":
            gathered.add(function, settings, [scaled(value, factor)], f"{name.replace(' ', '_')}", base, role="detail")
