"""Sessions inside a page: written into it as JSON that no markup ends, and found again."""

import base64
import gzip
import os
import tempfile
import zlib
from html.parser import HTMLParser
from pathlib import Path

import xarray as xr

from scalkit.errors import DataError
from scalkit.measure import write_netcdf
from scalkit.measure.netcdf import read_netcdf

SCRIPT_ID = "scalkit-session"
"""``id`` of the script element that holds a session; those of further ones begin with it."""


def sessions_in(text: str, path: str | os.PathLike[str]) -> list[str]:
    """Return the JSON of all sessions in a page, in their order.

    `text`: the page.
    `path`: where it comes from, for a message.
    Raises DataError if there is none.
    """
    scripts = _Scripts()
    scripts.feed(text)
    if not scripts.found:
        raise DataError(f"the page '{os.fspath(path)}' holds no session; name a report of scalkit that has one.")
    return ["".join(parts) for parts in scripts.found]


class _Scripts(HTMLParser):
    """Collects the texts of the script elements with sessions."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[list[str]] = []
        self._is_inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notice a script element with a session."""
        if tag == "script" and str(dict(attrs).get("id") or "").startswith(SCRIPT_ID):
            self.found.append([])
            self._is_inside = True

    def handle_endtag(self, tag: str) -> None:
        """Notice its end."""
        self._is_inside = self._is_inside and tag != "script"

    def handle_data(self, data: str) -> None:
        """Take what stands inside."""
        if self._is_inside:
            self.found[-1].append(data)


_MAX_BYTES = 1_000_000_000
_GZIP = 31


def dataset_to_text(ds: xr.Dataset) -> str:
    """Return a Dataset of measurements as text; the same one gives the same text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.nc"
        write_netcdf(ds, path)
        return base64.b64encode(gzip.compress(path.read_bytes(), 9, mtime=0)).decode("ascii")


def dataset_from_text(text: object) -> xr.Dataset:
    """Return the Dataset that `dataset_to_text` wrote. Raises DataError if it is something else."""
    try:
        if not isinstance(text, str):
            raise TypeError(f"{text!r:.40} is no text")
        unpacker = zlib.decompressobj(_GZIP)
        content = unpacker.decompress(base64.b64decode(text, validate=True), _MAX_BYTES)
        if not unpacker.eof:
            raise ValueError("they end early or are too large")
    except (TypeError, ValueError, zlib.error) as error:
        raise DataError(
            f"the measurements inside the session cannot be read: {error}; give them, as in Session.load(path, data=...)."
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.nc"
        path.write_bytes(content)
        return read_netcdf(path)
