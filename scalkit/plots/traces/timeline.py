"""A timeline as a picture that needs no script: an image in SVG with axes and a legend."""

from __future__ import annotations

import base64
import html
import math
import struct
import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scalkit.colours import light
from scalkit.plots.style import QUIET, quantity
from scalkit.trace.views.timeline import Raster, Timeline
from scalkit.trace.waits.functions import is_library_call
from scalkit.units import format_quantity

_WIDTH, _LEFT, _TOP, _RIGHT = 960, 44, 22, 8
_LINE, _LETTER = 20, 6.6


def said_of(timeline: Timeline) -> str:
    """Return what a timeline shows, in a sentence."""
    what = "simulated " if timeline.is_simulated else ""
    seconds = timeline.class_seconds
    longest = sorted((name for name in seconds if name != "outside of calls"), key=lambda n: -seconds[n])
    shown = ", ".join(f"{name} {format_quantity(seconds[name], 's')}" for name in longest[:3] if seconds[name])
    whole = format_quantity(1e-9 * timeline.span, "s")
    waits = f"; waiting {format_quantity(timeline.waiting_seconds, 's')}" if timeline.has_waits else ""
    n = timeline.locations
    who = "1 process" if n == 1 else f"{n} processes"
    return f"Timeline of {what}{who} over {whole}; all together: {shown or 'no calls'}{waits}."


