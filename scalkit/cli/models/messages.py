"""Name and draw the algorithm of an operation from its messages in virtual time: who sends what to whom, round by round."""

import argparse
import json
import sys
from html import escape
from pathlib import Path

from scalkit import plots
from scalkit.bench.campaign.folder import write_whole
from scalkit.bench.libraries.targets import find_targets
from scalkit.bench.virtual.account import record_messages
from scalkit.bench.virtual.mpi import VirtualMpi
from scalkit.cli.models.fit import _sizes
from scalkit.cli.options.measuring_rules import counts_of, words_of
from scalkit.errors import UsageError
from scalkit.perfmodels import name_messages
from scalkit.perfmodels.collectives.cells import FUNCTIONS
from scalkit.perfmodels.collectives.message_flow import Flow, Plays
from scalkit.perfmodels.played import WIRES, Machine
from scalkit.support.colours import PLOTLY_CONFIG
from scalkit.support.json_values import json_fields


def run(args: argparse.Namespace) -> int:
    """Print the algorithms, write the page, and return 0."""
    counts, sizes, functions = counts_of(args.processes, "-n"), _sizes(args.sizes), _functions(args.ops)
    if not counts or min(counts) < 2 or not sizes:
        raise UsageError(f"-n {args.processes} --sizes {args.sizes}: at least 2 processes and a size are needed.")
    if args.out and Path(args.out).exists():
        raise UsageError(f"{args.out} is there already; choose another name, or delete it.")
    (target,) = find_targets([args.mpi] if args.mpi else [], clock="virtual", network=args.network)
    mpi: VirtualMpi = target.mpi  # type: ignore[assignment]
    flows = []
    for P in counts:
        for S in sizes:
            chosen = tuple(name for name in functions if name != "MPI_Barrier" or sizes[0] == S)
            for flow in _flows(mpi, chosen, P, S) if chosen else []:
                flows.append(flow)
                if not args.json:
                    sys.stdout.write(f"{flow.sentence}\n")
                    sys.stdout.flush()
    if args.json:
        sys.stdout.write(json.dumps({"library": mpi.of.name, "flows": [_told(one) for one in flows]}) + "\n")
    if args.out:
        _write_page(Path(args.out), mpi.name, flows)
        (sys.stderr if args.json else sys.stdout).write(f"wrote {args.out}\n")
    return 0


def _functions(text: str | None) -> tuple[str, ...]:
    names = tuple(word if word.startswith("MPI_") else f"MPI_{word}" for word in words_of(text or ",".join(FUNCTIONS)))
    for name in names:
        if name not in FUNCTIONS:
            raise UsageError(f"--ops {name!r:.60}: no algorithms are known of it; choose from {', '.join(FUNCTIONS)}.")
    return names


def _flows(mpi: VirtualMpi, functions: tuple[str, ...], P: int, S: int) -> list[Flow]:
    one = mpi.network
    plays = None
    if mpi.kind in WIRES and not one.has_nodes:
        plays = Plays(mpi.kind, Machine.of(**one.machine))
    recorded = record_messages(mpi, functions, P, S)
    return [name_messages(each.function, FUNCTIONS[each.function], P, S, each.messages, plays) for each in recorded]


def _told(flow: Flow) -> dict[str, object]:
    messages = [[*row, number] for row, number in zip(flow.messages, flow.rounds, strict=True)]
    found = json_fields(flow, "function P S") | {"algorithms": list(flow.names), "match": flow.match}
    return found | {"rounds": flow.n_rounds, "messages": messages}


def _write_page(out: object, title: str, flows: list[Flow]) -> None:
    parts: list[str] = []
    for flow in flows:
        shown = plots.message_flow(flow)
        figure = shown.to_html(full_html=False, include_plotlyjs=not parts, config=PLOTLY_CONFIG)
        parts.append(f"<h2>{escape(flow.title)}</h2><p>{escape(flow.sentence)}</p>{figure}")
    page = f"<h1>Messages of {escape(title)}</h1>{''.join(parts)}"
    style = "body{font:16px system-ui;max-width:72em;margin:2em auto;padding:0 1em}"
    head = f'<meta charset="utf-8"><title>Messages</title><style>{style}</style>'
    write_whole(Path(str(out)), f"<!doctype html><html lang=en><head>{head}</head><body>{page}</body></html>\n")
