"""Write the model of a message for a simulator.

FROM is bluegene-p, a TOML file with the model point-to-point or a model card, a platform file of SimGrid, or a table of
known algorithms. LogGOPSim's L, o, g, G and S are those of a model card; of another file L is from its smallest messages
and G from its largest:

    scalkit model export card.toml --to simgrid --hosts 64 --out cluster.xml    smpirun -platform cluster.xml ...
    scalkit model export card.toml --to loggopsim                               the options of LogGOPSim

Exit status: 0, or 2 for wrong input or use.
"""

from __future__ import annotations

import argparse
import sys

HELP = "the model of a message for SimGrid or LogGOPSim"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `scalkit model export`."""
    parser.add_argument("source", metavar="FROM", help="bluegene-p, or a file: .toml, .xml, .csv")
    parser.add_argument("--to", required=True, choices=("simgrid", "loggopsim"), help="the simulator")
    parser.add_argument("--out", metavar="FILE", help="where to write (default: standard output)")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.add_argument(
        "--hosts", type=int, default=1024, metavar="N", help="hosts of the cluster (default: %(default)s)"
    )
    parser.add_argument(
        "--overhead",
        metavar="TIME",
        help="part of the latency that keeps sender and receiver busy each, such as 0.4us (default: for SimGrid the gap of the "
        "model, at the receiver; for LogGOPSim that of a model card, else 0)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the model and return 0."""
    from pathlib import Path

    from scalkit.errors import UsageError
    from scalkit.perfmodels import loggopsim_unit, to_loggopsim, to_simgrid
    from scalkit.perfmodels.files.sources import loggp_of, message_of
    from scalkit.perfmodels.formulas.quantities import format_value, parse_quantity

    overhead, unit = parse_quantity(args.overhead or "0 s", "--overhead")
    if unit not in ("s", "1") or overhead < 0:
        raise UsageError(f"--overhead {args.overhead!r:.40}: it must be a time, such as 0.4us.")
    if args.to == "simgrid":
        overheads = None if args.overhead is None else (overhead, overhead)
        text = to_simgrid(message_of(args.source), hosts=args.hosts, overheads_s=overheads)
    else:
        parameters = loggp_of(args.source, overhead)
        text = " ".join(to_loggopsim(parameters)) + "\n"
        unit = format_value(loggopsim_unit(parameters), "s")
        sys.stderr.write(f"times are whole numbers of {unit}, and so is what LogGOPSim prints\n")
    if args.out is None:
        sys.stdout.write(text)
        return 0
    out = Path(args.out)
    if out.exists() and not args.force:
        raise UsageError(f"{out} is there already; choose another name or allow to replace it (--force).")
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror or error}; choose another place.") from error
    sys.stdout.write(f"wrote {out}\n")
    return 0
