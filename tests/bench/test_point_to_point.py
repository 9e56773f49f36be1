"""Messages measured and fitted: in the simulator, where the truth is known, and on the library that is here."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from needs import needs_simgrid

from scalkit.bench.libraries.mpi import find_mpi
from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import simulate
from scalkit.bench.patterns.point_to_point import PARTS, MessageArguments, cells_of, message_plan, prepare_messages
from scalkit.errors import UsageError
from scalkit.perfmodels import PointToPoint, Range, fit_messages, to_simgrid
from scalkit.perfmodels.files.card import ModelCard, read_card
from scalkit.perfmodels.fits.card import fit_card
from scalkit.perfmodels.fits.loggp import find_rendezvous
from scalkit.perfmodels.fits.runs import read_message_runs
from scalkit.perfmodels.models.point_to_point import Protocol

TRUTH = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config>
    <prop id="smpi/lat-factor" value="0:1"/><prop id="smpi/bw-factor" value="0:1"/>
    <prop id="smpi/os" value="0:3e-7:0"/><prop id="smpi/ois" value="0:3e-7:0"/><prop id="smpi/or" value="0:5e-7:0"/>
    <prop id="smpi/async-small-thresh" value="65536"/><prop id="network/TCP-gamma" value="0"/>
  </config>
  <cluster id="flat" prefix="flat-" suffix="" radical="0-15" speed="10Gf" core="1" bw="1GBps" lat="0.5us"/>
</platform>
"""
SIZES = (0, 8, 64, 512, 2048, 8192, 32768, 65536, 131072, 262144)
ENVELOPE_S = 16e-9  # the simulator sends 16 bytes more with each message


def simulated(folder: Path, platform: Path | str, parts: str, **more: object) -> ModelCard:
    arguments = MessageArguments(tuple(parts.split(",")), 1, 7, **more)  # type: ignore[arg-type]
    prepare_messages(folder, arguments, simulate(load_platform(str(platform)))).run()
    return fit_card(read_message_runs(folder))


@needs_simgrid
def test_loggp_is_found_where_it_is_known(tmp_path: Path) -> None:
    (tmp_path / "flat.xml").write_text(TRUTH)
    card = simulated(tmp_path / "runs", tmp_path / "flat.xml", "latency,loggp,sync", sizes=SIZES)
    found = card.loggp
    assert found.o_send == pytest.approx(3e-7, rel=0.05)
    assert found.o_receive == pytest.approx(5e-7, rel=0.05)
    assert pytest.approx(1e-6 + ENVELOPE_S, rel=0.05) == found.L
    assert pytest.approx(1e-9, rel=0.05) == found.G
    assert found.g < found.o_send + found.o_receive  # the gap hides behind the overheads
    assert found.O < 1e-12
    assert found.S in (49152.0, 65536.0)  # the simulator waits from 64 KiB on
    assert card.is_simulated
    assert card.to_toml().startswith("# Simulated, not measured")
    message = card.point_to_point
    truth = 1e-6 + 8e-7 + ENVELOPE_S + 1e-9 * np.array([8.0, 1e4])
    assert message(S=[8.0, 1e4]) == pytest.approx(truth, rel=0.02)


@needs_simgrid
def test_an_exported_platform_repeats_latency_and_bandwidth(tmp_path: Path) -> None:
    """The model of a message, written as a platform and measured there, comes back within 10 %."""
    protocols = (
        Protocol(Range(0, 4096), 0.9e-6, 0.28e-9),
        Protocol(Range(4096, 65536, open_low=True), 2.1e-6, 0.1e-9),
        Protocol(Range(65536, math.inf, open_low=True), 6e-6, 0.05e-9),
    )
    message = PointToPoint.of_protocols(protocols, name="measured")
    (tmp_path / "measured.xml").write_text(to_simgrid(message, hosts=4))
    runs_of = tmp_path / "runs"
    card = simulated(runs_of, tmp_path / "measured.xml", "latency")
    sizes, trips = read_message_runs(runs_of).table("Round_trip")
    assert np.median(trips, axis=1) / 2 == pytest.approx(message(S=sizes), rel=0.02)
    assert card.quantity("latency").value == pytest.approx(0.9e-6, rel=0.1)
    assert card.quantity("bandwidth").value == pytest.approx(1 / 0.05e-9, rel=0.1)
    switches = [one for one in card.quantities if one.name.startswith("switch")]
    assert [one.value <= truth < one.value * 1.2 for one, truth in zip(switches, (4097, 65537), strict=True)]


