"""Performance models of MPI: fit them to messages, show them, compare them with measurements, hand them to simulators."""

import argparse
import importlib
import sys
from pathlib import Path

from scalkit.perfmodels.files.sources import doubts_of
from scalkit.support.bundled import here_or_bundled


def run(args: argparse.Namespace) -> int:
    """Do what the word says; a model card that it reads and that is in doubt is named first."""
    for key in ("source", "message"):
        if isinstance(getattr(args, key, None), str):
            setattr(args, key, str(here_or_bundled(Path(getattr(args, key)))))
    source = getattr(args, "source", None) or getattr(args, "message", None)
    if source is not None:
        for doubt in doubts_of(source):
            sys.stderr.write(f"scalkit model {args.word}: {source} is in doubt: {doubt}\n")
    return int(importlib.import_module(f"scalkit.cli.models.{args.word}").run(args))
