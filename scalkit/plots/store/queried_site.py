"""A store as a folder for a web server, whose page asks the Parquet files in it by ranges of bytes: no program runs there."""

import os
import secrets
import shutil
import tarfile
from pathlib import Path
from typing import Any

from scalkit.colours import CSS, SCRIPT
from scalkit.errors import StoreError
from scalkit.plots.store.site import BUNDLE, HERE, filled, source, told
from scalkit.store import Store
from scalkit.store.publication import write_table
from scalkit.store.views.explorer import fixed_words

_FILES = HERE / "queried"
_LIBRARY = _FILES / "vendor/hyparquet-1.31.5.tgz"
_OF_SUITE = "p.run_id, p.platform, p.simulated, p.op, p.metric, p.x_name, p.datatype, p.sync, p.pattern"
_SUITES = f"""
SELECT {_OF_SUITE}, any_value(r.started) AS started, any_value(r.label) AS label, count(*) AS points
FROM points p JOIN runs r USING (run_id) GROUP BY {_OF_SUITE} ORDER BY {_OF_SUITE}
"""
_POINTS = """
SELECT op, metric, platform, run_id, simulated, unit, x_name, x, p, "msg_By", fixed, datatype, sync, pattern, med, q1, q3
FROM points ORDER BY op, metric, platform, run_id, x
"""


def write_site(store: Store, path: str | os.PathLike[str], title: str = "", **about: Any) -> Path:
    """Write a store as a new folder that any web server can serve, and return it; it is a store itself.

    `about`: what `Store.publish` takes.
    Raises StoreError if something is there, or it cannot be written; DataError, UsageError as `Store.publish` does.
    """
    target = Path(path).absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise StoreError(f"{str(path)!r} is not empty; name an empty or a new folder for the site.")
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        part.mkdir(parents=True)
        archive = store.publish(part / "store.zip", title=title, folder=target.name, **about).path
        shutil.unpack_archive(archive, part)
        archive.unlink()
        _write_page(store, part, title)
        points = store.query(_POINTS)
        points["fixed"] = points["fixed"].map({text: fixed_words(text) for text in points["fixed"].unique()})
        for name, frame in (("suites", store.query(_SUITES)), ("points", points)):
            write_table(frame, part / f"page/{name}.parquet")
        part.replace(target)
    except OSError as error:
        raise StoreError(f"cannot write the site {str(path)!r}: {error.strerror or error}; name another place.") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return target


def _write_page(store: Store, folder: Path, title: str) -> None:
    """Write the page and its scripts; the library that reads Parquet is unpacked as it was published."""
    page = folder / "page"
    with tarfile.open(_LIBRARY) as library:
        for member in library.getmembers():
            name = member.name.removeprefix("package/src/")
            if member.isfile() and (name == "package/LICENSE" or (name != member.name and name.endswith(".js"))):
                place = page / "hyparquet" / name.removeprefix("package/")
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(library.extractfile(member).read())  # type: ignore[union-attr]
    for script in (_FILES / "page.js", _FILES / "ranges.js", BUNDLE, BUNDLE.with_name("plotly-cartesian.LICENSE")):
        shutil.copyfile(script, page / script.name)
    (page / "colours.js").write_text(SCRIPT + source("axes.js"), encoding="utf-8")
    (page / "page.css").write_text(CSS + source("site.css") + source("queried/page.css"), encoding="utf-8")
    (folder / "index.html").write_text(filled("queried/index.html", told(store, title)), encoding="utf-8")
