"""expectations.schema.json accepts what the loader accepts and refuses what it refuses, as far as a schema can."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

import scalkit as sk
from scalkit.errors import ExpectationError
from scalkit.judge import CATALOGUES, load_expectations

FILES = resources.files("scalkit.judge")
SCHEMA = json.loads(FILES.joinpath("expectations.schema.json").read_text(encoding="utf-8"))
ROOT = Path(__file__).parents[2]


def is_valid(text: str) -> bool:
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(tomllib.loads(text))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", CATALOGUES)
def test_bundled_catalogues(name: str) -> None:
    assert is_valid(FILES.joinpath(f"catalogues/{name}.toml").read_text(encoding="utf-8"))


def examples() -> list[str]:
    pages = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("testing.md", "file-formats.md"))
    found = re.findall(r"```toml\n(.*?)```", pages, re.DOTALL)
    module = sk.judge.catalogue.catalogue.__doc__ or ""
    return [
        *(text for text in found if "[expectations]" in text),
        re.sub(r"(?m)^    ", "", module.split("::", 1)[1]).rpartition("What")[0],
    ]


@pytest.mark.parametrize("text", examples())
def test_examples_in_the_documentation(text: str, tmp_path: Path) -> None:
    assert is_valid(text)
    path = tmp_path / "expectations.toml"
    path.write_text(text, encoding="utf-8")
    assert load_expectations(path).functions


HEAD = "[expectations]\nf = 'p'\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[expectations]",
        "deviatoin = 'p'\n" + HEAD,
        "deviation = 3\n" + HEAD,
        "space = 'papr'\n" + HEAD,
        "space = 'paper'\nticks = ['p']\n" + HEAD,
        "ticks = []\n" + HEAD,
        "ticks = 'p'\n" + HEAD,
        "add_ticks = [3]\n" + HEAD,
        "rules = 'f <= f'\n" + HEAD,
        "litmus = 3\n" + HEAD,
        "title = 3\n" + HEAD,
        "[expectations]\nf = true",
        "[expectations]\nf = ['p']",
        "[expectations]\nf = {}",
        "[expectations]\nf = {expectation = true}",
        "[expectations]\nf = {expectation = 'p', expectatoin = 'p'}",
        "[expectations]\nf = {expectation = 'p', space = 'paper', ticks = ['p']}",
    ],
)
def test_both_refuse(text: str, tmp_path: Path) -> None:
    assert not is_valid(text)
    path = tmp_path / "expectations.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ExpectationError):
        load_expectations(path)
