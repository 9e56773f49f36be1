"""How `make docs` builds the site: Sphinx with the theme of the PyData projects; no page asks another server for anything."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.utils.math.latex2mathml import tex2mathml

import scalkit

HERE = Path(__file__).parent
BUNDLE = HERE.parent / "scalkit/reports/vendor/plotly-cartesian.min.js"

project = "scalkit"
author = "the scalkit developers"
copyright = "2026, the scalkit developers"
version = release = scalkit.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_design", "sphinx_copybutton"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_dmath_double_inline = True
html_math_renderer = "mathml"
myst_heading_anchors = 4
default_role = "literal"
autodoc_typehints = "none"
autosummary_generate = False
numpydoc_show_class_members = False
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = "scalkit"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}
html_sidebars: dict[str, list[str]] = {"gallery": []}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "show_version_warning_banner": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
}

OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([^)#]+)(?:#[^)]*)?\)")


def path_in_a_checkout(found: re.Match[str]) -> str:
    """Return what a link to a file outside of docs/ becomes: its text, and the path in a checkout."""
    text, path = found[1], found[2]
    return text if path in text else f"{text} (`{path}` in a checkout)"


def without_links_outside(_app: object, page: str, source: list[str]) -> None:
    """Replace links to files that are not part of the site."""
    if not page.startswith(("start/", "howto/", "api/")):
        source[0] = OUTSIDE.sub(path_in_a_checkout, source[0])


class Picture(Directive):
    """Shows Python code and, below it, the plotly figure that its last line returns; the code of a page shares its names."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Run the code."""
        import plotly.io

        code = "\n".join(self.content)
        *steps, last = ast.parse(code).body
        env = self.state.document.settings.env
        names = env.temp_data.setdefault("names of pictures", {})
        exec(compile(ast.Module(steps, []), env.docname, "exec"), names)
        figure = eval(compile(ast.Expression(last.value), env.docname, "eval"), names)
        number = env.temp_data["pictures"] = env.temp_data.get("pictures", 0) + 1
        options = {"displayModeBar": False, "responsive": True}
        page = plotly.io.to_html(figure, config=options, include_plotlyjs=False, full_html=False, div_id=f"picture-{number}")
        shown = nodes.literal_block(code, code, language="python")
        return [shown, nodes.raw("", f'<div class="picture">{page}</div>', format="html")]


def load_plotly(app: Any, page: str, _template: str, _context: object, doctree: nodes.document | None) -> None:
    """Load plotly on pages that show pictures."""
    if doctree is not None and any('class="picture"' in raw.astext() for raw in doctree.findall(nodes.raw)):
        app.add_js_file("plotly.min.js")
        app.add_js_file(None, body="addEventListener('load', () => dispatchEvent(new Event('resize')))")


def copy_plotly(app: Any, failed: Exception | None) -> None:
    """Copy the bundle that reports use, too."""
    if failed is None and app.builder.format == "html":
        shutil.copy(BUNDLE, Path(app.outdir) / "_static/plotly.min.js")


def as_mathml(translator: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers know; MathJax would be fetched from another server."""
    formula = tex2mathml(node.astext(), as_block=isinstance(node, nodes.math_block))
    translator.body.append(formula)
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Add what the site needs beside the extensions."""
    app.add_directive("picture", Picture)
    app.add_html_math_renderer("mathml", inline_renderers=(as_mathml, None), block_renderers=(as_mathml, None))
    app.connect("source-read", without_links_outside)
    app.connect("html-page-context", load_plotly)
    app.connect("build-finished", copy_plotly)