def timeline_svg(timeline: Timeline, begin: int = 0, end: int | None = None, locations: Sequence[int] | None = None) -> str:
    """Return a window of a timeline as SVG for a page; its text has the colour of the page.

    `begin`, `end` in ns: by default all of it.
    `locations`: by default all.
    """
    stop = timeline.span if end is None else end
    chosen = range(timeline.locations) if locations is None else list(locations)
    height = int(min(max(14 * len(chosen), 60), 320))
    raster = timeline.raster(begin, stop, 1400, locations, rows=height)
    sub = max(1, min(4, height // len(raster.kind)))
    image = base64.b64encode(_png(_pixels(raster, sub, len(timeline.classes)), _palette(timeline))).decode()
    inner = _WIDTH - _LEFT - _RIGHT
    scale = inner / (stop - begin)
    x = _LEFT + ((raster.first << raster.bits) - begin) * scale
    wide = (raster.kind.shape[1] << raster.bits) * scale
    legend, lines = _legend(timeline, height + _TOP + 34)
    total = _TOP + height + 20 + _LINE * lines
    return (
        f'<svg viewBox="0 0 {_WIDTH} {total}" width="100%" role="img" aria-label="{html.escape(said_of(timeline))}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="currentColor" style="max-width: {_WIDTH}px">'
        f'<svg x="{_LEFT}" y="{_TOP}" width="{inner}" height="{height}" overflow="hidden">'
        f'<image x="{x - _LEFT:.3f}" y="0" width="{wide:.3f}" height="{height}" preserveAspectRatio="none" '
        f'style="image-rendering: pixelated" href="data:image/png;base64,{image}"/></svg>'
        f'<rect x="{_LEFT}" y="{_TOP}" width="{inner}" height="{height}" fill="none" stroke="{QUIET}"/>'
        f"{_rows(list(chosen), height)}{_ticks(begin, stop, scale)}{legend}</svg>"
    )


def _pixels(raster: Raster, sub: int, waiting: int) -> NDArray[np.uint8]:
    """Return the palette's index of each pixel: rows of `sub` lines, of which waiting takes its share from below."""
    share = np.rint(raster.wait.astype(float) * sub / 255).astype(int)
    lines = np.arange(sub)[None, :, None]
    found = np.where(lines >= sub - share[:, None, :], waiting, raster.kind[:, None, :])
    return np.asarray(found.reshape(-1, raster.kind.shape[1]), dtype=np.uint8)


def _palette(timeline: Timeline) -> list[tuple[int, int, int, int]]:
    found = []
    for colour in (*colours(timeline), WAITING):
        value = int(colour[1:] or "0", 16)
        found.append((value >> 16, value >> 8 & 255, value & 255, 255 if colour else 0))
    return found


def _png(pixels: NDArray[np.uint8], palette: Sequence[tuple[int, int, int, int]]) -> bytes:
    """Return an image of indices into a palette of red, green, blue and opacity."""
    height, width = pixels.shape
    lines = np.concatenate([np.zeros((height, 1), dtype=np.uint8), pixels], axis=1).tobytes()

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content) & 0xFFFFFFFF)

    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    flat = b"".join(bytes(one[:3]) for one in palette)
    clear = bytes(one[3] for one in palette)
    parts = ((b"IHDR", head), (b"PLTE", flat), (b"tRNS", clear), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def _rows(chosen: list[int], height: int) -> str:
    n = len(chosen)
    step = max(1, math.ceil(n * 14 / height))
    return "".join(
        f'<text x="{_LEFT - 6}" y="{_TOP + (k + 0.5) * height / n + 4:.1f}" text-anchor="end">{chosen[k]}</text>'
        for k in range(0, n, step)
    )


def _ticks(begin: int, end: int, scale: float) -> str:
    raw = (end - begin) / 6
    power = 10 ** math.floor(math.log10(max(raw, 1)))
    step = max(1, int(next(m for m in (1, 2, 5, 10) if m * power >= raw) * power))
    found = []
    for time in range(-(-begin // step) * step, end + 1, step):
        x = _LEFT + (time - begin) * scale
        anchor = "start" if x < _LEFT + 20 else "end" if x > _WIDTH - 40 else "middle"
        text = "0" if time == 0 else quantity(1e-9 * time, "s", 4)
        found.append(
            f'<text x="{x:.1f}" y="{_TOP - 8}" text-anchor="{anchor}">{text}</text>'
            f'<path d="M{x:.1f} {_TOP - 4}v4" stroke="{QUIET}"/>'
        )
    return "".join(found)


def _legend(timeline: Timeline, y: int) -> tuple[str, int]:
    """Return names beside their colours, in as many lines as they need, and how many that are."""
    entries = [*zip(timeline.classes[1:], colours(timeline)[1:], strict=True)]
    if timeline.has_waits:
        entries.append(("waiting", WAITING))
    found, x, lines = [], float(_LEFT), 1
    for name, colour in entries:
        wide = 26 + _LETTER * len(name)
        if x + wide > _WIDTH and x > _LEFT:
            x, lines = float(_LEFT), lines + 1
        at = y + _LINE * (lines - 1)
        found.append(
            f'<rect x="{x:.0f}" y="{at - 11}" width="12" height="12" fill="{colour}" stroke="{QUIET}"/>'
            f'<text x="{x + 17:.0f}" y="{at}">{html.escape(name)}</text>'
        )
        x += wide + 12
    return "".join(found), lines


WAITING: Final = light("trouble")
_CALLS: Final = (*map(light, ("slower", "model", "expected", "approximate", "undecided")), "#F0E442")
_REGIONS: Final = {
    "light": ("#cde0c4", "#dccfe6", "#f0e2bd", "#bfdcdc", "#ebcfc9", "#d6d6bd"),
    "dark": ("#46583e", "#564860", "#5e5431", "#375557", "#5f4640", "#4f4f3c"),
}
_OUTSIDE: Final = {"light": "#e6e9ec", "dark": "#33393f"}
_OTHERS: Final = {"other calls": "#6b7280", "other regions": "#a58f78"}


def colours(timeline: Timeline, theme: str = "light") -> list[str]:
    """Return the colour of each of `Timeline.classes`, as in ``#56B4E9``; the first, of what is not recorded, is empty."""
    left = {True: iter(_CALLS), False: iter(_REGIONS[theme])}
    found = ["", _OUTSIDE[theme]]
    for name in timeline.classes[2:]:
        found.append(_OTHERS.get(name) or next(left[is_library_call(name)]))
    return found
