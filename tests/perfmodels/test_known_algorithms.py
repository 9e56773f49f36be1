"""The bars: which algorithm, and predictions from messages alone, on simulated operations whose algorithms are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scalkit.errors import DataError
from scalkit.perfmodels.collectives.known import read_known

FOLDER = Path(__file__).resolve().parents[2] / "data/models"
FILES = sorted(FOLDER.glob("*.csv"))
HEAD = "# simulated: here\noperation,algorithm,P,S,time_s\n"
ROWS = "message,round-trip,2,8,1e-6\nmessage,round-trip,2,16,2e-6\nmessage,round-trip,2,32,3e-6\n"


def test_there_are_machines() -> None:
    assert {"known-star", "known-juropa", "simulated-juropa"} <= {file.stem for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_algorithms_are_named_and_times_predicted(file: Path) -> None:
    known = read_known(file)
    assert file.read_text(encoding="utf-8").splitlines()[0].startswith("# simulated with SMPI")
    assert known.simulated
    tried = list(known.tried())
    assert sum(len(one.S) for one in tried) >= 200
    right, alone = (np.concatenate([getattr(one, what) for one in tried]) for what in ("right", "right_alone"))
    assert right.mean() >= alone.mean() >= 0.87  # the most probable name alone
    assert np.median(np.concatenate([one.errors for one in tried])) <= 0.25


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no table with the columns operation,algorithm,P,S,time_s"),
        ("a,b\n", "has no table with the columns"),
        (HEAD + ROWS, "has no rows of 'gap'; models need the times of messages, too."),
        (HEAD + "message,x,2,8\n", "line 3: 'message,x,2,8' is no operation,algorithm,P,S,time_s; mend it."),
        (HEAD + "sort,x,2,8,1\n", "line 3: 'sort,x,2,8,1' makes no sense;"),
        (HEAD + "message,x,2,8,-1\n", "makes no sense; P >= 2, S >= 0 and times are positive."),
    ],
)
def test_files_that_are_none_are_refused(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "known.csv"
    file.write_text(text)
    with pytest.raises(DataError) as error:
        read_known(file)
    assert message in str(error.value)
    with pytest.raises(DataError, match="cannot read"):
        read_known(tmp_path / "nothing.csv")


def test_what_is_not_there_is_named() -> None:
    known = read_known(FOLDER / "known-star.csv")
    with pytest.raises(DataError, match="has no 'broadcast' by 'magic'; it has broadcast by binomial"):
        known.cells("broadcast", "magic")
