"""The waits that the analysis finds, against the truth: simulated runs over the layer that tells when it served requests."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from srumma_truth import compare

from onesided import Simulator, delays, multiply
from scalkit.trace import analyse


@pytest.mark.parametrize(("processes", "check"), [(16, 1), (64, 1), pytest.param(256, 0, marks=pytest.mark.slow)])
def test_never_above_the_truth(simulator: Simulator, tmp_path: Path, processes: int, check: int) -> None:
    told = multiply(simulator, processes, "layer", trace=tmp_path, noise=20, seed=3, check=check)
    assert told.is_simulated
    assert told.error == 0 if check else np.isnan(told.error)
    found = compare(tmp_path)
    side = round(processes**0.5)
    assert found.requests == 2 * processes * (side - 1)
    assert (found.gap >= 0).all()
    assert 1e-9 * np.median(found.gap) == pytest.approx(told.latency_s, rel=0.02)
    assert found.found.sum() > 0.3 * found.true.sum() > 0
    ds = analyse(tmp_path)
    assert int(ds["severity"].sel(metric="wait_for_progress").sum()) == found.found.sum()
    assert int(ds["severity"].sel(metric="rma_operations").sum()) == 2 * processes * side


@pytest.mark.parametrize("ahead", [0, 1])
def test_a_delayed_process_makes_others_wait(simulator: Simulator, tmp_path: Path, ahead: int) -> None:
    told = multiply(
        simulator, 6, "layer", trace=tmp_path, n=48, ahead=ahead, delay_us=2000, delay_every=3, delay_rank=4, repeat=2
    )
    assert told.error == 0  # 2 by 3 processes: panels of A are strided
    found = compare(tmp_path)
    assert (found.gap >= 0).all()
    ds = analyse(tmp_path)
    waits = ds["metric"].values[ds["cause_metric"].values] == "wait_for_progress"
    by_4 = waits & (ds["cause_by"].values == 4)
    assert int(ds["cause_severity"].values[by_4].sum()) > 1_000_000
    longest = int(np.where(by_4, ds["cause_severity"].values, 0).argmax())
    assert str(ds["path_name"].values[int(ds["cause_path"].values[longest])]) == "program/srumma/delay"


def test_each_kind_of_transfer_waits(simulator: Simulator, tmp_path: Path) -> None:
    found = delays(simulator, "layer", trace=tmp_path)
    assert len(found) == 7
    compared = compare(tmp_path)
    assert (compared.gap >= 0).all()
    for one, wait in zip(found, compared.found.tolist(), strict=True):
        assert one.injected_ns > 40_000_000
        assert one.injected_ns - 100_000 <= wait <= one.end - one.begin, one.kind


def test_simulations_repeat_themselves(simulator: Simulator, tmp_path: Path) -> None:
    sums = set()
    for turn in range(2):
        folder = tmp_path / str(turn)
        multiply(simulator, 9, "layer", trace=folder, noise=10, check=0)
        files = sorted([*folder.glob("*.sktrace"), *folder.glob("*.served")])
        assert len(files) == 18
        sums.add(hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest())
    assert len(sums) == 1


def test_simulated_windows_need_no_target(simulator: Simulator, tmp_path: Path) -> None:
    told = multiply(simulator, 4, "rma", trace=tmp_path)
    assert told.error == 0
    assert int(analyse(tmp_path)["severity"].sel(metric="rma_operations").sum()) == 2 * 4  # not those to oneself
