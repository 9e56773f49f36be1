"""What is reported, made ready for the notebook's process: absolute paths, and files for what is in memory."""

import ast
import difflib
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import xarray as xr

from scalkit import measure
from scalkit.bundled import bundled, here_or_bundled
from scalkit.errors import UsageError
from scalkit.extras import require
from scalkit.schema_errors import load_jsonschema
from scalkit.session import Session
from scalkit.session.file import FORMAT
from scalkit.session.plain import plain_set, set_from_plain
from scalkit.text import did_you_mean
from scalkit.validation import ExpectationSet
from scalkit.validation.catalogue import CATALOGUES, expectation_set

DEFAULT = "report"


@dataclass(frozen=True)
class TemplateParameter:
    """A parameter of a template.

    `name`, `type`: as declared in the notebook, such as ``runs`` and ``list``.
    `default`: as Python.
    `help`: the remark beside it.
    """

    name: str
    type: str
    default: str
    help: str


@dataclass(frozen=True)
class Template:
    """A notebook that papermill runs to make a report. `name`: as for ``scalkit report --template``."""

    name: str
    path: Path

    @property
    def purpose(self) -> str:
        """What its reports show, in one line: the heading of its first cell."""
        cells = json.loads(self.path.read_text(encoding="utf-8"))["cells"]
        return "".join(cells[0]["source"]).splitlines()[0].removeprefix("# ").strip()

    @property
    def parameters(self) -> tuple[TemplateParameter, ...]:
        """What stands in the cell tagged ``parameters``, as papermill reads it."""
        require("report")
        load_jsonschema()
        import papermill

        found = papermill.inspect_notebook(str(self.path))
        return tuple(
            TemplateParameter(name, one["inferred_type_name"], one["default"], one["help"]) for name, one in found.items()
        )


def templates() -> tuple[Template, ...]:
    """Return all templates of `scalkit report`, in the order of their file names."""
    found = sorted(bundled("notebooks").glob("9[0-2]_*.ipynb"))
    return tuple(Template(path.stem.partition("_")[2], path) for path in found)


def named_template(name: str) -> Template:
    """Return the template of this name. Raises UsageError if there is none."""
    known = {one.name: one for one in templates()}
    if name in known:
        return known[name]
    if name == "guidelines":
        raise UsageError("a report about guidelines is written by 'scalkit guidelines SOURCE --report FILE'.")
    raise UsageError(f"there is no template {name!r:.60} of a report; choose from {', '.join(known)}.{did_you_mean(name, known)}")


_INJECTED = "# Parameters\n"
"""Begin of the cell that papermill puts behind that of the defaults."""


def listed(value: Any) -> list[Any]:
    """Return a list; a text or a path, as ``papermill -p runs PATH`` passes it, is its only member."""
    return [value] if isinstance(value, str | os.PathLike) else list(value)


def require_known_parameters(cells: Sequence[str] | None = None) -> None:
    """Return nothing if what papermill injected into this notebook has names that the cells before it assign.

    `cells`: sources in order of execution; by default those of this IPython, if it is one.
    Raises UsageError, naming the first parameter that is unknown.
    """
    if cells is None:
        cells = list(getattr(sys.modules.get("__main__"), "In", []))
    known: set[str] = set()
    for cell in cells:
        names = _assigned(cell)
        if cell.startswith(_INJECTED):
            for name in names:
                if known and name not in known:
                    near = difflib.get_close_matches(name, known, 1)
                    hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(known))}."
                    raise UsageError(f"this notebook has no parameter {name!r}; {hint}")
            return
        known |= set(names)


def _assigned(cell: str) -> list[str]:
    try:
        body = ast.parse(cell).body
    except (SyntaxError, ValueError):  # a magic command
        return []
    targets = [t for one in body for t in (one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)])]
    return [target.id for target in targets if isinstance(target, ast.Name)]


_MEMORY = "data in memory"


@dataclass(frozen=True)
class Input:
    """One data set.

    `paths`: absolute; of a session one file, which holds its measurements.
    `named`: how a report names it.
    `is_in_memory`: whether no file holds the measurements.
    `label`: given by the user; empty if not.
    """

    paths: tuple[str, ...]
    named: tuple[str, ...]
    is_in_memory: bool = False
    is_session: bool = False
    label: str = ""


