"""Opens a store: a folder, or a zip of one, which can only be read."""

import os
import shutil
import tempfile
import weakref
import zipfile
from pathlib import Path

from scalkit.bundled import here_or_bundled
from scalkit.errors import StoreError
from scalkit.extras import require
from scalkit.store.folder import StoreFolder
from scalkit.store.store import Store
from scalkit.store.submissions.containers import unpacked
from scalkit.store.submissions.policy import Policy


def open_store(path: str | os.PathLike[str], *, readonly: bool = False) -> Store:
    """Return the store in a folder, which is made if it is missing or empty, or in a zip.

    Parameters
    ----------
    path : path
    readonly : bool
        Write nothing, not even an index. A zip is always read-only: a copy is unpacked and deleted with the Store.

    Raises
    ------
    StoreError
        If it is no store, or of a newer schema.
    DataError
        If it is a zip with something else inside.
    """
    require("store")
    place = here_or_bundled(Path(path))
    if place.is_file():
        if not zipfile.is_zipfile(place):
            raise StoreError(f"{str(place)!r} is a file and no zip; name the folder of a store, or a zip of one.")
        return _of_zip(place)
    try:
        folder = StoreFolder.opened(place.absolute(), readonly=readonly)
    except OSError as error:
        raise StoreError(f"cannot open {str(place)!r}: {error.strerror or error}; check the path.") from error
    return Store(folder)


def _of_zip(archive: Path) -> Store:
    """Return the store in a zip; its copy is deleted when the Store is gone."""
    copy = tempfile.mkdtemp(prefix="scalkit-store-")
    try:
        store = Store(StoreFolder.opened(unpacked(archive, Path(copy), Policy()), readonly=True, archive=archive))
    except BaseException:
        shutil.rmtree(copy, ignore_errors=True)
        raise
    weakref.finalize(store, shutil.rmtree, copy, ignore_errors=True)
    return store


open = open_store
