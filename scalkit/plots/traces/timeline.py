"""A timeline as a picture that needs no script: an image in SVG with axes and a legend."""

import base64
import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scalkit.plots.style import QUIET, quantity
from scalkit.support.colours import light
from scalkit.support.markup import environment
from scalkit.support.units import format_quantity
from scalkit.trace.views.timeline import Raster, Timeline
from scalkit.trace.waits.functions import is_library_call

_WIDTH, _LEFT, _TOP, _RIGHT = 960, 44, 22, 8
_LINE, _LETTER = 20, 6.6


def said_of(timeline: Timeline) -> str:
    """Return what a timeline shows, in a sentence."""
    what = "simulated " if timeline.is_simulated else ""
    seconds = timeline.sums(0, timeline.span)
    longest = [name for name in seconds if name not in ("outside of calls", "waiting")]
    shown = ", ".join(f"{name} {format_quantity(seconds[name], 's')}" for name in longest[:3])
    whole = format_quantity(1e-9 * timeline.span, "s")
    waiting = format_quantity(seconds.get("waiting", 0.0), "s")
    n = timeline.locations
    who = "1 process" if n == 1 else f"{n} processes"
    return f"Timeline of {what}{who} over {whole}; all together: {shown or 'no calls'}; waiting {waiting}."


def timeline_svg(timeline: Timeline) -> str:
    """Return a timeline as SVG for a page; its text has the colour of the page."""
    n, span, inner = timeline.locations, timeline.span, _WIDTH - _LEFT - _RIGHT
    height, scale = int(min(max(14 * n, 60), 320)), inner / span
    raster = timeline.raster(0, span, 1400, None, rows=height)
    sub = max(1, min(4, height // len(raster.kind)))
    image = base64.b64encode(_png(_pixels(raster, sub, len(timeline.classes)), _palette(timeline))).decode()
    legend = _legend(timeline, height + _TOP + 34)
    svg = environment("plots/traces").get_template("timeline.svg")
    text = svg.render(
        said=said_of(timeline),
        width=_WIDTH,
        total=legend[-1][1] + 6,
        left=_LEFT,
        top=_TOP,
        inner=inner,
        height=height,
        x=(raster.first << raster.bits) * scale,
        wide=(raster.kind.shape[1] << raster.bits) * scale,
        image=image,
        quiet=QUIET,
        n=n,
        every=max(1, math.ceil(n * 14 / height)),
        ticks=list(_ticks(span, scale)),
        legend=legend,
    )
    return text.replace("\n", "")


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


def _ticks(span: int, scale: float) -> Iterator[tuple[float, str, str]]:
    """Yield place, alignment and text of each tick."""
    raw = span / 6
    power = 10 ** math.floor(math.log10(max(raw, 1)))
    step = max(1, int(next(m for m in (1, 2, 5, 10) if m * power >= raw) * power))
    for time in range(0, span + 1, step):
        x = _LEFT + time * scale
        yield (
            x,
            "start" if x < _LEFT + 20 else "end" if x > _WIDTH - 40 else "middle",
            quantity(1e-9 * time, "s", 4) if time else "0",
        )


def _legend(timeline: Timeline, y: int) -> list[tuple[float, int, str, str]]:
    """Return place, name and colour of all classes, in as many lines as they need."""
    entries = [*zip(timeline.classes[1:], colours(timeline)[1:], strict=True)]
    found, x = [], float(_LEFT)
    for name, colour in [*entries, ("waiting", WAITING)]:
        wide = 26 + _LETTER * len(name)
        if x + wide > _WIDTH and x > _LEFT:
            x, y = float(_LEFT), y + _LINE
        found.append((x, y, name, colour))
        x += wide + 12
    return found


WAITING: Final = light("trouble")
_CALLS: Final = (*map(light, ("slower", "model", "expected", "warning", "cannot-tell")), "#F0E442")
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
