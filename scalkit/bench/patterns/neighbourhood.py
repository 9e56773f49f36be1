"""The experiments of a campaign on neighbourhood collectives: tables of factors become rows, rows a table for one launch."""

import csv
import io
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from scalkit.bench.arguments import DATATYPES, table_of
from scalkit.errors import UsageError
from scalkit.support.native import sources
from scalkit.support.schema_errors import hint
from scalkit.support.text import shortened

Row = Mapping[str, str]

COLUMNS = tuple("operation size datatype work topology n_dim n_finite radius order constructor reorder repetitions p".split())
"""Factors, as columns of the table that sk_neighbours reads; with these last two everything can be combined."""

MOST_ROWS = 1_000_000
_ALL, _EACH = "all", "each"
_ORDERS = {"cart": (), "vonneumann": ("fmaj", "lmaj", "rand"), "full": ("linear", "rand")}
_ORDERS["moore"] = _ORDERS["vonneumann"]
_CONSTRUCTORS = ("MPI_Dist_graph_create", "MPI_Dist_graph_create_adjacent")
_WORDS: dict[str, tuple[str, ...]] = {
    "datatype": tuple(DATATYPES),
    "topology": tuple(_ORDERS),
    "order": ("fmaj", "lmaj", "rand", "linear"),
    "constructor": _CONSTRUCTORS,
    "reorder": ("0", "1"),
}
_LEAST = {"size": 1, "work": 0, "n_dim": 1, "radius": 1, "repetitions": 1, "p": 1}


def operations_of_neighbourhoods() -> tuple[str, ...]:
    """Return the operations that sk_neighbours measures, in the order of its table.

    Raises BuildError if the sources are not there.
    """
    text = table_of(sources("microbench"), "nbh/operations.def")
    return tuple(re.findall(r'^SK_NBH\(\w+, "([^"]+)"', text, re.MULTILINE))


def experiments(design: Sequence[Mapping[str, Any]], counts: Iterable[int] = ()) -> tuple[Row, ...]:
    """Return the rows of a design, each once. A row is one experiment, without columns it lacks.

    `design`: mappings from names of `COLUMNS` to a value or a list of values, as in
    ``{"operation": "MPI_Neighbor_alltoall", "topology": "moore", "n_dim": [1, 2], ...}``. Each
    stands for all combinations of its values. Factors that a topology or an operation does not
    have, such as the order of neighbours in a Cartesian topology, are left out of its rows.
    Orders that it does not support are skipped.
    `counts`: numbers of processes of the campaign.
    Raises UsageError if a name or value is unknown, nothing is left, or a row is for a number of processes that is
    not in `counts`.
    """
    known = operations_of_neighbourhoods()
    rows: dict[tuple[str, ...], Row] = {}
    for factors in design:
        before = len(rows)
        for row in _rows(_as_texts(factors), known):
            rows.setdefault(tuple(row.get(name, "") for name in COLUMNS), row)
            if len(rows) > MOST_ROWS:
                raise UsageError(f"experiments {_shown(factors)} make more than {MOST_ROWS} rows; name fewer values.")
        if len(rows) == before:
            raise UsageError(f"experiments {_shown(factors)} make no row that the others do not; change or drop them.")
    _require_deployment(rows.values(), tuple(counts))
    return tuple(rows.values())


def table_text(rows: Sequence[Row], p: int, seed: int) -> str:
    """Return the CSV table of one launch: the experiments for `p` processes, numbered, in an order drawn from `seed`."""
    numbered = [(number, row) for number, row in enumerate(rows) if row.get("p", str(p)) == str(p)]
    random.Random(seed).shuffle(numbered)
    used = [name for name in COLUMNS if any(name in row for row in rows)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["experiment", *used])
    writer.writerows([number, *(row.get(name, "") for name in used)] for number, row in numbered)
    return stream.getvalue()


