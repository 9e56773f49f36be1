"""The commands of Slurm: submit a script, ask for states, say in words why a job ended."""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.bench.process import started, summary
from scalkit.errors import LaunchError, UsageError
from scalkit.support.toml.tables import table_beside

GONE = "GONE"
"""State of a job that Slurm does not know any more."""

REJECTED = "REJECTED"
"""State of a job that Slurm did not take."""

_QUESTION_S = 60.0
_LAST_B = 20_000
_OWN = "scalkit campaign: "


def _facts() -> dict[str, Any]:
    """Return what Slurm's words mean."""
    return table_beside(__file__, "slurm.toml")


@dataclass(frozen=True)
class JobState:
    """What Slurm says of a job.

    `word`: such as ``"RUNNING"`` or ``"TIMEOUT"``.
    `reason`: why it waits, in Slurm's word; empty if it does not.
    """

    word: str
    reason: str = ""

    @property
    def is_waiting(self) -> bool:
        """Whether it has not begun."""
        return self.word in _facts()["waiting"]

    @property
    def is_over(self) -> bool:
        """Whether it will do nothing any more."""
        return not self.is_waiting and self.word not in _facts()["active"]

    @property
    def is_stuck(self) -> bool:
        """Whether it waits for what will not come."""
        return self.is_waiting and self.reason in _facts()["never"]

    def sentence(self, log: Path) -> str:
        """Return in words why a job is over, from its state and the end of its output."""
        last = _last(log)
        word = self.word
        if word == GONE:
            word = next((state for state, mark in _facts()["in-log"].items() if re.search(mark, last)), word)
        words = _facts()["words"]
        if word in words and word != GONE:
            return str(words[word])
        said = f": {line}" if (line := _telling(last)) else "; its output is empty"
        return f"{words.get(word, 'it failed' if word == 'FAILED' else f'it ended as {word}')}{said}"


def require_slurm() -> None:
    """Return nothing if Slurm's commands are here. Raises UsageError if they are not."""
    missing = [name for name in ("sbatch", "squeue") if shutil.which(name) is None]
    if missing:
        raise UsageError(
            f"there is no {' and no '.join(map(repr, missing))} on PATH; submit where Slurm's commands are, such as a "
            "login node, or measure here with 'scalkit campaign run'."
        )


def submit_script(script: Path) -> tuple[str, str]:
    """Submit a job script and return the number of the job, or nothing and why Slurm rejected it.

    Raises LaunchError if sbatch cannot be started or does not answer.
    """
    status, output = _said(["sbatch", "--parsable", str(script)])
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    number = next((found[1] for line in lines if (found := re.fullmatch(r"(\d+)(?:;\S*)?", line))), "")
    if status == 0 and number:
        return number, ""
    said = [re.sub(r"^sbatch: (error: )?", "", line) for line in lines]
    return "", "; ".join(dict.fromkeys(said))[:500] or f"sbatch ended with status {status} and said nothing"


def job_states(numbers: Sequence[str]) -> dict[str, JobState]:
    """Return the state of each job: as squeue says, which remembers ended jobs for a while, else as the accounting does.

    Raises LaunchError if squeue fails: then nothing is known of any job.
    """
    if not numbers:
        return {}
    status, output = _said(["squeue", "--noheader", f"--user={os.getuid()}", "--states=all", "--format=%A|%T|%r"])
    if status != 0:
        last = output.strip().splitlines()[-1:] or ["it said nothing"]
        raise LaunchError(f"squeue ended with status {status}: {last[0].strip()}; try again when Slurm answers.")
    found = dict(_rows(output))
    left = [number for number in numbers if number not in found]
    if left and shutil.which("sacct"):
        words = ["sacct", "--noheader", "--parsable2", "--allocations", f"--jobs={','.join(left)}"]
        status, output = _said([*words, "--format=JobIDRaw,State"])
        found |= dict(_rows(output)) if status == 0 else {}
    return {number: found.get(number, JobState(GONE)) for number in numbers}


def _rows(output: str) -> list[tuple[str, JobState]]:
    """Return number and state in each line; sacct says "CANCELLED by 0"."""
    found = []
    for line in output.splitlines():
        number, _, rest = line.strip().partition("|")
        word, _, reason = rest.partition("|")
        if number.isdecimal() and word:
            found.append((number, JobState(word.split()[0].rstrip("+"), "" if reason == "None" else reason)))
    return found


def _telling(output: str) -> str:
    """Return the line of a job's output that tells most: scalkit's last word, else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    own = [line.removeprefix(_OWN) for line in lines if line.startswith(_OWN)]
    return summary((own or lines or [""])[-1])[:300]


def _last(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - _LAST_B))
            return stream.read().decode("utf-8", errors="replace")
    except OSError:
        return ""


def _said(command: list[str]) -> tuple[int | None, str]:
    outcome = started(command, timeout_s=_QUESTION_S)
    if outcome.status is None:
        raise LaunchError(f"{command[0]!r} did not answer within {_QUESTION_S:.0f} s; try again when Slurm answers.")
    return outcome.status, outcome.output
