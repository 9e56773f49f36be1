"""What ReproMPI prints: every repetition, summaries, or every process of every repetition."""

import re
from collections import Counter
from collections.abc import Mapping

from scalkit.formats.readers.content import Content, Line, whole
from scalkit.formats.readers.observed import Found, Gathered, Setting

_FACT = re.compile(r"#@(\w+)=(.*)$")
_END = re.compile(r"#\s*Execution time:")
_SUMMARIES = ("median_sec", "mean_sec", "min_sec", "max_sec")

Row = Mapping[str, str]


def is_reprompi(content: Content) -> bool:
    """Return whether the file has ReproMPI's facts or the header of its tables."""
    lines = content.head.splitlines()
    return any(re.match(r"#@(nprocs|reproMPIcommitSHA1|clocksync|procsync)=", line) for line in lines) or any(
        _is_header(line.split()) for line in lines
    )


def read_reprompi(content: Content) -> Found:
    """Return what ReproMPI printed into a file: raw, as a summary, or for each process (``-v``).

    Of raw output each line is a repetition. Of a summary the median stands for all. With ``-v`` a repetition lasts from the
    first start to the last end over all processes, on the global clock; without a global clock it is the longest of the
    processes. Repetitions with an error code, and those of which a process is missing, are left out and counted.

    Raises DataError if a row is damaged, or the number of processes is not said.

    Source: Hunold and Carpen-Amarie, "Reproducible MPI Benchmarking" (docs/references.md).
    """
    reader = _Reader(content)
    for line in content.whole_lines():
        reader.line(line)
    reader.finish()
    cut = content.cut
    if not cut and reader.tables and not reader.ended:
        cut = "the line '# Execution time' is missing at the end, so the benchmark was stopped or the file cut"
    notes = [
        f"{function}: {count} repetitions with an error code are left out (late, or longer than their window)"
        for function, count in reader.late.items()
    ]
    notes += [
        f"{function}: {count} repetitions are left out, as not all of their processes are in the file"
        for function, count in reader.partial.items()
    ]
    if reader.kinds == {"summary"}:
        notes.append("of the repetitions only their summary is in the file; the median stands for them")
    if reader.is_local:
        notes.append("without a global clock a repetition lasts as long as the longest of the processes' own durations")
    return Found(
        "ReproMPI",
        reader.gathered.observed(),
        attrs={"title": "what ReproMPI measured", "datatype": reader.facts.get("datatype", "")},
        metadata=reader.facts,
        notes=notes,
        cut=cut,
        needs_p=not any("p" in one.settings for one in reader.gathered.observed()),
    )


def _is_header(words: list[str]) -> bool:
    return words[:1] in (["test"], ["process"]) and bool({"count", "msize_bytes"} & set(words))


class _Reader:
    """The state between lines: the facts and the header that hold for the next row."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self.gathered = Gathered(content.where)
        self.facts: dict[str, str] = {}
        self.columns: list[str] = []
        self.late: Counter[str] = Counter()
        self.partial: Counter[str] = Counter()
        self.kinds: set[str] = set()
        self.tables = 0
        self.ended = False
        self.is_local = False
        self._processes: dict[tuple[str, str, tuple[tuple[str, Setting], ...]], list[tuple[float, float, int]]] = {}

    def line(self, line: Line) -> None:
        text = line.text.strip()
        if text.lower().startswith("#command-line arguments"):
            self.finish()
            self.facts, self.columns, self.ended = {}, [], False
            self.facts["command"] = text.partition(":")[2].strip()[:200]
        elif fact := _FACT.match(text):
            self.facts[fact[1]] = fact[2].strip()[:200]
        elif text.startswith("#"):
            self.ended |= bool(_END.match(text))
        elif text:
            words = text.split()
            if _is_header(words):
                self.columns = words
                self.tables += 1
            elif self.columns:
                self._row(line, words)

    def finish(self) -> None:
        """Turn the rows of single processes into repetitions."""
        for key, spans in self._processes.items():
            function, settings = key[0], dict(key[2])
            p = settings.get("p")
            if isinstance(p, float) and len(spans) < p:
                self.partial[function] += 1
            elif any(code for _, _, code in spans):
                self.late[function] += 1
            else:
                first, last = min(begin for begin, _, _ in spans), max(end for _, end, _ in spans)
                lasts = max(end - begin for begin, end, _ in spans) if self.is_local else last - first
                self.gathered.add(function, settings, [lasts])
        self._processes = {}

    def _row(self, line: Line, words: list[str]) -> None:
        row = self.content.row(line, words, self.columns)
        settings = self._settings_of(line, row)
        if "process" in row:
            self._of_process(line, row, settings)
        elif "runtime_sec" in row:
            self.kinds.add("raw")
            if self._number(line, row, "errorcode", 0.0):
                self.late[row["test"]] += 1
            else:
                self.gathered.add(row["test"], settings, [self._number(line, row, "runtime_sec")])
        else:
            self._summary(line, row, settings)

    def _summary(self, line: Line, row: Row, settings: Mapping[str, Setting]) -> None:
        self.kinds.add("summary")
        names = [name for name in _SUMMARIES if name in row]
        if not names:
            raise self.content.error(line, "this table has none of median_sec, mean_sec, min_sec; run ReproMPI with --summary.")
        self.gathered.add(row["test"], settings, [self._number(line, row, names[0])])
        for name in names[1:]:
            metric = f"time_{name.removesuffix('_sec')}"
            self.gathered.add(row["test"], settings, [self._number(line, row, name)], metric, role="detail")
        if "valid_nrep" in row:
            count = self._number(line, row, "valid_nrep")
            self.gathered.add(row["test"], settings, [count], "n_repetitions", "1", role="quality")

    def _of_process(self, line: Line, row: Row, settings: dict[str, Setting]) -> None:
        self.kinds.add("verbose")
        clock = "gl" if "gl_tstart_sec" in row else "loc"
        self.is_local |= clock == "loc"
        begin, end = (self._number(line, row, f"{clock}_{what}_sec") for what in ("tstart", "tend"))
        key = (row["test"], row.get("nrep", ""), tuple(settings.items()))
        code = int(self._number(line, row, "errorcode", 0.0))
        self._processes.setdefault(key, []).append((begin, end, code))

    def _settings_of(self, line: Line, row: Row) -> dict[str, Setting]:
        settings: dict[str, Setting] = {}
        p = whole(self.facts.get("nprocs", ""))
        if p:
            settings["p"] = float(p)
        if "msize_bytes" in row:
            settings["S"] = self._number(line, row, "msize_bytes")
        else:
            extent = whole(self.facts.get("datatype_extent_bytes", "1")) or 1
            settings["S"] = self._number(line, row, "count") * extent
        return settings

    def _number(self, line: Line, row: Row, name: str, default: float | None = None) -> float:
        if name not in row and default is not None:
            return default
        return self.content.number(row.get(name, ""), line, name)
