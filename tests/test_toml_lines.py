"""The scanner of lines agrees with the standard library on what is there."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalkit.support.toml.tables import EntryPath, line_of, lines_of, syntax_error

TEXT = '''# first
title = "a # b"
a.b."c.d" = 1

rules = [ # [
  "A <= B", 'C [1]', # ]
  """multi
line "quoted\\\\" ] """, [1, [2,
  3]], { x = 1, y = "}" },
]
[expectations]
f = "p" # = [
"g h" = { expectation = "p",  deviation = 'x' }
t = \'\'\'
]\'\'\'
d = 1979-05-27T07:32:00Z
[ expectations . "k" ]
 expectation="1"
[[aa]]
x=1
[[aa]]
x=2
[aa.b]
y=2
[[aa.c]]
z=""""quoted""""
[[aa.c]]
z=2
last = -inf'''


def paths(value: object, above: EntryPath = ()) -> Iterator[EntryPath]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*above, key)
        yield from paths(inner, (*above, key))


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n"), "", "# nothing"])
def test_every_entry_has_its_line(text: str) -> None:
    assert set(lines_of(text)) == set(paths(tomllib.loads(text)))


def test_lines() -> None:
    found = lines_of(TEXT)
    places = {
        ("title",): 2, ("a", "b", "c.d"): 3, ("rules",): 5, ("rules", 1): 6, ("rules", 2): 7, ("rules", 3, 1): 7,
        ("rules", 3, 1, 1): 7, ("rules", 4, "y"): 7, ("expectations",): 11, ("expectations", "g h", "deviation"): 13,
        ("expectations", "d"): 16, ("expectations", "k"): 17, ("expectations", "k", "expectation"): 18, ("aa", 1): 21,
        ("aa", 1, "c", 1, "last"): 29,
    }  # fmt: skip
    assert {path: found[path] for path in places} == places


def test_the_nearest_entry_stands_for_one_without_a_line() -> None:
    found = lines_of("[expectations]\nf = 'p'")
    assert line_of(("expectations", "f", "deviation"), found) == 2
    assert line_of(("deviation",), found) is None


def test_messages_of_the_standard_library() -> None:
    assert syntax_error(ValueError("Invalid value (at line 2, column 5)")) == ("line 2, column 5", "invalid value")
    assert syntax_error(ValueError("Something else")) == ("", "something else")


names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
leaves = st.one_of(st.integers(-9, 9), st.booleans(), st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3), max_leaves=6)


@given(st.dictionaries(names, st.dictionaries(names, values, max_size=3), max_size=3), st.booleans())
@settings(max_examples=100, deadline=None)
def test_any_table(content: dict[str, dict[str, object]], broken: bool) -> None:
    lines = []
    for table, entries in content.items():
        lines.append(f"[{_text(table)}]")
        for key, value in entries.items():
            shown = json.dumps(value).replace("\x7f", "\\u007f")
            if broken and '"' not in shown:
                shown = shown.replace(", ", ", # ] }\n")
            lines.append(f"{_text(key)} = {shown}")
    text = "\n".join(lines)
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # JSON escapes characters beyond the first plane as two halves
        return
    found = lines_of(text)
    assert set(found) == set(paths(parsed))
    for (*_, key), line in found.items():
        if isinstance(key, str):
            assert _text(key) in text.split("\n")[line - 1]


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
