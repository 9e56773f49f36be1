"""A command with placeholders, and the points that are filled in."""

import csv
import itertools
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalkit.errors import UsageError
from scalkit.measure.schema import is_reserved
from scalkit.support.text import shortened

Point = tuple[tuple[str, int], ...]
"""Names of the parameters with their values, in the order in which they were given."""

_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_MOST_POINTS, _LARGEST = 10_000, 2**53
_LIKE = "write -p n=100,1000,10000, or -p n=100..10000 for doublings"


_LAUNCHERS = ("mpiexec", "mpirun", "mpiexec.hydra", "orterun", "prterun")
_COUNTS = ("-n", "-np", "--np")


def begins_with_launcher(words: Sequence[str]) -> bool:
    """Return whether a command begins as ``mpiexec -n {p}`` and goes on."""
    return len(words) > 3 and Path(words[0]).name in _LAUNCHERS and words[1] in _COUNTS


@dataclass(frozen=True)
class Template:
    """A command and environment variables with ``{name}`` where a parameter stands; ``{{`` is a brace.

    `command`: as typed in a shell; it is split into words like there, and run without one.
    `settings`: ``NAME=text``.
    Raises UsageError if it is no command, or a setting is none.
    """

    command: str
    settings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for text in self.settings:
            name, equals, _ = text.partition("=")
            if not equals or not name.isidentifier():
                raise UsageError(f"--set {shortened(text)}: a variable is needed, such as --set OMP_NUM_THREADS={{threads}}.")
        if not self.words:
            raise UsageError("--command is empty; write a program with its arguments, such as --command './app {n}'.")

    @property
    def words(self) -> list[str]:
        """The words of the command, with their placeholders."""
        try:
            return shlex.split(self.command)
        except ValueError as error:
            raise UsageError(f"--command {shortened(self.command)}: {str(error).lower()}; close it.") from error

    @property
    def name(self) -> str:
        """What the program is called in the results: its script or file, without launchers before it."""
        words = self.words
        words = words[3:] if begins_with_launcher(words) else words
        own = [word for word in words if word.endswith((".py", ".sh")) or word.startswith(("./", "../"))]
        return Path((own or words)[0]).stem or "program"

    def require(self, names: Sequence[str]) -> None:
        """Return nothing if each parameter has a place and each place a parameter.

        Raises UsageError naming the first that has none.
        """
        texts = (*self.words, *self.settings)
        places = [found[1] for text in texts for found in _PLACE.finditer(text) if found[1] is not None]
        for place in places:
            if place not in names:
                has = f"parameters are {', '.join(names)}" if names else "there are no parameters"
                added = f"add -p {place}=1,2,4, or " if place.isidentifier() else ""
                raise UsageError(f"--command has {{{place}}}, and {has}: {added}write {{{{{place}}}}} for the braces.")
        for name in names:
            if name not in places:
                raise UsageError(
                    f"the parameter {name!r} has no place in --command {shortened(self.command)}: write {{{name}}} where its "
                    f"value goes, or --set NAME={{{name}}} for a variable of the environment."
                )

    def filled(self, point: Point) -> tuple[list[str], dict[str, str]]:
        """Return the words of the command at a point, and the variables of its environment."""
        values = dict(point)
        pairs = (text.partition("=") for text in self.settings)
        return [_filled(word, values) for word in self.words], {name: _filled(text, values) for name, _, text in pairs}


def _filled(text: str, values: Mapping[str, int]) -> str:
    return _PLACE.sub(lambda found: found[0][0] if found[1] is None else str(values[found[1]]), text)


def matrix(options: Sequence[str]) -> tuple[Point, ...]:
    """Return all combinations of the values of parameters, such as ``p=2..64`` (doublings, and the end) and ``n=100,1000``.

    Raises UsageError if one cannot be read, a name is no name or stands there twice, or there are more than 10,000
    points.
    """
    axes: dict[str, tuple[int, ...]] = {}
    for option in options:
        name, equals, text = option.partition("=")
        name = name.strip()
        if not equals:
            raise UsageError(f"-p {shortened(option)}: a name and its values are needed; {_LIKE}.")
        _require_name(name, tuple(axes))
        axes[name] = _values(name, text)
    points = tuple(itertools.product(*([(name, value) for value in values] for name, values in axes.items())))
    if len(points) > _MOST_POINTS:
        raise UsageError(f"the parameters make {len(points):,} points, at most {_MOST_POINTS:,} are measured; name fewer.")
    return points


def points_of_file(path: Path) -> tuple[Point, ...]:
    """Return the points in a CSV file: names in its first line, then a line for each point.

    Raises UsageError if it cannot be read, or a line does not have a whole number for each name.
    """
    try:
        reader = csv.reader(path.read_text(encoding="utf-8").splitlines())
        rows = [(reader.line_num, row) for row in reader if row]
    except (OSError, ValueError, csv.Error) as error:
        raise UsageError(f"--points {path}: {getattr(error, 'strerror', None) or error}; name a CSV file.") from error
    if len(rows) < 2:
        raise UsageError(f"--points {path} has no points; its first line names parameters, the others have their values.")
    names = [name.strip() for name in rows[0][1]]
    for number, name in enumerate(names):
        _require_name(name, names[:number])
    points = []
    for number, row in rows[1:]:
        where = f"--points {path}, line {number}"
        if len(row) != len(names):
            raise UsageError(f"{where} has {len(row)} values for {len(names)} names.")
        points.append(tuple((name, _whole(name, text, f"{where}: ")) for name, text in zip(names, row, strict=True)))
    return tuple(dict.fromkeys(points))


def _require_name(name: str, known: Sequence[str]) -> None:
    if not name.isidentifier() or len(name) > 64 or is_reserved(name):
        raise UsageError(f"a parameter cannot be called {name!r:.40}; use letters, as in -p n=100,1000.")
    if name in known:
        raise UsageError(f"the parameter {name!r} is named twice; give all its values at once, as in -p {name}=1,2,4.")


def _values(name: str, text: str) -> tuple[int, ...]:
    low, dots, high = text.partition("..")
    if not dots:
        return tuple(dict.fromkeys(_whole(name, word) for word in text.split(",")))
    first, last = _whole(name, low), _whole(name, high)
    if first > last:
        raise UsageError(f"-p {name}={text:.40}: the range ends before it begins; {_LIKE}.")
    doubled = [first * 2**k for k in range(64) if first * 2**k < last]
    return (*doubled, last)


def _whole(name: str, text: str, where: str = "") -> int:
    word = text.strip()
    if not (word.isascii() and word.isdecimal() and 0 < int(word[:20]) <= _LARGEST):
        way = "" if where else f"; {_LIKE}"
        raise UsageError(f"{where}{name} = {shortened(word) or 'nothing'}: whole numbers from 1 on are needed{way}.")
    return int(word)
