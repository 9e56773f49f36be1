"""Open JupyterLab on a copy of the notebooks, beginning with 00_quickstart, which is run unless the user changed it."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from scalkit.errors import UsageError
from scalkit.support.bundled import bundled
from scalkit.support.extras import require
from scalkit.support.files import whole_file
from scalkit.support.text import counted

_FIRST = "00_quickstart.ipynb"
_LESSONS = "https://github.com/scalkit/scalkit/tree/main/notebooks"
_NOT_COPIED = (
    # Templates of reports and pages are run by commands; a newcomer has nothing to do with them.
    *("90_report.ipynb", "explore.ipynb"),
    # The lessons need modules that are in the repository only.
    *("0[1-9]_*.ipynb", "models_of_mpi.ipynb", "one_sided.ipynb"),
)


def run(args: argparse.Namespace) -> int:
    """Copy what is missing, say so, and become JupyterLab."""
    if args.port is not None and not 1 <= args.port <= 65535:
        raise UsageError(f"--port {args.port}: a number from 1 to 65535 is needed.")
    require("lab")
    folder = Path(args.dir).absolute()
    new, kept = copy_notebooks(folder)
    for sentence in sentences_of(folder, new, kept):
        sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()
    is_own = _FIRST not in kept  # what somebody else wrote is not run unasked
    words = command(folder, browser=not args.no_browser, port=args.port, runs_first=is_own)
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # the kernel of this Python goes before those of the user's home
    os.execv(words[0], words)


def sentences_of(folder: Path, new: Sequence[str], kept: Sequence[str]) -> list[str]:
    """Return sentences on the copied and kept notebooks, the lessons, and the one to open."""
    sentences = []
    if new:
        sentences.append(f"Copied {counted(len(new), 'notebook')} to {folder}.")
    if kept:
        differ = "differs" if len(kept) == 1 else "differ"
        names = ", ".join(kept)
        sentences.append(f"Kept {names}, which {differ} from scalkit's; rename yours and run this again to get it.")
    lessons = f"The lessons, 01 to 08, are in the repository: {_LESSONS}"
    return [*sentences, lessons, f"JupyterLab opens {_FIRST} in {folder}; Ctrl-C ends it."]


def copy_notebooks(folder: Path) -> tuple[list[str], list[str]]:
    """Copy the notebooks that need nothing but scalkit into a folder; keep existing files.

    `folder`: created if it does not exist.
    Returns: the names of the copied notebooks, and of existing files that differ from scalkit's.
    Raises UsageError if it is a file, is where the notebooks come from, or cannot be written to.
    """
    source = bundled("notebooks")
    if folder.is_file():
        raise UsageError(f"'{folder}' is a file; name a folder for the notebooks.")
    if folder.resolve() == source.resolve():
        raise UsageError(f"'{folder}' is where the notebooks come from; name another folder for the copies.")
    new, kept = [], []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(source.glob("*.ipynb")):
            own = folder / path.name
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
    return new, kept


def command(folder: Path, *, browser: bool, port: int | None, runs_first: bool = False) -> list[str]:
    """Return the words that start JupyterLab on a folder, with the Python that runs now; the first notebook may be run."""
    words = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{_FIRST}",
        "--LabApp.news_url=None",  # no question whether to fetch Jupyter's news
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    if runs_first:
        words.append(f"--LabApp.extra_labextensions_path={Path(__file__).parent / 'labextensions'}")
    if not browser:
        words.append("--no-browser")
    if port is not None:
        words.append(f"--port={port}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        words.append("--allow-root")  # as in containers; it listens on this machine only, behind a token
    return words
