"""Reads a submission in a process with little memory and time, without a network, that can write nowhere else.

``python -m scalkit.store.submissions.examine`` reads a request and prints its findings as JSON. The module `report` starts it,
and where a file ended it, once more, without what was read.
"""

import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_UNUSED = ("rfc3987", "rfc3987_syntax")
"""What jsonschema would load, for seconds, to check formats of texts; the record's schema has none."""


def main(request: str) -> int:
    """Examine what a request, a JSON text, names; print what confines it, then a line for each file, and return 0."""
    from scalkit.store.submissions.containers import Policy
    from scalkit.store.submissions.sandbox import confine

    asked = json.loads(request)
    _say({"confined": confine(Path(asked["scratch"]))})
    for name in _UNUSED:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    policy = Policy(**asked["policy"])
    _limit(policy.memory_bytes, policy.cpu_s, policy.max_file_bytes)
    scratch = Path(asked["scratch"])
    tempfile.tempdir = str(scratch)

    def begin(name: str) -> None:
        _say({"reading": name})
        _allow(policy.file_cpu_s)

    for found in findings(Path(asked["path"]), scratch, policy, set(asked["done"]), begin):
        _say(found)
    return 0


def _say(found: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def _limit(memory_bytes: int, cpu_s: int, file_bytes: int) -> None:
    import resource

    for kind, most in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _allow(cpu_s: int) -> None:
    """Let this process compute so long from now on, within what is left of its limit."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = math.ceil(used.ru_utime + used.ru_stime) + cpu_s
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(hard, soft), hard))


def findings(path: Path, scratch: Path, policy: Any, done: set[str], begin: Callable[[str], object]) -> Iterator[dict[str, Any]]:
    """Yield what there is to say of a submission: of the whole first, then of each file.

    `scratch`: a folder to unpack into; accepted runs are written into its folder ``clean``.
    `done`: names of files that are not read.
    `begin`: called with the name of each file before it is read.
    """
    import jsonschema  # noqa: F401  # what is loaded here does not count as time for the first file
    import pyarrow.parquet  # noqa: F401

    from scalkit.store.directory import Directory
    from scalkit.store.folder import INDEX
    from scalkit.store.submissions.containers import RefusedError, listed, unpacked
    from scalkit.support.bundled import is_shipped

    clean = scratch / "clean"
    clean.mkdir(exist_ok=True)
    is_store = True
    try:
        if path.is_dir():
            root = path
        elif path.suffix == ".parquet":
            path = path.resolve()
            root, is_store = path.parent, False
        else:
            root = unpacked(path, scratch / "unpacked", policy)
        # A file that a user names may have other names; so may those of packages, which some installers link.
        directory = Directory(root, hard_links=not is_store or is_shipped(root))
        files = listed(directory, policy) if is_store else [path.name]
    except RefusedError as refused:
        yield _refusal(path.name, refused.code, str(refused))
        return
    if is_store and not done:
        is_refused = False
        for one in _of_store(root, policy):
            is_refused |= bool(one.get("refused"))
            yield one
        # Without what people say of them, as that one is wrong, runs are not taken either.
        if is_refused:
            return
        if INDEX in directory.entries():
            yield _refusal(INDEX, "index-brought", "an index is derived and not believed; delete the folder index.")
    if not files and not done:
        yield _refusal(path.name, "no-runs", f"there is no run file in {path.name}.")
    for name in files:
        if name not in done:
            begin(name)
            yield {**_of_file(directory, name, clean, policy), "file": name}


def _of_store(root: Path, policy: Any) -> Iterator[dict[str, Any]]:
    """Yield what the folder says beside its runs: that its schema is newer, what is damaged, and statements."""
    from scalkit.errors import StoreError
    from scalkit.store.folder import MARKER, StoreFolder
    from scalkit.store.records import FLAGS, SIGNATURES, STATEMENTS
    from scalkit.store.runs.texts import retraction_problem
    from scalkit.store.submissions.record_checks import record_problems
    from scalkit.support.bundled import is_shipped

    folder = StoreFolder(root, readonly=True, hard_links=is_shipped(root))
    try:
        folder.require_known()
        damaged = folder.damaged_records()
    except StoreError as error:
        yield _refusal(MARKER, getattr(error, "code", "store-broken"), str(error))
        return
    if damaged:
        for name, text in damaged.items():
            yield _refusal(name, "record-damaged", text)
        return
    statements, signatures, flags = folder.statements(), folder.signatures(), folder.flags()
    for name, found in ((STATEMENTS, statements), (SIGNATURES, signatures), (FLAGS, flags)):
        if len(found) > policy.max_statements:
            text = f"there are {len(found)} {name}; at most {policy.max_statements} are allowed."
            yield _refusal(name, f"too-many-{name}", text)
            return
    problem = retraction_problem(statements, policy.max_text)
    if problem is not None:
        yield _refusal(STATEMENTS, *problem)
        return
    for one in signatures:
        filing = {name: text for name, text in one.items() if name not in ("run_id", "signer", "signature")}
        if len(one["signature"]) > policy.max_text:
            yield _refusal(SIGNATURES, "text-long", f"a signature of the run {one['run_id'][:12]} is too long.")
            return
        for problem in record_problems({"measured": {"launches": []}, "filing": filing}, policy):
            yield _refusal(SIGNATURES, *problem)
            return
    if folder.has_signers:
        yield {"notes": ["the list of signers is ignored: only the reader's own list counts."]}
    yield {"file": "", "statements": statements, "signatures": signatures, "brought_flags": flags}


def _refusal(file: str, code: str, text: str) -> dict[str, Any]:
    return {"file": file, "refused": [[code, text]], "flags": []}


def _of_file(directory: Any, name: str, clean: Path, policy: Any) -> dict[str, Any]:
    from scalkit.errors import StoreError
    from scalkit.store.directory import ForeignFileError
    from scalkit.store.submissions.containers import RefusedError, foreign_code
    from scalkit.store.submissions.copies import Origin
    from scalkit.store.submissions.file_checks import checked_file

    file = Path(name).name
    try:
        found = checked_file(directory.read(name, policy.max_file_bytes), file, policy)
        if found.run is not None and not found.problems:
            from scalkit.store.runs.content import encoded

            (clean / f"{found.run.run_id}.parquet").write_bytes(encoded(found.run))
    except RefusedError as refused:
        return _refusal(name, refused.code, str(refused))
    except ForeignFileError as error:
        return _refusal(name, foreign_code(error), str(error))
    except StoreError as error:
        return _refusal(name, "too-large", str(error))
    except MemoryError:
        return _refusal(name, "memory", f"{file} needs more memory than {policy.memory_bytes >> 20} MB.")
    except OSError as error:
        return _refusal(name, "unreadable", f"{file} cannot be read, or written again: {error.strerror or error}.")
    except Exception as error:  # whatever a file does to its reader, the others are read
        return _refusal(name, "reader-failed", f"reading {file} failed with {type(error).__name__}.")
    origin = Origin.of("", found.run.record["measured"] if found.run is not None else {})
    return {
        "file": name,
        "run_id": found.run.run_id if found.run is not None else "",
        "refused": [list(problem) for problem in found.problems],
        "flags": [list(flag) for flag in found.flags],
        "marks": found.marks,
        "origin": [list(origin.same), origin.computed],
    }


if __name__ == "__main__":
    sys.exit(main(sys.stdin.read()))
