"""The name of `scalkit.guidelines.tables` before it stood in its package."""

import warnings

from scalkit.guidelines.tables import PathLike, csv_text, example_table, read_csv, read_tables

__all__ = ["PathLike", "csv_text", "example_table", "read_csv", "read_tables"]

warnings.warn(
    "scalkit.guideline_tables is scalkit.guidelines.tables now; import from there.", DeprecationWarning, stacklevel=2
)
