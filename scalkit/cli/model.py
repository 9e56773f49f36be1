"""Performance models of MPI: fit them to messages, show them, compare them with measurements, hand them to simulators.

fit      measure messages and fit a model card of a library or a simulated machine
show     formulas, growth and values of models, and what each algorithm of a collective operation would cost
compare  which algorithms a library seems to use, predictions from messages alone, the folklore of broadcast and allreduce
messages the algorithm of an operation, named and drawn from its messages in virtual time
tune     choose the algorithms of an MPI library, write its own file, and measure what it brings
export   the model of a message for SimGrid or LogGOPSim

Each word has its own --help. Exit status: 0, or 2 for wrong input or use.
"""

from __future__ import annotations

import argparse
import importlib
import sys

HELP = "performance models of MPI"

WORDS = ("fit", "show", "compare", "messages", "tune", "export")
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
    """Do what the word says; a model card that it reads and that is in doubt is named first."""
    source = getattr(args, "source", None) or getattr(args, "message", None)
    if source is not None:
        from scalkit.perfmodels.files.sources import doubts_of

        for doubt in doubts_of(source):
            sys.stderr.write(f"scalkit model {args.word}: {source} is in doubt: {doubt}\n")
    return int(args.work(args))
