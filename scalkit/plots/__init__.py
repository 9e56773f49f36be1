"""Figures of plotly: pure functions, one kind of figure for each module, loaded at first use.

`scalkit.plot` draws whatever it is given. The names here take arguments that it cannot guess. Every figure has a sentence for
screen readers in ``layout.meta["alt"]``.
"""

from scalkit.support.lazy import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
