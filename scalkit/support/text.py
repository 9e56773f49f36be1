"""Numbers and lists as text for people: how many digits a probability has, and what stands where there is no number."""

import difflib
import math
import re
from collections.abc import Iterable, Sequence

NONE = "–"
"""Stands in a table where there is no number."""

_UNPRINTED = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\ud800-\\udfff]"
)
"""What moves the cursor, changes a terminal, turns a line around or cannot be seen."""


def percent(share: float, *, short: bool = False) -> str:
    """Return a share or a probability with two digits: 93 %, 1.2 %, 99.8 %, more than 99.9 %.

    `share`: between 0 and 1; NaN gives a dash.
    `short`: ``> 99.9 %``, as in a table, instead of words.
    """
    if math.isnan(share):
        return NONE
    if share > 0.999:
        return "> 99.9 %" if short else "more than 99.9 %"
    if share < 0.001:
        return "< 0.1 %" if short else "less than 0.1 %"
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.1f} %"


def as_percent(share: float, form: str = ".0f") -> str:
    """Return a share of a whole in a form of numbers: ``as_percent(0.953, ".1f")`` is 95.3 %; NaN gives a dash."""
    return NONE if math.isnan(share) else f"{100 * share:{form}} %"


def r2(value: float, digits: int = 4) -> str:
    """Return a coefficient of determination; a dash where there is none, as of a constant model."""
    return NONE if math.isnan(value) else f"{value:.{digits}f}"


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """Return a sentence with the known word that is nearest to this one, behind a space; empty if none is near."""
    words = [str(one) for one in known]
    near = [one for one in words if one.lower() == str(word).lower()] or difflib.get_close_matches(str(word), words, 1)
    return f" Did you mean '{near[0]}'?" if near else ""


def counted(n: int, one: str, many: str = "") -> str:
    """Return ``"1 value"`` or ``"3 values"``."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def joined(names: Sequence[str]) -> str:
    """Return ``"a, b and c"``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def few(names: Sequence[str], most: int = 6) -> str:
    """Return the first of some names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def brief(value: object) -> str:
    """Return a value as Python shows it, in one line of at most 60 letters; of a table its kind."""
    text = repr(value)
    return f"<{type(value).__name__}>" if "\n" in text else shortened(text)


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` letters, whose end is cut off for an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shortened(text: str, most: int = 60) -> str:
    """Return a text of at most `most` letters, whose end is cut off for three dots."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def plain(text: str) -> str:
    """Return a text as a terminal may show it: control characters, and those that cannot be seen, in words, as ``\\u001b``."""
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
