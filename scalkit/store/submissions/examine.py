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

    for found in findings(Path(asked["path"]), scratch, policy, set(asked["done"]), asked["integrity"], begin):
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


def findings(
    path: Path, scratch: Path, policy: Any, done: set[str], integrity: bool, begin: Callable[[str], object]
) -> Iterator[dict[str, Any]]:
    """Yield what there is to say of a submission: of the whole first, then of each file.

    `scratch`: a folder to unpack into; accepted runs are written into its folder ``clean``.
    `done`: names of files that are not read.
    `integrity`: tell only whether the files are what was filed.
    `begin`: called with the name of each file before it is read.
    """
    import jsonschema  # noqa: F401  # what is loaded here does not count as time for the first file
    import pyarrow.parquet  # noqa: F401

    from scalkit.store.folder import INDEX, MARKER
    from scalkit.store.submissions.containers import RefusedError, listed, unpacked

    clean = scratch / "clean"
    clean.mkdir(exist_ok=True)
    try:
        if path.is_dir():
            root, files = path, list(listed(path, policy))
        elif path.suffix == ".parquet":
            root, files = path.parent, [path]
        else:
            root = unpacked(path, scratch / "unpacked", policy)
            files = list(listed(root, policy))
        if not done:
            said = list(_of_store(root, path, policy))
            yield from said
            if any(one["file"] == MARKER for one in said):
                return
            if path != root / path.name and (root / INDEX).is_dir():
                yield _refusal(INDEX, "index-brought", "an index is derived and not believed; delete the folder index.")
    except RefusedError as refused:
        yield _refusal(path.name, refused.code, str(refused))
        return
    if not files and not done:
        yield _refusal(path.name, "no-runs", f"there is no run file in {path.name}.")
    for file in files:
        name = str(file.relative_to(root))
        if name not in done:
            begin(name)
            yield {**(_intact(file) if integrity else _of_file(file, clean, policy)), "file": name}


def _intact(file: Path) -> dict[str, Any]:
    """Return whether a run is what was filed, whatever else is to be said of it."""
    from scalkit.errors import DataError
    from scalkit.store.runs.content import decoded, trusted
    from scalkit.store.submissions.table_checks import derived_problems

    try:
        trusted(file, file.stem)
        problems = [list(one) for one in derived_problems(decoded(file, file.name)[1])]
    except DataError as error:
        return _refusal(file.name, "damaged", str(error))
    return {"file": file.name, "run_id": file.stem, "refused": problems, "warnings": []}


def _of_store(root: Path, path: Path, policy: Any) -> Iterator[dict[str, Any]]:
    """Yield what the folder says beside its runs: that its schema is newer, and retractions."""
    from scalkit.errors import StoreError
    from scalkit.store.folder import MARKER, StoreFolder
    from scalkit.store.runs.texts import retraction_problem

    if not path.is_file() or path.suffix != ".parquet":
        folder = StoreFolder(root, readonly=True)
        if (root / MARKER).is_file():
            try:
                StoreFolder.opened(root, readonly=True)
            except StoreError as error:
                code = "schema-newer" if "newer" in str(error) else "store-broken"
                yield _refusal(MARKER, code, str(error))
                return
        entries, signatures = folder.retracted(), folder.signatures()
        for file, name, found in (("retracted.jsonl", "retractions", entries), ("signatures.jsonl", "signatures", signatures)):
            if len(found) > policy.max_retractions:
                text = f"there are {len(found)} {name}; at most {policy.max_retractions} are allowed."
                yield _refusal(file, f"too-many-{name}", text)
                return
        problem = retraction_problem(entries, policy.max_text)
        if problem is not None:
            yield _refusal("retracted.jsonl", *problem)
            return
        signatures = [one for one in signatures if len(one["signature"]) <= policy.max_text]
        yield {"file": "", "retracted": entries, "signatures": signatures}


def _refusal(file: str, code: str, text: str) -> dict[str, Any]:
    return {"file": file, "refused": [[code, text]], "warnings": []}


def _of_file(file: Path, clean: Path, policy: Any) -> dict[str, Any]:
    from scalkit.store.submissions.containers import RefusedError
    from scalkit.store.submissions.copies import Origin
    from scalkit.store.submissions.file_checks import checked_file

    try:
        found = checked_file(file, policy)
    except RefusedError as refused:
        return _refusal(file.name, refused.code, str(refused))
    except MemoryError:
        return _refusal(file.name, "memory", f"{file.name} needs more memory than {policy.memory_bytes >> 20} MB.")
    except Exception as error:  # whatever a file does to its reader, the others are read
        return _refusal(file.name, "reader-failed", f"reading {file.name} failed with {type(error).__name__}.")
    if found.run is not None and not found.problems:
        from scalkit.store.runs.content import encoded

        (clean / f"{found.run.run_id}.parquet").write_bytes(encoded(found.run))
    origin = Origin.of("", "", found.run.record["measured"] if found.run is not None else {})
    return {
        "file": file.name,
        "run_id": found.run.run_id if found.run is not None else "",
        "refused": [list(problem) for problem in found.problems],
        "warnings": [list(warning) for warning in found.warnings],
        "marks": found.marks,
        "origin": [list(origin.same), origin.computed],
    }


if __name__ == "__main__":
    sys.exit(main(sys.stdin.read()))
