"""Any program at any parameters: the template, the campaign, and the regions that a program leaves."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs_cpp, needs_gfortran

import scalkit as sk
from scalkit.bench.command.campaign import CommandArguments, prepare_command
from scalkit.bench.command.regions import regions_of
from scalkit.bench.command.template import Template, matrix, points_of_file
from scalkit.bench.process import run_program
from scalkit.cli import main
from scalkit.errors import UsageError
from scalkit.support.native import sources

LONG_S = 6000.0
"""Far longer than any wait: nothing that has to end comes near it."""
PYTHON = shlex.quote(sys.executable)
PROGRAM = """
import sys
import scalkit as sk
n, p = int(sys.argv[1]), int(sys.argv[2])
if n == 4 and p == 2:
    sys.exit("no room")
with sk.region("sum"):
    sum(range(1000 * n))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "app.py"
    path.write_text(PROGRAM)
    return path


def test_points_are_all_combinations() -> None:
    points = matrix(["p=2..16", "n=100..1000", "t=1, 4"])
    assert len(points) == 4 * 5 * 2
    assert points[0] == (("p", 2), ("n", 100), ("t", 1))
    assert {dict(point)["n"] for point in points} == {100, 200, 400, 800, 1000}
    assert matrix([]) == ((),)


def test_points_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("p, n\n2,100\n4,400\n\n2,100\n")
    assert points_of_file(tmp_path / "points.csv") == ((("p", 2), ("n", 100)), (("p", 4), ("n", 400)))


def test_a_command_is_split_and_filled() -> None:
    template = Template("mpiexec -n {p} './my app' --n={n} '{{x}}'", ("OMP_NUM_THREADS={t}",))
    template.require(["p", "n", "t"])
    words, variables = template.filled((("p", 2), ("n", 5), ("t", 3)))
    assert words == ["mpiexec", "-n", "2", "./my app", "--n=5", "{x}"]
    assert variables == {"OMP_NUM_THREADS": "3"}
    assert template.name == "my app"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["-p", "n=1,2"], "the parameter 'n' has no place in --command true: write {n} where its value goes"),
        (["--command", "true {n}"], "--command has {n}, and there are no parameters: add -p n=1,2,4"),
        (["--command", "true {n} {k}", "-p", "n=1"], "--command has {k}, and parameters are n"),
        (["--command", "true 'x"], "--command true 'x: no closing quotation; close it."),
        (["--command", "awk '{print $1}'"], "there are no parameters: write {{print $1}} for the braces."),
        (["--command", " "], "--command is empty"),
        (["--command", "no-such-program"], "there is no program 'no-such-program'; give its path"),
        (["-p", "n"], "-p n: a name and its values are needed"),
        (["-p", "n=1.5"], "n = 1.5: whole numbers from 1 on are needed"),
        (["-p", "n=0"], "n = 0: whole numbers"),
        (["-p", "n=8..2"], "-p n=8..2: the range ends before it begins"),
        (["-p", "time=1"], "a parameter cannot be called 'time'"),
        (["-p", "n=1", "-p", "n=2"], "the parameter 'n' is named twice"),
        (["-p", "a=" + ",".join(map(str, range(1, 102))), "-p", "b=" + ",".join(map(str, range(1, 101)))], "10,100 points"),
        (["--set", "x"], "--set x: a variable is needed"),
        (["--mpi", "mpich"], "--mpi does not go with --command; leave it out."),
        (["collectives"], "collectives does not go with --command"),
        (["--runs", "0"], "--runs 0: a whole number from 1"),
    ],
)
def test_wrong_use_is_one_sentence(options: list[str], text: str, tmp_path: Path, capsys) -> None:
    command = [] if "--command" in options else ["--command", "true"]
    assert main(["measure", *command, *options, "--out", str(tmp_path / "x")]) == 2
    said = capsys.readouterr().err
    assert text in said
    assert said.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_options_of_a_command_need_one(capsys) -> None:
    assert main(["measure", "-p", "n=1,2"]) == 2
    assert "-p goes with --command" in capsys.readouterr().err


