"""What each rank runs to measure Python functions: ``mpiexec -n P python -P ranks.py LIBRARY module:function,... --out=...``.

The library is the measuring kernel, ``libsk_function.so``: it synchronises, times, stops and writes as for functions in C,
and calls back. This is a script that needs mpi4py and numpy only, so that ranks start fast. With ``--check`` it looks whether
the functions are there and can be called, and ends with status 2 and one line if not.
"""

import ctypes
import gc
import importlib
import importlib.util
import inspect
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

_READ_S = 0.5
"""A launcher gets this long to read a message before MPI_Abort: it may drop what is still in its pipes then."""

_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_CHECK = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p)


class _Plain(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int) for name in ("rank", "size", "count")),
        ("bytes", ctypes.c_size_t),
        *((name, ctypes.c_void_p) for name in ("send", "receive")),
    )


class _User(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), *((name, _FUNCTION) for name in ("call", "setup", "teardown")), ("check", _CHECK))


class Call:
    """What a function of the user is called with.

    `comm`: a duplicate of COMM_WORLD, of this function alone.
    `rank`, `size`: in it.
    `bytes` in B: the message size.
    `count`: the same in elements.
    `send`, `receive` of shape (size, count): room for a message for and from every rank, zeros at first; uint8, int32
    or float64 by ``--datatype``.
    `own`: yours: what setup makes.
    """

    def __init__(self, plain: _Plain, comm: Any) -> None:
        import numpy as np

        self.comm, self.rank, self.size = comm, plain.rank, plain.size
        self.bytes, self.count, self.own = plain.bytes, plain.count, None
        kind = {1: np.uint8, 4: np.int32, 8: np.float64}[plain.bytes // plain.count]
        for name in ("send", "receive"):
            whole = (ctypes.c_char * (plain.size * plain.bytes)).from_address(getattr(plain, name))
            setattr(self, name, np.frombuffer(whole, dtype=kind).reshape(plain.size, plain.count))


class _Refused(Exception):  # noqa: N818
    """A function that cannot be measured, and why."""


def found(text: str) -> tuple[str, dict[str, Callable[..., Any]]]:
    """Return the name of a function ``module:name`` or ``file.py:name``, and its parts that are there."""
    place, _, name = text.rpartition(":")
    try:
        module = _loaded(place)
    except Exception as error:
        raise _Refused(f"{text}: importing {place!r} failed: {type(error).__name__}: {error}") from error
    if not hasattr(module, name):
        callables = ", ".join(key for key, value in vars(module).items() if inspect.isfunction(value)) or "none"
        raise _Refused(f"{text}: {place!r} has no function {name!r}; its functions are {callables}")
    parts = {"call": name, "setup": f"{name}_setup", "check": f"{name}_check", "teardown": f"{name}_teardown"}
    functions = {part: getattr(module, own) for part, own in parts.items() if hasattr(module, own)}
    for part, function in functions.items():
        _require_one_argument(function, parts[part], text)
    return name, functions


def _loaded(place: str) -> ModuleType:
    if not place.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(place)
    path = Path(place)
    sys.path.insert(0, str(path.parent.absolute()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError("there is no such file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _require_one_argument(function: object, name: str, text: str) -> None:
    if not callable(function):
        raise _Refused(f"{text}: {name!r} is a {type(function).__name__}, not a function")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise _Refused(f"{text}: a call of {name!r} runs nothing, for it is a coroutine or a generator")
    try:
        inspect.signature(function).bind(None)
    except TypeError as error:
        raise _Refused(f"{text}: {name!r} must take one argument, as in def {name}(call): {error}") from error


def _kernel(path: str) -> ctypes.PyDLL:
    """Return the kernel, loaded first, so that mpi4py finds the MPI library that it was linked with."""
    kernel = ctypes.PyDLL(path, mode=ctypes.RTLD_GLOBAL)
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        used = sorted({line.split()[-1] for line in maps if "/libmpi.so" in line or "/libmpich.so" in line})
    if used:
        os.environ.setdefault("MPI4PY_LIBMPI", used[0])
    return kernel


def _added(kernel: ctypes.PyDLL, name: str, functions: dict[str, Callable[..., Any]]) -> object:
    """Register a function with the kernel; what is returned must stay alive."""
    from mpi4py import MPI

    calls: list[Call] = []

    def guarded(part: str) -> Callable[[int], int]:
        function = functions[part]

        def run(_: int) -> int:
            try:
                answer = function(calls[0])
                return int(answer) if part == "check" and answer is not None else 0
            except BaseException as error:
                own = "" if part == "call" else f"_{part}"
                rank = MPI.COMM_WORLD.rank
                sys.stderr.write(f"{traceback.format_exc()}{name}{own} raised {type(error).__name__} on rank {rank}\n")
                sys.stderr.flush()
                time.sleep(_READ_S)
                MPI.COMM_WORLD.Abort(1)
                os._exit(1)  # MPICH comes back from it

        return run

    def opened(pointer: int) -> int:
        plain = _Plain()
        kernel.sk_user_plain(ctypes.c_void_p(pointer), ctypes.byref(plain))
        calls.append(Call(plain, MPI.COMM_WORLD.Dup()))
        return guarded("setup")(pointer) if "setup" in functions else 0

    user = _User(name.encode(), _FUNCTION(guarded("call")), _FUNCTION(opened))
    if "teardown" in functions:
        user.teardown = _FUNCTION(guarded("teardown"))
    if "check" in functions:
        user.check = _CHECK(guarded("check"))
    kernel.sk_user_add(ctypes.byref(user))
    return user


def main(arguments: list[str]) -> int:
    """Measure; return the exit status of the kernel, or 2 with one line on standard error."""
    library, names, *options = arguments
    kernel = _kernel(library)
    try:
        functions = dict(found(text) for text in names.split(","))
        from mpi4py import MPI
    except (_Refused, ImportError, RuntimeError) as error:
        sys.stderr.write(f"sk_function: {' '.join(str(error).split())}\n")
        return 2
    if not kernel.sk_functions_running():
        loaded = MPI.Get_library_version().split(",")[0].strip()
        sys.stderr.write(f"sk_function: mpi4py uses another MPI library than mpicc, {' '.join(loaded.split())[:60]}\n")
        return 2
    if options == ["--check"]:
        return 0
    kept = [_added(kernel, name, parts) for name, parts in functions.items()]
    words = [b"sk_function", *(os.fsencode(word) for word in options)]
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    gc.collect()
    gc.disable()
    status = int(kernel.sk_functions_main(len(words), argv))
    del kept
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
