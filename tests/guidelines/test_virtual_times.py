"""Guidelines on times that repeat exactly: one run decides, by the ratio alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from csv_files import csv_text

from scalkit.errors import DataError
from scalkit.guidelines import assess
from scalkit.guidelines.choices import remedies
from scalkit.guidelines.comparisons import repetitions
from scalkit.guidelines.experiments import measured
from scalkit.guidelines.profile import load_profile, profile
from scalkit.guidelines.tables import read_tables

MACHINE = {"network": "cluster", "L_s": 1e-6, "o_s": 3e-7, "g_s": 1e-7, "G_s_per_B": 8e-11, "per_node": 1}


def columns(left: float, right: float) -> pd.DataFrame:
    """Return measurements that say that their clock is virtual."""
    frame = pd.DataFrame({"operation": ["A", "B"], "p": [4, 4], "run": [0, 0], "time": [left, right]})
    frame.attrs = {"clock": "virtual", "virtual": json.dumps(MACHINE)}
    return frame


@pytest.mark.parametrize(
    ("guideline", "left", "right", "state"),
    [
        ("A <= B", 2e-6, 1e-6, "violated"),
        ("A <= B", 1e-6, 1e-6, "compliant"),
        ("A <= B", 1e-6, 2e-6, "compliant"),
        ("A <= B", 1.01e-6, 1e-6, "compliant"),
        ("A ~ B", 1e-6, 2e-6, "violated"),
    ],
)
def test_one_run_decides(guideline: str, left: float, right: float, state: str) -> None:
    found = assess(columns(left, right), guideline)
    assert found.columns["state"].tolist() == [state]
    assert found.columns["decides"].all()
    assert found.columns["runs_needed"].tolist() == [1]
    assert found.exit_status() == (state == "violated")
    assert found.data.caveats[0].startswith("run times of cluster in virtual time: L 1.00 us, ")


def scans(scan: float, exscan: float, **more: Any) -> pd.DataFrame:
    table = columns(scan, exscan)
    table["operation"] = ["MPI_Scan", "MPI_Exscan"]
    table.attrs["virtual"] = json.dumps(MACHINE | more)
    return table


@pytest.mark.parametrize(("scan", "state"), [(2e-6, "violated"), (1e-6, "compliant")])
def test_a_local_call_takes_no_time(scan: float, state: str) -> None:
    found = assess(scans(scan, 1e-6), "MPI_Scan <= MPI_Exscan + MPI_Reduce_local")
    assert found.columns["state"].tolist() == [state]
    assert found.columns["ratio"].tolist() == [scan / 1e-6]
    assert [one.sentence[:57] for one in remedies(found)] == ["Call MPI_Exscan and then MPI_Reduce_local instead of MPI_"][
        : state == "violated"
    ]
    assert [side[0].tolist() for side in repetitions(found, 0)] == [[scan], [1e-6]]


def test_a_local_call_is_missing_where_computing_takes_time() -> None:
    found = assess(scans(2e-6, 1e-6, compute="cpu"), "MPI_Scan <= MPI_Exscan + MPI_Reduce_local")
    assert found.not_tested == {0: "MPI_Reduce_local was not measured"}


def test_local_calls_alone_cannot_be_compared() -> None:
    found = assess(scans(2e-6, 1e-6), "MPI_Reduce_local <= MPI_Reduce_local")
    assert found.not_tested == {0: "MPI_Reduce_local takes no time on a virtual clock"}


def test_csv_keeps_the_machine(tmp_path: Path) -> None:
    file = tmp_path / "virtual.csv"
    file.write_text(csv_text(measured(columns(2e-6, 1e-6))), encoding="utf-8")
    assert file.read_text(encoding="utf-8").startswith("# cluster in virtual time: L 1.00 us, o 300 ns, ")
    found = assess(read_tables(file), "A <= B")
    assert found.data.exact
    assert found.data.machine == MACHINE
    assert found.to_dict()["virtual"] == profile(found).about["virtual"] == MACHINE
    assert found.headline == "1 of 1 test violated in virtual time (A <= B)"
    assert found.sentence(0) == "A <= B is violated at p=4: the left side takes 2.00 times the right, in virtual time."
    (tmp_path / "profile.json").write_text(profile(found).to_json(), encoding="utf-8")
    assert load_profile(tmp_path / "profile.json").about["virtual"] == MACHINE


def test_tables_of_different_clocks_are_not_put_together(tmp_path: Path) -> None:
    real = columns(2e-6, 1e-6)
    real.attrs = {}
    for name, table in (("virtual", columns(2e-6, 1e-6)), ("real", real)):
        (tmp_path / f"{name}.csv").write_text(csv_text(measured(table)), encoding="utf-8")
    with pytest.raises(DataError, match=r"these run times differ in their clock: .* and 'real time'; read them apart"):
        read_tables([tmp_path / "virtual.csv", tmp_path / "real.csv"])
