"""A Slurm of one machine and two nodes that exist by name only, in a folder and on ports of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from waiting import wait_until

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scancel", "munged")
NODES = ("n0", "n1")
CORES = 8

_CONFIGURATION = """\
ClusterName=scalkit
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MessageTimeout=100
BatchStartTimeout=600
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=n[0-1] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{ports[1]}-{ports[2]}] CPUs={cores}
PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def missing_programs() -> list[str]:
    """Return the programs of Slurm that are not here."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


@contextlib.contextmanager
def running() -> Iterator[Path]:
    """Start munged, slurmctld and a slurmd for each node; yield the configuration file; end them."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as name:
        Path(name).chmod(0o755)  # munged refuses a socket that not everybody can reach
        with _running(Path(name)) as configuration:
            yield configuration


@contextlib.contextmanager
def _running(folder: Path) -> Iterator[Path]:
    host = socket.gethostname().partition(".")[0]
    configuration = folder / "slurm.conf"
    (folder / "state").mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    configuration.write_text(_CONFIGURATION.format(host=host, folder=folder, ports=_ports(), cores=CORES))
    pids: list[Path] = []
    try:
        files = {f"--{what}": str(folder / f"munge.{what.split('-')[0]}") for what in ("socket", "key-file", "log-file")}
        files |= {"--pid-file": str(folder / "munge.pid"), "--seed-file": str(folder / "munge.seed")}
        _started(["munged", *(f"{option}={path}" for option, path in files.items())], folder / "munge.pid", pids)
        _started(["slurmctld", "-f", str(configuration)], folder / "slurmctld.pid", pids)
        for node in NODES:
            _started(["slurmd", "-f", str(configuration), "-N", node], folder / f"slurmd-{node}.pid", pids)
        environment = {**os.environ, "SLURM_CONF": str(configuration)}
        command = ["sinfo", "--noheader", "--states=idle", "--format=%D"]
        wait_until(lambda: _said(command, environment) == str(len(NODES)), "nodes that are idle")
        yield configuration
        subprocess.run(["scancel", "--user=root"], env=environment, check=False)
        wait_until(lambda: _said(["squeue", "--noheader"], environment) == "", "the end of all jobs")
    finally:
        for path in reversed(pids):
            _ended(int(path.read_text()))


def _ports() -> list[int]:
    """Return three free ports, the last two of them neighbours."""
    with contextlib.ExitStack() as stack:
        while True:
            found = [stack.enter_context(socket.socket()) for _ in range(2)]
            for one in found:
                one.bind(("127.0.0.1", 0))
            controller, node = (one.getsockname()[1] for one in found)
            with contextlib.suppress(OSError, OverflowError), socket.socket() as next_one:
                next_one.bind(("127.0.0.1", node + 1))
                return [controller, node, node + 1]


def _started(command: list[str], pid: Path, pids: list[Path]) -> None:
    subprocess.run(command, check=True, capture_output=True)
    wait_until(lambda: pid.is_file() and bool(pid.read_text().strip()), str(pid))
    pids.append(pid)


def _said(command: list[str], environment: dict[str, str]) -> str:
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout.strip()


def _ended(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), f"the end of {pid}")
