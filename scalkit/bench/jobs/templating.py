"""Text of scripts from templates; a value is quoted for its language unless the template says otherwise."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).with_name("templates")


class _Raw(str):
    """Text that goes in as it is."""

    __slots__ = ()


def filled(template: str, quote: Callable[[Any], str], **values: Any) -> str:
    """Return a template with its values.

    `template`: name of a file in ``templates``.
    `quote`: applied to every value that the template does not send through ``raw``.
    `**values`: what the template names; it is an error if one is missing.
    """
    return _environment(quote).get_template(template).render(**values)


def shell_word(value: object) -> str:
    """Return a value as one word of a shell."""
    return shlex.quote(str(value))


def python_literal(value: object) -> str:
    """Return a text, a number, or a list or table of these as Python."""
    return repr(value)


def xml_text(value: object) -> str:
    """Return a value as text or attribute of XML."""
    return escape(str(value), {'"': "&quot;", "'": "&apos;"})


@cache
def _environment(quote: Callable[[Any], str]) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        finalize=lambda value: value if isinstance(value, _Raw) else quote(value),
    )
    environment.filters["raw"] = _Raw
    return environment
