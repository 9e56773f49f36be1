"""What the OSU Micro-Benchmarks print, and the same programs in Python."""

import re
from collections.abc import Sequence

from scalkit.formats.readers.content import Content, Line, base_unit, finite, shortened, split_unit
from scalkit.formats.readers.observed import Column, Found, Gathered, identifier
from scalkit.toml.tables import table_beside

_TITLE = re.compile(r"#\s*OSU\s")
_VERSION = re.compile(r"v\d[\w.\-]*")
_HEADER = re.compile(r"#\s*(Size|Avg|Latency|Overall|Min|Max|Messages)\b.*[(\[]", re.IGNORECASE)
_FACT = re.compile(r"#\s*([A-Za-z][\w ]{1,30}):\s*(\S.*)$")
_TIMES = ("time_max", "time_overall", "time_avg")
"""Which column is the run time, the first that is there: that of the slowest process, else the mean over processes."""


def is_osu(content: Content) -> bool:
    """Return whether some line near the beginning is the title of an OSU benchmark."""
    return any(_title(line) for line in content.head.splitlines())


def read_osu(content: Content) -> Found:
    """Return what one or several OSU benchmarks printed into a file.

    The run time is the latency of the slowest process if the file has it (option ``-f``), else the mean over processes. The
    number of processes is not in the file.

    Raises DataError if a row is damaged.

    Source: OSU Micro-Benchmarks, README (docs/references.md).
    """
    gathered = Gathered(content.where)
    versions: dict[str, None] = {}
    metadata: dict[str, str] = {}
    ignored: list[Line] = []
    function, columns, means = "", list[Column](), False
    wrong: dict[str, None] = {}
    for line in content.whole_lines():
        title, text = _title(line.text), line.text.strip()
        if title:
            function, columns = function_of_title(title[0]), []
            versions[title[1]] = None
        elif _HEADER.match(text):
            columns = _columns(text)
        elif text.startswith("#"):
            if fact := _FACT.match(text):
                metadata.setdefault(fact[1], fact[2][:200].rstrip(". "))
        elif text and function and columns and (finite(text.split()[0]) is not None):
            row = _row(content, line, columns)
            means |= _add(gathered, function, columns, row)
            if row[-1] == "Fail":
                wrong[function] = None
        elif text:
            ignored.append(line)
    notes = [f"{name}: the benchmark says that the data were wrong (Fail)" for name in wrong]
    if means:
        notes.append("run times are means over the processes; the option -f of the benchmarks adds the slowest process")
    notes += ignored_lines(content, ignored)
    version = ", ".join(versions)
    return Found(
        f"OSU Micro-Benchmarks {version}",
        gathered.observed(),
        attrs={"title": "what the OSU Micro-Benchmarks measured"},
        metadata=metadata,
        notes=notes,
        cut=content.cut,
        needs_p=True,
    )


def ignored_lines(content: Content, ignored: Sequence[Line]) -> list[str]:
    """Return a note on lines that hold no results."""
    if not ignored:
        return []
    count = "1 line that is no result was" if len(ignored) == 1 else f"{len(ignored)} lines that are no results were"
    first = ignored[0]
    return [f"{content.path.name}: {count} ignored, the first is line {first.number}: {shortened(first.text.strip())}"]


def _title(line: str) -> tuple[str, str] | None:
    """Return what a benchmark's first line says it is, and its version; None for other lines."""
    if not _TITLE.match(line):
        return None
    *words, last = line.lstrip("# \t").split()
    return (" ".join(words[1:]), last[1:]) if words and _VERSION.fullmatch(last) else None


def function_of_title(what: str) -> str:
    """Return ``MPI_Bcast`` for "MPI Broadcast Latency Test"; other titles without their last words."""
    what = " ".join(what.split())[:200]
    words = re.sub(r"\s+(Latency\s+)?Test\b.*$", "", re.sub(r"^MPI[\s-]+", "", what)).strip()
    prefix = ""
    if match := re.match(r"(Non-?blocking|Persistent)\s+", words, re.IGNORECASE):
        prefix = "i" if match[1].lower().startswith("n") else "persistent "
        words = words[match.end() :]
    name = re.sub(r"[\s-]+", "_", words.lower())
    known = ["broadcast", *table_beside(__file__, "names.toml")["collectives"]]
    if not prefix and name not in known and name[1:] in known and name[0] == "i":
        prefix, name = "i", name[1:]
    if name not in known:
        return re.sub(r"\s+Test\b.*$", "", what).strip()
    operation = "bcast" if name == "broadcast" else name
    return f"MPI_I{operation}" if prefix == "i" else f"MPI_{operation.capitalize()}{'_init' if prefix else ''}"


def _columns(header: str) -> list[Column]:
    """Return name, unit and factor of each column; names are apart by two blanks, or by the end of a unit."""
    text = re.sub(r"([)\]])\s*", r"\1  ", header.lstrip("# ").strip()).replace("|", "  ")
    found = []
    for part in re.split(r"\s{2,}|\t", text.strip()):
        name, unit = split_unit(part)
        factor, base = base_unit("B" if name.lower() == "size" and unit is None else unit or "")
        words = name.lower()
        if tail := re.match(r"p(\d+)\s+tail", words):
            found.append((f"time_p{tail[1]}", base, factor))
        else:
            found.append(
                (
                    "S" if words == "size" else table_beside(__file__, "names.toml")["osu"].get(words, identifier(name)),
                    base,
                    factor,
                )
            )
    return found


def _row(content: Content, line: Line, columns: Sequence[Column]) -> list[str]:
    fields = line.text.replace("|", " ").split()
    if len(fields) != len(columns):
        names = ", ".join(name for name, _, _ in columns)
        raise content.error(
            line,
            f"the row {shortened(line.text.strip())} has {len(fields)} fields, the header has {len(columns)} ({names}); "
            "the file is damaged there, run the benchmark again or delete the row.",
        )
    return fields


def _add(gathered: Gathered, function: str, columns: Sequence[Column], row: Sequence[str]) -> bool:
    """Add a row; return whether its run time is a mean."""
    cells = [(column, value) for column, text in zip(columns, row, strict=True) if (value := finite(text)) is not None]
    return gathered.add_row(function, {}, cells, _TIMES, also=("time_max", "time_avg")) == "time_avg"
