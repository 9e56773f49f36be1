"""Readers of other programs' files, one module a format; `formats` lists them, `foreign_datasets` reads them."""

from scalkit.formats.readers.content import Content, load
from scalkit.formats.readers.extra_p_json import is_extra_p_lines
from scalkit.formats.readers.foreign import foreign_datasets, foreign_files, frame_dataset
from scalkit.formats.readers.formats import KNOWN

__all__ = ["KNOWN", "Content", "foreign_datasets", "foreign_files", "frame_dataset", "is_extra_p_lines", "load"]
