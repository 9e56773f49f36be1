"""Performance models of MPI: fit them to messages, show them, compare them with measurements, hand them to simulators.

fit      measure messages and fit a model card of a library or a simulated machine
show     formulas, growth and values of models, and what each algorithm of a collective operation would cost
compare  which algorithms a library seems to use, predictions from messages alone, the folklore of broadcast and allreduce
export   the model of a message for SimGrid or LogGOPSim

Each word has its own --help. Exit status: 0, or 2 for wrong input or use.
"""

from __future__ import annotations

import argparse
import importlib

HELP = "performance models of MPI"

WORDS = ("fit", "show", "compare", "export")
"""Each is a module ``scalkit.cli.models.WORD`` with ``HELP``, ``add_arguments`` and ``run``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions of `scalkit model`."""
    words = parser.add_subparsers(dest="word", metavar="WORD", required=True)
    for name in WORDS:
        module = importlib.import_module(f"scalkit.cli.models.{name}")
        sub = words.add_parser(
            name, help=module.HELP, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        module.add_arguments(sub)
        sub.set_defaults(work=module.run)


def run(args: argparse.Namespace) -> int:
    """Do what the word says."""
    return int(args.work(args))
