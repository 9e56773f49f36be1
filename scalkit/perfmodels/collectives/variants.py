"""Collective operations with derived datatypes, and on sub-communicators: models of messages and operations made from others."""

from dataclasses import replace

from scalkit.errors import UsageError
from scalkit.perfmodels.collectives.model import collective
from scalkit.perfmodels.formulas.quantities import parse_quantity
from scalkit.perfmodels.models.exact import ExactModel
from scalkit.perfmodels.models.model import PerformanceModel
from scalkit.perfmodels.models.point_to_point import PointToPoint


def with_datatype(message: PointToPoint, packing: object) -> PointToPoint:
    """Return the model of a message of scattered data: packed by the sender, unpacked by the receiver.

    Parameters
    ----------
    message : PointToPoint
        Of contiguous data.
    packing : PerformanceModel of S in s, or quantity in s/B
        Time of packing, and again of unpacking; `ModelCard.packing` has it by the layout of the data.

    Raises
    ------
    UsageError
        If the time is none per byte, or the model is not exact, depends on more than S, or is not in seconds.

    Examples
    --------
    >>> from scalkit.perfmodels import PointToPoint, collective, with_datatype
    >>> plain = PointToPoint.hockney("2 us", "0.5 ns/B")
    >>> strided = with_datatype(plain, "0.25 ns/B")
    >>> [float(round(1e6 * collective("broadcast", "binomial", m)(S=8192, P=16), 1)) for m in (plain, strided)]
    [24.4, 40.8]
    """
    each = packing if isinstance(packing, PerformanceModel) else _by_byte(packing)
    if not each.is_exact or each.parameters not in (("S",), ()) or each.unit != "s":
        raise UsageError(f"'{each.name}' cannot be the time of packing; it must be exact, of S alone, and in s.")
    return replace(
        message,
        time=message.time + 2 * each,
        gap=(message.gap or message.time) + each,
        exchange=None if message.exchange is None else message.exchange + 2 * each,
        both=None if message.both is None else message.both + 2 * each,
        name=f"{message.name}, scattered data",
        source="; ".join(dict.fromkeys(one for one in (message.source, each.source) if one)),
    )


def _by_byte(packing: object) -> ExactModel:
    value, unit = parse_quantity(packing, "packing")
    if unit != "s/B" or value < 0:
        raise UsageError(
            f"packing is {packing!r:.40}; it must be in s/B, for example '0.1 ns/B', or a model, such as card.packing(2)."
        )
    return ExactModel("copy*S", {"copy": f"{value!r} s/B"}, name="packing")


def in_groups(operation: str, name: str, message: PointToPoint, groups: int, *, contention: float = 1.0) -> PerformanceModel:
    """Return the model of an operation on sub-communicators of equal size that all work at once.

    Parameters
    ----------
    operation, name : str
        See `scalkit.perfmodels.collectives.model`.
    message : PointToPoint
        Alone on the network.
    groups : int
        Sub-communicators; the model holds where P, the number of all processes, is a multiple.
    contention : float
        How many messages share a link, at least 1: the time per byte is multiplied by it.

    Raises
    ------
    UsageError
        If an argument makes no sense.

    Examples
    --------
    >>> from scalkit.perfmodels import PointToPoint, in_groups
    >>> halves = in_groups("allreduce", "recursive-doubling", PointToPoint.hockney("2 us", "1 ns/B"), 2)
    >>> float(round(1e6 * halves(S=1000, P=32), 1))
    12.0
    """
    if not isinstance(groups, int) or groups < 1 or not contention >= 1:
        raise UsageError(f"{groups!r:.20} groups with contention {contention!r:.20}: give whole groups, and at least 1.")
    if contention > 1:
        both = None if message.exchange is None else _slower(PointToPoint(message.exchange), contention).time
        message = replace(
            _slower(message, contention),
            name=f"{message.name}, {contention:g} a link",
            source=message.source,
            reduce_per_byte=message.reduce_per_byte,
            exchange=both,
        )
    model = collective(operation, name, message)
    return replace(model.of(P=f"P/{groups}"), whole=True) if groups > 1 else model


def _slower(message: PointToPoint, contention: float) -> PointToPoint:
    protocols = [replace(one, per_byte_s=one.per_byte_s * contention) for one in message.protocols()]
    return PointToPoint.of_protocols(protocols)
