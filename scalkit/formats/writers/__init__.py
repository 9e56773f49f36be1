"""Writers of the formats that other programs read, one module a format; `write` finds out which is meant."""

from scalkit.formats.writers.write import FORMATS, Written, kind_of, require_free, write

__all__ = ["FORMATS", "Written", "kind_of", "require_free", "write"]
