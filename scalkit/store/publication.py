"""`publish`: a store as one zip that can be cited, deposited and opened again."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from scalkit.clocks import CLOCKS, TIMES, with_clock
from scalkit.errors import DataError, StoreError, UsageError
from scalkit.files import whole_file
from scalkit.markup import counted, environment
from scalkit.store.folder import MARKER, StoreFolder, marker_content
from scalkit.store.records import now
from scalkit.store.runs.columns import SCHEMA_VERSION
from scalkit.toml.tables import table_beside

if TYPE_CHECKING:
    from scalkit.store.store import Store

LARGEST = 50_000_000_000
"""Bytes that Zenodo takes in one record."""

_KINDS = table_beside(__file__, "kinds.toml")
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
    """Write a store as one zip: runs, their records, RO-Crate, README, citation, hashes.

    It is a store itself: `scalkit.store.open`, `validate` and `merge` take it. The same store makes the same bytes but for
    the date.

    `path`: the zip to write.
    `authors`: names; by default those who filed the runs, as far as they said who they are.
    `licence`: SPDX name for all of it; by default the one licence of the runs.
    `page`: HTML to look at all of it, which becomes ``index.html``; see `scalkit.plots.store.site.page`.
    Raises DataError if the store has no run, or is larger than Zenodo takes.
    Raises UsageError if the path has another ending than ``.zip``, or the runs have different licences and none is given.
    Raises StoreError if it cannot be written; a file that was there stays.
    """
    if Path(path).suffix.lower() != ".zip":
        raise UsageError(f"a bundle is a zip, and {str(path)!r} has another ending; let it end with .zip.")
    runs = store.runs(retracted=True)
    if not len(runs):
        raise DataError(f"the store {str(store.folder.shown)!r} has no runs; there is nothing to publish.")
    licence = licence or _one_licence(runs["licence"].tolist())
    people = authors or tuple(sorted({name for name in runs["contributor"].tolist() if name}))
    about = _About(title or f"Results of {store.folder.name}", people, licence, now())
    files: dict[str, bytes | _RunFile] = {MARKER: marker_content()}
    for run_id in sorted(runs["run_id"].tolist()):
        files[f"runs/{run_id}.parquet"] = _RunFile.of(store.folder, run_id)
    files |= store.folder.record_files()
    if page:
        files["index.html"] = page.encode()
    total = sum(map(len, files.values()))
    if total > LARGEST:
        raise DataError(f"the store has {total / 1e9:.0f} GB, more than the 50 GB of a record of Zenodo; publish parts of it.")
    files["metadata.json"] = _json(_metadata(store, about))
    files["README.md"] = _readme(store, about, files, Path(path).name).encode()
    files["CITATION.cff"] = _filled("CITATION.cff.jinja", about).encode()
    files["ro-crate-metadata.json"] = _json(_crate(about, files))
    files["sha256sums.txt"] = "".join(f"{_sha256(one)}  {name}\n" for name, one in sorted(files.items())).encode()
    return _written(Path(path), files, len(runs))


@dataclass(frozen=True)
class _RunFile:
    """The file of a run, which is read when it is needed: all of them may not fit into memory."""

    folder: StoreFolder
    run_id: str
    size: int

    @classmethod
    def of(cls, folder: StoreFolder, run_id: str) -> _RunFile:
        return cls(folder, run_id, len(folder.read_run(run_id)))

    def __len__(self) -> int:
        return self.size

    def read(self) -> bytes:
        return self.folder.read_run(self.run_id)


def _content(file: bytes | _RunFile) -> bytes:
    return file if isinstance(file, bytes) else file.read()


@dataclass(frozen=True)
class _About:
    title: str
    authors: tuple[str, ...]
    licence: str
    date: str


def _one_licence(licences: list[str]) -> str:
    there = sorted({one for one in licences if one})
    if len(there) > 1:
        raise UsageError(f"the runs have the licences {', '.join(there)}; name the one of the bundle with licence.")
    return there[0] if there else ""


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _metadata(store: Store, about: _About) -> dict[str, Any]:
    """Return everything that is known of all runs, without their measurements; retracted ones by themselves, and why."""
    rows = store.runs(retracted=True)[["run_id", "platform", "suites", "measurements", "repetitions"]]
    why: dict[str, list[dict[str, str]]] = {}
    for entry in store.retractions():
        kept = ("reason", "by", "when", "found", "copy_of")
        why.setdefault(entry["run_id"], []).append({key: entry[key] for key in kept if key in entry})
    runs, retracted = [], []
    for row in rows.sort_values("run_id").to_dict("records"):
        record = {key: store.record(row["run_id"])[key] for key in ("measured", "filing")}
        known = {**{key: value if isinstance(value, str) else int(value) for key, value in row.items()}, **record}
        if row["run_id"] in why:
            retracted.append({**known, "retracted": why[row["run_id"]]})
        else:
            runs.append(known)
    about_all = {"title": about.title, "published": about.date, "schema_version": SCHEMA_VERSION}
    return {**about_all, "runs": runs, "retracted": retracted}


def _readme(store: Store, about: _About, files: Mapping[str, object], name: str) -> str:
    runs = store.runs()
    counts = runs["clock"].value_counts()
    said = [f"{counts[clock]} {TIMES[clock]}" for clock in CLOCKS if clock in counts]
    platforms = []
    for (platform, clock), own in runs.groupby(["platform", "clock"]):
        name_here = with_clock(str(platform), str(clock))
        dates = sorted(str(one)[:10] for one in own["started"] if one)
        when = f", {dates[0]} to {dates[-1]}" if dates else ""
        platforms.append({"name": name_here, "runs": len(own), "when": when})
    return _filled(
        "README.md.jinja",
        about,
        runs=len(runs),
        measured="measured, not simulated" if set(counts.index) <= {"real"} else " and ".join(said),
        platforms=platforms,
        retracted=len(store.runs(retracted=True)) - len(runs),
        files=files,
        folders={file.partition("/")[0] for file in files},
        name=name,
    )


def _filled(template: str, about: _About, **values: Any) -> str:
    words = {"about": about, "line": _line, "counted": counted, "quoted": lambda text: json.dumps(text, ensure_ascii=False)}
    return environment("store/templates", escape=False).get_template(template).render(**words, **values)


def _line(text: str) -> str:
    """Return a text that cannot be markup of a Markdown file."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split())) if text else ""


