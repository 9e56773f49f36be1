"""Sets of guidelines: the bundled ones, those in a user's TOML file, which guidelines.schema.json describes, and texts.

::

    title = "what I expect of my library"

    [[guidelines]]
    name = "bcast"                                     # tests of one name are one family
    relations = ["my_bcast <= my_scatter + my_allgather", "my_bcast ~ MPI_Bcast"]
    where.p = [64, 128]                                # only there; by default everywhere
    apart_from = ["buffers"]                           # a parameter in which the sides may differ
    meaning = "A broadcast is not slower than its two parts."

    [[guidelines]]
    name = "page size"
    relations = ["pages=huge <= pages=small"]          # levels of another parameter than the operation

    [[guidelines]]
    name = "more data"
    kind = "monotony"                                  # or "split"
    parameter = "size"
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from scalkit.errors import RuleError
from scalkit.guidelines.guideline import Guideline
from scalkit.schema_errors import place, schema_errors, schema_in
from scalkit.toml.lines import Path as EntryPath
from scalkit.toml.lines import lines_of
from scalkit.toml.tables import table_of

CATALOGUES = ("neighbourhood", "classic")
_MOST_BYTES = 1_000_000
_SCHEMA = Path(__file__).with_name("guidelines.schema.json")
GuidelineSource = str | Path | Guideline | Iterable["str | Path | Guideline"]


def guidelines(source: GuidelineSource = CATALOGUES) -> tuple[Guideline, ...]:
    """Return guidelines: from a text, the name of a bundled set, a TOML file, a `Guideline`, or several of these.

    Parameters
    ----------
    source : str, Path, Guideline, or an iterable of these
        A text has ``<=`` or ``~`` in it.

    Raises
    ------
    RuleError
        If one cannot be read, or there is none.

    Examples
    --------
    >>> [str(one) for one in guidelines(["MPI_Bcast <= MPI_Scatter + MPI_Allgather", "a ~ b"])]
    ['MPI_Bcast <= MPI_Scatter + MPI_Allgather', 'a ~ b']
    >>> sorted({one.name for one in guidelines("neighbourhood")}, key=lambda name: int(name[2:]))[-1]
    'GL12'
    """
    if isinstance(source, Guideline):
        return (source,)
    if isinstance(source, str) and ("<=" in source or "~" in source):
        return (Guideline.parse(source),)
    if isinstance(source, str | Path):
        return load_guidelines(source)
    if not isinstance(source, Iterable) or isinstance(source, bytes | Mapping):
        raise RuleError(
            f"guidelines cannot come from {type(source).__name__}; give texts, a TOML file, or one of {', '.join(CATALOGUES)}."
        )
    found = tuple(one for part in source for one in guidelines(part))
    if not found:
        raise RuleError(f"there is no guideline; give texts, a TOML file, or one of {', '.join(CATALOGUES)}.")
    return found


def load_guidelines(source: str | Path) -> tuple[Guideline, ...]:
    """Return a bundled set (``"neighbourhood"``: GL1 to GL12; ``"classic"``) or the one in a TOML file.

    Raises
    ------
    RuleError
        If the file cannot be read, is not TOML, or an entry is wrong; the text names the file, the line and the value.
    """
    if source in CATALOGUES:
        file = resources.files("scalkit.guidelines").joinpath(f"catalogues/{source}.toml")
        return _from_text(file.read_text(encoding="utf-8"), str(source))
    try:
        with Path(source).open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        text = content.decode("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file in UTF-8"
        raise RuleError(
            f"cannot read the guidelines {str(source)!r}: {reason}. Give a TOML file, one of {', '.join(CATALOGUES)}, or a "
            "text such as 'MPI_Gather <= MPI_Allgather'."
        ) from error
    if len(content) > _MOST_BYTES:
        raise RuleError(f"{source} is larger than {_MOST_BYTES} bytes; split it into several files.")
    return _from_text(text, str(source))


def _from_text(text: str, name: str) -> tuple[Guideline, ...]:
    table = table_of(text, name, RuleError)
    lines = lines_of(text)
    errors = schema_errors(table, schema_in(_SCHEMA), lines, name)
    found: list[Guideline] = []
    if not errors:
        for number, entry in enumerate(table["guidelines"]):
            try:
                found += _of_entry(entry, ("guidelines", number))
            except _EntryError as wrong:
                errors.append(f"{place(name, wrong.path, lines)}: {wrong}")
    if errors:
        raise RuleError("\n".join(errors))
    return tuple(found)


class _EntryError(Exception):
    def __init__(self, path: EntryPath, text: str) -> None:
        super().__init__(text)
        self.path = path


def _of_entry(entry: Mapping[str, Any], path: EntryPath) -> Iterator[Guideline]:
    name, kind = entry["name"], entry.get("kind", "levels")
    common: dict[str, Any] = {
        "name": name,
        "where": {
            key: tuple(str(int(v)) if v in (True, False) else str(v) for v in levels)
            for key, levels in entry.get("where", {}).items()
        },
        "apart_from": tuple(entry.get("apart_from", ())),
        "meaning": entry.get("meaning", ""),
        "metarule": entry.get("metarule"),
        "published": entry.get("published", ""),
    }
    if kind != "levels":
        if "relations" in entry:
            raise _EntryError((*path, "relations"), f"'{name}' is of kind {kind}, which has no relations; leave them out.")
        yield Guideline(parameter=entry.get("parameter", "size"), kind=kind, **common)
        return
    if "relations" not in entry:
        raise _EntryError(path, f"'{name}' has no relations; add them, as in relations = [\"MPI_Gather <= MPI_Allgather\"].")
    for number, text in enumerate(entry["relations"]):
        try:
            yield Guideline.parse(text, entry.get("parameter"), **common)
        except RuleError as error:
            raise _EntryError((*path, "relations", number), str(error)) from error
