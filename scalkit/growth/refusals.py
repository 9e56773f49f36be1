"""Texts that are no growth: what is checked before they are read, and how they are refused."""

import difflib
from fractions import Fraction
from numbers import Real

from scalkit.errors import ExpectationError

MAX_LENGTH = 1000
LOGS = frozenset({"log", "log2", "log10", "ln", "lg", "ld", "lb"})
ROOTS = {"sqrt": Fraction(1, 2), "cbrt": Fraction(1, 3)}

_SHOWN = 60
_ADVICE = "Write the expectation as a product of powers of log(p), p and 2^p, for example 'p^2*log(p)'."


def checked_text(text: object) -> str:
    """Return the text of an expectation, without spaces around it, if it may be one."""
    is_number = isinstance(text, Real) and not isinstance(text, bool)
    if not (isinstance(text, str) or is_number or hasattr(text, "free_symbols")):
        raise ExpectationError(
            f"an expectation must be text, a number, a sympy expression or a Growth, got {type(text).__name__}. {_ADVICE}"
        )
    try:
        shown = text if isinstance(text, str) else str(text)
    except ValueError as error:  # Python prints no whole number above 4,300 digits
        raise ExpectationError(f"an expectation is a number of too many digits. {_ADVICE}") from error
    if len(shown) > MAX_LENGTH:
        raise ExpectationError(
            f"expectation '{shown[:20]}...' has {len(shown)} characters; at most {MAX_LENGTH} are allowed. {_ADVICE}"
        )
    if any(ord(c) < 32 or ord(c) == 127 for c in shown):
        raise ExpectationError(f"expectation '{short(repr(shown)[1:-1])}' holds a control character. {_ADVICE}")
    if not shown.strip():
        raise ExpectationError(f"the expectation is empty. {_ADVICE}")
    return shown.strip()


def short(text: str) -> str:
    """Return a text as far as a message shows it."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def unknown_function(name: str) -> str:
    """Return what is wrong with the name of a function."""
    known = ["log", *ROOTS]
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean '{near[0]}'?" if near else f"{', '.join(known[:-1])} and {known[-1]} are known"
    return f"the function '{name}' is unknown; {hint}"


def refusal(text: str, why: str) -> ExpectationError:
    """Return an error that says why a text cannot be classified."""
    end = "" if why.endswith("?") else "."
    return ExpectationError(f"cannot classify '{short(text)}': {why}{end} {_ADVICE}")
