"""The bars: which algorithm, and predictions from messages alone, on simulated operations whose algorithms are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lessons.known import read_known
from scalkit.errors import DataError
from scalkit.perfmodels.files.sources import message_of

FOLDER = Path(__file__).resolve().parents[2] / "data/models"
FILES = sorted(FOLDER.glob("*.csv"))


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


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    known = read_known(FOLDER / "known-star.csv")
    with pytest.raises(DataError, match="has no 'broadcast' by 'magic'; it has broadcast by binomial"):
        known.cells("broadcast", "magic")
    (tmp_path / "other.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="has no table with the columns operation,algorithm,P,S,time_s"):
        read_known(tmp_path / "other.csv")


def test_the_model_of_a_message_is_bundled_as_a_catalogue() -> None:
    known, bundled = read_known(FOLDER / "simulated-juropa.csv"), FOLDER / "simulated-juropa.toml"
    assert bundled.read_text(encoding="utf-8") == known.catalogue()
    sizes = np.geomspace(1, 2**24, 50).round()
    assert message_of(bundled)(S=sizes) == pytest.approx(known.message(S=sizes), rel=1e-12)
    assert known.dataset({"f": ("broadcast", "binomial")}).attrs["simulated"] == 1
