"""Records programs that others wrote, and compares the calls in each trace with those that a counter saw: they agree.

python benchmarks/trace_foreign.py [--examples /usr/share/doc/mpich/examples] [--mpicc mpicc] [--mpiexec mpiexec]
    [--command "hpcc:hpcc"] ...

Programs are the examples of MPICH (Debian's mpich-doc) in C, C++ and Fortran, mpi4py's own (python -m mpi4py.bench), and those
that --command names, with their words. The counter shares nothing with the recorder: a stub for each function that adds one and
jumps on, where the program, not the MPI library, calls it (x86-64).
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from scalkit.bench import find_mpi
from scalkit.bench.libraries.mpi import settings
from scalkit.support import native
from scalkit.trace.calls.profile import read_profile
from scalkit.trace.local.part import load

KERNEL = Path(__file__).resolve().parents[1] / "microbench"
EXAMPLES = {  # file and what it reads
    "cpi.c": "",
    "hellow.c": "",
    "icpi.c": "1000\n0\n",
    "ircpi.c": "1000\n0\n",
    "srtest.c": "",
    "cxx/cxxpi.cxx": "",
    "f77/fpi.f": "1000\n0\n",
    "f77/hellow.f": "",
    "f90/pi3f90.f90": "1000\n0\n",
}
NOT_COUNTED = {"MPI_Pcontrol"}
N_LIBRARIES = 8
STUB = """
.globl {name}
.type {name}, @function
{name}:
    mov (%rsp), %r11
{within}
    lock incq counts+{at}(%rip)
2:  jmp *real+{at}(%rip)
"""
WITHIN = """
    cmp low+{at}(%rip), %r11
    jb 1f
    cmp high+{at}(%rip), %r11
    jb 2f
1:
"""
COUNTER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *const names[] = { NAMES };
enum { N = sizeof names / sizeof *names };
unsigned long counts[N], low[LIBRARIES], high[LIBRARIES];
void *real[N];
static int found;
/* Calls from within the library, its functions of Fortran, and the recorder do not count. */
static int note(struct dl_phdr_info *one, size_t size, void *more)
{
    (void)size, (void)more;
    const char *name = strrchr(one->dlpi_name, '/');
    if (name && !strstr(name, "cxx") && (!strncmp(name, "/libmpi", 7) || !strncmp(name, "/libsk", 6)) && found < LIBRARIES) {
        low[found] = ~0ul;
        for (int k = 0; k < one->dlpi_phnum; k++) {
            unsigned long begin = one->dlpi_addr + one->dlpi_phdr[k].p_vaddr, end = begin + one->dlpi_phdr[k].p_memsz;
            if (one->dlpi_phdr[k].p_type == PT_LOAD) {
                low[found] = begin < low[found] ? begin : low[found];
                high[found] = end > high[found] ? end : high[found];
            }
        }
        found++;
    }
    return 0;
}
__attribute__((constructor)) static void begin(void)
{
    for (int k = 0; k < N; k++)
        real[k] = dlsym(RTLD_NEXT, names[k]);
    dl_iterate_phdr(note, NULL);
}
__attribute__((destructor)) static void end(void)
{
    char path[4096];
    FILE *file = NULL;
    for (int k = 0; k < N; k++) {
        if (counts[k] && !file) {
            snprintf(path, sizeof path, "%s/%d", getenv("COUNTS"), getpid());
            file = fopen(path, "w");
        }
        if (counts[k] && file)
            fprintf(file, "%s %lu\\n", names[k], counts[k]);
    }
    if (file)
        fclose(file);
}
"""


def build_counter(made: Path, library: Path) -> Path:
    """Compile a library that counts calls of every function that the recorder has."""
    listed = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True).stdout
    names = sorted(set(re.findall(r" T (MPI_\w+|mpi_\w+_)$", listed, re.M)))
    quoted = ", ".join(f'"{one}"' for one in names)
    (made / "counter.c").write_text(COUNTER.replace("NAMES", quoted).replace("LIBRARIES", str(N_LIBRARIES)))
    within = "".join(WITHIN.format(at=8 * k) for k in range(N_LIBRARIES))
    stubs = "".join(STUB.format(name=name, at=8 * k, within=within) for k, name in enumerate(names))
    (made / "stubs.s").write_text(f'.text\n{stubs}\n.section .note.GNU-stack,"",@progbits\n')
    # -Bsymbolic: the tables of the stubs are their own
    words = ["cc", "-O1", "-shared", "-fPIC", "-Wl,-Bsymbolic", str(made / "counter.c"), str(made / "stubs.s")]
    subprocess.run([*words, "-o", str(made / "libcounter.so"), "-ldl"], check=True)
    return made / "libcounter.so"


