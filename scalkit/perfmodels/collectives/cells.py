"""Times of a collective operation over message sizes and numbers of processes, taken out of a Dataset."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from scalkit.errors import DataError, UsageError
from scalkit.perfmodels.collectives.model import OPERATIONS
from scalkit.support.arguments import require_kind, require_text
from scalkit.support.arrays import Floats, floats_of
from scalkit.support.text import brief
from scalkit.support.toml.tables import table_beside

_KNOWN = table_beside(__file__, "functions.toml")
FUNCTIONS: Mapping[str, str] = {name: one["operation"] for name, one in _KNOWN.items()}
"""The operation behind each function of MPI whose size has the meaning of `scalkit.perfmodels.collectives.model`."""

_PROCESSES = ("p", "P")


@dataclass(frozen=True, eq=False)
class Cells:
    """What was measured of one operation.

    Attributes
    ----------
    operation : str
        See `scalkit.perfmodels.collectives.model`.
    function : str
        As in the Dataset.
    S : ndarray of shape (cells,), in B
    P : ndarray of shape (cells,)
        Numbers of processes.
    times : ndarray of shape (cells, replicates), in s
        Of the runs, or the repetitions of an only run; NaN where there is none.
    simulated : bool
        Whether a simulator computed them.
    caveats : tuple of str
        What a reader should know, in plain words.
    crowded : ndarray of bool, shape (cells,)
        Where there were more processes than cores: the scheduler decides such times, too.
    virtual : bool
        Whether they are times of a virtual clock.
    """

    operation: str
    function: str
    S: Floats
    P: Floats
    times: Floats
    simulated: bool = False
    caveats: tuple[str, ...] = ()
    crowded: Any = False
    virtual: bool = False

    def __post_init__(self) -> None:
        for name in ("S", "P", "times"):
            object.__setattr__(self, name, np.atleast_1d(floats_of(getattr(self, name), name)))
        if not len(self.S) or not len(self.S) == len(self.P) == len(self.times):
            raise DataError(f"there must be S, P and times of each cell, got {len(self.S)}, {len(self.P)} and {len(self.times)}.")
        object.__setattr__(self, "times", self.times.reshape(len(self.times), -1))
        if np.shape(self.crowded) not in ((), self.S.shape):
            raise DataError(f"crowded is {brief(self.crowded)}; give a flag for each cell.")
        object.__setattr__(self, "crowded", np.broadcast_to(np.asarray(self.crowded, dtype=bool), self.S.shape))
        if self.operation not in OPERATIONS:
            raise UsageError(
                f"there are no models of the operation {self.operation!r:.40}; choose one of {', '.join(OPERATIONS)}."
            )

    @property
    def origin(self) -> str:
        """``"simulated"``, ``"in virtual time"`` or ``"measured"``."""
        return "in virtual time" if self.virtual else "simulated" if self.simulated else "measured"

    @property
    def title(self) -> str:
        """Of an axis of these times: ``"run time"``, with what they are if they were not measured by a real clock."""
        return "run time, virtual" if self.virtual else "run time, simulated" if self.simulated else "run time"

    @property
    def time(self) -> Floats:
        """Median of the replicates, in s."""
        return np.asarray(np.nanmedian(self.times, axis=1))

    @property
    def sizes(self) -> Floats:
        """The different sizes, ascending, in B."""
        return np.unique(self.S)

    @property
    def processes(self) -> Floats:
        """The different numbers of processes, ascending."""
        return np.unique(self.P)

    @property
    def at(self) -> dict[str, Floats]:
        """Where the cells are, as models take it."""
        return {"P": self.P} | ({} if self.operation == "barrier" else {"S": self.S})

    def where(self, chosen: Any) -> "Cells":
        """Return the cells that a mask of shape (cells,) chooses. Raises DataError if there is none."""
        mask = floats_of(chosen, "the mask") != 0
        if mask.shape != self.S.shape:
            raise UsageError(f"the mask is {brief(chosen)}; give a flag for each cell.")
        fields = {name: getattr(self, name)[mask] for name in ("S", "P", "times", "crowded")}
        return replace(self, **fields)

    def __len__(self) -> int:
        return len(self.S)

    def __repr__(self) -> str:
        said = "" if self.origin == "measured" else f", {self.origin}"
        return f"Cells({self.function!r}: {len(self.sizes)} sizes, {len(self.processes)} numbers of processes{said})"


def cells_of(data: xr.Dataset, function: str, operation: str = "") -> Cells:
    """Return the run times of one function over message sizes and numbers of processes.

    Parameters
    ----------
    data : xarray.Dataset
        Over the number of processes, ``p`` or ``P``, and the message size, as ``sk.read(..., parameter=["p", "S"])`` returns it;
        or over processes alone, with one message size.
    function : str
        Such as ``"MPI_Bcast"``.
    operation : str
        What it is, for functions that are none of MPI; found by name otherwise.

    Raises
    ------
    DataError
        If the function has no run times, or there are other parameters.
    UsageError
        If its operation is unknown.
    """
    from scalkit.measure.reduce import series
    from scalkit.measure.schema import parameters_of
    from scalkit.measure.several import several_series

    require_kind(data, xr.Dataset, "the data", "give what sk.read returns")
    require_text(function, "the function")
    operation = operation or FUNCTIONS.get(function, "")
    if not operation:
        raise UsageError(
            f"the operation behind {function!r:.60} is unknown; name one of {', '.join(OPERATIONS)}, or choose one of "
            f"{', '.join(FUNCTIONS)}."
        )
    names = parameters_of(data)
    processes = next((name for name in names if name in _PROCESSES), None)
    if processes is None or len(names) > 2:
        raise DataError(
            f"the data are over {', '.join(names) or 'nothing'}; models of collective operations need them over processes, p, "
            "and the message size: read them with parameter=['p', 'S']."
        )
    found: Any = several_series(data) if len(names) == 2 else series(data)
    known = [one for one in found if one.metric == "time"]
    mine = next((one for one in known if one.function == function), None)
    if mine is None:
        there = ", ".join(dict.fromkeys(one.function for one in known)) or "none"
        raise DataError(f"there are no run times of {function!r:.60}; there are those of {there}.")
    caveats = tuple(mine.caveats)
    if len(names) == 1:
        size = np.full(len(mine.x), float(data.attrs.get("message_size_B", 0) or 0))
        crowded = _crowded(data, processes, "", mine.x, size)
        return Cells(operation, function, size, mine.x, mine.replicates, mine.simulated, caveats, crowded, mine.virtual)
    column = names.index(processes)
    counts, sizes = mine.points[:, column], mine.points[:, 1 - column]
    return Cells(
        operation,
        function,
        sizes,
        counts,
        mine.replicates,
        mine.simulated,
        caveats,
        _crowded(data, processes, names[1 - column], counts, sizes),
        mine.virtual,
    )


def _crowded(data: xr.Dataset, processes: str, size: str, P: Floats, S: Floats) -> Any:
    """Return in which cells there were more processes than cores, as the run files say."""
    if "oversubscribed" not in data.coords:
        return False
    known = data["oversubscribed"]
    at = {processes: P, size: S}
    dims = [str(name) for name in known.dims]
    if not set(dims) <= set(at):
        return False
    places = tuple(np.searchsorted(data[name].values, at[name]) for name in dims)
    return known.values.astype(bool)[places]
