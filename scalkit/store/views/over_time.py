"""What changed on one machine over the versions of a library, or over time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from scalkit.errors import DataError, ScalkitError, UsageError
from scalkit.history import History, history
from scalkit.store.views.selection import grouped_datasets

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from scalkit.store.store import Store

BY = ("version", "day", "campaign")
"""What one step of a history may be."""


def over_time(store: Store, by: str = "version", *, tolerance: float = 0.1, **filters: Any) -> History:
    """Return when operations changed, of the runs of one machine and library.

    `by`, {"version", "day", "campaign"}: runs that share it are taken together; versions in their order, the others by time.
    `tolerance`: as in `scalkit.history.history`.
    `**filters`: as in `Store.suites`.
    Raises DataError if the runs are of several machines or libraries, or nothing can be compared; UsageError if `by` is
    unknown.
    """
    if by not in BY:
        raise UsageError(f"a history is by {', '.join(BY)}, not by {by!r:.40}.")
    rows = store.points(**filters)
    if not len(rows):
        raise DataError("nothing in the store fits what was asked for; 'scalkit store runs --suites' lists what is there.")
    runs = store.runs(run=[str(one) for one in rows["run_id"].unique()]).set_index("run_id")
    for column, what in (("machine", "machines"), ("mpi_impl", "libraries"), ("clock", "clocks")):
        _require_one(runs[column], what, column)
    # Of one machine, library and clock, platforms differ in the version of the library and in the numbers of a virtual machine.
    without_version = [row.platform.removesuffix(f" {row.mpi_version}") for row in runs.itertuples()]
    _require_one(without_version, "virtual clocks", "platform", "*")
    column = {"version": "mpi_version", "day": "started", "campaign": "campaign"}[by]
    labels = {str(run_id): _day(str(run_id), str(text)) if by == "day" else str(text) for run_id, text in runs[column].items()}
    found = grouped_datasets(rows.assign(platform=rows["run_id"].map(labels)), store.folder)
    order = list(dict.fromkeys(labels[run_id] for run_id in _ordered(runs, by)))
    return _joined(found, order, by, tolerance)


def _require_one(values: Iterable[str], what: str, column: str, more: str = "") -> None:
    names = sorted(set(values))
    if len(names) > 1:
        raise DataError(
            f"the runs are of several {what}, {', '.join(map(repr, names))}; a history is of one: choose it, as with --where "
            f"{column}='{names[0]}{more}'."
        )


def _day(run_id: str, started: str) -> str:
    """Return the day in UTC on which a run began. Raises DataError if the run does not say it."""
    try:
        moment = dt.datetime.fromisoformat(started)
    except ValueError:
        raise DataError(
            f"the run {run_id[:12]} does not say when it began ({started!r:.40}); choose others, as with --where "
            "'started=2026*', or a history by version or campaign."
        ) from None
    return (moment.astimezone(dt.UTC) if moment.tzinfo else moment).date().isoformat()


def _ordered(runs: pd.DataFrame, by: str) -> list[str]:
    """Return the runs by version, with numbers as numbers, or by time."""

    def place(run_id: str) -> tuple[Any, ...]:
        version = _place(str(runs["mpi_version"][run_id])) if by == "version" else ()
        return version, str(runs["started"][run_id])

    return sorted(map(str, runs.index), key=place)


def _place(version: str) -> tuple[Version, str]:
    """Return the sort key of a version: candidates come before their release; what is no version comes first."""
    try:
        return Version(version), ""
    except InvalidVersion:
        return Version("0.dev0"), version


def _joined(found: dict[tuple[str, str, str], xr.Dataset], order: list[str], by: str, tolerance: float) -> History:
    """Return one history of all parameters and message sizes; where there are several, the functions say theirs."""
    kinds = list(dict.fromkeys(key[1:] for key in found))
    tracks, left_out, labels = [], {}, set()
    for parameter, fixed in kinds:
        commits = [(label, found[label, parameter, fixed]) for label in order if (label, parameter, fixed) in found]
        more = f" [{fixed or parameter}]" if len(kinds) > 1 else ""
        try:
            one = history(commits, tolerance=tolerance, step=by)
        except ScalkitError as error:
            left_out[f"everything{more}" if more else "everything"] = str(error).removesuffix(".")
            continue
        labels |= set(one.labels)
        tracks += [track.called(f"{track.function}{more}") for track in one.tracks]
        left_out |= {f"{name}{more}": why for name, why in one.left_out.items()}
    if not tracks:
        raise DataError(f"there is no history: {'; '.join(f'{name}: {why}' for name, why in left_out.items())}.")
    return History(tuple(label for label in order if label in labels), tuple(tracks), left_out, by)
