"""`scalkit model fit`, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from needs import needs_simgrid

from scalkit.bench import find_mpi
from scalkit.bench.virtual.mpi import proved, virtual
from scalkit.bench.virtual.network import read_network
from scalkit.cli import main
from scalkit.errors import BuildError, LaunchError, UsageError
from scalkit.perfmodels.files.card import read_card


@needs_simgrid
def test_measure_fit_again_and_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "runs"
    words = ["model", "fit", "--platform", "juqueen", "--what", "latency,bisection", "-n", "2,4"]
    words += ["--sizes", "8,512,4 KiB,64 KiB,256 KiB,1 MiB", "--out", str(out)]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "These times are simulated. SimGrid SMPI computes them; nothing is measured." in said.out
    assert "Simulated, not measured." in said.out
    assert "effective bisection bandwidth of a process among 4, 1 MiB" in said.out
    assert f"card: {out}/card.toml" in said.out
    assert said.err.count(": done;") == 3
    card = read_card(out / "card.toml")
    assert card.is_simulated
    (out / "bisection-p0004-r00.jsonl").unlink()
    assert main([*words, "--json"]) == 0
    said = capsys.readouterr()
    assert said.err.count(": done;") == 1
    content = json.loads(said.out)
    assert (content["status"], content["file"]) == (0, str(out / "card.toml"))
    assert content["card"]["about"] == dict(card.about)
    assert content["quantities"]["latency"]["value"] == card.quantity("latency").value
    written = (out / "card.toml").read_text()
    (out / "card.toml").unlink()
    assert main(["model", "fit", str(out)]) == 0
    assert (out / "card.toml").read_text() == written


@pytest.mark.slow
@pytest.mark.mpi
def test_the_numbers_of_a_virtual_machine_come_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        proved(virtual(find_mpi(), read_network("cluster")))
    except (BuildError, LaunchError, UsageError) as error:
        pytest.skip(f"needs an MPI library in virtual time: {error}")
    network = "L=2us,o=0.5us,g=0.9us,G=0.1ns/B"
    words = ["model", "fit", "--clock", "virtual", "--network", network, "--what", "latency,exchange,loggp,sync"]
    assert main([*words, "--out", str(tmp_path / "runs")]) == 0
    said = capsys.readouterr().out
    numbers = "L 2.00 us, o 500 ns, g 900 ns, G 100 ps/B; computing costs no time"
    assert f"Times are those of a virtual clock: {numbers}." in said
    assert "Times of a virtual clock, not of this machine." in said
    path = tmp_path / "runs" / "card.toml"
    card = read_card(path)
    assert (card.is_virtual, card.is_simulated) == (True, False)
    assert numbers in card.about["clock"]
    assert "host" not in card.about
    assert path.read_text().startswith("# Run times of a virtual clock, not of this machine: ")
    truth = {"L": 2e-6, "o_send": 0.5e-6, "o_receive": 0.5e-6, "g": 0.9e-6, "G": 0.1e-9, "latency": 3e-6}
    for name, value in truth.items():
        assert card.quantity(name).value == pytest.approx(value, rel=0.02), name
    assert card.quantity("O").value < 1e-3 * truth["G"]
    for size in (0, 8, 4096):  # both ways at once take no longer, and keep a processor busy for both overheads
        assert float(card.models["exchange"](S=size)) == pytest.approx(float(card.models["message"](S=size)), rel=1e-3)
    assert float(card.models["both"](S=8)) == pytest.approx(1e-6, rel=0.02)
    again = read_network(str(path))
    assert (again.L, again.o) == pytest.approx((2e-6, 0.5e-6), rel=0.02)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a folder: --out FOLDER to measure and fit, or FOLDER alone to fit what is there."),
        (["a", "--out", "b"], "name a folder: --out FOLDER to measure and fit, or FOLDER alone to fit what is there."),
        (["a", "--runs", "3"], "--runs says how to measure, and a is only fitted again; leave it out, or name the folder with"),
        (
            ["a", "--clock", "virtual"],
            "--clock says how to measure, and a is only fitted again; leave it out, or name the folder with --out.",
        ),
        (["--out", "b", "--network", "cluster"], "--network is the machine of a virtual clock; add --clock virtual."),
        (["--out", "b", "--mpi", "x", "--platform", "y"], "--mpi and --platform: a card describes one library or one machine;"),
        (["--out", "b", "--sizes", "1 us,2,3"], "--sizes '1 us': a whole number of bytes is needed, such as 4096 or '64 KiB'."),
        (["--out", "b", "--sizes", "1.5,2,3"], "--sizes '1.5': a whole number of bytes is needed, such as 4096 or '64 KiB'."),
        (["--out", "b", "--sizes", "1,2"], "--sizes: latency and bandwidth need at least 3 sizes, got 2; name more, or leave"),
        (["--out", "b", "-n", "two"], "-n two: whole numbers are needed, such as -n 2,4,8."),
        (["--out", "b", "--what", "speed"], "--what: 'speed' is unknown; choose from latency, exchange, loggp,"),
    ],
)
def test_wrong_use(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["model", "fit", *words]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"scalkit model: {message}")
    assert not (tmp_path / "b").exists()
