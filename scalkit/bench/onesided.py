"""Runs the one-sided benchmarks of ``microbench/onesided``: multiplications of matrices, and injected delays.

Programs run over windows of MPI (``"rma"``; ``"locks"`` locks them for each transfer), or over a layer that serves requests only
within its calls (``"layer"``), really or simulated by SimGrid SMPI, and are recorded if a folder for the trace is named.
"""

import json
import math
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.bench.libraries.mpi import Mpi, cores, settings
from scalkit.bench.process import LAST_LINES, started
from scalkit.errors import BuildError, LaunchError, UsageError
from scalkit.native import Build, build, sources

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
    """What a run of ``sk_srumma`` told.

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
        """How long the completing call lasted until process 1 awoke; 0 unless it slept when the transfer began."""
        return max(self.woke - self.completing, 0) if self.slept <= self.begin else 0


def programs(mpicc: str) -> Build:
    """Return the compiled programs ``sk_srumma`` and ``sk_delays``, and both with the recorder linked, ``..._recorded``.

    Raises BuildError if they cannot be compiled.
    """
    return build(sources("microbench"), mpicc, makefile="onesided/Makefile")


def multiply(
    where: Mpi | Simulator,
    processes: int,
    over: str = "rma",
    *,
    trace: Path | None = None,
    environment: Mapping[str, str] | None = None,
    **options: int,
) -> Multiplication:
    """Run ``sk_srumma`` and return what it told.

    `over`: ``"rma"``, ``"locks"`` or ``"layer"``.
    `trace`: folder that the run is recorded to; over the layer it also gets the truth, when requests were served.
    `environment`: more variables, such as `TCP`.
    `**options`: of the program, as its ``--help`` names them, with ``_`` for ``-``: ``n``, ``repeat``, ``ahead``, ``noise``,
    ``seed``, ``delay_us``.
    Raises BuildError if it cannot be compiled.
    Raises UsageError if `over` is something else.
    Raises LaunchError if it fails.
    """
    told = _run(where, "sk_srumma", processes, over, trace, environment, options)
    line = next((line for line in told.splitlines() if line.startswith("{")), "")
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise LaunchError(f"sk_srumma printed no result but {told.strip()[:300]!r}; run it by hand.") from error
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
    told = _run(where, "sk_delays", 2, over, trace, environment, options)
    lines = re.findall(r"^([a-z ]+): (\d+) (\d+) (\d+) (\d+) (\d+)$", told, re.MULTILINE)
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
    """Return what a program printed."""
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
