"""Expectations as plain values, the form in which they travel to the notebook as a typed parameter, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalkit.validation import ExpectationSet
from scalkit.validation.catalogue import CATALOGUES, expectation_set
from scalkit.validation.plain import plain_set, set_from_plain


def to_plain(source: object) -> str | dict[str, Any]:
    """Return expectations as JSON values.

    `source`: whatever `scalkit.validate` takes; None is the bundled catalogue ``"mpi"``.
    Returns: the name of a catalogue or the absolute path of a file; otherwise a mapping that `from_plain` reads.
    Raises ExpectationError if a mapping cannot be read.
    """
    if source is None:
        return "mpi"
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        return text if text in CATALOGUES else str(Path(text).absolute())
    return plain_set(expectation_set(source))


def from_plain(source: str | Mapping[str, Any]) -> ExpectationSet:
    """Return the expectations that `to_plain` wrote.

    Raises ExpectationError if a file cannot be read.
    """
    if isinstance(source, str):
        return expectation_set(source)
    return set_from_plain(source)
