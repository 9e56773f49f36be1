"""Strided messages against contiguous ones, and the time of packing on a card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalkit.errors import DataError, UsageError
from scalkit.perfmodels import BoundedModel, PointToPoint, fit_folder, read_card
from scalkit.perfmodels.files.card import ModelCard
from scalkit.perfmodels.fits.strides import fit_strides

RNG = np.random.default_rng(20261)


def noisy(times: list[float]) -> np.ndarray[Any, Any]:
    return np.array(times)[:, None] * RNG.lognormal(0, 0.02, (len(times), 12))


def test_the_worst_stride_is_named() -> None:
    fit = fit_strides(65536, [0, 1, 2, 8], noisy([1e-5, 1e-5, 2e-5, 6e-5]))
    assert fit.strides[fit.worst] == 8
    assert fit.factors[fit.worst] == pytest.approx(6, rel=0.05)
    assert fit.low[2] < 6 < fit.high[2]
    assert str(fit).endswith(" times a contiguous message, at stride 8 (64 KiB)")
    assert fit.contiguous == pytest.approx(5e-6, rel=0.05)


def test_the_slowest_memory_bounds_strided_messages() -> None:
    """As in the paper, where the worst of 16 KiB takes 2090 us and the bound is 127.56 ns/B * S."""
    fit = fit_strides("16 KiB", [0, 1, 1024], [[1e-4], [2e-4], [4180e-6]])  # type: ignore[arg-type]
    worst = fit.worst_case()
    assert worst(S="16 KiB") == pytest.approx(2090e-6)
    assert 1e9 * worst.quantities["t"][0] == pytest.approx(127.56, abs=0.01)
    with pytest.raises(UsageError, match=r"^'strided-worst' holds for S >= 16 KiB, got S = 8 B; stay inside"):
        worst(S=8)


@pytest.mark.parametrize(
    ("size", "strides", "times"),
    [
        (64, [1, 2], [[1.0], [2.0]]),
        (64, [0], [[1.0]]),
        (64, [0, 0], [[1.0], [2.0]]),
        (64, [0, 1.5], [[1.0], [2.0]]),
        (64, [0, -1], [[1.0], [2.0]]),
        (64, [0, 1], [[1.0], [-2.0]]),
        (64, [0, 1], [[1.0], [2.0], [3.0]]),
        (0, [0, 1], [[1.0], [2.0]]),
    ],
)
def test_strides_that_make_no_sense(size: float, strides: list[float], times: list[list[float]]) -> None:
    with pytest.raises(DataError) as error:
        fit_strides(size, strides, times)
    assert str(error.value) == (
        f"strides of {size} B need positive times of the contiguous message, stride 0, and of whole strides from 1 on, got "
        f"strides {np.array(strides, float).tolist()} and times of shape {np.shape(times)}; measure again."
    )


def record(op: str, size: int, time: int, stride: int) -> dict[str, Any]:
    return {"rec": "trip", "op": op, "p": 2, "size_B": size, "verified": True, "t_ns": [time], "stride": stride}


def card(folder: Path, records: list[dict[str, Any]]) -> ModelCard:
    """Return the card of these records, as read from its file."""
    lines = [{"rec": "env", "mpi_library": "MPICH 5"}, *records, {"rec": "end", "records": 1 + len(records)}]
    (folder / "messages.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    (folder / "card.toml").write_text(fit_folder(folder).to_toml(), encoding="utf-8")
    return read_card(folder / "card.toml")


def test_a_card_has_strides_and_packing(tmp_path: Path) -> None:
    sizes = (512, 4096, 32768, 262144)
    records = [{**record("Round_trip", size, 2000 + size // 4, 0)} for size in sizes]
    records += [record("Pack", size, 2 * size, 2) for size in sizes]
    records += [record("Strided", 65536, 18384 + 131072 * stride, stride) for stride in (0, 1, 2, 4, 8)]
    read = card(tmp_path, records)
    assert read.quantity("datatype_worst").value == pytest.approx(1 + 8 * 131072 / 18384)
    assert read.models["strided-worst"](S="64 KiB") == pytest.approx((18384 + 8 * 131072) / 2 * 1e-9)
    assert read.models["packing-2"].valid["S"].text("S") == "S = 512 B to 256 KiB"
    assert read.packing(2)(S=[8, 512, 16384, 2**20]) == pytest.approx([8e-9, 512e-9, 16384e-9, 2**20 * 1e-9], rel=0.1)
    assert read.packing(2).source.endswith("extrapolated outside of S = 512 B to 256 KiB")
    with pytest.raises(UsageError, match=r"has no packing at the stride 3; it has 2\. Fit it with --what datatypes\.$"):
        read.packing(3)
    bounds = BoundedModel(read.models["message"], read.models["strided-worst"])
    assert bounds.bounds(S="64 KiB") == pytest.approx((1e-6 + 65536 * 0.125e-9, 533.48e-6), rel=0.01)
    scattered = PointToPoint(read.point_to_point.time + 2 * read.packing(2))
    assert scattered(S=32768) == pytest.approx(1e-6 + 32768 * (0.125e-9 + 2e-9), rel=0.1)


def test_strides_without_the_contiguous_message_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^strides of 64 B need positive times of the contiguous message, stride 0, and"):
        card(tmp_path, [record("Strided", 64, 100, 4)])


def test_a_fit_of_packing_that_is_far_off_is_in_doubt(tmp_path: Path) -> None:
    records = [record("Pack", size, time, 8) for size, time in ((512, 1000), (4096, 9000), (32768, 20000), (262144, 900000))]
    read = card(tmp_path, records)
    assert "packing every 8" in read.misfits
    assert any(one.startswith("The fit of packing every 8 is ") for one in read.doubts)
