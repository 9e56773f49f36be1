"""Parameters of LogGOPSim as its command line, and back."""

import math
import shlex
from collections.abc import Sequence

from scalkit.errors import UsageError
from scalkit.perfmodels.models.point_to_point import LogGP

_NS = 1e-9
_TIMES = ("L", "o", "g", "G", "O")
_FLAGS = {"-L": "L", "-o": "o", "-g": "g", "-G": "G", "-O": "O", "-S": "S"}
_LONG = {f"--LogGOPS_{name}": name for name in _FLAGS.values()}
_DEFAULTS = {"L": 2500.0, "o": 1500.0, "g": 1000.0, "G": 6.0, "O": 0.0, "S": 65535.0}
"""Of LogGOPSim, in ns, ns/B and B."""

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
    unit = loggopsim_unit(parameters)
    size = _NO_RENDEZVOUS if math.isinf(parameters.S) else min(int(parameters.S), _NO_RENDEZVOUS)
    values = {name: round(getattr(parameters, name) / unit) for name in _TIMES} | {"S": size}
    for name, value in values.items():
        if value > _MOST:
            raise UsageError(f"{name} of '{parameters.name}' is {value} ns; LogGOPSim's numbers end at {_MOST}.")
    return [part for flag, name in _FLAGS.items() for part in (flag, str(values[name]))]


def from_loggopsim(options: str | Sequence[str], unit_s: float = _NS) -> LogGP:
    """Return the parameters that a command line of LogGOPSim names; what it leaves out has LogGOPSim's default.

    Parameters
    ----------
    options : str or sequence of str
        For example ``"-L 2500 -o 1500 -g 1000 -G 6 -O 0 -S 65535"`` or ``["--LogGOPS_L=2500"]``; other options are passed over.
    unit_s : float, in s
        Of all times, as `loggopsim_unit` returns it; by default 1 ns.

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
    overhead = found["o"] * unit_s
    size = math.inf if found["S"] >= _NO_RENDEZVOUS else found["S"]
    seconds = {name: found[name] * unit_s for name in ("L", "g", "G", "O")}
    return LogGP(o_send=overhead, o_receive=overhead, S=size, name="LogGOPSim", source="options of LogGOPSim", **seconds)


def _number(flag: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError as error:
        raise UsageError(f"the option {flag} of LogGOPSim is {value[:20]!r}; it must be a number.") from error
    if not (0 <= number < math.inf):
        raise UsageError(f"the option {flag} of LogGOPSim is {value[:20]!r}; it must be finite and not negative.")
    return number
