"""The command `scalkit`: one module per subcommand, each with ``HELP``, ``add_arguments`` and ``run(args) -> int``."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from scalkit.errors import ScalkitError

__all__ = ["COMMANDS", "build_parser", "main"]

COMMANDS = ("measure", "validate", "report", "doctor")

_DESCRIPTION = "Tells whether a parallel library scales as it should: measure, validate against expectations, report."
_EPILOG = (
    "Exit status: 0 all deciding verdicts are total or approximate; 1 one of them is none and grows faster, "
    "or a rule is violated on measurements; 2 wrong input or use."
)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all subcommands; loads no heavy module."""
    from scalkit import __version__

    parser = argparse.ArgumentParser(prog="scalkit", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"scalkit {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"scalkit.cli.{name}")
        sub = subparsers.add_parser(
            name,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status (0, 1 or 2; 130 after Ctrl-C)."""
    args = build_parser().parse_args(argv)
    try:
        return int(args.run(args))
    except ScalkitError as error:
        print(f"scalkit {args.command}: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        print(f"scalkit {args.command}: interrupted", file=sys.stderr)  # noqa: T201
        return 130
