"""`Store`: the results of many runs, machines and sites, and what can be asked of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from scalkit.errors import DataError, StoreError
from scalkit.store.database import RUN_COLUMNS, SUITE_COLUMNS, Database, with_ids
from scalkit.store.filed.outcome import Filed, login, replaced_by
from scalkit.store.flags import flag
from scalkit.store.folder import StoreFolder
from scalkit.store.index import Snapshot, snapshot
from scalkit.store.records import FLAGS, Record, now
from scalkit.store.runs.content import encoded, trusted
from scalkit.store.runs.marks import MARKS, TOKENS
from scalkit.store.segments import drop_damaged
from scalkit.store.signing import Signers
from scalkit.store.statements import Statements
from scalkit.store.submissions.containers import Policy
from scalkit.support.arguments import each_of, path_of, require_kind, require_text
from scalkit.support.markup import counted

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import xarray as xr

    from scalkit.history import History
    from scalkit.store.advice.answer import Advice
    from scalkit.store.merge import Merged
    from scalkit.store.publication import Published
    from scalkit.store.views.comparison import Comparison

T = TypeVar("T")
_ALL = f"* EXCLUDE ({', '.join(MARKS)})"


class Store(Statements):
    """A folder of runs; `scalkit.store.open` returns it.

    Several processes may read and write the folder at once. A Store sees what others added at its next call.
    """

    def __init__(self, folder: StoreFolder, signers: object = None) -> None:
        require_kind(folder, StoreFolder, "the folder", "open it by scalkit.store.open(path)")
        self._folder = folder
        self._signers = Signers(signers)
        self._trusted: dict[str, bool] = {}
        self._snapshot: Snapshot | None = None
        self._database: Database | None = None
        self._chosen: tuple[tuple[str, ...], dict[str, Record]] = ((), {})

    def __repr__(self) -> str:
        mode = ", not made yet" if self._folder.is_new else ", read only" if self.readonly else ""
        return f"<scalkit Store {str(self._folder.shown)!r}, {counted(len(self), 'run')}{mode}>"

    def __len__(self) -> int:
        """Return the number of runs that are not retracted."""
        if self._folder.is_new:
            return 0
        return len(set(self._folder.run_ids()) - set(self._retracted_ids()))

    @property
    def path(self) -> Path:
        """The folder."""
        return self._folder.path

    @property
    def readonly(self) -> bool:
        """Whether nothing is written."""
        return self._folder.readonly

    @property
    def problems(self) -> tuple[str, ...]:
        """Files of the store that cannot be read, each a sentence; the others are used without them."""
        self._asked(lambda _: None)
        damaged = self._snapshot.damaged if self._snapshot is not None else {}
        return tuple(why for _, (_, why) in sorted(damaged.items()))

    # ---- filing ----

    def put(
        self,
        source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | xr.Dataset | xr.DataTree,
        *,
        machine: str | None = None,
        site: str | None = None,
        network: str | None = None,
        topology: str | None = None,
        user: str | None = None,
        contributor: str = "",
        licence: str = "",
        notes: str = "",
    ) -> Filed:
        """File measurements; each run becomes one file, or nothing is left of it.

        A run that is implausible, as one whose clock stood still, is flagged: no answer has it until it is restored.

        `source`: campaign folders, run files, files of other programs that `scalkit.read` knows, or what it returns.
        `machine`, `site`: names of the machine, by default its host name, and of the place. They belong to the run: under
        another machine the same measurements are another run.
        `network`, `topology`: what connects its nodes, and how, as ``"InfiniBand HDR"``, ``"fat tree"``; by default what was
        found where it was measured. Simulated and virtual machines have their own.
        `user`: who ran it; by default the login name.
        `contributor`, `licence`, `notes`: ORCID or name; SPDX name, as ``CC-BY-4.0``; free text.
        Raises DataError, RunFileError if there are no measurements, or they are malformed; nothing is filed then.
        Raises StoreError if the store is read-only, or the disk is full.
        Raises UsageError if a text is one that `validate` refuses, such as a machine with markup in its name.
        """
        from scalkit import __version__
        from scalkit.store.filed.dataset import runs_of
        from scalkit.store.submissions.record_checks import require_texts
        from scalkit.store.submissions.table_checks import table_flags

        self._folder.require_writable()
        measured: dict[str, Any] = {key: value for key, value in (("machine", machine), ("site", site)) if value is not None}
        connected = {key: value for key, value in (("network", network), ("topology", topology)) if value is not None}
        filing = {
            "user": login() if user is None else user,
            "contributor": contributor,
            "licence": licence,
            "notes": notes,
            "filed": now(),
            "tool_version": __version__,
        }
        require_texts(measured | connected, filing)
        runs = runs_of(source, measured | ({"machine_desc": connected} if connected else {}), filing)
        self._folder.prepare()
        there = set(self._folder.run_ids())
        flags = [
            flag(run.run_id, code, text)
            for run in runs
            if run.run_id not in there
            for code, text in table_flags(run.record, run.table)
        ]
        self._folder.add_records(FLAGS, flags)
        added: list[str] = []
        known: list[str] = []
        for run in runs:
            (added if self._folder.add(run.run_id, encoded(run)) else known).append(run.run_id)
        is_flagged = {entry["run_id"] for entry in flags}
        replaced = replaced_by(self, [run for run in runs if run.run_id in added and run.run_id not in is_flagged])
        flagged = tuple((entry["run_id"], entry["reason"]) for entry in flags)
        return Filed(tuple(added), tuple(known), replaced, flagged)

    def merge(self, other: str | os.PathLike[str], *, policy: Policy | None = None, retractions: bool = True) -> Merged:
        """Take over the runs and retractions of another store, a folder or a zip, that are valid and new.

        See `scalkit.store.merge.merge`.
        """
        from scalkit.store.merge import merge

        return merge(self, path_of(other, "the other store"), policy, retractions=retractions)

    # ---- asking ----

    def runs(self, *, retracted: bool = False, **filters: Any) -> pd.DataFrame:
        """Return the runs, newest first, a row each.

        `retracted`: also those that were retracted.
        `**filters`: a value, a list of values, or a text with ``*``, for any column: ``machine="juwels*"``. ``run`` takes
        ids of runs or their beginnings.
        """
        filters = self._with_ids(filters)

        def answer(database: Database) -> pd.DataFrame:
            where, values = database.conditions("runs", filters)
            columns = ", ".join(RUN_COLUMNS)
            return database.frame(f"SELECT {columns} FROM runs WHERE {where} ORDER BY started DESC, platform, run_id", values)

        return self._asked(answer, retracted)

    def suites(self, **filters: Any) -> pd.DataFrame:
        """Return the suites of runs: all measurements of one operation with one pattern, varied over one parameter.

        `**filters`: as in `runs`, for any attribute of runs, suites or measurements: ``op="MPI_Gather*", p=32, site="our
        lab"``.
        Returns: a row for each suite of each run: attributes, the number of points, and the range of the parameter.
        """
        filters = self._with_ids(filters)
        columns = ", ".join(f'any_value("{name}") AS "{name}"' for name in ("platform", *SUITE_COLUMNS))
        return self._asked(
            lambda database: _selected(
                database,
                f"run_id, suite, {columns}, count(*) AS points, min(x) AS x_min, max(x) AS x_max",
                filters,
                "GROUP BY run_id, suite ORDER BY platform, op, metric, fixed, run_id",
            )
        )

    def points(self, **filters: Any) -> pd.DataFrame:
        """Return measurements with their summaries, without the repetitions: what a plot needs, from the index."""
        filters = self._with_ids(filters)
        return self._asked(lambda database: _selected(database, _ALL, filters, "ORDER BY op, platform, run_id, x"))

    def arrays(self, columns: Sequence[str], filters: Mapping[str, Any], *, distinct: bool = False) -> dict[str, Any]:
        """Return some columns of measurements as numpy arrays, masked where values are missing; `distinct` ones once."""
        names = each_of(columns, str, "the columns", "give a list of names")
        listed = ", ".join(f'"{name}"' for name in names)

        filters = self._with_ids(filters)

        def answer(database: Database) -> dict[str, Any]:
            where, values = database.conditions("points", filters)
            return database.arrays(f"SELECT {'DISTINCT ' * bool(distinct)}{listed} FROM points WHERE {where}", values)

        return self._asked(answer)

    def marks(self) -> pd.DataFrame:
        """Return what copies are found by, a row for each measurement that has it, of retracted runs, too."""
        columns = f"run_id, raw_hash, {', '.join(MARKS)}, {TOKENS}, record"
        sql = f"SELECT {columns} FROM points JOIN runs USING (run_id) WHERE sketch IS NOT NULL"
        return self._asked(lambda database: database.frame(sql), retracted=True)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> pd.DataFrame:
        """Return the answer of DuckDB to a question about the views ``runs`` and ``points``.

        It reads the index of this store and no other file. ``?`` stands for a parameter.

        Raises UsageError if the question is wrong, or does more than ask.
        """
        require_text(sql, "the question")
        given = each_of(parameters, object, "the parameters", "give a list of values")
        return self._asked(lambda database: database.answer(sql, given))

    def table(self, run_id: str) -> pa.Table:
        """Return the measurements of a run with all repetitions; what follows from them is computed anew."""
        full = self.resolve(run_id)
        return trusted(self._folder.read_run(full), full)[1]

    def load(self, **filters: Any) -> xr.Dataset | xr.DataTree:
        """Return runs as all of scalkit takes them: a Dataset, or a tree of them where they cannot be one.

        `**filters`: as in `suites`.
        Returns: of run files the same as ``scalkit.read`` of their campaign. A tree has a node for each platform, parameter
        and message size.
        Raises DataError if nothing is left.
        """
        from scalkit.store.views.selection import selected_datasets

        found = selected_datasets(self.points(**filters), self._folder)
        if not found:
            raise DataError("nothing in the store fits what was asked for; 'scalkit store runs --suites' lists what is there.")
        if len(found) == 1:
            return next(iter(found.values()))
        import xarray as xr

        return xr.DataTree.from_dict({f"/{name}": ds for name, ds in found.items()})

    # ---- judging ----

    def compare(self, choices: Sequence[str | Mapping[str, Any]], **options: Any) -> Comparison:
        """Compare suites, also different ones on different machines; see `scalkit.store.views.comparison.compare`."""
        from scalkit.store.views.comparison import compare

        return compare(self, choices, **options)

    def history(self, by: str = "version", **options: Any) -> History:
        """Return what changed over versions of a library or over time; see `scalkit.store.views.over_time.over_time`."""
        from scalkit.store.views.over_time import over_time

        return over_time(self, by, **options)

    def advise(self, op: str, **options: Any) -> Advice:
        """Return which of an operation's substitutes is best, where and how surely; see `scalkit.store.advice.advise.advise`."""
        from scalkit.store.advice.advise import advise

        return advise(self, op, **options)

    def publish(self, path: str | os.PathLike[str], **options: Any) -> Published:
        """Write all of it as one zip that can be cited and opened; see `scalkit.store.publication.publish`."""
        from scalkit.store.publication import publish

        return publish(self, path, **options)

    # ---- within ----

    @property
    def folder(self) -> StoreFolder:
        """What lies on the disk."""
        return self._folder

    def _with_ids(self, filters: Mapping[str, Any]) -> dict[str, Any]:
        require_kind(filters, Mapping, "the filters", "give a mapping such as {'p': 32}")
        return with_ids(filters, self.resolve)

    def _retracted_ids(self) -> tuple[str, ...]:
        return tuple(sorted({entry["run_id"] for entry in self.retractions()}))

    def _refreshed(self) -> Database:
        """Return the database of what is there now."""
        current = snapshot(self._folder, self._snapshot)
        chosen = self._retracted_ids(), self.signed_filings()
        if self._database is None or current is not self._snapshot or chosen != self._chosen:
            self._snapshot, self._chosen = current, chosen
            self._database = Database(current, *chosen)
        return self._database

    def _asked(self, question: Callable[[Database], T], retracted: bool = False) -> T:
        """Return an answer; where another process replaced the index meanwhile, or it is damaged, ask again."""
        for _ in range(5):
            try:
                database = self._refreshed()
                if retracted and self._snapshot is not None:
                    database = Database(self._snapshot, (), self._chosen[1])
                return question(database)
            except FileNotFoundError:
                self._snapshot = None
                drop_damaged(self._folder.index)
        raise StoreError(
            f"the index of {str(self._folder.shown)!r} vanishes again and again; check what else changes "
            f"{str(self._folder.index)!r}, or delete it."
        )


def _selected(database: Database, what: str, filters: Mapping[str, Any], then: str) -> pd.DataFrame:
    where, values = database.conditions("points", filters)
    return database.frame(f"SELECT {what} FROM points WHERE {where} {then}", values)
