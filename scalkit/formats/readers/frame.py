"""pandas DataFrames as tables."""

from collections.abc import Sequence
from typing import Any

from scalkit.errors import DataError
from scalkit.formats.readers.observed import Found, Gathered
from scalkit.formats.readers.table import Table, gather, roles_of

_MOST_CELLS = 2**21


def read_frame(frame: Any, parameter: str | Sequence[str] | None = None, metric: str | None = None) -> Found:
    """Return the measurements in a DataFrame; levels of the index that have a name are columns, too.

    `parameter`: columns that are parameters although their name is that of a quantity.
    `metric`: the only column of values; by default all that look like such.
    Raises DataError if columns cannot be told apart, or cells hold no numbers where they should.
    """
    levels = [name for name in frame.index.names if name is not None]
    flat = frame.reset_index(level=levels) if levels else frame
    header = [" ".join(map(str, name)).strip() if isinstance(name, tuple) else str(name) for name in flat.columns]
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"the DataFrame has two columns {twice!r:.60}; give each column a name of its own.")
    if not len(flat) or not header:
        raise DataError("the DataFrame is empty; rows of measurements are needed.")
    if flat.size > _MOST_CELLS:
        raise DataError(f"the DataFrame has {flat.size} cells, up to {_MOST_CELLS} are read; leave out columns or rows.")
    columns = [_cells(flat.iloc[:, i]) for i in range(len(header))]
    rows = [(number, list(cells)) for number, cells in enumerate(zip(*columns, strict=True), 1)]
    table = Table("the DataFrame", tuple(header), rows)
    gathered = Gathered("the DataFrame")
    gather(table, roles_of(table, parameter, metric), gathered)
    return Found("pandas DataFrame", gathered.observed(), advice="a column with several values is needed, as in 'p' or 'n'")


def _cells(column: Any) -> list[str]:
    """Return the cells as text, so that numbers are as exact as they were."""
    return ["" if missing else str(cell) for cell, missing in zip(column.tolist(), column.isna().tolist(), strict=True)]
