"""What scalkit can use beyond its core: which extra brings which packages, and the sentence for one that is missing."""

import importlib.util
import shlex
import sys
from dataclasses import dataclass

from scalkit.errors import MissingPackageError


@dataclass(frozen=True)
class Extra:
    """A part of scalkit that needs packages which the core does without.

    `what`: what needs them; the subject of a sentence, in the plural.
    `packages`: as they are imported.
    `brings`: others that come with them and that scalkit imports.
    """

    what: str
    packages: tuple[str, ...]
    brings: tuple[str, ...] = ()


EXTRAS = {
    "lab": Extra("the notebooks and the app", ("jupyterlab", "ipywidgets", "anywidget"), ("traitlets", "ipykernel")),
    "report": Extra("reports", ("papermill", "ipykernel"), ("nbclient", "nbformat", "IPython")),
    "store": Extra("stores of results", ("pyarrow", "duckdb", "confusable_homoglyphs")),
    "pdf": Extra("figures of a store as SVG and PDF", ("kaleido",)),
    "cube": Extra("CUBE profiles", ("pycubexr",)),
    "mpi4py": Extra("commands on several ranks", ("mpi4py",)),
    "voila": Extra("pages that Voila shows", ("voila",)),
}
"""By the name that pip knows them by; ``scalkit[mpi]`` brings an MPI library, which is no Python package to import."""


def require(extra: str, *packages: str) -> None:
    """Return nothing if these packages of an extra are here, by default all of them.

    Raises MissingPackageError: otherwise, with the command that installs them.
    """
    for package in packages or EXTRAS[extra].packages:
        if not _is_here(package):
            raise MissingPackageError(sentence(extra, package), name=package)


def missing(extra: str) -> list[str]:
    """Return the packages of an extra that are not here."""
    return [package for package in EXTRAS[extra].packages if not _is_here(package)]


def sentence(extra: str, package: str) -> str:
    """Return that a package is missing, what needs it, and the command that brings it."""
    return f"{EXTRAS[extra].what} need {package}, which is not installed here; install it with: {install_command(extra)}"


def explained(error: ModuleNotFoundError) -> MissingPackageError | None:
    """Return the error to raise for an import that failed: None if no extra brings that package."""
    package = (error.name or "").partition(".")[0]
    for name, extra in EXTRAS.items():
        if package in (*extra.packages, *extra.brings):
            return MissingPackageError(sentence(name, package), name=package)
    return None


def install_command(extra: str) -> str:
    """Return the command that installs an extra into the Python that runs now."""
    python = f"{shlex.quote(sys.executable)} -m " if sys.executable else ""
    return f"{python}pip install 'scalkit[{extra}]'"


def _is_here(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ImportError:
        return False
    except ValueError:  # a module that somebody made by hand
        return True
