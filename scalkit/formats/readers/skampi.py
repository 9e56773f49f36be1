"""What SKaMPI 5 and 6 write (``.sko``)."""

import re

from scalkit.formats.readers.content import Content, Line, finite, shortened
from scalkit.formats.readers.observed import Found, Gathered, Setting, identifier

_BEGIN = re.compile(r"[#\s]*begin result\s+\"(.*)\"")
_END = re.compile(r"[#\s]*end result\s+\"(.*)\"")
_PAIR = re.compile(r"\s*([A-Za-z]\w*)=\s*(\S+)")
_FACT = re.compile(r"#\s*([A-Za-z][\w ]{1,40}?)\s*(?:[:=]|\s{2,})\s*(\S.*)$")
_PROCESSES = {"nodes", "procs", "nprocs", "processes", "np", "size_comm"}
_SIZES = {"size", "msize", "message_size"}
_COUNTS = {"count", "cnt", "len", "length", "msglen"}
"""Variables that say the message size in other words; the size in bytes stands in a column of its own."""
_FIELDS = ("the size in bytes", "the result", "its standard error", "the repetitions")


def is_skampi(content: Content) -> bool:
    """Return whether some line near the beginning opens a result of SKaMPI."""
    return any(_BEGIN.match(line) for line in content.head.splitlines())


def read_skampi(content: Content) -> Found:
    """Return the results in a file of SKaMPI 5 or 6.

    SKaMPI's result is the mean of the repetitions that it kept, in microseconds. A variable called ``nodes`` or ``procs`` is
    the number of processes; elsewhere it is the number of columns of single processes.

    Raises DataError if a row is damaged or a result ends that did not begin.

    Source: Augustin et al., SKaMPI manual (docs/references.md).
    """
    gathered = Gathered(content.where)
    metadata: dict[str, str] = {}
    function, opened = "", 0
    for line in content.whole_lines():
        if match := _BEGIN.match(line.text):
            function, opened = match[1].strip() or "result", line.number
        elif match := _END.match(line.text):
            if not function:
                raise content.error(line, "a result ends here that did not begin; the file is damaged, run SKaMPI again.")
            function = ""
        elif function and line.text.strip() and not line.text.lstrip().startswith("#"):
            _add(content, line, gathered, function)
        elif fact := _FACT.match(line.text.strip()):
            metadata.setdefault(fact[1], fact[2][:200])
    cut = content.cut
    if not cut and function:
        cut = f"the result {shortened(function)} of line {opened} has no 'end result', so SKaMPI was stopped or the file cut"
    return Found(
        "SKaMPI",
        gathered.observed(),
        attrs={"title": "what SKaMPI measured"},
        metadata=metadata,
        notes=["run times are means over the repetitions that SKaMPI kept"],
        cut=cut,
        needs_p=not any("p" in one.settings for one in gathered.observed()),
    )


def _add(content: Content, line: Line, gathered: Gathered, function: str) -> None:
    settings: dict[str, Setting] = {}
    rest, place = line.text, 0
    while match := _PAIR.match(rest, place):
        name, text = match[1], match[2]
        value = finite(text)
        if name.lower() not in _COUNTS:
            settings[_name(name)] = text[:60] if value is None else value
        place = match.end()
    fields = [content.number(text, line, "a field") for text in rest[place:].split()]
    if not place or len(fields) < len(_FIELDS):
        raise content.error(
            line,
            f"the row {shortened(line.text.strip())} has {len(fields)} numbers after its variables, at least "
            f"{len(_FIELDS)} are needed ({', '.join(_FIELDS)}); the file is damaged there, run SKaMPI again.",
        )
    size, result, error, count, *per_process = fields
    if "S" not in settings:
        settings["S"] = size
    if "p" not in settings and len(per_process) > 1:
        settings = {"p": float(len(per_process)), **settings}
    gathered.add(_operation(function), settings, [result / 1e6])
    gathered.add(_operation(function), settings, [error / 1e6], "time_standard_error", role="detail")
    gathered.add(_operation(function), settings, [count], "n_repetitions", "1", role="quality")
    if per_process:
        gathered.add(_operation(function), settings, [max(per_process) / 1e6], "time_max_process", role="detail")


def _name(variable: str) -> str:
    if variable.lower() in _PROCESSES:
        return "p"
    return "S" if variable.lower() in _SIZES else identifier(variable)


def _operation(result: str) -> str:
    """Return ``MPI_Gather`` for the result "MPI_Gather-nodes", which says along what SKaMPI measured."""
    return re.sub(r"-(nodes|procs|length|short|long|nodes-short|nodes-long)$", "", result)