def programs(args: argparse.Namespace, made: Path) -> Iterator[tuple[str, list[str], str]]:
    """Yield name, words and input of each program that can be compiled here."""
    compilers = {".c": args.mpicc, ".cxx": args.mpicxx, ".f": args.mpifort, ".f90": args.mpifort}
    for name, text in EXAMPLES.items():
        source = Path(args.examples) / name
        compiler = compilers[source.suffix]
        if not args.examples or not source.is_file() or shutil.which(shlex.split(compiler)[0]) is None:
            continue
        built = made / source.name.replace(".", "_")
        more = ["-std=legacy"] if compiler == args.mpifort else ["-w"]
        done = subprocess.run(
            [*shlex.split(compiler), *more, "-g", "-O1", str(source), "-o", str(built), "-lm"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            print(f"{name}: does not compile here: {done.stderr.strip().splitlines()[-1]}")
        else:
            yield name, [str(built)], text
    if not args.no_python:
        for words in ("helloworld", "ringtest", "pingpong -m 0 -n 64"):
            yield f"mpi4py.bench {words.split()[0]}", [sys.executable, "-m", "mpi4py.bench", *words.split()], ""
    for one in args.command:
        name, _, words = one.partition(":")
        yield name, shlex.split(words), ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", default="", help="folder of MPICH's examples")
    parser.add_argument("--mpicc", default="mpicc", help="(default: %(default)s)")
    parser.add_argument("--mpicxx", default="mpicxx", help="(default: %(default)s)")
    parser.add_argument("--mpifort", default="mpifort", help="(default: %(default)s)")
    parser.add_argument("--mpiexec", default="mpiexec", help="launcher and its options (default: %(default)s)")
    parser.add_argument("--processes", default=3, type=int)
    parser.add_argument("--command", action="append", default=[], metavar="NAME:WORDS", help="another program")
    parser.add_argument("--no-python", action="store_true", help="without mpi4py, where that is of another library")
    args = parser.parse_args()
    built = native.build(KERNEL, args.mpicc, makefile="trace/Makefile")
    mpi = find_mpi(shlex.split(args.mpicc)[0], shlex.split(args.mpiexec)[0])
    recorder, profiler = built.program("libsktrace.so"), built.program("libskprofile.so")
    wrong = 0
    print(f"{'program':24}  counted  recorded  in a profile  functions")
    with tempfile.TemporaryDirectory(prefix="scalkit-") as folder:
        made = Path(folder)
        counter = build_counter(made, recorder)
        for name, words, text in programs(args, made):
            given, said = {}, ""
            for library in (recorder, profiler):
                place = made / "out" / f"{len(list(made.glob('out/*')))}"
                counts = Path(f"{place}.counts")
                counts.mkdir(parents=True)
                more = {"LD_PRELOAD": f"{counter} {library}", "SCALKIT_TRACE": str(place), "COUNTS": str(counts)}
                command = [*shlex.split(args.mpiexec), "-n", str(args.processes), *words]
                given_to = {**os.environ, **settings(mpi.kind, library=mpi.library, oversubscribed=True), **more}
                try:
                    done = subprocess.run(
                        command, env=given_to, input=text, capture_output=True, text=True, timeout=120, check=False
                    )
                except subprocess.TimeoutExpired:
                    said = "does not end within 120 s"
                    break
                if done.returncode:
                    said = f"status {done.returncode}: {(done.stderr or done.stdout).strip()[-200:]}"
                    break
                given[library] = counted(counts), found_in(place, library == profiler)
            if said:
                print(f"{name:24}  {said}")
                wrong += 1
                continue
            (real, recorded), (again, profiled) = given[recorder], given[profiler]
            bad = {key: (real[key], recorded[key]) for key in real | recorded if real[key] != recorded[key]}
            bad |= {f"{key} (profile)": (again[key], profiled[key]) for key in again | profiled if again[key] != profiled[key]}
            wrong += bool(bad)
            print(f"{name:24}  {real.total():7}  {recorded.total():8}  {profiled.total():12}  {len(real):9}  {bad or ''}")
    return 1 if wrong else 0


def counted(folder: Path) -> Counter[str]:
    """Return how often each function was called, by its name in C without the ``_c`` of large counts."""
    found: Counter[str] = Counter()
    for file in folder.iterdir():
        for line in file.read_text().splitlines():
            name, n = line.split()
            name = re.sub(r"(_f08|_f08ts|_cptr)?_$", "", name) if name.startswith("mpi_") else name
            if name not in NOT_COUNTED:
                found[name.lower()] += int(n)
    return found


def found_in(folder: Path, is_profile: bool) -> Counter[str]:
    """Return the same of what was recorded."""
    if is_profile:
        found: Counter[str] = Counter()
        for row in read_profile(folder).calls:
            found[row.function.lower()] += row.calls
        return found
    trace = load(folder)
    return Counter(trace.definitions.region(int(path)).lower() for path in trace.calls["path"])


if __name__ == "__main__":
    sys.exit(main())
