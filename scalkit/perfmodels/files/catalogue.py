"""Named models in TOML files, and the bundled catalogue of the BlueGene/P."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from scalkit.errors import UsageError
from scalkit.perfmodels.formulas.quantities import Range, values_in
from scalkit.perfmodels.models.exact import ExactModel, RangeModel
from scalkit.perfmodels.models.hierarchy import AsymptoticModel, BoundedModel
from scalkit.perfmodels.models.model import Composite, PerformanceModel
from scalkit.perfmodels.models.shown import statement_html
from scalkit.support.arguments import path_of
from scalkit.support.markup import block, table
from scalkit.support.schema_errors import schema_errors, schema_in
from scalkit.support.toml.tables import lines_of, table_of

_LARGEST_B = 1 << 20
_SCHEMA = Path(__file__).with_name("models.schema.json")
_ENDS, _PARTS = ("above", "from", "up_to"), ("lower", "upper", "known", "rest")


@dataclass(frozen=True, repr=False)
class ModelCatalogue(Mapping[str, PerformanceModel]):
    """Models by name, in the order of their file.

    Attributes
    ----------
    name, source : str
    models : mapping from name to PerformanceModel
    content : mapping
        The whole file, of which a model card has more.
    """

    name: str
    source: str
    models: Mapping[str, PerformanceModel]
    content: Mapping[str, Any] = field(default_factory=dict)

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
            (escape(name), statement_html(model), escape(model.kind), f'<div class="sk-text">{escape(model.source)}</div>')
            for name, model in self.models.items()
        ]
        return block(table(("name", "model", "kind", "source"), rows, self.name))


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
    file = path_of(path, "the models")
    try:
        if file.stat().st_size > _LARGEST_B:
            raise UsageError(f"the catalogue {file} is larger than {_LARGEST_B >> 20} MiB; split it.")
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read the catalogue {file}: {reason}.") from error
    return _catalogue(text, str(file))


def _catalogue(text: str, file: str) -> ModelCatalogue:
    read, lines = table_of(text, file, UsageError), lines_of(text)
    if errors := schema_errors(read, schema_in(_SCHEMA), lines, file):
        raise UsageError("\n".join(errors))
    source = read.get("source", "")
    models = {}
    for name, entry in read["models"].items():
        try:
            models[name] = _model(entry, name, source)
        except ValueError as error:
            raise UsageError(f"{file}, model '{name}': {error}") from error
    return ModelCatalogue(read.get("name", file), source, models, read)


def _model(entry: Mapping[str, Any], name: str, source: str) -> PerformanceModel:
    """Return the model of a table that the schema allows."""
    cited = ", ".join(part for part in (source, entry.get("source", "")) if part)
    parts: dict[str, Any] = {key: _model(entry[key], f"{name}, {key}", source) for key in _PARTS if key in entry}
    match entry.get("kind", "exact"):
        case "asymptotic":
            return AsymptoticModel(entry["growth"], entry.get("notation", "O"), name=name, source=cited)
        case "ranges":
            return _ranges(entry, name, cited)
        case "bounded":
            return BoundedModel(parts.get("lower"), parts.get("upper"), name, cited)
        case "dominant term":
            return Composite(((1.0, parts["known"]), (1.0, parts["rest"])), name, cited)
    limited = dict.fromkeys([*(name for key in _ENDS for name in entry.get(key, {})), *entry.get("cubes", ())])
    limits = {
        parameter: _range(
            {key: entry[key][parameter] for key in _ENDS if parameter in entry.get(key, {})},
            parameter,
            is_cube=parameter in entry.get("cubes", ()),
        )
        for parameter in limited
    }
    return ExactModel(entry["formula"], entry.get("constants", {}), limits, name, cited, entry.get("also", ()))


def _ranges(entry: Mapping[str, Any], name: str, source: str) -> RangeModel:
    parameter, pieces = entry.get("parameter", "S"), []
    for k, piece in enumerate(entry["pieces"], 1):
        model = ExactModel(piece["formula"], piece.get("constants", {}), name=f"{name}, piece {k}", source=source)
        pieces.append((_range({key: piece[key] for key in _ENDS if key in piece}, parameter), model))
    return RangeModel(parameter, pieces, name, source)


def _range(ends: Mapping[str, Any], parameter: str, *, is_cube: bool = False) -> Range:
    """Return the range between `ends`, some of ``above``, ``from`` and ``up_to``."""
    values = {key: float(values_in(end, parameter)) for key, end in ends.items()}
    low = values.get("above", values.get("from", 1.0 if is_cube and not ends else 0.0))
    return Range(low, values.get("up_to", math.inf), "above" in values, "cubes" if is_cube else "")
