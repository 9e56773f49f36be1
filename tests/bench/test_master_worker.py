"""A master and its workers: in the simulator, where arithmetic says when the master is busy, and on the library that is here."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from needs import needs_simgrid

import scalkit as sk
from scalkit.bench.campaign.refining import Range, run_ranges
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import simulate
from scalkit.bench.patterns.master_worker import FarmArguments, prepare_farm, variants
from scalkit.cli import main
from scalkit.errors import UsageError
from scalkit.judge.expectation import sure_match
from scalkit.plots.traces.master_worker import master_worker

SEND_S, RECEIVE_S, LATENCY_S, BYTE_S, ENVELOPE_B = 3e-7, 5e-7, 1e-6, 1e-9, 16
TRUTH = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config>
    <prop id="smpi/lat-factor" value="0:1"/><prop id="smpi/bw-factor" value="0:1"/>
    <prop id="smpi/os" value="0:{SEND_S}:0"/><prop id="smpi/ois" value="0:{SEND_S}:0"/>
    <prop id="smpi/or" value="0:{RECEIVE_S}:0"/>
    <prop id="smpi/async-small-thresh" value="65536"/><prop id="network/TCP-gamma" value="0"/>
  </config>
  <cluster id="flat" prefix="flat-" suffix="" radical="0-64" speed="10Gf" core="1" bw="1GBps" lat="0.5us"/>
</platform>
"""
WORK_US, UNIT_B, RESULT_B = 5, 16, 16
CHOSEN = ("Waitsome_Isend", "Recv_any", "Waitany_Bsend")
WORKERS = (1, 2, 4, 8, 10, 11, 16, 24, 64)


@pytest.mark.slow
@needs_simgrid
def test_the_master_saturates_where_arithmetic_says(own_cache: Path, tmp_path: Path) -> None:
    """A unit takes c, of which the master needs m; so each takes the larger of c / workers and m."""
    (tmp_path / "flat.xml").write_text(TRUTH)
    arguments = FarmArguments(
        tuple(workers + 1 for workers in WORKERS),
        runs=1,
        seed=3,
        variants=("Waitany", "Recv_any", "Waitsome"),
        sizes=(UNIT_B,),
        work_us=(WORK_US,),
        result_size=RESULT_B,
        units=40,
    )
    campaign = prepare_farm(tmp_path / "runs", arguments, simulate(load_platform(str(tmp_path / "flat.xml"))))
    (result,) = run_ranges([Range([campaign])])
    assert (result.failures, result.missing, result.remarks) == ((), (), ())
    ds = sk.read(tmp_path / "runs")
    assert ds.attrs["parameter"] == "workers"
    assert ds.attrs["simulated"] == 1
    assert ds["workers"].values.tolist() == list(WORKERS)
    skipped = [note for note in json.loads(ds.attrs["notes"]) if "every 0.1 ms only" in note]
    assert len(skipped) == len(WORKERS)  # MPI_Waitsome of the simulator polls

    ways = SEND_S + LATENCY_S + RECEIVE_S
    c = 2 * ways + (UNIT_B + RESULT_B + 2 * ENVELOPE_B) * BYTE_S + WORK_US * 1e-6
    m = SEND_S + RECEIVE_S
    workers = np.array(WORKERS, dtype=float)
    truth = np.maximum(c / workers, m)
    assert 10 < c / m < 11
    for function in ds["function"].values.tolist():
        one = ds.sel(function=function).median(["run", "repetition"])
        np.testing.assert_allclose(one["time"], truth, rtol=0.035)
        np.testing.assert_allclose(one["master_share"], m / truth, atol=0.03)
        np.testing.assert_allclose(one["idle_share"], 1 - (WORK_US * 1e-6 + SEND_S) / (workers * truth), atol=0.02)
        np.testing.assert_allclose(one["time_work"], WORK_US * 1e-6, rtol=1e-3)
        verdict = sk.validate(ds, {function: "1/workers"})[function]
        assert (sure_match(verdict.probability), verdict.direction) == ("none", "grows faster")
        change = sk.piecewise(verdict).change_points[0]
        assert (change.after, change.before) in ((8, 10), (10, 11))
        before, after = (np.asarray(model([1.0, 10.0, 24.0, 64.0])) for model in (change.left, change.right))
        assert before[1] < 1.03 * before[0]  # all workers together take no longer, so that a unit falls as 1 / workers
        assert after[3] - after[2] == pytest.approx(40 * m, rel=0.02)  # behind it every worker costs m


