"""Where the numbers come from: machine, library, programs, versions, and a hash of every input file."""

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from scalkit.reports.page import Page
from scalkit.reports.pieces import Section, big_o, details, hashes, lines, math, table, words_of
from scalkit.reports.writer.content import made_with
from scalkit.session.source import content_hash
from scalkit.validation.answer import SURE
from scalkit.validation.rules import TOLERANCE


def provenance(page: Page) -> Section:
    """Return tables of the measurement's and the report's circumstances and of the hashes of the inputs."""
    campaign = table("What campaign.toml holds.", ("entry", "value"), flattened(page.campaign))
    inputs = page.inputs
    short = [PurePath(file).name for file in inputs]
    files = short if len(set(short)) == len(short) else list(inputs)
    listing = table(f"{len(inputs)} input files.", ("file", "SHA-256"), hashes(zip(files, inputs.values(), strict=True)))
    return Section.sheet(
        table("Of the measurements and of this report.", ("what", "value"), lines(_facts(page).items())),
        details("Input files and their hashes", listing) if inputs else "",
        details("The campaign's own record", campaign) if page.campaign else "",
    )


def _facts(page: Page) -> dict[str, object]:
    attrs, campaign = page.data.attrs, dict(flattened(page.campaign))
    return {
        "measurements": ", ".join(page.named) if page.session is None else page.session.source,
        "session": "" if page.session is None else ", ".join(page.named),
        "measured": page.measured_at,
        "host": attrs.get("measured_on"),
        "system": campaign.get("machine / system"),
        "cores": campaign.get("machine / cores"),
        "MPI library": str(attrs.get("mpi_library", "") or "").strip(),
        "MPI standard": campaign.get("mpi / standard"),
        "compiled by": campaign.get("mpi / mpicc_show"),
        "seed": campaign.get("arguments / seed"),
        "hash of the benchmark's sources": campaign.get("sources / sha256"),
        "expectations": _expectations(page),
        "baseline": page.baseline_name,
        "judged by": _judged_by(page),
        "real times": _real_times(page),
        "hash of the measurements": page.data_hash,
        **made_with("numpy", "scipy", "xarray", "plotly", "papermill", "nbconvert"),
        "report written": page.made,
    }


def _expectations(page: Page) -> str:
    if page.judged_by_baseline:
        return "the growths of the baseline"
    return page.expectations_name or ("in the session" if page.session is not None else "stated in Python")


def _real_times(page: Page) -> str:
    data = page.real_times
    return "" if data is None else f"{page.real_times_name}, hash {content_hash(data)}"


def _judged_by(page: Page) -> str:
    words = [f"statistic {page.result.statistic}", f"at least {page.judging.min_points} settings"]
    words += [f"{name} {value}" for name, value in page.judging.changed.items() if name not in ("statistic", "min_points")]
    words += [f"fails on {', '.join(page.fail_on)}"] * bool(page.fail_on)
    if page.session is not None:
        words.append(f"{len(page.session.history)} steps in the session")
    return "; ".join(words)


def flattened(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested mappings as (path, text), in their order."""
    for key, value in content.items():
        label = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flattened(value, f"{label} / ")
        elif value not in (None, "", []):
            yield label, _text(value)


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_text(each) for each in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_STATISTICS = words_of("statistics")


def method(page: Page) -> Section:
    """Return the method in a few paragraphs, with the deviations and search spaces of this report."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for v in page.result.verdicts:
        which = ((f"{name}: " if len(v.along) > 1 else "", one.space) for name, one in v.along.items())
        ruler = "; ".join(f"{along}{space.name}, {len(space.ticks)} classes" for along, space in which)
        groups.setdefault((big_o(v.expectation.growth), math(v.expectation.deviation), ruler), []).append(v.function)
    known = {"sure": f"{100 * SURE:.0f}", "tolerance": f"{100 * TOLERANCE:.0f}", "groups": groups}
    return Section.rendered("method.html", page=page, statistic=_STATISTICS[page.result.statistic], **known)
