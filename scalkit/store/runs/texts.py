"""Texts that come from elsewhere: which characters a name may have, and how a text goes into a table."""

import datetime as dt
import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

NAMES = frozenset(
    (
        "campaign label title site machine network topology mpi_impl mpi_version mpi_standard mapping sync rank_reduction "
        "parameter user contributor licence tool tool_version host program op variant datatype x_name definition "
        "status"
    ).split()
)
"""Fields that are shown as names of something, in tables, plots and menus."""

FREE = frozenset({"mpi_library", "notes", "remarks", "why", "flags", "compiler", "os", "kernel", "environment", "switches"})
"""Fields that may have several lines."""

_MARKUP = re.compile(r"[<>\"`]|&[#\w]+;|javascript:", re.I)
_FORMULA = re.compile(r"\s*[=+@|%-]")
_SKEW = dt.timedelta(minutes=10)
_UNSEEN = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and a symbol without a shape."""

_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]")
"""Characters that change nothing that can be seen, beside the control characters: Unicode's Default_Ignorable_Code_Point."""

_LOOKS = ("<wide>", "<narrow>", "<font>")
"""Kinds of characters that are others in another form, as the wide letters of East Asian sets, or bold ones of mathematics."""

_MOST_ACCENTS = 3
"""So many accents one after the other no script needs."""

_JOINERS = "\u200c\u200d"
"""What joins letters of Indic and Arabic scripts, or keeps them apart."""

_VIRAMA = 9
"""Unicode's combining class of the signs of Indic scripts that take a vowel away."""

IDENTIFIERS = frozenset({"op", "variant", "datatype", "x_name", "definition", "status"})
"""Names that programs tell apart."""

_LINES = "\n\t\r"


def text_problem(text: str, longest: int, *, is_free: bool) -> tuple[str, str] | None:
    """Return code and words for what is wrong with a text; None if nothing is."""
    if len(text) > longest:
        return "text-long", f"has {len(text)} characters; at most {longest} are allowed"
    if text != unicodedata.normalize("NFC", text):
        return "text-not-nfc", "is not in Unicode's normal form C"
    for place, character in enumerate(text):
        kind = unicodedata.category(character)
        if character in _JOINERS and _joins(text, place):
            continue
        if kind in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") and not (is_free and character in _LINES):
            return "text-control", f"has the control character U+{ord(character):04X}"
    invisible = None if is_free else _INVISIBLE.search(text)
    if invisible and not is_unseen(text):
        return "text-invisible", f"has the invisible character U+{ord(invisible.group()):04X}"
    return None


def _joins(text: str, place: int) -> bool:
    """Return whether a joiner is one: after a sign that takes a vowel away, or between Arabic letters (RFC 5892)."""
    before, after = text[max(place - 1, 0) : place], text[place + 1 : place + 2]
    if before and unicodedata.combining(before) == _VIRAMA:
        return True
    return bool(before and after) and all("\u0600" <= one <= "\u08ff" and one.isalpha() for one in (before, after))


def is_unseen(text: str) -> bool:
    """Return whether a text has characters, and nothing that can be seen."""
    shown = (one for one in text if unicodedata.category(one)[0] in "LNPS" and one not in _UNSEEN)
    return bool(text) and next(shown, None) is None


def name_problem(text: str, *, is_identifier: bool = False) -> tuple[str, str] | None:
    """Return code and words for what no name may have.

    That is markup, a beginning that spreadsheets take for a formula, also in wide letters, nothing that can be seen, heaps of
    accents, and letters that look like others: ``MPI_Gather`` with a Cyrillic a is another operation that reads the same.

    `is_identifier`: as names of operations are, which programs tell apart; of people and places whole words may be written in
    letters that look like Latin ones.
    """
    compatible = unicodedata.normalize("NFKC", text)
    if _MARKUP.search(compatible):
        return "markup-in-name", "has markup in it"
    if _FORMULA.match(compatible):
        return "formula-in-name", "begins like a formula of a spreadsheet"
    if is_unseen(text):
        return "name-blank", "has nothing that can be seen"
    if any(all(map(unicodedata.combining, text[k : k + _MOST_ACCENTS])) for k in range(len(text) - _MOST_ACCENTS + 1)):
        return "name-accents", "has several accents on one letter"
    odd = next((one for one in text if _is_another_form(one)), "")
    odd = odd or next((one for word in re.findall(r"\w+", text) for one in disguised(word, is_identifier=is_identifier)), "")
    if odd:
        named = unicodedata.name(odd, "a letter without a name").lower()
        return "name-disguised", f"has a letter that looks like another, U+{ord(odd):04X} ({named}); write it in one alphabet"
    return None


def _is_another_form(character: str) -> bool:
    """Return whether a character is drawn as others are: wide, bold, or as a long s, a ligature or a Roman numeral."""
    kind, _, _ = unicodedata.decomposition(character).partition(" ")
    if kind in _LOOKS:
        return True
    return kind == "<compat>" and character.isalnum() and unicodedata.normalize("NFKC", character).isascii()


def disguised(word: str, *, is_identifier: bool) -> str:
    """Return the letters of a word that look like Latin ones, if they are not of Latin script and stand beside such.

    `is_identifier`: also if they are of Latin script, as a dotless i, or all letters of the word look like Latin ones; a
    single letter is none then, but a symbol.

    >>> disguised("MPI_G\u0430ther", is_identifier=True), disguised("10\u03bcs", is_identifier=True)
    ('\u0430', '')
    >>> [disguised(name, is_identifier=False) for name in ("\u0412\u0435\u0440\u0430", "I\u015f\u0131k", "V\u0435ra")]
    ['', '', '\u0435']
    """
    foreign = [one for one in word if one.isalnum() and not one.isascii()]
    alike = [one for one in foreign if _looks_latin(one)]
    beside = any(one.isascii() and one.isalpha() for one in word)
    if not is_identifier:
        return "".join(one for one in alike if beside and not unicodedata.name(one, "").startswith("LATIN"))
    is_whole = len(alike) == len(foreign) and len(foreign) > 1
    return "".join(alike) if beside or is_whole else ""


@functools.lru_cache(maxsize=4096)
def _looks_latin(character: str) -> bool:
    """Return whether Unicode's confusables.txt has a letter or digit of ASCII that a character is drawn like."""
    from confusable_homoglyphs import confusables

    found = confusables.is_confusable(character, preferred_aliases=[])
    alike = [one["c"] for entry in found or () for one in entry["homoglyphs"]]
    return any(one.isascii() and one.isalnum() for one in alike)


def retraction_problem(entries: Iterable[Mapping[str, str]], longest: int) -> tuple[str, str] | None:
    """Return code and sentence of the first text of a retraction that may not be; None if all may."""
    for key, text in ((key, text) for one in entries for key, text in one.items()):
        is_free = key in ("reason", "signature")
        found = text_problem(text, longest, is_free=is_free) or (None if is_free else name_problem(text))
        if found is not None:
            return found[0], f"{key} {text.encode('unicode_escape').decode()[:40]!r} {found[1]}."
        if key == "when" and text > (dt.datetime.now(dt.UTC) + _SKEW).isoformat():
            return "date-future", f"when is {text}, in the future."
    return None


def texts_in(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of a record, keys of objects included, each with the field that it belongs to."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield field, str(key)
            yield from texts_in(inner, field if field in FREE else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner, field)


def no_formula(value: object) -> str:
    """Return a value as text that a spreadsheet does not take for a formula."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else str(value)
