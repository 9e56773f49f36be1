"""All functions in a table: what was expected, what was found, the verdict; one of them is selected."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scalkit.plots.style import METRIC_WORDS
from scalkit.validation import Verdict
from scalkit.widgets.part import Action, Part
from scalkit.widgets.wording import Judged, esc, formula, mark

__all__ = ["ModelTable"]

_WIDTH, _HEIGHT, _PAD = 84, 26, 3


class ModelTable(Part):
    """One row for each function and metric, with a small picture of its values; a press on its name selects it.

    Parameters
    ----------
    session : Session
    **traits
        Values of the traits.
    """

    shown = frozenset({"selected", "result", "expectation"})

    def _drawn(self) -> dict[str, str]:
        session = self.session
        heads = "".join(
            f'<th scope="col">{text}</th>' for text in ("Function", "Metric", "Values", "Expected", "Model", "Verdict")
        )
        rows = "".join(self._row(k, name) for k, name in enumerate(session.names))
        return {
            "head": f"<h3>Functions ({len(session.names)})</h3>",
            "table": f'<div class="scroll" tabindex="0" role="region" aria-label="Functions"><table><thead><tr>{heads}</tr>'
            f"</thead><tbody>{rows}</tbody></table></div>",
        }

    def _row(self, k: int, name: tuple[str, str]) -> str:
        session, (function, metric) = self.session, name
        verdict = session.verdict_of(name)
        current = ' aria-current="true"' if name == session.selected else ""
        head = (
            f'<th scope="row"><button type="button" data-press="select" data-value="{k}" data-key="row{k}" '
            f'title="Show {esc(function)}"><code>{esc(function)}</code></button></th>'
            f"<td>{esc(METRIC_WORDS.get(metric, metric))}</td>"
        )
        if verdict is None:
            return f'<tr{current}>{head}<td colspan="4" class="quiet">{esc(session.problem_of(name))}</td></tr>'
        return (
            f"<tr{current}>{head}<td>{_spark(verdict)}</td><td>{formula(verdict.expectation.growth)}</td>"
            f"<td>{formula(verdict.model)}</td><td>{mark(verdict)}</td></tr>"
        )

    def _actions(self) -> dict[str, Action]:
        return {"select": self._select}

    def _select(self, values: Mapping[str, str]) -> None:
        names, k = self.session.names, values.get("key", "")
        if k.isdecimal() and int(k) < len(names):
            self.session.select(*names[int(k)])


def _spark(verdict: Judged) -> str:
    """Return values and model as a small picture, both axes logarithmic; nothing where they are not positive."""
    if not isinstance(verdict, Verdict):
        return ""
    x, y = np.asarray(verdict.series.x, dtype=float), np.asarray(verdict.series.y, dtype=float)
    model = np.asarray(verdict.model(x), dtype=float)
    every = np.concatenate([x, y, model])
    if not np.all(np.isfinite(every)) or float(every.min()) <= 0:
        return ""
    across = _spread(np.log2(x), _WIDTH)
    both = _HEIGHT - _spread(np.log2(np.concatenate([y, model])), _HEIGHT)
    measured, line = both[: len(y)], both[len(y) :]
    path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(across, line, strict=True))
    points = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2"/>' for a, b in zip(across, measured, strict=True))
    return f'<svg class="spark" width="{_WIDTH}" height="{_HEIGHT}" aria-hidden="true"><path d="{path}"/>{points}</svg>'


def _spread(values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the values spread over a length; those that hardly differ lie near its middle."""
    low, high = float(values.min()), float(values.max())
    extent = max(high - low, 0.5)
    return _PAD + ((values - (low + high) / 2) / extent + 0.5) * (size - 2 * _PAD)
