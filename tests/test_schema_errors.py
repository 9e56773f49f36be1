"""Schemas are checked without what only formats of texts need."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOADED = """
import sys
from scalkit.support.schema_errors import load_jsonschema

jsonschema = load_jsonschema()
assert "lark" not in sys.modules and "rfc3987_syntax" not in sys.modules
assert load_jsonschema() is jsonschema is sys.modules["jsonschema"]
import nbformat

assert "lark" not in sys.modules
formats = jsonschema.FormatChecker()
assert formats.conforms("https://example.org/\u00fc", "iri")
assert not formats.conforms("no iri", "iri")
assert "lark" in sys.modules and sys.modules["rfc3987_syntax"].__file__
"""


@pytest.mark.extra
def test_the_grammar_of_iris_is_loaded_when_a_text_is_checked() -> None:
    pytest.importorskip("nbformat")
    pytest.importorskip("rfc3987_syntax")
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
