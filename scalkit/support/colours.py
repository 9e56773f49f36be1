"""The table of colours that figures, style sheets and scripts read, each for light and for dark pages."""

import json
from typing import Final

COLOURS: Final = {
    "ink": ("#1b1f24", "#e6e9ec"),
    "paper": ("#ffffff", "#22272d"),
    "quiet": ("#77808a", "#98a3ae"),
    "grid": ("#e4e7ea", "#2b3138"),
    "model": ("#0072B2", "#56B4E9"),
    "expected": ("#009E73", "#2cb98f"),
    "trouble": ("#D55E00", "#f0803c"),
    "slower": ("#56B4E9", "#a6dbf8"),
    "warning": ("#E69F00", "#E69F00"),
    "cannot-tell": ("#CC79A7", "#CC79A7"),
    "rival": ("#9b2f73", "#e39ac4"),
    "band": ("rgba(0,158,115,0.16)", "rgba(44,185,143,0.20)"),
}
"""Name to the colour on a light and on a dark page. The light ones are Okabe and Ito's, which people tell apart whatever
colours they see; figures hold them, and pages put the dark ones in their place. Text smaller than a heading needs more
contrast than these have on the paper of the page: the style sheet of the reports has its own colours for it."""

CSS: Final = f":root {{ {' '.join(f'--sk-{name}: light-dark({a}, {b});' for name, (a, b) in COLOURS.items())} }}\n"
"""Custom properties such as ``--sk-model``, which follow the ``color-scheme`` of where they are used."""

PLOTLY_CONFIG: Final = {
    "displaylogo": False,
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "svg"},
}
"""How plotly.js shows figures: no button uploads one, and there is no address it could go to."""

SCRIPT: Final = (
    f"const SK_COLOURS = {json.dumps(COLOURS)};\n"
    "const SK_DARK = Object.fromEntries(Object.values(SK_COLOURS).filter(([light, dark]) => light !== dark));\n"
    f"const SK_PLOTLY = {json.dumps(PLOTLY_CONFIG)};\n"
)
"""What scripts begin with: the table, the dark colour for each light one that differs, and the configuration."""


def light(name: str) -> str:
    """Return a colour of the table as figures hold it."""
    return COLOURS[name][0]
