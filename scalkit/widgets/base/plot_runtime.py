"""Carries plotly.js into the page: once per kernel, compressed, without a network."""

import gzip
from functools import cache
from pathlib import Path
from typing import ClassVar

import anywidget
import traitlets as t

from scalkit.widgets.base.templates import source

_BUNDLE = Path(__file__).resolve().parents[2] / "reports" / "vendor" / "plotly-cartesian.min.js"


@cache
def _packed() -> bytes:
    return gzip.compress(_BUNDLE.read_bytes(), 9, mtime=0)


class PlotRuntime(anywidget.AnyWidget):
    """The plotting library of all `PlotView` of a kernel; never shown itself.

    `bundle`: the library, compressed by gzip; the page unpacks it.
    """

    _esm = source("base/plot_runtime.js")
    bundle = t.Bytes().tag(sync=True)
    _one: "ClassVar[PlotRuntime | None]" = None

    @classmethod
    def shared(cls) -> "PlotRuntime":
        """Return the one of this kernel, a new one if it was closed."""
        if cls._one is None or cls._one.comm is None:
            cls._one = cls(bundle=_packed())
        return cls._one
