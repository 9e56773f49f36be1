"""Real measurements of functions whose true growth is known: Python functions and C kernels.

Each function is measured at 8 to 12 sizes, mostly doubling ones, of which the largest takes about a
tenth of a second where memory allows it. A repetition is a whole pass over all sizes, so that a
drift of the machine shows; a short call is repeated until it takes a millisecond. The clock of the
processor (``cpu``) and elapsed time (``wall``) are read together. Instructions are those of whole
functions, counted by callgrind; bytes are the peak that ``tracemalloc`` sees during a call. Both
are counted once, at sizes that take up to ten milliseconds. (Callgrind offers no AVX-512, so numpy
and the C library may run other code there than when they are timed.)

Inputs of a size take turns, as `scalkit.check` does it: a processor learns the branches of a short
call by heart if its input is always the same.

The output is JSON Lines: a record about the machine first, then one for each series::

    name, language, kind ("cpu", "wall", "instructions", "bytes"), split ("train" or "test", by a
    hash of language and name, the same for all kinds), sizes, repetitions (a list for each size:
    ns, instructions or bytes of one call), calls (in one repetition), growth (the true one, as
    text), exponents ([a, b] of n^a*log(n)^b; factors log(log(n)) are left out), claims, note, load

The claims are ``true``; ``wrong``, too optimistic by n^(1/2); and ``near``, too optimistic by a
logarithm or, where the growth has none, by n^(1/4). What makes no sense is null.

Linux only; needs gcc, and valgrind with its header for instructions. Functions of packages that
are not installed are left out, and named in the first record.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import functools
import gc
import importlib.util
import itertools
import json
import math
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import real_times_functions
from real_times_functions import PYTHON, C, Function, Growth

REPETITIONS = 5
FEWEST, MOST = 8, 12
"""Sizes of a series."""
LONGEST_S, SHORTEST_S = 0.06, 20e-6
"""The largest size is the first that takes the first; smaller ones than the second are left out."""
REPETITION_NS = 1_000_000
"""Least duration of one repetition."""
COUNTED_S = 0.01
"""The largest size at which instructions are counted takes at most this without callgrind."""
INPUTS, PREPARING_S = 32, 5e-3
"""Inputs that take turns at a size: at most so many, and as many as are made in so long."""
KERNELS = Path(__file__).with_suffix(".c")
KINDS = ("cpu", "wall", "instructions", "bytes")
ROOT_2 = math.sqrt(2.0)


class Runner(Protocol):
    """Calls of a function: `run` returns the ns of so many calls by both clocks."""

    def run(self, n: int, calls: int) -> tuple[int, int]: ...

    def keep(self, sizes: list[int]) -> None: ...

    def close(self) -> None: ...


class PythonRunner:
    """Calls a Python function; garbage is collected between repetitions only."""

    def __init__(self, function: Function):
        self.function, self.made = function, dict[int, list[Any]]()
        self.spent_s = dict[int, float]()

    def run(self, n: int, calls: int) -> tuple[int, int]:
        prepared = self.prepared(n, calls)
        call = self.function.call
        inputs = list(itertools.islice(itertools.cycle(prepared), calls))
        if self.function.fresh:
            inputs = [one.copy() for one in inputs]
        gc.collect(0)
        gc.disable()
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        for one in inputs:
            call(one)
        wall, cpu = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
        gc.enable()
        return cpu, wall

    def prepared(self, n: int, calls: int) -> list[Any]:
        """Return as many inputs as can be made quickly, one at least."""
        made = self.made.setdefault(n, [])
        while not made or (len(made) < min(calls, INPUTS) and self.spent_s.get(n, 0.0) < PREPARING_S):
            real_times_functions.draw = len(made)
            start = time.perf_counter()
            made.append(self.function.setup(n))
            self.spent_s[n] = self.spent_s.get(n, 0.0) + time.perf_counter() - start
        real_times_functions.draw = 0
        return made

    def keep(self, sizes: list[int]) -> None:
        self.made = {n: made for n, made in self.made.items() if n in sizes}
        self.spent_s = {n: spent for n, spent in self.spent_s.items() if n in sizes}

    def close(self) -> None:
        self.made = {}
        gc.collect()


class CRunner:
    """Calls a C kernel in a process of its own."""

    def __init__(self, function: Function, program: Path):
        command = [str(program), function.name]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1)

    def run(self, n: int, calls: int) -> tuple[int, int]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{n} {calls}\n")
        self.process.stdin.flush()
        cpu, wall = self.process.stdout.readline().split()
        return int(cpu), int(wall)

    def keep(self, sizes: list[int]) -> None:
        pass

    def close(self) -> None:
        self.process.communicate()


@dataclass
class Timed:
    """Sizes and times of a function, and how long a call takes at all sizes that were tried."""

    sizes: list[int]
    calls: list[int]
    cpu: list[list[float]]
    wall: list[list[float]]
    tried: dict[int, float]
    load: tuple[float, float]


def calls_of(runner: Runner, n: int) -> tuple[int, float]:
    """Return the number of calls that take a millisecond, and the seconds of one, after a first call."""
    runner.run(n, 1)
    calls = 1
    while True:
        cpu = runner.run(n, calls)[0]
        if cpu >= REPETITION_NS or calls >= 10**6:
            return calls, 1e-9 * cpu / calls
        calls = min(calls * 10, math.ceil(1.3 * calls * REPETITION_NS / max(cpu, 1000)))


def timed(function: Function, runner: Runner) -> Timed | None:
    """Return the times of a function; None if it has too few sizes."""
    begin = os.getloadavg()[0]
    tried, calls = dict[int, float](), dict[int, int]()
    for n in function.sizes():
        calls[n], tried[n] = calls_of(runner, n)
        if tried[n] >= LONGEST_S:
            break
    sizes = list(tried)[-MOST:]
    while len(sizes) > FEWEST and tried[sizes[0]] < SHORTEST_S:
        sizes.pop(0)
    if len(sizes) < FEWEST:
        return None
    runner.keep(sizes)
    cpu: list[list[float]] = [[] for _ in sizes]
    wall: list[list[float]] = [[] for _ in sizes]
    for _ in range(REPETITIONS):
        gc.collect()
        for place, n in enumerate(sizes):
            times = runner.run(n, calls[n])
            cpu[place].append(times[0] / calls[n])
            wall[place].append(times[1] / calls[n])
    return Timed(sizes, [calls[n] for n in sizes], cpu, wall, tried, (begin, os.getloadavg()[0]))


def counted_sizes(function: Function, tried: dict[int, float]) -> list[int]:
    """Return the sizes for counts: up to ten milliseconds, finer ones for steep growths."""
    short = [n for n, seconds in tried.items() if seconds <= COUNTED_S] or [min(tried)]
    steep = Growth(function.growth).exponents[0] > 1.2 and not function.only_doubling
    step = min(function.step, ROOT_2 if steep else 2.0) if function.step <= 2 else function.step
    least, sizes = min(function.first, 8), list[int]()
    while len(sizes) < FEWEST and step > 1.1:
        found = {round(max(short) / step**k) for k in range(10)}
        sizes, step = sorted(n for n in found if n >= least), math.sqrt(step)
    return sizes


def bytes_of(function: Function, sizes: list[int]) -> list[int]:
    """Return the peak of the bytes of a call at each size, above what was there before."""
    found = []
    function.call(copied(function, function.setup(sizes[0])))
    for n in sizes:
        made = copied(function, function.setup(n))
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        function.call(made)
        found.append(tracemalloc.get_traced_memory()[1] - before)
        tracemalloc.stop()
    return found


def copied(function: Function, made: Any) -> Any:
    return made.copy() if function.fresh else made


COUNTING = r"""
#include <valgrind/callgrind.h>
extern void *PyObject_CallNoArgs(void *);
void begin(void) { CALLGRIND_START_INSTRUMENTATION; }
void end(void) { CALLGRIND_STOP_INSTRUMENTATION; }
void *counted(void *call)
{
    CALLGRIND_ZERO_STATS;
    CALLGRIND_TOGGLE_COLLECT;
    void *found = PyObject_CallNoArgs(call);
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS;
    return found;
}
"""


def count_here(wanted: list[tuple[str, list[int]]], library: str) -> None:
    """Call Python functions under callgrind; each call makes one dump, announced by a line."""
    counting = ctypes.PyDLL(library)
    counting.counted.restype, counting.counted.argtypes = ctypes.py_object, [ctypes.py_object]
    known = {function.name: function for function in PYTHON}
    for name, sizes in wanted:
        function = known[name]
        inputs = [copied(function, function.setup(n)) for n in sizes]
        function.call(copied(function, function.setup(sizes[0])))
        gc.collect()
        gc.disable()
        counting.begin()
        counting.counted(list)  # what the first dump says makes no sense
        print(json.dumps([name, 0]), flush=True)
        for n, made in zip(sizes, inputs, strict=True):
            counting.counted(functools.partial(function.call, made))
            print(json.dumps([name, n]), flush=True)
        counting.end()
        gc.enable()


def dumps_of(command: list[str], folder: Path) -> tuple[list[int], str]:
    """Return the instructions in each dump of a program under callgrind, and what it printed."""
    out = folder / "out"
    callgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no"]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    whole_command = [*callgrind, f"--callgrind-out-file={out}", *command]
    done = subprocess.run(whole_command, env=environment, capture_output=True, text=True)
    found: list[int] = []
    while (part := folder / f"out.{len(found) + 1}").exists():
        total = re.search(r"^(?:summary|totals): (\d+)", part.read_text(), re.MULTILINE)
        found.append(int(total[1]) if total else 0)
    for left in folder.glob("out*"):
        left.unlink()
    if done.returncode:
        print(f"callgrind: {done.stderr[-500:]}", file=sys.stderr)
    return found, done.stdout


def instructions(
    wanted: list[tuple[Function, list[int]]], program: Path, folder: Path
) -> Iterator[tuple[Function, list[int], list[int]]]:
    """Yield each function with its sizes and instructions."""
    for function, sizes in wanted:
        if function.language == "C":
            command = [str(program), function.name, *map(str, sizes)]
            counts, _ = dumps_of(command, folder)
            yield function, sizes[: len(counts)], counts
    python = [(function, sizes) for function, sizes in wanted if function.language == "Python"]
    library = built(COUNTING, folder / "counting.so", "-shared", "-fPIC")
    for part in (python[k : k + 20] for k in range(0, len(python), 20)):
        asked = json.dumps([(function.name, sizes) for function, sizes in part])
        command = [sys.executable, __file__, "--count", asked, str(library)]
        counts, said = dumps_of(command, folder)
        lines = [json.loads(line) for line in said.splitlines() if line.startswith("[")]
        by_name: dict[str, dict[int, int]] = {}
        for (name, n), count in zip(lines, counts, strict=False):
            if n:
                by_name.setdefault(name, {})[n] = count
        for function, _ in part:
            found = by_name.get(function.name, {})
            yield function, list(found), list(found.values())


def built(source: str, to: Path, *options: str) -> Path:
    """Compile a C program, with the requests of callgrind if its header is here."""
    path = to.with_suffix(".c")
    path.write_text(source)
    has_header = Path("/usr/include/valgrind/callgrind.h").exists()
    requests = ["-DCOUNTED"] if has_header else []
    command = ["gcc", "-O2", *requests, *options, str(path), "-o", str(to), "-lm"]
    subprocess.run(command, check=True)
    return to


def record(function: Function, kind: str, sizes: list[int], values: Any, **more: Any) -> Any:
    growth = Growth(function.memory if kind == "bytes" else function.growth)
    return {
        "name": function.name,
        "language": function.language,
        "kind": kind,
        "split": function.split,
        "sizes": sizes,
        "repetitions": values,
        "growth": growth.text,
        "exponents": list(growth.exponents),
        "claims": growth.claims,
        "note": function.note,
        **more,
    }


def machine(absent: list[str]) -> dict[str, Any]:
    """Return the first record, about the machine."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout
    versions = {}
    for name in ("numpy", "scipy", "pandas", "networkx"):
        if importlib.util.find_spec(name):
            versions[name] = importlib.import_module(name).__version__
    return {
        "cpu": cpu[1] if cpu else platform.processor(),
        "cores": os.cpu_count(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "compiler": f"{compiler.splitlines()[0]}, -O2",
        "python": platform.python_version(),
        "packages": versions,
        "kernel": platform.release(),
        "load": os.getloadavg(),
        "absent": absent,
    }


def is_there(function: Function) -> bool:
    package = function.name.split()[0]
    needed = package if package in ("pandas", "scipy", "networkx") else "numpy"
    return importlib.util.find_spec(needed) is not None


def main() -> None:
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape)
    parser.add_argument("output", nargs="?", default="real.jsonl", help="default: %(default)s")
    parser.add_argument("--only", default="", help="functions whose name matches this")
    parser.add_argument("--kinds", default=",".join(KINDS), help="default: %(default)s")
    parser.add_argument("--count", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.count:
        count_here(json.loads(args.count[0]), args.count[1])
        return
    sys.setrecursionlimit(10_000)
    kinds, began = args.kinds.split(","), time.monotonic()
    everything = [one for one in (*PYTHON, *C) if re.search(args.only, one.name)]
    absent = [one.name for one in everything if not is_there(one)]
    everything = [one for one in everything if one.name not in absent or one.language == "C"]
    with tempfile.TemporaryDirectory() as temporary, open(args.output, "w") as out:
        folder = Path(temporary)
        program = built(KERNELS.read_text(), folder / "kernels")

        def write(one: Any) -> None:
            out.write(json.dumps(one, separators=(",", ":")) + "\n")
            out.flush()

        write(machine(absent))
        later: list[tuple[Function, list[int]]] = []
        for function in everything:
            is_python = function.language == "Python"
            runner: Runner
            runner = PythonRunner(function) if is_python else CRunner(function, program)
            found = timed(function, runner)
            runner.close()
            spent = f"{time.monotonic() - began:6.1f} s"
            if not found:
                print(f"{spent}  {function.language} {function.name}: too few sizes", flush=True)
                continue
            loads = [round(load, 2) for load in found.load]
            for kind, values in (("cpu", found.cpu), ("wall", found.wall)):
                if kind in kinds:
                    shown = [[round(value, 1) for value in row] for row in values]
                    more = {"calls": found.calls, "load": loads}
                    write(record(function, kind, found.sizes, shown, **more))
            sizes = counted_sizes(function, found.tried)
            if len(sizes) >= FEWEST:
                later.append((function, sizes))
            if "bytes" in kinds and function.memory and len(sizes) >= FEWEST:
                peaks = [[one] for one in bytes_of(function, sizes)]
                write(record(function, "bytes", sizes, peaks, load=loads))
            ends = f"{found.tried[found.sizes[0]]:.2g} to {found.tried[found.sizes[-1]]:.2g} s"
            said = f"{len(found.sizes)} sizes to {found.sizes[-1]}, {ends}"
            print(f"{spent}  {function.language} {function.name}: {said}", flush=True)
        if "instructions" in kinds and shutil.which("valgrind"):
            for function, sizes, counts in instructions(later, program, folder):
                spent = f"{time.monotonic() - began:6.1f} s"
                print(f"{spent}  {function.language} {function.name}: {counts[-1:]}", flush=True)
                if len(counts) >= FEWEST and min(counts) > 0:
                    load = [round(os.getloadavg()[0], 2)]
                    rows = [[one] for one in counts]
                    write(record(function, "instructions", sizes, rows, load=load))


if __name__ == "__main__":
    main()
