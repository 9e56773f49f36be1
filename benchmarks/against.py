"""How often data drawn from a model with constants are fine when they are judged against that very model.

    python benchmarks/against.py --cases 50 --seed 20261203

Every algorithm of the collective operations over numbers of processes and sizes, and three programs: conjugate gradients of a
fixed size, a three-dimensional FFT, and a halo exchange. Five repetitions with log-normal noise. The same data 1.2 times as slow
must be told with an interval that holds 1.2, and data that outgrow the model by p^(1/2) must be *fix*.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import scalkit as sk
from scalkit.perfmodels import ExactModel, PointToPoint, collective, substitute
from scalkit.perfmodels.collectives.model import OPERATIONS, algorithms_of

MESSAGE = PointToPoint.hockney("2 us", "1 ns/B", reduce_per_byte="0.1 ns/B")
REPETITIONS = 5
P, SIZES = 2.0 ** np.arange(1, 8), 4.0 ** np.arange(2, 11)
Model = Callable[..., Any]


def programs() -> dict[str, Model]:
    """Return models of programs over the processes and the size of the problem."""
    alltoall = collective("alltoall", "pairwise", MESSAGE)
    cg = ExactModel(
        "c*N^3/P + 2*log2(P)*a + 6*(a + b*N^2/P^(2/3))", {"c": "20 ns", "a": "2 us", "b": "8 ns"}, name="conjugate gradients"
    )
    fft = ExactModel("c*N^3*log2(N)/P", {"c": "1 ns"}, name="butterflies") + 2 * substitute(
        alltoall, {"b": "16 B"}, S="b*N^3/P^2"
    )
    halo = ExactModel("c*N^3 + 6*(a + b*N^2)", {"c": "1 ns", "a": "2 us", "b": "8 ns"}, name="halo exchange", also=("P",))
    return {"conjugate gradients": cg, "FFT": fft, "halo exchange": halo}


def cases() -> Iterator[tuple[str, Model]]:
    """Yield the name and the model of each case."""
    for operation in OPERATIONS:
        for name in algorithms_of(operation):
            yield f"{operation}, {name}", collective(operation, name, MESSAGE)
    yield from programs().items()


def measured(rng: np.random.Generator, model: Any, noise: float, factor: float = 1.0, power: float = 0.0) -> Any:
    """Return measurements that follow a model times a factor and a power of the processes."""
    other = next((name for name in model.parameters if name != "P"), None)
    second = SIZES if other == "S" else 32 * 2.0 ** np.arange(5)
    points = [np.array([p, x]) for p in P for x in second] if other else [np.array([p]) for p in P]
    at = np.array(points)
    y = model(**dict(zip(("P", *([other] if other else [])), at.T, strict=True))) * factor * at[:, 0] ** power
    values = y[:, None] * np.exp(noise * rng.standard_normal((len(y), REPETITIONS)))
    names = ["p", other] if other else "p"
    return sk.measurements(at if other else at[:, 0], values, parameter=names, name="f")


def shares(model: Any, cases: int, seed: int, noise: float) -> dict[str, float]:
    """Return how often a model's own data are fine, a factor of 1.2 is told, and a faster growth is found."""
    rng, fine, told, caught = np.random.default_rng(seed), 0, 0, 0
    for _ in range(cases):
        fine += sk.validate(measured(rng, model, noise), model)["f"].answer == "fine"
        found = sk.validate(measured(rng, model, noise, factor=1.2), model)["f"].evidence.against
        told += bool(found is not None and found.low <= 1.2 <= found.high and found.low > 1)
        caught += sk.validate(measured(rng, model, noise, power=0.5), model)["f"].answer == "fix"
    return {"fine": fine / cases, "told": told / cases, "caught": caught / cases}


def main() -> None:
    """Print the table as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--seed", type=int, default=20261203)
    args = parser.parse_args()
    for noise in (0.01, 0.03):
        for name, model in cases():
            print(json.dumps({"noise": noise, "model": name, **shares(model, args.cases, args.seed, noise)}), flush=True)


if __name__ == "__main__":
    main()
