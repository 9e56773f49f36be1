"""What the explorer of waits says in sentences, and what stands in its place where no widget runs."""

import json
from collections.abc import Mapping, Sequence

from scalkit.plots.traces.matrix import shown_amount
from scalkit.support.markup import block, details, esc, paragraph, table
from scalkit.support.text import as_percent
from scalkit.trace.results.summary import TITLES, WAITS, summary
from scalkit.trace.views.explorer import Browsing
from scalkit.widgets.base.templates import drawn


def heading(browsing: Browsing) -> dict[str, str]:
    """Return what is explored, as markup by name."""
    problems = json.loads(browsing.result.attrs.get("problems", "[]"))
    return drawn("trace.html", part="head", line=_about(browsing), problems=problems)


def _about(browsing: Browsing) -> str:
    """Return a description of the result in one line."""
    ds = browsing.result
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
    values = browsing.by_location()
    amount = float(values[list(browsing.locations)].sum() if browsing.locations else values.sum())
    whole = browsing.total(node.whole)
    of = f", {as_percent(amount / whole, '.1f')} of {browsing.find(node.whole).title}" if whole else ""
    what = f"{node.title} in {', '.join(where)}{more}{at}: "
    return drawn("trace.html", part="chosen", what=what, amounts=shown_amount(amount, node.unit) + of)


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
    """Return the waits of the result as tables, without a script."""
    told = summary(browsing.result)
    waits = [
        [esc(_title(name)), esc(shown_amount(told["totals"][name], "ns")), _share(told["totals"][name], told["totals"])]
        for name in WAITS
        if told["totals"].get(name)
    ]
    if not waits:
        return block(paragraph(_about(browsing)), paragraph("Nobody waited for anybody."))
    where = [
        [esc(row["path"]), esc(_title(row["metric"])), esc(shown_amount(row["ns"], "ns")), str(row["most_at"])]
        for row in told["where"]
    ]
    by = [
        [str(row["location"]), esc(row["path"]), esc(_title(row["metric"])), esc(shown_amount(row["ns"], "ns"))]
        for row in told["causes"]
    ]
    return block(
        paragraph(_about(browsing)),
        table(["wait", "time", "of all time"], waits),
        details("Longest waits", table(["in", "wait", "time", "most at process"], where)),
        details("Who caused it", table(["process", "was in", "wait of others", "time"], by) if by else ""),
    )


def _title(metric: str) -> str:
    return TITLES.get(metric, metric)


def _share(part: int, totals: Mapping[str, int]) -> str:
    return as_percent(part / totals["time"], ".1f") if totals.get("time") else ""
