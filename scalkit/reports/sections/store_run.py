"""The sections of a report about one run of a store."""

import math
from collections.abc import Iterator
from typing import Any

from scalkit.plots.store.suites import quartiles
from scalkit.plots.style import METRIC_WORDS, quantity
from scalkit.reports.content import made_with
from scalkit.reports.pages.store_run import Card, RunPage, Suite
from scalkit.reports.pieces import flattened, words_of
from scalkit.support.clocks import TIMES, with_clock
from scalkit.support.text import as_percent


def headline(page: RunPage) -> dict[str, Any]:
    """Return which run it is, whose, where and when."""
    measured, filing = page.measured, page.filing
    facts = {
        "machine": measured["machine"],
        "library": f"{measured['mpi_impl']} {measured['mpi_version']}".strip(),
        "user": filing["user"],
        "site": measured["site"],
        "begun": str(measured["started"]).replace("T", " ").removesuffix("Z"),
        "licence": filing["licence"],
        "run": page.run_id[:12],
        "report": page.made,
        "": "" if measured["clock"] == "real" else f"{TIMES[measured['clock']]}, not measured",
    }
    return {"facts": facts.items()}


def caveats(page: RunPage) -> dict[str, Any]:
    """Return what limits the meaning of the measurements."""
    return {"caveats": page.caveats}


def circumstances(page: RunPage) -> dict[str, Any]:
    """Return who measured, when, on which machine, with what."""
    return {"facts": list(_facts(page))}


def _facts(page: RunPage) -> Iterator[tuple[str, object]]:
    measured, filing = page.measured, page.filing
    yield from ((key, filing[key]) for key in ("user", "contributor", "licence", "notes"))
    yield "site", measured["site"]
    yield "machine", with_clock(str(measured["machine"]), measured["clock"])
    yield from ((key.replace("_", " "), _plain(value)) for key, value in measured["machine_desc"].items())
    yield from (("operating system", measured["os"]), ("kernel", measured["kernel"]))
    if measured["nodes"]:
        yield "nodes", f"{measured['nodes']}, {measured['processes_per_node']} processes each at most"
    yield from ((label, measured[key]) for label, key in words_of("run_facts").items())
    yield "timer", "; ".join(f"{key.replace('_', ' ')} {_plain(value)}" for key, value in measured["timer"].items())
    yield "synchronised by", measured["sync"]
    yield "a time is", {"max": "that of the slowest process", "root": "that of root"}.get(measured["rank_reduction"])
    yield from ((f"simulation, {label}", text) for label, text in flattened(measured["simulation"]))


def switches(page: RunPage) -> dict[str, Any]:
    """Return the global switches of the campaign, and those of each launch."""
    measured = page.measured
    rows = list(flattened(measured["switches"])) or [("seed", str(measured["seed"] or "unknown"))]
    launches = [
        (one["program"], one["p"], one.get("started", ""), _plain(one.get("complete", True)), _joined(one.get("switches", [])))
        for one in measured["launches"]
    ]
    return {"rows": rows, "launches": launches, "environment": measured["environment"].items()}


def overview(page: RunPage) -> dict[str, Any]:
    """Return a row for each suite, with the number of its card."""
    rows = [(number, suite, _overview_row(suite)) for number, card in enumerate(page.cards) for suite in card.suites]
    return {"rows": rows, "metrics": METRIC_WORDS}


def _overview_row(suite: Suite) -> tuple[str, ...]:
    median, repetitions = suite.values("med"), [row["n"] for row in suite.rows]
    ends = (suite.rows[0]["x"], suite.rows[-1]["x"])
    word = words_of("over").get(suite["x_name"], str(suite["x_name"]))
    return (
        suite["pattern"],
        f"{word} {_span(*(_size(x, suite) for x in ends))}",
        suite.fixed,
        str(len(suite.rows)),
        _span(str(min(repetitions)), str(max(repetitions))),
        _between(float(median.min()), float(median.max()), suite.unit),
    )


def cards(page: RunPage) -> dict[str, Any]:
    """Return a card for each operation: its suites in one plot, with quartiles, and every measurement in numbers."""
    return {"cards": [_card(page, card) for card in page.cards]}


def _card(page: RunPage, card: Card) -> dict[str, Any]:
    first, clock = card.suites[0], page.measured["clock"]
    how = [first["pattern"], METRIC_WORDS.get(first["metric"], first["metric"]), _rules(first)]
    how += [f"data type {first['datatype']}"] * bool(first["datatype"])
    how += [f"synchronised by {first['sync']}"] * bool(first["sync"]) + [first["definition"]]
    return {
        "title": card.title,
        "how": "; ".join(filter(None, how)),
        "figure": quartiles([suite.drawn(clock) for suite in card.suites]),
        "has_root": any(not math.isnan(value) for suite in card.suites for value in suite.root),
        "tables": [(suite.fixed, *_data(suite)) for suite in card.suites],
    }


def _rules(suite: Suite) -> str:
    """Return by which rules it was measured, as far as they are known."""
    least, most, allowed = suite["rep_min"], suite["rep_max"], suite["allowed_stderr"]
    words = [f"{least} to {most} repetitions" if least else f"at most {most} repetitions"] if most else []
    words += [f"until the error is {allowed:.2g}"] if allowed else []
    return " ".join(words) + (", refined where it bends" if suite["auto_refined"] else "")


def _data(suite: Suite) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return head and rows of the table of a suite; a column in which nothing is known is left out."""
    columns: dict[str, list[str]] = {
        words_of("over").get(suite["x_name"], suite["x_name"]): [_size(row["x"], suite) for row in suite.rows],
        "kept": [f"{row['n_kept']} of {row['n']}" for row in suite.rows],
    }
    for key, word in words_of("summaries").items():
        columns[word] = [quantity(float(value), suite.unit) for value in suite.values(key)]
    errors = [row["stderr"] for row in suite.rows]
    columns["error of the mean"] = ["-" if error is None else as_percent(error, ".2g") for error in errors]
    columns["root's median"] = [_between(value, value, suite.unit) for value in suite.root]
    columns["processes' medians"] = [_between(low, high, suite.unit) for low, high in suite.processes]
    columns["ended by"] = [str(words_of("endings").get(row["status"], row["status"])) for row in suite.rows]
    known = {head: cells for head, cells in columns.items() if set(cells) != {"-"}}
    return list(known), list(zip(*known.values(), strict=True))


def _size(x: int, suite: Suite) -> str:
    return f"{x} B" if suite["x_name"] == "msg_By" else str(x)


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _between(low: float, high: float, unit: str) -> str:
    return "-" if math.isnan(low) else _span(quantity(low, unit), quantity(high, unit))


def method(page: RunPage) -> dict[str, Any]:
    """Return nothing: the text is the same for all runs."""
    return {}


def provenance(page: RunPage) -> dict[str, Any]:
    """Return where the numbers come from, and how to get all of them."""
    facts = {
        "store": page.store,
        "run": page.run_id,
        "campaign": page.measured["campaign"],
        "schema": page.record.get("schema_version", ""),
        "filed": page.filing["filed"],
        "filed with": f"{page.filing['tool']} {page.filing['tool_version']}".strip(),
        "hash of the benchmark's sources": page.measured["harness_sha"],
        **made_with("numpy", "pyarrow", "plotly"),
        "report written": page.made,
        "all repetitions": f"scalkit store load {page.store} --where run_id={page.run_id} --out run.nc",
    }
    return {"facts": facts.items(), "files": page.measured["inputs"]}


def _plain(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _joined(words: Any) -> str:
    return " ".join(map(str, words))
