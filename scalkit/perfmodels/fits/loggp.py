"""LogGP, LogGPS and LogGOPS parameters from parametrised round trips, as netgauge measures them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError, UsageError
from scalkit.perfmodels.fits.affine import Affine, fit_line
from scalkit.perfmodels.fits.messages import checked_times, fit_messages, spread_of
from scalkit.perfmodels.formulas.quantities import format_value, parse_quantity
from scalkit.perfmodels.models.point_to_point import LogGP
from scalkit.support.arrays import Floats

_CLEAR = 1.1
"""A gap below this many times the overhead cannot be told from it: medians of round trips are good to about 5 % each."""


@dataclass(frozen=True)
class LogGPFit:
    """Parameters of LogGP with intervals, and how far the lines are off behind them.

    Attributes
    ----------
    parameters : LogGP
    intervals : mapping from parameter to (low, high)
        Confidence intervals, in s or s/B.
    half_round_trip : float, in s
        Half the round trip of the smallest message: what netgauge prints as L; it contains both overheads.
    remarks : tuple of str
    largest : float, in B
        Largest size that was fitted.
    residuals : mapping from line to (sizes in B, shares)
        Of half a round trip, gap, and overheads: measured over fitted, minus one.
    """

    parameters: LogGP
    intervals: Mapping[str, tuple[float, float]]
    half_round_trip: float
    remarks: tuple[str, ...]
    largest: float = math.inf
    residuals: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)


def fit_loggp(
    sizes: ArrayLike,
    single: ArrayLike,
    several: ArrayLike,
    delayed: ArrayLike,
    *,
    n: int,
    delay: ArrayLike,
    receive_overhead: ArrayLike | None = None,
    rendezvous: float = math.inf,
) -> LogGPFit:
    """Return LogGP parameters from three kinds of round trips.

    Parameters
    ----------
    sizes : array_like of shape (sizes,), in B
        At least three, of one protocol.
    single, several, delayed : array_like of shape (sizes,) or (sizes, repetitions), in s
        Round trips of one message; of `n` messages one after another; of `n` messages with a delay before each but the first.
    n : int
        Messages of a train, at least 2; 10 is usual.
    delay : array_like, in s
        One, or one a size; at least the gap, else the overhead cannot be seen.
    receive_overhead : array_like of shape (sizes,) or (sizes, repetitions), optional, in s
        Time in the receive of a message that has arrived. Without it both overheads are assumed to be the same.
    rendezvous : float, in B
        S of LogGPS, from `find_rendezvous`.

    Raises
    ------
    DataError
        If there are fewer than three sizes, a time is not positive, or every delay is too short.
    UsageError
        If `n` makes no sense.

    Notes
    -----
    With R(n, d, s) the round trip of n messages of s bytes with a delay d: ``R(1, 0, s) = 2 (L + 2 o + (s - 1) G)`` and
    ``R(n, d, s) = R(1, 0, s) + (n - 1) max(o + d, g + (s - 1) G)``. g and G are the line through
    ``(R(n, 0, s) - R(1, 0, s))/(n - 1)``, where it exceeds the overhead; o and O that through
    ``(R(n, d, s) - R(1, 0, s))/(n - 1) - d``; L is what half a round trip has beyond the overheads and ``(s - 1) G``.

    References
    ----------
    Hoefler, Lichei, Rehm 2007; Hoefler, Schneider, Lumsdaine 2010 (docs/references.md).
    """
    if not isinstance(n, int) or n < 2:
        raise UsageError(f"n = {n!r:.40} messages are too few; use at least 2, 10 are usual.")
    at, one = checked_times(sizes, single)
    train, late = (checked_times(sizes, table)[1] for table in (several, delayed))
    t1, tn, td = (np.nanmedian(table, axis=1) for table in (one, train, late))
    e1, en, ed = (spread_of(table) * np.nanmedian(table, axis=1) for table in (one, train, late))
    beyond = np.maximum(at - 1, 0)
    gap = fit_line(beyond, (tn - t1) / (n - 1), np.hypot(en, e1) / (n - 1))
    pause = _pauses(sizes, delay)
    overheads = np.where(pause >= gap(beyond), (td - t1) / (n - 1) - pause, np.nan)
    seen = np.isfinite(overheads)
    if seen.sum() < 2:
        raise DataError(
            f"the delay {format_value(float(pause.max()), 's')} is shorter than the gap between messages, "
            f"{format_value(float(gap(beyond).min()), 's')}; delay by a round trip, so that the overhead can be seen."
        )
    send = fit_line(at[seen], overheads[seen], (np.hypot(ed, e1) / (n - 1))[seen])
    hidden = (tn - t1) / (n - 1) < _CLEAR * send(at)
    if hidden.any() and (~hidden).sum() >= 3:
        gap = fit_line(beyond[~hidden], ((tn - t1) / (n - 1))[~hidden], (np.hypot(en, e1) / (n - 1))[~hidden])
    receive = send
    if receive_overhead is not None:
        received = checked_times(sizes, receive_overhead)[1]
        middle = np.nanmedian(received, axis=1)
        receive = fit_line(at, middle, spread_of(received) * middle)
    half = fit_line(beyond, t1 / 2, e1 / 2)
    network = half.constant - send.constant - receive.constant
    remarks = _remarks(at, one, seen, hidden, receive_overhead is None, network)
    latency, o_send, o_receive = max(0.0, network), send.constant, receive.constant
    parameters = LogGP(latency, o_send, o_receive, gap.constant, gap.slope, send.slope, rendezvous, "fitted LogGP", "fit")
    seen_lines = [
        ("half a round trip", at, t1 / 2, half(beyond)),
        ("gap", at[~hidden], ((tn - t1) / (n - 1))[~hidden], gap(beyond[~hidden])),
        ("overhead of the sender", at[seen], overheads[seen], send(at[seen])),
    ]
    if receive_overhead is not None:
        seen_lines.append(("overhead of the receiver", at, middle, receive(at)))
    residuals = {}
    for name, sizes_of_line, values, fitted in seen_lines:
        known = np.isfinite(values) & (fitted > 0)
        residuals[name] = (sizes_of_line[known], values[known] / fitted[known] - 1)
    intervals = _intervals(half, send, receive, gap)
    return LogGPFit(parameters, intervals, float(t1[0] / 2), remarks, float(at[-1]), residuals)


def _intervals(half: Affine, send: Affine, receive: Affine, gap: Affine) -> dict[str, tuple[float, float]]:
    """Return the intervals; that of L is as wide as those of half a round trip and both overheads together."""
    latency = max(0.0, half.constant - send.constant - receive.constant)
    width = math.sqrt(half.covariance[0][0] + send.covariance[0][0] + receive.covariance[0][0])
    far = width * (half.constant_interval[1] - half.constant) / max(math.sqrt(half.covariance[0][0]), 1e-300)
    return {
        "L": (max(0.0, latency - far), latency + far),
        "o_send": send.constant_interval,
        "o_receive": receive.constant_interval,
        "g": gap.constant_interval,
        "G": gap.slope_interval,
        "O": send.slope_interval,
    }


def _remarks(at: Floats, single: Floats, seen: Any, hidden: Any, is_assumed: bool, network: float) -> tuple[str, ...]:
    found = []
    if is_assumed:
        found.append("The overhead of the receiver is assumed to be that of the sender.")
    if not seen.all():
        found.append(f"The overhead is not seen above {at[seen].max():g} B, where the delay is shorter than the gap.")
    if hidden.any():
        found.append(
            f"Up to {at[hidden].max():g} B the overhead hides the gap; g and G come from larger messages, if there are three."
        )
    if network < 0:
        found.append("L, the latency of the network, came out negative without a bound; it is held at zero.")
    for switch in fit_messages(at, single).switches:
        found.append(
            f"The round trip changes between {switch.after:g} and {switch.before:g} B, perhaps another protocol: fit each alone."
        )
    return tuple(found)


@dataclass(frozen=True)
class Rendezvous:
    """Where the sender begins to wait for the receiver: S of LogGPS lies from `after` to below `before`, in B.

    Attributes
    ----------
    after : float
        Largest size at which the sender does not wait; 0 if it always waits.
    before : float
        Smallest size at which it waits; infinite if it never does.
    is_clean : bool
        Whether every size below does not wait and every size above does.
    """

    after: float
    before: float
    is_clean: bool


def _pauses(sizes: ArrayLike, delay: ArrayLike) -> Floats:
    """Return the delay of each size, ascending in size as the times are."""
    given = np.atleast_1d(np.asarray(sizes, dtype=np.float64))
    try:
        pause = np.broadcast_to(np.asarray(delay, dtype=np.float64), given.shape)
    except (TypeError, ValueError):
        raise UsageError(
            f"the delay is {str(delay)[:40]!r}; give a number of seconds, or one for each of {len(given)} sizes."
        ) from None
    return np.asarray(pause[np.argsort(given, kind="stable")])


def find_rendezvous(sizes: ArrayLike, send_times: ArrayLike, delay: object) -> Rendezvous:
    """Return where a sender waits for a receiver that is late.

    Parameters
    ----------
    sizes : array_like of shape (sizes,), in B
    send_times : array_like of shape (sizes,) or (sizes, repetitions), in s
        Time in the send while the receive is posted `delay` later.
    delay : quantity
        In s; much longer than a send. A sender that spends more than half of it waits.

    Raises
    ------
    DataError
        If there are fewer than three sizes or a time is not positive.
    UsageError
        If the delay is no positive time.

    References
    ----------
    Ino, Fujimoto, Hagihara 2001 (docs/references.md).
    """
    pause, unit = parse_quantity(delay, "delay")
    if unit not in ("s", "1") or not 0 < pause < math.inf:
        raise UsageError(f"the delay is {delay!r:.40}; it must be a positive time, for example '1 ms'.")
    at, table = checked_times(sizes, send_times)
    middle = np.nanmedian(table, axis=1)
    waits = middle > pause / 2
    wrong = [int(waits[:k].sum() + (~waits[k:]).sum()) for k in range(len(at) + 1)]
    k = int(np.argmin(wrong))
    after, before = float(at[k - 1]) if k else 0.0, float(at[k]) if k < len(at) else math.inf
    return Rendezvous(after, before, wrong[k] == 0)
