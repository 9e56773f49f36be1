"""An MPI library in virtual time: its processes run over TCP above a layer that owns the clock (docs/virtual-time.md)."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from scalkit.bench.libraries.mpi import PROBE, Mpi, settings
from scalkit.bench.process import Outcome, started, summary
from scalkit.bench.virtual.network import Network
from scalkit.errors import BuildError, LaunchError, UsageError
from scalkit.support.native import Build, build, sources
from scalkit.support.toml.tables import table_beside

CLOCKS = ("real", "virtual")
"""What run times can be read from."""

COMPUTES = ("none", "cpu", "instructions")
"""What moves a process's clock between its calls: nothing, its processor time, or the instructions that it executes."""

REPETITIONS = 3
"""Virtual time repeats itself: three show that it does."""

_WARMUP = 2
"""First calls connect processes and choose algorithms; from the third on a call is like the one before."""

_MEMORY_B = 16 * 2**30
"""Room for messages on their way, of which only what is touched exists."""

_STALL_S = 60
"""Usual `VirtualMpi.stall_s`; a hand-over takes some 10 us."""

_PROOF_S = 30.0
"""Real time for two processes that meet; 0.3 s are usual."""

_MOST_PROCESSES = 512
"""Beyond this the layer was never tried."""


_WAY_OUT = "measure with --clock real, or another library with --mpi."


_KINDS = ("MPICH", "Open MPI", "Intel MPI")
_WITH_OFI = (4, 3)
"""Since this version the MPICH of PyPI has both modules."""


@dataclass(frozen=True)
class VirtualMpi(Mpi):
    """An MPI library whose processes read a virtual clock; it compiles and launches as `Mpi` does.

    `of`: the library itself.
    `layer`: with ``libskvirtual.so``.
    `compute`: one of `COMPUTES`.
    `memory`: path of the shared memory of a launch; empty outside of `opened`.
    `output`: file for the layer's account of a launch; empty for none.
    `messages`: file for all messages within calls of MPI; empty for none.
    `stall_s` in s: real time without an event after which the layer says who waits for whom.
    """

    of: Mpi = field(kw_only=True)
    network: Network = field(kw_only=True)
    layer: Build = field(kw_only=True)
    compute: str = field(kw_only=True, default="none")
    memory: str = field(kw_only=True, default="")
    output: str = field(kw_only=True, default="")
    messages: str = field(kw_only=True, default="")
    stall_s: int = field(kw_only=True, default=_STALL_S)
    is_virtual: ClassVar[bool] = True

    @property
    def real(self) -> Mpi:
        """The library by the clock of this machine."""
        return self.of

    @property
    def name(self) -> str:
        """The library and the machine in one short line."""
        nodes = f", {self.network.per_node} processes a node" if self.network.has_nodes else ""
        return f"{self.of.name} in virtual time on {self.network.name:.60}{nodes}"

    @property
    def usual_runs(self) -> int:
        """One: a second would be the same."""
        return 1

    @property
    def options(self) -> dict[str, object]:
        """Options of sk_time: it repeats itself."""
        return {"min-reps": REPETITIONS, "max-reps": REPETITIONS, "passes": 1, "warmup": _WARMUP}

    @property
    def facts(self) -> dict[str, Any]:
        """What a run file says about the machine and the layer."""
        return {
            "virtual": {
                **self.network.facts,
                "compute": self.compute,
                "settings": settings_of(self.kind, self.library),
                "layer": self.layer.sources,
            }
        }

    @contextmanager
    def opened(self) -> "Iterator[VirtualMpi]":
        """Yield the same library with the shared memory of one launch, which is gone after it.

        Raises LaunchError if this system has no such memory, or not enough of it.
        """
        handle = -1
        try:
            handle = os.memfd_create("scalkit-virtual")
            os.ftruncate(handle, _MEMORY_B)
        except (OSError, AttributeError) as error:
            if handle >= 0:
                os.close(handle)
            reason = getattr(error, "strerror", None) or error
            raise LaunchError(f"no shared memory for virtual time: {reason}; Linux has it (memfd_create).") from error
        try:
            yield replace(self, memory=f"/proc/{os.getpid()}/fd/{handle}")
        finally:
            os.close(handle)

    @property
    def probing(self) -> dict[str, str]:
        """The environment of a program that is started outside of a campaign."""
        crowded = [settings(kind, oversubscribed=True) for kind in (self.launcher, self.kind)]
        return {**self.environment, **crowded[0], **crowded[1]}

    def command(self, n: int, program: str, *arguments: str, forward: Mapping[str, str] | None = None) -> list[str]:
        """Return the command that starts `n` ranks above the layer; only they see it, not the launcher.

        Raises UsageError if there are more ranks than the layer takes.
        """
        if n > _MOST_PROCESSES:
            raise UsageError(f"{n} processes in virtual time: at most {_MOST_PROCESSES} are possible.")
        words = [f"{name}={value}" for name, value in self._environment(n).items()]
        return self.of.command(n, "env", *words, program, *arguments, forward=forward)

    @property
    def _core(self) -> str:
        """The core that all processes share, for only one of them runs at a time; none where they compute."""
        if self.compute != "none" or not hasattr(os, "sched_getaffinity"):
            return ""
        return f" cpu={max(os.sched_getaffinity(0))}"

    def _environment(self, n: int) -> dict[str, str]:
        """Return the variables of the ranks."""
        machine = f"processes={n} {self.network.words} compute={self.compute}"
        preloaded = [str(self.layer.program("libskvirtual.so")), *os.environ.get("LD_PRELOAD", "").split()]
        return {
            **settings_of(self.kind, self.library),
            "SCALKIT_VIRTUAL": self.memory,
            "SCALKIT_VIRTUAL_MACHINE": f"{machine} stall={self.stall_s} check=1{self._core}",
            **({"SCALKIT_VIRTUAL_OUT": self.output} if self.output else {}),
            **({"SCALKIT_VIRTUAL_MESSAGES": self.messages} if self.messages else {}),
            "LD_PRELOAD": ":".join(preloaded),
        }


