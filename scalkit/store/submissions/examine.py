"""Reads a submission in a process with little memory and time, without a network, that can write nowhere else.

``python -m scalkit.store.submissions.examine REQUEST`` prints its findings as JSON; the module `report` starts it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_UNUSED = ("rfc3987", "rfc3987_syntax")
"""What jsonschema would load, for seconds, to check formats of texts; the record's schema has none."""


def main(request: str) -> int:
    """Examine what a request, a JSON text, names; print what confines it, then a line for each file, and return 0."""
    from scalkit.store.submissions.policy import Policy
    from scalkit.store.submissions.sandbox import confine

    asked = json.loads(request)
    _say({"confined": confine(Path(asked["scratch"]))})
    for name in _UNUSED:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    policy = Policy(**asked["policy"])
    _limit(policy.memory_bytes, policy.cpu_s, policy.max_file_bytes)
    scratch = Path(asked["scratch"])
    tempfile.tempdir = str(scratch)
    for found in _examined(Path(asked["path"]), scratch, policy):
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


def _examined(path: Path, scratch: Path, policy: Any) -> Iterator[dict[str, Any]]:
    from scalkit.store.folder import MARKER
    from scalkit.store.submissions.containers import RefusedError, listed, unpacked

    clean = scratch / "clean"
    clean.mkdir()
    try:
        if path.is_dir():
            root, files = path, list(listed(path, policy))
        elif path.suffix == ".parquet":
            root, files = path.parent, [path]
        else:
            root = unpacked(path, scratch / "unpacked", policy)
            files = list(listed(root, policy))
        said = list(_of_store(root, path, policy))
        yield from said
        if any(one["file"] == MARKER for one in said):
            return
    except RefusedError as refused:
        yield _refusal(path.name, refused.code, str(refused))
        return
    if not files:
        yield _refusal(path.name, "no-runs", f"there is no run file in {path.name}.")
    for file in files:
        yield {**_of_file(file, clean, policy), "file": str(file.relative_to(root))}


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
        entries = folder.retracted()[:10_000]
        problem = retraction_problem(entries, policy.max_text)
        if problem is not None:
            yield _refusal("retracted.jsonl", *problem)
            return
        yield {"file": "", "retracted": entries}


def _refusal(file: str, code: str, text: str) -> dict[str, Any]:
    return {"file": file, "refused": [[code, text]], "warnings": []}


def _of_file(file: Path, clean: Path, policy: Any) -> dict[str, Any]:
    from scalkit.store.submissions.containers import RefusedError
    from scalkit.store.submissions.file_checks import checked_file

    try:
        found = checked_file(file, policy)
    except RefusedError as refused:
        return _refusal(file.name, refused.code, str(refused))
    except MemoryError:
        return _refusal(file.name, "memory", f"{file.name} needs more memory than {policy.memory_bytes >> 20} MB.")
    if found.run is not None and not found.problems:
        from scalkit.store.runs.content import encoded

        (clean / f"{found.run.run_id}.parquet").write_bytes(encoded(found.run))
    measured = found.run.record["measured"] if found.run is not None else {}
    return {
        "file": file.name,
        "run_id": found.run.run_id if found.run is not None else "",
        "campaign": measured.get("campaign", ""),
        "label": measured.get("label", ""),
        "refused": [list(problem) for problem in found.problems],
        "warnings": [list(warning) for warning in found.warnings],
        "hashes": found.hashes,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
