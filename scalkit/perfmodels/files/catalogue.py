"""Named models in TOML files, and the bundled catalogue of the BlueGene/P."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from scalkit.errors import UsageError
from scalkit.markup import block, table
from scalkit.perfmodels.formulas.quantities import Range, values_in
from scalkit.perfmodels.models.exact import ExactModel, RangeModel
from scalkit.perfmodels.models.hierarchy import AsymptoticModel, BoundedModel, DominantTermModel
from scalkit.perfmodels.models.model import PerformanceModel

_LARGEST_B = 1 << 20
_KEYS = {
    "exact": {"formula", "constants", "also", "above", "from", "up_to", "cubes"},
    "ranges": {"parameter", "pieces"},
    "bounded": {"lower", "upper"},
    "dominant term": {"known", "rest"},
    "asymptotic": {"growth", "notation"},
}


@dataclass(frozen=True, repr=False)
class ModelCatalogue(Mapping[str, PerformanceModel]):
    """Models by name, in the order of their file.

    Attributes
    ----------
    name, source : str
    models : mapping from name to PerformanceModel
    """

    name: str
    source: str
    models: Mapping[str, PerformanceModel]

    def __getitem__(self, name: str) -> PerformanceModel:
        if name not in self.models:
            raise UsageError(f"the catalogue '{self.name}' has no model {name!r}; it has {', '.join(self.models)}.")
        return self.models[name]

    def __contains__(self, name: object) -> bool:
        return name in self.models

    def __iter__(self) -> Iterator[str]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    def __repr__(self) -> str:
        return f"ModelCatalogue({self.name!r}: {', '.join(self.models)})"

    def _repr_html_(self) -> str:
        from html import escape

        rows = [
            (
                escape(name),
                f"<math>{model.to_mathml(numbers=True, nanoseconds=True)}</math>",
                escape(model.kind),
                f'<div class="sk-text">{escape(model.source)}</div>',
            )
            for name, model in self.models.items()
        ]
        return block(table(("name", "model, T in ns, sizes in B", "kind", "source"), rows, self.name))


@lru_cache(maxsize=1)
def bluegene_p() -> ModelCatalogue:
    """Return the models of the BlueGene/P that the paper prints, by name.

    References
    ----------
    Hoefler et al. 2010 (docs/references.md).
    """
    text = resources.files("scalkit.perfmodels.files").joinpath("bluegene_p.toml").read_text(encoding="utf-8")
    return _catalogue(text, "bluegene_p.toml")


def read_models(path: str | Path) -> ModelCatalogue:
    """Return the models of a TOML file; docs/perfmodels.md says how it is written.

    Raises
    ------
    UsageError
        If the file cannot be read, or a model in it makes no sense; the text names the model.
    """
    file = Path(path)
    try:
        if file.stat().st_size > _LARGEST_B:
            raise UsageError(f"the catalogue {file} is larger than {_LARGEST_B >> 20} MiB; split it.")
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read the catalogue {file}: {reason}.") from error
    return _catalogue(text, str(file))


def _catalogue(text: str, file: str) -> ModelCatalogue:
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the catalogue {file} is no TOML: {error}.") from error
    entries = read.get("models")
    if not isinstance(entries, dict) or not entries:
        raise UsageError(f"the catalogue {file} has no models; add a table [models.NAME].")
    source = str(read.get("source", ""))
    models = {}
    for name, entry in entries.items():
        try:
            models[name] = _model(entry, name, source)
        except ValueError as error:
            raise UsageError(f"{file}, model '{name}': {error}") from error
    return ModelCatalogue(str(read.get("name", file)), source, models)


def _model(entry: Any, name: str, source: str) -> PerformanceModel:
    if not isinstance(entry, dict):
        raise UsageError("it must be a table of keys.")
    given = dict(entry)
    kind = given.pop("kind", "exact")
    if kind not in _KEYS:
        raise UsageError(f"the kind is {kind!r:.40}; choose one of {', '.join(_KEYS)}.")
    own = str(given.pop("source", ""))
    cited = ", ".join(part for part in (source, own) if part)
    if unknown := [key for key in given if key not in _KEYS[kind]]:
        raise UsageError(f"the key '{unknown[0]}' is unknown; a model of kind '{kind}' has {', '.join(sorted(_KEYS[kind]))}.")
    if kind == "exact":
        return _exact(given, name, cited)
    if kind == "asymptotic":
        return AsymptoticModel(given.get("growth", ""), given.get("notation", "O"), name=name, source=cited)
    if kind == "ranges":
        return _ranges(given, name, cited)
    parts = {key: _model(one, f"{name}, {key}", source) for key, one in given.items()}
    if kind == "bounded":
        return BoundedModel(parts.get("lower"), parts.get("upper"), name, cited)
    rest = parts.get("rest")
    if "known" not in parts or not isinstance(rest, AsymptoticModel):
        raise UsageError("it needs the tables 'known' and 'rest', the latter of kind 'asymptotic'.")
    return DominantTermModel(parts["known"], rest, name, cited)


def _exact(given: Mapping[str, Any], name: str, source: str) -> ExactModel:
    if not isinstance(given.get("formula"), str):
        raise UsageError("it has no 'formula'; write one, for example formula = 'alpha + G*S'.")
    if not isinstance(given.get("constants", {}), dict):
        raise UsageError("its 'constants' must be a table.")
    for key in ("cubes", "also"):
        listed = given.get(key, [])
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            raise UsageError(f"its '{key}' must be a list of parameters.")
    limits: dict[str, Range] = {}
    for key in ("above", "from", "up_to"):
        ends = given.get(key, {})
        if not isinstance(ends, dict):
            raise UsageError(f"'{key}' is {ends!r:.40}; write a table by parameter, for example {key} = {{ S = '1 KiB' }}.")
        for parameter, end in ends.items():
            limits[parameter] = _limited(limits.get(parameter, Range()), key, end, parameter)
    for parameter in given.get("cubes", ()):
        limits[parameter] = replace(limits.get(parameter, Range(low=1.0)), only="cubes")
    return ExactModel(given["formula"], given.get("constants", {}), limits, name, source, given.get("also", ()))


def _limited(old: Range, key: str, end: Any, parameter: str) -> Range:
    if not isinstance(end, str | int | float):
        raise UsageError(f"{parameter} is {str(end)!r:.40}; write one number, or one with a unit.")
    value = float(values_in(end, parameter))
    if key == "up_to":
        return replace(old, high=value)
    return replace(old, low=value, open_low=key == "above")


def _ranges(given: Mapping[str, Any], name: str, source: str) -> RangeModel:
    parameter, found = str(given.get("parameter", "S")), []
    pieces = given.get("pieces", [])
    if not isinstance(pieces, list) or not all(isinstance(piece, dict) for piece in pieces):
        raise UsageError("its 'pieces' must be a list of tables, each with a formula and its limits.")
    for k, piece in enumerate(pieces, 1):
        own = dict(piece)
        limits = Range()
        for key in ("from", "above", "up_to"):
            if key in own:
                limits = _limited(limits, key, own.pop(key), parameter)
        found.append((limits, _model(own, f"{name}, piece {k}", source)))
    return RangeModel(parameter, found, name, source)
