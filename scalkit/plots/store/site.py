"""A store as one page that needs no server and no network: choose platforms and suites, see them together, read the advice."""

import json
import os
import secrets
import shutil
import tarfile
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from scalkit.clocks import CLOCKS, TIMES, with_clock
from scalkit.colours import CSS, SCRIPT
from scalkit.errors import ReportError, StoreError
from scalkit.markup import block, bullets, counted, details, table
from scalkit.plots.store.suites import download
from scalkit.plots.style import METRIC_WORDS, rounded, safe
from scalkit.store import Store
from scalkit.store.advice.answer import Advice
from scalkit.store.advice.snippets import operations
from scalkit.store.publication import write_table
from scalkit.store.runs.columns import BASE_UNITS
from scalkit.store.views.explorer import fixed_words

HERE = Path(__file__).resolve().parent
BUNDLE = HERE.parents[1] / "reports" / "vendor" / "plotly-cartesian.min.js"
_KINDS = ("datatype", "sync", "pattern")
_KEY = ("platform", "clock", "virtual_clock", "op", "metric", "unit", "x_name", "fixed", *_KINDS)
_CURVES = f"""
WITH one AS (SELECT *, CASE unit WHEN 'ns' THEN 1e-9 WHEN '[ppm]' THEN 1e-6 ELSE 1 END AS scale FROM points)
SELECT {", ".join(_KEY)}, x, median(med * scale) AS mid, min(med * scale) AS low, max(med * scale) AS high,
    count(DISTINCT run_id) AS runs, bool_or(oversubscribed) AS crowded
FROM one GROUP BY {", ".join(_KEY)}, x ORDER BY {", ".join(_KEY)}, x
"""


def page(store: Store, title: str = "") -> str:
    """Return the page of a store.

    `title`: by default the name of the store.
    Returns: HTML with everything in it; texts of the store are escaped, and no script comes from them.
    """
    curves = _curves(store)
    content = {"curves": curves, "metrics": METRIC_WORDS, "begin": _begin(store, curves)}
    data = json.dumps(content, separators=(",", ":"), allow_nan=False)
    parts = {
        "style": CSS + source("site.css"),
        "data": data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"),
        "plotly": BUNDLE.read_text(encoding="utf-8").replace("</script", "<\\/script"),
        "script": SCRIPT + source("axes.js") + source("site.js"),
    }
    return filled("site.html", {**told(store, title), **parts})


def told(store: Store, title: str) -> dict[str, str]:
    """Return what every page of a store says: title, summary, the list of runs and advice; its texts are escaped."""
    runs = store.runs()
    return {
        "title": escape(title or f"Results: {store.folder.name}"),
        "summary": escape(_summary(runs)),
        "runs": block(_runs_table(runs)),
        "advice": block(*_advice(store)),
    }


def filled(name: str, parts: dict[str, str]) -> str:
    """Return a page with its parts in their places."""
    return "".join(parts[piece] if k % 2 else piece for k, piece in enumerate(source(name).split("@@")))


def write_page(store: Store, path: str | os.PathLike[str], title: str = "") -> Path:
    """Write the page of a store into a file, or as ``index.html`` into a folder, and return its path.

    Raises ReportError if it cannot be written.
    """
    target = Path(path)
    try:
        if target.suffix.lower() not in (".html", ".htm"):
            target.mkdir(parents=True, exist_ok=True)
            target /= "index.html"
        target.write_text(page(store, title), encoding="utf-8")
    except OSError as error:
        raise ReportError(f"cannot write {str(target)!r}: {error.strerror or error}; name another place.") from error
    return target


def pictures(store: Store, kind: str = "svg") -> dict[str, bytes]:
    """Return a picture for each operation that substitutes were measured of, on its first platform, by file name.

    They are of the largest number of processes that several message sizes were measured with, not more than cores where
    possible, or over the processes where there is one size.

    Raises ReportError if the program that draws is missing.
    """
    found: dict[str, bytes] = {}
    for operation, choices in _comparable(store):
        name = f"plots/{operation.removeprefix('MPI_').lower()}.{kind}"
        if name not in found:  # each takes seconds to draw
            found[name] = download(store.compare(choices), kind)
    return found


