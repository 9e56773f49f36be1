"""A unit that arrives damaged is noticed by the master, whichever way it collects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("size", [8, 200])
def test_damaged_units_are_said_and_marked(launch: Callable[..., object], size: int) -> None:
    options = (f"--sizes={size}", "--work-us=0", "--units=2", "--reps=2", "--passes=2")
    done = launch(3, "sk_master_worker", *options, fault="recv_wrong")
    assert done.status == 4
    units = [record for record in done.records if record["rec"] == "units"]
    assert [record["verified"] for record in units] == [False] * 6
    for variant in ("Waitsome", "Waitany", "Recv_any"):
        assert done.messages.count(f"sk_master_worker: Master_worker[{variant}] with units of {size} B: ") == 2
    assert done.records[-1]["rec"] == "end"
    right = launch(3, "sk_master_worker", *options)
    assert right.status == 0
    assert all(record["verified"] for record in right.records if record["rec"] == "units")
