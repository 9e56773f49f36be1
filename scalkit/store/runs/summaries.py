"""What stands for the repetitions of a measurement: quartiles and means of those that count."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

Integers = NDArray[np.int64]

_LEAST_VALID = 5
"""With fewer repetitions than these, the flagged ones stay, as in `scalkit.read`."""

_STATISTICS = {"time": "med", "object_memory": "min", "process_memory": "min"}
"""What stands for a measurement of these metrics, whatever a file says; of others it is the median or the least."""

OUTLIER_RULES = ("none", "late and overrun left out", "late and overrun kept: too few others")


def kept_of(raw: Integers, late_at: Sequence[int], overrun_at: Sequence[int]) -> tuple[Integers, str]:
    """Return the repetitions that count, and by which rule."""
    flagged = np.zeros(len(raw), dtype=bool)
    flagged[[*late_at, *overrun_at]] = True
    if not flagged.any():
        return raw, OUTLIER_RULES[0]
    kept = raw[~flagged]
    return (raw, OUTLIER_RULES[2]) if len(kept) < _LEAST_VALID else (kept, OUTLIER_RULES[1])


def raw_hash(raw: Integers) -> int:
    """Return 63 bits by which equal repetitions are found."""
    digest = hashlib.blake2b(np.ascontiguousarray(raw, dtype="<i8").tobytes(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


ROOT_MEDIAN = "root_med"
"""A column of the index that no file has: the median of what root alone needed in the repetitions that count."""


def root_medians(table: pa.Table) -> list[float | None]:
    """Return the median of what root alone needed for each measurement, None where that was not kept."""
    columns = (table[name].to_pylist() for name in ("root_raw", "late_at", "overrun_at"))
    found: list[float | None] = []
    for root, late, overrun in zip(*columns, strict=True):
        fits = bool(root) and len(root) > max((*late, *overrun), default=0)
        found.append(float(np.median(kept_of(np.array(root, dtype=np.int64), late, overrun)[0])) if fits else None)
    return found


def repetitions_of(table: pa.Table) -> list[Integers]:
    """Return the repetitions of each measurement. Raises ValueError if a measurement has none, or one of them is missing."""
    array = table["raw"].combine_chunks()
    flat, ends = array.flatten(), np.cumsum(array.value_lengths().to_numpy(zero_copy_only=False))
    if array.null_count or flat.null_count or not np.diff(ends, prepend=0).all():
        raise ValueError("a measurement has a repetition without a value, or none")
    return np.split(np.asarray(flat.to_numpy(zero_copy_only=False), dtype=np.int64), ends[:-1])


def derived_of(table: pa.Table) -> dict[str, Any]:
    """Return all derived columns, computed from the repetitions, whatever the table says of them.

    `table`: with ``raw``, ``late_at``, ``overrun_at``, ``cut``, ``metric`` and ``statistic``.
    Raises ValueError or IndexError or TypeError if the repetitions are not all there, or marks are of repetitions that are not
    there.
    """
    raws = repetitions_of(table)
    marks = zip(table["late_at"].to_pylist(), table["overrun_at"].to_pylist(), strict=True)
    both = [kept_of(raw, late, overrun) for raw, (late, overrun) in zip(raws, marks, strict=True)]
    kept = [some for some, _ in both]
    said = zip(table["metric"].to_pylist(), table["statistic"].to_pylist(), strict=True)
    statistics = [_STATISTICS.get(metric, "min" if word == "min" else "med") for metric, word in said]
    return {
        **summaries(kept, statistics),
        "statistic": statistics,
        "stderr": standard_errors(kept, table["cut"].to_pylist()),
        "outlier_rule": [rule for _, rule in both],
        "raw_hash": [raw_hash(raw) for raw in raws],
        "n": [len(raw) for raw in raws],
        "n_kept": [len(some) for some in kept],
    }


def recomputed(table: pa.Table) -> pa.Table:
    """Return a table of the newest schema with every derived column computed from the repetitions; see `derived_of`."""
    import pyarrow as pa

    for name, values in derived_of(table).items():
        place = table.column_names.index(name)
        field = table.schema.field(name)
        table = table.set_column(place, field, pa.array(values, type=field.type, from_pandas=True))
    return table


def summaries(kept: Sequence[Integers], statistics: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return the derived columns of measurements.

    `kept`: the repetitions that count of each measurement, at least one each, in its unit.
    `statistics`: which of them is the value of each: ``"med"`` of times, ``"min"`` of bytes.
    Result: from ``min``, ``q1``, ``med``, ``q3``, ``max``, ``mean``, ``sd`` (NaN for a single one), ``cut_mean`` (of those
    from the first to the third quartile) and ``value`` to arrays of shape (measurements,). Quartiles interpolate linearly.
    """
    keys = ("min", "q1", "med", "q3", "max", "mean", "sd", "cut_mean")
    found: dict[str, Any] = {key: np.full(len(kept), np.nan) for key in keys}
    lengths = np.array([len(one) for one in kept], dtype=np.int64)
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        ordered = np.sort(np.stack([kept[row] for row in rows.tolist()]), axis=1)
        for key, column in _of_sorted(ordered).items():
            found[key][rows] = column
    value = np.full(len(kept), np.nan)
    for name in set(statistics):
        chosen = np.array([one == name for one in statistics])
        value[chosen] = found[name][chosen]
    return {**found, "value": value}


def standard_errors(kept: Sequence[Integers], cuts: Sequence[str | None]) -> NDArray[np.float64]:
    """Return the relative standard error of each mean that leaves out the quarters of `cuts`, as ``"1,4"``.

    NaN where the cut is None, which is unknown, or there are fewer than two repetitions.
    """
    from scalkit.measure.quarter_means import Cut, relative_error  # brings xarray, which opening a store does not need

    found = np.full(len(kept), np.nan)
    for place, (some, text) in enumerate(zip(kept, cuts, strict=True)):
        cut = None if text is None else Cut.of_text(text)
        if cut is not None:
            found[place] = relative_error(some, cut)
    return found


def _of_sorted(ordered: Integers) -> dict[str, NDArray[np.float64]]:
    from scalkit.measure.quarter_means import CUT_MEANS, cut_mean

    n = ordered.shape[1]
    floats = ordered.astype(np.float64)
    q1, med, q3 = np.quantile(floats, [0.25, 0.5, 0.75], axis=1)
    sd = floats.std(axis=1, ddof=1) if n > 1 else np.full(len(floats), np.nan)
    return {
        "min": floats[:, 0],
        "q1": q1,
        "med": med,
        "q3": q3,
        "max": floats[:, -1],
        "mean": floats.mean(axis=1),
        "sd": sd,
        "cut_mean": cut_mean(floats, np.full(len(floats), n), CUT_MEANS["cut_mean"]),
    }
