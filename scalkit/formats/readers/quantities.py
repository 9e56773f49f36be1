"""Units in the words of others, as factor and base unit."""

import re

from scalkit.units import PREFIXES, SECONDS

_WORDS = {
    "s": ("sec", "secs", "second", "seconds"),
    "ms": ("msec", "msecs", "millisecond", "milliseconds"),
    "us": ("usec", "usecs", "μs", "microsecond", "microseconds"),
    "ns": ("nsec", "nsecs", "nanosecond", "nanoseconds"),
    "min": ("minutes",),
    "h": ("hours",),
}
_SECONDS = SECONDS | {word: SECONDS[unit] for unit, words in _WORDS.items() for word in words}
_PREFIXES = {prefix.lower(): factor for prefix, factor in PREFIXES.items()}
_BYTES = re.compile(r"(?P<prefix>[kmgt]i?|)(?P<base>b|byte|bytes)(?P<rate>/s|/sec|ps|)", re.IGNORECASE)
_LONGEST = 200
_SUFFIX = re.compile(r"s|sec|seconds|[mun]s|[mun]sec|B|bytes|[kKMG]B|[KMG]iB")
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
    if stem and _SUFFIX.fullmatch(last):
        return stem, last
    return header.strip(), None
