"""Units in the words of others, as factor and base unit."""

from __future__ import annotations

import re

_SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "usec", "usecs", "µs", "μs", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanosecond", "nanoseconds"), 1e-9),
    **dict.fromkeys(("min", "minutes"), 60.0),
    **dict.fromkeys(("h", "hours"), 3600.0),
}
_PREFIXES = {
    "": 1.0,
    "k": 1e3,
    "m": 1e6,
    "g": 1e9,
    "t": 1e12,
    "ki": 2.0**10,
    "mi": 2.0**20,
    "gi": 2.0**30,
    "ti": 2.0**40,
}
_BYTES = re.compile(r"(?P<prefix>[kmgt]i?|)(?P<base>b|byte|bytes)(?P<rate>/s|/sec|ps|)", re.IGNORECASE)
_LONGEST = 200
_NONE = ("", "1", "none", "occ", "count", "#")


def base_unit(text: str) -> tuple[float, str]:
    """Return the factor to, and the name of, the unit without prefix: (1e-6, "s") for "usec".

    Units that are neither time nor bytes nor bytes per second stay as they are; ``"1"`` stands for none.
    """
    unit = text.strip()
    if unit.lower() in _SECONDS:
        return _SECONDS[unit.lower()], "s"
    match = _BYTES.fullmatch(unit)
    if match is not None and unit not in ("b", "Kb", "Mb", "Gb", "kb"):  # bits, by custom
        return _PREFIXES[match["prefix"].lower()], "B/s" if match["rate"] else "B"
    return 1.0, "1" if unit.lower() in _NONE else unit


def split_unit(header: str) -> tuple[str, str | None]:
    """Return name and unit of a column such as ``time [us]``, ``Latency(us)`` or ``runtime_sec``; None without a unit."""
    if len(header) > _LONGEST:
        return header.strip(), None
    match = re.fullmatch(r"(.*?)\s*[\[(]([^\[\]()]{0,20})[\])]\s*", header)
    if match is not None and match[1].strip():
        return match[1].strip(), match[2].strip()
    stem, _, last = header.strip().rpartition("_")
    if stem and last in _SUFFIXES:
        return stem, last
    return header.strip(), None


_SUFFIXES = frozenset(
    {
        "s",
        "sec",
        "seconds",
        "ms",
        "msec",
        "us",
        "usec",
        "ns",
        "nsec",
        "B",
        "bytes",
        "kB",
        "KB",
        "MB",
        "GB",
        "KiB",
        "MiB",
        "GiB",
    }
)
