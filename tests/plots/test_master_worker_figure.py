"""The picture of a master and its workers, of the simulated runs in data/store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import UsageError
from scalkit.plots.traces.master_worker import master_worker

STORE = Path(__file__).resolve().parents[2] / "data" / "store"


@pytest.fixture(scope="module")
def farm() -> xr.Dataset:
    return sk.store.open(STORE, readonly=True).load(pattern="master-worker", machine="juropa*", msg_By=8)


def test_times_above_and_shares_below(farm: xr.Dataset) -> None:
    figure = master_worker(farm)
    function = "Master_worker[Recv_any:20us]"
    (time,) = (trace for trace in figure.data if trace.name == "Recv_any, work of 20 µs")
    middle = farm.sel(function=function).median("repetition").median("run")
    np.testing.assert_allclose(time.y, middle["time"], rtol=1e-5)
    assert list(time.x) == farm["workers"].values.tolist()
    assert set(time.marker.symbol) == {"circle-open"}  # simulated
    (guide,) = (trace for trace in figure.data if trace.name == "Recv_any, work of 20 µs: 1/workers")
    np.testing.assert_allclose(np.array(guide.y) * np.array(guide.x), guide.y[0], rtol=1e-5)
    (master,) = (trace for trace in figure.data if trace.name == "Recv_any, work of 20 µs: master")
    (workers,) = (trace for trace in figure.data if trace.name == "Recv_any, work of 20 µs: workers")
    np.testing.assert_allclose(master.y, middle["master_share"], rtol=1e-5)
    np.testing.assert_allclose(workers.y, 1 - middle["idle_share"], rtol=1e-4, atol=1e-5)
    assert (master.yaxis, master.line.dash, workers.line.dash) == ("y2", "solid", "dash")
    assert "simulated" in figure.layout.yaxis.title.text
    assert figure.layout.meta["alt"].startswith("Time for each work unit, simulated, and shares of time")
    assert "Waitany, communication alone" in figure.layout.meta["alt"]


def test_virtual_times_say_so(farm: xr.Dataset) -> None:
    figure = master_worker(farm.assign_attrs(simulated=0, clock="virtual", virtual="{}"))
    assert "unit, virtual" in figure.layout.yaxis.title.text
    assert figure.layout.meta["alt"].startswith("Time for each work unit, virtual, and shares of time")


def test_what_cannot_be_drawn(farm: xr.Dataset) -> None:
    with pytest.raises(UsageError, match=r"this is no Dataset of a master and its workers; 'scalkit measure master-worker'"):
        master_worker(sk.measurements([1, 2], [1.0, 2.0]))
    both = xr.concat([farm.expand_dims(S=[8], axis=2), farm.expand_dims(S=[64], axis=2)], "S", data_vars="all")
    both.attrs["parameter"] = "workers,S"
    with pytest.raises(UsageError, match=r"the Dataset is over workers and S; choose one, as in ds\.sel\(S=8\)\."):
        master_worker(both)
