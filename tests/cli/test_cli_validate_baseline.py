"""`scalkit validate` with a baseline: writing one, comparing with it, and files that are something else."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.judge.baseline import Baseline
from scalkit.measure import combine, write_netcdf

P = np.array([2, 4, 8, 16, 32])
LOG = np.log2(P)
SCHEMA = Path(sk.__file__).parent / "judge" / "verdict.schema.json"
EXPECT = "[expectations]\n" + "".join(
    f'{name} = "{growth}"\n'
    for name, growth in {"same": "log(p)", "worse": "log(p)", "better": "p", "dearer": "p", "gone": "p"}.items()
)


def write(path: Path, **functions: np.ndarray) -> None:
    write_netcdf(combine([sk.measurements(P, 1e-6 * np.stack([y, y], axis=1), name=name) for name, y in functions.items()]), path)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return a folder, which is the working directory, with old and new measurements and the baseline of the old ones."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "old.nc", same=1 + LOG, worse=1 + LOG, better=P * 1.0, dearer=P * 2.0, gone=P * 1.0)
    write(tmp_path / "new.nc", same=1 + LOG, worse=1 + 0.5 * P, better=1 + 0.0 * P, dearer=P * 3.0)
    (tmp_path / "expect.toml").write_text(EXPECT)
    assert main(["validate", "old.nc", "--expect", "expect.toml", "--save-baseline", "base.json"]) == 0
    assert "The baseline of 5 verdicts is in base.json.\n" in capsys.readouterr().out
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the one line on standard error of wrong use."""
    assert main(["validate", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err.removeprefix("scalkit validate: ").rstrip("\n")


def test_what_was_found_is_kept(here: Path) -> None:
    kept = Baseline.load(here / "base.json")
    assert [entry.function for entry in kept] == ["same", "worse", "better", "dearer", "gone"]
    assert str(kept["worse", "time"].model.growth) == "log(p)"
    assert kept.statistic == "q1"


def test_an_existing_file_stays_unless_forced(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["new.nc", "--expect", "expect.toml", "--save-baseline", "base.json"]
    before = (here / "base.json").read_bytes()
    assert said(capsys, *words) == "base.json is there already; choose another name, or replace it with --force."
    assert (here / "base.json").read_bytes() == before
    assert main(["validate", *words, "--force"]) == 1
    assert str(Baseline.load(here / "base.json")["worse", "time"].model.growth) == "p"


def test_the_status_quo_is_as_before(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "old.nc", "--baseline", "base.json"]) == 0
    out = capsys.readouterr().out
    assert "Compared with base.json\n  5 functions as before.\n" in out
    assert "compared with the baseline" not in out


def test_changes_are_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "new.nc", "--baseline", "base.json"]) == 1
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("Compared with base.json")
    assert [line.split(";")[0].split(",")[0] for line in lines[start + 1 : start + 6]] == [
        "  worse (time) got worse: it grows as p instead of log(p)",
        "  dearer (time) rose to 1.5 times the value of before everywhere",
        "  better (time) got better: it grows as 1 instead of p",
        "  gone (time) is gone: it grew as p.",
        "  1 other as before.",
    ]
    assert lines[-1].endswith("Exit status 1.")


