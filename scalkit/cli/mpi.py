"""Keep several MPI libraries side by side, each in an environment of its own, for `scalkit measure --mpi`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from scalkit.bench.libraries.installing import Library, add_library, libraries, remove_library, state_of
from scalkit.bench.libraries.mpi import Mpi
from scalkit.cli.terminal.printed import aligned, print_either, print_json, say
from scalkit.cli.terminal.progress import terminated_like_interrupted
from scalkit.errors import ScalkitError
from scalkit.support.json_values import json_fields


def run(args: argparse.Namespace) -> int:
    """Do what is asked and return 0 or 2."""
    with terminated_like_interrupted():
        return _ACTIONS[args.action](args)


def _list(args: argparse.Namespace) -> int:
    states = [(library, *state_of(library)) for library in libraries()]
    if args.json:
        print_json([_as_json(*state) for state in states])
    elif states:
        _print_table(states)
    else:
        say("No MPI library was added yet; 'scalkit mpi add mpich openmpi' adds two.")
    return 0 if all(mpi for _, mpi, _ in states) else 2


def _add(args: argparse.Namespace) -> int:
    added, failed = [], False
    for what in args.what:
        if not args.json:
            say(f"adding {what} ...")
        try:
            library, mpi = add_library(what)
        except ScalkitError as error:  # the others can be added all the same
            sys.stderr.write(f"scalkit mpi: {error}\n")
            failed = True
            continue
        added.append((library, mpi))
        if not args.json:
            say(f"{library.name}: {mpi.name}, {mpi.mpicc}; two ranks met in one world.")
    if args.json:
        print_json([_as_json(*one) for one in added])
    return 2 if failed else 0


def _remove(args: argparse.Namespace) -> int:
    removed = [remove_library(name).name for name in args.name]
    print_either(args.json, removed, f"removed {', '.join(removed)}")
    return 0


_ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {"list": _list, "add": _add, "remove": _remove}


def _as_json(library: Library, mpi: Mpi | None, why_not: str = "") -> dict[str, Any]:
    return {
        **json_fields(library, "name mpicc mpiexec environment folder"),
        "kind": mpi.kind if mpi else None,
        "library": mpi.name if mpi else None,
        "standard": mpi.standard if mpi else None,
        "launcher": mpi.launcher if mpi else None,
        "works": mpi is not None,
        "why_not": why_not,
    }


def _print_table(states: Sequence[tuple[Library, Mpi | None, str]]) -> None:
    rows = []
    for library, mpi, why_not in states:
        works = ("works", f"{mpi.name}, MPI {mpi.standard}") if mpi else ("does not", why_not)
        rows += [(library.name, *works), ("", "compiler", library.mpicc), ("", "launcher", library.mpiexec)]
    say("\n".join(aligned(rows)))
