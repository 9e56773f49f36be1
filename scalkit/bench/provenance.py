"""What a run file should say about how it came to be, beyond what the program itself can see."""

import contextlib
import datetime as dt
import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scalkit import __version__
from scalkit.bench.libraries.mpi import Mpi, cores
from scalkit.support.native import Build

_FLAGS = ("CFLAGS", "CPPFLAGS", "LDFLAGS", "LD_PRELOAD", "OMP_NUM_THREADS")
_TUNING = ("MPIR_", "MPICH_", "HYDRA_", "OMPI_", "PRTE_", "PMIX_MCA_", "I_MPI_", "UCX_", "FI_", "MV2_", "SKFAULT")
_SECRETS = ("KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "COOKIE", "AUTH", "JWT")


def provenance(mpi: Mpi, build: Build, settings: Mapping[str, str]) -> dict[str, Any]:
    """Return compiler, flags, hash of the sources, versions, and the settings that scalkit applied."""
    return {
        "scalkit": __version__,
        "python": platform.python_version(),
        "mpicc": mpi.mpicc,
        "mpicc_show": mpi.show,
        "mpiexec": mpi.mpiexec,
        "launcher": mpi.launcher,
        "sources": build.sources,
        "settings": dict(settings),
        **mpi.facts,
        "environment": {name: value for name, value in environment().items() if name in _FLAGS},
    }


def write_provenance(folder: Path, kinds: Iterable[str], mpi: Mpi, build: Build, settings: Mapping[str, str]) -> None:
    """Write `provenance` for each kind of launch, as ``KIND.json``."""
    for kind in set(kinds):
        text = json.dumps(provenance(mpi.for_kind(kind), build, settings))
        (folder / f"{kind}.json").write_text(text, encoding="utf-8")


def env_record(run: str, program: str, argv: Sequence[str], p: int, **more: Any) -> dict[str, Any]:
    """Return the first record of a run file of a program that cannot write it itself.

    `run`: ``run_id``.
    `more`: what the record says beyond that, or in its place.
    """
    return {
        "rec": "env",
        "schema": 1,
        "run_id": run,
        "program": program,
        "argv": list(argv),
        "p": p,
        "host": platform.node(),
        "cores": cores(),
        "started": utc_now(),
        "processes_per_node": p,
        "oversubscribed": p > cores(),
        "simulated": False,
        **more,
    }


def digest_of_files(words: Iterable[str]) -> str:
    """Return the SHA-256 of the files that words of a command name, and of the words that name none that can be read."""
    digest = hashlib.sha256()
    for word in words:
        content = word.encode("utf-8", "surrogateescape")
        if os.path.isfile(word):  # Path.is_file raises for a text that is too long for a name
            with contextlib.suppress(OSError):
                content = Path(word).read_bytes()
        digest.update(content)
    return digest.hexdigest()


def environment() -> dict[str, str]:
    """Return the user's variables that change what is measured: flags, preloaded libraries, tuning of the MPI library.

    Names that may hold a secret, and variables that differ from job to job (``SLURM_``, ``PMI_``), are left out.
    """
    return {
        name: value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        for name, value in sorted(os.environ.items())
        if value and (name in _FLAGS or (name.startswith(_TUNING) and not any(word in name for word in _SECRETS)))
    }


def utc_now() -> str:
    """Return the time as it stands in files, in UTC."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def conditions(mpi: Mpi, build: Build, settings: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return what campaign.toml says of library, settings, environment, programs and machine."""
    known = {key: getattr(mpi, key) for key in ("name", "kind", "library", "standard", "mpicc", "mpiexec")}
    return {
        "mpi": {**known, "mpicc_show": mpi.show, "passed_over": list(mpi.passed_over)},
        **mpi.facts,
        "settings": dict(settings),
        "environment": environment(),
        "sources": {"sha256": build.sources},
        "machine": machine() | connections(),
    }


def machine() -> dict[str, Any]:
    """Return what is known of this machine: host, system, cores."""
    names = platform.uname()
    return {"host": names.node, "system": f"{names.system} {names.release} {names.machine}", "cores": cores()}


def connections(classes: Path = Path("/sys/class"), processors: Path = Path("/sys/devices/system/cpu")) -> dict[str, str]:
    """Return network and topology of this node as far as the kernel tells.

    >>> connections(Path("nowhere"), Path("nowhere"))
    {}
    """
    known = {"network": _network(classes), "topology": _sockets(processors)}
    return {key: text for key, text in known.items() if text}


def _network(devices: Path) -> str:
    """Return the fabric of this node, as ``"InfiniBand 200 Gb/sec (4X HDR)"``, else its fastest Ethernet; empty if unknown."""
    rates = [f"{_line(one.with_name('link_layer'))} {_line(one)}".strip() for one in _found(devices, "infiniband/*/ports/*/rate")]
    if rates:
        return ", ".join(dict.fromkeys(rates))
    fastest = max((int(text) for one in _found(devices, "net/*/speed") if (text := _line(one)).isdigit()), default=0)
    return f"Ethernet {fastest / 1000:g} Gb/s" if fastest else ""


def _sockets(devices: Path) -> str:
    """Return how a node is made, as ``"2 sockets a node"``; empty if the kernel does not tell."""
    numbers = {_line(one) for one in _found(devices, "cpu*/topology/physical_package_id")} - {""}
    return f"{len(numbers)} socket{'' if len(numbers) == 1 else 's'} a node" if numbers else ""


def _found(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()[:100]
    except OSError:  # a link that is down does not say its speed
        return ""


class ForeignLoad:
    """A context; after it, `share` is what others than this process and its ended children used of all cores, or None.

    `share`: from 0 to 1; None where the kernel does not tell, or nothing was counted between.
    """

    share: float | None = None

    def __enter__(self) -> "ForeignLoad":
        self._begin = _read()
        return self

    def __exit__(self, *error: object) -> None:
        now, then = _read(), self._begin
        if now is not None and then is not None and now[2] > then[2]:
            others = (now[0] - then[0]) - (now[1] - then[1])
            self.share = min(1.0, max(0.0, others / (now[2] - then[2])))


def _read() -> tuple[float, float, float] | None:
    """Return the time that all cores were busy, that this process and its children used, and that there was, in s."""
    try:
        words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
    except OSError:
        return None
    ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in words]
    return sum(ticks) - ticks[3] - ticks[4], sum(os.times()[:4]), sum(ticks)
