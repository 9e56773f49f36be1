"""Show what scalkit answers, on measurements that come with it: no MPI, no checkout, no file of yours is needed."""

import argparse
import sys

from scalkit.cli import main
from scalkit.support.bundled import bundled

_SHOWN = (
    ("data/quickstart", "An MPI library, in virtual time with 2 to 64 processes, beside what its authors promise:"),
    ("data/regression", "The same library with a leak that was planted in MPI_Comm_dup, 64 bytes for every process:"),
)


def run(args: argparse.Namespace) -> int:
    """Print the verdicts on the bundled measurements, and how to go on; return 0."""
    for name, words in _SHOWN:
        path = str(bundled(name))
        sys.stdout.write(f"{words}\n\n  scalkit validate {path}\n\n")
        sys.stdout.flush()
        main(["validate", path])
        sys.stdout.write("\n")
    sys.stdout.write(
        "Your own:\n"
        "  python -c \"import scalkit as sk; print(sk.check(sum, 'n', setup=lambda n: list(range(n))))\"\n"
        "  scalkit measure --command './app {n}' -p n=1000..64000\n"
    )
    return 0
