"""A run as a record and a table; its id is a hash of what was measured, whatever wrote it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.errors import DataError
from scalkit.store.runs.columns import COLUMNS, SCHEMA_VERSION, arrow_schema, names
from scalkit.store.runs.summaries import recomputed
from scalkit.support.clocks import CLOCKS, with_clock
from scalkit.support.schema_errors import schema_in

if TYPE_CHECKING:
    import pyarrow as pa

_SCHEMA = Path(__file__).parents[1] / "submissions" / "record.schema.json"
_PARTS = ("measured", "filing")
_NOTHING: dict[str, Any] = {"string": "", "integer": 0, "boolean": False, "object": {}, "array": []}

_LIBRARIES = (
    ("Open MPI", r"Open MPI v?([\w.+-]+)"),
    ("Intel MPI", r"Intel\(R\) MPI Library ([\w.+-]+)"),
    ("MVAPICH", r"MVAPICH\d?\S* Version\s*:?\s*([\w.+-]+)"),
    ("Cray MPICH", r"CRAY MPICH version ([\w.+-]+)"),
    ("MPICH", r"MPICH Version:?\s*([\w.+-]+)"),
    ("SimGrid SMPI", r"SMPI Version ([\w.+-]+)"),
)

LIBRARY_TEXTS = {"Intel MPI": "Intel(R) MPI Library", "Cray MPICH": "CRAY MPICH", "SimGrid SMPI": "SMPI Version"}
"""What a library writes of itself that has another name here."""


def new_record(measured: Mapping[str, Any], filing: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with every field, without its schema version and its id."""
    return {part: {**_unknown(part), **said} for part, said in zip(_PARTS, (measured, filing), strict=True)}


def _unknown(part: str) -> dict[str, Any]:
    """Return what a record says where nothing is known: the default in its schema, or the empty value of the type there."""
    known = schema_in(_SCHEMA)["properties"][part]["properties"]
    return {name: one["default"] if "default" in one else _NOTHING[one["type"]] for name, one in known.items()}


def canonical(value: object) -> str:
    """Return a value as JSON text that is always the same: keys sorted, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def library_of(text: str) -> tuple[str, str]:
    """Return name and version of an MPI library from what it says of itself; empty if unknown.

    >>> library_of("Open MPI v5.0.11, package: ...")
    ('Open MPI', '5.0.11')
    """
    for name, pattern in _LIBRARIES:
        found = re.search(pattern, text[:2000])
        if found:
            return name, found[1].rstrip(",.")
    return "", ""


def platform_of(measured: Mapping[str, Any]) -> str:
    """Return the platform of a program in words: the machine and its MPI library.

    Machines of different clocks have different names: the name states if times are computed, and
    contains the numbers of a virtual machine.
    """
    library = f"{measured.get('mpi_impl', '')} {measured.get('mpi_version', '')}".strip()
    machine, virtual = str(measured.get("machine") or "unknown machine"), virtual_clock(measured)
    machine = machine if virtual in machine else f"{machine}, {virtual}"
    machine = with_clock(machine, str(measured["clock"]))
    return f"{machine}, {library}" if library else machine


def virtual_clock(measured: Mapping[str, Any]) -> str:
    """Return what distinguishes the virtual clock of a run from others; empty of other clocks."""
    if measured["clock"] != "virtual":
        return ""
    from scalkit.measure.virtual_time import clock_of

    return clock_of(measured["simulation"]["virtual"])


KEY = b"scalkit"
"""The record's place in the metadata of a file."""

SEAL = "sha256"
"""The place of the record's own hash in it."""


@dataclass(frozen=True, eq=False)
class RunContent:
    """A run: its record, its measurements, and the id that follows from both.

    `run_id`: 32 hexadecimal digits. `record`: ``measured`` and ``filing``.
    `table`: a row for each measurement, with the columns of the schema.
    """

    run_id: str
    record: Mapping[str, Any]
    table: pa.Table

    @classmethod
    def of(cls, measured: Mapping[str, Any], filing: Mapping[str, Any], table: pa.Table) -> RunContent:
        """Return the run.

        `table`: has the columns of the schema.
        Raises ValueError if `measured` does not say what clock its times are of.
        """
        problem = clock_problem(measured)
        if problem:
            raise ValueError(f"the run {problem}")
        record = new_record(measured, filing)
        return cls(content_id(record["measured"], table), record, table)


def content_id(measured: Mapping[str, Any], table: pa.Table) -> str:
    """Return 128 bits of SHA-256 over what was measured: not over derived columns, nor over columns without a value.

    So a file that is written again, by another version of pyarrow or with columns of a newer schema, keeps its name.
    """
    digest = hashlib.sha256(canonical(measured).encode())
    for column in COLUMNS:
        if column.derived or column.name not in table.column_names:
            continue
        array = table[column.name].combine_chunks()
        if array.null_count == len(array):
            continue
        digest.update(f"\0{column.name}\0{column.kind}\0{len(array)}\0".encode())
        for part in _bytes(array, column.kind):
            digest.update(part)
    return digest.hexdigest()[:32]


def _bytes(array: Any, kind: str) -> list[bytes]:
    """Return a column as bytes: which rows have a value, how long each is, and the values."""
    valid = np.asarray(array.is_valid().to_numpy(zero_copy_only=False), dtype=np.uint8).tobytes()
    if kind == "string":
        texts = [text.encode() for text in array.drop_null().to_pylist()]
        lengths = np.array([len(text) for text in texts], dtype="<i8").tobytes()
        return [valid, lengths, b"".join(texts)]
    if kind == "ints":
        some = array.drop_null()
        if some.flatten().null_count:
            raise ValueError("a repetition without a value")
        lengths = np.asarray(some.value_lengths().to_numpy(zero_copy_only=False), dtype="<i8").tobytes()
        return [valid, lengths, np.asarray(some.flatten().to_numpy(zero_copy_only=False), dtype="<i8").tobytes()]
    kinds = {"int64": "<i8", "double": "<f8", "bool": "<u1"}
    return [valid, np.asarray(array.drop_null().to_numpy(zero_copy_only=False), dtype=kinds[kind]).tobytes()]


