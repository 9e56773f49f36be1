"""Algorithms of real MPI libraries, chosen by name, in virtual time: against what messages on a LogGP machine must take.

MPICH and Open MPI run unmodified above the layer of virtual time (docs/virtual-time.md). Each operation is told which algorithm
to use. Its time is compared, process by process, with the schedule of messages that the algorithm sends
(scalkit.perfmodels.played), and as a whole with the closed form of scalkit.perfmodels.

    python benchmarks/virtual_algorithms.py measure --mpicc ... --mpicc ...   into data/virtual/algorithms.csv, some 10 minutes
    python benchmarks/virtual_algorithms.py compare                          how many cells are equal, by algorithm
    python benchmarks/virtual_algorithms.py growths                          how they grow, beside SimGrid SMPI
    python benchmarks/virtual_algorithms.py identify                         which algorithm the times suggest

Nothing in it is measured by a clock of this machine: repeats are equal, and so are the tables on any machine.
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from virtual_forced import ALWAYS, FORCED, Forced, rounds

from scalkit.bench.libraries.mpi import Mpi, find_mpi, settings
from scalkit.bench.virtual.mpi import VirtualMpi, virtual
from scalkit.bench.virtual.network import Network
from scalkit.perfmodels import ExactModel, PointToPoint, Range, RangeModel, collectives_of, identify
from scalkit.perfmodels.collectives.cells import Cells
from scalkit.perfmodels.collectives.identify import OTHER
from scalkit.perfmodels.collectives.model import same_messages
from scalkit.perfmodels.played import SCHEDULES, WIRES, Machine, play
from scalkit.perfmodels.played.steps import Process, exchange, many, receive, send

sys.path.append(str(Path(__file__).resolve().parents[1] / "notebooks"))
from lessons.known import IDENTIFIED, read_known

ROOT = Path(__file__).resolve().parents[1]

PROGRAM = ROOT / "benchmarks/virtual_algorithms.c"
DATA = ROOT / "data/virtual/algorithms.csv"
PROCESSES = (2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64)
SIZES = (8, 65536)
NETWORK = Network("truth", L=2e-6, o=0.5e-6, g=0.3e-6, G=0.1e-9)
MACHINE = Machine.of(NETWORK.L, NETWORK.o, NETWORK.g, NETWORK.G)
COLUMNS = ["library", "operation", "algorithm", "S", "P", "time_ns", "messages", "each_ns", "each_messages"]
TIMEOUT_S = 600
EQUAL_NS = 2.0
"""Times are whole nanoseconds, each process reads the clock twice, and the layer counts picoseconds."""
IN_TURN = {("reduce", "linear"), ("allreduce", "linear"), ("gather", "in-turn"), ("scatter", "in-turn")}
"""Large messages are asked for at once, and answered one after another."""


def compiled(mpi: Mpi, folder: Path) -> Path:
    """Return the program, compiled for a library."""
    program = folder / "virtual_algorithms"
    subprocess.run([mpi.mpicc, "-O1", "-Wall", "-o", str(program), str(PROGRAM), "-ldl"], check=True)
    return program


def launched(mpi: VirtualMpi, program: Path, P: int, chosen: list[Forced], out: Path) -> list[dict[str, object]]:
    """Return what the operations of one launch took."""
    wanted = ",".join(["", *(one.operation for one in chosen), ""])
    variables = {key: value for one in chosen for key, value in one.variables.items()}
    own = {**ALWAYS[mpi.kind], **variables, "SCALKIT_OPERATIONS": wanted}
    environment = {**os.environ, **settings(mpi.kind, oversubscribed=True), **own}
    with mpi.opened() as opened:
        command = opened.command(P, str(program), str(out), *map(str, SIZES), forward=own)
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    if done.returncode != 0:
        raise RuntimeError(f"status {done.returncode}: {(done.stdout + done.stderr)[-1500:]}")
    if done.stderr.strip() or done.stdout.strip():
        print((done.stdout + done.stderr).strip()[:300], flush=True)
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def rows_of(found: list[dict[str, object]], library: str, P: int, chosen: list[Forced]) -> list[list[object]]:
    """Return a row for each operation and size; all repeats are equal, or the line says so."""
    rows: list[list[object]] = []
    names = {one.operation: one.algorithm for one in chosen}
    cells: dict[tuple[str, int], list[dict[str, list[int]]]] = {}
    for one in found:
        cells.setdefault((str(one["operation"]), int(str(one["S"]))), []).append(one)  # type: ignore[arg-type]
    for (operation, S), repeats in cells.items():
        if operation == "barrier" and SIZES[0] != S:
            continue
        if any(one["t_ns"] != repeats[0]["t_ns"] for one in repeats):
            print(f"{library} {operation} {names[operation]} P={P} S={S}: repeats differ", flush=True)
        times, messages = repeats[-1]["t_ns"], repeats[-1]["messages"]
        each = [" ".join(map(str, one)) for one in (times, messages)]
        rows.append([library, operation, names[operation], S, P, max(times), sum(messages), *each])
    return rows


def measure(mpi: Mpi, counts: tuple[int, ...]) -> list[list[object]]:
    """Return the rows of one library."""
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, layered = compiled(mpi, folder), virtual(mpi, NETWORK)
        for P in counts:
            for chosen in rounds(FORCED[mpi.kind]):
                try:
                    found = launched(layered, program, P, chosen, folder / "out.jsonl")
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    print(f"P = {P}, {[(one.operation, one.algorithm) for one in chosen]}: {str(error)[-1500:]}", flush=True)
                    continue
                rows += rows_of(found, mpi.kind, P, chosen)
            print(f"{mpi.kind} P = {P}: {len(rows)} rows", flush=True)
    return rows


def write(rows: list[list[object]], remarks: list[str], path: Path) -> None:
    """Write the table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(f"# {remark}\n" for remark in remarks)
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


