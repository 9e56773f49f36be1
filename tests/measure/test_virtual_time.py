"""Run files in virtual time: times decide and say which machine's they are; they are never mixed with others."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from run_records import END, Writer, cell, env, memory

from scalkit.errors import DataError, RunFileError
from scalkit.formats.read import read
from scalkit.formats.writers.cells import to_csv
from scalkit.measure import combine
from scalkit.measure.reduce import series
from scalkit.measure.virtual_time import clock_attributes, machine_of, numbers_in_words, said_of
from scalkit.plots.style import metric_word

MACHINE = {"network": "cluster", "L_s": 1e-6, "o_s": 3e-7, "g_s": 1e-7, "G_s_per_B": 8e-11, "per_node": 1}
WORDS = "L 1.00 us, o 300 ns, g 100 ns, G 80.0 ps/B; computing costs no time"
SAID = f"cluster in virtual time: {WORDS}; messages through shared memory, contention of links and network hardware are left out"


def virtual_env(p: int = 4, **more: Any) -> dict[str, Any]:
    return env(p, provenance={"virtual": {**MACHINE, **more}})


def test_times_decide_and_say_which_machine_they_are_of(write: Writer) -> None:
    ds = read(write(virtual_env(), cell(t_ns=(3300, 3300, 3300)), END))
    assert (ds.attrs["clock"], ds.attrs["measured_on"], ds.attrs["simulated"]) == ("virtual", "cluster in virtual time", 0)
    assert machine_of(ds.attrs) == MACHINE
    assert not ds["oversubscribed"].any()
    assert ds["processes_per_node"].item() == 1
    assert math.isnan(ds["foreign_load"].item())
    (one,) = series(ds)
    assert one.decides
    assert one.virtual
    assert one.resolution == 1e-9
    assert one.caveats == (SAID,)
    assert said_of(ds.attrs) == SAID
    assert metric_word(one) == "run time, virtual"


def test_a_table_keeps_the_clock(write: Writer, tmp_path: Path) -> None:
    for p in (2, 4, 8):
        write(virtual_env(p), cell(p=p, t_ns=(3300, 3300, 3300)), END, name=f"time-p{p:04d}-r00.jsonl")
    ds = read(tmp_path)
    text = to_csv(ds)
    assert text.splitlines()[:2] == [f"# cluster in virtual time: {WORDS}", f"# virtual: {json.dumps(MACHINE)}"]
    (tmp_path / "times.csv").write_text(text)
    (tmp_path / "others.csv").write_text(text.replace("cluster", "ethernet"))
    (tmp_path / "simulated.csv").write_text("# simulated, not measured\np,time [s]\n2,1\n4,2\n")
    again = read(tmp_path / "times.csv")
    assert (again.attrs["clock"], machine_of(again.attrs)) == ("virtual", MACHINE)
    assert [(one.virtual, one.decides, one.caveats) for one in series(again)] == [(True, True, (SAID,))]
    assert read(tmp_path / "simulated.csv").attrs["simulated"] == 1
    with pytest.raises(DataError, match=r"^these run times differ in their clock: 'cluster in .*; read them apart\.$"):
        read([tmp_path / "times.csv", tmp_path / "others.csv"])


def test_processes_on_a_node_are_those_of_the_virtual_machine(write: Writer) -> None:
    ds = read(write(virtual_env(p=8, per_node=4), cell(p=8), END))
    assert ds["processes_per_node"].item() == 4
    assert ds.attrs["measured_on"] == "cluster with 4 processes a node in virtual time"


def test_memory_of_the_same_campaign_is_real_and_crowds_no_times(write: Writer, tmp_path: Path) -> None:
    write(virtual_env(), cell(), END)
    write(env(program="sk_memory"), memory(), END, name="memory-p0004-r00.jsonl")
    ds = read(tmp_path)
    assert ds.attrs["measured_on"] == "node1, cluster in virtual time"
    assert not ds["oversubscribed"].any()
    assert ds["processes_per_node"].item() == 4
    of_memory, of_time = sorted(series(ds), key=lambda one: one.metric)
    assert (of_memory.virtual, of_memory.caveats) == (False, ())
    assert of_time.virtual


def test_real_and_virtual_times_are_never_read_together(write: Writer, tmp_path: Path) -> None:
    write(virtual_env(), cell(), END)
    write(env(p=2), cell(p=2), END, name="time-p0002-r00.jsonl")
    with pytest.raises(DataError) as caught:
        read(tmp_path)
    assert str(caught.value) == (
        f"these run times differ in their clock: 'real time' and 'cluster in virtual time: {WORDS}'; read them apart."
    )


def test_real_and_virtual_times_are_never_combined_but_memory_is(write: Writer, tmp_path: Path) -> None:
    virtual = read(write(virtual_env(), cell(), END, name="a.jsonl"))
    real = read(write(env(p=2), cell(p=2), END, name="b.jsonl"))
    bytes_alone = read(write(env(program="sk_memory"), memory(), END, name="c.jsonl"))
    with pytest.raises(DataError) as caught:
        combine([virtual, real])
    assert str(caught.value) == (
        f"measurements that differ in their clock cannot be combined: 'cluster in virtual time: {WORDS}' and 'real time'; "
        "judge them apart."
    )
    joined = combine([bytes_alone, virtual])
    assert joined.attrs["clock"] == "virtual"
    assert [one.virtual for one in sorted(series(joined), key=lambda one: one.metric)] == [False, True]


def test_computing_and_the_inside_of_nodes_stand_in_the_words() -> None:
    machine = {**MACHINE, "per_node": 2, "inside": {"L_s": 2e-7, "o_s": 0.0}, "compute": "cpu"}
    assert numbers_in_words(machine) == (
        "L 1.00 us, o 300 ns, g 100 ns, G 80.0 ps/B; inside a node L 200 ns, o 0 s; computing by cpu"
    )
    assert clock_attributes([]) == {}
    assert json.loads(clock_attributes([machine])["virtual"]) == machine


def test_what_is_wrong_with_the_machine_of_a_run_file_is_named(write: Writer) -> None:
    path = write(virtual_env(per_node="x"), cell(), END)
    with pytest.raises(RunFileError) as caught:
        read(path)
    assert str(caught.value) == (
        "time-p0004-r00.jsonl, line 1: 'per_node' of the 'virtual' record is 'x'; a whole number of at least 1 is needed. "
        "Restore the file or measure again."
    )


def test_attributes_that_are_no_numbers_are_refused(write: Writer) -> None:
    ds = read(write(virtual_env(), cell(), END)).assign_attrs(virtual="[1]")
    with pytest.raises(DataError, match=r"attrs\['virtual'\] is '\[1\]'; JSON text of an object is needed"):
        series(ds)
