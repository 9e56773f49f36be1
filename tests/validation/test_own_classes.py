"""An own growth class as a tick and as an expectation, through a whole validation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import scalkit as sk
from scalkit.growth import forget_growth
from scalkit.validation.baseline import Baseline

P = 2.0 ** np.arange(1, 11)
LOGLOG = np.log2(np.log2(P))


@pytest.fixture
def loglog() -> Iterator[None]:
    sk.register_growth("loglog", "log(log(p))", slower_than="log(p)", faster_than="1")
    yield
    forget_growth("loglog")


def data(seed: int = 1) -> object:
    noise = np.exp(0.02 * np.random.default_rng(seed).standard_normal((10, 5)))
    return sk.measurements(P, 1e-6 * (1 + 2 * LOGLOG)[:, None] * noise, name="f")


def test_as_an_expectation(loglog: None) -> None:
    verdict = sk.validate(data(), {"f": "loglog(p)"})["f"]
    assert str(verdict.model.growth) == "loglog(p)"
    assert verdict.rank == "total"
    assert verdict.verdict in ("total", "approximate")
    assert "loglog" in verdict.model.to_mathml()


def test_as_a_tick(loglog: None) -> None:
    space = sk.SearchSpace.preset("ics15").with_tick("loglog(p)")
    verdict = sk.validate(data(), {"f": "log(p)"}, space=space)["f"]
    assert str(verdict.model.growth) == "loglog(p)"
    assert verdict.direction == "grows slower"


def test_a_baseline_keeps_it(loglog: None, tmp_path: object) -> None:
    result = sk.validate(data(), {"f": "loglog(p)"})
    loaded = Baseline.load(Baseline.from_result(result).save(tmp_path / "b.json"))
    assert [change.kind for change in loaded.compare(sk.validate(data(2), loaded.expectations()))] == ["same"]
    forget_growth("loglog")
    with pytest.raises(sk.errors.DataError, match="the function 'loglog' is unknown"):
        Baseline.load(tmp_path / "b.json")
    sk.register_growth("loglog", "log(log(p))")
