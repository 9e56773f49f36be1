"""Where the numbers come from, and how a verdict comes about."""

from pathlib import PurePath
from typing import Any

from scalkit.judge.answer import SURE
from scalkit.judge.rules import TOLERANCE
from scalkit.reports.content import made_with
from scalkit.reports.pages.verdicts import Page
from scalkit.reports.pieces import big_o, flattened, math, words_of
from scalkit.session.source import content_hash


def provenance(page: Page) -> dict[str, Any]:
    """Return the circumstances of the measurements and of the report, and the hashes of the inputs."""
    names = [PurePath(file).name for file in page.inputs]
    inputs = dict(zip(names, page.inputs.values(), strict=True)) if len(set(names)) == len(names) else page.inputs
    known = {
        "page": page,
        "judged_by": _judged_by(page),
        "hash": content_hash(page.data),
        "versions": made_with("numpy", "scipy", "xarray", "plotly", "papermill"),
        "inputs": inputs,
        "campaign": list(flattened(page.campaign)),
    }
    return {"known": known}


def _judged_by(page: Page) -> str:
    changed = {**page.judging.changed, "statistic": page.result.statistic, "min_points": page.judging.min_points}
    words = [f"{name.replace('_', ' ')} {value}" for name, value in changed.items()]
    words += [f"fails on {', '.join(page.fail_on)}"] * bool(page.fail_on)
    if page.session is not None:
        words.append(f"{len(page.session.history)} steps in the session")
    return "; ".join(words)


def method(page: Page) -> dict[str, Any]:
    """Return the deviations and search spaces of this report, and the numbers that the method names."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for v in page.result.verdicts:
        which = ((f"{name}: " if len(v.along) > 1 else "", one.space) for name, one in v.along.items())
        ruler = "; ".join(f"{along}{space.name}, {len(space.ticks)} classes" for along, space in which)
        groups.setdefault((big_o(v.expectation.growth), math(v.expectation.deviation), ruler), []).append(v.function)
    statistic = words_of("statistics")[page.result.statistic]
    return {"sure": 100 * SURE, "tolerance": 100 * TOLERANCE, "groups": groups, "statistic": statistic}
