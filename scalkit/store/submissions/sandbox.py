"""Takes the network, other programs and places to write away from a process, by all means that its kernel has.

It is called before anything else is imported: a process that has threads cannot leave its name spaces. No means is needed by
another one, and none needs rights; what took effect is told.
"""

import contextlib
import ctypes
import errno
import os
import platform
import struct
import sys
from pathlib import Path

_NEWUSER, _NEWNET = 0x10000000, 0x40000000
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_MACHINES = {  # audit number; socket, execve, execveat, ptrace, io_uring_setup, bpf
    "x86_64": (0xC000003E, (41, 59, 322, 101, 425, 321)),
    "aarch64": (0xC00000B7, (198, 221, 281, 117, 425, 280)),
}
_X32 = 0x40000000
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_BELOW, _VERSION = 1, 1
_WRITING = 0b1_1111_1111_0010  # of version 1: write, remove, and make whatever there is; not execute, read, list
_RENAMING, _TRUNCATING = 1 << 13, 1 << 14
_REFUSED_EVENTS = tuple("socket. subprocess. os.system os.exec os.posix_spawn os.fork os.startfile ftplib. urllib.".split())


def confine(folder: Path) -> tuple[str, ...]:
    """Leave this process, and all that it may start, only what reading takes.

    `folder`: the one place where it may write.
    Result: what took effect: ``"network name space"``, ``"seccomp"`` (the kernel refuses sockets and programs), ``"landlock"``
    (the kernel refuses writing elsewhere), ``"audit hook"`` (Python refuses sockets and programs).
    """
    libc = ctypes.CDLL(None, use_errno=True)
    found = []
    with contextlib.suppress(OSError, AttributeError):
        if _unshared(libc):
            found.append("network name space")
    with contextlib.suppress(OSError, AttributeError):
        if libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
            if _landlocked(libc, folder):
                found.append("landlock")
            if _filtered(libc):
                found.append("seccomp")
    sys.addaudithook(_refuse)
    return (*found, "audit hook")


def _unshared(libc: ctypes.CDLL) -> bool:
    """Move into a network without interfaces: as root, else as a user of a name space of its own."""
    return bool(libc.unshare(_NEWNET) == 0 or libc.unshare(_NEWUSER | _NEWNET) == 0)


def _filtered(libc: ctypes.CDLL) -> bool:
    """Let the kernel refuse sockets, programs and what could go around that."""
    if platform.machine() not in _MACHINES or sys.maxsize < 2**32:
        return False
    audit, numbers = _MACHINES[platform.machine()]
    lines = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, audit), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    last = len(numbers) + 1  # tests left before the line that allows
    lines += [(_AT_LEAST, last, 0, _X32)]
    lines += [(_EQUAL, last - 1 - k, 0, number) for k, number in enumerate(numbers)]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ERRNO | errno.EACCES)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code)))
    return bool(libc.prctl(_SET_SECCOMP, _FILTER, program, 0, 0) == 0)


def _landlocked(libc: ctypes.CDLL, folder: Path) -> bool:
    """Let the kernel refuse to write anywhere but below a folder."""
    version = libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _VERSION)
    if version < 1:
        return False
    refused = _WRITING | (_RENAMING if version >= 2 else 0) | (_TRUNCATING if version >= 3 else 0)
    handled = struct.pack("Q", refused)
    rules = libc.syscall(_LANDLOCK_CREATE, handled, ctypes.c_size_t(len(handled)), 0)
    if rules < 0:
        return False
    place = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", refused, place)
        added = libc.syscall(_LANDLOCK_ADD, rules, _BELOW, rule, 0)
        return bool(added == 0 and libc.syscall(_LANDLOCK_RESTRICT, rules, 0) == 0)
    finally:
        os.close(place)
        os.close(rules)


def _refuse(event: str, _arguments: object) -> None:
    if event.startswith(_REFUSED_EVENTS):
        raise PermissionError(errno.EACCES, f"the process that reads a submission may not use {event}")
