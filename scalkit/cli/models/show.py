"""Show performance models: their formulas, their growth, where they hold, and their values."""

import argparse
import itertools
import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scalkit.errors import ExpectationError, UsageError
from scalkit.perfmodels import collectives_of
from scalkit.perfmodels.files.simgrid import to_simgrid
from scalkit.perfmodels.files.sources import catalogue_of, loggopsim_unit, loggp_of, message_of, to_loggopsim
from scalkit.perfmodels.formulas.quantities import PARAMETER_UNITS, format_value, values_in
from scalkit.perfmodels.models.model import PerformanceModel
from scalkit.support.text import did_you_mean

_MOST_ROWS = 500


def run(args: argparse.Namespace) -> int:
    """Print the models, or what a simulator reads of them, and return 0."""
    if args.to is not None:
        if args.model or args.operation or args.at or args.json:
            raise UsageError("--to writes the model of a message alone; leave MODEL, --operation, --at and --json out.")
        return _for_simulator(args.source, args.to)
    at = settings_of(args.at)
    if args.operation is not None:
        if args.model is not None:
            raise UsageError(f"--operation shows its algorithms, not the model {args.model!r:.40}; leave one of them out.")
        models: Mapping[str, PerformanceModel] = collectives_of(args.operation, message_of(args.source))
    else:
        models = catalogue_of(args.source)
    chosen = {args.model: _named(models, args.model, args.source)} if args.model is not None else dict(models)
    told = [_told(name, model, at, alone=args.model is not None) for name, model in chosen.items()]
    sys.stdout.write(json.dumps(told, indent=2) + "\n" if args.json else "\n".join(map(_text, told)) + "\n")
    return 0


def _for_simulator(source: str, simulator: str) -> int:
    if simulator == "simgrid":
        sys.stdout.write(to_simgrid(message_of(source)))
        return 0
    parameters = loggp_of(source)
    sys.stdout.write(" ".join(to_loggopsim(parameters)) + "\n")
    unit = format_value(loggopsim_unit(parameters), "s")
    sys.stderr.write(f"times are whole numbers of {unit}, and so is what LogGOPSim prints\n")
    return 0


def _named(models: Mapping[str, PerformanceModel], name: str, source: str) -> PerformanceModel:
    if name in models:
        return models[name]
    raise UsageError(f"{source:.60} has no model {name!r:.40}; it has {', '.join(models)}.{did_you_mean(name, models)}")


def settings_of(words: Sequence[str]) -> dict[str, Any]:
    """Return arrays of values by parameter from words such as ``S=8,64KiB``.

    Raises UsageError if a word is not of this form, or a value has no or another unit.
    """
    found: dict[str, np.ndarray[Any, Any]] = {}
    for word in words:
        name, sign, text = word.partition("=")
        values = [one.strip() for one in text.split(",") if one.strip()]
        if not sign or not name.isidentifier() or not values:
            raise UsageError(f"--at {word!r:.60}: name a parameter and its values, as in S=8,64KiB or P=512.")
        found[name] = np.array([_value(one, name) for one in values])
    return found


def _value(text: str, name: str) -> float:
    try:
        given: Any = float(text)
    except ValueError:
        given = text
    return float(values_in(given, name))


def _told(name: str, model: PerformanceModel, at: Mapping[str, Any], *, alone: bool) -> dict[str, Any]:
    try:
        growth = str(model.growth)
    except ExpectationError:
        growth = ""
    told: dict[str, Any] = {
        "name": name,
        "kind": model.kind,
        "model": model.statement,
        "growth": growth,
        "unit": model.unit,
        "valid": [limits.text(one) for one, limits in model.valid.items() if limits.text(one)],
        "source": model.source,
    }
    missing = [one for one in model.parameters if one not in at]
    if at and not (missing and not alone):
        told["values"] = _values(model, at, missing)
    return told


def _values(model: PerformanceModel, at: Mapping[str, Any], missing: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each combination of the values; None where the model does not hold, or has no upper bound."""
    if missing:
        raise UsageError(
            f"'{model.name}' needs {missing[0]}; it depends on {', '.join(model.parameters)} (--at {missing[0]}=...)."
        )
    if model.kind == "asymptotic":
        return []
    names = list(model.parameters)
    combinations = list(itertools.product(*(at[name].tolist() for name in names)))
    if len(combinations) > _MOST_ROWS:
        raise UsageError(f"--at asks for {len(combinations)} values; at most {_MOST_ROWS} are printed.")
    rows = []
    for values in combinations:
        where = dict(zip(names, values, strict=True))
        bounds = (float(one) for one in model.bounds(outside="nan", **where))
        low, high = (one if math.isfinite(one) else None for one in bounds)
        rows.append({"at": where, "low": low, "high": high})
    return rows


def _text(told: Mapping[str, Any]) -> str:
    facts = [told["kind"], *([f"O({told['growth']})"] if told["growth"] else []), *told["valid"]]
    lines = [f"{told['name']}: {told['model']}", f"    {'; '.join(facts)}"]
    lines += [f"    from {told['source']}"] if told["source"] else []
    for row in told.get("values", ()):
        where = ", ".join(f"{k} = {format_value(v, PARAMETER_UNITS.get(k, '1'))}" for k, v in row["at"].items())
        if row["low"] is None:
            value = "does not hold here"
        elif row["high"] is None:
            value = f"at least {format_value(row['low'], told['unit'])}"
        elif row["low"] == row["high"]:
            value = format_value(row["low"], told["unit"])
        else:
            value = f"{format_value(row['low'], told['unit'])} to {format_value(row['high'], told['unit'])}"
        lines.append(f"    {where}: {value}" if where else f"    {value}")
    return "\n".join(lines)
