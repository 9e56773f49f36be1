"""Checks of one Parquet file of a submission: its footer before anything else of it is read."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from scalkit.store.runs.columns import arrow_schema, names
from scalkit.store.runs.content import KEY, RunContent, completed, content_id, encoded
from scalkit.store.runs.marks import TOKENS, marks_of, times_of, tokens_of
from scalkit.store.submissions.containers import RUN_FILE, Policy, RefusedError
from scalkit.store.submissions.record_checks import checked_record, record_problems
from scalkit.store.submissions.table_checks import table_flags, table_problems

Problem = tuple[str, str]

_ARROW = b"ARROW:schema"


@dataclass(frozen=True, eq=False)
class CheckedFile:
    """What was found: the run, if it could be read, what is wrong with it, what is implausible, and its marks."""

    run: RunContent | None
    problems: tuple[Problem, ...]
    flags: tuple[Problem, ...] = ()
    marks: dict[str, list[Any]] = field(default_factory=dict)


def checked_file(content: bytes, name: str, policy: Policy) -> CheckedFile:
    """Return what is in a file and what is wrong with it.

    `name`: of the file, without its folder.
    Raises RefusedError if so much is wrong that it cannot be read.
    """
    metadata = _footer(content, name)
    _require_modest(metadata, policy)
    texts = dict(metadata.metadata or {})
    if _ARROW in texts:
        raise RefusedError("extension-type", "the file carries Arrow's schema, which may name types that run code; leave it out.")
    if set(texts) != {KEY}:
        raise RefusedError("record-missing", "the file has no record of a run, or other metadata beside it.")
    record = checked_record(texts[KEY], policy)
    _require_columns(metadata)
    table = _read(content, name)
    problems = [*record_problems(record, policy), *table_problems(record, table, policy)]
    run = RunContent(content_id(record["measured"], table), {key: record[key] for key in ("measured", "filing")}, table)
    problems += _name_problems(name, record, run)
    if problems:
        return CheckedFile(run, tuple(problems))
    marks = {**marks_of(table), TOKENS: tokens_of(times_of(table))}
    return CheckedFile(run, (), tuple(table_flags(record, table)), marks)


def _footer(content: bytes, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(pa.BufferReader(content))
    except (pa.ArrowException, OSError, MemoryError) as error:
        text = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise RefusedError("not-parquet", f"{name} cannot be read as Parquet: {text}.") from error


def _require_modest(metadata: Any, policy: Policy) -> None:
    if metadata.num_columns > policy.max_columns:
        raise RefusedError(
            "too-many-columns", f"there are {metadata.num_columns} columns; at most {policy.max_columns} are allowed."
        )
    if metadata.num_rows > policy.max_rows:
        raise RefusedError("too-many-rows", f"there are {metadata.num_rows} rows; at most {policy.max_rows} are allowed.")
    if metadata.num_row_groups > policy.max_row_groups:
        raise RefusedError("too-many-row-groups", f"there are more than {policy.max_row_groups} row groups.")
    for column in range(metadata.num_columns):
        values = sum(metadata.row_group(group).column(column).num_values for group in range(metadata.num_row_groups))
        if values > policy.max_values:
            raise RefusedError("too-many-values", f"a column has {values} values; at most {policy.max_values} are allowed.")


@functools.cache
def _expected() -> dict[str, tuple[str, str, int, int]]:
    """Return path and type of every column as this version writes it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    empty = RunContent("0" * 32, {"measured": {}, "filing": {}}, arrow_schema().empty_table())
    return _types(pq.read_metadata(pa.BufferReader(encoded(empty))))


def _types(metadata: Any) -> dict[str, tuple[str, str, int, int]]:
    schema = metadata.schema
    columns = [schema.column(place) for place in range(metadata.num_columns)]
    return {
        column.path: (column.physical_type, str(column.logical_type), column.max_definition_level, column.max_repetition_level)
        for column in columns
    }


def _require_columns(metadata: Any) -> None:
    given, expected = _types(metadata), _expected()
    if len(given) != metadata.num_columns:
        raise RefusedError("column-twice", "a column stands there twice.")
    for path, kind in expected.items():
        name = path.partition(".")[0]
        if path not in given:
            raise RefusedError("column-missing", f"the column {name!r} is missing.")
        if path in given and given[path] != kind:
            raise RefusedError("column-type", f"the column {name!r} is {_shown(given[path])}; {_shown(kind)} is needed.")
    for path in given:
        if path not in expected:
            raise RefusedError("column-unknown", f"the column {path.encode('unicode_escape').decode()[:60]!r} is unknown.")


def _shown(kind: tuple[str, str, int, int]) -> str:
    physical, logical, defined, repeated = kind
    words = [physical.lower(), *([logical.lower()] if logical != "None" else [])]
    return " ".join([*words, *(["nullable"] if defined else []), *(["repeated"] if repeated else [])])


def _read(content: bytes, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(1)
    try:
        table = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True).read(use_threads=False)
        table.validate(full=True)
        for column in names("ints"):
            if column in table.column_names and table[column].combine_chunks().flatten().null_count:
                raise RefusedError("null-value", f"{column} has a value that is missing.")
        return completed(table)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, RefusedError):
            raise
        if isinstance(error, pa.ArrowMemoryError):
            raise MemoryError from error
        text = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise RefusedError("not-parquet", f"{name} cannot be read as Parquet: {text}.") from error


def _name_problems(name: str, record: dict[str, Any], run: RunContent) -> Iterator[Problem]:
    if record["run_id"] != run.run_id:
        yield "id-mismatch", f"the record says run {record['run_id']}, its content is run {run.run_id}."
    elif RUN_FILE.fullmatch(name) and name != f"{run.run_id}.parquet":
        yield "id-mismatch", f"the file is named {name}, its content is run {run.run_id}."