@dataclass(frozen=True)
class Row:
    """A cell of the table: what a library was told, and what came of it."""

    library: str
    operation: str
    algorithm: str
    S: int
    P: int
    time_ns: int
    each_ns: tuple[int, ...]
    each_messages: tuple[int, ...]

    @property
    def sent(self) -> str:
        """The algorithm that the library used: where one cannot be used, another one takes over."""
        power, n, op = 1 << (self.P.bit_length() - 1), self.S // 8, self.operation
        if self.library == "Open MPI":
            if (op, self.algorithm) == ("allreduce", "ring") and n < self.P:
                return "recursive-doubling"
            if (self.algorithm == "rabenseifner" and n < power) or (
                op == "broadcast" and self.algorithm.startswith("scatter") and self.P > self.S
            ):
                return "linear"
            if (op, self.algorithm) == ("allgather", "recursive-doubling") and power != self.P:
                return "bruck"
            if self.algorithm == "in-turn" and WIRES[self.library].limit >= self.S:
                return "linear"
            if WIRES[self.library].limit < self.S and (op, self.algorithm) in IN_TURN:
                return "(in turn, requested at once)"
        elif self.algorithm == "rabenseifner" and n < power:
            return "recursive-doubling" if op == "allreduce" else "binomial"
        elif (op, self.algorithm) == ("allgather", "recursive-doubling") and power != self.P:
            return "ring" if self.P * self.S >= 81920 else "bruck"
        if self.algorithm in ("scatter-doubling", "recursive-halving") and power != self.P:
            return f"({self.algorithm}, any P)"
        return self.algorithm


