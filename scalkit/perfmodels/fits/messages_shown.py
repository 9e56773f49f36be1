"""How a fit of messages looks: one line in a terminal, a table of its protocols in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

from scalkit.markup import block, bullets, paragraph, table
from scalkit.perfmodels.fits.affine import Affine, with_interval
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.text import percent

_HEAD = ("sizes", "latency", "time per byte", "bandwidth", "values")


class ShownFit:
    """The representations of a `MessageFit`."""

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row of texts for each protocol: sizes, latency, time per byte, both with intervals, bandwidth, values."""
        fit: Any = self
        found: list[tuple[str, ...]] = []
        for one in fit.protocols:
            line = one.fit
            found.append(
                (
                    f"{format_value(one.first, 'B')} to {format_value(one.last, 'B')}",
                    _held(line, "constant", "s"),
                    _held(line, "slope", "s/B"),
                    format_value(one.bandwidth, "B/s"),
                    str(one.n_sizes),
                )
            )
        return found

    def to_frame(self) -> Any:
        """Return a pandas table of the protocols, in base units."""
        import pandas as pd

        fit: Any = self
        return pd.DataFrame(
            {
                "first_B": one.first,
                "last_B": one.last,
                "latency_s": one.fit.constant,
                "latency_low_s": one.fit.constant_interval[0],
                "latency_high_s": one.fit.constant_interval[1],
                "per_byte_s": one.fit.slope,
                "per_byte_low_s": one.fit.slope_interval[0],
                "per_byte_high_s": one.fit.slope_interval[1],
                "bounded": ", ".join(one.fit.bounded),
            }
            for one in fit.protocols
        )

    def __str__(self) -> str:
        return "; ".join(f"{sizes}: {latency} + {per_byte} * S" for sizes, latency, per_byte, *_ in self._plain())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def _plain(self) -> list[tuple[str, str, str]]:
        fit: Any = self
        return [
            (row[0], format_value(one.fit.constant, "s"), format_value(one.fit.slope, "s/B"))
            for row, one in zip(self.rows(), fit.protocols, strict=True)
        ]

    def _repr_html_(self) -> str:
        fit: Any = self
        protocols = table(
            _HEAD, [tuple(map(escape, row)) for row in self.rows()], f"intervals of {100 * fit.level:g} %"
        )
        rows = [
            (
                escape(f"between {format_value(one.after, 'B')} and {format_value(one.before, 'B')}"),
                escape(f"{format_value(one.interval[0], 'B')} to {format_value(one.interval[1], 'B')}"),
                f"{one.step:.3g}",
            )
            for one in fit.switches
        ]
        switches = table(("protocol switches", "interval", "step of the time"), rows) if rows else ""
        sure = f"probability of a switch: {percent(fit.probability)}"
        noise = f"Relative standard error of a time: {100 * fit.noise:.2g} %; {sure}."
        return block(protocols, switches, paragraph(noise), bullets(fit.remarks))


def _held(line: Affine, name: str, unit: str) -> str:
    shown = with_interval(getattr(line, name), getattr(line, f"{name}_interval"), unit)
    return f"{shown}{', held at zero' if name in line.bounded else ''}"