def test_json_has_the_comparison(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "new.nc", "--baseline", "base.json", "--json"]) == 1
    content = json.loads(capsys.readouterr().out)
    jsonschema.validate(content, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert content["expectations"] == "base.json"
    kinds = {change["function"]: change["kind"] for change in content["comparison"]["changes"]}
    assert kinds == {"same": "same", "worse": "worse", "better": "better", "dearer": "factor", "gone": "gone"}


@pytest.mark.parametrize(("words", "status"), [([], 0), (["gone"], 1), (["better"], 1), (["cannot-tell"], 0)])
def test_more_to_fail_on(here: Path, words: list[str], status: int) -> None:
    write(here / "later.nc", same=1 + LOG, worse=1 + LOG, better=1 + LOG, dearer=P * 2.0)
    options = [option for word in words for option in ("--fail-on", word)]
    assert main(["validate", "later.nc", "--baseline", "base.json", *options]) == status


def test_a_constant_factor_that_fell_is_no_failure(here: Path) -> None:
    write(here / "fast.nc", same=1 + LOG, worse=1 + LOG, better=P * 1.0, dearer=P * 1.0, gone=P * 1.0)
    assert main(["validate", "fast.nc", "--baseline", "base.json", "--fail-on", "gone"]) == 0


def test_junit_has_a_case_for_each_change(here: Path) -> None:
    words = ["new.nc", "--baseline", "base.json", "--junit", "found.xml"]
    (here / "found.xml").write_text("old")
    assert main(["validate", *words]) == 1
    cases = ET.parse(here / "found.xml").getroot().findall(".//testcase[@classname='scalkit.baseline.time']")
    found = {case.get("name"): [(child.tag, child.get("type")) for child in case] for case in cases}
    assert found == {
        "same": [],
        "worse": [("failure", "worse")],
        "better": [],
        "dearer": [("failure", "factor")],
        "gone": [("skipped", None)],
    }


def test_annotations_say_each_thing_once(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["new.nc", "--baseline", "base.json", "--fail-on", "gone", "--annotations", "github"]
    assert main(["validate", *words]) == 1
    found = [line.split("::")[1] for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert found == [
        "error title=worse (time)%3A fix",
        "error title=dearer (time)%3A fix",
        "notice title=better (time)%3A fine",
        "error title=gone (time)%3A gone",
        "warning title=scalkit",
    ]


def test_the_statistic_is_that_of_the_baseline(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--statistic", "median", "--save-baseline", "median.json"]
    assert main(["validate", "old.nc", "--expect", "expect.toml", *options]) == 0
    capsys.readouterr()
    assert main(["validate", "old.nc", "--baseline", "median.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["statistic"] == "median"
    assert said(capsys, "old.nc", "--baseline", "median.json", "--statistic", "q1") == (
        "the baseline 'median.json' has the statistic median, --statistic says q1; compare values of the same kind, "
        "without --statistic."
    )


def test_a_baseline_is_compared_and_renewed_in_one_go(here: Path) -> None:
    options = ["--baseline", "base.json", "--save-baseline", "base.json", "--force"]
    assert main(["validate", "new.nc", *options]) == 1
    assert main(["validate", "new.nc", "--baseline", "base.json"]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--baseline", "base.json", "--expect", "mpi"], "--expect and --baseline both say what is expected; give one of "
         "them."),
        (["--expect", "absent.toml"], "cannot read the expectations 'absent.toml': No such file or directory. Give a TOML file "
         "or one of mpi, mpi-all, mafia."),
        (["--expect", "base.json"], "base.json, line 1, column 1: this is not valid TOML: invalid statement."),
        (["--expect", "old.nc"], "cannot read the expectations 'old.nc': it is not a text file in UTF-8. Give a TOML file or "
         "one of mpi, mpi-all, mafia."),
        (["--expect", "."], "cannot read the expectations '.': Is a directory. Give a TOML file or one of mpi, mpi-all, mafia."),
        (["--baseline", "absent.json"], "cannot read the baseline 'absent.json': No such file or directory; write one with "
         "Baseline.save or --save-baseline."),
        (["--baseline", "expect.toml"], "'expect.toml' is no baseline: it is not JSON, Expecting value in line 1."),
        (["--baseline", "old.nc"], "'old.nc' is no baseline: it is not text in UTF-8."),
        (["--baseline", "found.json"], "'found.json' is no baseline: \"verdicts\" is unknown; known are entries, schema, "
         "statistic."),
        (["--baseline", "cut.json"], "'cut.json' is no baseline: it is not JSON, Expecting value in line 1."),
        (["--force"], "--force lets --save-baseline replace a file; give both, or neither."),
        (["--save-baseline", "."], ". is a folder; name a file in it."),
        (["--save-baseline", "nowhere/b.json"], "the folder 'nowhere' is not there; make it first, or choose another "
         "one."),
        (["--fail-on", "gone"], "--fail-on gone compares with a baseline; give one with --baseline."),
    ],
)  # fmt: skip
def test_wrong_use(here: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    (here / "found.json").write_text('{"schema": 1, "verdicts": []}')
    (here / "cut.json").write_text('{"schema": 1, "entries": [')
    assert said(capsys, "old.nc", *options) == message


def test_scaling_and_resolution_are_passed_on(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def found(*options: str) -> dict[str, object]:
        main(["validate", "strong.nc", "--expect", "strong.toml", "--json", *options])
        return dict(json.loads(capsys.readouterr().out)["verdicts"][0])

    write(here / "strong.nc", same=64 / P)
    (here / "strong.toml").write_text('[expectations]\nsame = "1/p"\n')
    assert found()["metric"] == "p*time"
    assert found("--scaling", "weak")["metric"] == "time"
    assert found()["answer"] == "fine"
    assert found("--resolution", "log(p)^(1/8)")["answer"] == "cannot tell"


def test_help_shows_each_way_of_use(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["validate", "--help"])
    assert left.value.code == 0
    out = capsys.readouterr().out
    for way in ("--expect e.toml --save-baseline", "new.nc --baseline", "--annotations github", "--json >", "mpiexec -n"):
        assert way in out
    assert "an existing file is replaced" in " ".join(out.split())