@pytest.mark.slow
@needs_simgrid
def test_the_bisection_of_a_torus_decays(tmp_path: Path) -> None:
    text = TRUTH.replace('lat="0.5us"/>', 'lat="0.5us" topology="TORUS" topo_parameters="4,4"/>')
    (tmp_path / "torus.xml").write_text(text)
    options = {"counts": (2, 4, 16), "rounds": 12}
    card = simulated(tmp_path / "runs", tmp_path / "torus.xml", "bisection,overlap,matching,datatypes", **options)
    bisection = card.fits["bisection"]
    assert bisection.processes == (2, 4, 16)
    assert bisection.decay_interval[0] > 0  # links are shared
    for side in ("sender", "receiver"):
        assert card.fits[f"overlap_{side}"].low[5] > 0.5  # the simulator's network works alone
    assert not card.fits["matching"].is_seen  # and it searches no queue
    assert card.quantity("datatype_worst").value == pytest.approx(1, rel=0.02)
    assert card.packing(8)(S=65536) < 1e-9  # nor does it pack


@pytest.mark.mpi
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # of steps whose times fall as often as they rise
def test_what_is_measured_here_is_fitted(tmp_path: Path) -> None:
    arguments = MessageArguments(
        PARTS, 1, 3, reps=1, sizes=tuple(4**k for k in range(10)), rounds=4, bisection_size=4096, budget_s=4.0
    )
    campaign = prepare_messages(tmp_path / "runs", arguments, find_mpi())
    assert not campaign.run().missing
    again = campaign.run()
    assert again.fresh == 0  # nothing is measured twice
    card = fit_card(read_message_runs(tmp_path / "runs"))
    assert not any("wrong data" in remark for remark in card.remarks)
    expected = {"latency", "L", "S", "matching", "datatype_worst", "reduce_per_byte", "bisection_2"}
    assert expected <= {one.name for one in card.quantities}
    assert {"message", "gap", "exchange", "packing-2", "packing-8", "packing-32", "strided-worst"} <= set(card.models)
    assert card.point_to_point.exchange is not None
    assert 0 <= card.quantity("latency").value < math.inf
    (tmp_path / "card.toml").write_text(card.to_toml(), encoding="utf-8")
    read = read_card(tmp_path / "card.toml")
    assert read.about == card.about
    assert read.loggp == card.loggp
    assert read.point_to_point(S=[8, 1e6]) == pytest.approx(card.point_to_point(S=[8, 1e6]))
    with pytest.raises(UsageError, match=r"holds a campaign with other arguments: reps was 1, is now 6\. Repeat its"):
        prepare_messages(tmp_path / "runs", MessageArguments(**{**vars(arguments), "reps": 6}), find_mpi())


LIMITS: Mapping[str, tuple[str, int, str]] = {
    "MPICH": ("MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD", 65536, "mpich-5.0.2"),
    "Open MPI": ("OMPI_MCA_btl_sm_eager_limit", 16384, "openmpi-5.0.11"),
}
"""Of a library the variable that sets a limit, its value here, and the folder of what was measured with it."""


def sizes_around(limit: int) -> tuple[int, ...]:
    return tuple(round(limit * 2 ** (k / 2)) for k in range(-6, 5))


@pytest.mark.parametrize("library", LIMITS)
def test_a_limit_that_was_set_is_found(library: str) -> None:
    """The protocol switches within one size step of where the library was told to; measured in 2026 on a virtual machine."""
    name, limit, folder = LIMITS[library]
    place = Path(__file__).parents[1] / "data" / "limits" / folder
    for file in place.glob("*.jsonl"):
        assert json.loads(file.read_text().splitlines()[0])["environment"] == {name: str(limit)}
    runs = read_message_runs(place)
    at, trips = runs.table("Round_trip")
    assert at.tolist() == list(sizes_around(limit))
    fit = fit_messages(at, trips / 2, statistic="q1")
    step = math.sqrt(2) * 1.01
    assert any(one.after / step <= limit <= one.before * step for one in fit.switches), fit


