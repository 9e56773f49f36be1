"""Write the model of a message for a simulator."""

import argparse
import sys
from pathlib import Path

from scalkit.errors import UsageError
from scalkit.perfmodels import loggopsim_unit, to_loggopsim, to_simgrid
from scalkit.perfmodels.files.sources import loggp_of, message_of
from scalkit.perfmodels.formulas.quantities import format_value, parse_quantity


def run(args: argparse.Namespace) -> int:
    """Write the model and return 0."""
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
