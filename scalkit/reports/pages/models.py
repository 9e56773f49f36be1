"""The content of a report on performance models of collective operations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar

from scalkit.formats.read import read
from scalkit.perfmodels import PointToPoint
from scalkit.perfmodels.collectives.study import EXPECTED, Studied, study
from scalkit.perfmodels.files.sources import message_of
from scalkit.reports.inputs import plain_expectations
from scalkit.reports.pages.verdicts import Page, open_verdicts
from scalkit.support.bundled import bundled


@dataclass(frozen=True)
class ModelsPage(Page):
    """The verdicts on collective operations, and the model of a message. `functions`: only these; empty: all."""

    kind: ClassVar[str] = "models"

    message: PointToPoint = field(kw_only=True)
    functions: tuple[str, ...] = ()

    @cached_property
    def studied(self) -> tuple[Studied, ...]:
        """What models say of each operation."""
        return study(self.data, self.message, list(self.functions) or None)


def open_models(
    runs: Sequence[str] = (),
    expectations: str | Mapping[str, Any] = "",
    *,
    message: str = "",
    functions: Sequence[str] = (),
    parameter: Sequence[str] = ("p", "S"),
    **options: Any,
) -> ModelsPage:
    """Return the content of a report.

    `runs`: over processes and message sizes; by default the bundled simulation.
    `expectations`: by default the growth of the best known algorithm for each function.
    `message`: see `scalkit.perfmodels.files.sources.message_of`; by default that of the bundled simulation.
    `functions`: only these; all by default.
    `parameter`: names of the processes and the message size.
    `**options`: as for `scalkit.reports.pages.verdicts.open_verdicts`.
    """
    runs = runs or [str(bundled("data/models/simulated-juropa-trees.nc"))]
    message = message or str(bundled("data/models/simulated-juropa.toml"))
    if not expectations:
        data = read(list(runs), parameter=list(parameter))
        there = [str(name) for name in data["function"].values]
        expectations = plain_expectations({name: EXPECTED[name] for name in there if name in EXPECTED})
    page = open_verdicts(runs, expectations, parameter=list(parameter), **options)
    known = {one.name: getattr(page, one.name) for one in fields(Page)}
    return ModelsPage(**known, message=message_of(message), functions=tuple(functions))
