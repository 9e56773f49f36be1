"""Run the one-sided benchmarks whose C sources are next to this file: multiplications of matrices, and injected delays.

Programs run over windows of MPI (``"rma"``; ``"locks"`` locks them for each transfer), or over a layer that serves requests only
within its calls (``"layer"``), really or simulated by SimGrid SMPI. They are recorded if a folder for the trace is named.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.bench.libraries.mpi import Mpi, cores, settings
from scalkit.bench.process import LAST_LINES, started
from scalkit.errors import BuildError, DataError, LaunchError, UsageError
from scalkit.support.native import Build, build, sources

if TYPE_CHECKING:
    import xarray as xr

TCP = {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self"}
"""Settings with which MPICH sends messages over TCP: then transfers need calls of the target, as they do not in shared memory."""

_SIMULATION = {"smpi/simulate-computation": "no", "smpi/coll-selector": "mpich", "smpi/test": "0", "network/crosstraffic": "0"}
_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="1GBps" lat="1us" sharing_policy="SPLITDUPLEX"/>
</platform>
"""
_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Simulator:
    """SimGrid SMPI with hosts of 1 Gflop/s, one process each, and links of 1 GB/s and 1 us to a switch without limits."""

    smpicc: str = "smpicc"
    smpirun: str = "smpirun"

    @property
    def mpicc(self) -> str:
        """Its compiler. Raises BuildError if it is not installed."""
        for name in (self.smpicc, self.smpirun):
            if shutil.which(name) is None:
                raise BuildError(
                    f"the simulator SimGrid SMPI is not here: no {name!r} on PATH. Install it (Debian: apt-get install "
                    "libsimgrid-dev), or run really."
                )
        return self.smpicc

    def command(self, n: int, program: str, *words: str, folder: Path) -> list[str]:
        """Return the command that simulates `n` processes; the description of the machine is written to `folder`."""
        platform = folder / "platform.xml"
        platform.write_text(_PLATFORM.format(last=max(n - 1, 1)), encoding="utf-8")
        given = [f"--cfg={name}:{value}" for name, value in _SIMULATION.items()]
        machine = ["-np", str(n), "-platform", str(platform), *given, "--log=root.thres:critical"]
        return [self.smpirun, *machine, program, *words]


@dataclass(frozen=True)
class Multiplication:
    """Results of a run of ``sk_srumma``.

    `processes`, `n`: number of processes, and rows of the matrices.
    `error`: largest difference to a plain product; NaN if it was not checked.
    `latency_s` in s: of a message of 64 bytes, as long as a request of the layer.
    `times_s` in s: of each multiplication.
    """

    over: str
    is_simulated: bool
    processes: int
    n: int
    error: float
    latency_s: float
    times_s: tuple[float, ...]


@dataclass(frozen=True)
class Delay:
    """A transfer of process 0 with process 1, which slept meanwhile.

    `kind`: such as ``"strided get"``.
    `begin`, `completing`, `end` in ns: begin and end of the transfer, and begin of the call that completes it, on the
    clock of the trace.
    `slept`, `woke` in ns: when process 1 left the library and slept, and when it awoke and called it again.
    """

    kind: str
    begin: int
    completing: int
    end: int
    slept: int
    woke: int

    @property
    def injected_ns(self) -> int:
        """Time from the completing call until process 1 awoke; 0 unless it slept when the transfer began."""
        return max(self.woke - self.completing, 0) if self.slept <= self.begin else 0


def programs(mpicc: str) -> Build:
    """Return the compiled programs ``sk_srumma`` and ``sk_delays``, and both with the recorder linked, ``..._recorded``.

    Raises BuildError if they cannot be compiled.
    """
    with tempfile.TemporaryDirectory(prefix="scalkit-onesided-") as folder:
        # The Makefile needs the recorder and the options of microbench; the cache of builds wants one tree.
        tree = Path(folder) / "microbench"
        shutil.copytree(sources("microbench"), tree)
        shutil.copytree(Path(__file__).parent, tree / "onesided")
        return build(tree, mpicc, makefile="onesided/Makefile")


def multiply(
    where: Mpi | Simulator,
    processes: int,
    over: str = "rma",
    *,
    trace: Path | None = None,
    environment: Mapping[str, str] | None = None,
    **options: int,
) -> Multiplication:
    """Run ``sk_srumma`` and return its results.

    `over`: ``"rma"``, ``"locks"`` or ``"layer"``.
    `trace`: folder that the run is recorded to; over the layer it also gets the truth, when requests were served.
    `environment`: more variables, such as `TCP`.
    `**options`: of the program, as its ``--help`` names them, with ``_`` for ``-``: ``n``, ``repeat``, ``ahead``, ``noise``,
    ``seed``, ``delay_us``.
    Raises BuildError if it cannot be compiled.
    Raises UsageError if `over` is something else.
    Raises LaunchError if it fails.
    """
    output = _run(where, "sk_srumma", processes, over, trace, environment, options)
    line = next((line for line in output.splitlines() if line.startswith("{")), "")
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise LaunchError(f"sk_srumma printed no result but {output.strip()[:300]!r}; run it by hand.") from error
    return Multiplication(
        over=found["over"],
        is_simulated=found["simulated"],
        processes=found["processes"],
        n=found["n"],
        error=math.nan if found["error"] is None else float(found["error"]),
        latency_s=1e-9 * found["latency_ns"],
        times_s=tuple(1e-9 * ns for ns in found["ns"]),
    )


