"""Models by the name of a machine or of a file: catalogues, model cards, platforms of SimGrid, tables of known algorithms."""

from __future__ import annotations

from pathlib import Path

from scalkit.errors import UsageError
from scalkit.perfmodels.catalogue import ModelCatalogue, bluegene_p, read_models
from scalkit.perfmodels.known import read_known
from scalkit.perfmodels.point_to_point import PointToPoint
from scalkit.perfmodels.simgrid import from_simgrid

__all__ = ["BUNDLED", "catalogue_of", "message_of"]

BUNDLED = "bluegene-p"
"""The name of the catalogue that comes with scalkit."""

_MESSAGE, _GAP = "point-to-point", "gap"


def catalogue_of(source: str | Path) -> ModelCatalogue:
    """Return the models of ``"bluegene-p"``, or of a TOML file.

    Raises
    ------
    UsageError
        If there is no such name or file.
    """
    if str(source) == BUNDLED:
        return bluegene_p()
    if Path(source).suffix != ".toml":
        raise UsageError(
            f"{str(source)!r:.80} is no catalogue of models; name {BUNDLED}, or a file that ends in .toml."
        )
    return read_models(source)


def message_of(source: str | Path) -> PointToPoint:
    """Return the model of a message that a file holds.

    Parameters
    ----------
    source : str or path
        ``"bluegene-p"``; a TOML file, a catalogue with the models ``point-to-point`` and, where there is one, ``gap``, or a model
        card; a platform of SimGrid (``.xml``); or a table of known algorithms (``.csv``).

    Raises
    ------
    UsageError
        If there is no such name or file, or no model of a message in it.
    """
    file = Path(source)
    if file.suffix == ".xml":
        return from_simgrid(file)
    if file.suffix == ".csv":
        return read_known(file).message
    models = catalogue_of(source)
    if _MESSAGE not in models:
        raise UsageError(
            f"the catalogue {source!s:.80} has no model '{_MESSAGE}'; it has {', '.join(models)}. Fit one with scalkit model fit."
        )
    gap = models.get(_GAP)
    return PointToPoint(models[_MESSAGE], gap, name=models.name, source=models.source)