@pytest.mark.slow
@needs_simgrid
def test_a_large_unit_keeps_the_master_busy_with_sending(own_cache: Path, tmp_path: Path) -> None:
    """Above 64 KiB a send waits until its data are there: a unit costs the master its transfer, whatever the work."""
    (tmp_path / "flat.xml").write_text(TRUTH)
    size = 10**6
    arguments = FarmArguments((5, 9), 1, 3, variants=("Waitany",), sizes=(1024, size), work_us=(20,), units=20)
    prepare_farm(tmp_path / "runs", arguments, simulate(load_platform(str(tmp_path / "flat.xml")))).run()
    ds = sk.read(tmp_path / "runs")
    assert ds.attrs["parameter"] == "workers,S"
    large = ds.sel(S=size).median(["run", "repetition"]).squeeze()
    np.testing.assert_allclose(large["time"], size * BYTE_S, rtol=0.01)
    assert (large["master_share"] > 0.98).all()
    assert (large["idle_share"] > 0.9).all()
    figure = master_worker(ds.sel(workers=8))
    assert figure.layout.xaxis.title.text == "size of a unit"


def test_all_ways_to_collect_and_hand_out_have_names() -> None:
    assert variants()[:3] == ("Waitsome", "Waitany", "Recv_any")
    assert len(set(variants())) == 12
    assert set(CHOSEN) < set(variants())


def test_what_is_measured_here(mpi: Mpi, tmp_path: Path) -> None:
    arguments = FarmArguments(
        (2, 3), 2, 5, variants=CHOSEN, sizes=(8, 3000), work_us=(0, 5), result_size=9, units=4, reps=2, budget_s=600.0
    )
    campaign = prepare_farm(tmp_path / "runs", arguments, mpi)
    (result,) = run_ranges([Range([campaign])])
    assert (result.done, result.failures, result.remarks) == (4, (), ())
    assert campaign.run().fresh == 0  # nothing is measured twice
    ds = sk.read(tmp_path / "runs")
    assert ds.sizes["function"] == 2 * len(CHOSEN)
    assert (ds.sizes["workers"], ds.sizes["S"], ds.sizes["run"]) == (2, 2, 2)
    assert bool(ds["verified"].all())
    assert bool((ds["time"].min("repetition") > 0).all())
    for share in ("master_share", "idle_share"):
        assert float(ds[share].min()) >= 0.0
        assert float(ds[share].max()) <= 1.0
    worked = ds.sel(function="Master_worker[Recv_any:5us]")["time_work"]
    assert bool((worked > 0).all())  # how long a busy machine takes for it is open; the simulator's clock is not
    store = sk.store.open(tmp_path / "store")
    store.put(tmp_path / "runs")
    assert set(store.suites()["pattern"]) == {"master-worker"}
    with pytest.raises(UsageError, match=r"holds a campaign with other arguments: units was 4, is now 5\."):
        prepare_farm(tmp_path / "runs", FarmArguments(**{**vars(arguments), "units": 5}), mpi)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"counts": (1, 2)}, "-n 1,2: whole numbers from 2 to 4096 are needed."),
        ({"counts": (3, 2)}, "-n 3,2: name each number once, ascending."),
        ({"variants": ()}, f"variants: nothing is named; name each once, from {', '.join(variants())}."),
        ({"sizes": (4,)}, "sizes 4: whole numbers from 8 to 67108864 are needed."),
        ({"work_us": (0, 0)}, "work_us 0,0: name each number once, ascending."),
        ({"result_size": 7}, "result_size 7: a whole number from 8 to 67108864 is needed."),
        ({"units": 0}, "units 0: a whole number from 1 to 1000000 is needed."),
        ({"reps": 0}, "--reps 0: a whole number from 1 to 100000 is needed."),
        ({"budget_s": math.inf}, "--budget is inf; a positive number is needed."),
    ],
)
def test_arguments_that_make_no_sense(change: dict[str, object], text: str) -> None:
    with pytest.raises(UsageError) as error:
        FarmArguments(**{"counts": (2,), "runs": 1, "seed": 1, **change})  # type: ignore[arg-type]
    assert str(error.value) == text


def test_the_command(mpi: Mpi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "runs"
    command = ["measure", "master-worker", "-n", "2", "--runs", "1", "--out", str(out), "--max-reps", "2"]
    command += ["--size", "8,64", "--budget", "3", "--seed", "1"]
    assert main(command) == 0
    assert "Measuring master-worker of" in capsys.readouterr().out
    assert (out / "master-worker-p0002-r00.jsonl").is_file()
    assert main(command) == 0
    assert "nothing was missing: 1 launches" in capsys.readouterr().out
    for words, text in (
        (["memory"], "master-worker is measured by itself: leave out other names and --function."),
        (["--size", "64,many"], "--size 64,many: whole numbers are needed, such as --size 8,64,512."),
        (["--size", "4"], "sizes 4: whole numbers from 8 to 67108864 are needed."),
    ):
        assert main(["measure", "master-worker", *words, "-n", "2", "--out", str(tmp_path / "new")]) == 2
        assert text in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
