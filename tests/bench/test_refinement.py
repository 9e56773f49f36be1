"""Where the next point belongs; a simulated machine whose protocol changes are found; rules that are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import scalkit as sk
from scalkit.bench.campaign.refinement import Curve, Refinement, next_point
from scalkit.bench.campaign.refining import curves_of
from scalkit.cli import main
from scalkit.errors import UsageError

RULES = Refinement("sizes", allowed=0.1, smallest_step=1.05, max_points=40)


def _refined(
    f: Callable[[float], float], first: list[int], rules: Refinement = RULES, noise: float = 0.0, step: int = 1
) -> list[int]:
    """Return the points of a curve, refined as a campaign does it."""
    rng = np.random.default_rng(7)
    values = {x: f(x) * float(rng.normal(1, noise)) for x in first}
    while len(values) < rules.max_points:
        x = np.array(sorted(values), dtype=np.int64)
        curve = Curve("f", x, np.array([values[k] for k in x.tolist()]), np.full(len(x), max(noise, 1e-6)))
        point = next_point([curve], rules, step)
        if point is None:
            break
        assert point.low < point.x < point.high
        assert point.x not in values
        values[point.x] = f(point.x) * float(rng.normal(1, noise))
    return sorted(values)


@pytest.mark.parametrize("switch", [3000, 70_000, 900_000])
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_a_jump_is_closed_in_to_the_smallest_step(switch: int, noise: float) -> None:
    points = _refined(
        lambda s: 1 + s / 1e4 + (5 + s / 1e4) * (s > switch), [2**k for k in range(3, 21, 2)] + [2**21], noise=noise
    )
    below = max(x for x in points if x <= switch)
    above = min(x for x in points if x > switch)
    assert above <= below * 1.05**2 * 1.01
    assert len(points) <= 26


def test_a_straight_line_needs_no_point() -> None:
    first = [2**k for k in range(3, 21, 3)]
    assert _refined(lambda s: 3e-6 * s**0.7, first) == first
    assert _refined(lambda s: 3e-6 * s**0.7, first, noise=0.05) == first, "noise is no bend"


def test_a_bend_is_refined_until_lines_fit() -> None:
    def bent(s: float) -> float:
        return 1 + s / 1e4

    points = _refined(bent, [8, 512, 32768, 2**21])
    x = np.array(points, dtype=float)
    middle = np.sqrt(x[:-1] * x[1:])
    drawn = np.exp(np.interp(np.log(middle), np.log(x), np.log([bent(v) for v in x])))
    assert np.abs(drawn / [bent(v) for v in middle] - 1).max() < 0.1
    assert 8 < len(points) < 20
    near = [p for p in points if 2000 < p < 50_000]
    assert len(near) > len(points) / 3, "most points are where it bends"


def test_limits_are_kept() -> None:
    few = Refinement("sizes", max_points=6)
    assert len(_refined(lambda s: s**2 % 977 + 1.0, [8, 64, 512], few)) == 6
    assert all(x % 8 == 0 for x in _refined(lambda s: 1.0 + 9 * (s > 100), [8, 80, 800, 8000], step=8))
    points = _refined(lambda p: 1.0 + 9 * (p > 4), [2, 4, 8, 16, 32])
    assert {4, 5} <= set(points) and len(points) <= 8, "between whole numbers there is nothing"  # noqa: PT018


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bytes",), "--refine 'bytes': choose from sizes, processes."),
        (("sizes", 0.0), "allowed 0.0: a number above 0 is needed, such as 0.1 for 10 %."),
        (("sizes", 0.1, 1.0), "smallest_step 1.0: a factor above 1 is needed, such as 1.05."),
        (("sizes", 0.1, 1.1, 2), "max_points 2: a whole number from 3 to 1000 is needed."),
    ],
)
def test_wrong_rules(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        Refinement(*arguments)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"^--size 8,16,32,64: the first pass has 4 points, more than max_points 3\.$"):
        Refinement("sizes", max_points=3).require_points([8, 16, 32, 64])


FILE = """\
measure = ["collectives"]
platform = "juropa"
processes = [2]
functions = ["Ping_pong"]
runs = 1
seed = 5
per_process = true
out = "sim"
sizes = [4096, 8192, 16384, 65536]
[refine]
over = "sizes"
smallest_step = 1.1
max_points = 10
"""


@pytest.mark.slow
@pytest.mark.mpi
def test_the_change_of_protocol_of_a_simulated_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "sim"
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    command = ["campaign", "run", str(path)]
    assert main(command) == 0
    said = capsys.readouterr()
    assert re.search(
        r"^Ping_pong, p = 2 bends between 8192 and 16384 B: lines from both sides miss by \d+ %; measuring 11585 B$",
        said.err,
        re.MULTILINE,
    )
    (curve,) = curves_of([path for path in out.iterdir() if path.is_dir()])
    jump = int(np.argmax(np.diff(np.log(curve.y)) / np.diff(np.log(curve.x.astype(float)))))
    low, high = curve.x[jump : jump + 2].tolist()
    assert low <= 9376 < high < 1.21 * low, "SimGrid's factors of the bandwidth change at 9,376 B"
    kept = json.loads((out / "refinement.json").read_text())
    assert (kept["seed"], kept["first"], kept["allowed"]) == (5, [4096, 8192, 16384, 65536], 0.1)
    assert sorted([*kept["first"], *(one["x"] for one in kept["inserted"])]) == curve.x.tolist()

    assert main(command) == 0
    assert "measuring" not in capsys.readouterr().err, "the second call has nothing to do"

    data = sk.read(out, parameter=["p", "S"])
    assert data["S"].values.tolist() == curve.x.tolist()
    store = sk.store.open(tmp_path / "store")
    assert len(store.put(out).added) == 1, "all sizes are one run"
    (suite,) = store.suites().to_dict("records")
    assert (suite["x_name"], suite["points"], suite["auto_refined"]) == ("msg_By", len(curve.x), True)
    again = store.load(msg_By=8192)
    alone = sk.read(out / "8192B")
    for name in ("time", "root_time", "process_time", "process_last"):
        np.testing.assert_array_equal(again[name], alone[name])


def test_options_that_make_no_sense(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = ["measure", "collectives", "--platform", "juropa", "-n", "2", "--out", str(tmp_path / "x")]
    for words, message in (
        (["--size", "8,x"], "--size 8,x: whole numbers are needed, such as --size 8,64,512."),
        (["--size", "64,8"], "--size 64,8: name each size once, ascending."),
        (["--size", "9..15"], "--size 9..15: there is no power of two from 9 to 15; write as in --size 8..65536."),
        (["--refine", "sizes"], "--size 8: refinement of sizes needs a first pass of at least 3 of them."),
        (["--refine", "sizes", "--size", "8,64"], "--size 8,64: refinement of sizes needs a first pass of at least 3 of them."),
    ):
        assert main([*base, *words]) == 2
        assert capsys.readouterr().err == f"scalkit measure: {message}\n"
    assert main(["measure", "master-worker", "-n", "3", "--refine", "sizes", "--out", str(tmp_path / "y")]) == 2
    assert "--refine does not go with master-worker; leave it out." in capsys.readouterr().err
    assert main(["measure", "master-worker", "-n", "2", "--datatype", "int", "--out", "runs/none"]) == 2
    assert "--datatype does not go with master-worker; leave it out." in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
