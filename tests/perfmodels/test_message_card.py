"""Fits of what messages cost beside their size, model cards, and run files that make no sense."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalkit.cli import main
from scalkit.errors import DataError, UsageError
from scalkit.perfmodels import ExactModel, PointToPoint, Range, RangeModel, bluegene_p, read_models
from scalkit.perfmodels.files.card import MESSAGE, ModelCard, Quantity, read_card
from scalkit.perfmodels.fits.bisection import fit_bisection
from scalkit.perfmodels.fits.card import fit_card, fit_folder
from scalkit.perfmodels.fits.messages import fit_messages
from scalkit.perfmodels.fits.overlap import fit_overlap
from scalkit.perfmodels.fits.runs import read_message_runs
from scalkit.perfmodels.fits.steps import fit_steps
from scalkit.perfmodels.models.point_to_point import Protocol

RNG = np.random.default_rng(20261)
SENSE = r"are finite and not negative, times positive and finite, in s; leave others out\."


def noisy(values: Any, repetitions: int = 12, share: float = 0.02) -> Any:
    return np.asarray(values)[:, None] * RNG.lognormal(0, share, (len(values), repetitions))


def test_the_paper_s_matching_cost_comes_back() -> None:
    queued = np.array([0, 1, 10, 100, 1000, 2000])
    fit = fit_steps("queued receive", queued, noisy(5e-6 + 100e-9 * queued))
    assert fit.each == pytest.approx(100e-9, rel=0.05)
    assert fit.interval[0] < 100e-9 < fit.interval[1]
    assert fit.is_seen
    assert fit.remarks == ()
    assert np.abs(fit.residuals).max() < 0.1


def test_a_queue_that_costs_nothing_says_so() -> None:
    fit = fit_steps("queued receive", [0, 10, 100, 1000], [[1e-6, 1.02e-6]] * 4)
    assert not fit.is_seen
    assert fit.remarks == ("No cost of a queued receive is visible: the interval reaches to zero.",)
    falling = fit_steps("queued receive", [0, 10, 100, 1000], [2e-6, 1.9e-6, 1.8e-6, 1e-6])
    assert "The cost of a queued receive came out negative without a bound; it is held at zero." in falling.remarks


def test_each_step_costs_the_same() -> None:
    fit = fit_steps("queued receive", [1, 1, 2, 3], [1.1e-6, 1.1e-6, 1.2e-6, 1.3e-6])
    assert fit.each == pytest.approx(1e-7)


def test_overlap_is_that_of_the_definition() -> None:
    sizes, pure = [1e3, 1e4, 1e5], [1e-5, 1e-4, 1e-3]
    work, both = pure, [1e-5, 1.6e-4, 2e-3]
    fit = fit_overlap(sizes, noisy(pure, share=1e-3), noisy(work, share=1e-3), noisy(both, share=1e-3))
    assert fit.shares == pytest.approx((1, 0.4, 0), abs=0.01)
    assert fit.low[0] > 0.5
    assert fit.low[1] < 0.4 < fit.high[1]
    assert fit.high[2] < 0.2


def test_a_bisection_that_decays_with_the_cube_root() -> None:
    inside = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        times = {p: 1e-4 * p ** (1 / 3) * rng.lognormal(0, 0.05, (40, p)) for p in (8, 64, 512)}
        fit = fit_bisection(1e6, times)
        assert fit.decay == pytest.approx(1 / 3, abs=0.01)
        inside += fit.decay_interval[0] < 1 / 3 < fit.decay_interval[1]
    assert inside >= 33  # of an interval of 90 %
    assert fit.low[0] < fit.effective[0] < fit.high[0]
    alone = fit_bisection(1e6, {2: times[8][:, :2]})
    assert math.isnan(alone.decay)
    assert alone.processes == (2,)


@pytest.mark.parametrize(
    ("size", "times", "message"),
    [
        (0.0, {2: [[1.0, 1.0]] * 3}, r"the bisection needs messages of a positive size and times, got 0 B and 1 tables\."),
        (8.0, {}, r"the bisection needs messages of a positive size and times, got 8 B and 0 tables\."),
        (8.0, {2: [[1.0, 1.0]] * 2}, r"the times of 2 processes must be positive, of at least 3 rounds times 2, got .*"),
        (8.0, {2: [[1.0, -1.0]] * 3}, r"the times of 2 processes must be positive, .*"),
    ],
)
def test_bisections_that_make_no_sense(size: float, times: dict[int, Any], message: str) -> None:
    with pytest.raises(DataError, match=f"^{message}$"):
        fit_bisection(size, times)


@pytest.mark.parametrize(
    ("counts", "times", "message"),
    [
        ([0, 1], [1.0, 2.0], r"the cost of a queued receive needs 3 rows of times or more, at different numbers, got \(2,\).*"),
        ([1, 1, 1], [1.0, 2.0, 3.0], r"the cost of a queued receive needs 3 rows of times or more, at different numbers, .*"),
        ([0, 1, 2], [1.0, -2.0, 3.0], rf"the numbers of a queued receive {SENSE}"),
        ([-1, 1, 2], [1.0, 2.0, 3.0], rf"the numbers of a queued receive {SENSE}"),
        ([0, 1, math.nan], [1.0, 2.0, 3.0], rf"the numbers of a queued receive {SENSE}"),
        ([0, 1, 2], [1.0, 2.0, math.inf], rf"the numbers of a queued receive {SENSE}"),
        ("many", [1.0, 2.0, 3.0], r"the numbers of a queued receive are 'many'; give plain numbers\."),
        ([0, 1, 2], ["fast", 2.0, 3.0], r"the times are \"\['fast', 2\.0, 3\.0\]\"; give numbers in seconds\."),
        ([0, 1, 2], [[1.0, 2.0], [1.0], [1.0]], r"the times are '\[\[1\.0, 2\.0\], .*'; give numbers in seconds\."),
    ],
)
def test_steps_that_make_no_sense(counts: Any, times: Any, message: str) -> None:
    with pytest.raises(DataError, match=f"^{message}$"):
        fit_steps("queued receive", counts, times)
    with pytest.raises(DataError, match=f"^{message.replace('queued receive', 'reduced byte')}$"):
        fit_steps("reduced byte", counts, times)


# ---- cards ---------------------------------------------------------------------------------------------------------


def card() -> ModelCard:
    protocols = [Protocol(Range(0, 1024), 1e-6, 2e-10), Protocol(Range(1024, math.inf, open_low=True), 3e-6, 1e-10)]
    message = PointToPoint.of_protocols(protocols, name=MESSAGE).time
    numbers = {"L": 5e-7, "o_send": 1e-7, "o_receive": 2e-7, "g": 1e-7, "G": 1e-10, "O": 0.0}
    quantities = [Quantity(k, v, 0.9 * v, 1.1 * v, "s/B" if k in "GO" else "s", "text") for k, v in numbers.items()]
    quantities.append(Quantity("S", math.inf, math.nan, math.nan, "B", "eager"))
    matching = ExactModel("t*R", {"t": "1 ns"}, name="matching")
    return ModelCard('a "library"', {MESSAGE: message, "matching": matching}, tuple(quantities), {"host": "h"}, ("r",))


def test_a_card_survives_its_file(tmp_path: Path) -> None:
    made = card()
    file = tmp_path / "card.toml"
    file.write_text(made.to_toml(), encoding="utf-8")
    read = read_card(file)
    assert (read.name, read.about, read.remarks, read.level) == (made.name, made.about, made.remarks, made.level)
    assert read.quantities[:6] == made.quantities[:6]
    assert math.isinf(read.quantity("S").value)
    assert read.loggp == made.loggp
    assert read.point_to_point(S=[8, 4096]) == pytest.approx([1.0016e-6, 3.4096e-6])
    assert list(read_models(file)) == [MESSAGE, "matching"]
    assert read.to_toml() == made.to_toml()
    assert "a &quot;library&quot;" in made._repr_html_()
    assert read.rows()[-1][1] == "none up to the largest size"


def test_the_paper_s_ranges_survive_a_card(tmp_path: Path) -> None:
    model = bluegene_p()["point-to-point"]
    (tmp_path / "card.toml").write_text(ModelCard("BlueGene/P", {MESSAGE: model}, (), {}, ()).to_toml(), encoding="utf-8")
    read = read_card(tmp_path / "card.toml").models[MESSAGE]
    assert isinstance(read, RangeModel)
    sizes = [8, 256, 257, 1024, 1025, 65536]
    assert read(S=sizes) == pytest.approx(model(S=sizes), rel=1e-12)


def test_a_card_says_what_it_lacks(tmp_path: Path) -> None:
    empty = ModelCard("x", {}, (), {}, ())
    with pytest.raises(UsageError, match=r"^the card of 'x' has no model 'message'; fit latency with --what latency\.$"):
        empty.point_to_point  # noqa: B018
    with pytest.raises(UsageError, match=r"^the card of 'x' has no L of LogGP; fit it with --what loggp\.$"):
        empty.loggp  # noqa: B018
    with pytest.raises(UsageError, match=r"^the card of 'x' has no quantity 'gap'; it has none\.$"):
        empty.quantity("gap")
    bounded = ModelCard("x", {"m": bluegene_p()["matching"]}, (), {}, ())
    with pytest.raises(UsageError, match=r"^'matching' is of kind 'bounded'; a card holds exact models and ranges of them\.$"):
        bounded.to_toml()
    file = tmp_path / "models.toml"
    file.write_text('[models.a]\nformula = "t"\nconstants = { t = "1 us" }\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"has no table \[card\]: it is a catalogue, but no model card; read it with"):
        read_card(file)
    file.write_text(card().to_toml().replace("value = 5e-07", 'value = "fast"'), encoding="utf-8")
    with pytest.raises(UsageError, match=r"a quantity of the card makes no sense \(could not convert .*; fit it again\.$"):
        read_card(file)


# ---- run files -----------------------------------------------------------------------------------------------------


def record(op: str, size: int, times: list[int], **more: Any) -> dict[str, Any]:
    return {"rec": "trip", "op": op, "p": 2, "size_B": size, "verified": True, "messages": 10, "t_ns": times, **more}


def written(folder: Path, records: list[dict[str, Any]], name: str = "messages-p0002-r00.jsonl") -> Path:
    lines = [{"rec": "env", "mpi_library": "MPICH 5"}, *records, {"rec": "end", "records": 1 + len(records)}]
    (folder / name).write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return folder


def test_run_files_become_a_card(tmp_path: Path) -> None:
    truth = {size: 2 * (1000 + size // 4) for size in (1, 64, 1024, 4096, 16384)}
    records = [record("Round_trip", size, [t, t + 4, t - 4]) for size, t in truth.items()]
    records += [record("Round_trip", 1, [0, 2004])]  # another pass; zero is less than the clock can tell
    made = fit_folder(written(tmp_path, records))
    assert made.name == "MPICH 5"
    assert made.quantity("latency").value == pytest.approx(1e-6, rel=0.01)
    assert made.quantity("bandwidth").value == pytest.approx(4e9, rel=0.01)
    assert "No protocol switch is visible: one latency and bandwidth explain all sizes." in made.remarks
    runs = read_message_runs(tmp_path)
    sizes, table = runs.table("Round_trip")
    assert sizes.tolist() == [1, 64, 1024, 4096, 16384]
    assert table.shape == (5, 5)
    assert np.isnan(table[1:, 3:]).all()
    assert repr(runs).endswith("Round_trip)")
    with pytest.raises(DataError, match=r"has no measurements of 'Train'; it has Round_trip\.$"):
        runs.table("Train")


def test_messages_and_reductions_become_models(tmp_path: Path) -> None:
    sizes = (512, 4096, 32768, 262144)
    records = [record("Round_trip", size, [2000 + size // 4]) for size in sizes]
    records += [record("Reduce_local", s, [20 + s // (2 * e)], element=e) for s in sizes for e in (1, 8)]
    made = fit_folder(written(tmp_path, records))
    assert made.quantity("reduce_per_byte").value == pytest.approx(0.5e-9, rel=0.01)
    assert made.quantity("reduce_per_byte_double").value == pytest.approx(0.0625e-9, rel=0.05)
    (tmp_path / "card.toml").write_text(made.to_toml(), encoding="utf-8")
    read = read_card(tmp_path / "card.toml")
    assert read.models[MESSAGE].valid["S"].text("S") == "S = 512 B to 256 KiB"
    with pytest.raises(UsageError, match=r"^'message' holds for S = 512 B to 256 KiB, got S = 512 KiB; stay inside, or"):
        read.models[MESSAGE](S="512 KiB")
    assert read.point_to_point(S="1 MiB") == pytest.approx(1e-6 + 2**20 * 0.125e-9, rel=0.1)
    assert read.point_to_point.source == "model card of MPICH 5, extrapolated outside of S = 512 B to 256 KiB"
    assert read.point_to_point.gamma_s == made.quantity("reduce_per_byte").value


def test_wrong_data_load_and_broken_launches_are_said(tmp_path: Path) -> None:
    records = [record("Round_trip", 8, [5], verified=False, foreign_load=0.5)]
    written(tmp_path, records)
    file = tmp_path / "messages-p0002-r00.jsonl"
    file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n", encoding="utf-8")
    runs = read_message_runs(tmp_path)
    assert runs.remarks == (
        "messages-p0002-r00.jsonl has no end: that launch broke off.",
        "messages-p0002-r00.jsonl: Round_trip of 8 B brought wrong data.",
    )
    assert runs.foreign_load == 0.5


def messages(load: float, at_1_mib: int = 0, repetitions: int = 40) -> list[dict[str, Any]]:
    """Return round trips and exchanges of 1 us and 0.125 ns/B with 2 % of noise, the exchange longer at one size."""
    rows = []
    for size in (1, 64, 1024, 8192, 65536, 1 << 20):
        middle = 1e-6 + 1.25e-10 * size
        for op, mean in (("Round_trip", 2 * middle), ("Exchange", middle + (1e-9 * at_1_mib if size == 1 << 20 else 0))):
            times = np.rint(1e9 * noisy([mean], repetitions)[0]).astype(int).tolist()
            rows.append(record(op, size, times, foreign_load=load))
    return rows


def test_a_card_of_an_idle_machine_is_not_in_doubt(tmp_path: Path) -> None:
    made = fit_folder(written(tmp_path, messages(0.01)))
    assert made.doubts == ()
    assert set(made.misfits) == {"latency", "exchange"}
    assert all(abs(share) < 0.05 for share, _ in made.misfits.values())
    assert "in doubt" not in made.point_to_point.source + repr(made) + made._repr_html_()


def test_a_card_in_doubt_stays_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = messages(0.9)
    idle = fit_folder(written(tmp_path, [{**one, "foreign_load": 0.0} for one in rows]))
    made = fit_folder(written(tmp_path, rows))
    assert made.doubts == ("Other programs used 90 % of the machine meanwhile.",)
    wide, narrow = made.quantity("latency"), idle.quantity("latency")
    assert wide.value == narrow.value
    assert wide.low < narrow.low < narrow.high < wide.high
    file = tmp_path / "card.toml"
    file.write_text(made.to_toml(), encoding="utf-8")
    read = read_card(file)
    assert (read.doubts, dict(read.misfits)) == (made.doubts, dict(made.misfits))
    assert read.point_to_point.source.endswith("in doubt: Other programs used 90 % of the machine meanwhile.")
    assert repr(read).endswith("quantities, in doubt)")
    assert main(["model", "show", str(file), "--to", "simgrid"]) == 0
    assert f"{file} is in doubt: Other programs used 90 % of the machine meanwhile." in capsys.readouterr().err


def test_an_exchange_that_is_no_line_is_a_doubt(tmp_path: Path) -> None:
    rows = [one for one in messages(0.0) if one["size_B"] != 64]
    for one in rows:
        if one["op"] == "Exchange" and one["size_B"] == 8192:
            one["t_ns"] = [2 * t for t in one["t_ns"]]
    made = fit_folder(written(tmp_path, rows))
    (doubt,) = made.doubts
    assert doubt.startswith("The fit of exchange is ")
    assert doubt.endswith(" % off at 8 KiB: it is not one line.")


@pytest.mark.parametrize("statistic", ["q1", "median"])
def test_intervals_hold_with_spikes(statistic: str) -> None:
    rng = np.random.default_rng(7)
    sizes, truth, hits = 4.0 ** np.arange(9), {"q1": np.exp(-0.6745 * 0.02), "median": 1.0}[statistic], []
    for _ in range(100):
        noise = rng.lognormal(0, 0.02, (9, 100))
        noise *= np.where(rng.random(noise.shape) < 0.05, rng.uniform(1.2, 3, noise.shape), 1)
        fit = fit_messages(sizes, (1e-6 + 1e-10 * sizes)[:, None] * noise, statistic=statistic, max_protocols=1)
        low, high = fit.protocols[0].fit.constant_interval
        hits.append(low <= 1e-6 * truth <= high)
    assert np.mean(hits) >= 0.84  # of 90 %; without care for spikes it is 0.5 to 0.7


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], r"holds no times of messages; 'scalkit model fit --out FOLDER' measures them\.$"),
        (
            [record("Round_trip", -8, [5])],
            r"line 2: 'size_B' of the 'trip' record is -8; a whole number of at least 0 is needed\. Restore the file",
        ),
        (
            [record("Round_trip", 8, [-5])],
            r"line 2: t_ns\[0\] is -5; a whole number of at least 0 is needed\. Restore the file or measure",
        ),
        ([record("Round_trip", 8, [])], r"line 2: 't_ns' has no time\. Restore the file or measure again\.$"),
        (
            [{"rec": "trip", "op": "Train", "t_ns": [1], "p": 2}],
            r"'size_B' of the 'trip' record is missing; a whole number of at least 0 is needed\.",
        ),
    ],
)
def test_run_files_that_make_no_sense(tmp_path: Path, records: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_message_runs(written(tmp_path, records))


def test_folders_that_make_no_sense(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none holds no run files; 'scalkit model fit --out .*none' measures them\.$"):
        read_message_runs(tmp_path / "none")
    written(tmp_path, [record("Round_trip", 8, [5])])
    (tmp_path / "b.jsonl").write_text('{"rec":"env","mpi_library":"Open MPI"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"mixes MPICH 5 and Open MPI; give each library a folder of its own\.$"):
        read_message_runs(tmp_path)
    (tmp_path / "b.jsonl").write_text("[1]\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"b\.jsonl, line 1: no object with a text 'rec'; each line must be one record\. "):
        read_message_runs(tmp_path)


def test_fewer_sizes_than_parameters(tmp_path: Path) -> None:
    records = [record("Round_trip", size, [100 + size]) for size in (1, 2)]
    with pytest.raises(DataError, match=r"^latency and bandwidth need 3 to 200 sizes, got 2; measure more or thin them out\.$"):
        fit_folder(written(tmp_path, records))


def test_parts_that_lack_a_half(tmp_path: Path) -> None:
    written(tmp_path, [record("Send_to_late", size, [100]) for size in (1, 2, 3)])
    with pytest.raises(DataError, match=r"do not say how late the receiver was; measure again\.$"):
        fit_folder(tmp_path)
    trains = [record(op, size, [100 * size]) for op in ("Train", "Train_delayed") for size in (8, 16, 32)]
    written(tmp_path, [*trains, record("Round_trip", 8, [100])])
    with pytest.raises(DataError, match=r"Round_trip was not measured at 16 B, Train was; measure that launch again\.$"):
        fit_card(read_message_runs(tmp_path))
