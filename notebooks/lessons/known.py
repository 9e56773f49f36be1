"""Times of collective operations with known algorithms, and of messages on the same machine.

A file is a table with the columns ``operation,algorithm,P,S,time_s`` below remarks that begin with ``#``. The operation
``message`` holds the times of messages, ``gap`` the time from one message to the next, both at ``P = 2``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from scalkit.errors import DataError
from scalkit.measure import combine, measurements
from scalkit.perfmodels.collectives.cells import Cells
from scalkit.perfmodels.collectives.identify import OTHER, identify
from scalkit.perfmodels.collectives.model import collective, same_messages
from scalkit.perfmodels.files.card import model_table
from scalkit.perfmodels.fits.messages import fit_messages
from scalkit.perfmodels.models.point_to_point import PointToPoint
from scalkit.support.arrays import Flags, Floats
from scalkit.support.toml.writer import to_toml

IDENTIFIED = ("message", "gap")
_COLUMNS = ["operation", "algorithm", "P", "S", "time_s"]


@dataclass(frozen=True)
class Tried:
    """Results of models on the cells of one operation by one algorithm.

    `S`, `P` of shape (cells,).
    `time` of shape (cells,), in s.
    `predicted` of shape (cells,), in s: from messages alone; NaN where the model does not hold.
    `identified`: the algorithms that `identify` names in each cell.
    `likeliest`: the most probable of these.
    """

    operation: str
    algorithm: str
    S: Floats
    P: Floats
    time: Floats
    predicted: Floats
    identified: tuple[tuple[str, ...], ...]
    likeliest: tuple[str, ...]

    @property
    def right(self) -> Flags:
        """Whether the algorithm is among those named, which predict the same within 1 %."""
        return np.array([self.algorithm in names for names in self.identified])

    @property
    def right_alone(self) -> Flags:
        """Whether the most probable one is the algorithm, or sends the same messages; see `same_messages`."""
        return np.array(
            [
                name != OTHER and same_messages(self.operation, self.algorithm, name, P, S)
                for name, P, S in zip(self.likeliest, self.P.tolist(), self.S.tolist(), strict=True)
            ]
        )

    @property
    def errors(self) -> Floats:
        """Relative errors of the finite predictions."""
        found = np.abs(self.predicted / self.time - 1)
        return np.asarray(found[np.isfinite(found)])


@dataclass(frozen=True, eq=False)
class KnownAlgorithms:
    """Content of a file of known algorithms, as `read_known` returns it.

    `name`: of the file. `remark`: its first line, without the ``#``.
    `tables` of shape (cells, 3): P, S in B, and the time in s.
    """

    name: str
    remark: str
    tables: Mapping[tuple[str, str], Floats]

    @property
    def simulated(self) -> bool:
        """Whether the first line says that a simulator computed them."""
        return "simulated" in self.remark.lower()

    @property
    def machine(self) -> str:
        """The simulated or measured machine, from the first line."""
        return self.remark.partition(": ")[2].partition(";")[0] or self.name

    @cached_property
    def message(self) -> PointToPoint:
        """The model of a message, fitted to messages alone."""
        parts = []
        for what in IDENTIFIED:
            (table,) = (one for key, one in self.tables.items() if key[0] == what)
            parts.append(fit_messages(table[:, 1], table[:, 2]).point_to_point(beyond=True, name=f"{self.name}, {what}"))
        time, gap = parts
        return PointToPoint(time.time, gap.time, name=self.machine, source=f"fitted to messages, {self.remark}")

    def cells(self, operation: str, algorithm: str) -> Cells:
        """Return the cells of one operation by one algorithm. Raises DataError if there are none."""
        table = self.tables.get((operation, algorithm))
        if table is None or operation in IDENTIFIED:
            raise DataError(f"'{self.name}' has no {operation!r:.40} by {algorithm!r:.40}; it has {', '.join(self.names)}.")
        return Cells(operation, f"{operation}, {algorithm}", table[:, 1], table[:, 0], table[:, 2:], self.simulated)

    def dataset(self, chosen: Mapping[str, tuple[str, str]]) -> xr.Dataset:
        """Return cells as a Dataset over processes and sizes, as `scalkit.validate` takes it.

        `chosen`: for example ``{"MPI_Bcast": ("broadcast", "binomial")}``.
        Raises DataError if there are none.
        """
        parts = []
        for function, (operation, algorithm) in chosen.items():
            cells = self.cells(operation, algorithm)
            points = np.column_stack([cells.P, cells.S])
            parts.append(measurements(points, cells.times, ["p", "S"], name=function))
        told = {"title": self.machine, "simulated": int(self.simulated)}
        return combine([part.assign_attrs(told) for part in parts])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the operations and algorithms, as in ``"broadcast by binomial"``."""
        return tuple(f"{operation} by {name}" for operation, name in self.tables if operation not in IDENTIFIED)

    def tried(self) -> Iterator[Tried]:
        """Yield the results of the models for each operation and algorithm."""
        for operation, name in self.tables:
            if operation in IDENTIFIED:
                continue
            cells = self.cells(operation, name)
            found = identify(cells, self.message)
            predicted = collective(operation, name, self.message)(outside="nan", **cells.at)
            named, likeliest = zip(*((one.algorithms, one.likeliest) for one in found.cells), strict=True)
            yield Tried(operation, name, cells.S, cells.P, cells.time, predicted, named, likeliest)

    def catalogue(self) -> str:
        """Return the model of a message as a catalogue in TOML, which `scalkit.perfmodels.read_models` reads."""
        message = self.message
        models = {"message": model_table(message.time)} | ({} if message.gap is None else {"gap": model_table(message.gap)})
        head = "# Simulated, not measured.\n" if self.simulated else ""
        return head + to_toml({"name": message.name, "source": message.source, "models": models})


def read_known(path: str | Path) -> KnownAlgorithms:
    """Return times of collective operations whose algorithms are known.

    Raises DataError if the file has other columns.
    """
    file = Path(path)
    with file.open(encoding="utf-8") as lines:
        remark = lines.readline().lstrip("# ").rstrip()
    frame = pd.read_csv(file, comment="#")
    if list(frame.columns) != _COLUMNS:
        raise DataError(f"{file} has no table with the columns {','.join(_COLUMNS)}; name a file of known algorithms.")
    groups = frame.groupby(_COLUMNS[:2], sort=False)
    return KnownAlgorithms(file.stem, remark, {key: part[_COLUMNS[2:]].to_numpy(float) for key, part in groups})
