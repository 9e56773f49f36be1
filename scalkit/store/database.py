"""DuckDB in memory over the index of a store: it reads that index and nothing else."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.errors import UsageError
from scalkit.store.index import FILED, Snapshot
from scalkit.store.runs.columns import names
from scalkit.store.segments import POINTS, RUNS

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import pyarrow as pa

RUN_COLUMNS = (
    *("run_id", "platform", "machine", "site", "mpi_impl", "mpi_version", "started", "campaign", "label", "clock"),
    *("nodes", "processes_per_node", "suites", "measurements", "repetitions", "complete"),
    *("network", "topology", "user", "contributor", "licence", "notes", "filed"),
)
"""What is shown of a run, and can be chosen by."""

SUITE_COLUMNS = (
    *("op", "variant", "pattern", "metric", "unit", "x_name", "x_unit", "axis", "x_step", "fixed", "datatype", "sync"),
    *("role", "statistic", "auto_refined", "allowed_stderr", "cut", "rep_min", "rep_max"),
)
"""What is shown of a suite."""

_NUMBERS = frozenset((*names("int64"), *names("double"), "nodes", "suites", "measurements", "repetitions"))
_TRUTHS = frozenset((*names("bool"), "complete"))


class Database:
    """Two views, ``runs`` and ``points``, of the runs of a snapshot that are not retracted.

    `hidden`: ids of runs to leave out.
    `filings`: who filed runs, by their ids, where that is another than their files say.
    Raises FileNotFoundError, as every question does, if a file of the index is gone or damaged.
    """

    def __init__(self, snapshot: Snapshot, hidden: Sequence[str], filings: Mapping[str, Mapping[str, str]]) -> None:
        self._folders = [one.path for one in snapshot.segments]
        self._connection = _closed_connection(self._folders)
        self._columns: dict[str, list[str]] = {}
        gone = [(one.path, one.gone(snapshot.there)) for one in snapshot.segments]
        for view, file, fresh in (("runs", RUNS, snapshot.runs), ("points", POINTS, snapshot.points)):
            self._connection.register(f"fresh_{view}", fresh)
            parts = [f"SELECT * FROM fresh_{view}"] if len(fresh) or not gone else []
            if whole := [path / file for path, ids in gone if not ids]:
                parts.append(f"SELECT * FROM {_files(whole)}")
            parts += [f"SELECT * FROM {_files([path / file])}{_without(ids)}" for path, ids in gone if ids]
            union = " UNION ALL BY NAME ".join(parts)
            if view == "runs" and filings:
                self._connection.register("filings", _filings(filings))
                filed = ", ".join(f"coalesce(filings.{name}, found.{name}) AS {name}" for name in FILED)
                union = f"SELECT found.* REPLACE ({filed}) FROM ({union}) found LEFT JOIN filings USING (run_id)"
            self._executed(f"CREATE VIEW {view} AS SELECT * FROM ({union}){_without(hidden)}")
            self._columns[view] = list(fresh.schema.names)

    def conditions(self, view: str, filters: Mapping[str, Any]) -> tuple[str, list[Any]]:
        """Return an SQL condition on the rows of a view, and its parameters.

        `view`, {"runs", "points"}.
        `filters`: a value, several, or a text with ``*`` for each column; None is no filter. Measurements can also be chosen
        by the columns of their runs. Raises UsageError if a column is unknown, or a value has no place in a filter.
        """
        own = RUN_COLUMNS if view == "runs" else self._columns[view]
        parts, parameters = ["TRUE"], []
        for name, wanted in filters.items():
            if name not in own and name not in RUN_COLUMNS:
                known = dict.fromkeys(("run", *own, *RUN_COLUMNS))
                near = difflib.get_close_matches(name, known, 1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}."
                raise UsageError(f"there is no {name!r} to choose by{hint}")
            if wanted is not None:
                test, values = _condition(name, wanted)
                parts.append(test if name in own else f"run_id IN (SELECT run_id FROM runs WHERE {test})")
                parameters += values
        return " AND ".join(parts), parameters

    def answer(self, sql: str, parameters: Sequence[Any] = ()) -> pd.DataFrame:
        """Return the answer to a question of a user's: one, and nothing that would change the views.

        Raises UsageError if it is something else, or DuckDB refuses it.
        """
        import duckdb

        try:
            kinds = [one.type for one in self._connection.extract_statements(sql)]
        except duckdb.Error:
            kinds = [duckdb.StatementType.SELECT]  # the answer says what is wrong
        if kinds != [duckdb.StatementType.SELECT]:
            raise UsageError(f"the question {sql[:80]!r} cannot be answered: one SELECT is needed.")
        return self.frame(sql, parameters)

    def frame(self, sql: str, parameters: Sequence[Any] = ()) -> pd.DataFrame:
        """Return the answer to a question in SQL. Raises UsageError if DuckDB refuses it."""
        return self._executed(sql, parameters, lambda answer: answer.df())

    def arrays(self, sql: str, parameters: Sequence[Any] = ()) -> dict[str, Any]:
        """Return the answer as numpy arrays, masked where values are missing."""
        found: dict[str, Any] = self._executed(sql, parameters, lambda answer: dict(answer.fetchnumpy()))
        return found

    def _executed(self, sql: str, parameters: Sequence[Any] = (), taken: Callable[[Any], Any] = lambda answer: answer) -> Any:
        import duckdb

        try:
            return taken(self._connection.execute(sql, list(parameters)))
        except duckdb.Error as error:
            if isinstance(error, duckdb.IOException) or any(str(folder) in str(error) for folder in self._folders):
                raise FileNotFoundError(str(error)) from error
            raise UsageError(f"the question {sql[:80]!r} cannot be answered: {str(error).splitlines()[0]}") from error


def with_ids(filters: Mapping[str, Any], resolve: Callable[[str], str]) -> dict[str, Any]:
    """Return filters with whole ids of the runs that ``run`` names by their beginnings."""
    found = dict(filters)
    named = found.pop("run", None)
    if named is not None:
        whole = [resolve(str(one)) for one in _several(named)]
        before = found.get("run_id")
        if before is not None:
            whole = [one for one in whole if any(fnmatchcase(one, str(other)) for other in _several(before))]
        found["run_id"] = whole
    return found


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | set | frozenset) else [value]


def _filings(filings: Mapping[str, Mapping[str, str]]) -> pa.Table:
    import pyarrow as pa

    rows = [{"run_id": run_id, **{name: one[name] for name in FILED}} for run_id, one in filings.items()]
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in ("run_id", *FILED)]))


def _without(run_ids: Iterable[str]) -> str:
    listed = ", ".join(f"'{run_id}'" for run_id in sorted(run_ids))  # 32 hexadecimal digits each
    return f" WHERE run_id NOT IN ({listed})" if listed else ""


def _files(paths: Iterable[Path]) -> str:
    """Return what reads files in SQL; a folder such as ``user=me`` on the way to them is no column."""
    return f"read_parquet([{', '.join(map(_quoted, paths))}], hive_partitioning = false)"


def _quoted(path: Path | str) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _closed_connection(folders: Sequence[Path]) -> duckdb.DuckDBPyConnection:
    """Return a connection that reads files of the index only, loads no extension and keeps it so."""
    import duckdb

    connection = duckdb.connect(":memory:")
    allowed = ", ".join(_quoted(f"{folder}/") for folder in folders)
    for setting in (
        "python_enable_replacements = false",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        f"allowed_directories = [{allowed}]",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def _condition(name: str, wanted: Any) -> tuple[str, list[Any]]:
    """Return an SQL condition on a column, and its parameters; a value, several, or a text with ``*``."""
    values = _several(wanted)
    if not all(isinstance(value, str | int | float) for value in values):
        raise UsageError(f"{name} is {wanted!r:.60}; a text, a number, or a list of them is needed.")
    tests, parameters = [], []
    for value in (_fitting(name, value) for value in values):
        is_glob = isinstance(value, str) and "*" in value
        tests.append(f'"{name}" GLOB ?' if is_glob else f'"{name}" = ?')
        parameters.append(value.replace("[", "[[]") if isinstance(value, str) and is_glob else value)
    return f"({' OR '.join(tests) or 'FALSE'})", parameters


def _fitting(name: str, value: str | float) -> str | float:
    """Return a value as its column has it: 2021 is a text where texts are."""
    if name in _NUMBERS or name in _TRUTHS:
        kind = "a number" if name in _NUMBERS else "true or false"
        if isinstance(value, str):
            raise UsageError(f"{name} is {value!r:.60}; {kind} is needed.")
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)
