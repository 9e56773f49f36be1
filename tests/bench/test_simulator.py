"""Simulated machines: the truths that are planted by choosing algorithms, exact repetition, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from needs import needs_simgrid
from tiers import slow_unless

import scalkit as sk
from scalkit.bench import Arguments, prepare
from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import ALGORITHMS, chosen_algorithms, simulate
from scalkit.cli import main
from scalkit.errors import UsageError
from scalkit.judge.expectation import sure_match

pytestmark = needs_simgrid

FROM_4 = (4, 8, 16, 32, 64, 128)
Measured = Callable[..., Path]


@pytest.fixture(scope="module")
def measured(own_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Return the folder of a campaign on a simulated machine."""

    def run(machine: str, ops: str, *algorithms: str, counts: Sequence[int] = FROM_4, per_node: int = 1, runs: int = 1) -> Path:
        mpi = simulate(
            load_platform(machine), per_node=per_node, algorithms=chosen_algorithms(dict(one.split("=") for one in algorithms))
        )
        arguments = Arguments(("collectives",), tuple(counts), runs, 1, tuple(ops.split(",")), processes_per_node=per_node)
        out = tmp_path_factory.mktemp(machine) / "runs"
        result = prepare(out, arguments, mpi).run()
        assert not result.failures
        assert not result.missing
        assert not result.remarks
        return out

    return run


def judged(out: Path, growth: str, op: str = "MPI_Bcast") -> sk.Verdict:
    expected = {op: {"expectation": growth, "space": "ics15", "deviation": "p^(1/2)"}}
    return sk.validate(sk.read(out), expected)[op]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("machine", ["juropa", slow_unless("daint"), slow_unless("juqueen")])
def test_a_binomial_broadcast_grows_as_log_p(measured: Measured, machine: str) -> None:
    verdict = judged(measured(machine, "MPI_Bcast", counts=FROM_4), "log(p)")
    assert verdict.match == "total"
    assert sure_match(verdict.probability) != "none"
    assert verdict.series.simulated


@pytest.mark.parametrize("algorithm", ["flattree", slow_unless("NTSL")])
def test_a_flat_tree_and_a_chain_do_not(measured: Measured, algorithm: str) -> None:
    verdict = judged(measured("juropa", "MPI_Bcast", f"bcast={algorithm}"), "log(p)")
    assert (verdict.match, sure_match(verdict.probability), verdict.direction) == ("none", "none", "grows faster")


@pytest.mark.slow
def test_a_linear_gather_is_inside_the_limits_of_p_and_outside_those_of_log_p(measured: Measured) -> None:
    out = measured("juropa", "MPI_Gather", "gather=ompi_basic_linear")
    assert sure_match(judged(out, "p", "MPI_Gather").probability) in ("total", "approximate")
    assert sure_match(judged(out, "log(p)", "MPI_Gather").probability) == "none"


@pytest.mark.slow
def test_the_end_of_the_node_is_found(measured: Measured) -> None:
    out = measured("juropa", "MPI_Barrier", counts=(2, 4, 8, 16, 32, 64, 128, 256), per_node=8, runs=2)
    found = sk.piecewise(judged(out, "log(p)", "MPI_Barrier"))
    assert [change.at for change in found.change_points] == [16]
    assert found.sentence.startswith("After p = 8, from 16 on, it grows as ")
    assert found.probability > 0.9


@pytest.mark.slow
def test_a_planted_violation_of_a_rule_is_found(measured: Measured) -> None:
    ops = "MPI_Allreduce,MPI_Reduce,MPI_Bcast"
    rule = "MPI_Allreduce <= MPI_Reduce + MPI_Bcast"
    for algorithm, holds in (("allreduce=rdb", True), ("allreduce=lr", False)):
        data = sk.read(measured("juropa", ops, algorithm, counts=(4, 8, 16, 32, 64)))
        (outcome,) = sk.validate(data, dict.fromkeys(ops.split(","), "log(p)"), rules=rule).rules
        assert bool(outcome.violated_at) is not holds, algorithm


