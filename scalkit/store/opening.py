"""Opens a store: a folder, or a zip of one, which can only be read."""

import os
import shutil
import tempfile
import weakref
import zipfile
from pathlib import Path

from scalkit.errors import StoreError
from scalkit.store.folder import MARKER, StoreFolder
from scalkit.store.store import Store
from scalkit.store.submissions.containers import Policy, unpacked
from scalkit.support.arguments import path_of
from scalkit.support.bundled import here_or_bundled, is_shipped
from scalkit.support.extras import require


def open_store(path: str | os.PathLike[str], *, readonly: bool = False, signers: str | os.PathLike[str] | None = None) -> Store:
    """Return the store in a folder, or in a zip.

    The first run that is filed makes a folder that is missing or empty.

    `signers`: the list of those whose signatures count for the reader; by default this user's, which `scalkit.store.trust` fills.
    `readonly`: write nothing. A zip is always read-only: its copy is deleted with the Store.
    Raises StoreError if it is no store, or of a newer schema.
    Raises DataError if it is a zip with something else inside.
    """
    require("store")
    given = path_of(path, "a store")
    if "://" in os.fspath(path):
        raise StoreError(f"{os.fspath(path)!r} is an address; download the zip that is there, and name the copy.")
    place = here_or_bundled(given)
    if place.is_file():
        if not zipfile.is_zipfile(place):
            raise StoreError(f"{str(place)!r} is a file and no zip; name the folder of a store, or a zip of one.")
        return _copied(place, signers)
    # Some installers link the files of packages to a cache of theirs; those are as they were packed.
    try:
        folder = StoreFolder.opened(place.absolute(), readonly=readonly, hard_links=is_shipped(place))
    except OSError as error:
        raise StoreError(f"cannot open {str(place)!r}: {error.strerror or error}; check the path.") from error
    return Store(folder, signers)


def is_store(path: Path) -> bool:
    """Return whether there is a store in a folder, or a zip."""
    return zipfile.is_zipfile(path) if path.is_file() else (path / MARKER).is_file()


def _copied(archive: Path, signers: object) -> Store:
    """Return the store in a zip; its copy is deleted when the Store is gone."""
    copy = tempfile.mkdtemp(prefix="scalkit-store-")
    try:
        folder = unpacked(archive, Path(copy) / "unpacked", Policy())
        store = Store(StoreFolder.opened(folder, readonly=True, archive=archive), signers)
    except BaseException:
        shutil.rmtree(copy, ignore_errors=True)
        raise
    weakref.finalize(store, shutil.rmtree, copy, ignore_errors=True)
    return store


open = open_store
