"""A SimGrid platform whose messages take the time of a fitted model."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from numbers import Real
from xml.etree import ElementTree

from scalkit.errors import UsageError
from scalkit.perfmodels.models.point_to_point import PointToPoint, Protocol, require_message
from scalkit.support.arguments import each_of, require_positive, require_text
from scalkit.support.text import as_percent

_DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
_ENVELOPE_B = 16
"""SMPI sends so many bytes more with each message, and its factors by size count them."""

_DETACHED_B = 65536
"""From this size on a send waits in SMPI, which then charges no overheads."""

_SHORTEST_S = 1e-10
"""A latency of SimGrid must be positive; no network has one this short."""

_UNNOTICED = 0.01
"""Share that a time may be off without a remark."""

_FASTEST = 1e15
"""Bytes a second where the model has no time per byte."""

_SPEED = "10Gf"
"""Of a core; it does not matter, since computation is not simulated."""


def to_simgrid(
    message: PointToPoint, *, hosts: int = 1024, overheads_s: tuple[float, float] | None = None, name: str = "scalkit"
) -> str:
    """Return the text of a SimGrid platform: a cluster whose messages take the time of the model.

    Latency and bandwidth of the links are those of the smallest and the largest messages; factors of SMPI by size make the
    protocols. Each message crosses two links, that of the sender and that of the receiver. The 16 bytes that SMPI adds to every
    message are taken off again; where they take longer than the latency, the sizes at both ends of a protocol are off by the same
    factor, which a comment in the platform tells if it is more than 1 %. What an exchange takes longer than a message
    (``MPI_Sendrecv``) is charged to each ``MPI_Isend``, whatever it is part of; the two directions of a link are apart.

    Parameters
    ----------
    message : PointToPoint
        With a latency and a time per byte for each range of sizes; the last protocol goes on to any size.
    hosts : int
        Of one core each.
    overheads_s : (float, float), optional
        Parts of the latency that keep the sender and the receiver busy, in s; SMPI charges them to the processes for messages
        below 64 KiB. By default the receiver's is the gap between the smallest messages, so that they follow each other so, but
        no more than the latency has.
    name : str
        Of the cluster, and before the number of each host.

    Raises
    ------
    UsageError
        If the model is no latency plus a time per byte somewhere, or the overheads exceed a latency.

    References
    ----------
    Degomme et al. 2017 (docs/references.md).
    """
    require_message(message)
    require_text(name, "the name of the cluster")
    require_positive(hosts, "hosts", whole=True)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,40}", name):
        raise UsageError(f"the name {name!r:.40} cannot be one of a cluster; give letters and digits.")
    if overheads_s is None:
        send, receive, said = _overheads(message)
    else:
        send, receive, said = *each_of(overheads_s, Real, "the overheads", "give two numbers", 2), []
    protocols = _split(message.protocols(), _DETACHED_B - 1) if send or receive else message.protocols()
    network, per_byte, remarks = _links(protocols, send, receive)
    remarks += said
    if min(send, receive) < 0 or min(network) <= 0:
        raise UsageError(
            f"the overheads {send:g} s and {receive:g} s, and {_ENVELOPE_B} bytes of SMPI, leave no latency of '{message.name}'; "
            "lower the overheads."
        )
    rates = [1 / slope if slope > 0 else _FASTEST for slope in per_byte]
    starts = [0.0, *(one.sizes.high + _ENVELOPE_B for one in protocols[:-1])]
    latency, bandwidth = network[0], rates[-1]
    root = ElementTree.Element("platform", version="4.1")
    config = ElementTree.SubElement(root, "config")
    properties = {
        "smpi/lat-factor": _factors(starts, [one / latency for one in network]),
        "smpi/bw-factor": _factors(starts, [one / bandwidth for one in rates]),
        "smpi/os": f"0:{send!r}:0",
        "smpi/ois": _exchange_overheads(message, send),
        "smpi/or": f"0:{receive!r}:0",
        "smpi/send-is-detached-thresh": str(_DETACHED_B),
        "network/TCP-gamma": "0",
        "network/crosstraffic": "0",
    }
    for key, value in properties.items():
        ElementTree.SubElement(config, "prop", id=key, value=value)
    ElementTree.SubElement(
        root,
        "cluster",
        id=name,
        prefix=f"{name}-",
        suffix="",
        radical=f"0-{hosts - 1}",
        speed=_SPEED,
        core="1",
        bw=f"{bandwidth!r}Bps",
        lat=f"{latency / 2!r}s",
    )
    for text in remarks:
        root.append(ElementTree.Comment(f" {text} "))
    ElementTree.indent(root)
    return f"<?xml version='1.0'?>\n{_DOCTYPE}\n{ElementTree.tostring(root, encoding='unicode')}\n"


def _overheads(message: PointToPoint) -> tuple[float, float, list[str]]:
    """Return the overheads that make the gap between small messages, and a remark where the latency is shorter than the gap."""
    if message.gap is None:
        return 0.0, 0.0, []
    gap = float(message.gap(S=1))
    below = [one for one in message.protocols() if one.sizes.low < _DETACHED_B - 1]
    room = (1 - _UNNOTICED) * min(one.latency_s - _ENVELOPE_B * one.per_byte_s for one in below)
    if gap <= room:
        return 0.0, gap, []
    shown = f"small messages follow each other after {max(room, 0.0):.3g} s instead of {gap:.3g} s, for none takes longer"
    return 0.0, max(room, 0.0), [shown]


def _exchange_overheads(message: PointToPoint, send: float) -> str:
    """Return what a process pays for each MPI_Isend: the overhead, and what an exchange takes longer than a message."""
    both = PointToPoint(message.exchange or message.time).protocols()
    mine = message.protocols()
    starts = sorted({0.0, *(one.sizes.high for one in (*mine[:-1], *both[:-1]))})
    parts = []
    for low, high in pairwise([*starts, math.inf]):
        single, double = (next((one for one in table if low < one.sizes.high), table[-1]) for table in (mine, both))
        at, slope = double.latency_s - single.latency_s, double.per_byte_s - single.per_byte_s
        first = max(0.0, at + slope * low)
        slope = max(0.0, slope) if high == math.inf else (max(0.0, at + slope * high) - first) / (high - low)
        parts.append(f"{low:.0f}:{send + first - slope * low!r}:{slope!r}")
    return ";".join(parts)


def _links(protocols: Sequence[Protocol], send: float, receive: float) -> tuple[list[float], list[float], list[str]]:
    """Return latency and time per byte of the links for each protocol, and remarks on times that are off."""
    network, per_byte, remarks = [], [], []
    for one in protocols:
        busy = send + receive if one.sizes.low < _DETACHED_B - 1 else 0.0
        links, slope, off = _on_links(one, busy)
        network.append(links)
        per_byte.append(slope)
        if off > _UNNOTICED:
            which = one.sizes.text("S")
            remarks.append(f"messages with {which} are up to {as_percent(off, '.2g')} off: SMPI adds {_ENVELOPE_B} bytes to each")
    return network, per_byte, remarks


def _on_links(one: Protocol, busy: float) -> tuple[float, float, float]:
    """Return what the links' latency and time per byte must be, and by what share a time is off then.

    A fit may leave no latency for the links, since the bytes that SMPI adds take time as well: then the latency is the shortest
    one, and the time per byte such that the smallest and the largest message are off by the same factor.
    """
    found = one.latency_s - busy - _ENVELOPE_B * one.per_byte_s
    if found > 0 or 0 < busy >= one.latency_s:
        return found, one.per_byte_s, 0.0
    low, high = one.sizes.low, one.sizes.high
    ends = [(size + _ENVELOPE_B, one.latency_s + one.per_byte_s * size - busy) for size in (low, high) if size < math.inf]
    wanted = [time / size for size, time in ends if time > 0] + ([one.per_byte_s] if high == math.inf else [])
    if not wanted:
        return found, one.per_byte_s, 0.0
    slope = math.sqrt(min(wanted) * max(wanted))
    off = max((abs((_SHORTEST_S + slope * size) / time - 1) for size, time in ends if time > 0), default=0.0)
    return _SHORTEST_S, slope, off


def _split(protocols: tuple[Protocol, ...], size: float) -> list[Protocol]:
    """Return the protocols of which none reaches across a size."""
    found = []
    for one in protocols:
        if one.sizes.low < size < one.sizes.high:
            found.append(replace(one, sizes=replace(one.sizes, high=size)))
            found.append(replace(one, sizes=replace(one.sizes, low=size, open_low=True)))
        else:
            found.append(one)
    return found


def _factors(starts: list[float], values: list[float]) -> str:
    return ";".join(f"{start:.0f}:{value!r}" for start, value in zip(starts, values, strict=True))