def test_it_repeats_bit_by_bit(measured: Measured) -> None:
    first, second = (measured("daint", "MPI_Bcast,MPI_Alltoall", counts=(4, 16), runs=2) for _ in range(2))
    names = sorted(path.name for path in first.glob("*.jsonl"))
    assert len(names) == 4
    for name in names:
        one, other = (records(folder / name) for folder in (first, second))
        assert one[1:] == other[1:]
        assert all(cell["n"] == 3 and len({t // 2 for t in cell["t_ns"]}) <= 2 for cell in one if cell["rec"] == "cell")
    hosts = [records(first / f"time-p0016-r0{run}.jsonl")[0]["hosts"] for run in (0, 1)]
    assert hosts[0] != hosts[1], "each run has an allocation of its own"


def test_the_first_record_says_that_it_is_simulated(measured: Measured) -> None:
    out = measured("juropa", "MPI_Barrier", counts=(4, 8, 16), per_node=8)
    env = records(out / "time-p0016-r00.jsonl")[0]
    simulation = env["provenance"]["simulation"]
    assert (env["simulated"], env["processes_per_node"], env["oversubscribed"]) == (True, 8, False)
    assert (simulation["platform"], simulation["algorithms"]) == ("juropa", dict(ALGORITHMS))
    assert simulation["overheads_s"] == {"send": 2e-7, "receive": 2e-7, "isend": 2e-7}
    data = sk.read(out)
    assert (data.attrs["simulated"], data.attrs["measured_on"]) == (1, "juropa, simulated, 8 per node")
    figure = sk.plots.scaling(sk.validate(data, {"MPI_Barrier": "log(p)"}, min_points=3))
    assert figure.layout.yaxis.title.text == "run time, simulated"


def test_memory_is_left_out_with_a_reason(own_cache: Path, tmp_path: Path) -> None:
    arguments = Arguments(("memory",), (2,), 1, 1)
    prepare(tmp_path / "runs", arguments, simulate(load_platform("juqueen"))).run()
    found = records(tmp_path / "runs" / "memory-p0002-r00.jsonl")
    assert [record["rec"] for record in found] == ["env", *["skip"] * 5, "end"]
    assert found[1]["why"] == "this program is simulated: all processes share one memory, whose bytes mean nothing"


def test_an_unknown_algorithm_shows_the_list(own_cache: Path) -> None:
    with pytest.raises(UsageError) as caught:
        simulate(load_platform("juropa"), algorithms=chosen_algorithms({"bcast": "binominal"}))
    text = str(caught.value)
    assert text.startswith("algorithms: bcast=binominal: SimGrid has no algorithm 'binominal' for bcast; known are default, ")
    assert {"binomial_tree", "flattree", "NTSL"} <= set(re.split(r"[ ,.]+", text))


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"bcast": "a b"}, "algorithms: 'a b' of 'bcast' is no name of an algorithm, such as binomial_tree."),
        ({"cast": "x"}, "algorithms: no algorithm can be chosen for 'cast'; known are allgather, "),
    ],
)
def test_malformed_algorithms(wanted: dict[str, str], reason: str) -> None:
    with pytest.raises(UsageError, match=re.escape(reason)):
        chosen_algorithms(wanted)


def test_a_platform_that_only_simgrid_finds_broken(own_cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "odd.xml"
    path.write_text(
        "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
        '<platform version="4.1"><cluster id="c" prefix="c" suffix="" radical="0-3" speed="fast" bw="1GBps" lat="1us"/>'
        "</platform>"
    )
    with pytest.raises(UsageError, match=r"SimGrid cannot simulate the platform file .*odd\.xml: .+; mend it"):
        simulate(load_platform(str(path)))


def test_the_command(own_cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["measure", "collectives", "--platform", "juqueen", "-n", "2..16", "--ops", "MPI_Bcast", "--out", str(tmp_path / "a")]
    assert main([*words, "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["done"] == 4
    assert "These times are simulated." in said.err
    assert main([*words, "--per-node", "16", "-n", "99999"]) == 2
    assert "-n 99999: " in capsys.readouterr().err
    assert main(["measure", "collectives", "--platform", "juqueen", "-n", "1025", "--out", str(tmp_path / "b")]) == 2
    assert "-n 1025: juqueen has 1024 hosts" in capsys.readouterr().err


@pytest.mark.slow
def test_two_machines_in_columns(own_cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = tmp_path / "runs", tmp_path / "report.html"
    words = ["--platform", "juropa", "--platform", "juqueen", "-n", "4..64", "--runs", "1", "--ops", "MPI_Bcast,MPI_Barrier"]
    assert main(["measure", "collectives", *words, "--out", str(out)]) == 0
    folders = [str(out / name) for name in ("juropa", "juqueen")]
    assert main(["report", "--compare", *folders, "--out", str(report)]) in (0, 1), capsys.readouterr().err
    assert sorted(path.name for path in out.iterdir()) == ["juqueen", "juropa"]
    page = report.read_text()
    assert "simulated" in page
    assert page.index("juropa") > 0
