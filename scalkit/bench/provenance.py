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
from scalkit.native import Build

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
    known = {key: getattr(mpi, key) for key in ("kind", "library", "standard", "mpicc", "mpiexec")}
    return {
        "mpi": known,
        **mpi.facts,
        "settings": dict(settings),
        "environment": environment(),
        "sources": {"sha256": build.sources},
        "machine": machine(),
    }


def machine() -> dict[str, Any]:
    """Return what is known of this machine: host, system, cores."""
    names = platform.uname()
    return {"host": names.node, "system": f"{names.system} {names.release} {names.machine}", "cores": cores()}
