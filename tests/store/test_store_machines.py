"""What a record says of network and topology: found where possible, asked for otherwise, and never the host's of a simulation."""

from pathlib import Path

import pytest

import scalkit as sk
from scalkit.bench.provenance import connections
from scalkit.bench.virtual.network import read_network
from scalkit.cli import main
from scalkit.errors import DataError, UsageError
from scalkit.measure import write_netcdf
from scalkit.measure.virtual_time import clock_attributes
from scalkit.store.filed.machines import real, virtual

DATA = Path(sk.__file__).parents[1] / "data"


def test_the_fabric_that_the_kernel_tells_of(tmp_path: Path) -> None:
    for name, text in {
        "class/net/eth0/speed": "10000",
        "class/net/lo/speed": "-1",
        "cpu/cpu0/topology/physical_package_id": "0",
        "cpu/cpu1/topology/physical_package_id": "1",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    assert connections(tmp_path / "class", tmp_path / "cpu") == {"network": "Ethernet 10 Gb/s", "topology": "2 sockets a node"}
    port = tmp_path / "class" / "infiniband" / "mlx5_0" / "ports" / "1"
    port.mkdir(parents=True)
    (port / "rate").write_text("200 Gb/sec (4X HDR)\n")
    (port / "link_layer").write_text("InfiniBand\n")
    assert connections(tmp_path / "class", tmp_path / "cpu")["network"] == "InfiniBand 200 Gb/sec (4X HDR)"


def test_one_node_needs_no_network_and_several_have_what_was_found() -> None:
    facts = {"network": "InfiniBand 200 Gb/sec (4X HDR)", "topology": "2 sockets a node"}
    assert real("Xeon", 8, facts, 1)["network"] == "shared memory of one node"
    assert real("Xeon", 8, facts, 2) == {"cpu": "Xeon", "cores_per_node": 8, **facts}
    assert "network" not in real("Xeon", 8, {}, 2)


def test_a_virtual_machine_with_switches_is_not_fully_connected() -> None:
    found = {name: virtual(read_network(name).facts)["topology"] for name in ("cluster", "fat-tree", "dragonfly")}
    assert {name: topology.removesuffix(", 1 process per node") for name, topology in found.items()} == {
        "cluster": "fully connected",
        "fat-tree": "fat tree of switches with 4 below them, 200 ns for each further switch",
        "dragonfly": "dragonfly of groups of 4 routers with 2 nodes each, 200 ns for each link between routers",
    }


def test_clocks_that_differ_in_their_switches_alone_are_not_mixed() -> None:
    below = [{**read_network("fat-tree").facts, "tree": n} for n in (4, 8)]
    with pytest.raises(DataError, match=r"^these run times differ in their clock: .* 4 below .* 8 below "):
        clock_attributes(below)
    assert clock_attributes(below[:1])["clock"] == "virtual"


def test_simulated_and_virtual_machines_are_not_their_hosts(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    for number, folder in enumerate(("simulated/daint", "quickstart")):
        store.put(DATA / folder, site=f"site {number}")
    records = [store.record(one)["measured"] for one in store.runs()["run_id"]]
    daint = next(one for one in records if one["clock"] == "simulated")
    assert daint["machine_desc"]["network"] == "daint"
    assert "dragonfly of Aries" in daint["machine_desc"]["topology"]
    clock = next(one for one in records if "virtual" in one["simulation"])
    assert clock["machine_desc"]["network"] == "cluster, L = 1e-06 s, o = 3e-07 s, g = 1e-07 s, G = 8e-11 s/B"
    for one in (daint, clock):
        assert "cpu" not in one["machine_desc"]
        assert (one["kernel"], one["os"]) == ("", "")
        assert one["simulation"]["host"]["cpu"]
    measured = next(one for one in records if not one["simulation"])
    assert measured["machine_desc"]["network"] == "shared memory of one node"
    assert measured["kernel"]
    assert set(store.runs(network="cluster*")["run_id"]) == set(store.runs(machine="cluster*")["run_id"])
    assert sk.store.validate(store.path).ok


def test_a_user_says_what_no_kernel_knows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = sk.store.open(tmp_path / "s")
    ds = sk.measurements([2, 4, 8], [[1e-6, 2e-6]] * 3, name="MPI_Bcast")
    run_id = store.put(ds, machine="ours", network="InfiniBand HDR", topology="fat tree").added[0]
    assert store.record(run_id)["measured"]["machine_desc"] == {"network": "InfiniBand HDR", "topology": "fat tree"}
    assert store.runs(topology="fat*")["run_id"].tolist() == [run_id]
    with pytest.raises(UsageError, match="markup"):
        store.put(ds, network="<b>")
    write_netcdf(ds.assign_attrs(measured_on="theirs"), tmp_path / "t.nc")
    assert main(["store", "put", str(tmp_path / "s"), str(tmp_path / "t.nc")]) == 0
    assert "The network of 1 run is unknown; put takes --network and --topology." in capsys.readouterr().out
    asked = ["store", "put", str(tmp_path / "s"), str(tmp_path / "t.nc"), "--network", "Slingshot", "--topology", "dragonfly"]
    assert main(asked) == 0
    assert "unknown" not in capsys.readouterr().out


def test_words_of_a_virtual_machine() -> None:
    assert virtual({"network": "own", "L_s": 1e-6, "per_node": 4}) == {
        "network": "own, L = 1e-06 s",
        "topology": "fully connected, 4 processes per node",
    }
