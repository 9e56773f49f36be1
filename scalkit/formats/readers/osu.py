"""What the OSU Micro-Benchmarks print, and the same programs in Python."""

import re

from scalkit.formats.readers.content import Content, Line, base_unit, finite, split_unit
from scalkit.formats.readers.observed import Column, Found, Gathered, identifier
from scalkit.support.toml.tables import table_beside

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
            row = content.row(line, text.replace("|", " ").split(), [name for name, _, _ in columns])
            known = {name: number for name, cell in row.items() if (number := finite(cell)) is not None}
            cells = [(column, known[column[0]]) for column in columns if column[0] in known]
            means |= gathered.add_row(function, {}, cells, _TIMES, also=("time_max", "time_avg")) == "time_avg"
            if text.split()[-1] == "Fail":
                wrong[function] = None
        elif text:
            ignored.append(line)
    notes = [f"{name}: the benchmark says that the data were wrong (Fail)" for name in wrong]
    if means:
        notes.append("run times are means over the processes; the option -f of the benchmarks adds the slowest process")
    notes += content.notes_on(ignored)
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
    known = table_beside(__file__, "names.toml")["osu"]
    found = []
    for part in re.split(r"\s{2,}|\t", text.strip()):
        name, unit = split_unit(part)
        low = name.lower()
        factor, base = base_unit("B" if low == "size" and unit is None else unit or "")
        tail = re.match(r"p(\d+)\s+tail", low)
        found.append((f"time_p{tail[1]}" if tail else "S" if low == "size" else known.get(low, identifier(name)), base, factor))
    return found
