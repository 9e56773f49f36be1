"""Times of real, virtual and simulated clocks are never mixed, whatever machines and platforms are called."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import scalkit as sk
from scalkit.errors import DataError, UsageError
from scalkit.support.clocks import with_clock

DATA = Path(__file__).resolve().parents[2] / "data"


def _attrs(clock: str, latency_s: float = 1e-6) -> dict[str, Any]:
    numbers = {"network": "mine", "L_s": latency_s, "o_s": 3e-7, "g_s": 1e-7, "G_s_per_B": 8e-11, "per_node": 1}
    virtual = {"clock": "virtual", "virtual": json.dumps(numbers)}
    return {"real": {}, "simulated": {"simulated": 1}, "virtual": virtual}[clock]


def _put(store: sk.store.Store, machine: str, attrs: dict[str, Any], factor: float = 1) -> None:
    y = [[factor * 1e-6 * k] * 3 for k in (1, 2, 3)]
    store.put(sk.measurements([2, 4, 8], y, name="MPI_Gather").assign_attrs(attrs), machine=machine)


def test_clocks_of_one_name_are_apart_everywhere(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    for number, clock in enumerate(("real", "virtual", "simulated"), 1):
        _put(store, "juwels", _attrs(clock), number)
    _put(store, "juwels (simulated)", _attrs("real"), 5)
    loaded = store.load()
    assert {node.name: node.attrs.get("clock", node.attrs["simulated"]) for node in loaded.leaves} == {
        "juwels": 0,
        "juwels, mine in virtual time: L 1.00 us, o 300 ns, g 100 ns, G 80.0 ps-B; computing costs no time": "virtual",
        "juwels (simulated)": 1,
        "juwels (simulated) (measured)": 0,
    }
    assert all(node.sizes["run"] == 1 for node in loaded.leaves)
    with pytest.raises(DataError, match=r"^'op=MPI_Gather' has times of several clocks, real and simulated and virtual, which "):
        store.compare(["op=MPI_Gather"])
    with pytest.raises(DataError, match=r"^the runs are of several clocks, 'real', 'simulated', 'virtual'; a history is of one"):
        store.history("campaign", machine="juwels")
    assert sorted((one.platform, one.clock) for one in store.advise("MPI_Gather").settings if one.p == 2) == [
        ("juwels", "real"),
        ("juwels (simulated)", "simulated"),
        ("juwels (simulated) (measured)", "real"),
        ("juwels, mine in virtual time: L 1.00 us, o 300 ns, g 100 ns, G 80.0 ps/B; computing costs no time", "virtual"),
    ]


def test_two_virtual_clocks_of_one_name_are_apart(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    for latency_s in (1e-6, 5e-6):
        _put(store, "cluster", _attrs("virtual", latency_s), latency_s / 1e-6)
    with pytest.raises(
        DataError,
        match=r"^'op=MPI_Gather' has times of 2 platforms in virtual time, 'cluster, mine in virtual time: .*choose one",
    ):
        store.compare(["op=MPI_Gather"])
    with pytest.raises(DataError, match=r"^the runs are of several virtual clocks, 'cluster, mine in virtual time: L 1\.00 us"):
        store.history("campaign")
    shown = sorted(one.platform.partition(" us,")[0] for one in store.advise("MPI_Gather").settings if one.p == 2)
    assert shown == [f"cluster, mine in virtual time: L {latency}" for latency in ("1.00", "5.00")]
    names = [node.name for node in store.load().leaves]
    assert len(names) == 2
    assert sorted(name.partition(" us,")[0] for name in names) == [
        f"cluster, mine in virtual time: L {latency}" for latency in ("1.00", "5.00")
    ]


def test_launches_of_one_run_have_one_clock(tmp_path: Path) -> None:
    campaign = Path(shutil.copytree(DATA / "libraries-times" / "mpich-5.0.2", tmp_path / "campaign"))
    path = campaign / "time-p0004-r00.jsonl"
    path.write_text(path.read_text().replace('"simulated":false', '"simulated":true', 1))
    store = sk.store.open(tmp_path / "s")
    with pytest.raises(DataError, match=r"^the run '.*-r00' has times of different clocks, real time and simulated time; file "):
        store.put(campaign)
    assert len(store) == 0


@pytest.mark.parametrize(
    ("attrs", "said"),
    [
        ({"clock": "virtual"}, "the times are of a virtual clock, and attrs"),
        ({"clock": "sundial"}, r"attrs\['clock'\] is 'sundial'; 'virtual', or nothing for other clocks, is needed"),
    ],
)
def test_a_dataset_that_does_not_say_its_clock_is_refused(tmp_path: Path, attrs: dict[str, str], said: str) -> None:
    store = sk.store.open(tmp_path / "s")
    with pytest.raises((DataError, UsageError), match=said):
        _put(store, "vm", attrs)
    assert len(store) == 0


def test_what_a_name_says_of_a_clock_is_corrected() -> None:
    assert with_clock("a in virtual time", "virtual") == "a in virtual time"
    assert with_clock("a in virtual time", "simulated") == "a in virtual time (simulated)"
    assert with_clock("a in virtual time", "real") == "a in virtual time (measured)"