@pytest.mark.mpi
def test_a_limit_that_is_set_reaches_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What times it brings is told by those that were recorded, above: here they depend on who else uses the machine."""
    mpi = find_mpi()
    name, limit, _ = LIMITS[mpi.kind]
    monkeypatch.setenv(name, str(limit))
    sizes = sizes_around(limit)
    arguments = MessageArguments(("latency",), 1, 5, reps=10, sizes=sizes)
    assert not prepare_messages(tmp_path / "runs", arguments, mpi).run().missing
    (file,) = (tmp_path / "runs").glob("*.jsonl")
    assert json.loads(file.read_text().splitlines()[0])["environment"][name] == str(limit)
    at, trips = read_message_runs(tmp_path / "runs").table("Round_trip")
    assert (at.tolist(), trips.shape) == (list(sizes), (len(sizes), 10))
    assert (trips > 0).all()
    fit = fit_messages(at, trips / 2, statistic="q1")
    assert np.isfinite(fit(at)).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"parts": ("speed",)}, r"--what: 'speed' is unknown; choose from latency, exchange, loggp, .*"),
        ({"parts": ()}, r"--what: nothing is named; name each once, from latency, .*"),
        ({"sizes": (0, 8, 2**30 + 1)}, r"--sizes 0,8,1073741825: whole numbers from 0 to 1073741824 are needed\."),
        ({"sizes": (-8, 0, 8)}, r"--sizes -8,0,8: whole numbers from 0 to 1073741824 are needed\."),
        ({"sizes": (8, 8, 9)}, r"--sizes 8,8,9: name each number once, ascending\."),
        ({"sizes": (8, 9)}, r"--sizes: latency and bandwidth need at least 3 sizes, got 2; name more, or .*"),
        ({"counts": (3,)}, r"-n 3: matchings need even numbers of processes\."),
        ({"counts": (4, 2)}, r"-n 4,2: name each number once, ascending\."),
        ({"runs": 0}, r"--runs 0: a whole number from 1 to 99 is needed\."),
        ({"reps": 0}, r"reps 0: a whole number from 1 to 100000 is needed\."),
        ({"rounds": 0}, r"rounds 0: a whole number from 1 to 10000 is needed\."),
        ({"bisection_size": 0}, r"bisection_size 0: a whole number from 1 to 1073741824 is needed\."),
        ({"budget_s": math.nan}, r"--budget is nan; a positive number is needed\."),
    ],
)
def test_arguments_that_make_no_sense(given: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}$"):
        MessageArguments(**{"parts": ("latency",), "runs": 1, "seed": 1, **given})  # type: ignore[arg-type]


def test_cells_have_no_blanks() -> None:
    """A simulator's launcher would split them there."""
    arguments = MessageArguments(PARTS, 2, 1, counts=(2, 4))
    plan = message_plan(arguments)
    assert [(one.kind, one.p) for one in plan[:4]] == [("messages", 2), ("bisection", 2), ("bisection", 4), ("messages", 2)]
    assert len(plan) == 6
    for launch in plan:
        assert " " not in cells_of(launch, arguments)


def test_a_late_receiver_shows_the_limit_of_eager_messages() -> None:
    sizes = np.array([1.0, 10, 100, 1000])
    times = np.array([1e-6, 1e-6, 1e-3, 1e-3])
    assert find_rendezvous(sizes, times, "1 ms").after == 10


CARDS = sorted(file for file in (Path(__file__).parents[2] / "data/models").glob("*.toml") if "[card]" in file.read_text())


@pytest.mark.slow
@needs_simgrid
@pytest.mark.parametrize("file", CARDS, ids=lambda file: file.stem)
def test_the_libraries_measured_come_back_from_the_simulator(file: Path, tmp_path: Path) -> None:
    """Card to platform, platform to simulator: latency and bandwidth within 10 % of what was measured."""
    measured = read_card(file)
    (tmp_path / "library.xml").write_text(to_simgrid(measured.point_to_point, hosts=2))
    simulated(tmp_path / "runs", tmp_path / "library.xml", "latency")
    sizes, trips = read_message_runs(tmp_path / "runs").table("Round_trip")
    assert np.median(trips, axis=1) / 2 == pytest.approx(measured.point_to_point(S=sizes), rel=0.1)
    assert float(sizes[-1]) == 4 * 2**20  # its time is the bandwidth, that of no bytes the latency
    assert sizes[0] == 0
