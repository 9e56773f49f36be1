"""Models by the name of a machine or of a file: catalogues and model cards."""

import math
from pathlib import Path

from scalkit.errors import UsageError
from scalkit.perfmodels.files.card import EXCHANGE, MESSAGE, card_of
from scalkit.perfmodels.files.catalogue import ModelCatalogue, bluegene_p, read_models
from scalkit.perfmodels.models.point_to_point import LogGP, PointToPoint
from scalkit.support.arguments import require_kind

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

    `source`: ``"bluegene-p"``; or a TOML file, a model card or a catalogue with the models ``message`` or ``point-to-point``
    and, where there are, ``gap`` and ``exchange``.
    Raises UsageError if there is no such name or file, or no model of a message in it.
    """
    models = catalogue_of(source)
    if "card" in models.content:
        return card_of(models, source).point_to_point
    if MESSAGE in models:
        return _of(models, MESSAGE)
    if _POINT_TO_POINT not in models:
        raise UsageError(
            f"{source!s:.80} has neither a model '{MESSAGE}' nor '{_POINT_TO_POINT}'; it has {', '.join(models)}. Make a model "
            "card with scalkit model fit."
        )
    return _of(models, _POINT_TO_POINT)


def doubts_of(source: str | Path) -> tuple[str, ...]:
    """Return why the model card in a file is in doubt; nothing for other files."""
    models = catalogue_of(source)
    return card_of(models, source).doubts if "card" in models.content else ()


def loggp_of(source: str | Path) -> LogGP:
    """Return the parameters of LogGP that a model card holds, or those of the smallest and largest messages of another file.

    `source`: see `message_of`. Another file knows no overheads: the latency contains them.
    Raises UsageError if there is no model of a message.
    """
    if "card" in (models := catalogue_of(source)).content:
        return card_of(models, source).loggp
    message = message_of(source)
    first, last = (message.protocols()[k] for k in (0, -1))
    gap = float(message.gap(S=1)) if message.gap is not None else 0.0
    latency = first.latency_s + first.per_byte_s
    return LogGP(latency, 0.0, 0.0, gap, last.per_byte_s, name=message.name, source=message.source)


def _of(models: ModelCatalogue, name: str) -> PointToPoint:
    more = {one: models[one] for one in (_GAP, EXCHANGE) if one in models}
    return PointToPoint(models[name], name=models.name, source=models.source, **more)


_NS = 1e-9
_TIMES = ("L", "o", "g", "G", "O")
_FLAGS = {"-L": "L", "-o": "o", "-g": "g", "-G": "G", "-O": "O", "-S": "S"}

_NO_RENDEZVOUS = 2**31 - 1


_MOST = 2**31 - 1
_ROUNDED = 0.005
"""Share that a number may be off because LogGOPSim reads whole ones."""


def loggopsim_unit(parameters: LogGP) -> float:
    """Return the unit of time of `to_loggopsim`, in s: 1 ns, or the power of ten below it that keeps messages within 0.5 %.

    LogGOPSim's options are ``int``, of 32 bits, and its times count in any unit: 0.08 ns/B are 8 in units of 10 ps. Where a
    number is so large that this does not fit, the unit is the finest that does.
    """
    one = parameters
    totals = {"L": one.L + 2 * one.o, "o": one.L + 2 * one.o, "g": one.g, "G": one.G + 2 * one.O, "O": one.G + 2 * one.O}
    values = {name: getattr(one, name) for name in _TIMES}
    units = [10.0**-k for k in range(9, 19) if max(values.values()) < _MOST * 10.0**-k] or [_NS]
    for unit in units:
        if all(abs(round(v / unit) * unit - v) <= _ROUNDED * totals[name] for name, v in values.items()):
            return unit
    return units[-1]


def to_loggopsim(parameters: LogGP) -> list[str]:
    """Return the options of LogGOPSim, for example ``["-L", "2500", "-o", "1500", ...]``.

    All are whole numbers, in units of `loggopsim_unit` and of that a byte; what LogGOPSim prints has the same unit. LogGOPSim has
    one overhead, the mean of sender's and receiver's; a message that never waits becomes one that waits above 2 GiB.

    Raises
    ------
    UsageError
        If a time is longer than 2.1 s, which does not fit into 32 bits.

    References
    ----------
    Hoefler, Schneider, Lumsdaine 2010 (docs/references.md).
    """
    require_kind(parameters, LogGP, "the parameters", "give a LogGP, such as read_card(path).loggp")
    unit = loggopsim_unit(parameters)
    size = _NO_RENDEZVOUS if math.isinf(parameters.S) else min(int(parameters.S), _NO_RENDEZVOUS)
    values = {name: round(getattr(parameters, name) / unit) for name in _TIMES} | {"S": size}
    for name, value in values.items():
        if value > _MOST:
            raise UsageError(f"{name} of '{parameters.name}' is {value} ns; LogGOPSim's numbers end at {_MOST}.")
    return [part for flag, name in _FLAGS.items() for part in (flag, str(values[name]))]