def settings_of(kind: str, library: str = "", environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that make an MPI library send every message through TCP, without those that the user has set.

    `kind`, `library`: as `Mpi.kind` and `Mpi.library`.
    `environment`: the user's; by default that of this process.
    Raises UsageError if a variable of the user's switches TCP off.
    """
    given = os.environ if environment is None else environment
    table = _table(kind, library, given)
    for name, setting in table.items():
        needed = setting.get("needed", "")
        words = given.get(name, needed).lstrip("^").split(",")
        if needed and (needed in words) == given.get(name, "").startswith("^"):
            raise UsageError(
                f"{name}={given[name]} keeps {kind} from sending through TCP, which virtual time needs; unset it, or set "
                f"{name}={setting['value']}."
            )
    return {name: setting["value"] for name, setting in table.items() if name not in given}


def _table(kind: str, library: str, given: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return what a library needs, by what it says of itself."""
    table = table_beside(__file__, "settings.toml")
    if kind == "MPICH":
        module = given.get("MPIR_CVAR_CH4_NETMOD") or ("ofi" if _has_ofi(library) else "ucx")
        return dict(table[f"MPICH over {'ucx' if module == 'ucx' else 'ofi'}"])
    own: dict[str, dict[str, str]] = table.get(kind, {})
    return {**own, **table["Open MPI 4"]} if kind == "Open MPI" and re.search(r"\bv4\.", library) else own


def _has_ofi(library: str) -> bool:
    """Return whether an MPICH can send through libfabric; where it does not say, by its version."""
    devices = re.findall(r"\bch4:([\w, ]+)", library)
    if devices:
        return any("ofi" in re.split(r"[, ]+", device) for device in devices)
    version = re.search(r"Version:\s*(\d+)\.(\d+)", library)
    return version is not None and (int(version[1]), int(version[2])) >= _WITH_OFI


def virtual(mpi: Mpi, network: Network, *, compute: str = "none") -> VirtualMpi:
    """Return an MPI library in virtual time, its layer built.

    `compute`: one of `COMPUTES`.
    Raises UsageError if the library or an argument is none that can be used.
    Raises BuildError if the layer cannot be built.
    """
    if mpi.kind not in _KINDS:
        raise UsageError(f"{mpi.name} cannot run in virtual time; {', '.join(_KINDS)} can.")
    if compute not in COMPUTES:
        raise UsageError(f"--compute {compute!r:.40}: choose from {', '.join(COMPUTES)}.")
    settings_of(mpi.kind, mpi.library)
    try:
        layer = build(sources("microbench"), mpi.mpicc, library=mpi.library, makefile="virtual/Makefile")
    except BuildError as error:
        raise BuildError(f"{mpi.name} cannot run in virtual time here: {summary(str(error))}; {_WAY_OUT}") from error
    return VirtualMpi(
        **{one.name: getattr(mpi, one.name) for one in fields(Mpi)}, of=mpi, network=network, layer=layer, compute=compute
    )


def proved(mpi: VirtualMpi) -> VirtualMpi:
    """Return a library in virtual time, after two of its ranks met there.

    Raises LaunchError if they did not: why, and how to go on.
    """
    program = str(build(PROBE, mpi.mpicc).program("probe"))
    with TemporaryDirectory(prefix="scalkit-") as scratch, mpi.opened() as opened:
        account = Path(scratch) / "account.json"
        command = replace(opened, output=str(account)).command(2, program, "world")
        outcome = started(command, way="", timeout_s=_PROOF_S, environment=mpi.probing)
        why = _why_not(outcome, account)
    if why:
        raise LaunchError(f"{mpi.of.name} cannot run in virtual time here: {why}; {_WAY_OUT}")
    return mpi


def _why_not(outcome: Outcome, account: Path) -> str:
    """Return why two ranks did not meet in virtual time; empty if they did."""
    if outcome.status != 0:
        line = next((one.strip() for one in outcome.output.splitlines() if one.strip()), "")
        return f"two ranks {outcome.ending.rstrip('.')}" + (f" ({line:.200})" if line else "")
    if "world 2" not in outcome.output:
        return "two ranks did not meet in one world"
    try:
        messages = json.loads(account.read_text(encoding="utf-8"))["messages"]
    except (OSError, ValueError, KeyError):
        return "its processes do not use the layer that owns the clock"
    return "" if messages else "its processes send no message over TCP"
