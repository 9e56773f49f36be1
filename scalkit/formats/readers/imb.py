"""What the Intel MPI Benchmarks print."""

import re
from dataclasses import dataclass

from scalkit.formats.readers.content import Content, Line, base_unit, finite, split_unit, whole
from scalkit.formats.readers.observed import Column, Found, Gathered, Setting, identifier
from scalkit.support.toml.tables import table_beside

_TITLE = re.compile(r"#\s*Intel\s*\(R\) MPI Benchmarks?\s+(?P<version>\S.*)$")
_BENCHMARK = re.compile(r"#\s*Benchmarking\s+(\S+)")
_PROCESSES = re.compile(r"#\s*#processes\s*=\s*(\d+)")
_GROUPS = re.compile(r"#\s*\(\s*(\d+)\s+groups? of\s+(\d+)\s+processes")
_MODE = re.compile(r"#\s*MODE:\s*(\S+)")
_FACT = re.compile(r"#\s*(Date|Machine|System|Release|Version|MPI Version|MPI_Datatype[\w ]*|MPI_Op)\s*:\s*(\S.*)$")
_END = "All processes entering MPI_Finalize"
_TIMES = ("time_max", "time_overall", "time_only")
_PROBLEM = re.compile(r"time-?out|out-of-mem", re.IGNORECASE)


@dataclass
class _Section:
    """Where in the file the reader is: benchmark, its settings, its columns; none between tables."""

    function: str = ""
    p: float = 0.0
    more: tuple[tuple[str, Setting], ...] = ()
    columns: tuple[Column, ...] = ()

    def settings(self) -> dict[str, Setting]:
        return {"p": self.p, **dict(self.more)}


def is_imb(content: Content) -> bool:
    """Return whether the file has the title or a table of the Intel MPI Benchmarks."""
    lines = content.head.splitlines()
    return any(_TITLE.match(line) for line in lines) or (
        any(_BENCHMARK.match(line) for line in lines) and any(_PROCESSES.match(line) for line in lines)
    )


def read_imb(content: Content) -> Found:
    """Return what the Intel MPI Benchmarks printed into a file.

    The run time is ``t_max``, that of the slowest process; ``t_ovrl`` of non-blocking operations; ``t`` where that is all.

    Raises DataError if a row is damaged or stands before its number of processes.

    Source: Intel MPI Benchmarks, User Guide (docs/references.md).
    """
    gathered, section = Gathered(content.where), _Section()
    versions: dict[str, None] = {}
    metadata: dict[str, str] = {}
    ignored: list[Line] = []
    problems: dict[str, None] = {}
    ended = 0
    started = 0
    for line in content.whole_lines():
        text = line.text.strip()
        if not text:
            section.columns = ()
        elif text.lstrip("# ").startswith(("bytes", "repetitions")) and "usec" in text:
            section.columns = _columns(text)
        elif text.startswith("#"):
            _comment(text, section, versions, metadata)
            ended += _END in text
            started += bool(_TITLE.match(text))
        elif _PROBLEM.search(text):
            problems[f"{section.function} at p = {section.p:g}: {text[:120]}"] = None
        elif section.columns and finite(text.split()[0]) is not None:
            cells = zip(section.columns, _row(content, line, section), strict=True)
            gathered.add_row(section.function, section.settings(), cells, _TIMES, also=("time_max",))
        else:
            ignored.append(line)
    cut = content.cut
    if not cut and ended < max(started, 1):
        cut = f"the line '# {_END}' is missing at the end, so the benchmark was stopped or the file cut"
    return Found(
        f"Intel MPI Benchmarks {', '.join(versions)}".strip(),
        gathered.observed(),
        attrs={
            "title": "what the Intel MPI Benchmarks measured",
            "started": metadata.get("Date", ""),
            "datatype": metadata.get("MPI_Datatype", ""),
        },
        metadata=metadata,
        notes=[*problems, *content.notes_on(ignored)],
        cut=cut,
    )


def _comment(text: str, section: _Section, versions: dict[str, None], metadata: dict[str, str]) -> None:
    if match := _TITLE.match(text):
        versions[re.sub(r",.*$", "", match["version"]).removeprefix("Version ").strip()] = None
    elif match := _BENCHMARK.match(text):
        section.function, section.p, section.more, section.columns = _function(match[1]), 0.0, (), ()
    elif match := _PROCESSES.match(text):
        section.p = float(whole(match[1]) or 0)
    elif match := _GROUPS.match(text):
        groups, each = whole(match[1]) or 0, whole(match[2]) or 0
        section.p, section.more = float(groups * each), (("groups", float(groups)),)
    elif match := _MODE.match(text):
        section.more = (*section.more, ("mode", match[1].lower()))
    elif match := _FACT.match(text):
        metadata.setdefault(match[1], match[2][:200])


def _function(name: str) -> str:
    """Return ``MPI_Bcast`` for "Bcast"; what is no operation of MPI keeps its name."""
    low = name.lower()
    known = table_beside(__file__, "names.toml")["collectives"]
    if low in known or (low[:1] == "i" and low[1:] in known):
        return f"MPI_{name[0].upper()}{low[1:]}"
    return name


def _columns(header: str) -> tuple[Column, ...]:
    found = []
    for part in header.split():
        name, unit = split_unit(part) if "[" in part else (part, None)
        factor, base = {"mbytes/sec": (1e6, "B/s"), "msg/sec": (1.0, "1/s"), "#bytes": (1.0, "B")}.get(
            name.lower(), base_unit(unit or "")
        )
        found.append((table_beside(__file__, "names.toml")["imb"].get(name.lower(), identifier(name)), base, factor))
    return tuple(found)


def _row(content: Content, line: Line, section: _Section) -> list[float]:
    row = content.row(line, line.text.split(), [name for name, _, _ in section.columns])
    if not section.function or section.p <= 0:
        raise content.error(
            line,
            "this row stands before '# Benchmarking NAME' and '# #processes = N', so its benchmark is unknown; keep these "
            "lines in the file.",
        )
    return [content.number(text, line, "a field") for text in row.values()]