def _as_texts(factors: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the values of each factor in the notation of the table."""
    for name in factors:
        if name not in COLUMNS:
            near = hint(name, COLUMNS)
            raise UsageError(f"experiments: {name!r:.60} is no factor{near}; factors are {', '.join(COLUMNS)}.")
    if "operation" not in factors:
        raise UsageError(f"experiments {_shown(factors)} name no operation; add one, such as MPI_Neighbor_alltoall.")
    listed = {name: value if isinstance(value, list | tuple) else [value] for name, value in factors.items()}
    return {name: [str(int(one) if isinstance(one, bool) else one) for one in values] for name, values in listed.items()}


def _shown(factors: Mapping[str, Any]) -> str:
    return shortened(", ".join(f"{name} = {value!r}" for name, value in factors.items()), 200)


def _rows(factors: Mapping[str, list[str]], known: Sequence[str]) -> Iterator[Row]:
    for name, values in factors.items():
        for value in values:
            _require_value(name, value, known)
    for operation in factors["operation"]:
        yield from _of_operation(operation, factors)


def _require_value(name: str, value: str, known: Sequence[str]) -> None:
    allowed = known if name == "operation" else _WORDS.get(name)
    if allowed is not None:
        if value not in allowed:
            raise UsageError(
                f"experiments: the {name} {value!r} is unknown{hint(value, allowed)}; choose from {', '.join(allowed)}."
            )
        return
    least = _LEAST.get(name, 0)
    if name == "n_finite" and value in (_ALL, _EACH):
        return
    if not re.fullmatch(r"\d{1,18}", value) or int(value) < least:
        more = f", {_ALL!r} or {_EACH!r}" if name == "n_finite" else ""
        raise UsageError(f"experiments: {name} is {value!r}; a whole number from {least} on{more} is needed.")


def _of_operation(operation: str, factors: Mapping[str, list[str]]) -> Iterator[Row]:
    """Yield the rows of one operation: of every topology that it goes with."""
    is_made = operation.endswith(("_create", "_create_adjacent"))
    own = {"repetitions", "p"}
    if operation == "work":
        yield from _combined(operation, factors, own | {"work"})
        return
    own |= set() if is_made else {"size", "datatype"}
    if "eighbor" not in operation and not is_made:
        yield from _combined(operation, {**factors, "topology": ["full"]}, own | {"topology"})
        return
    own |= {"work"} if "Ineighbor" in operation and "work" in factors else set()
    for topology in factors.get("topology", [""]):
        if not topology:
            raise UsageError(f"experiments: {operation} needs a topology; choose from {', '.join(_ORDERS)}.")
        if is_made and (topology == "cart") != (operation == "MPI_Cart_create"):
            continue
        here = {**factors, "topology": [topology]}
        names = own | {"topology", "reorder"}
        names |= set() if topology == "full" else {"n_dim", "n_finite"}
        names |= {"radius"} if topology in ("moore", "vonneumann") else set()
        if topology != "cart":
            names |= {"order"} | (set() if is_made else {"constructor"})
            here["order"] = [one for one in factors.get("order", []) if one in _ORDERS[topology]]
            if not here["order"]:
                raise UsageError(
                    f"experiments: the topology {topology} needs an order; choose from {', '.join(_ORDERS[topology])}."
                )
        yield from _combined(operation, here, names)


def _combined(operation: str, factors: Mapping[str, list[str]], names: set[str]) -> Iterator[Row]:
    """Yield all combinations of these factors."""
    lacking = next((name for name in ("size", "work", "n_dim", "radius") if name in names - {*factors}), None)
    if lacking:
        raise UsageError(f"experiments: {operation} needs {lacking}; name a value.")
    used = [name for name in COLUMNS if name in names and name in factors]
    for values in product(*(factors[name] for name in used)):
        row = dict(zip(used, values, strict=True))
        n_dim = int(row.get("n_dim", 0))
        finite = row.get("n_finite", "0")
        choices = [str(n_dim)] if finite == _ALL else map(str, range(n_dim + 1)) if finite == _EACH else [finite]
        for one in choices:
            if int(one) > n_dim:
                continue
            kept = {"n_finite": one} if "n_finite" in row else {}
            _require_whole(row)
            yield {"operation": operation, **row, **kept}


def _require_whole(row: Row) -> None:
    width = DATATYPES[row.get("datatype", "byte")]
    if int(row.get("size", "0")) % width:
        raise UsageError(
            f"experiments: size {row['size']} is no multiple of the {width} B of datatype {row['datatype']!r}; change one."
        )


def _require_deployment(rows: Iterable[Row], counts: Sequence[int]) -> None:
    """Return nothing if there are processes for every row, and rows for every number of processes."""
    given = {int(row["p"]) for row in rows if "p" in row}
    for p in sorted(given - set(counts)) if counts else ():
        raise UsageError(
            f"experiments: p is {p} in some rows, and processes are {', '.join(map(str, counts))}; add it, or drop the rows."
        )
    free = any("p" not in row for row in rows)
    for p in () if free else counts:
        if p not in given:
            raise UsageError(f"experiments: no row is for {p} processes; add some, or leave {p} out of processes.")
