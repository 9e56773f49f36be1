"""Rows of the paper beside its main tables, and models of the bisection."""

from __future__ import annotations

import numpy as np
import pytest

from scalkit.errors import DataError
from scalkit.perfmodels import bluegene_p, read_card
from scalkit.perfmodels.files.card import ModelCard
from scalkit.perfmodels.fits.bisection import fit_bisection


def test_rows_of_the_paper() -> None:
    models = bluegene_p()
    assert models["strided"].bounds(S=16384).upper == pytest.approx(2090e-6, rel=1e-4)
    assert models["broadcast-tree"].bounds(S="824 MiB", P=512).lower == pytest.approx(1.0)
    assert models["broadcast-non-cubic"](S="1 MiB", P=512) == 2 * models["broadcast"](S="1 MiB", P=512)


def test_equation_2_bounds_a_congested_message() -> None:
    """9.8 us + 2.67 ns/B * S alone, and with 3/2 * cbrt(P) messages on the busiest link, above 1 KiB."""
    congested = bluegene_p()["point-to-point-congested"]
    assert congested.kind == "bounded"
    sizes, processes = [[2048], [65536], [2**20]], [64, 512, 4096]
    low, high = congested.bounds(S=sizes, P=processes)
    assert 1e6 * low[:, 0] == pytest.approx([15.26816, 184.78112, 2809.49792], abs=1e-5)
    assert (low == low[:, :1]).all()
    in_us = [[42.60896, 75.41792, 141.03584], [1059.68672, 2109.57344, 4209.34688], [16807.98752, 33606.17504, 67202.55008]]
    assert 1e6 * high == pytest.approx(np.array(in_us), abs=1e-5)
    assert np.isnan(congested.bounds(S=1024, P=512, outside="nan")).all()


def test_bisection_is_a_model_that_a_card_keeps(tmp_path) -> None:  # type: ignore[no-untyped-def]
    times = {p: np.full((5, p), 1e-3 * p**0.25) for p in (4, 16, 64)}
    model = fit_bisection(1_000_000, times).model()
    assert model(S=1_000_000, P=[4, 64]) == pytest.approx([1e-3 * 4**0.25, 1e-3 * 64**0.25], rel=1e-6)
    file = tmp_path / "card.toml"
    file.write_text(ModelCard("x", {"bisection": model}, (), {}, ()).to_toml())
    assert read_card(file).models["bisection"](S=1_000_000, P=16) == pytest.approx(2e-3, rel=1e-6)
    with pytest.raises(DataError, match=r"^the decay of the bisection is not known; measure it with two numbers"):
        fit_bisection(1_000_000, {4: times[4]}).model()
