"""`with sk.region("fft"):` for Python programs that `scalkit measure --command` runs, as scalkit/region.h is for C."""

import atexit
import json
import os
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_FOLDER = "SCALKIT_REGIONS"
_all: list[dict[str, Any]] = []
_mine = threading.local()


@contextmanager
def region(name: str) -> Iterator[None]:
    """Time a part of a program under a name, where `scalkit measure --command` asks for it; else do nothing.

    Parameters
    ----------
    name : str
        Under which the results have it. Regions may lie inside each other; each thread has its own times.

    Notes
    -----
    Where Python traces its memory (``--set PYTHONTRACEMALLOC=1``, which makes it slower), the bytes that a call keeps and its
    peak are counted, too.

    Examples
    --------
    >>> import scalkit as sk
    >>> with sk.region("sort"):
    ...     found = sorted([3, 1, 2])
    """
    if not os.environ.get(_FOLDER):
        yield
        return
    one, stack = _found(name)
    one["open"] += 1
    if one["open"] > 1:
        one["nested"] = 1
    stack.append(name)
    traced = tracemalloc.is_tracing() and one["open"] == 1
    before = tracemalloc.get_traced_memory()[0] if traced else 0
    if traced and len(stack) == 1:
        tracemalloc.reset_peak()
    begin = time.perf_counter_ns()
    try:
        yield
    finally:
        spent = time.perf_counter_ns() - begin
        stack.pop()
        one["open"] -= 1
        if not one["open"]:
            one["ns"] += spent
            one["calls"] += 1
            if traced:
                now, peak = tracemalloc.get_traced_memory()
                one["memory_calls"] += 1
                one["kept"] += now - before
                one["peak"] = max(one["peak"], -1 if stack else peak - before)


def _found(name: str) -> tuple[dict[str, Any], list[str]]:
    """Return the record of a region of this thread, made at its first use, and the names that are open."""
    if not hasattr(_mine, "records"):
        _mine.records, _mine.stack = {}, []
    records: dict[str, dict[str, Any]] = _mine.records
    stack: list[str] = _mine.stack
    if name not in records:
        if not _all:
            atexit.register(_write)
        numbers = dict.fromkeys(("calls", "ns", "open", "nested", "unbegun", "memory_calls", "kept"), 0)
        inside = stack[-1] if stack else None
        records[name] = {"name": name, "thread": str(threading.get_ident()), **numbers, "peak": -1, "inside": inside}
        _all.append(records[name])
    return records[name], stack


def _write() -> None:
    path = Path(os.environ[_FOLDER]) / f"{socket.gethostname()}-{os.getpid()}.jsonl"
    with path.open("a", encoding="utf-8") as stream:
        stream.writelines(f"{json.dumps(one)}\n" for one in _all)
