"""Where the numbers come from: machine, library, programs, versions, and a hash of every input file."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from scalkit import __version__
from scalkit.reports.markup import details, esc, table
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section

__all__ = ["provenance"]

_PACKAGES = ("numpy", "scipy", "xarray", "plotly", "papermill", "nbconvert")


def provenance(page: Page) -> Section:
    """Return tables of the measurement's and the report's circumstances and of the hashes of the inputs."""
    facts = table("Of the measurements and of this report.", ("what", "value"), _rows(page))
    inputs = page.inputs
    short = [PurePath(file).name for file in inputs]
    files = short if len(set(short)) == len(short) else list(inputs)
    hashes = [
        (esc(file), f'<span class="hash">{esc(digest)}</span>')
        for file, digest in zip(files, inputs.values(), strict=True)
    ]
    listing = table(f"{len(inputs)} input files.", ("file", "SHA-256"), hashes)
    return Section.of(
        f'<div class="sheet">{facts}', details("Input files and their hashes", listing) if hashes else "", "</div>"
    )


def _rows(page: Page) -> Iterator[tuple[str, str]]:
    attrs = page.data.attrs
    known = {
        "measurements": ", ".join(page.named),
        "host": attrs.get("measured_on"),
        "MPI library": attrs.get("mpi_library"),
        "measured": page.measured_at,
        "expectations": page.expectations_name,
    }
    for label, value in known.items():
        if value:
            yield esc(label), esc(value)
    for label, value in flattened(page.campaign):
        yield esc(label), esc(value)
    yield "scalkit", esc(__version__)
    yield "Python", esc(f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield "packages", esc(", ".join(f"{p} {importlib.metadata.version(p)}" for p in _PACKAGES))
    yield "report written", esc(page.made)


def flattened(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested mappings as (path, text), in their order."""
    for key, value in content.items():
        label = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flattened(value, f"{label} / ")
        elif value not in (None, "", []):
            yield label, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
