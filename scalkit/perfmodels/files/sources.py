"""Models by the name of a machine or of a file: catalogues, model cards, platforms of SimGrid, tables of known algorithms."""

import tomllib
from pathlib import Path

from scalkit.errors import UsageError
from scalkit.perfmodels.collectives.known import read_known
from scalkit.perfmodels.files.card import EXCHANGE, MESSAGE, read_card
from scalkit.perfmodels.files.catalogue import ModelCatalogue, bluegene_p, read_models
from scalkit.perfmodels.files.simgrid import from_simgrid
from scalkit.perfmodels.models.point_to_point import LogGP, PointToPoint

BUNDLED = "bluegene-p"
"""The name of the catalogue that comes with scalkit."""

_POINT_TO_POINT, _GAP = "point-to-point", "gap"


def catalogue_of(source: str | Path) -> ModelCatalogue:
    """Return the models of ``"bluegene-p"``, or of a TOML file. Raises UsageError if there is no such name or file."""
    if str(source) == BUNDLED:
        return bluegene_p()
    if Path(source).suffix != ".toml":
        raise UsageError(f"{str(source)!r:.80} is no catalogue of models; name {BUNDLED}, or a file that ends in .toml.")
    return read_models(source)


def message_of(source: str | Path) -> PointToPoint:
    """Return the model of a message that a file holds.

    `source`: ``"bluegene-p"``; a TOML file, a catalogue with the models ``point-to-point`` and, where there are, ``gap`` and
    ``exchange``, or a model card; a platform of SimGrid (``.xml``); or a table of known algorithms (``.csv``).
    Raises UsageError if there is no such name or file, or no model of a message in it.
    """
    file = Path(source)
    if file.suffix == ".xml":
        return from_simgrid(file)
    if file.suffix == ".csv":
        return read_known(file).message
    models = catalogue_of(source)
    if MESSAGE in models:
        return read_card(source).point_to_point if _is_card(source) else _of(models, MESSAGE)
    if _POINT_TO_POINT not in models:
        raise UsageError(
            f"{source!s:.80} has neither a model '{MESSAGE}' nor '{_POINT_TO_POINT}'; it has {', '.join(models)}. Make a model "
            "card with scalkit model fit."
        )
    return _of(models, _POINT_TO_POINT)


def doubts_of(source: str | Path) -> tuple[str, ...]:
    """Return why the model card in a file is in doubt; nothing for other files."""
    return read_card(source).doubts if Path(source).suffix == ".toml" and _is_card(source) else ()


def loggp_of(source: str | Path, overhead_s: float = 0.0) -> LogGP:
    """Return the parameters of LogGP that a model card holds, or those of the smallest and largest messages of another file.

    `source`: see `message_of`.
    `overhead_s` in s: of sender and receiver each, where the file does not say it.
    Raises UsageError if there is no model of a message, or the overheads exceed its latency.
    """
    if Path(source).suffix == ".toml" and _is_card(source):
        return read_card(source).loggp
    message = message_of(source)
    first, last = (message.protocols()[k] for k in (0, -1))
    latency = first.latency_s + first.per_byte_s - 2 * overhead_s
    if latency < 0:
        raise UsageError(f"the overheads of {overhead_s:g} s leave no latency of '{message.name}'; lower them.")
    gap = float(message.gap(S=1)) if message.gap is not None else overhead_s
    return LogGP(latency, overhead_s, overhead_s, gap, last.per_byte_s, name=message.name, source=message.source)


def _is_card(source: str | Path) -> bool:
    try:
        return "card" in tomllib.loads(Path(source).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False


def _of(models: ModelCatalogue, name: str) -> PointToPoint:
    more = {one: models[one] for one in (_GAP, EXCHANGE) if one in models}
    return PointToPoint(models[name], name=models.name, source=models.source, **more)