def read(path: Path = DATA) -> list[Row]:
    """Return the table."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = []
    for one in csv.DictReader(lines):
        each = [tuple(map(int, one[key].split())) for key in ("each_ns", "each_messages")]
        numbers = [int(one[key]) for key in ("S", "P", "time_ns")]
        rows.append(Row(one["library"], one["operation"], one["algorithm"], *numbers, *each))  # type: ignore[arg-type]
    return rows


def _one(me: int, P: int, S: int) -> Process:
    yield from send(1, S) if me == 0 else receive(0)


def _both_ways(me: int, P: int, S: int) -> Process:
    yield from exchange(1 - me, S, 1 - me)


def _train(n: int) -> Callable[[int, int, int], Process]:
    return lambda me, P, S: many([(1, S)] * n, []) if me == 0 else many([], [0] * n)


def message_of(library: str) -> PointToPoint:
    """Return the model of a library's message on the machine: LogGP with its headers, and its protocol of large messages."""
    wire = WIRES[library]
    limit, header = wire.limit, f"{wire.header} B"

    def made(name: str, eager: str, played: Callable[[int], float]) -> RangeModel:
        low, high = limit + 1, 96 << 10  # forty of these are less than a network card takes at a time
        slope = (played(high) - played(low)) / (high - low)
        known = {"L": NETWORK.L, "o": NETWORK.o, "g": NETWORK.g, "G": NETWORK.G}
        units = {key: f"{value!r} s{'/B' if key == 'G' else ''}" for key, value in known.items()} | {"h": header}
        constants = {key: value for key, value in units.items() if re.search(rf"\b{key}\b", eager)}
        small = ExactModel(eager, constants, name=name)
        beyond = {"a": f"{1e-9 * (played(low) - slope * low)!r} s", "b": f"{1e-9 * slope!r} s/B"}
        large = ExactModel("a + b*S", beyond, name=name)
        return RangeModel("S", [(Range(high=limit), small), (Range(low=limit, open_low=True), large)], name)

    def gap(size: int) -> float:
        return (play(_train(40), 2, size, wire, MACHINE).time - play(_train(20), 2, size, wire, MACHINE).time) / 20

    one = "L + 2*o + (S + h)*G"
    return PointToPoint(
        made("message", one, lambda size: play(_one, 2, size, wire, MACHINE).done[1]),
        made("gap", "max(o, g + (S + h)*G)", gap),
        exchange=made("exchange", one, lambda size: play(_both_ways, 2, size, wire, MACHINE).time),
        both=made("both", "max(2*o, g + (S + h)*G)", gap),
        name=library,
    )


