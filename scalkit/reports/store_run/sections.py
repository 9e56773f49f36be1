"""The sections of a report about one run of a store; each takes a `RunPage` and returns what a notebook cell shows."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from scalkit import __version__
from scalkit.clocks import TIMES, with_clock
from scalkit.markup import counted
from scalkit.plots.store.suites import quartiles
from scalkit.plots.style import METRIC_WORDS, quantity
from scalkit.reports.pieces import Section, details, figure, hashes, lines, name, notes, soft, steps, table
from scalkit.reports.sections.provenance import flattened
from scalkit.reports.store_run.page import Card, RunPage, Suite
from scalkit.text import as_percent

_ENDINGS = {"converged": "error small enough", "capped": "most repetitions", "budget": "time used up", "ok": "", "open": ""}
_OVER = {"p": "processes", "msg_By": "message size"}


def headline(page: RunPage) -> Section:
    """Return the top of the page: which run, whose, where and when."""
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
    return Section.top("Result data base: one run", page, facts.items())


def caveats(page: RunPage) -> Section:
    """Return what limits the meaning of the measurements."""
    found = page.caveats
    return Section.of(notes(found) if found else soft("Nothing is known that limits their meaning."))


def circumstances(page: RunPage) -> Section:
    """Return who measured, when, on which machine, with what."""
    return Section.sheet(table("Of this run.", ("what", "value"), lines(_facts(page))))


_NAMED = {"begun": "started", "last launch begun": "ended", "MPI library": "mpi_library", "MPI standard": "mpi_standard"}
_NAMED |= {"compiler": "compiler", "compiled by": "flags"}


def _facts(page: RunPage) -> Iterator[tuple[str, str]]:
    measured, filing = page.measured, page.filing
    yield from ((key, filing[key]) for key in ("user", "contributor", "licence", "notes"))
    yield "site", measured["site"]
    yield "machine", with_clock(str(measured["machine"]), measured["clock"])
    yield from ((key.replace("_", " "), _plain(value)) for key, value in measured["machine_desc"].items())
    yield from (("operating system", measured["os"]), ("kernel", measured["kernel"]))
    yield ("nodes", f"{measured['nodes']}, {measured['processes_per_node']} processes each at most" * bool(measured["nodes"]))
    yield from ((label, measured[key]) for label, key in _NAMED.items())
    yield "clock", measured["clock"]
    yield "timer", "; ".join(f"{key.replace('_', ' ')} {_plain(value)}" for key, value in measured["timer"].items())
    yield "synchronised by", measured["sync"]
    yield ("a time is", {"max": "that of the slowest process", "root": "that of root"}.get(measured["rank_reduction"], ""))
    yield from ((f"simulation, {label}", text) for label, text in flattened(measured["simulation"]))


def switches(page: RunPage) -> Section:
    """Return the global switches of the campaign, and those of each launch."""
    measured = page.measured
    rows = list(flattened(measured["switches"])) or [("seed", str(measured["seed"] or "unknown"))]
    launches = [
        (
            one["program"],
            one["p"],
            one.get("started", ""),
            "yes" if one.get("complete", True) else "no",
            " ".join(map(str, one.get("switches", []))),
        )
        for one in measured["launches"]
    ]
    environment = table("Variables of the processes.", ("variable", "value"), measured["environment"].items())
    head = ("program", "p", "begun", "complete", "switches")
    return Section.sheet(
        table("Switches of the campaign.", ("switch", "value"), rows),
        details(f"Launches: {len(launches)}", table("A row for each launch.", head, launches, numeric=(1,))),
        details("Environment", environment) if measured["environment"] else "",
    )


def overview(page: RunPage) -> Section:
    """Return a table of the suites, each with a link to its card."""
    head = ("operation", "pattern", "over", "fixed", "points", "repetitions", "median")
    rows = [_overview_row(suite, number) for number, card in enumerate(page.cards) for suite in card.suites]
    caption = "A suite is one operation in one pattern, varied over one parameter; medians from the least to the largest."
    return Section.sheet(table(caption, head, rows, numeric=(4,)))


def _overview_row(suite: Suite, card: int) -> tuple[object, ...]:
    median = suite.values("med")
    metric = "" if suite["metric"] == "time" else f", {METRIC_WORDS.get(suite['metric'], suite['metric'])}"
    return (
        Markup('<a href="#suite-{}">{}</a>{}').format(card, name(suite["op"]), metric),
        suite["pattern"],
        _span(suite),
        suite.fixed,
        str(len(suite.rows)),
        _range([row["n"] for row in suite.rows]),
        _between(float(median.min()), float(median.max()), suite.unit),
    )


def suite_cards(page: RunPage) -> Section:
    """Return a card for each operation: its suites in one plot, with quartiles, and every measurement in numbers."""
    section = Section(())
    for number, card in enumerate(page.cards):
        section += _card(page, card, number)
    return section


def _card(page: RunPage, card: Card, number: int) -> Section:
    first = card.suites[0]
    how = [first["pattern"], METRIC_WORDS.get(first["metric"], first["metric"]), _rules(first)]
    how += [f"data type {first['datatype']}"] * bool(first["datatype"])
    how += [f"synchronised by {first['sync']}"] * bool(first["sync"]) + [first["definition"]]
    clock = page.measured["clock"]
    is_known = any(not math.isnan(value) for suite in card.suites for value in suite.root)
    said = f"Medians; bars from the first to the third quartile; dots: the least{'; dotted: root alone' * is_known}."
    return Section.of(
        Markup('<article class="sheet card" id="suite-{}"><header><h3>{}</h3></header>').format(number, name(card.title)),
        soft("; ".join(filter(None, how))),
        *figure(quartiles([suite.drawn(clock) for suite in card.suites]), said),
        *(_data(suite) for suite in card.suites),
        "</article>",
    )


def _rules(suite: Suite) -> str:
    """Return by which rules it was measured, as far as they are known."""
    least, most = suite["rep_min"], suite["rep_max"]
    said = f"{least} to {most} repetitions" if least and most else f"at most {most} repetitions" if most else ""
    allowed = suite["allowed_stderr"]
    said += f"{' ' if said else ''}until the error is {allowed:.2g}" if allowed else ""
    return said + (", refined where it bends" if suite["auto_refined"] else "")


def _data(suite: Suite) -> Markup:
    head = [_OVER.get(suite["x_name"], suite["x_name"]), *"kept least q1 median q3 largest".split(), "mean between quartiles"]
    columns = ("min", "q1", "med", "q3", "max", "cut_mean")
    values = [suite.values(column) for column in columns]
    root, spans = suite.root, suite.processes
    with_root = not all(math.isnan(one) for one in root)
    with_spans = not all(math.isnan(low) for low, _ in spans)
    with_error = any(row["stderr"] is not None for row in suite.rows)
    head += (
        ["error of the mean"] * with_error + ["root's median"] * with_root + ["processes' medians"] * with_spans + ["ended by"]
    )
    rows = []
    for k, row in enumerate(suite.rows):
        cells = [_size(row["x"], suite), f"{row['n_kept']} of {row['n']}"]
        cells += [quantity(float(column[k]), suite.unit) for column in values]
        cells += [as_percent(row["stderr"], ".2g") if row["stderr"] is not None else "-"] * with_error
        cells += [quantity(float(root[k]), suite.unit)] * with_root
        cells += [_between(*spans[k], suite.unit)] * with_spans
        rows.append((*cells, _ENDINGS.get(row["status"], row["status"])))
    numeric = tuple(range(len(head) - 1))
    title = f"Data{f', {suite.fixed}' if suite.fixed else ''}"
    return details(title, table("Every measurement of the suite.", head, rows, numeric=numeric))


def _size(x: int, suite: Suite) -> str:
    return f"{x} B" if suite["x_name"] == "msg_By" else str(x)


def _span(suite: Suite) -> str:
    low, high = suite.rows[0]["x"], suite.rows[-1]["x"]
    word = _OVER.get(suite["x_name"], str(suite["x_name"]))
    return f"{word} {_size(low, suite)}" if low == high else f"{word} {_size(low, suite)} to {_size(high, suite)}"


def _range(numbers: list[int]) -> str:
    return str(min(numbers)) if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"


def _between(low: float, high: float, unit: str) -> str:
    if math.isnan(low):
        return "-"
    return quantity(low, unit) if low == high else f"{quantity(low, unit)} to {quantity(high, unit)}"


def method(page: RunPage) -> Section:
    """Return how a measurement comes about."""
    said = (
        "A measurement is the repetitions at one point. All of them are kept, in the order in which they were made.",
        "Repetitions that began late or outlasted their window are left out of quartiles and means, unless fewer than 5 remain.",
        "Quartiles are interpolated linearly. The median stands for a time, the least value for bytes.",
        "The mean between the quartiles leaves out the repetitions below the first and above the third, as SKaMPI does.",
        "This is one run. Whether another operation or machine is better, only several runs tell: scalkit store compare, advise.",
    )
    return Section.of(steps(said))


def provenance(page: RunPage) -> Section:
    """Return where the numbers come from, and how to get all of them."""
    facts: Mapping[str, Any] = {
        "store": page.store,
        "run": page.run_id,
        "campaign": page.measured["campaign"],
        "schema": page.record.get("schema_version", ""),
        "filed": page.filing["filed"],
        "filed with": f"{page.filing['tool']} {page.filing['tool_version']}".strip(),
        "hash of the benchmark's sources": page.measured["harness_sha"],
        "scalkit": __version__,
        "report written": page.made,
        "all repetitions": f"scalkit store load {page.store} --where run_id={page.run_id} --out run.nc",
    }
    files = hashes(page.measured["inputs"].items())
    listing = table(f"{counted(len(files), 'file')} that the run was made of.", ("file", "SHA-256"), files)
    return Section.sheet(
        table("The id of the run is a hash of what was measured.", ("what", "value"), lines(facts.items())),
        details("Files and their hashes", listing) if files else "",
    )


def _plain(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
