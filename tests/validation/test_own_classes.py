"""An own growth class as a tick and as an expectation, through a whole validation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources

import jsonschema
import numpy as np
import pytest

import scalkit as sk
from scalkit.growth import forget_growth, registered_growths
from scalkit.validation.baseline import Baseline

SCHEMA = resources.files("scalkit.validation").joinpath("baseline.schema.json")
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
    assert Baseline.load(tmp_path / "b.json").to_dict() == loaded.to_dict()
    assert [one.name for one in registered_growths()] == ["loglog"]


def test_a_baseline_without_its_class(loglog: None, tmp_path: object) -> None:
    path = Baseline.from_result(sk.validate(data(), {"f": "loglog(p)"})).save(tmp_path / "b.json")
    table = json.loads(path.read_text())
    jsonschema.validate(table, json.loads(SCHEMA.read_text()))
    forget_growth("loglog")
    for own, message in ((None, "the function 'loglog' is unknown"), ({"loglog": 3}, "'loglog' is 3; an object with")):
        changed = {key: value for key, value in table.items() if key != "growth_classes"}
        path.write_text(json.dumps(changed | ({} if own is None else {"growth_classes": own})))
        with pytest.raises(sk.errors.DataError, match=message):
            Baseline.load(path)
    sk.register_growth("loglog", "log(log(p))")
