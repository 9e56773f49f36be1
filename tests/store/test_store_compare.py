"""Choices: by run, by what is known of runs, and left open; each is compared with what was measured alike."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import DataError, UsageError
from scalkit.plots.store.site import page
from scalkit.plots.store.suites import joint
from scalkit.store.filed.dataset import runs_of
from scalkit.store.runs.content import encoded
from scalkit.store.views.curves import _shown, choice_of

DATA = Path(__file__).resolve().parents[2] / "data"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> sk.store.Store:
    """Two operations over two numbers of processes and three sizes; before and after a switch, three runs each."""
    store = sk.store.open(tmp_path_factory.mktemp("compared") / "results")
    points = [[p, size] for p in (2, 4) for size in (8, 64, 512)]
    for op, slower in (("MPI_Gather", 1.0), ("Gather_send_recv", 2.0)):
        for notes, faster in (("before", 1.0), ("after", 0.5)):
            for run in range(3):
                times = [slower * faster * p * (1 + run / 100) * 1e-6 * size for p, size in points]
                ds = sk.measurements(points, times, parameter=["p", "S"], name=op)
                ds = ds.assign_attrs(started=f"2019-03-{10 + run}T00:00:00Z")
                store.put(ds, machine="vm", site=f"lab {notes}", notes=notes)
    return store


def test_what_is_left_open_becomes_curves_that_are_compared_with_their_like(store: sk.store.Store) -> None:
    found = store.compare(["MPI_Gather", "Gather_send_recv"], where={"notes": "before"})
    assert [curve.label for curve in found.curves] == [
        "MPI_Gather, p = 2",
        "MPI_Gather, p = 4",
        "Gather_send_recv, p = 2",
        "Gather_send_recv, p = 4",
    ]
    assert found.references == (-1, -1, 0, 1)
    assert {round(ratio.ratio, 6) for ratio in found.ratios} == {2.0}
    assert [text.split(":")[0] for text in found.sentences] == [
        f"Gather_send_recv, p = {p} takes 2 times as much as MPI_Gather, p = {p}" for p in (2, 4)
    ]
    assert [one["reference"] for one in found.to_json()["curves"]][2:] == ["MPI_Gather, p = 2", "MPI_Gather, p = 4"]
    assert len(joint(found).data) == 4
    of_one = store.compare(["op=MPI_Gather,p=4", "op=Gather_send_recv"], where={"notes": "before"})
    assert of_one.references == (-1, 0, 0)
    lacking = store.compare(["op=MPI_Gather,p=2|4", "op=Gather_send_recv,p=4|2", "op=MPI_Gather,p=4"])
    assert lacking.references == (-1, -1, 0, 1, 1)


def test_a_curve_without_its_like_says_so(store: sk.store.Store, tmp_path: Path) -> None:
    copy = sk.store.open(tmp_path / "s")
    copy.merge(store.path)
    points = [[p, size] for p in (4, 8) for size in (8, 64, 512)]
    copy.put(sk.measurements(points, [1e-6] * 6, parameter=["p", "S"], name="MPI_Allgather"), machine="vm")
    found = copy.compare(["MPI_Gather", "MPI_Allgather"])
    assert found.references == (-1, -1, 1, -1)
    expected = "MPI_Allgather, p = 8 has nothing to be compared with: MPI_Gather was not measured with p = 8."
    assert found.sentences[1] == expected


def test_a_curve_without_sizes_is_not_compared_with_several(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    for size in (8, 64):
        points = [[p, size] for p in (2, 4, 8)]
        store.put(sk.measurements(points, [1e-6] * 3, parameter=["p", "S"], name="MPI_Bcast"), machine="vm")
    store.put(sk.measurements([2, 4, 8], [1e-6] * 3, name="MPI_Barrier"), machine="vm")
    (said,) = store.compare(["MPI_Bcast", "MPI_Barrier"]).sentences
    assert said == "MPI_Barrier has nothing to be compared with: MPI_Bcast is several curves, choose one of them."


def test_virtual_times_say_so_and_are_no_curve_with_others(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    ds = sk.measurements([2, 4], [1e-6, 2e-6], name="MPI_Gather")
    machine = {"network": "mine", "L_s": 1e-6, "o_s": 3e-7, "g_s": 1e-7, "G_s_per_B": 8e-11, "per_node": 1}
    store.put(ds.assign_attrs(clock="virtual", virtual=json.dumps(machine), started="2026-01-01T00:00:00Z"))
    (curve,) = store.compare([{"op": "MPI_Gather"}]).curves
    assert curve.platform == ("mine in virtual time: L 1.00 us, o 300 ns, g 100 ns, G 80.0 ps/B; computing costs no time")
    assert joint(store.compare([{"op": "MPI_Gather"}])).data[0].name == "MPI_Gather (in virtual time)"
    assert "1 run, 1 of them in virtual time, " in page(store)
    loaded = store.load(op="MPI_Gather")
    assert (loaded.attrs["clock"], json.loads(loaded.attrs["virtual"])) == ("virtual", machine)
    store.put(ds.assign_attrs(measured_on="vm", started="2026-01-02T00:00:00Z"))
    with pytest.raises(DataError) as caught:
        store.compare([{"op": "MPI_Gather"}])
    assert str(caught.value) == (
        "'op=MPI_Gather' has times of several clocks, real and virtual, which are not taken together; choose one, as in "
        "clock=real."
    )


def test_more_processes_than_cores_are_said(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    store.put(DATA / "libraries-times" / "mpich-5.0.2")
    found = store.compare(["MPI_Gather", "MPI_Bcast"], where={"metric": "time"})
    assert any(curve.oversubscribed for curve in found.curves)
    assert found.sentences[0].endswith("; more processes than cores.")
    crowded = sk.store.open(tmp_path / "crowded")
    for op, times in (("MPI_Gather", [1e-6, 3e-6]), ("Gather_send_recv", [4e-6, 2e-6])):
        ds = sk.measurements([2, 4], times, name=op)
        crowded.put(ds.assign_coords(oversubscribed=("p", [False, True])), machine="vm")
    advice = crowded.advise("MPI_Gather")
    assert [one.oversubscribed for one in advice.settings] == [False, True]
    left_out = "For all of it but 1 setting with more processes than cores"
    assert advice.sentences[-1] == f"{left_out}: MPI_Gather is the best everywhere on this platform."
    assert (advice.portable[-1].left_out, crowded.advise("MPI_Gather", p=4).portable[-1].choice) == (1, "Gather_send_recv")


def test_more_than_can_be_told_apart_is_refused_with_what_to_choose(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    points = [[p, size] for p in range(2, 12) for size in (8, 64)]
    store.put(sk.measurements(points, [1e-6] * 20, parameter=["p", "S"], name="MPI_Gather"), machine="vm")
    expected = (
        r"^'op=MPI_Gather' has 10 numbers of processes \(2, 3, 4, 5, 6, 7, 8, 9, 10, 11\) and 2 sizes \(8, 64\); "
        r"choose up to 8, as in p=2 or p=2\|3\.$"
    )
    with pytest.raises(DataError, match=expected):
        store.compare(["MPI_Gather"])
    assert len(store.compare(["op=MPI_Gather,p=2|3|11"]).curves) == 3


def test_runs_are_chosen_by_the_beginning_of_their_id_and_by_what_is_known_of_them(store: sk.store.Store) -> None:
    runs = store.runs(site="lab before", notes="bef*")
    assert len(runs) == 6
    gathers = [one for one in runs["run_id"] if set(store.suites(run=one[:8])["op"]) == {"MPI_Gather"}]
    assert len(gathers) == 3
    first, second, _ = gathers
    found = store.compare([f"run={first[:8]},p=4", f"op=MPI_Gather,run={second[:8]},p=4"])
    assert [curve.label for curve in found.curves] == [f"MPI_Gather, run {one[:8]}" for one in (first, second)]
    switch = store.compare(["op=MPI_Gather,notes=before,p=4", "op=MPI_Gather,notes=after,p=4"])
    assert {round(ratio.ratio, 2) for ratio in switch.ratios} == {0.5}
    assert len(store.points(run=[first, second], p=4)) == 6
    assert len(store.runs(run=first[:6])) == 1
    assert len(store.suites(run=first, site="lab before", p=2)) == 1
    assert len(store.runs(run=first[:6], run_id=second)) == 0
    with pytest.raises(DataError, match=r"^there is no run '0000' in "):
        store.runs(run="0000")
    with pytest.raises(DataError, match=r"^there is no run 'zz' in "):
        store.compare(["op=MPI_Gather,run=zz"])
    with pytest.raises(UsageError, match=r"^there is no 'sit' to choose by; did you mean 'site'\?$"):
        store.points(sit="lab")


def test_choices_are_shown_as_they_are_written() -> None:
    assert _shown(choice_of("op=MPI_Gather,platform=vm, MPICH 5.0,p=2|16")) == "op=MPI_Gather,platform=vm, MPICH 5.0,p=2|16"
    assert choice_of("MPI_Gather|MPI_Bcast") == {"op": ["MPI_Gather", "MPI_Bcast"]}
    assert _shown({"op": "f", "run_id": ["0" * 32] * 1000}) == "op=f"


def test_several_operations_are_no_curve(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    store.put(DATA / "libraries-times" / "mpich-5.0.2")
    with pytest.raises(DataError, match=r" has \d operations, such as .* at one p of one run; choose more narrowly, "):
        store.compare(["metric=time,program=sk_time"])


def test_the_command_takes_filters_of_all_curves(store: sk.store.Store, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["store", "compare", str(store.path), "MPI_Gather", "Gather_send_recv", "--where", "notes=after", "p=4"]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["label"] for one in told["curves"]] == ["MPI_Gather", "Gather_send_recv"]
    assert main(["store", "compare", str(store.path), "MPI_Gather"]) == 0
    assert capsys.readouterr().out == "2 curves of one choice; name another to compare it with.\n"


def _few(path: Path, runs: int) -> sk.store.Store:
    """Return a store of `runs` runs on one machine, where MPI_Gather takes twice as long as its substitute, in every run."""
    store = sk.store.open(path)
    for op, factor in (("MPI_Gather", 2.0), ("Gather_send_recv", 1.0)):
        for run in range(runs):
            y = [[factor * k * (1 + run / 1000) * 1e-5] * 5 for k in (1, 2)]
            store.put(sk.measurements([[4, 8], [4, 64]], y, parameter=["p", "S"], name=op), machine="vm")
    return store


@pytest.mark.parametrize(("runs", "decided"), [(1, False), (2, False), (4, False), (5, True), (12, True)])
def test_compare_and_advise_say_the_same_of_the_same_runs(tmp_path: Path, runs: int, decided: bool) -> None:
    """Where no test of so many runs finds a difference, both say so, and neither has a number for it."""
    store = _few(tmp_path / "s", runs)
    advice, comparison = store.advise("MPI_Gather"), store.compare(["MPI_Gather", "Gather_send_recv"])
    assert ("too few runs" in str(advice)) is not decided
    assert ("too few runs" in comparison.sentences[0]) is not decided
    assert {ratio.verdict for ratio in comparison.ratios} == {"faster" if decided else "cannot tell"}
    assert np.isfinite(advice.settings[0].probability).all() == decided
    assert ("P > 0.99" in str(advice)) is decided
    assert ("P > 0.99 (5 runs)" in str(advice)) is (runs == 5)
    assert ("; only 5 runs" in comparison.sentences[0]) is (runs == 5)
    assert "P >= 1" not in str(advice)
    assert ("too few runs" in advice._repr_html_()) is not decided


def test_simulated_virtual_and_measured_times_have_headlines_of_their_own(tmp_path: Path) -> None:
    """On the machine MPI_Gather is the slow one, in the simulation the fast one; also where both have one name."""
    store = _few(tmp_path / "s", 5)
    numbers = {"network": "mine", "L_s": 1e-6, "o_s": 3e-7, "g_s": 1e-7, "G_s_per_B": 8e-11, "per_node": 1}
    virtual = {"clock": "virtual", "virtual": json.dumps(numbers)}
    for machine, attrs in (("vm", {"simulated": 1}), ("cluster", virtual)):
        for op, factor in (("MPI_Gather", 1.0), ("Gather_send_recv", 3.0)):
            for run in range(5):
                y = [[factor * k * (1 + run / 1000) * 1e-5] * 5 for k in (1, 2)]
                ds = sk.measurements([[4, 8], [4, 64]], y, parameter=["p", "S"], name=op)
                for one in runs_of(ds.assign_attrs(attrs), {"machine": machine}, {}):
                    store.folder.add(one.run_id, encoded(one))
    advice = store.advise("MPI_Gather")
    assert [(one.clock, one.choice, one.platforms) for one in advice.portable] == [
        ("simulated", "MPI_Gather", 1),
        ("virtual", "MPI_Gather", 1),
        ("real", "Gather_send_recv", 1),
    ]
    assert advice.sentences[-3:] == (
        "For all that was measured: Gather_send_recv is the best everywhere on this platform.",
        "For all in virtual time: MPI_Gather is the best everywhere on this platform.",
        "For all that is simulated: MPI_Gather is the best everywhere on this platform.",
    )
    virtual_name = "cluster, mine in virtual time: L 1.00 us, o 300 ns, g 100 ns, G 80.0 ps/B; computing costs no time"
    assert {one.platform for one in advice.settings} == {"vm", "vm (simulated)", virtual_name}
    with pytest.raises(
        DataError, match="has times of several clocks, real and simulated, which are not taken together; choose one, as"
    ):
        store.compare(["op=MPI_Gather,machine=vm"])
    pair = store.compare(["op=MPI_Gather,machine=vm,clock=real", "op=MPI_Gather,machine=vm,clock=simulated"])
    assert pair.sentences[0].endswith("; simulated against real times.")