def _uncrowded(store: Store) -> Any:
    """Return the suites of times without those with more processes than cores, where a platform has others."""
    every, calm = store.suites(metric="time"), store.suites(metric="time", oversubscribed=False)
    return pd.concat([calm, every[~every["platform"].isin(calm["platform"])]], ignore_index=True)


def _comparable(store: Store) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return operations with the choices to compare: the operation and its substitutes in one suite of one platform."""
    suites = _uncrowded(store)
    found = []
    for operation in operations():
        names = [one.name for one in operation.substitutes]
        own = suites[suites["op"].isin(names)]
        for platform, of_platform in own.groupby("platform"):
            widest = of_platform.sort_values(["points", "fixed"], ascending=False).iloc[0]
            same = of_platform[(of_platform["x_name"] == widest["x_name"]) & (of_platform["fixed"] == widest["fixed"])]
            there = [name for name in names if (same["op"] == name).any()]
            shared = {key: str(widest[key]) for key in ("x_name", "fixed", "datatype", "sync")}
            if len(there) > 1:
                chosen = [{"platform": str(platform), "op": name, "metric": "time", **shared} for name in there]
                found.append((operation.name, chosen))
    return found


@cache
def source(name: str) -> str:
    """Return a file that lies here."""
    return (HERE / name).read_text(encoding="utf-8")


def _summary(runs: Any) -> str:
    counts = runs["clock"].value_counts()
    marked = "".join(f", {counts[clock]} of them {TIMES[clock]}" for clock in CLOCKS[1:] if clock in counts)
    platforms = counted(runs["platform"].nunique(), "platform")
    return f"{counted(len(runs), 'run')}{marked}, {platforms} (a machine with an MPI library)."


def _runs_table(runs: Any) -> str:
    head = ["platform", "started", "suites", "repetitions", "site", "label", "licence", "run"]
    rows = [
        [
            escape(with_clock(row.platform, row.clock)),
            *(escape(str(getattr(row, name))) for name in head[1:-1]),
            f"<code>{escape(row.run_id[:12])}</code>",
        ]
        for row in runs.itertuples()
    ]
    return table(head, rows)


def _curves(store: Store) -> list[dict[str, Any]]:
    """Return the curves with all points, ordered; names as plotly shows them letter by letter."""
    frame = store.query(_CURVES)
    several = [name for name in _KINDS if (frame.groupby(["platform", "op"])[name].nunique() > 1).any()]
    found = []
    for key, own in frame.groupby(list(_KEY), sort=False):
        named = dict(zip(_KEY, map(str, key), strict=True))
        named["fixed"] = fixed_words(named["fixed"])
        words = ", ".join(filter(None, (named["fixed"], *(named[name] for name in several))))
        place = with_clock(named["platform"], named["clock"])
        place = with_clock(named["platform"], named["clock"])
        found.append(
            {
                **named,
                "unit": BASE_UNITS.get(named["unit"], named["unit"]),
                "label": safe(", ".join(filter(None, (f"{named['op']} on {place}", words)))),
                "words": words,
                "x": [int(x) for x in own["x"]],
                "y": rounded(own["mid"].to_numpy()),
                "low": rounded(own["low"].to_numpy()),
                "high": rounded(own["high"].to_numpy()),
                "runs": int(own["runs"].max()),
                "crowded": bool(own["crowded"].any()),
            }
        )
    return found


def _begin(store: Store, curves: list[dict[str, Any]]) -> list[int]:
    """Return the curves to begin with: an operation and what replaces it, measured rather than simulated; else a time."""
    every = [choices for _, choices in _comparable(store)]
    wanted = [[_place(curves, choice) for choice in choices] for choices in every]
    wanted.sort(key=lambda places: CLOCKS.index(curves[places[0]]["clock"]))
    times = [place for place, one in enumerate(curves) if one["metric"] == "time"]
    return wanted[0] if wanted else times[:1] or [0][: len(curves)]


def _place(curves: list[dict[str, Any]], choice: dict[str, Any]) -> int:
    said = {**choice, "fixed": fixed_words(choice["fixed"])}
    return next(place for place, one in enumerate(curves) if all(one[key] == value for key, value in said.items()))


def _advice(store: Store) -> list[str]:
    """Return the advice on every operation that was measured beside a substitute."""
    there = set(store.suites(metric="time")["op"])
    pieces = []
    for operation in operations():
        names = {name for one in operation.substitutes for name in (one.name, *one.aliases)}
        if len(names & there) > 1:
            pieces.append(_advised(store.advise(operation.name)))
    return pieces or ["<p>No operation was measured beside a substitute.</p>"]


def _advised(advice: Advice) -> str:
    n = len(advice.settings)
    each = details(f"Setting by setting: {n}", bullets(advice.sentences[:n]))
    return f"<h3>{escape(advice.operation.name)}</h3>{bullets(advice.sentences[n:])}{each}{advice.code_html()}"


_FILES = HERE / "queried"
_LIBRARY = _FILES / "vendor/hyparquet-1.31.5.tgz"
_OF_SUITE = "p.run_id, p.platform, p.clock, p.virtual_clock, p.op, p.metric, p.x_name, p.datatype, p.sync, p.pattern"
_SUITES = f"""
SELECT {_OF_SUITE}, any_value(r.started) AS started, any_value(r.label) AS label, count(*) AS points
FROM points p JOIN runs r USING (run_id) GROUP BY {_OF_SUITE} ORDER BY {_OF_SUITE}
"""
_POINTS = """
SELECT op, metric, platform, run_id, clock, virtual_clock, unit, x_name, x, p, "msg_By", fixed, datatype, sync, pattern,
    med, q1, q3
