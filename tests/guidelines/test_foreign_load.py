"""Other programs on the cores keep a violation from deciding, where the clock is a real one."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from scalkit.guidelines import assess

RUNS = 12


def campaign(load: list[float]) -> dict[str, Any]:
    names = ["A"] * RUNS + ["B"] * RUNS
    time = [2.0 + run / 1000 for run in range(RUNS)] + [1.0 + run / 1000 for run in range(RUNS)]
    return {"operation": names, "p": [2] * 2 * RUNS, "run": [*range(RUNS)] * 2, "foreign_load": load, "time": time}


@pytest.mark.parametrize(
    ("left", "decides"),
    [
        ([0.02] * RUNS, True),
        ([0.5] * 5 + [0.02] * 7, True),  # a few disturbed runs do not move a median
        ([0.5] * 7 + [0.02] * 5, False),
        ([float("nan")] * RUNS, True),  # nobody looked
    ],
)
def test_a_violation_beside_other_programs_does_not_decide(left: list[float], decides: bool) -> None:
    found = assess(campaign([*left, *[0.01] * RUNS]), "A <= B")
    assert found.columns["state"].tolist() == ["violated"]
    assert found.columns["decides"].tolist() == [decides]
    assert found.exit_status() == int(decides)
    said = [one for one in found.warnings if one.startswith("Other programs used more than 10 % of the cores during 1 of 2 ")]
    assert len(said) == int(not decides)


def test_virtual_times_do_not_mind() -> None:
    table = pd.DataFrame(campaign([0.9] * 2 * RUNS))
    table.attrs = {"clock": "virtual", "virtual": "{}"}
    assert assess(table, "A <= B").columns["decides"].all()
