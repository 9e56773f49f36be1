"""A performance model is what a developer may expect."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import ExpectationError
from scalkit.growth import Growth
from scalkit.judge.several.expectation import SeveralExpectation
from scalkit.perfmodels import AsymptoticModel, ExactModel, PointToPoint, bluegene_p, collective
from scalkit.perfmodels.files.sources import message_of
from scalkit.reports import bundled

P = 2.0 ** np.arange(1, 9)
BROADCAST = bluegene_p()["broadcast"]


def test_a_model_of_one_parameter_is_an_expectation():
    expectation = sk.Expectation(bluegene_p()["broadcast-8-bytes"])
    assert str(expectation) == "O(log(p))"
    assert expectation.limits == sk.Expectation("log(p)").limits


def test_measurements_are_validated_against_a_model():
    times = bluegene_p()["broadcast-8-bytes"](P=P)[:, None] * np.random.default_rng(1).lognormal(0, 0.01, (len(P), 5))
    data = sk.measurements(P, times, name="MPI_Bcast")
    verdict = sk.validate(data, {"MPI_Bcast": bluegene_p()["broadcast-8-bytes"]})["MPI_Bcast"]
    assert verdict.match == "total"
    assert verdict.answer == "fine"
    slow = sk.validate(sk.measurements(P, times * P[:, None], name="MPI_Bcast"), {"MPI_Bcast": bluegene_p()["barrier"]})
    assert slow["MPI_Bcast"].direction == "grows faster"


def grid(model):
    S, processes = (one.ravel() for one in np.meshgrid(4.0 ** np.arange(3, 10), P))
    noise = np.random.default_rng(2).lognormal(0, 0.01, (len(S), 5))
    return sk.measurements(
        np.stack([processes, S], axis=1), model(S=S, P=processes)[:, None] * noise, ["p", "S"], name="MPI_Bcast"
    )


def test_measurements_are_validated_against_a_model_of_two_parameters():
    model = ExactModel("tau*log2(P) + G*S", {"tau": "2 us", "G": "1 ns/B"})
    result = sk.validate(grid(model), {"MPI_Bcast": SeveralExpectation(BROADCAST)})
    assert str(result["MPI_Bcast"].expectation) == "O(S + log(p))"
    assert result["MPI_Bcast"].match == "total"


def test_a_sum_over_two_parameters_is_no_expectation_of_one():
    with pytest.raises(ExpectationError):
        sk.Expectation(BROADCAST)


def test_asymptotic_models_are_expectations():
    assert str(sk.Expectation(AsymptoticModel("P*log(P)"))) == "O(p*log(p))"


def test_importing_the_models_loads_no_sympy():
    code = (
        "import sys, scalkit as sk; sk.perfmodels.AsymptoticModel('log(P)').growth;"
        "print(sorted({'sympy', 'plotly', 'scipy.optimize', 'lmfit'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_model_is_an_expectation_over_several_parameters_by_itself():
    expectation = SeveralExpectation(BROADCAST)
    assert str(expectation) == "O(S + log(p))"
    assert {name: str(one.growth) for name, one in expectation.along.items()} == {"S": "S", "p": "log(p)"}
    tree = collective("broadcast", "binomial", PointToPoint.hockney("2 us", "1 ns/B"))
    assert str(SeveralExpectation(tree, {"S": "S^(1/4)"})) == "O(S*log(p))"


@pytest.mark.parametrize("which", ["trees", "best"])
def test_models_against_simulated_operations_up_to_1024_processes(which):
    """Six sizes; the simulator's factors by size bend the growth along S, and the fat tree gets thinner towards its top."""
    data = sk.read(str(bundled(f"data/models/simulated-juropa-{which}.nc")))
    assert data.attrs["simulated"] == 1
    assert (data.sizes["p"], data.sizes["S"], float(data["p"].max())) == (10, 6, 1024)
    message = message_of(bundled("data/models/simulated-juropa.toml"))
    names = {"trees": ("binomial", "recursive-doubling"), "best": ("scatter-doubling", "rabenseifner")}[which]
    models = [collective(op, name, message) for op, name in zip(("broadcast", "allreduce"), names, strict=True)]
    result = sk.validate(data, dict(zip(("MPI_Bcast", "MPI_Allreduce"), map(SeveralExpectation, models), strict=True)))
    broadcast, allreduce = result["MPI_Bcast"], result["MPI_Allreduce"]
    assert broadcast.series.simulated
    assert str(broadcast.expectation) == {"trees": "O(S*log(p))", "best": "O(S + log(p))"}[which]
    # From 4 kB on the thinner top of the fat tree makes them 6 to 24 times as slow at 512 times the processes, where log(p)
    # grows to 10 times, and the best broadcast should not grow at all.
    assert broadcast.along["p"].growth >= Growth("log(p)")
    assert allreduce.answer == "fix"
    assert allreduce.along["S"].match in ("total", "approximate"), allreduce.sentence
    assert allreduce.along["p"].direction == "grows faster"  # congestion
