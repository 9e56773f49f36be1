"""TOML files as tables: those of users, with a sentence where one is not valid, and those that stand beside a module."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from scalkit.errors import ScalkitError
from scalkit.toml.lines import syntax_error


def table_of(text: str, name: str, kind: type[ScalkitError]) -> dict[str, Any]:
    """Return the content of a TOML file; `kind` is raised where it is not valid, with the place and `name`."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        where, reason = syntax_error(error)
        raise kind(f"{name}{f', {where}' if where else ''}: this is not valid TOML: {reason}.") from error


@cache
def table_beside(module: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file of facts that stands beside a module, of which `module` is the ``__file__``."""
    return tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))