FROM points ORDER BY op, metric, platform, run_id, x
"""


def write_site(store: Store, path: str | os.PathLike[str], title: str = "", **about: Any) -> Path:
    """Write a store as a new folder that any web server can serve, and return it; it is a store itself.

    `about`: what `Store.publish` takes.
    Raises StoreError if something is there, or it cannot be written; DataError, UsageError as `Store.publish` does.
    """
    target = Path(path).absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise StoreError(f"{str(path)!r} is not empty; name an empty or a new folder for the site.")
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        part.mkdir(parents=True)
        archive = store.publish(part / "store.zip", title=title, folder=target.name, **about).path
        shutil.unpack_archive(archive, part)
        archive.unlink()
        _write_page(store, part, title)
        points = store.query(_POINTS)
        points["fixed"] = points["fixed"].map({text: fixed_words(text) for text in points["fixed"].unique()})
        for name, frame in (("suites", store.query(_SUITES)), ("points", points)):
            write_table(frame, part / f"page/{name}.parquet")
        part.replace(target)
    except OSError as error:
        raise StoreError(f"cannot write the site {str(path)!r}: {error.strerror or error}; name another place.") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return target


def _write_page(store: Store, folder: Path, title: str) -> None:
    """Write the page and its scripts; the library that reads Parquet is unpacked as it was published."""
    page = folder / "page"
    with tarfile.open(_LIBRARY) as library:
        for member in library.getmembers():
            name = member.name.removeprefix("package/src/")
            if member.isfile() and (name == "package/LICENSE" or (name != member.name and name.endswith(".js"))):
                place = page / "hyparquet" / name.removeprefix("package/")
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(library.extractfile(member).read())  # type: ignore[union-attr]
    for script in (_FILES / "page.js", _FILES / "ranges.js", BUNDLE, BUNDLE.with_name("plotly-cartesian.LICENSE")):
        shutil.copyfile(script, page / script.name)
    (page / "colours.js").write_text(SCRIPT + source("axes.js"), encoding="utf-8")
    (page / "page.css").write_text(CSS + source("site.css") + source("queried/page.css"), encoding="utf-8")
    (folder / "index.html").write_text(filled("queried/index.html", told(store, title)), encoding="utf-8")
