"""The command scalkit model: what it prints, writes and refuses."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from simgrid_times import simgrid_times

import scalkit as sk
from scalkit.cli import main
from scalkit.measure import combine, write_netcdf
from scalkit.perfmodels import collective

CATALOGUE = """
name = "here"
source = "made up"
[models.point-to-point]
formula = "alpha + beta*S"
constants = { alpha = "2 us", beta = "0.5 ns/B" }
[models.gap]
formula = "g + beta*S"
constants = { g = "0.5 us", beta = "0.5 ns/B" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models")
    (path / "here.toml").write_text(CATALOGUE)
    from scalkit.perfmodels.files.sources import message_of

    message = message_of(path / "here.toml")
    points = np.array(list(itertools.product(2.0 ** np.arange(1, 7), 8.0 ** np.arange(1, 7))))
    noise = np.random.default_rng(6).lognormal(0, 0.02, (len(points), 5))
    names = {"MPI_Bcast": ("broadcast", "scatter-doubling"), "MPI_Allreduce": ("allreduce", "recursive-doubling")}
    parts = []
    for name, how in names.items():
        times = collective(*how, message)(P=points[:, 0], S=points[:, 1])
        parts.append(sk.measurements(points, times[:, None] * noise, ["p", "S"], name=name))
    write_netcdf(combine(parts), path / "runs.nc")
    return path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["model", *words])
    out, err = capsys.readouterr()
    return status, out, err


def test_show_lists_a_catalogue_and_one_model(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = said(capsys, "show", "bluegene-p")
    assert status == 0
    assert "\nbarrier: T(P) = 950 ns\n" in out
    _, out, _ = said(capsys, "show", "bluegene-p", "broadcast", "--at", "S=1MiB", "--at", "P=512,4096")
    assert out.splitlines()[-2:] == ["    S = 1 MiB, P = 512: 482 us", "    S = 1 MiB, P = 4096: 483 us"]
    _, out, _ = said(capsys, "show", "bluegene-p", "point-to-point-congested", "--at", "S=8,65536", "--at", "P=512", "--json")
    (told,) = json.loads(out)
    assert told["kind"] == "bounded"
    assert told["values"][0]["low"] is None
    assert told["values"][1]["high"] == pytest.approx(2109.57344e-6, rel=1e-9)


def test_show_says_at_least_where_there_is_no_upper_bound(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[models.m]\nkind = "bounded"\nlower = { formula = "t*P", constants = { t = "1 us" } }\n')
    _, out, _ = said(capsys, "show", str(file), "m", "--at", "P=4")
    assert out.endswith("    P = 4: at least 4.00 us\n")
    _, out, _ = said(capsys, "show", str(file), "m", "--at", "P=4", "--json")
    assert json.loads(out, parse_constant=pytest.fail)[0]["values"] == [
        {"at": {"P": 4.0}, "low": pytest.approx(4e-6), "high": None}
    ]


def test_show_tells_what_each_algorithm_would_cost(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    _, out, _ = said(capsys, "show", str(folder / "here.toml"), "--operation", "broadcast", "--at", "S=1024", "--at", "P=16")
    assert "binomial: T(S, P) = floor(log2(P)) * (T(S)) + (ceil(log2(P))-floor(log2(P))) * (gap(S))" in out
    assert "    S = 1 KiB, P = 16: 10.0 us" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "bluegene-p", "broadcst"], "Did you mean 'broadcast'?"),
        (["show", "bluegene-p", "broadcast", "--at", "S=8q"], "S has the unknown unit 'q'"),
        (["show", "bluegene-p", "broadcast", "--at", "S"], "--at 'S': name a parameter and its values, as in S=8,64KiB"),
        (["show", "bluegene-p", "broadcast", "--at", "S=8us"], "S is '8us'; it must be in B."),
        (["show", "bluegene-p", "broadcast", "--at", "S=8"], "'broadcast' needs P; it depends on S, P (--at P=...)."),
        (["show", "nowhere.toml"], "cannot read the catalogue nowhere.toml: No such file"),
        (["show", "nowhere"], "'nowhere' is no catalogue of models; name bluegene-p, or a file that ends in .toml."),
        (["show", "bluegene-p", "--operation", "sort"], "there are no algorithms of 'sort'; choose one of broadcast,"),
        (
            ["show", "bluegene-p", "--to", "simgrid", "--json"],
            "--to writes the model of a message alone; leave MODEL, --operation",
        ),
        (["compare", "nowhere", "--message", "bluegene-p"], "nowhere"),
    ],
)
def test_wrong_input_ends_with_a_sentence(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = said(capsys, *words)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_what_is_written_for_a_simulator_takes_as_long(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    status, text, _ = said(capsys, "show", str(folder / "here.toml"), "--to", "simgrid")
    assert status == 0
    assert simgrid_times(text, 1000) == pytest.approx(2.5e-6)
    _, text, err = said(capsys, "show", str(folder / "here.toml"), "--to", "loggopsim")
    assert err == "times are whole numbers of 100 ps, and so is what LogGOPSim prints\n"
    assert text == "-L 20005 -o 0 -g 5005 -G 5 -O 0 -S 2147483647\n"


def test_compare_names_the_algorithms_and_the_folklore(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    status, out, _ = said(capsys, "compare", str(folder / "runs.nc"), "--message", str(folder / "here.toml"))
    assert status == 0
    assert "MPI_Bcast (broadcast, 36 measured cells)" in out
    assert "MPI_Bcast takes O(S + log P)" in out
    assert "MPI_Allreduce takes O(S log P)" in out
    _, out, _ = said(
        capsys,
        "compare",
        str(folder / "runs.nc"),
        "--message",
        str(folder / "here.toml"),
        "--function",
        "MPI_Allreduce",
        "--json",
    )
    (told,) = json.loads(out)
    assert (told["operation"], told["folklore"]["verdict"], len(told["cells"])) == ("allreduce", "S*log(P)", 36)
    right = sum("recursive-doubling" in cell["algorithms"] for cell in told["cells"])
    assert right >= 0.9 * 36
    assert told["median_error"] < 0.05


def test_bundled_cards_are_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["model", "show", "data/models/mpich-5.0.2.toml", "message"]) == 0
    assert capsys.readouterr().out.startswith("message: T(S) = ")
