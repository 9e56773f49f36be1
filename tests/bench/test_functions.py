"""Functions of the user: measured by real ranks, refused with a reason, kept when they crash."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scalkit.bench import Arguments, Mpi, prepare
from scalkit.bench.campaign.loop import Result
from scalkit.bench.functions.user import user_functions
from scalkit.cli import main
from scalkit.errors import BuildError, UsageError
from scalkit.formats.read import read
from scalkit.support.native import sources

pytestmark = pytest.mark.mpi

EXAMPLES = sources("microbench") / "examples"
BUDGET_S = 600.0
"""More than any machine needs: a budget that is used up would leave repetitions out."""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def measured(name: str, mpi: Mpi, *, min_reps: int = 5, max_reps: int = 20) -> Result:
    """Return the outcome of one launch of two processes into the folder ``runs``."""
    arguments = Arguments(("functions",), (2,), 1, 3, functions=(name,), min_reps=min_reps, max_reps=max_reps, budget_s=BUDGET_S)
    return prepare(Path("runs"), arguments, mpi).run()


def written(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_the_example_in_c_becomes_a_benchmark(mpi: Mpi, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["measure", "--function", str(EXAMPLES / "ring_allreduce.c"), "-n", "2,4", "--runs", "1", "--out", "runs"]
    assert main([*words, "--budget", str(BUDGET_S), "--max-reps", "20"]) == 0
    assert capsys.readouterr().out.startswith("Measuring functions of ")
    ds = read("runs")
    assert ds["function"].values.tolist() == ["ring_allreduce"]
    assert ds["p"].values.tolist() == [2, 4]
    assert bool(ds["verified"].all())
    assert (ds["n_repetitions"] >= 5).all()
    records = [json.loads(line) for line in Path("runs/function-p0004-r00.jsonl").read_text().splitlines()]
    assert (records[0]["program"], records[-1]["rec"]) == ("sk_function", "end")
    assert {record["sync"] for record in records[1:-1]} == {"round"}


def test_a_check_that_finds_something_wrong_marks_the_records(mpi: Mpi, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "int lies(struct sk_call *call) { return MPI_Barrier(call->comm); }\n"
    written("lies.c", wrong + "long lies_check(struct sk_call *call) { return call->rank; }\n")
    words = ["measure", "--function", "lies.c", "-n", "2", "--runs", "1", "--max-reps", "20", "--out", "runs"]
    assert main(words) == 0
    assert "lies gives a wrong result with 2 processes: wrong elements: 1, the first on process 1" in (capsys.readouterr().err)
    assert not read("runs")["verified"].any()


def test_a_crash_keeps_what_was_measured(mpi: Mpi) -> None:
    body = "static int calls;\nint crashes(struct sk_call *call)\n{\n"
    body += "    if (++calls == 60 && call->rank == 1)\n        abort();\n    return MPI_Barrier(call->comm);\n}\n"
    written("crashes.c", "#include <stdlib.h>\n" + body)
    result = measured("crashes.c", mpi, min_reps=100, max_reps=100)
    assert [launch.name for launch in result.missing] == ["function-p0002-r00"]
    assert result.failures[0].startswith("function-p0002-r00 ")
    (part,) = Path("runs").glob("*.part")
    kept = part.read_text().splitlines()
    assert len(kept) >= 2
    ds = read(part)
    assert ds.attrs["truncated"]
    assert ds["n_repetitions"].item() >= 5


@pytest.mark.slow
def test_a_changed_function_is_another_campaign(mpi: Mpi) -> None:
    name = written("waits.c", "int waits(struct sk_call *call) { return MPI_Barrier(call->comm); }\n")
    assert measured(name, mpi).fresh == 1
    before = Path("runs/function-p0002-r00.jsonl").stat().st_mtime_ns
    assert measured(name, mpi).fresh == 0
    assert Path("runs/function-p0002-r00.jsonl").stat().st_mtime_ns == before
    written("waits.c", "int waits(struct sk_call *call) { (void)call; return 0; }\n")
    with pytest.raises(UsageError, match=r"^runs holds a campaign begun under other conditions: hash of the functions was "):
        measured(name, mpi)


SIGNATURE = "int f(struct sk_call *call)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int f(int x) { return x; }\n", f"f.c: 'f' has another signature than {SIGNATURE}. The compiler says: "),
        ("int g(void) { return 0; }\n", f"f.c defines no function 'f'; a function of the file's name is needed, {SIGNATURE}."),
        ("int f(struct sk_call *call)\n{\n    return y;\n}\n", "compiling f.c with "),
        ("int f(struct sk_call *call) { return other_(call); }\n", "f.c: 'other_' is not defined; define it, "),
        ('#include "absent.h"\n', "compiling f.c with "),
    ],
)
def test_c_files_that_cannot_be_used(mpi: Mpi, text: str, message: str) -> None:
    written("f.c", text)
    with pytest.raises(BuildError, match=f"^{re.escape(message)}") as caught:
        user_functions(["f.c"], sources("microbench"), mpi)
    assert str(caught.value).count("\n") == 0
    if message.startswith("compiling"):
        assert re.search(r"f\.c:[13]:\d+: (fatal )?error: ", str(caught.value))


HOW = "name a C file, as in ./my_bcast.c; programs in other languages are measured with --command."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], f"--function: nothing is named; {HOW}"),
        (["mine.py:f"], f"--function 'mine.py:f': {HOW}"),
        (["gone.c"], f"--function 'gone.c': there is no such file; {HOW}"),
        (["a-b.c"], "--function 'a-b.c': the file must be named like its function, and 'a-b' is no name in C."),
        (["f.c", "./f.c"], "--function: f, f name a function twice; rename one, or measure them apart."),
    ],
)
def test_words_that_name_no_function(mpi: Mpi, words: list[str], message: str) -> None:
    for name in ("f.c", "a-b.c"):
        written(name, "")
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        user_functions(words, sources("microbench"), mpi)


def test_functions_and_their_kind_go_together() -> None:
    with pytest.raises(UsageError, match=r"^what to measure: nothing is named; name each once, from collectives, memory\."):
        Arguments(("functions",), (2,), 1, 0)
    with pytest.raises(UsageError, match=r"'functions' and the name of at least one function go together"):
        Arguments(("memory", "functions"), (2,), 1, 0)
    with pytest.raises(UsageError, match=r"collectives, functions: f\.c; 'functions' and the name"):
        Arguments(("collectives",), (2,), 1, 0, functions=("f.c",))


def test_nothing_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure"]) == 2
    assert "nothing is named to measure; say collectives, memory, both, or --function FILE." in capsys.readouterr().err
