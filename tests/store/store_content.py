"""What lies in a store, to compare stores byte by byte."""

import scalkit as sk

__all__ = ["files_of"]


def files_of(store: sk.store.Store) -> dict[str, bytes]:
    """Return the content of a store by name, without what is not yet written."""
    paths = [path for path in store.path.rglob("*") if path.is_file()]
    return {str(path.relative_to(store.path)): path.read_bytes() for path in paths}
