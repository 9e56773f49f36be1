"""A store as one page that needs no server and no network: choose runs and operations, see curves together, read the advice."""

import json
import os
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from scalkit.errors import DataError, ReportError
from scalkit.plots.style import METRIC_WORDS, rounded
from scalkit.store import Store
from scalkit.store.advice.advise import advise_all
from scalkit.store.advice.answer import Advice
from scalkit.store.runs.columns import BASE_UNITS
from scalkit.store.views.curves import fixed_words
from scalkit.support.clocks import CLOCKS, TIMES
from scalkit.support.colours import CSS, SCRIPT
from scalkit.support.markup import block, counted, details, table

HERE = Path(__file__).resolve().parent
BUNDLE = HERE.parents[1] / "reports" / "vendor" / "plotly-cartesian.min.js"
_OF_SUITE = (
    *("run_id", "platform", "clock", "op", "metric", "unit"),
    *("x_name", "fixed", "datatype", "sync", "pattern", "started", "label"),
)
_POINTS = f"""
WITH one AS (SELECT *, CASE unit WHEN 'ns' THEN 1e-9 WHEN '[ppm]' THEN 1e-6 ELSE 1 END AS scale FROM points)
SELECT {", ".join(_OF_SUITE)}, x, p, "msg_By", oversubscribed AS crowded, med * scale AS med, q1 * scale AS q1, q3 * scale AS q3
FROM one JOIN (SELECT run_id, started, label FROM runs) USING (run_id) ORDER BY op, metric, platform, run_id, x
"""


def page(store: Store, title: str = "") -> str:
    """Return the page of a store.

    `title`: by default the name of the store.
    Returns: HTML with everything in it; texts of the store are escaped, and no script comes from them.
    """
    runs = store.runs()
    data = json.dumps({**_measurements(store), "metrics": METRIC_WORDS}, separators=(",", ":"), allow_nan=False)
    parts = {
        "title": escape(title or f"Results: {store.folder.name}"),
        "summary": escape(_summary(runs)),
        "runs": block(_runs_table(store)),
        "advice": block(*_advice(store)),
        "style": CSS + _source("site.css"),
        "data": data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"),
        "plotly": BUNDLE.read_text(encoding="utf-8").replace("</script", "<\\/script"),
        "script": SCRIPT + _source("axes.js") + _source("site.js"),
    }
    return "".join(parts[piece] if k % 2 else piece for k, piece in enumerate(_source("site.html").split("@@")))


def write_page(store: Store, path: str | os.PathLike[str], title: str = "") -> Path:
    """Write the page of a store into a file, and return its path.

    Raises ReportError if it cannot be written.
    """
    target = Path(path)
    try:
        target.write_text(page(store, title), encoding="utf-8")
    except OSError as error:
        raise ReportError(f"cannot write {str(target)!r}: {error.strerror or error}; name another place.") from error
    return target


def _measurements(store: Store) -> dict[str, Any]:
    """Return the suites of all runs, and their points by column: the place of each one's suite, and values in base units."""
    points = store.query(_POINTS)
    places, suites = pd.factorize(pd.MultiIndex.from_frame(points[[*_OF_SUITE]]))
    listed = [dict(zip(_OF_SUITE, map(str, suite), strict=True)) for suite in suites]
    for suite in listed:
        suite |= {"fixed": fixed_words(suite["fixed"]), "unit": BASE_UNITS.get(suite["unit"], suite["unit"])}
    columns = {name: points[name].tolist() for name in ("x", "p", "msg_By", "crowded")}
    values = {name: rounded(points[name].to_numpy()) for name in ("med", "q1", "q3")}
    return {"suites": listed, "points": {"suite": places.tolist(), **columns, **values}}


@cache
def _source(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _summary(runs: Any) -> str:
    counts = runs["clock"].value_counts()
    marked = "".join(f", {counts[clock]} of them {TIMES[clock]}" for clock in CLOCKS[1:] if clock in counts)
    platforms = counted(runs["platform"].nunique(), "platform")
    return f"{counted(len(runs), 'run')}{marked}, {platforms} (a machine with an MPI library)."


def _runs_table(store: Store) -> str:
    """Return a row for each run, which unfolds to its record: who measured, where, with what, and what was left out."""
    head = ["platform", "started", "suites", "repetitions", "site", "label", "licence", "run"]
    rows = []
    for row in store.query("SELECT * FROM runs ORDER BY started DESC, platform, run_id").itertuples():
        record = json.dumps(json.loads(row.record), indent=1, ensure_ascii=False)
        shown = [str(getattr(row, name)) for name in head[:-1]]
        rows.append([*map(escape, shown), details(row.run_id[:12], f"<pre>{escape(record)}</pre>")])
    return table(head, rows)


def _advice(store: Store) -> list[str]:
    """Return the advice on every operation that was measured beside a substitute."""
    pieces = [_advised(name, found) for name, found in advise_all(store).items()]
    return pieces or ["<p>No operation was measured beside a substitute.</p>"]


def _advised(operation: str, advice: Advice | DataError) -> str:
    if isinstance(advice, DataError):
        return f"<h3>{escape(operation)}</h3><p>{escape(str(advice))}</p>"
    return f"<h3>{escape(operation)}</h3>{advice.markup()}"
