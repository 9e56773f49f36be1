"""What the explorer of waits says in sentences, and what stands in its place where no widget runs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from scalkit.markup import block, bullets, details, paragraph, table
from scalkit.plots.trace_matrix_figure import shown_amount
from scalkit.trace.browsing import Browsing
from scalkit.trace.summary import TITLES, summary
from scalkit.widgets.trace_explorer_tree import change
from scalkit.widgets.wording import esc

__all__ = ["chosen_sentence", "fallback", "heading"]


def heading(browsing: Browsing) -> dict[str, str]:
    """Return what is explored, as markup by name."""
    lines = [_about(browsing, k) for k in range(len(browsing.results))]
    if browsing.names:
        lines = [f"{name}: {line}" for name, line in zip(browsing.names, lines, strict=True)]
    problems = [text for ds in browsing.results for text in json.loads(ds.attrs.get("problems", "[]"))]
    left = f"<details data-key='left'><summary>{len(problems)} left out</summary>{bullets(problems)}</details>"
    return {"head": "".join(f"<p><b>{esc(line)}</b></p>" for line in lines) + (left if problems else "")}


def _about(browsing: Browsing, k: int) -> str:
    ds = browsing.results[k]
    locations, paths = int(ds.sizes["location"]), int(ds.sizes["path"])
    time = int(ds["severity"].sel(metric="time").sum()) if "time" in ds["metric"].values else 0
    what = "simulated, " if ds.attrs.get("simulated") else ""
    counts = f"{locations} process{'' if locations == 1 else 'es'}, {paths} call path{'' if paths == 1 else 's'}"
    return f"{what}{counts}, {shown_amount(time, 'ns')} of all processes together"


def chosen_sentence(browsing: Browsing) -> dict[str, str]:
    """Return what is chosen and how much it is, as markup by name."""
    node = browsing.node
    where = [_path(browsing, path) for path in browsing.paths[:3]]
    more = f" and {len(browsing.paths) - 3} more" if len(browsing.paths) > 3 else ""
    at = f" at {_places(browsing.locations)}" if browsing.locations else " at all processes"
    amounts = []
    for k in range(len(browsing.results)):
        values = browsing.by_location(k)
        if k == browsing.shown and browsing.locations:
            values = values[list(browsing.locations)]
        amounts.append(float(values.mean() if browsing.is_per_location else values.sum()))
    per = ", mean of a process" if browsing.is_per_location else ""
    if browsing.names:
        both = zip(browsing.names, amounts, strict=True)
        said = "; ".join(f"{name}: {shown_amount(one, node.unit)}" for name, one in both)
        said += f"; difference {change(amounts[0], amounts[1], node.unit)}"
    else:
        whole = float(browsing.total(node.whole)[0])
        of = f", {100 * amounts[0] / whole:.1f} % of {browsing.find(node.whole).title}" if whole else ""
        said = shown_amount(amounts[0], node.unit) + of
    text = f"{node.title} in {', '.join(where)}{more}{at}: "
    return {"said": f'<p class="chosen">{esc(text)}<b>{esc(said)}</b>{esc(per)}</p>'}


def _path(browsing: Browsing, path: int) -> str:
    region, tree = browsing.tree.labels[path][0], browsing.tree
    if not tree.children[path]:
        return region
    return f"{region} itself" if path in tree.open else f"{region} and below"


def _places(locations: Sequence[int]) -> str:
    few = ", ".join(map(str, locations[:6]))
    more = f" and {len(locations) - 6} others" if len(locations) > 6 else ""
    return f"process{'' if len(locations) == 1 else 'es'} {few}{more}"


def fallback(browsing: Browsing) -> str:
    """Return the waits of all results as tables, without a script."""
    pieces = []
    for k, ds in enumerate(browsing.results):
        told = summary(ds)
        time = told["totals"].get("time", 0)
        waits = [
            [esc(title), esc(shown_amount(told["totals"][name], "ns")), _share(told["totals"][name], time)]
            for name, title in TITLES.items()
            if told["totals"].get(name)
        ]
        where = [
            [esc(row["path"]), esc(TITLES[row["metric"]]), esc(shown_amount(row["ns"], "ns")), str(row["most_at"])]
            for row in told["where"]
        ]
        by = [
            [str(row["location"]), esc(row["path"]), esc(TITLES[row["metric"]]), esc(shown_amount(row["ns"], "ns"))]
            for row in told["causes"]
        ]
        pieces += [
            paragraph(_about(browsing, k)),
            table(["wait", "time", "of all time"], waits) if waits else paragraph("Nobody waited for anybody."),
            details("Longest waits", table(["in", "wait", "time", "most at process"], where) if where else ""),
            details("Who caused it", table(["process", "was in", "wait of others", "time"], by) if by else ""),
        ]
    return block(*pieces)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""