def by_algorithm(rows: list[Row]) -> dict[tuple[str, str, str], list[Row]]:
    """Return the rows of each library, operation and algorithm."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.library, row.operation, row.algorithm), []).append(row)
    return dict(sorted(found.items()))


def misfit(row: Row) -> float:
    """Return how far a process is off its schedule, in ns; infinite if others are sent."""
    schedule = SCHEDULES[row.library, row.operation, row.algorithm]
    played = play(schedule, row.P, 0 if row.operation == "barrier" else row.S, WIRES[row.library], MACHINE)
    if played.messages != row.each_messages:
        return math.inf
    return max(abs(real - must) for real, must in zip(row.each_ns, played.done, strict=True))


def predictions(operation: str, message: PointToPoint, S: object, P: object) -> dict[str, np.ndarray]:
    """Return the closed forms of all algorithms, in s."""
    models = collectives_of(operation, message)
    return {
        name: np.asarray(one(outside="nan", P=P, **({"S": S} if "S" in one.parameters else {}))) for name, one in models.items()
    }


def compare(rows: list[Row]) -> None:
    """Print a line for each algorithm."""
    messages = {library: message_of(library) for library in WIRES}
    total = {"cells": 0, "equal": 0}
    print("| library | operation | algorithm | cells | equal | closed form equal | closed form off by |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for (library, operation, algorithm), cells in by_algorithm(rows).items():
        equal = sum(misfit(row) < EQUAL_NS for row in cells)
        total = {"cells": total["cells"] + len(cells), "equal": total["equal"] + equal}
        S, P, t = (np.array([getattr(row, key) for row in cells]) for key in ("S", "P", "time_ns"))
        table = predictions(operation, messages[library], S, P)
        known = [(k, 1e9 * table[row.sent][k]) for k, row in enumerate(cells) if row.sent in table]
        there = [(t[k] / value - 1) for k, value in known if np.isfinite(value)]
        form = f"{sum(abs(one) < 1e-3 for one in there)} of {len(there)}" if there else "-"
        worst = f"{100 * min(there):+.0f} to {100 * max(there):+.0f} %" if there else "-"
        print(f"| {library} | {operation} | {algorithm} | {len(cells)} | {equal} | {form} | {worst} |")
    print(total)


def growth(P: list[int], t: list[float]) -> str:
    """Return whether times grow with log P or with P: which of the two lines is nearer."""
    left = {}
    for name, x in (("log P", np.log2(P)), ("P", np.array(P, float))):
        matrix = np.column_stack([np.ones(len(P)), x])
        left[name] = float(np.linalg.lstsq(matrix, np.array(t), rcond=None)[1].sum())
    return min(left, key=lambda name: left[name])


def growths(rows: list[Row]) -> None:
    """Print a line for each algorithm that the simulator has by the same name, at 8 B."""
    known = read_known(ROOT / "data/models/known-star.csv")
    print("| operation | algorithm | SimGrid SMPI | in virtual time |")
    print("| --- | --- | --- | --- |")
    equal = total = 0
    for operation, algorithm in (key for key in known.tables if key[0] not in IDENTIFIED):
        table = known.tables[operation, algorithm]
        there = {int(P): t for P, S, t in table.tolist() if SIZES[0] == S and 1 << (int(P).bit_length() - 1) == P}
        mine = {}
        for row in rows:
            if (row.operation, row.sent, row.S) == (operation, algorithm, SIZES[0]) and row.P in there:
                mine.setdefault((row.library, row.algorithm), {})[row.P] = row.time_ns
        for (library, _), times in mine.items():
            if len(times) == len(there) > 2:
                pair = [growth(list(one), list(one.values())) for one in (there, dict(sorted(times.items())))]
                total, equal = total + 1, equal + (pair[0] == pair[1])
                print(f"| {operation} | {algorithm} | {pair[0]} | {library}: {pair[1]} |")
    print(f"{equal} of {total} equal")


def by_forms(rows: list[Row]) -> dict[str, tuple[int, int]]:
    """Return how often closed forms suggest the algorithm that was used, or are not sure where it is not on their list."""
    messages = {library: message_of(library) for library in WIRES}
    right = total = wrong = unsure = strangers = left = without = 0
    for (library, operation, _), cells in by_algorithm(rows).items():
        S, P, t = (np.array([getattr(row, key) for row in cells], float) for key in ("S", "P", "time_ns"))
        truth, table = [row.sent for row in cells], predictions(operation, messages[library], S, P)
        there = Cells(operation, operation, S, P, 1e-9 * t, virtual=True)
        found = identify(there, messages[library]).cells
        for one, name in zip(found, truth, strict=True):
            if name in table:
                total += 1
                is_right = one.likeliest != OTHER and same_messages(operation, name, one.likeliest, one.P, one.S)
                right, wrong = right + is_right, wrong + (one.is_sure and not is_right)
            else:
                strangers += 1
                unsure += not one.is_sure
        for name in set(truth) & set(table):
            found = identify(there, messages[library], without=(name,)).cells
            for k, one in enumerate(found):
                if truth[k] == name:
                    without += 1
                    left += not one.is_sure
    return {
        "right, by the most probable name": (right, total),
        "wrong, and sure": (wrong, total),
        "not on the list: not sure": (unsure, strangers),
        "left out: not sure": (left, without),
    }


def identified(rows: list[Row]) -> None:
    """Print how often the times suggest the algorithm that was used, and what they suggest where it is not on the list."""
    print("| by closed forms | cells | |\n| --- | --- | --- |")
    for what, (n, of) in by_forms(rows).items():
        print(f"| {what} | {n:,} of {of:,} | {100 * n / of:.1f} % |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "compare", "growths", "identify"))
    parser.add_argument("--mpicc", action="append", default=[], help="compiler of each library that is measured")
    parser.add_argument("--processes", type=int, nargs="*", default=PROCESSES)
    parser.add_argument("--data", type=Path, default=DATA)
    args = parser.parse_args()
    if args.what != "measure":
        {"compare": compare, "growths": growths, "identify": identified}[args.what](read(args.data))
        return 0
    rows: list[list[object]] = []
    versions = []
    for mpicc in args.mpicc:
        mpi = find_mpi(mpicc)
        versions.append(mpi.name)
        rows += measure(mpi, tuple(args.processes))
    remarks = [
        f"virtual time: {NETWORK.words} (ns, ns/B), a process a node; {', '.join(versions)}; {dt.date.today()}",
        "made by benchmarks/virtual_algorithms.py measure; nothing is measured by a clock of the machine that ran it",
    ]
    write(rows, remarks, args.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
