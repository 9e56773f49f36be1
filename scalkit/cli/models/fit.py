"""Measure messages between processes and fit models to them: a model card of an MPI library or a machine."""

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from scalkit.bench.campaign.folder import write_whole
from scalkit.bench.campaign.loop import Result
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.libraries.targets import find_targets
from scalkit.bench.patterns.point_to_point import LOCAL, PARTS, MessageArguments, prepare_messages
from scalkit.cli.options.measuring_rules import numbers, seed_of, words_of
from scalkit.cli.terminal.printed import print_json, say, terminal
from scalkit.cli.terminal.progress import progress_printer, resumable, terminated_like_interrupted
from scalkit.errors import UsageError
from scalkit.measure.virtual_time import numbers_in_words
from scalkit.perfmodels.files.card import ModelCard
from scalkit.perfmodels.fits.card import fit_folder
from scalkit.perfmodels.formulas.quantities import parse_quantity
from scalkit.support.json_values import json_value
from scalkit.support.text import as_percent

CARD = "card.toml"


def run(args: argparse.Namespace) -> int:
    """Measure what is missing, fit, print and keep the card; return 0 or 2."""
    if (args.folder is None) == (args.out is None):
        raise UsageError("name a folder: --out FOLDER to measure and fit, or FOLDER alone to fit what is there.")
    if args.folder is not None:
        _require_no_measuring(args)
        return _fitted(args, Path(args.folder))
    result = _measured(args, Path(args.out))
    for text in (*result.failures, *result.remarks):
        sys.stderr.write(f"scalkit model fit: {text}\n")
    if result.missing:
        names = ", ".join(launch.name for launch in result.missing)
        sys.stderr.write(
            f"scalkit model fit: {len(result.missing)} of {result.total} launches are missing ({names}); the same command tries "
            "only these.\n"
        )
        return 2
    return _fitted(args, result.folder)


def _require_no_measuring(args: argparse.Namespace) -> None:
    names = ("mpi", "platform", "network", "processes", "budget", "runs", "sizes")
    for name in ["clock"] * (args.clock != "real") + [name for name in names if getattr(args, name)]:
        raise UsageError(
            f"--{name} says how to measure, and {args.folder} is only fitted again; leave it out, or name the folder with --out."
        )


def _measured(args: argparse.Namespace, out: Path) -> Result:
    with terminated_like_interrupted():
        mpi = _target(args)
        campaign = prepare_messages(out, _arguments(args, out, mpi), mpi)
        say(f"Measuring {', '.join(campaign.arguments.parts)} of {mpi.name} into {out}", as_json=args.json)
        if mpi.is_virtual:
            machine = numbers_in_words(campaign.facts["virtual"])
            say(f"Times are those of a virtual clock: {machine}.", as_json=args.json)
        if mpi.is_simulated:
            say("These times are simulated. SimGrid SMPI computes them; nothing is measured.", as_json=args.json)
        with resumable(out), progress_printer(sys.stderr) as on_progress:
            return campaign.run(on_progress=on_progress)


def _target(args: argparse.Namespace) -> Mpi:
    if args.mpi and args.platform:
        raise UsageError("--mpi and --platform: a card describes one library or one machine; name one of them.")
    libraries, platforms = ([one] if one else [] for one in (args.mpi, args.platform))
    return find_targets(libraries, platforms, clock=args.clock, network=args.network)[0].mpi


def _arguments(args: argparse.Namespace, out: Path, mpi: Mpi) -> MessageArguments:
    usual = [part for part in PARTS if not (mpi.is_virtual and part in LOCAL)]
    wanted = usual if args.what is None else words_of(args.what)
    processes = args.processes or ("2,4,8,16,32" if mpi.is_simulated else "2")
    return MessageArguments(
        parts=tuple(wanted),
        runs=args.runs if args.runs is not None else 1 if mpi.repeats_exactly else 3,
        seed=seed_of(None, out),
        sizes=_sizes(args.sizes),
        counts=numbers("-n", processes, "2,4,8"),
        budget_s=args.budget,
    )


def _sizes(text: str) -> tuple[int, ...]:
    """Return sizes in bytes; each may carry a unit of bytes."""
    found = []
    for word in words_of(text):
        value, unit = parse_quantity(word, "--sizes")
        if unit not in ("B", "1") or not value.is_integer():
            raise UsageError(f"--sizes {word!r:.40}: a whole number of bytes is needed, such as 4096 or '64 KiB'.")
        found.append(int(value))
    return tuple(found)


def _fitted(args: argparse.Namespace, folder: Path) -> int:
    """Fit what is in a folder, print the card, and write it."""
    card = fit_folder(folder)
    place = (folder if folder.is_dir() else folder.parent) / CARD
    write_whole(place, card.to_toml())
    if args.json:
        print_json(json_value({"file": str(place), **card.content(), "status": 0}))
    else:
        _print(card)
        sys.stdout.write(f"\ncard: {place}\n")
    return 0


def _print(card: ModelCard) -> None:
    console = terminal(140)
    _line(console, card.name)
    if card.is_simulated:
        _line(console, "Simulated, not measured.")
    if card.is_virtual:
        _line(console, "Times of a virtual clock, not of this machine.")
    for doubt in card.doubts:
        _line(console, f"In doubt: {doubt}")
    _line(console, "; ".join(f"{key}: {value}" for key, value in card.about.items() if key not in ("library",)))
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    for head in ("", "value", f"interval of {as_percent(card.level, 'g')}", ""):
        table.add_column(head, overflow="fold")
    for row in card.rows():
        table.add_row(*row)
    console.print(table)
    for name, model in card.models.items():
        limits = [] if model.kind == "ranges" else [one.text(at) for at, one in model.valid.items() if not one.is_all]
        _line(console, f"{name}: {model.statement}{' for ' if limits else ''}{', '.join(limits)}")
    if card.misfit_sentence:
        _line(console, card.misfit_sentence)
    for remark in card.remarks:
        _line(console, f"- {remark}")


def _line(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
