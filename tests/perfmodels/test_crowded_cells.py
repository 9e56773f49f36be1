"""With more processes than cores the scheduler decides times, too: what is said of them is said apart."""

from __future__ import annotations

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import DataError
from scalkit.perfmodels import ExactModel, PointToPoint, cells_of
from scalkit.perfmodels.collectives.study import held_out, study
from scalkit.perfmodels.files.sources import message_of
from scalkit.reports import bundled

MEASURED = {"mpich": "mpich-5.0.2", "openmpi": "openmpi-5.0.11"}


@pytest.mark.parametrize("library", MEASURED)
def test_real_libraries_are_studied(library: str) -> None:
    """Measured on two cores: 6 x 6 settings of six operations."""
    data = sk.read(str(bundled(f"data/models/collectives-{library}.nc")))
    assert data.attrs["simulated"] == 0
    assert bool(data["verified"].all())
    cells = cells_of(data, "MPI_Bcast")
    assert (len(cells.sizes), len(cells.processes), len(cells)) == (6, 6, 36)
    assert (cells.crowded == (cells.P > 2)).all()
    assert not cells.where(cells.P <= 2).crowded.any()
    message = message_of(bundled(f"data/models/{MEASURED[library]}.toml"))
    (one,) = study(data, message, ["MPI_Bcast"])
    assert one.predicted is not None
    assert one.predicted is not None
    assert one.predicted.alone is not None
    assert one.predicted.alone.cells.processes.tolist() == [2]
    assert one.in_context is not None
    own = one.in_context.cells.P == 2
    errors = np.abs(one.in_context.predicted / one.in_context.cells.time - 1)[own]
    assert np.median(errors) < 0.15  # 30 % with MPICH from messages alone
    said = " ".join(one.sentences)
    assert "With two constants of each algorithm from its own runs at the other sizes: 18 of 18 cells predicted" in said
    assert "Of these, with a core for each process: 3 of 3 cells predicted, median error" in said
    assert "slower than predicted with more processes than cores, which proves nothing." in said
    assert "P = 16, S = 512 KiB" not in said


@pytest.mark.parametrize(("library", "alone", "in_context"), [("mpich", 0.41, 0.11), ("openmpi", 0.17, 0.18)])
def test_two_constants_make_up_for_shared_memory_between_two_processes(library: str, alone: float, in_context: float) -> None:
    data = sk.read(str(bundled(f"data/models/collectives-{library}.nc")))
    studied = study(data, message_of(bundled(f"data/models/{MEASURED[library]}.toml")))
    for name, median in (("predicted", alone), ("in_context", in_context)):
        held = [one for one in (getattr(function, name) for function in studied) if one is not None]
        errors = np.concatenate([np.abs(one.predicted / one.cells.time - 1)[one.cells.P == 2] for one in held])
        assert len(errors) == 15
        assert round(float(np.nanmedian(errors)), 2) == median


def test_both_parameters_are_validated_on_what_was_measured() -> None:
    """An expectation over S and p on 6 x 6 settings of a real library."""
    data = sk.read(str(bundled("data/models/collectives-mpich.nc")))
    verdict = sk.validate(data, {"MPI_Alltoall": "S*p"})["MPI_Alltoall"]
    assert set(verdict.along) == {"p", "S"}
    assert any("more processes than cores" in text for text in verdict.series.caveats)


def test_one_parameter_has_crowded_cells_too() -> None:
    data = sk.read(str(bundled("data/libraries-times/mpich-5.0.2")))
    cells = cells_of(data, "MPI_Barrier")
    assert (cells.crowded == (cells.P > 2)).all()
    simulated = sk.read(str(bundled("data/models/simulated-juropa-trees.nc")))
    assert not np.any(cells_of(simulated, "MPI_Bcast").crowded)
    with pytest.raises(DataError, match=r"^MPI_Barrier is a barrier and has no size; predictions at other sizes need one\.$"):
        held_out(cells, message_of("bluegene-p"))


def test_of_virtual_times_the_messages_tell_more() -> None:
    """Closed forms name what comes near and are never sure; the remark says where the proof is."""
    data = sk.read(str(bundled("data/virtual/mpich-5.0.2"))).sel(p=[2, 4, 8, 16])
    time = ExactModel("a + b*S", {"a": "1.6 us", "b": "0.08 ns/B"})
    gap = ExactModel("a + b*S", {"a": "0.3 us", "b": "0.08 ns/B"})
    (one,) = study(data, PointToPoint(time, gap), ["MPI_Gather"])
    assert one.sentences[0].startswith("Of 4 cells MPI_Gather seems to use binomial in 3, ")
    assert one.identified is not None
    assert not any(cell.is_sure for cell in one.identified.cells)
    assert "In virtual time the messages themselves name the algorithm: scalkit model messages." in one.remarks
