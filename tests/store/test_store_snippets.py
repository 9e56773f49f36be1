"""The C that is to be pasted compiles without a warning and does what MPI's operations do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from launching import environment
from tiers import slow_unless

import scalkit as sk
from scalkit.bench.arguments import operations as names_of
from scalkit.bench.libraries.mpi import Mpi, find_mpi
from scalkit.store.advice.snippets import Operation, operations
from scalkit.support.native import sources

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def mpi() -> Mpi:
    return find_mpi()


_CHECK = """
static int check_{function}(void)
{{
    int rank, size, wrong = 0;
    MPI_Comm comm = MPI_COMM_WORLD;
    const MPI_Datatype type = MPI_LONG;
    const MPI_Op op = MPI_SUM;
    const int count = 3, root = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int to = (rank + 1) % size, from = (rank + size - 1) % size, tag = 7;
    long in[64], ours[64], theirs[64];
    for (int i = 0; i < 64; i++) in[i] = 100 * rank + i, ours[i] = theirs[i] = -1;
    const void *sendbuf = in;
    void *recvbuf = theirs, *buffer = theirs;
    for (int i = 0; i < 3; i++) if (rank == root) theirs[i] = ours[i] = in[i];
    (void)op, (void)root, (void)sendbuf, (void)recvbuf, (void)buffer, (void)to, (void)from, (void)tag;
    {call};
    recvbuf = buffer = ours;
    {ours};
    for (int i = 0; i < 64; i++) wrong += ours[i] != theirs[i];
    return wrong;
}}
"""


def _source(checked: list[tuple[Operation, str, str]]) -> str:
    parts = ["#include <mpi.h>", "#include <stdio.h>", "#include <stdlib.h>"]
    for operation, function, body in checked:
        parts.append(f"static int sk_{function}({operation.parameters})\n{{\n{body}\n}}")
        ours = f"sk_{function}({operation.arguments})"
        parts.append(_CHECK.format(function=function, call=operation.call, ours=ours))
    calls = "\n".join(
        f'    wrong = check_{f}(); if (wrong) printf("{f}: %d wrong\\n", wrong), all += wrong;' for _, f, _ in checked
    )
    parts += ["int main(void)\n{\n    int wrong, all = 0;\n    MPI_Init(NULL, NULL);", calls]
    parts += ["    MPI_Finalize();\n    return all != 0;\n}"]
    return "\n".join(parts)


def _compiled(mpi: Mpi, source: str, folder: Path, *options: str) -> Path:
    path, program = folder / "snippet.c", folder / "snippet"
    path.write_text(source)
    command = [mpi.mpicc, "-std=gnu11", "-Wall", "-Wextra", "-Wshadow", "-Werror", *options, str(path)]
    if mpi.name.startswith("MPICH 4.0"):  # by its declaration of MPI_Waitall gcc takes MPI_STATUSES_IGNORE for an array
        command.insert(1, "-Wno-stringop-overflow")
    if "-c" not in options:
        command += ["-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return program


def test_substitutes_do_what_the_operations_do(mpi: Mpi, tmp_path: Path) -> None:
    checked = [
        (operation, one.function, one.body)
        for operation in operations()
        for one in operation.substitutes
        if one.body and operation.name not in ("MPI_Send", "MPI_Recv")
    ]
    program = _compiled(mpi, _source(checked), tmp_path)
    for ranks in (2, 3, 5):
        command = mpi.command(ranks, str(program))
        done = subprocess.run(command, capture_output=True, text=True, env=environment(mpi))
        assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_what_is_measured_is_what_is_pasted() -> None:
    tree = sources("microbench")
    measured = (tree / "subst" / "collectives.c").read_text()
    known = set(names_of(tree, "collectives"))
    for operation in operations():
        for one in operation.substitutes:
            assert one.name in known
            if one.name in names_of(tree, "collectives", "substitutes"):
                assert one.body in measured, one.name
    assert len(names_of(tree, "collectives", "substitutes")) == 10


@pytest.mark.parametrize("operation", [slow_unless(one, *operations()[:4]) for one in operations()], ids=lambda one: one.name)
def test_snippets_compile(mpi: Mpi, operation: Operation, tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    points = [[p, size] for p in (4, 16) for size in (8, 64, 512, 4096)]
    for place, one in enumerate(operation.substitutes):
        for run in range(3):
            y = [(1 + 0.01 * run + abs(k % 4 - place)) * 1e-6 for k in range(len(points))]
            ds = sk.measurements(points, y, parameter=["p", "S"], name=one.name)
            for machine, library in (("first */", "MPICH Version: 5.0.2"), ("second \\", "Open MPI v5.0.11")):
                store.put(ds.assign_attrs(mpi_library=library), machine=machine)
    advice = store.advise(operation.name)
    for code in (advice.c_ifdef(), advice.c_runtime()):
        needy = [one for one in operation.substitutes if one.needs]
        assert not any(f"sk_{one.function}(" in code for one in needy)
        assert all(f"{one.name} is left out: it needs {one.needs}." in code for one in needy)
        _compiled(mpi, code, tmp_path, "-c")
        _compiled(mpi, code, tmp_path, "-c", "-DPLATFORM_FIRST_MPICH_5_0_2")


@pytest.mark.parametrize(
    ("library", "said"),
    [
        ("Intel(R) MPI Library 2021.16 for Linux* OS", 1),
        ("Open MPI v5.0.11, package: Open MPI user@localhost Distribution, ident: 5.0.11", 2),
        ("Open MPI v5.0.1, package: Open MPI user@localhost Distribution, ident: 5.0.1", 3),
        ("SMPI Version 3.32. Copyright The SimGrid Team 2007-2022", 4),
        ("MPICH Version:      5.0.2\\nMPICH Release date: 2026", 0),
        ("MPICH Version:      15.0.2\\nMPICH Release date: 2026", -1),
    ],
)
def test_libraries_are_found_by_what_they_say(mpi: Mpi, tmp_path: Path, library: str, said: int) -> None:
    store = sk.store.open(tmp_path / "s")
    texts = ("MPICH Version: 5.0.2", "Intel(R) MPI Library 2021.16 for Linux* OS", "Open MPI v5.0.11", "Open MPI v5.0.1")
    for place, text in enumerate((*texts, "SMPI Version 3.32.")):
        ds = sk.measurements([4, 16], [1e-6, 2e-6], parameter="p", name="MPI_Gather")
        store.put(ds.assign_attrs(mpi_library=text), machine=f"m{place}")
    code = store.advise("MPI_Gather").c_runtime()
    main = f'const char text[] = "{library}";\nMPI_Init(NULL, NULL);\nconst int found = sk_platform();\n'
    main += f"MPI_Finalize();\nreturn found != {said};"
    lies = "\n#define MPI_Get_library_version(into, length) (strcpy(into, said), *(length) = 0)\nstatic const char *said;\n"
    code = code.replace("#include <string.h>\n", f"#include <string.h>{lies}") + f"int main(void)\n{{\n{main}\n}}\n"
    program = _compiled(mpi, code.replace("MPI_Init(", "said = text;\nMPI_Init("), tmp_path)
    assert subprocess.run([program], env=environment(mpi)).returncode == 0
