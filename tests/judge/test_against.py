"""Models with constants as claims: measured over model, over all parameters."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import ExpectationError
from scalkit.perfmodels import AsymptoticModel, BoundedModel, ExactModel

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import against

P = 2.0 ** np.arange(1, 8)
LINEAR = ExactModel("a + b*P", {"a": "4 us", "b": "1 us"}, name="line")


def along_p(times: Any, noise: float = 0.02, **options: Any) -> Any:
    values = np.asarray(times)[:, None] * np.random.default_rng(1).lognormal(0, noise, (len(P), 5))
    return sk.measurements(P, values, name="f", **options)


@pytest.mark.parametrize("name", ["allreduce, rabenseifner", "conjugate gradients", "FFT", "halo exchange"])
def test_an_exact_model_does_not_contradict_its_own_data(name: str) -> None:
    model = dict(against.cases())[name]
    assert against.shares(model, 2, 7, 0.03) == {"fine": 1, "told": 1, "caught": 1}


def test_the_ratio_of_times_that_fall_is_no_cost() -> None:
    model = ExactModel("c/P + d*log2(P)", {"c": "1 ms", "d": "1 us"})
    verdict = sk.validate(along_p(model(P=P)), model)["f"]
    assert (verdict.metric, verdict.answer) == ("time/model", "fine")


def test_a_constant_factor_is_told_and_a_growth_is_a_problem() -> None:
    slow = sk.validate(along_p(1.2 * LINEAR(P=P)), LINEAR)
    assert slow.answer == "fine"
    assert slow["f"].evidence.against.factor == pytest.approx(1.2, rel=0.03)
    assert any("times what the model says" in one for one in slow.warnings)
    worse = sk.validate(along_p(LINEAR(P=P) * P**0.3), {"f": LINEAR})
    assert worse.exit_status() == 1
    assert "outgrows the model 'line'" in worse.headline
    told = json.loads(worse.to_json())["verdicts"][0]["against"]["grows"]["p"]
    assert told["low"] < 64**0.3 < told["high"]


def test_few_noisy_values_cannot_tell_whether_the_ratio_grows() -> None:
    verdict = sk.validate(along_p(LINEAR(P=P), noise=0.5), LINEAR)["f"]
    assert verdict.answer == "cannot tell"
    assert "cannot be told" in verdict.sentence


def test_exact_values_are_taken_at_their_word() -> None:
    exact = ExactModel("a + b*P", {"a": "64 B", "b": "16 B"})
    data = sk.measurements(P, 64 + 16 * P, name="f", unit="B", metric="object_memory", exact=True)
    assert sk.validate(data, exact)["f"].answer == "fine"
    leak = sk.measurements(P, 64 + 16 * P + P**2 / 8, name="f", unit="B", metric="object_memory", exact=True)
    assert sk.validate(leak, exact)["f"].answer == "fix"


def test_one_value_that_is_off_is_no_growth_of_the_ratio() -> None:
    off = np.array([1, 1, 1, 1, 1, 1, 2])
    verdict = sk.validate(along_p(LINEAR(P=P) * off), LINEAR)["f"]
    assert verdict.answer == verdict.along["p"].answer == "fine"
    assert [one for one in verdict.caveats if "at p = 128 something of its own lifts the value" in one]


def test_zero_has_no_ratio() -> None:
    data = sk.measurements(P, 16 * (P > 8), name="f", unit="B", metric="object_memory", exact=True)
    with pytest.raises(ExpectationError, match=r"the object_memory is 0 at p = 2, .* needs positive values"):
        sk.validate(data, {"f": lambda p: 16.0})


def test_functions_and_fits_are_models() -> None:
    data = along_p(LINEAR(P=P))
    assert sk.validate(data, lambda p: 4e-6 + 1e-6 * p)["f"].answer == "fine"
    assert sk.validate(data, sk.validate(data, "p")["f"].model)["f"].answer == "fine"
    assert sk.plots.fit(sk.validate(data, LINEAR)["f"]).data


def test_models_without_one_value_are_growths() -> None:
    data = along_p(LINEAR(P=P))
    for model in (AsymptoticModel("P"), BoundedModel(None, LINEAR)):
        assert sk.validate(data, {"f": model})["f"].evidence.against is None


def test_what_cannot_be_compared_says_so() -> None:
    data = along_p(LINEAR(P=P))
    for model, said in (
        (ExactModel("a*S", {"a": "1 ns/B"}), r"depends on S, the data on p"),
        (lambda p: p - 2, r"the model '<lambda>' is 0 at p = 2; a claim needs positive values"),
        (ExactModel("a*P", {"a": "1 B"}), r"is in B, the time of 'f' in s; name the metric"),
        (lambda p: p + "x", r"cannot be compared with what was measured"),
        (lambda p: {1: 2}[p], r"cannot be compared with what was measured: KeyError: 2"),
    ):
        with pytest.raises(ExpectationError, match=said):
            sk.validate(data, {"f": model})


def test_models_of_a_file_on_the_command_line(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from scalkit.cli import main

    along_p(LINEAR(P=P) * P).to_netcdf(tmp_path / "run.nc")
    file = tmp_path / "models.toml"
    file.write_text('[models.f]\nformula = "a + b*P"\nconstants = { a = "4 us", b = "1 us" }\n', encoding="utf-8")
    assert main(["validate", str(tmp_path / "run.nc"), "--expect", str(file)]) == 1
    assert "outgrows the model 'f'" in capsys.readouterr().out.replace("\n", " ")
