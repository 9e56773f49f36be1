"""The program of a Slurm job: ``python -m scalkit.cli.terminal.job`` with the arguments of `run_job` as JSON."""

import json
import sys
from collections.abc import Mapping
from typing import Any

from scalkit.bench.jobs.job import run_job
from scalkit.cli.terminal.progress import progress_printer, terminated_like_interrupted
from scalkit.errors import ScalkitError


def main(told: Mapping[str, Any]) -> int:
    """Do the launches and return 0, or 2 if one is missing; collecting finds the last error in the output of the job."""
    try:
        with terminated_like_interrupted(), progress_printer(sys.stdout) as on_progress:
            return 2 if run_job(**told, on_progress=on_progress).missing else 0
    except ScalkitError as error:
        sys.stderr.write(f"scalkit campaign: {error}\n")
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
