"""Widgets for notebooks: the explorer and its parts. Each works alone, most of them beside a session.

They are loaded at first use, so that one of them starts fast.
"""

from scalkit.support.extras import require
from scalkit.support.lazy import names_of

require("lab", "ipywidgets", "anywidget")

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