def encoded(run: RunContent) -> bytes:
    """Return a run as the bytes of its Parquet file: whole numbers split by bytes, texts as dictionaries, zstd, checksums."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    record = sealed({"schema_version": SCHEMA_VERSION, "run_id": run.run_id, **run.record})
    lists = [f"{name}.list.element" for name in names("ints")]
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        arrow_schema(),
        compression="zstd",
        compression_level=3,
        use_dictionary=names("string"),
        column_encoding=dict.fromkeys(lists, "BYTE_STREAM_SPLIT"),
        write_statistics=False,
        write_page_checksum=True,
        store_schema=False,
    ) as writer:
        writer.write_table(run.table.cast(arrow_schema()))
        writer.add_key_value_metadata({KEY: canonical(record).encode()})
    return bytes(sink.getvalue())


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with its hash: the id is no hash of who filed it, and a flipped bit would change that unseen."""
    bare = {key: value for key, value in record.items() if key != SEAL}
    return {**bare, SEAL: hashlib.sha256(canonical(bare).encode()).hexdigest()[:32]}


def record_of(metadata: Mapping[bytes, bytes] | None, name: str) -> dict[str, Any]:
    """Return the record in the metadata of a file. Raises DataError if there is none, or it is of another schema."""
    try:
        record = json.loads((metadata or {})[KEY])
        version = int(record["schema_version"])
        record["measured"].get("clock"), record["filing"], record["run_id"]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{name} has no record of a run; it is no file of a store. Delete it.") from error
    if version != SCHEMA_VERSION:
        raise DataError(f"{name} has schema {version}, and this scalkit reads {SCHEMA_VERSION}; {way_on(version)}")
    lacking = [field for part in _PARTS for field in _unknown(part) if field not in record[part]]
    if lacking:
        raise DataError(f"{name} has a record without {', '.join(lacking)}; file its measurements again.")
    problem = clock_problem(record["measured"])
    if problem:
        raise DataError(f"{name} {problem}; file its measurements again.")
    if not is_intact(record):
        raise DataError(
            f"{name} has a record that does not fit its hash: it was changed or damaged; restore it from another copy."
        )
    return dict(record)


def clock_problem(measured: Mapping[str, Any]) -> str:
    """Return what is wrong with what a record says of its clock; empty if nothing is."""
    clock, simulation = measured.get("clock"), measured.get("simulation") or {}
    if clock not in CLOCKS:
        return "does not say whether its times are of a real, a virtual or a simulated clock"
    virtual = simulation.get("virtual") if isinstance(simulation, Mapping) else None
    has_virtual = isinstance(virtual, Mapping) and bool(virtual)
    if has_virtual != (clock == "virtual"):
        lacks = "has" if has_virtual else "lacks"
        return f"says that its times are of a {clock} clock, and {lacks} the numbers of a virtual one"
    if clock == "real" and simulation:
        return "says that its times are of a real clock, and names a simulator"
    return ""


def way_on(version: int) -> str:
    """Return what to do with a store of another schema."""
    return "update scalkit." if version > SCHEMA_VERSION else "file its measurements again."


def is_intact(record: Mapping[str, Any]) -> bool:
    """Return whether a record has the hash that follows from it."""
    try:
        return bool(record.get(SEAL) == sealed(record)[SEAL])
    except ValueError:  # infinite numbers and half characters, which no record has
        return False


def decoded(source: Any, name: str) -> tuple[dict[str, Any], pa.Table]:
    """Return record and table of a Parquet file.

    `name`: for messages.
    Raises DataError if it is no file of a store, damaged as far as checksums of pages and the hash of the record tell, or of
    another schema. Its derived columns are what it says they are; see `trusted`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(source, page_checksum_verification=True)
        record = record_of(file.metadata.metadata, name)
        there = set(file.schema_arrow.names)
        table = file.read(columns=[one for one in names() if one in there], use_threads=False)
        return record, completed(table)
    except DataError:
        raise
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{name} cannot be read as Parquet: {text}; restore it from another copy of the store.") from error


def trusted(content: bytes, run_id: str) -> tuple[dict[str, Any], pa.Table]:
    """Return record and table of a run of a store: nothing derived is believed, and the content must have the run's hash.

    `content`: of its file. `run_id`: the run that it must be.
    Raises DataError if it cannot be read, or is not what was filed.
    """
    import pyarrow as pa

    file = f"{run_id}.parquet"
    record, table = decoded(pa.BufferReader(content), file)
    try:
        found = content_id(record["measured"], table)
        if not record["run_id"] == run_id == found:
            raise DataError(
                f"{file} was changed or damaged: its content is that of run {found[:12]}, not {run_id[:12]}; restore it "
                "from another copy of the store."
            )
        return record, recomputed(table)
    except (ValueError, IndexError, TypeError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{file} has measurements that cannot be: {error}; retract run {run_id[:12]}.") from error


def completed(table: pa.Table) -> pa.Table:
    """Return a table with all columns, in the order of the schema, nulls where it has none."""
    import pyarrow as pa

    arrays = []
    for field in arrow_schema():
        column = table[field.name] if field.name in table.column_names else pa.nulls(len(table), field.type)
        arrays.append(column if column.type == field.type else column.cast(field.type))
    return pa.table(arrays, schema=arrow_schema())
