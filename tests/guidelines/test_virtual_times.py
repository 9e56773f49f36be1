"""Guidelines on times that repeat exactly: one run decides, by the ratio alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scalkit.guidelines import assess

MACHINE = {"network": "cluster", "L_s": 1e-6, "o_s": 3e-7, "g_s": 1e-7, "G_s_per_B": 8e-11, "per_node": 1}


class Table(dict[str, Any]):
    """Columns that say that their clock is virtual."""

    def __init__(self, left: float, right: float) -> None:
        super().__init__(operation=["A", "B"], p=[4, 4], run=[0, 0], time=[left, right])
        self.attrs = {"clock": "virtual", "virtual": json.dumps(MACHINE)}


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
    found = assess(Table(left, right), guideline)
    assert found.columns["state"].tolist() == [state]
    assert found.columns["decides"].all()
    assert found.columns["runs_needed"].tolist() == [1]
    assert found.exit_status() == (state == "violated")
    assert found.data.caveats[0].startswith("run times of cluster in virtual time: L 1.00 us, ")
