"""MPI libraries in virtual time: what ranks are started with, and real campaigns whose times are known in closed form."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from launching import shared_library

from scalkit.bench import Arguments, Mpi, prepare
from scalkit.bench.arguments import choose, in_virtual_time, operations
from scalkit.bench.campaign.file import read_campaign
from scalkit.bench.campaign.here import prepare_here
from scalkit.bench.campaign.refining import run_ranges
from scalkit.bench.libraries.targets import find_targets
from scalkit.bench.patterns.point_to_point import MessageArguments, prepare_messages
from scalkit.bench.virtual.account import Account, stall_of
from scalkit.bench.virtual.mpi import VirtualMpi, proved, settings_of, virtual
from scalkit.bench.virtual.network import read_network
from scalkit.errors import BuildError, LaunchError, UsageError
from scalkit.formats.read import read
from scalkit.support.native import Build, sources
from tests.bench.virtual_programs import program_campaign

NETWORK = "L=2us,o=0.5us,g=0.3us,G=0.1ns/B"
HALO = """
import sys
from mpi4py import MPI
comm = MPI.COMM_WORLD
after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
comm.Sendrecv(bytearray(8), after, 0, bytearray(8), before, 0)
print("argument", sys.argv[1])
"""

NODES = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm node;
    int size, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    if (rank == 0)
        printf("%d on a node\n", size);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture
def layered(tmp_path: Path) -> VirtualMpi:
    """Return a library whose layer is an empty file."""
    (tmp_path / "libskvirtual.so").touch()
    real = Mpi("/x/mpicc", "/x/mpiexec", "MPICH", "MPICH Version: 5.0.2", "5.0", "MPICH")
    layer = Build(tmp_path, tmp_path / "build.log", fresh=False, sources="f00")
    network = read_network(NETWORK)
    return VirtualMpi("/x/mpicc", "/x/mpiexec", "MPICH", real.library, "5.0", "MPICH", of=real, network=network, layer=layer)


@pytest.fixture(scope="session")
def above(mpi: Mpi) -> VirtualMpi:
    """Return the library of this machine in virtual time."""
    try:
        return virtual(mpi, read_network(NETWORK))
    except (BuildError, UsageError) as error:
        pytest.skip(f"needs the layer of virtual time: {error}")


def test_only_the_ranks_see_the_layer(layered: VirtualMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "libmine.so")
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 3}, raising=False)
    with layered.opened() as mpi:
        words = mpi.command(4, "prog", "1")
        assert Path(mpi.memory).stat().st_size == 16 * 2**30
    assert words[:4] == ["/x/mpiexec", "-n", "4", "env"]
    assert words[-2:] == ["prog", "1"]
    given = dict(word.split("=", 1) for word in words[4:-2])
    assert given["LD_PRELOAD"] == f"{layered.layer.folder}/libskvirtual.so:libmine.so"
    assert given["SCALKIT_VIRTUAL_MACHINE"] == ("processes=4 L=2000 o=500 g=300 G=0.1 compute=none stall=60 check=1 cpu=3")
    computing = replace(mpi, compute="cpu").command(4, "prog")
    assert not any("cpu=3" in word for word in computing)
    assert given["SCALKIT_VIRTUAL"] == mpi.memory
    assert given["MPIR_CVAR_CH4_NETMOD"] == "ofi"
    assert not Path(mpi.memory).exists()


def test_each_launch_has_a_memory_of_its_own_and_bytes_are_counted_really(layered: VirtualMpi) -> None:
    with layered.opened() as one, layered.opened() as other:
        assert one.memory != other.memory
    assert layered.for_kind("memory") is layered.real
    assert layered.for_kind("collectives") is layered
    assert layered.name == f"MPICH 5.0.2 in virtual time on {NETWORK}"
    assert (layered.is_virtual, layered.repeats_exactly, layered.usual_runs) == (True, True, 1)


def test_settings_of_the_user_stay_unless_they_switch_tcp_off() -> None:
    assert settings_of("Open MPI", "", {"OMPI_MCA_btl": "tcp,self"}).get("OMPI_MCA_btl") is None
    assert settings_of("MPICH", "", {})["MPIR_CVAR_NOLOCAL"] == "1"
    for kind, name, value, usual in (
        ("Open MPI", "OMPI_MCA_btl", "^tcp", "tcp,self"),
        ("Open MPI", "OMPI_MCA_pml", "ucx", "ob1"),
        ("MPICH", "UCX_TLS", "rc,self", "tcp,self"),
        ("Intel MPI", "I_MPI_FABRICS", "shm:ofi", "ofi"),
    ):
        with pytest.raises(UsageError) as caught:
            settings_of(kind, "", {name: value})
        assert str(caught.value) == (
            f"{name}={value} keeps {kind} from sending through TCP, which virtual time needs; unset it, or set {name}={usual}."
        )


@pytest.mark.parametrize(
    ("library", "environment", "module"),
    [
        ("MPICH Version: 5.0.2\nMPICH Device: ch4:ucx ofi\nMPICH configure: --with-device=ch4:ucx,ofi", {}, "ofi"),
        ("MPICH Version: 4.1\nMPICH Device: ch4:ofi\n", {}, "ofi"),
        ("MPICH Version: 4.0.2\nMPICH Device: ch4:ucx\nMPICH configure: --with-libfabric=no", {}, "ucx"),
        ("MPICH Version: 4.3.1", {}, "ofi"),
        ("MPICH Version: 4.0", {}, "ucx"),
        ("MPICH Device: ch4:ucx,ofi", {"MPIR_CVAR_CH4_NETMOD": "ucx"}, "ucx"),
    ],
)
def test_mpich_sends_through_libfabric_where_it_has_it(library: str, environment: dict[str, str], module: str) -> None:
    found = settings_of("MPICH", library, environment)
    assert ("FI_TCP_MAX_INJECT" in found, "UCX_TLS" in found) == (module == "ofi", module == "ucx")


def test_open_mpi_4_does_not_begin_at_a_random_descriptor() -> None:
    name = "OMPI_MCA_opal_event_include"
    assert settings_of("Open MPI", "Open MPI v4.1.4, package: Debian OpenMPI", {})[name] == "epoll"
    assert name not in settings_of("Open MPI", "Open MPI v5.0.11, package", {})


def test_what_cannot_run_in_virtual_time_is_refused(layered: VirtualMpi) -> None:
    for build, message in (
        (lambda: layered.command(513, "prog"), "513 processes in virtual time: at most 512 are possible."),
        (lambda: virtual(layered.real, layered.network, compute="gpu"), "--compute 'gpu': choose from none, cpu, instructions."),
        (
            lambda: virtual(Mpi("m", "m", "other", "Some MPI", "4", "other"), layered.network),
            "Some MPI cannot run in virtual time; MPICH, Open MPI, Intel MPI can.",
        ),
        (lambda: find_targets(network="cluster"), "--network is the machine of a virtual clock; add --clock virtual."),
        (
            lambda: find_targets(platforms=["juropa"], clock="virtual"),
            "--clock virtual is for MPI libraries, --platform for SimGrid; leave one of them out.",
        ),
    ):
        with pytest.raises(UsageError) as caught:
            build()
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo dead; exit 3", "two ranks ended with status 3 (dead)"),
        ("echo alone", "two ranks did not meet in one world"),
        ("echo world 2", "its processes do not use the layer that owns the clock"),
        (
            'for w; do case $w in SCALKIT_VIRTUAL_OUT=*) echo "{\\"messages\\": 0}" > "${w#*=}";; esac; done; echo world 2',
            "its processes send no message over TCP",
        ),
    ],
)
def test_a_library_is_tried_before_it_is_measured(
    layered: VirtualMpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    (tmp_path / "probe").touch()
    launcher = tmp_path / "mpiexec"
    launcher.write_text(f"#!/bin/sh\n{script}\n")
    launcher.chmod(0o755)
    monkeypatch.setattr("scalkit.bench.virtual.mpi.build", lambda *given, **more: layered.layer)
    with pytest.raises(LaunchError) as caught:
        proved(replace(layered, of=replace(layered.of, mpiexec=str(launcher))))
    assert str(caught.value) == (
        f"MPICH 5.0.2 cannot run in virtual time here: {why}; measure with --clock real, or another library with --mpi."
    )


def test_a_layer_that_does_not_build_is_said(layered: VirtualMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **more: object) -> Build:
        raise BuildError("compiling it failed (status 2), see /x.log")

    monkeypatch.setattr("scalkit.bench.virtual.mpi.build", refuse)
    with pytest.raises(BuildError, match=r"^MPICH 5\.0\.2 cannot run in virtual time here: .*status 2.*; measure with --clock"):
        virtual(layered.of, layered.network)


def test_what_takes_no_virtual_time_is_left_out_or_refused() -> None:
    tree = sources("microbench")
    every = in_virtual_time(tree, choose(tree, ("collectives", "memory"), ("all",)), ("all",), "MPICH", 1)
    assert not set(every["collectives"]) & set(operations(tree, "collectives", "simple"))
    assert "MPI_Put[flush]" in every["collectives"]
    one_each = in_virtual_time(tree, choose(tree, ("collectives",), ("rma",)), ("rma",), "Open MPI", 1)
    assert one_each["collectives"] == operations(tree, "collectives", "rma")
    for library, word, why in (
        ("MPICH", "simple", "calls without communication take no time on a virtual clock"),
        ("MPICH", "MPI_Wtime[x1000]", "calls without communication take no time on a virtual clock"),
        ("Open MPI", "rma", "one-sided operations of Open MPI pass through shared memory inside a node"),
    ):
        chosen = choose(tree, ("collectives",), (word,))
        with pytest.raises(UsageError) as caught:
            in_virtual_time(tree, chosen, (word,), library, 2)
        assert str(caught.value) == f"--ops {word}: {why}; leave it out, or measure with --clock real."


def test_no_shared_memory_is_said(layered: VirtualMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int, size: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.ftruncate", refuse)
    with pytest.raises(LaunchError) as caught, layered.opened():
        pass
    assert str(caught.value) == ("no shared memory for virtual time: No space left on device; Linux has it (memfd_create).")


def test_memory_may_have_numbers_of_processes_of_its_own() -> None:
    arguments = Arguments(("collectives", "memory"), (2, 3, 4), 1, 1, memory_counts=(2,))
    assert (arguments.counts_of("memory"), arguments.counts_of("collectives")) == ((2,), (2, 3, 4))
    with pytest.raises(UsageError) as caught:
        Arguments(("collectives",), (2,), 1, 1, memory_counts=(2,))
    assert str(caught.value) == "--memory-n: memory is not measured; add memory, or leave --memory-n out."


def test_the_keys_of_a_campaign_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    first = 'measure = ["collectives"]\nprocesses = [2, 4]\n'
    path.write_text(f'{first}clock = "virtual"\nnetwork = "ethernet"\nprocesses_per_node = [1, 4]\n')
    file = read_campaign(path)
    assert [variant.library.network for variant in file.variants] == ["ethernet", "ethernet"]
    assert {variant.arguments.runs for variant in file.variants} == {1}
    for more, line, message in (
        ('network = "cluster"', 3, 'network is the machine of a virtual clock; add clock = "virtual".'),
        ('clock = "real"\nmemory_processes = [2]', 4, "memory is not measured; add 'memory' to measure, or leave it out."),
        (
            'clock = "virtual"\n[slurm]',
            4,
            'slurm does not go with clock = "virtual": virtual time runs on one node, here; leave one of them out.',
        ),
        (
            'clock = "virtual"\nnetwork = "foo"',
            4,
            "the network 'foo' is unknown; choose cluster, ethernet, fat-tree, dragonfly, a TOML file, or numbers such as "
            "L=1us,o=0.3us,g=0.1us,G=0.08ns/B.",
        ),
    ):
        path.write_text(f"{first}{more}\n")
        with pytest.raises(UsageError) as caught:
            read_campaign(path)
        assert str(caught.value) == f"{path}, line {line}: {message}"


def test_an_account_has_shares_over_processes() -> None:
    told: dict[str, Any] = {"processes": 2, "completion_ns": 4000, "messages": 3, "bytes": 63}
    found = Account.of({**told, "mpi_ns": [1000, 4000], "clock_ns": [4000, 4000]})
    assert (found.completion_s, found.mpi_share, found.most_mpi_share) == (pytest.approx(4e-6), 0.625, 1.0)


@pytest.mark.mpi
def test_a_barrier_lasts_as_long_as_loggp_says_and_memory_beside_it_is_real(above: VirtualMpi, tmp_path: Path) -> None:
    if above.kind != "MPICH":
        pytest.skip("the closed form is that of MPICH's barrier")
    ops = ("MPI_Barrier", "MPI_Comm_dup")
    arguments = Arguments(("collectives", "memory"), (2, 4, 8), 1, 1, ops, memory_counts=(2,))
    campaign = prepare(tmp_path / "runs", arguments, above)
    result = campaign.run()
    assert (result.failures, result.missing, result.remarks) == ((), (), ())
    ds = read(tmp_path / "runs")
    rounds = ds["time"].sel(function="MPI_Barrier").min("repetition").squeeze("run") / [1, 2, 3]
    message_s = 2e-6 + 2 * 0.5e-6
    assert (abs(rounds - message_s) < 0.15e-6).all()
    assert ds.attrs["clock"] == "virtual"
    assert not ds["oversubscribed"].any()
    memory = json.loads((tmp_path / "runs" / "memory-p0002-r00.jsonl").read_text().splitlines()[0])
    assert "virtual" not in memory["provenance"]
    assert prepare(tmp_path / "runs", arguments, above).run().fresh == 0
    other = virtual(above.real, read_network("ethernet"))
    with pytest.raises(UsageError, match=r"begun under other conditions: .*L_s of the virtual machine was 2e-06"):
        prepare(tmp_path / "runs", arguments, other)


@pytest.mark.mpi
def test_the_same_campaign_again_gives_the_same_times(above: VirtualMpi, tmp_path: Path) -> None:
    found = []
    for name in ("one", "other"):
        more = () if above.kind == "Open MPI" else ("MPI_Put[flush]",)
        arguments = Arguments(("collectives",), (2, 3, 8), 1, 7, ("MPI_Allreduce", *more))
        assert not prepare(tmp_path / name, arguments, above).run().failures
        found.append(read(tmp_path / name))
    assert found[0]["time"].equals(found[1]["time"])


@pytest.mark.mpi
def test_a_campaign_file_runs_in_virtual_time(above: VirtualMpi, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        f'measure = ["collectives"]\nprocesses = [2, 4]\nfunctions = ["MPI_Bcast"]\nclock = "virtual"\nnetwork = "{NETWORK}"\n'
    )
    file = read_campaign(path)
    assert not any(result.missing for result in run_ranges(prepare_here(file)))
    assert read(file.out).attrs["clock"] == "virtual"


@pytest.mark.mpi
def test_a_program_of_ones_own(above: VirtualMpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mpi4py", reason="needs mpi4py")
    script = tmp_path / "halo.py"
    script.write_text(HALO)
    monkeypatch.setenv("MPI4PY_LIBMPI", shared_library(above.mpicc))
    command = (sys.executable, str(script), "17")
    campaign = program_campaign(tmp_path / "runs", command, (1, 2, 4), above)
    result = campaign.run()
    assert (result.failures, result.done) == ((), 3)
    one, two, four = campaign.accounts()
    assert (one.messages, two.p) == (0, 2)
    assert four.messages >= 4
    assert four.completion_s > 3e-6
    assert "argument 17" in (tmp_path / "runs" / "command-p4-r00.txt").read_text()
    ds = read(tmp_path / "runs")
    assert ds["function"].values.tolist() == ["halo"]
    assert float(ds["time"].sel(p=4).item()) == pytest.approx(four.completion_s)
    more = program_campaign(tmp_path / "runs", command, (1, 2, 3, 4), above)
    assert more.run().fresh == 1
    script.write_text(f"{HALO}\n# changed")
    with pytest.raises(UsageError, match="holds a campaign with other arguments: files was "):
        program_campaign(tmp_path / "runs", command, (1, 2), above)


@pytest.mark.mpi
def test_a_program_without_mpi_or_with_a_failure_is_named(above: VirtualMpi, tmp_path: Path) -> None:
    (failure,) = program_campaign(tmp_path / "a", ("true",), (1,), above).run().failures
    assert failure == (
        "the command ended, but not in virtual time: does 'true' call MPI_Init and MPI_Finalize, and use the library of "
        f"{above.mpicc}? The last lines:\n  (it printed nothing)"
    )
    (failure,) = program_campaign(tmp_path / "b", ("false",), (1,), above).run().failures
    assert failure.startswith("command-p1-r00: the command ended with status 1 at p = 1; its output is in ")


@pytest.mark.mpi
def test_who_waits_for_whom_is_said_within_the_time_limit(above: VirtualMpi, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="needs mpi4py")
    script = tmp_path / "hangs.py"
    script.write_text("from mpi4py import MPI\nif MPI.COMM_WORLD.rank == 0:\n    MPI.COMM_WORLD.recv(source=1)\n")
    assert stall_of(above, 30) == 18, "it is said before the time limit of a launch"
    mpi = replace(above, stall_s=10)
    campaign = program_campaign(tmp_path / "runs", (sys.executable, str(script)), (2,), mpi)
    (failure,) = campaign.run(timeout_s=6000).failures
    assert "command-p2-r00: the command ended with status" in failure
    assert "process 0, in virtual time, in MPI_" in failure


@pytest.mark.mpi
def test_one_sided_operations_are_messages(above: VirtualMpi, tmp_path: Path) -> None:
    arguments = Arguments(("collectives",), (2, 4), 1, 1, ops=("MPI_Get[flush]", "MPI_Put[lock]"))
    assert not prepare(tmp_path / "runs", arguments, above).run().failures
    times = read(tmp_path / "runs")["time"].min(("run", "repetition"))
    assert float(times.min()) >= 2 * 3e-6  # there and back: two messages of L + 2 o


@pytest.mark.mpi
@pytest.mark.parametrize("per_node", [1, 2])
def test_the_library_knows_its_nodes(above: VirtualMpi, tmp_path: Path, per_node: int) -> None:
    source, program = tmp_path / "nodes.c", tmp_path / "nodes"
    source.write_text(NODES)
    subprocess.run([above.mpicc, "-o", str(program), str(source)], check=True)
    mpi = replace(above, network=read_network("cluster").with_per_node(per_node))
    assert not program_campaign(tmp_path / "runs", (str(program),), (4,), mpi).run().failures
    said = (tmp_path / "runs" / "command-p4-r00.txt").read_text()
    assert said.splitlines() == [f"{per_node if above.kind == 'Open MPI' else 1} on a node"]


@pytest.mark.mpi
def test_experiments_on_neighbourhoods_repeat_three_times(above: VirtualMpi, tmp_path: Path) -> None:
    rows = ({"operation": "MPI_Neighbor_alltoall", "size": 8, "topology": "cart", "n_dim": 1, "n_finite": 0},)
    arguments = Arguments(("neighbourhood",), (2, 4), 1, 1, experiments=rows)
    assert not prepare(tmp_path / "runs", arguments, above).run().failures
    lines = (tmp_path / "runs" / "neighbourhood-p0004-r00.jsonl").read_text().splitlines()
    (times,) = [record["t_ns"] for record in map(json.loads, lines) if "t_ns" in record]
    assert len(times) == 3
    assert max(times) - min(times) <= 1
    assert min(times) >= 3000


@pytest.mark.mpi
def test_functions_of_the_user(above: VirtualMpi, tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "microbench" / "examples" / "ring_allreduce.c"
    arguments = Arguments(("functions",), (2, 4), 1, 1, functions=(str(source),))
    assert not prepare(tmp_path / "runs", arguments, above).run().failures
    ds = read(tmp_path / "runs")
    times = ds["time"].min(("run", "repetition")).squeeze("function").values
    assert times[1] / times[0] == pytest.approx(3, rel=0.1)  # 2 (p - 1) messages one after the other
    assert (ds.attrs["clock"], ds.sizes["run"]) == ("virtual", 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clock": "cpu"}, "the clock 'cpu' is unknown; choose real or virtual."),
        ({"network": "cluster"}, "--network is the machine of a virtual clock; add --clock virtual."),
        (
            {"per_node": 2},
            "--per-node places processes on a simulated machine; name one with --platform, or add --clock virtual.",
        ),
    ],
)
def test_clocks_and_machines_that_exclude_each_other(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_targets(**options)
    assert str(caught.value) == message


def test_what_processors_do_is_no_part_of_a_virtual_card(layered: VirtualMpi, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        prepare_messages(tmp_path / "runs", MessageArguments(("latency", "matching"), 1, 1), layered)
    assert str(caught.value) == (
        "--what matching: handling data takes no time on a virtual clock; leave it out, or measure with --clock real."
    )
