"""What a reader gets of a file: its bytes, read up to a limit, its text, its lines, and where it was cut."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scalkit.errors import DataError
from scalkit.support.text import shortened as cut
from scalkit.support.toml.tables import table_beside
from scalkit.support.units import PREFIXES, SECONDS

LARGEST = 64 * 2**20
"""Bytes of the largest foreign file that is read."""

_HEAD = 64 * 2**10
_LONGEST_LINE = 2**16


@dataclass(frozen=True)
class Line:
    """One line of a file.

    `number`: from 1.
    `text`: without its end.
    """

    number: int
    text: str


Row = tuple[Line, dict[str, str]]


@dataclass(frozen=True, eq=False)
class Content:
    """A file that was read."""

    path: Path
    data: bytes

    @property
    def where(self) -> str:
        """Return the file's name for messages."""
        return str(self.path)

    @cached_property
    def sha256(self) -> str:
        """Return the hash of the bytes."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def head(self) -> str:
        """Return the beginning as text; bytes that are no text become replacement characters."""
        return self.data[:_HEAD].removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")

    @cached_property
    def text(self) -> str:
        """Return all as text. Raises DataError if it is no UTF-8."""
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise DataError(
                f"{self.where}, line {line}: byte {error.start} is no UTF-8 text; the file is damaged, or it has another "
                "encoding: save it as UTF-8."
            ) from error

    def lines(self) -> Iterator[Line]:
        """Yield all lines, also a last one that has no line end."""
        text, start, number = self.text, 0, 0
        while start < len(text):
            stop = text.find("\n", start)
            stop = len(text) if stop < 0 else stop
            number += 1
            yield Line(number, text[start:stop].removesuffix("\r"))
            start = stop + 1

    def whole_lines(self) -> Iterator[Line]:
        """Yield the lines that have an end; a program that was stopped leaves one without.

        Raises DataError if a line is longer than programs print.
        """
        left = self.unended
        for line in self.lines():
            if len(line.text) > _LONGEST_LINE:
                raise self.error(
                    line, f"the line has {len(line.text)} characters, no benchmark prints such; the file is damaged there."
                )
            if left is None or line.number < left.number:
                yield line

    def table(self, split: Callable[[str], list[str]]) -> Iterator[Row]:
        """Yield the rows below a header, each by the names of its columns; the header may stand there again.

        Raises DataError if a row has more or fewer fields than the header.
        """
        header: list[str] = []
        for line in self.whole_lines():
            fields = split(line.text)
            if line.text.strip() and not header:
                header = fields
            elif line.text.strip() and fields != header:
                yield line, self.row(line, fields, header)

    def row(self, line: Line, fields: Sequence[str], header: Sequence[str]) -> dict[str, str]:
        """Return the fields of a row by the names of their columns. Raises DataError if there are more or fewer of them."""
        if len(fields) != len(header):
            raise self.error(
                line,
                f"the row {shortened(line.text.strip())} has {len(fields)} fields, the header has {len(header)} "
                f"({shown(', '.join(header))}); the file is damaged there, run the benchmark again or delete the row.",
            )
        return dict(zip(header, fields, strict=True))

    def notes_on(self, ignored: Sequence[Line]) -> list[str]:
        """Return a note on lines that hold no results."""
        if not ignored:
            return []
        count = "1 line that is no result was" if len(ignored) == 1 else f"{len(ignored)} lines that are no results were"
        first = ignored[0]
        return [f"{self.path.name}: {count} ignored, the first is line {first.number}: {shortened(first.text.strip())}"]

    @property
    def unended(self) -> Line | None:
        """Return the last line if it has no end."""
        if not self.text.strip() or self.text.endswith("\n"):
            return None
        return Line(self.text.count("\n") + 1, self.text.rpartition("\n")[2])

    @property
    def cut(self) -> str:
        """What to say of a last line without its end, which is left out; empty if there is none."""
        last = self.unended
        if last is None:
            return ""
        return f"line {last.number} has no line end, so the file was cut there; left out: {shortened(last.text.strip())}"

    def error(self, line: Line | int, problem: str) -> DataError:
        """Return an error that names file and line; `problem` says what, and how to go on."""
        number = line if isinstance(line, int) else line.number
        return DataError(f"{self.where}, line {number}: {problem}")

    def number(self, text: str, line: Line | int, what: str) -> float:
        """Return a text as a finite number. Raises DataError if it is none."""
        value = finite(text)
        if value is None:
            raise self.error(
                line,
                f"{what} is {shortened(text)}, a finite number is needed; perhaps the file is damaged there: write it again.",
            )
        return value


def finite(text: str) -> float | None:
    """Return a text such as ``"1.5e-3"`` as a number; None if it is no finite one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def whole(text: str) -> int | None:
    """Return decimal digits as a number of at most 18 digits; None if the text is something else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def shortened(value: object) -> str:
    """Return a value from a file in quotes, cut where it is long."""
    return cut(repr(value))


def shown(text: str, longest: int = 60) -> str:
    """Return a text on one line with single blanks, cut where it is long."""
    return cut(" ".join(text.split()), longest)


def load(path: Path) -> Content:
    """Return the content of a file that is small enough. Raises DataError if it cannot be read, or is larger than `LARGEST`."""
    try:
        with path.open("rb") as stream:
            size = path.stat().st_size
            data = b"" if size > LARGEST else stream.read(LARGEST + 1)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}; check its permissions.") from error
    if max(size, len(data)) > LARGEST:
        raise DataError(
            f"{path} has {max(size, len(data)) / 2**20:.0f} MiB, files of others are read up to {LARGEST // 2**20} MiB; "
            "split it, or write less into it."
        )
    return Content(path, data)


_MOST_MARKS = 2**22


def is_json(content: Content) -> bool:
    """Return whether a file may be JSON or JSON Lines."""
    return content.head.lstrip()[:1] in ("{", "[")


def json_of(content: Content) -> object:
    """Return the value in a JSON file. Raises DataError if the text is damaged, too deep, or has too many values."""
    marks = sum(content.data.count(mark) for mark in (b",", b"[", b"{"))
    if marks > _MOST_MARKS:
        raise DataError(
            f"{content.where} is JSON of {marks} values or more, up to {_MOST_MARKS} are read; split it, or write fewer "
            "repetitions."
        )
    try:
        return json.loads(content.data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise DataError(
            f"{content.where}, line {error.lineno}, column {error.colno}: this is no valid JSON ({error.msg}); "
            "perhaps the benchmark was stopped while it wrote; run it again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{content.where} is no readable JSON ({error}); write the file again.") from error


def json_line(text: str) -> dict[str, object]:
    """Return the object in a line. Raises ValueError, saying in a few words what is wrong."""
    if text.count(",") + text.count("[") > _MOST_MARKS:
        raise ValueError("too many values in one line")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"no valid JSON ({error.msg} at column {error.colno})") from None
    except RecursionError:
        raise ValueError("brackets too deep") from None
    if not isinstance(value, dict):
        raise ValueError(f"no object but {shortened(value)}")
    return value


_WORDS = table_beside(__file__, "names.toml")["times"]
_SECONDS = SECONDS | {word: SECONDS[unit] for unit, words in _WORDS.items() for word in words}
_PREFIXES = {prefix.lower(): factor for prefix, factor in PREFIXES.items()}
_BYTES = re.compile(r"(?P<prefix>[kmgt]i?|)(?P<base>b|byte|bytes)(?P<rate>/s|/sec|ps|)", re.IGNORECASE)
_LONGEST = 200
_SUFFIX = re.compile(r"s|sec|seconds|[mun]s|[mun]sec|B|bytes|[kKMG]B|[KMG]iB")
_NONE = ("", "1", "none", "occ", "count", "#")


def base_unit(text: str) -> tuple[float, str]:
    """Return the factor to, and the name of, the unit without prefix: (1e-6, "s") for "usec".

    Units that are neither time nor bytes nor bytes per second stay as they are; ``"1"`` stands for none.
    """
    unit = text.strip()
    if unit.lower() in _SECONDS:
        return _SECONDS[unit.lower()], "s"
    match = _BYTES.fullmatch(unit)
    if match is not None and unit not in ("b", "Kb", "Mb", "Gb", "kb"):  # bits, by custom
        return _PREFIXES[match["prefix"].lower()], "B/s" if match["rate"] else "B"
    return 1.0, "1" if unit.lower() in _NONE else unit


def split_unit(header: str) -> tuple[str, str | None]:
    """Return name and unit of a column such as ``time [us]``, ``Latency(us)`` or ``runtime_sec``; None without a unit."""
    if len(header) > _LONGEST:
        return header.strip(), None
    match = re.fullmatch(r"(.*?)\s*[\[(]([^\[\]()]{0,20})[\])]\s*", header)
    if match is not None and match[1].strip():
        return match[1].strip(), match[2].strip()
    stem, _, last = header.strip().rpartition("_")
    if stem and _SUFFIX.fullmatch(last):
        return stem, last
    return header.strip(), None
