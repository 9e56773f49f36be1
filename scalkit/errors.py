"""Every exception that scalkit raises on purpose; each also derives from the builtin that it refines."""


class ScalkitError(Exception):
    """Base of all errors that name wrong input or a missing tool; the commands print its text and exit with 2."""


class ExpectationError(ScalkitError, ValueError):
    """An expectation, deviation or growth text that cannot be read or classified."""


class DataError(ScalkitError, ValueError):
    """Measurements that are missing, malformed or too few."""


class RunFileError(DataError):
    """A run file that is truncated, edited or of a newer schema; the text names the file and the line."""


class RuleError(ScalkitError, ValueError):
    """A cross-function rule that cannot be read or names an unknown function."""


class BuildError(ScalkitError, RuntimeError):
    """The microbenchmarks could not be built."""


class LaunchError(ScalkitError, RuntimeError):
    """The MPI launcher is missing, does not fit the library, died or hung."""


class MissingPackageError(ScalkitError, ImportError):
    """A package of an extra, such as ``scalkit[report]``, is not installed; the text has the command that brings it."""


class ReportError(ScalkitError, RuntimeError):
    """A report could not be written."""


class StoreError(ScalkitError, RuntimeError):
    """A store of results that cannot be opened, read or written."""


class UsageError(ScalkitError, ValueError):
    """A wrong option or argument of a command or function."""
