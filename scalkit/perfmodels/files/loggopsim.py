"""Parameters of LogGOPSim as its command line, and back."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

from scalkit.errors import UsageError
from scalkit.perfmodels.models.point_to_point import LogGP

_NS = 1e9
_FLAGS = {"-L": "L", "-o": "o", "-g": "g", "-G": "G", "-O": "O", "-S": "S"}
_LONG = {f"--LogGOPS_{name}": name for name in _FLAGS.values()}
_DEFAULTS = {"L": 2500.0, "o": 1500.0, "g": 1000.0, "G": 6.0, "O": 0.0, "S": 65535.0}
"""Of LogGOPSim, in ns, ns/B and B."""

_NO_RENDEZVOUS = 2**31 - 1


def to_loggopsim(parameters: LogGP) -> list[str]:
    """Return the options of LogGOPSim, for example ``["-L", "2500", "-o", "1500", ...]``.

    Times are in ns, times a byte in ns/B with all digits; builds of LogGOPSim that read whole numbers round them. LogGOPSim has
    one overhead, the mean of sender's and receiver's; a message that never waits becomes one that waits above 2 GiB.

    References
    ----------
    Hoefler, Schneider, Lumsdaine 2010 (docs/references.md).
    """
    size = _NO_RENDEZVOUS if math.isinf(parameters.S) else int(parameters.S)
    values = {name: getattr(parameters, name) * _NS for name in ("L", "o", "g", "G", "O")} | {"S": size}
    return [part for flag, name in _FLAGS.items() for part in (flag, f"{values[name]:.12g}")]


def from_loggopsim(options: str | Sequence[str]) -> LogGP:
    """Return the parameters that a command line of LogGOPSim names; what it leaves out has LogGOPSim's default.

    Parameters
    ----------
    options : str or sequence of str
        For example ``"-L 2500 -o 1500 -g 1000 -G 6 -O 0 -S 65535"`` or ``["--LogGOPS_L=2500"]``; other options are passed over.

    Raises
    ------
    UsageError
        If a value is missing or no number.
    """
    try:
        parts = shlex.split(options) if isinstance(options, str) else list(options)
    except ValueError as error:
        raise UsageError(f"cannot read the options of LogGOPSim: {error}.") from error
    found, k = dict(_DEFAULTS), 0
    while k < len(parts):
        flag, equals, value = parts[k].partition("=")
        name = _FLAGS.get(flag) or _LONG.get(flag)
        if name is not None:
            if not equals:
                k += 1
                value = parts[k] if k < len(parts) else ""
            found[name] = _number(flag, value)
        k += 1
    overhead = found["o"] / _NS
    size = math.inf if found["S"] >= _NO_RENDEZVOUS else found["S"]
    seconds = {name: found[name] / _NS for name in ("L", "g", "G", "O")}
    return LogGP(
        o_send=overhead, o_receive=overhead, S=size, name="LogGOPSim", source="options of LogGOPSim", **seconds
    )


def _number(flag: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError as error:
        raise UsageError(f"the option {flag} of LogGOPSim is {value[:20]!r}; it must be a number.") from error
    if not (0 <= number < math.inf):
        raise UsageError(f"the option {flag} of LogGOPSim is {value[:20]!r}; it must be finite and not negative.")
    return number
