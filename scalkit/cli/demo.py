"""Show what scalkit answers, on measurements that come with it: no MPI, no checkout, no file of yours is needed.

    scalkit demo                       the verdicts on an MPI library, and on one with a planted bug
    scalkit demo --report demo.html    and both side by side as a page

Ends with 0 whatever the answers are.
"""

from __future__ import annotations

import argparse
import sys

HELP = "show the answers on measurements that come with scalkit"

_SHOWN = (
    ("data/quickstart", "An MPI library, in virtual time with 2 to 64 processes, beside what its authors promise:"),
    ("data/regression", "The same library with a leak that was planted in MPI_Comm_dup, 64 bytes for every process:"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `scalkit demo`."""
    parser.add_argument(
        "--report", default=None, metavar="FILE", help="also write a page with both (needs scalkit[report])"
    )


def run(args: argparse.Namespace) -> int:
    """Print the verdicts on the bundled measurements, and how to go on; return 0."""
    from scalkit.bundled import bundled
    from scalkit.cli import main

    paths = [str(bundled(name)) for name, _ in _SHOWN]
    for path, (_, words) in zip(paths, _SHOWN, strict=True):
        sys.stdout.write(f"{words}\n\n  scalkit validate {path}\n\n")
        sys.stdout.flush()
        main(["validate", path])
        sys.stdout.write("\n")
    if args.report:
        status = main(["report", *paths, "--template", "compare", "--out", args.report, "--force"])
        if status == 2:
            return status
    sys.stdout.write(
        "Your own:\n"
        "  python -c \"import scalkit as sk; sk.check(sum, 'n', setup=lambda n: list(range(n)))\"\n"
        "  scalkit measure --command './app {n}' -p n=1000..64000\n"
    )
    return 0
