"""Writers of the formats that other programs read, one module a format; the suffix of the file says which is meant."""

from scalkit.formats.writers.write import FORMATS, suffix_of, write

__all__ = ["FORMATS", "suffix_of", "write"]