def test_a_campaign_keeps_what_fails_and_resumes(program: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "runs"
    command = f"{PYTHON} {program} {{n}} {{p}}"
    options = ["--command", command, "-p", "n=1,4", "-p", "p=1,2", "--runs", "1", "--min-reps", "1", "--max-reps", "1"]
    assert main(["measure", *options, "--out", str(out)]) == 2
    said = capsys.readouterr()
    assert "command-n4-p2-r00: the command ended with status 1 at n = 4, p = 2; its output is in" in said.err
    assert (out / "command-n4-p2-r00.txt").read_text() == "no room\n"
    assert sorted(path.name for path in out.glob("*.jsonl*")) == [
        "command-n1-p1-r00.jsonl",
        "command-n1-p2-r00.jsonl",
        "command-n4-p1-r00.jsonl",
    ]
    assert f"scalkit validate {out} --expectation 'app = n/p'" in said.out
    before = {path: path.stat().st_mtime_ns for path in out.glob("*.jsonl")}
    assert main(["measure", *options, "--out", str(out)]) == 2
    assert before == {path: path.stat().st_mtime_ns for path in out.glob("*.jsonl")}
    assert main(["measure", *options, "--set", "A=1", "--out", str(out)]) == 2
    assert "holds a campaign with other arguments: set was empty, is now A=1" in capsys.readouterr().err
    data = sk.read(out)
    assert data.attrs["parameter"] == "n,p"
    assert data["function"].values.tolist() == ["app", "sum"]
    assert data["time"].sel(function="sum", n=4, p=1).item() > 0
    assert data["time"].sel(function="app", n=4, p=2).isnull().all()
    assert data["calls"].sel(function="sum", n=1, p=1).item() == 1


def test_more_points_go_into_the_same_folder_and_a_single_value_is_no_parameter(program: Path, tmp_path: Path) -> None:
    for values in ("n=1,2", "n=1,2,3"):
        template = Template(f"{PYTHON} {program} {{n}} {{p}}")
        own = CommandArguments(template, matrix([values, "p=1"]), runs=1, min_reps=2, max_reps=2)
        result = prepare_command(tmp_path / "runs", own).run()
        assert not result.missing
    assert result.fresh == 1
    data = sk.read(tmp_path / "runs")
    assert data["n"].values.tolist() == [1, 2, 3]
    assert data.attrs["parameter"] == "n"
    assert data.sizes["repetition"] == 2


def test_words_that_are_no_names_of_files_are_texts(tmp_path: Path) -> None:
    template = Template(f"sh -c 'true {{n}} # {300 * 'x'}' {tmp_path}")
    assert CommandArguments(template, matrix(["n=2..2"])).points == ((("n", 2),),)


def test_a_changed_program_is_another_one(program: Path, tmp_path: Path) -> None:
    template = Template(f"{PYTHON} {program} 1 1")
    prepare_command(tmp_path / "runs", CommandArguments(template, matrix([]), runs=1, min_reps=1, max_reps=1)).run()
    program.write_text(PROGRAM + "\n")
    with pytest.raises(UsageError, match="holds a campaign with other arguments: files was"):
        prepare_command(tmp_path / "runs", CommandArguments(template, matrix([]), runs=1, min_reps=1, max_reps=1))


def test_the_end_of_a_program_is_seen_at_once() -> None:
    """`Popen.wait` with a time limit looks every 50 ms; short programs would all take steps of that."""
    walls = [run_program(["sleep", "0.06"], timeout_s=LONG_S).wall_s for _ in range(3)]
    assert min(walls) >= 0.06
    assert run_program(["sleep", str(LONG_S)], timeout_s=0.05).status is None


REGIONS = """
#include <scalkit/region.h>
#include <cstdlib>
static void *kept;
void inner();
int main()
{
    for (int k = 0; k < 20; k++) {
        SK_REGION_BEGIN("solve");
        inner();
        kept = std::malloc(4096);
        SK_REGION_END("solve");
    }
    SK_REGION_BEGIN("open");
    SK_REGION_END("unknown");
    return kept == nullptr;
}
"""
INNER = """
#include <scalkit/region.h>
void inner() { SK_REGION_BEGIN("i\\"n"); SK_REGION_BEGIN("i\\"n"); SK_REGION_END("i\\"n"); SK_REGION_END("i\\"n"); }
"""


@needs_cpp
def test_regions_of_several_files_in_cpp(tmp_path: Path) -> None:
    include = sources("microbench") / "include"
    for name, text in (("main.cpp", REGIONS), ("inner.cpp", INNER)):
        (tmp_path / name).write_text(text)
    words = ["c++", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-o", "app", "main.cpp", "inner.cpp"]
    subprocess.run(words, cwd=tmp_path, check=True)
    folder = tmp_path / "left"
    folder.mkdir()
    assert run_program([str(tmp_path / "app")], timeout_s=LONG_S).status == 0
    for _ in range(2):
        run_program([str(tmp_path / "app")], timeout_s=LONG_S, environment={"SCALKIT_REGIONS": str(folder)})
    (folder / "other.jsonl").write_text('{"name": "solve"}\n{"half')
    found, odd = regions_of(folder, "app")
    by_name = {one.name: one for one in found}
    assert set(by_name) == {"solve", 'i"n'}
    assert by_name["solve"].calls == 20
    assert by_name["solve"].seconds >= by_name['i"n'].seconds > 0
    assert by_name["solve"].kept_bytes is None or 4096 <= by_name["solve"].kept_bytes < 4200
    assert [re.sub(r" processes.*|;.*", "", text) for text in odd] == [
        "region 'unknown' was entered by 2 of 3",
        "region 'unknown' was ended where it was not begun",
        "region 'open' was entered by 2 of 3",
        "region 'open' was begun and never ended",
        "region 'i\"n' was entered by 2 of 3",
        "region 'i\"n' was begun again inside itself",
        "region 'i\"n' lies inside 'solve'",
        "region 'solve' was entered by 2 of 3",
    ]


FORTRAN = """
program app
  use scalkit_region
  real :: x = 0
  call sk_region_begin("sines")
  x = sum(sin([(real(i), i = 1, 1000)]))
  call sk_region_end("sines")
  if (x > 1e6) print *, x
end program
"""


@needs_gfortran
def test_regions_in_fortran(tmp_path: Path) -> None:
    own = sources("microbench") / "include/scalkit"
    (tmp_path / "app.f90").write_text(FORTRAN)
    subprocess.run(["cc", "-c", str(own / "region.c")], cwd=tmp_path, check=True)
    subprocess.run(["gfortran", "-o", "app", str(own / "region.f90"), "app.f90", "region.o"], cwd=tmp_path, check=True)
    run_program([str(tmp_path / "app")], timeout_s=LONG_S, environment={"SCALKIT_REGIONS": str(tmp_path)})
    found, odd = regions_of(tmp_path, "app")
    assert [one.name for one in found] == ["sines"]
    assert odd == []


def test_regions_in_python(tmp_path: Path) -> None:
    code = (
        "import scalkit as sk\nkept = []\n"
        "for _ in range(3):\n    with sk.region('outer'), sk.region('inner'):\n        kept.append(bytearray(10**6))\n"
        "with sk.region('again'), sk.region('again'):\n    pass\n"
    )
    variables = {"SCALKIT_REGIONS": str(tmp_path), "PYTHONTRACEMALLOC": "1"}
    assert run_program([sys.executable, "-c", code], timeout_s=LONG_S, environment=variables).status == 0
    found, odd = regions_of(tmp_path, "inner")
    by_name = {one.name: one for one in found}
    assert set(by_name) == {"outer", "inner (region)", "again"}
    assert by_name["outer"].calls == 3
    assert 10**6 <= by_name["outer"].kept_bytes < 1.1e6
    assert by_name["outer"].peak_bytes >= 10**6
    assert odd == [
        "region 'inner' lies inside 'outer'; its time is part of both.",
        "region 'again' was begun again inside itself; only the outermost begin and end count.",
    ]


def test_the_folder_of_the_header_is_printed(capsys) -> None:
    assert main(["measure", "--include"]) == 0
    assert (Path(capsys.readouterr().out.strip()) / "scalkit/region.h").is_file()


def test_a_run_file_says_where_it_comes_from(program: Path, tmp_path: Path) -> None:
    template = Template(f"{PYTHON} {program} {{n}} 1", ("OMP_NUM_THREADS=64",))
    own = CommandArguments(template, matrix(["n=3"]), runs=1, min_reps=1, max_reps=1)
    prepare_command(tmp_path / "runs", own).run()
    env = json.loads((tmp_path / "runs/command-n3-r00.jsonl").read_text().splitlines()[0])
    assert env["argv"] == [sys.executable, str(program), "3", "1"]
    assert env["parameter"] == {"n": 3}
    assert env["environment"]["OMP_NUM_THREADS"] == "64"
    assert env["oversubscribed"]
    for text, is_crowded in (("1,1", False), ("32,32", True)):
        template = Template(f"{PYTHON} {program} {{n}} 1", (f"OMP_NUM_THREADS={text}",))
        own = CommandArguments(template, matrix(["n=3"]), runs=1, min_reps=1, max_reps=1)
        prepare_command(tmp_path / text, own).run()
        env = json.loads((tmp_path / text / "command-n3-r00.jsonl").read_text().splitlines()[0])
        assert env["oversubscribed"] == is_crowded
