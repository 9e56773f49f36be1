"""`publish`: a store as one zip that can be cited, deposited and opened again."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.errors import DataError, StoreError, UsageError
from scalkit.store.folder import MARKER, RUNS, marker_content
from scalkit.store.records import now
from scalkit.support.arguments import each_of, path_of, require_text
from scalkit.support.clocks import CLOCKS, TIMES
from scalkit.support.files import whole_file
from scalkit.support.markup import counted, environment

if TYPE_CHECKING:
    from scalkit.store.store import Store

_WHEN = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Published:
    """What `publish` wrote. `runs`, `files`, `size`: size in bytes. `sha256`: of the zip."""

    path: Path
    runs: int
    files: int
    size: int
    sha256: str


def publish(
    store: Store,
    path: str | os.PathLike[str],
    *,
    title: str = "",
    authors: tuple[str, ...] = (),
    licence: str = "",
    page: str = "",
) -> Published:
    """Write a store as one zip: runs, what was said of them, README, citation, hashes.

    It is a store itself: `scalkit.store.open`, `validate` and `merge` take it. The same store makes the same bytes but for
    the date.

    `path`: the zip to write.
    `authors`: names; by default those who filed the runs, as far as they said who they are.
    `licence`: SPDX name for all of it; by default the one licence of the runs.
    `page`: HTML to look at all of it, which becomes ``index.html``; see `scalkit.plots.store.site.page`.
    Raises DataError if the store has no run.
    Raises UsageError if the path has another ending than ``.zip``, or the runs have different licences and none is given.
    Raises StoreError if it cannot be written; a file that was there stays.
    """
    if path_of(path, "the bundle").suffix.lower() != ".zip":
        raise UsageError(f"a bundle is a zip, and {str(path)!r} has another ending; let it end with .zip.")
    for one in (title, licence, page):
        require_text(one, "a text of the bundle")

    runs = store.runs(retracted=True)
    if not len(runs):
        raise DataError(f"the store {str(store.folder.shown)!r} has no runs; there is nothing to publish.")
    licence = licence or _one_licence(runs["licence"].tolist())
    people = each_of(authors, str, "the authors", "give a list of names") or tuple(
        sorted({name for name in runs["contributor"].tolist() if name})
    )
    about = {"title": title or f"Results of {store.folder.name}", "authors": people, "licence": licence, "date": now()}
    # The files of runs are read one by one: all of them may not fit into memory.
    run_ids = sorted(runs["run_id"].tolist())
    texts = {MARKER: marker_content(), **store.folder.record_files()}
    if page:
        texts["index.html"] = page.encode()
    texts["README.md"] = _readme(store, about, Path(path).name).encode()
    texts["CITATION.cff"] = _filled("CITATION.cff.jinja", about).encode()
    sums = {f"{RUNS}/{run_id}.parquet": _sha256(store.folder.read_run(run_id)) for run_id in run_ids}
    sums |= {name: _sha256(content) for name, content in texts.items()}
    texts["sha256sums.txt"] = "".join(f"{one}  {name}\n" for name, one in sorted(sums.items())).encode()
    return _written(store, Path(path), texts, run_ids)


def _one_licence(licences: list[str]) -> str:
    there = sorted({one for one in licences if one})
    if len(there) > 1:
        raise UsageError(f"the runs have the licences {', '.join(there)}; name the one of the bundle with licence.")
    return there[0] if there else ""


def _readme(store: Store, about: Mapping[str, Any], name: str) -> str:
    runs = store.runs()
    counts = runs["clock"].value_counts()
    said = [f"{counts[clock]} {TIMES[clock]}" for clock in CLOCKS if clock in counts]
    return _filled(
        "README.md.jinja",
        about,
        runs=len(runs),
        measured="measured, not simulated" if set(counts.index) <= {"real"} else " and ".join(said),
        platforms=counted(runs["platform"].nunique(), "platform"),
        retracted=len(store.runs(retracted=True)) - len(runs),
        name=name,
    )


def _filled(template: str, about: Mapping[str, Any], **values: Any) -> str:
    words = {"about": about, "line": _line, "counted": counted, "quoted": lambda text: json.dumps(text, ensure_ascii=False)}
    return environment("store/templates", escape=False).get_template(template).render(**words, **values)


def _line(text: str) -> str:
    """Return a text that cannot be markup of a Markdown file."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split())) if text else ""


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _written(store: Store, path: Path, texts: dict[str, bytes], run_ids: list[str]) -> Published:
    """Write the zip beside its place, then rename it; the same files make the same bytes."""
    with (
        whole_file(path, StoreError, "name another file", what=repr(str(path))) as part,
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for run_id in run_ids:  # Parquet is compressed already
            made.writestr(_member(f"{RUNS}/{run_id}.parquet", zipfile.ZIP_STORED), store.folder.read_run(run_id))
        for name, content in sorted(texts.items()):
            made.writestr(_member(name, zipfile.ZIP_DEFLATED), content)
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    return Published(path, len(run_ids), len(run_ids) + len(texts), path.stat().st_size, sha256)


def _member(name: str, compression: int) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, _WHEN)
    member.external_attr = 0o644 << 16
    member.compress_type = compression
    return member
