"""Scripts, styles and markup of the widgets: files beside them; templates escape what is put in, and divide it by name."""

from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import Environment
from markupsafe import Markup

from scalkit.support import markup, text
from scalkit.support.colours import CSS, SCRIPT

_HERE = Path(__file__).resolve().parents[1]


@cache
def source(*names: str) -> str:
    """Return files of `scalkit.widgets`, one after the other, after the table of colours: a script or a style."""
    table = SCRIPT if names[0].endswith(".js") else CSS
    return table + "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)


_FOLDER = "widgets/templates"


def drawn(template: str, **values: Any) -> dict[str, str]:
    """Return what a template makes of values: the markup below each ``{{ piece("name") }}``, by that name.

    Line breaks of the template are left out; values are escaped unless they are `Markup`.
    """
    _, *parts = _templates().get_template(template).render(**values).split("\0")  # no value holds this letter
    return dict(zip(parts[::2], parts[1::2], strict=True))


@cache
def _templates() -> Environment:
    found = markup.environment(_FOLDER)
    found.loader = jinja2.FunctionLoader(_source)
    found.finalize = lambda value: value if isinstance(value, Markup) else Markup(markup.esc(value).replace("\0", ""))
    found.globals |= {"piece": lambda name: Markup(f"\0{name}\0"), "counted": text.counted, "percent": text.percent}
    for one in (markup.formula, markup.bullets):
        found.globals[one.__name__] = _marked(one)
    return found


def _source(name: str) -> str:
    return (_HERE / "templates" / name).read_text(encoding="utf-8").replace("\n", "")


def _marked(made: Any) -> Any:
    return lambda *given, **how: Markup(made(*given, **how))
