"""The formats that are read, in the order in which they are tried, and how the format of a file is found."""

from collections.abc import Callable, Sequence

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, is_json, json_of
from scalkit.formats.readers.cube import is_cube, read_cube
from scalkit.formats.readers.delimited import is_delimited, is_jube_pretty, read_delimited, read_jube_pretty
from scalkit.formats.readers.extra_p_experiment import is_zip, read_experiment
from scalkit.formats.readers.extra_p_json import from_extra_p_json, is_extra_p_json, is_extra_p_lines, read_extra_p_lines
from scalkit.formats.readers.extra_p_text import is_extra_p_text, read_extra_p_text
from scalkit.formats.readers.google_benchmark import from_google_benchmark, is_google_benchmark
from scalkit.formats.readers.hyperfine import from_hyperfine, is_hyperfine, is_hyperfine_csv, read_hyperfine_csv
from scalkit.formats.readers.imb import is_imb, read_imb
from scalkit.formats.readers.observed import Found
from scalkit.formats.readers.osu import is_osu, read_osu
from scalkit.formats.readers.pytest_benchmark import from_pytest_benchmark, is_pytest_benchmark
from scalkit.formats.readers.reframe import is_perflog, read_perflog
from scalkit.formats.readers.reprompi import is_reprompi, read_reprompi
from scalkit.formats.readers.skampi import is_skampi, read_skampi

Parameter = str | Sequence[str] | None

KNOWN = (
    "run files, netCDF-3, OSU, IMB, ReproMPI, SKaMPI, Extra-P (text, JSON, JSON Lines, experiments), "
    "CUBE, Google Benchmark, pytest-benchmark, hyperfine, ReFrame's performance logs, JUBE's tables, CSV"
)

_PAGES = frozenset(".md .rst .html .htm .xml .toml .yaml .yml .ini .cfg .conf .py .sh .c .h .cc .cpp .hpp .f90 .tex .svg".split())

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"7z\xbc\xaf": "7-zip"}


def _reader_of(content: Content) -> Callable[..., Found] | None:
    """Return what reads the first format that a file may be of; None if there is none."""
    return next((read for matches, read in _FORMATS if matches(content)), None)


def is_expected(content: Content) -> bool:
    """Return whether a file that nobody named, found in a folder, is meant: of a format, and no table in a page or a program."""
    reader = _reader_of(content)
    return reader is not None and not (reader in _TABLES and content.path.suffix.lower() in _PAGES)


def read_content(content: Content, parameter: Parameter = None) -> Found:
    """Return what is in a file of another program. Raises DataError if it is of no known format, or damaged."""
    packed = next((name for magic, name in _PACKED.items() if content.data.startswith(magic)), None)
    if packed is not None:
        raise DataError(f"{content.where} is compressed ({packed}), which is not read as it is; unpack it first.")
    if not content.data.strip():
        raise DataError(f"{content.where} is empty; measure again, or name another file.")
    if content.data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{content.where} is UTF-16 text; save it as UTF-8.")
    reader = _reader_of(content)
    if reader is None:
        raise DataError(
            f"{content.where} is of no format that is read here (it begins with {content.data[:20]!r}); known are {KNOWN}."
        )
    return reader(content, parameter) if reader in _TABLES else reader(content)


def _json(content: Content) -> Found:
    value = json_of(content)
    where = content.where
    if not isinstance(value, dict):
        raise DataError(f"{where} holds a JSON {type(value).__name__}; an object of a benchmark program is needed.")
    if is_google_benchmark(value):
        return from_google_benchmark(value, where)
    if is_pytest_benchmark(value):
        return from_pytest_benchmark(value, where)
    if is_hyperfine(value):
        return from_hyperfine(value, content)
    if is_extra_p_json(value):
        return from_extra_p_json(value, content)
    keys = ", ".join(repr(key)[:40] for key in list(value)[:5]) or "none"
    raise DataError(
        f"{where} is JSON, but not of Google Benchmark, pytest-benchmark, hyperfine or Extra-P (its keys are {keys}); name "
        "another file."
    )


_TABLES = (read_jube_pretty, read_delimited)
"""Readers of what may have columns of any name."""

_FORMATS: tuple[tuple[Callable[[Content], bool], Callable[..., Found]], ...] = (
    (is_zip, read_experiment),
    (is_cube, read_cube),
    (is_extra_p_lines, read_extra_p_lines),
    (is_json, _json),
    (is_extra_p_text, read_extra_p_text),
    (is_osu, read_osu),
    (is_imb, read_imb),
    (is_reprompi, read_reprompi),
    (is_skampi, read_skampi),
    (is_perflog, read_perflog),
    (is_hyperfine_csv, read_hyperfine_csv),
    (is_jube_pretty, read_jube_pretty),
    (is_delimited, read_delimited),
)