def _crate(about: _About, files: Mapping[str, bytes | _RunFile]) -> dict[str, Any]:
    """Return the description of the bundle as RO-Crate 1.1."""
    people = [{"@id": f"#author-{k}", "@type": "Person", "name": name} for k, name in enumerate(about.authors)]
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": about.title,
        "description": "Run times and memory of MPI operations, every repetition kept.",
        "datePublished": about.date,
        "author": [{"@id": one["@id"]} for one in people],
        "hasPart": [{"@id": name} for name in sorted(files)],
    }
    if about.licence:
        root["license"] = {"@id": f"https://spdx.org/licenses/{about.licence}"}
    parts = [
        {
            "@id": name,
            "@type": "File",
            "encodingFormat": _KINDS[PurePosixPath(name).suffix],
            "contentSize": str(len(one)),
            "sha256": _sha256(one),
        }
        for name, one in sorted(files.items())
    ]
    head = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
    }
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": [head, root, *people, *parts]}


def _sha256(file: bytes | _RunFile) -> str:
    return hashlib.sha256(_content(file)).hexdigest()


def _written(path: Path, files: Mapping[str, bytes | _RunFile], runs: int) -> Published:
    """Write the zip beside its place, then rename it; the same files make the same bytes."""
    with (
        whole_file(path, StoreError, "name another file", what=repr(str(path))) as part,
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for name, one in sorted(files.items()):
            member = zipfile.ZipInfo(name, _WHEN)
            member.external_attr = 0o644 << 16
            member.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
            made.writestr(member, _content(one))
    return Published(path, runs, len(files), path.stat().st_size, _sha256_of_file(path))


def _sha256_of_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
