"""The command `scalkit`: one module for each of its commands."""

import argparse
import contextlib
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from scalkit.errors import ScalkitError
from scalkit.support.extras import explained
from scalkit.support.text import plain
from scalkit.support.toml.tables import table_beside

__all__ = ["COMMANDS", "build_parser", "main"]

COMMANDS: dict[str, str] = table_beside(__file__, "commands.toml")
"""What each does; its options stand in ``commands/NAME.toml``, its ``run(args) -> int`` in ``scalkit.cli.NAME``."""

_APART = {("trace", "run"): "trace_record"}
"""Words of commands that have a module of their own."""

_OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)

_DESCRIPTION = "Tells whether a parallel library scales as it should: measure, validate against expectations, report."
_EPILOG = (
    "Exit status: 0 no problem; 1 a problem that decides: an answer is fix, or a rule is violated on "
    "measurements (--fail-on adds to these); 2 wrong input or use."
)


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands; loads no heavy module.

    `only`: the command whose options are declared; by default those of all.
    """
    from scalkit import __version__
    from scalkit.cli.options.declared import declare

    parser = argparse.ArgumentParser(prog="scalkit", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"scalkit {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        sub = subparsers.add_parser(name, help=text)
        if only in (None, name):
            declare(sub, name)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status (0, 1 or 2; 130 after Ctrl-C).

    Whatever goes wrong ends with 2, because 1 says that a verdict fails. ``SCALKIT_DEBUG=1`` shows the traceback of what
    should not have gone wrong. Of the ranks of an MPI program only rank 0 prints what it has to say of a validation.
    """
    from scalkit.cli.terminal.ranks import only_rank_0_speaks

    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments[:1] in (["validate"], ["trace"]):
        return only_rank_0_speaks(lambda: _main(arguments))
    return _main(arguments)


def _main(argv: Sequence[str]) -> int:
    name = "scalkit"
    try:
        args = _parsed(argv)
        name = f"scalkit {args.command}"
        status = _status(args)
        sys.stdout.flush()
        return status
    except ScalkitError as error:
        message, status = str(error), 2
    except KeyboardInterrupt:
        message, status = "interrupted", 130
    except ModuleNotFoundError as error:
        message, status = str(explained(error) or _unexpected(error)), 2
    except Exception as error:
        message, status = _unexpected(error), 2
    _drop(sys.stdout)
    if message:
        _say(f"{name}: {message}")
    return status


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    try:
        return build_parser(argv[0] if argv else "").parse_args(argv)
    except SystemExit:  # after --help, --version or a wrong option
        sys.stdout.flush()
        _drop(sys.stderr)
        raise


def _status(args: argparse.Namespace) -> int:
    try:
        module = _APART.get((args.command, getattr(args, "word", "")), args.command)
        return int(importlib.import_module(f"scalkit.cli.{module}").run(args))
    except SystemExit as error:  # rich leaves like this when the reader of its output went away
        raise BrokenPipeError from error


def _unexpected(error: Exception) -> str:
    """Return what to say about an error that no command foresees; nothing if the reader of the output went away."""
    if isinstance(error, BrokenPipeError):
        return ""
    lost = _drop(sys.stdout)
    if lost is None and isinstance(error, OSError) and error.filename is None and error.errno in _OF_WRITING:
        lost = error  # standard output is not buffered
    if lost is not None:
        return f"cannot write the output: {lost.strerror or lost}; make room, or send it to another place."
    if os.environ.get("SCALKIT_DEBUG") == "1":
        import traceback

        _say("".join(traceback.format_exception(error)).rstrip())
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
    return f"internal error: {text}; please report it with the command and what SCALKIT_DEBUG=1 adds to this."


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        print(plain(text), file=sys.stderr)  # noqa: T201
    _drop(sys.stderr)


def _drop(stream: TextIO) -> OSError | None:
    """Return why a stream cannot be written to, if so; drop what it holds, else the interpreter ends with 120."""
    try:
        stream.flush()
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
        return error
    return None
