"""Copies the notebooks that come with scalkit into a folder of the user, and never over a file that is there."""

import os
from dataclasses import dataclass
from pathlib import Path

from scalkit.errors import UsageError
from scalkit.support.bundled import bundled
from scalkit.support.files import whole_file
from scalkit.support.text import counted

_LESSONS = "https://github.com/scalkit/scalkit/tree/main/notebooks"
_NOT_COPIED = (
    # Templates of reports and pages are run by commands; a newcomer has nothing to do with them.
    *("90_report.ipynb", "explore.ipynb"),
    # The lessons need modules that are in the repository only.
    *("0[1-9]_*.ipynb", "models_of_mpi.ipynb", "one_sided.ipynb"),
)


@dataclass(frozen=True)
class Copies:
    """Result of `copy_notebooks`.

    Attributes
    ----------
    folder : Path
        Absolute.
    new : tuple of str
        Names of the notebooks that were copied.
    kept : tuple of str
        Names of files that were there and differ from the notebooks of scalkit.
    """

    folder: Path
    new: tuple[str, ...]
    kept: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result in plain words, and the place of the lessons."""
        sentences = []
        if self.new:
            sentences.append(f"Copied {counted(len(self.new), 'notebook')} to {self.folder}.")
        if self.kept:
            differ = "differs" if len(self.kept) == 1 else "differ"
            names = ", ".join(self.kept)
            sentences.append(f"Kept {names}, which {differ} from scalkit's; rename yours and run this again to get it.")
        return (*sentences, f"The lessons, 01 to 08, are in the repository: {_LESSONS}")


def copy_notebooks(folder: str | os.PathLike[str]) -> Copies:
    """Copy the notebooks that need nothing but scalkit into a folder; a file that is there is left alone.

    Parameters
    ----------
    folder : str or path-like
        Created if it does not exist.

    Raises
    ------
    UsageError
        If it is a file, is where the notebooks come from, or cannot be written to.
    """
    source, target = bundled("notebooks"), Path(folder).absolute()
    if target.is_file():
        raise UsageError(f"'{folder}' is a file; name a folder for the notebooks.")
    if target.resolve() == source.resolve():
        raise UsageError(f"'{folder}' is where the notebooks come from; name another folder for the copies.")
    new, kept = [], []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for path in sorted(source.glob("*.ipynb")):
            own = target / path.name
            if any(path.match(pattern) for pattern in _NOT_COPIED):
                continue
            if not own.exists():
                new.append(path.name)
                with whole_file(own, UsageError, "name another folder") as part:
                    part.write_bytes(path.read_bytes())
            elif own.read_bytes() != path.read_bytes():
                kept.append(path.name)
    except OSError as error:
        raise UsageError(f"cannot write the notebooks to '{folder}': {error.strerror or error}; name another folder.") from error
    return Copies(target, tuple(new), tuple(kept))
