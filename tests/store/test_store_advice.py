"""Which operation to choose: on made-up runs whose answer is known."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import DataError, ReportError, UsageError
from scalkit.plots.store.site import page
from scalkit.plots.store.suites import joint, save
from scalkit.store.advice.advise import advise_all
from scalkit.store.advice.crossing import crossing
from scalkit.store.advice.snippets import macro_of, operation_of, operations
from scalkit.store.filed.dataset import runs_of
from scalkit.store.filed.rows import Rows
from scalkit.store.runs.content import RunContent, encoded

SIZES = 2 ** np.arange(3, 15)
CROSS = 2048.0


def _filed(store: sk.store.Store, machine: str, op: str, latency: float, gap: float, runs: int = 8, p: int = 32) -> None:
    """File runs of `latency` + `gap` times the size, in s; each run is off by about 1 %."""
    for run in range(runs):
        rng = np.random.default_rng([len(machine), len(op), run])
        times = (latency + gap * SIZES) * rng.lognormal(0, 0.01)
        y = np.round(times[:, None] * rng.lognormal(0, 0.02, (len(SIZES), 9)) * 1e9) * 1e-9
        points = [[p, size] for size in SIZES.tolist()] + [[1, 8]]
        ds = sk.measurements(points, [*y, y[0]], parameter=["p", "S"], name=op)
        ds = ds.assign_attrs(mpi_library="MPICH Version: 5.0.2" if machine == "a" else "")
        for one in runs_of(ds, {"machine": machine}, {}):  # put refuses hostile names
            store.folder.add(one.run_id, encoded(one))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> sk.store.Store:
    """On machine a the substitute wins below 2 KiB; on b MPI_Gather always does."""
    store = sk.store.open(tmp_path_factory.mktemp("advice") / "s")
    gap = 1e-9
    _filed(store, "a", "MPI_Gather", 10e-6, gap)
    _filed(store, "a", "MPI_GatherSR", 10e-6 - CROSS * gap, 2 * gap)
    _filed(store, "b", "MPI_Gather", 5e-6, gap)
    _filed(store, "b", "Gather_send_recv", 20e-6, gap)
    return store


def test_winner_crossover_and_probability(store: sk.store.Store) -> None:
    advice = store.advise("MPI_Gather", p=32)
    assert advice.candidates == ("MPI_Gather", "Gather_send_recv")
    a, b = advice.settings
    assert a.platform == "a, MPICH 5.0.2"
    assert [one.winner for one in a.segments] == ["Gather_send_recv", "MPI_Gather"]
    end = a.segments[0].crossover
    assert end is not None
    assert end.low < CROSS < end.high
    assert end.size == pytest.approx(CROSS, rel=0.4)
    assert 0.99 < a.probability[0] < 1
    assert a.probability.min() >= 0.5
    assert [one.winner for one in b.segments] == ["MPI_Gather"]
    assert b.segments[0].probability > 0.99
    assert "P > 0.99" in advice.sentences[1]


def test_portable_choice_loses_least_where_it_loses_most(store: sk.store.Store) -> None:
    portable = store.advise("MPI_Gather", p=32).portable[-1]
    assert (portable.choice, portable.platforms) == ("MPI_Gather", 2)
    assert portable.factor == pytest.approx(10.008 / (10.008 - 2.048 + 0.008), rel=0.02)
    assert portable.factors["Gather_send_recv"] > 3


def test_advice_is_repeatable_and_plain(store: sk.store.Store) -> None:
    first, second = (store.advise("MPI_Gather").to_json() for _ in range(2))
    assert first == second
    json.dumps(first, allow_nan=False)
    assert first["not_measured"] == ["Gather_isend_irecv_waitall"]
    html = store.advise("MPI_Gather")._repr_html_()
    assert "C to paste" in html
    assert "MPI_Gather on all 2 platforms, at worst 1.26 times the best" in html[: html.index("Setting by setting")]


def test_few_runs_say_nothing_of_sureness(tmp_path_factory: pytest.TempPathFactory) -> None:
    store = sk.store.open(tmp_path_factory.mktemp("few") / "s")
    _filed(store, "a", "MPI_Gather", 1e-5, 1e-9, runs=2)
    _filed(store, "a", "Gather_send_recv", 2e-5, 1e-9, runs=2)
    advice = store.advise("MPI_Gather", p=32)
    segment = advice.settings[0].segments[0]
    assert segment.winner == "MPI_Gather"
    assert math.isnan(segment.probability)
    again = sk.store.open(tmp_path_factory.mktemp("few") / "t")
    _filed(again, "a", "MPI_Gather", 2e-5, 1e-9, runs=2)
    _filed(again, "a", "Gather_send_recv", 1e-5, 1e-9, runs=2)
    unsure = again.advise("MPI_Gather", p=32)
    assert unsure.settings[0].segments[0].winner == "Gather_send_recv"
    assert "#if defined(PLATFORM_A_MPICH_5_0_2)  /* a, MPICH 5.0.2 */\n    return MPI_Gather(" in unsure.c_ifdef()


def test_what_cannot_be_advised(store: sk.store.Store) -> None:
    with pytest.raises(UsageError, match=r"^no substitutes of 'MPI_Gathe' are known \(did you mean 'MPI_Gather'\?\); known are "):
        store.advise("MPI_Gathe")
    with pytest.raises(DataError, match=r"^the store has no times of MPI_Scan or its substitutes Scan_send_recv that fit; "):
        store.advise("Scan")
    with pytest.raises(UsageError, match=r"^the statistic 'best' is unknown; choose from value, min, "):
        store.advise("MPI_Gather", statistic="best")


def test_what_was_measured_differently_is_not_mixed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """With data type double MPI_Gather is the faster one, with int its substitute: neither hides the other."""
    store = sk.store.open(tmp_path_factory.mktemp("types") / "s")
    for datatype, slower in (("double", 1.5), ("int", 0.5)):
        for op, factor in (("MPI_Gather", 1.0), ("Gather_send_recv", slower)):
            for run in range(3):
                y = [[factor * k * (1 + run / 100) * 1e-6] * 5 for k in (1, 2)]
                ds = sk.measurements([[2, 8], [2, 64]], y, parameter=["p", "S"], name=op)
                store.put(ds.assign_attrs(datatype=datatype), machine="vm")
    for run in range(3):
        ds = sk.measurements([2, 3], [[(2 + run) * 1e-6] * 5] * 2, parameter="k", name="MPI_Gather")
        store.put(ds, machine="own")
    several = r"^vm has times with datatype '\w+' and '\w+'; choose one, as in datatype=\w+\.$"
    with pytest.raises(DataError, match=several):
        store.advise("MPI_Gather", machine="vm")
    for datatype, winner in (("double", "MPI_Gather"), ("int", "Gather_send_recv")):
        advice = store.advise("MPI_Gather", machine="vm", datatype=datatype)
        assert [one.segments[0].winner for one in advice.settings] == [winner]
    assert "sk_gather_send_recv" in advice.c_runtime()
    assert "vm has times with datatype" in page(store)
    assert "vm has times with datatype" in str(advise_all(store)["MPI_Gather"])
    with pytest.raises(DataError, match=r"^the store has no times of MPI_Gather or its substitutes .* that fit; "):
        store.advise("MPI_Gather", machine="own")  # over a parameter of its own
    pair = store.compare(["op=MPI_Gather,machine=vm,datatype=int", "op=MPI_Gather,machine=vm,datatype=double"])
    assert [curve.label for curve in pair.curves] == ["MPI_Gather, int", "MPI_Gather, double"]
    with pytest.raises(
        DataError,
        match=r"^'op=MPI_Gather,machine=vm' has MPI_Gather with datatype 'double' and 'int' on vm; choose one, as in datatype=",
    ):
        store.compare(["op=MPI_Gather,machine=vm"])


def test_times_with_several_roots_are_not_mixed(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    for root in (0, 1):
        rows = Rows()
        facts = {"op": "MPI_Gather", "pattern": "collective", "metric": "time", "unit": "ns", "x_name": "msg_By", "x_unit": "By"}
        fixed = f'{{"p":2,"root":{root}}}'
        rows.add("med", **facts, fixed=fixed, x=8, p=2, msg_By=8, seq=0, passes=[3], raw=[1000, 1001, 1002])
        launches = rows.launched("generated")
        run = RunContent.of({"machine": "vm", "clock": "real", "label": f"r{root}", "launches": launches}, {}, rows.table())
        store.folder.add(run.run_id, encoded(run))
    said = r"""^vm has times with fixed '"root":\d' and '"root":\d'; choose one, as in fixed='\*"root":\d\*'\.$"""
    with pytest.raises(DataError, match=said):
        store.advise("MPI_Gather")
    assert len(store.advise("MPI_Gather", fixed='*"root":1*').settings) == 1


def test_c_says_what_the_advice_says(store: sk.store.Store) -> None:
    advice = store.advise("MPI_Gather", p=32)
    code = advice.c_ifdef()
    end = advice.settings[0].segments[0].crossover
    assert end is not None
    assert "#if defined(PLATFORM_A_MPICH_5_0_2)  /* a, MPICH 5.0.2 */" in code
    assert f"if (bytes < {end.size:.0f}) return sk_gather_send_recv(sendbuf, count, type, recvbuf, root, comm);" in code
    assert "#elif defined(PLATFORM_B)" in code
    assert 'sk_says(library, "MPICH", "5.0.2")' in advice.c_runtime()


def test_hostile_names_stay_out_of_c(tmp_path_factory: pytest.TempPathFactory) -> None:
    store = sk.store.open(tmp_path_factory.mktemp("hostile") / "s")
    evil = '*/ #include "/etc/passwd" \\\n system("x") ??/ /*'
    _filed(store, evil, "MPI_Gather", 1e-5, 1e-9, runs=3)
    _filed(store, evil, "Gather_send_recv", 2e-5, 1e-9, runs=3)
    advice = store.advise("MPI_Gather", p=32)
    for code in (advice.c_ifdef(), advice.c_runtime()):
        without_comments = re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)
        assert "passwd" not in without_comments.replace("PLATFORM_INCLUDE_ETC_PASSWD_SYSTEM_X", "").lower()
        assert "system(" not in without_comments
        assert "\\" not in code
        assert "??" not in code
        assert code.count("/*") == code.count("*/")


def test_catalogue() -> None:
    assert {one.name for one in operations()} >= {
        *("MPI_Gather", "MPI_Bcast", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter_block", "MPI_Scan")
    }
    names = [name for one in operations() for s in one.substitutes for name in (s.name, *s.aliases)]
    assert len(set(names)) == len(names)
    gather = operation_of("Gather")
    assert gather.named("MPI_GatherISWA") == gather.substitutes[2]
    assert gather.arguments == "sendbuf, count, type, recvbuf, root, comm"


def test_macro_of() -> None:
    assert macro_of("daint, simulated, 1 per node") == "PLATFORM_DAINT_SIMULATED_1_PER_NODE"
    assert macro_of("ü/*") == "PLATFORM_UNKNOWN"


def test_crossing_of_lines() -> None:
    sizes = np.array([1.0, 2.0, 4.0, 8.0])
    differences = np.array([[-1.0, -1.0, 1.0, 1.0], [-3.0, -2.0, -1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [-1.0, -1.0, -1.0, -1.0]])
    np.testing.assert_allclose(crossing(sizes, differences, 1), [2 * math.sqrt(2), 4 * math.sqrt(2), 0, math.inf])
    equal_at_4 = np.array([[-2.0, -1.0, 0.0, 0.0]])
    np.testing.assert_allclose(crossing(sizes, equal_at_4, 1), [4])


def test_a_stray_run_of_a_third_candidate_is_named_and_changes_nothing_else(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    _filed(store, "a", "MPI_Gather", 1e-5, 1e-9, runs=12)
    _filed(store, "a", "Gather_send_recv", 2e-5, 1e-9, runs=12)
    _filed(store, "a", "Gather_isend_irecv_waitall", 5e-4, 1e-9, runs=1)
    advice = store.advise("MPI_Gather", p=32)
    (segment,) = advice.settings[0].segments
    assert (segment.probability > 0.99, segment.lacking) == (True, ("Gather_isend_irecv_waitall",))
    assert "P > 0.99, too few runs of Gather_isend_irecv_waitall" in advice.sentences[0]


def test_advise_is_as_sure_as_compare(tmp_path: Path) -> None:
    """In every cell of random runs, some equal, some not, of few runs and of many, in the same runs and in others."""
    rng = np.random.default_rng(4)
    store = sk.store.open(tmp_path / "s")
    sizes = [8, 64, 512, 4096, 32768]
    for machine, runs, together in (("a", 5, True), ("b", 6, False), ("c", 9, True), ("d", 12, False)):
        factors = dict(zip(("MPI_Gather", "Gather_send_recv"), ((1.0,) * 5, (1.0, 1.0, 1.03, 1.1, 0.9)), strict=True))
        for run in range(runs):
            of_run = rng.lognormal(0, 0.03)
            found = {
                op: [[1e-5 * of_run * factor * rng.lognormal(0, 0.02)] * 3 for factor in of_op] for op, of_op in factors.items()
            }
            points = [[4, size] for size in sizes]
            if together:
                times = np.array([found[op] for op in found])
                _put(store, machine, run, points, times, list(found))
            else:
                for op, times_of_op in found.items():
                    _put(store, machine, run, points, np.array([times_of_op]), [op])
    decided = 0
    for setting in store.advise("MPI_Gather").settings:
        pair = ["op=MPI_Gather", "op=Gather_send_recv"]
        ratios = store.compare(pair, where={"machine": setting.platform, "p": 4}).ratios
        for size, probability, ratio in zip(setting.sizes.tolist(), setting.probability.tolist(), ratios, strict=True):
            assert ratio.x == size
            winner = next(one.winner for one in setting.segments if one.first <= size <= one.last)
            if (ratio.ratio < 1) == (winner == "Gather_send_recv"):
                assert probability == pytest.approx(ratio.probability)
            else:
                assert probability == 0.5
                assert ratio.verdict in ("cannot tell", "same")
            decided += ratio.verdict in ("slower", "faster")
    assert decided >= 4


def _put(store: sk.store.Store, machine: str, run: int, points: list[list[int]], times: np.ndarray, ops: list[str]) -> None:
    parts = [
        sk.measurements(points, np.round(own * 1e9) * 1e-9, parameter=["p", "S"], name=op)
        for own, op in zip(times, ops, strict=True)
    ]
    ds = parts[0] if len(parts) == 1 else xr.concat(parts, "function", combine_attrs="override")
    (_,) = store.put(ds.assign_attrs(started=f"2026-11-{1 + run:02}T00:00:00Z"), machine=machine).added


# ---- compare ----


def test_ratios_with_intervals_and_probabilities(store: sk.store.Store) -> None:
    comparison = store.compare(["op=MPI_Gather,machine=b,p=32", "op=Gather_send_recv,machine=b,p=32"])
    by_size = {ratio.x: ratio for ratio in comparison.ratios}
    assert by_size[8].low < 20.008 / 5.008 < by_size[8].high
    assert {ratio.verdict for ratio in comparison.ratios} == {"slower"}
    assert all(0.99 < ratio.probability < 1 for ratio in comparison.ratios)
    assert comparison.sentences[0].endswith("times as much as MPI_Gather: of 12 values of msg_By slower at 12.")
    json.dumps(comparison.to_json(), allow_nan=False)
    assert len(comparison.ratios) == 12


def test_different_operations_on_different_machines(store: sk.store.Store) -> None:
    choices = [{"op": "MPI_Gather", "machine": "a", "p": 32}, "op=Gather_send_recv,machine=b,p=32"]
    comparison = store.compare(choices)
    assert [curve.label for curve in comparison.curves] == ["MPI_Gather on a, MPICH 5.0.2", "Gather_send_recv on b"]


def test_runs_of_several_platforms_are_one_sample_and_it_is_said(store: sk.store.Store) -> None:
    comparison = store.compare(["op=MPI_Gather,p=32", "op=Gather_send_recv,p=32"])
    assert [curve.n_platforms for curve in comparison.curves] == [2, 1]
    assert comparison.sentences[0].endswith("; runs of 2 platforms taken together, platform=... chooses one.")


def test_the_same_is_the_same_and_few_runs_cannot_tell(store: sk.store.Store) -> None:
    same = store.compare(["op=MPI_Gather,machine=a,p=32"] * 2)
    assert {ratio.verdict for ratio in same.ratios} == {"same"}
    few = store.runs(machine="a")["run_id"].iloc[:1].tolist()
    some = store.compare([{"op": "MPI_Gather", "machine": "b", "p": 32}, {"machine": "a", "run_id": few, "p": 32}])
    assert {ratio.verdict for ratio in some.ratios} == {"cannot tell"}
    assert all(math.isnan(ratio.probability) for ratio in some.ratios)


def test_what_cannot_be_compared(store: sk.store.Store) -> None:
    with pytest.raises(UsageError, match=r"^compare needs a list of choices"):
        store.compare([])
    with pytest.raises(
        DataError, match=r"^nothing in the store fits 'op=f'; 'scalkit store runs --suites' lists what is there\.$"
    ):
        store.compare(["f"])
    with pytest.raises(UsageError, match=r" has the x_name p, .* msg_By; choose curves that have the same\.$"):
        store.compare(["op=MPI_Gather,machine=a,p=32", "op=MPI_Gather,machine=a,msg_By=8"])


@pytest.mark.slow
def test_joint_plot_and_its_downloads(store: sk.store.Store, tmp_path_factory: pytest.TempPathFactory) -> None:
    comparison = store.compare(["op=MPI_Gather,machine=a,p=32", "op=MPI_GatherSR,machine=a,p=32"])
    figure = joint(comparison)
    assert [trace.name for trace in figure.data] == ["MPI_Gather, p = 32", "MPI_GatherSR, p = 32"]
    assert figure.layout.xaxis.title.text == "message size"
    assert list(figure.data[0].x) == SIZES.tolist()
    assert figure.layout.meta["alt"].startswith("run time over message size, a line each: MPI_Gather, p = 32; ")
    folder = tmp_path_factory.mktemp("plots")
    heads = {"svg": b"<svg", "pdf": b"%PDF", "csv": b"label,op,"}
    for kind, head in heads.items():
        assert save(comparison, folder / f"plot.{kind}").read_bytes().startswith(head)
    with pytest.raises(UsageError, match=r"^a joint plot cannot be saved as 'png'; choose from svg, pdf, csv\.$"):
        save(comparison, "plot.png")


def test_a_browser_that_never_answers_ends_with_a_sentence(
    store: sk.store.Store, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison = store.compare(["op=MPI_Gather,machine=a,p=32", "op=MPI_GatherSR,machine=a,p=32"])
    browser = tmp_path_factory.mktemp("browser") / "chromium"
    browser.write_text("#!/bin/sh\nexec cat <&3 >/dev/null\n")
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER_PATH", str(browser))
    monkeypatch.setattr("scalkit.plots.store.suites._PATIENCE_S", 4)
    with pytest.raises(ReportError, match=r"^cannot draw the plot as svg: Chromium did not answer within 4 s; install chromium"):
        save(comparison, "plot.svg")


def test_csv_is_no_spreadsheet_formula(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    _filed(store, "=1+1", "MPI_Gather", 10e-6, 1e-9, runs=1)
    comparison = store.compare([{"op": "MPI_Gather", "p": 32}])
    assert comparison.to_csv().splitlines()[1].startswith("MPI_Gather,MPI_Gather,'=1+1,")
