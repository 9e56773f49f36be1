"""What the explorer of waits says in sentences, and what stands in its place where no widget runs."""

import json
from collections.abc import Mapping, Sequence

from scalkit.plots.traces.matrix import shown_amount
from scalkit.support.markup import block, details, esc, paragraph, table
from scalkit.support.text import as_percent
from scalkit.trace.results.summary import TITLES, WAITS, summary
from scalkit.trace.views.explorer import Browsing
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.trace_explorer.tree import change


def heading(browsing: Browsing) -> dict[str, str]:
    """Return what is explored, as markup by name."""
    problems = [text for ds in browsing.results for text in json.loads(ds.attrs.get("problems", "[]"))]
    return drawn("trace.html", part="head", lines=_lines(browsing), problems=problems)


def _lines(browsing: Browsing) -> list[str]:
    """Return what each result is, in a line."""
    lines = [_about(browsing, k) for k in range(len(browsing.results))]
    return [f"{name}: {line}" for name, line in zip(browsing.names, lines, strict=True)] if browsing.names else lines


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
        of = f", {as_percent(amounts[0] / whole, '.1f')} of {browsing.find(node.whole).title}" if whole else ""
        said = shown_amount(amounts[0], node.unit) + of
    what = f"{node.title} in {', '.join(where)}{more}{at}: "
    return drawn("trace.html", part="chosen", what=what, amounts=said, per=per)


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
    pieces = [paragraph(line) for line in _lines(browsing)]
    if browsing.names:
        pieces.append(table(["wait", *browsing.names, "difference"], _both(browsing)))
        if browsing.is_per_location:
            pieces.append(paragraph("Means of a process, as the results have different numbers of them."))
    for k, ds in enumerate(browsing.results):
        of = f", {browsing.names[k]}" if browsing.names else ""
        told = summary(ds)
        waits = [
            [esc(_title(name)), esc(shown_amount(told["totals"][name], "ns")), _share(told["totals"][name], told["totals"])]
            for name in WAITS
            if told["totals"].get(name)
        ]
        where = [
            [esc(row["path"]), esc(_title(row["metric"])), esc(shown_amount(row["ns"], "ns")), str(row["most_at"])]
            for row in told["where"]
        ]
        by = [
            [str(row["location"]), esc(row["path"]), esc(_title(row["metric"])), esc(shown_amount(row["ns"], "ns"))]
            for row in told["causes"]
        ]
        if not waits:
            pieces.append(paragraph(f"Nobody waited for anybody{of}."))
            continue
        if not browsing.names:
            pieces.append(table(["wait", "time", "of all time"], waits))
        pieces += [
            details(f"Longest waits{of}", table(["in", "wait", "time", "most at process"], where)),
            details(f"Who caused it{of}", table(["process", "was in", "wait of others", "time"], by) if by else ""),
        ]
    return block(*pieces)


def _both(browsing: Browsing) -> list[list[str]]:
    """Return the rows of what two results waited, with the difference."""
    rows = []
    for node in browsing.metrics:
        first, second = browsing.total(node.name).tolist()
        if node.is_wait and len(node.members) == 1 and (first or second):
            texts = (shown_amount(first, "ns"), shown_amount(second, "ns"), change(first, second, "ns"))
            rows.append([esc(node.title), *map(esc, texts)])
    return rows


def _title(metric: str) -> str:
    return TITLES.get(metric, metric)


def _share(part: int, totals: Mapping[str, int]) -> str:
    return as_percent(part / totals["time"], ".1f") if totals.get("time") else ""