def delays(
    where: Mpi | Simulator,
    over: str = "rma",
    *,
    trace: Path | None = None,
    environment: Mapping[str, str] | None = None,
    **options: int,
) -> list[Delay]:
    """Run ``sk_delays`` with two processes and return its transfers, in their order.

    `where`, `over`, `trace`, `environment`: as for `multiply`.
    `**options`: ``sleep_us``, ``head_us``, ``turns``.
    Raises BuildError, UsageError, LaunchError as `multiply`.
    """
    output = _run(where, "sk_delays", 2, over, trace, environment, options)
    lines = re.findall(r"^([a-z ]+): (\d+) (\d+) (\d+) (\d+) (\d+)$", output, re.MULTILINE)
    return [Delay(kind, *map(int, times)) for kind, *times in lines]


def _run(
    where: Mpi | Simulator,
    program: str,
    processes: int,
    over: str,
    trace: Path | None,
    environment: Mapping[str, str] | None,
    options: Mapping[str, int],
) -> str:
    """Return the output of a program."""
    if over not in ("rma", "locks", "layer"):
        raise UsageError(f"cannot run over {over!r}; choose 'rma', 'locks' or 'layer'.")
    name = str(programs(where.mpicc).program(program if trace is None else f"{program}_recorded"))
    words = [f"--over={over}", *(f"--{option.replace('_', '-')}={value}" for option, value in options.items())]
    given = dict(environment or {})
    if trace is not None:
        trace.mkdir(parents=True, exist_ok=True)
        given["SCALKIT_TRACE"] = str(trace)
        words += [f"--truth={trace}"] if over == "layer" else []
    with tempfile.TemporaryDirectory(prefix="scalkit-onesided-") as folder:
        if isinstance(where, Simulator):
            command = where.command(processes, name, *words, folder=Path(folder))
        else:
            command = where.command(processes, name, *words, forward=given)
            given |= {**where.environment, **settings(where.kind, library=where.library, oversubscribed=processes > cores())}
        outcome = started(command, timeout_s=_TIMEOUT_S, environment=given)
    if outcome.status != 0:
        raise LaunchError(f"{program} with {processes} processes {outcome.ending}. {LAST_LINES}\n{outcome.last_lines}")
    return outcome.output


_LIBRARIES = ("MPI_", "ARMCI_", "armci_", "sk1s_")


@dataclass(frozen=True)
class ProgressThread:
    """Savings and costs of a progress thread; times are those of all locations together, in s.

    `computing_s`, `computing_with_s`: time outside of calls of the library, without the thread and with it.
    `calling_s`, `calling_with_s`: time in these calls.
    `waiting_s`: part of `calling_s` that was waiting for progress: the most that a thread can save.
    """

    computing_s: float
    computing_with_s: float
    calling_s: float
    calling_with_s: float
    waiting_s: float

    @property
    def saved_s(self) -> float:
        """Time in calls that the thread saved; negative if they took longer."""
        return self.calling_s - self.calling_with_s

    @property
    def lost_s(self) -> float:
        """By how much computing took longer, because the thread used the cores too."""
        return self.computing_with_s - self.computing_s

    @property
    def gain_s(self) -> float:
        """Saved less lost: positive if the run with the thread was faster."""
        return self.saved_s - self.lost_s

    @property
    def waiting_share(self) -> float:
        """Part of the time without the thread that was waiting for progress."""
        return self.waiting_s / (self.computing_s + self.calling_s)

    @property
    def pays_above(self) -> float:
        """Share of waiting above which a thread that saves all of it would pay for the computing that it costs; 0 or more."""
        return max(self.lost_s, 0.0) / (self.computing_s + self.calling_s)

    @property
    def could_pay(self) -> bool:
        """Whether the waiting is more than the thread costs."""
        return self.waiting_share > self.pays_above


def weigh_progress_thread(without: xr.Dataset, with_thread: xr.Dataset) -> ProgressThread:
    """Return the savings and costs of a progress thread.

    `without`, `with_thread`: analyses of two runs of the same program on as many locations, as `scalkit.trace.analyse`
    returns them; the second was recorded with a progress thread (``MPIR_CVAR_ASYNC_PROGRESS=1``).
    Raises DataError if the numbers of locations differ, the first run had such a thread, the second one had none, or one
    lasted no time.
    """
    here, there = int(without.sizes["location"]), int(with_thread.sizes["location"])
    if here != there:
        raise DataError(f"the runs have {here} and {there} locations; compare runs of the same size.")
    if "wait_for_progress" not in without["metric"].values:
        raise DataError(
            "the first run had a progress thread, so nobody waited in it; record one without MPIR_CVAR_ASYNC_PROGRESS."
        )
    if "wait_for_progress" in with_thread["metric"].values:
        raise DataError("the second run had no progress thread; record one with MPIR_CVAR_ASYNC_PROGRESS=1.")
    names = [name for name in ("wait_for_progress", "wait_for_grant") if name in without["metric"].values]
    waiting = int(without["severity"].sel(metric=names).sum())
    first, second = _times(without), _times(with_thread)
    for which, times in (("first", first), ("second", second)):
        if sum(times) <= 0:
            raise DataError(f"no time was recorded of the {which} run; record it again.")
    return ProgressThread(first[0], second[0], first[1], second[1], 1e-9 * waiting)


def _times(ds: xr.Dataset) -> tuple[float, float]:
    """Return the time outside and inside of calls of the library, of all locations, in s."""
    by_path = ds["severity"].sel(metric="time").sum("location").values
    of_the_user = json.loads(ds.attrs.get("functions", "[]"))
    names = [str(name) for name in ds["region"].values]
    calls = np.array([name.startswith(_LIBRARIES) or name in of_the_user for name in names], dtype=bool)
    return 1e-9 * int(by_path[~calls].sum()), 1e-9 * int(by_path[calls].sum())
