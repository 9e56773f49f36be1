"""A performance model is what a developer may expect."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import ExpectationError
from scalkit.perfmodels import AsymptoticModel, ExactModel, bluegene_p

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
    assert verdict.rank == "total"
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
    result = sk.validate(grid(model), {"MPI_Bcast": BROADCAST})
    assert str(result["MPI_Bcast"].expectation) == "O(S + log(p))"
    assert result["MPI_Bcast"].rank == "total"


def test_other_names_of_parameters():
    assert str(BROADCAST.growth_in(P="n", S="size")) == "log(n) + size"
    assert str(bluegene_p()["alltoall-8-bytes"].growth_in(P="n")) == "n"


def test_a_sum_over_two_parameters_is_no_expectation_of_one():
    with pytest.raises(ExpectationError):
        sk.Expectation(BROADCAST)


def test_asymptotic_models_are_expectations():
    assert str(sk.Expectation(AsymptoticModel("P*log(P)"))) == "O(p*log(p))"


def test_importing_the_models_loads_no_sympy():
    code = (
        "import sys, scalkit as sk; sk.perfmodels.AsymptoticModel('log(P)').growth; sk.perfmodels.Torus.cube(512).alltoall;"
        "print(sorted({'sympy', 'plotly', 'scipy.optimize', 'lmfit'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