def input_of(source: object, folder: Path, stem: str = "measurements", label: str = "") -> Input:
    """Return one data set; what is in memory is written into a folder.

    `source`: a path may be that of a session or of a report.
    `folder`: for files.
    `stem`: name of a file there.
    `label`: kept as it is.
    Raises UsageError if it is something else; ScalkitError if a session cannot be opened.
    """
    if isinstance(source, xr.Dataset):
        path = _place(folder, f"{stem}.nc")
        measure.write_netcdf(source, path)
        return Input((str(path),), (str(source.attrs.get("source", "") or _MEMORY),), True, label=label)
    if isinstance(source, Session):
        return _session(source, folder, stem, (source.source,), label, is_in_memory=True)
    given = (source,) if isinstance(source, str | os.PathLike) else source
    if not isinstance(given, Sequence) or not all(isinstance(one, str | os.PathLike) for one in given):
        raise UsageError(
            f"a report is about measurements, their paths or a session, got {type(source).__name__}; read them with "
            "scalkit.read, or name a run folder."
        )
    named = tuple(os.fspath(path) for path in given)
    if len(given) == 1 and kind_of(given[0]) == "session":
        return _session(Session.load(given[0]), folder, stem, named, label)
    return Input(tuple(str(here_or_bundled(Path(path)).absolute()) for path in given), named, label=label)


def inputs_of(source: object, labels: Sequence[str], folder: Path) -> list[Input]:
    """Return the data sets to stand side by side.

    `source`: each as for `input_of`.
    `labels`: one for each, or none at all; a mapping has its own.
    `folder`: for files.
    Raises UsageError if there are fewer than two, or another number of labels.
    """
    if isinstance(source, Mapping) and not isinstance(source, xr.Dataset):
        if labels:
            raise UsageError("the data sets to compare have labels already; leave 'labels' out.")
        labels, sets = [str(label) for label in source], list(source.values())
    else:
        sets = list(source) if isinstance(source, Sequence) and not isinstance(source, str | bytes) else [source]
    if len(sets) < 2:
        raise UsageError(f"to compare, two data sets are needed, got {len(sets)}; name a run folder for each column.")
    if labels and len(labels) != len(sets):
        raise UsageError(f"there are {len(sets)} data sets and {len(labels)} labels; give one label for each, or none.")
    if len(set(labels)) != len(labels):
        raise UsageError(f"the labels {', '.join(labels)} are not all different; give each data set its own.")
    return [
        input_of(one, folder, f"measurements-{number}", labels[number - 1] if labels else "")
        for number, one in enumerate(sets, 1)
    ]


def checked_targets(targets: Sequence[float] | float) -> list[float]:
    """Return values of the parameter to predict at. Raises UsageError if one is not positive or not finite."""
    given = [targets] if isinstance(targets, int | float) else list(targets)
    for x in given:
        if not (math.isfinite(x) and x > 0):
            raise UsageError(f"a target to predict at is {x!r}; a positive value of the parameter is needed.")
    return [float(x) for x in given]


def named_parameters(text: str) -> str | list[str] | None:
    """Return what `scalkit.read` takes: the parameter that a text names, or all of those between commas; None for none."""
    names = [part.strip() for part in text.split(",")] if text else []
    return names if len(names) > 1 else names[0] if names else None


def _session(
    session: Session, folder: Path, stem: str, named: tuple[str, ...], label: str, *, is_in_memory: bool = False
) -> Input:
    """Return a session as a file that holds its measurements, too: its own paths count from another folder."""
    path = _place(folder, f"{stem}.json")
    session.save(path, with_data=True)
    return Input((str(path),), named, is_in_memory, is_session=True, label=label)


def _place(folder: Path, name: str) -> Path:
    """Return a path in a folder whose name is always the same: measurements say it where they say their files."""
    place = folder / "memory"
    place.mkdir(exist_ok=True)
    return place / name


def to_plain(source: object) -> str | dict[str, Any]:
    """Return expectations as JSON values.

    `source`: whatever `scalkit.validate` takes; None is the bundled catalogue ``"mpi"``.
    Returns: the name of a catalogue or the absolute path of a file; otherwise a mapping that `from_plain` reads.
    Raises ExpectationError if a mapping cannot be read.
    """
    if source is None:
        return "mpi"
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        return text if text in CATALOGUES else str(Path(text).absolute())
    return plain_set(expectation_set(source))


def from_plain(source: str | Mapping[str, Any]) -> ExpectationSet:
    """Return the expectations that `to_plain` wrote. Raises ExpectationError if a file cannot be read."""
    if isinstance(source, str):
        return expectation_set(source)
    return set_from_plain(source)


Kind = Literal["measurements", "session", "baseline"]

_LARGEST = 200_000_000


def kind_of(path: str | Path) -> Kind:
    """Return what a path holds, by content; whatever is unknown counts as measurements, whose reader says what is wrong.

    A page in HTML counts as a session: a report has one inside.
    """
    try:
        with Path(path).open("rb") as file:
            head = file.read(64).lstrip()
            if head.startswith(b"<"):
                return "session"
            if not head.startswith(b"{") or head.startswith(b'{"rec":'):
                return "measurements"
            file.seek(0)
            table = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return "measurements"
    if table.get("format") == FORMAT:
        return "session"
    return "baseline" if "entries" in table and "statistic" in table else "measurements"
