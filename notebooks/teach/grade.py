"""List the session files that learners hand in: answer, steps, and whether an exercise is solved.

A file that cannot be read gets one sentence and does not stop the others; the exit status is then 2, else 0. Measurements
that a session names are looked for by their content, in --data and among those of the lessons; its paths are not followed.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr

import scalkit as sk
from exercises import Exercise, lesson_data
from scalkit.errors import DataError, ScalkitError, UsageError
from scalkit.session import Session
from scalkit.session.source import content_hash
from scalkit.support.bundled import bundled

_LARGEST = 20_000_000


@dataclass(frozen=True)
class HandIn:
    """One file that was handed in.

    `student`: the name of the file without its ending.
    `problem`: why it could not be read, in one sentence; all that follows is then empty.
    `function`, `metric`: what was selected last.
    `expectation`, `model`, `answer`, `sentence`: about that; empty where there is none.
    `steps`: what was done, the first step first; what was undone is not in it.
    `solved`: whether the exercise is solved; None if none was asked for.
    `thought`: what the exercise says.
    """

    student: str
    file: str
    problem: str = ""
    function: str = ""
    metric: str = ""
    expectation: str = ""
    model: str = ""
    answer: str = ""
    sentence: str = ""
    steps: tuple[str, ...] = ()
    solved: bool | None = None
    thought: str = ""

    def __str__(self) -> str:
        if self.problem:
            return _without_control_characters(f"{self.file}: {self.problem}")
        about = f"{self.function} ({self.metric}), expected {self.expectation or '-'}"
        lines = [f"{self.student}: {about}, model {self.model or '-'}, {self.answer or '-'}", f"  {self.sentence}"]
        lines += [f"  {number}. {step}" for number, step in enumerate(self.steps, 1)]
        if self.solved is not None:
            lines.append("  solved" if self.solved else f"  not solved: {self.thought}")
        return "\n".join(_without_control_characters(line) for line in lines)


def graded(paths: Iterable[Path], data: Sequence[xr.Dataset], exercise: Exercise | None = None) -> list[HandIn]:
    """Return the contents of each file; one that cannot be read does not stop the others.

    `paths`: session files. The paths of measurements in them are not followed.
    `data`: measurements that sessions may be about, found by their hash; sessions that bring theirs along need none.
    `exercise`: checked on each session.
    """
    known = {content_hash(one): one for one in data}
    return [_graded(path, known, exercise) for path in paths]


def _graded(path: Path, known: Mapping[str, xr.Dataset], exercise: Exercise | None) -> HandIn:
    try:
        return _found(path, _session(path, known), exercise)
    except (ScalkitError, OSError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return HandIn(path.stem, str(path), re.split(r"(?<=\.) (?=[A-Z])", " ".join(reason.split()))[0])


def _session(path: Path, known: Mapping[str, xr.Dataset]) -> Session:
    plain = _plain(path)
    digest, embedded = _data(plain)
    if embedded is None and digest not in known:
        raise DataError(
            "it is about measurements that are not here; name them with --data, or have the session saved with its data."
        )
    return Session.load(plain, data=None if embedded is not None else known[digest])


def _plain(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        raise DataError("there is no such file; name a session file.")
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise DataError(f"it is larger than {_LARGEST} bytes, which no session of a lesson is; look at it by hand.")
    try:
        plain = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError("it is no JSON, so it was not saved as a session; ask for the file anew.") from error
    if not isinstance(plain, Mapping):
        raise DataError("it is JSON, but no session; ask for the file anew.")
    return plain


def _data(plain: Mapping[str, Any]) -> tuple[str, object | None]:
    """Return the hash of the measurements, and those in the file; what is no session is left to its reader to refuse."""
    data = plain.get("data")
    if plain.get("format") != "scalkit-session" or not isinstance(data, Mapping):
        raise DataError("it is JSON, but no session; ask for the file anew.")
    return str(data.get("sha256")), data.get("netcdf")


def _found(path: Path, session: Session, exercise: Exercise | None) -> HandIn:
    function, metric = session.selected
    verdict, expectation = session.verdict, session.expectation
    outcome = exercise.check(session) if exercise else None
    return HandIn(
        student=path.stem,
        file=str(path),
        function=function,
        metric=metric,
        expectation=str(expectation.growth) if expectation else "",
        model=str(verdict.model.growth) if verdict else "",
        answer=verdict.answer if verdict else "",
        sentence=verdict.sentence if verdict else session.problem,
        steps=session.history,
        solved=outcome.is_right if outcome else None,
        thought=outcome.thought if outcome else "",
    )


def main(words: Sequence[str] | None = None) -> int:
    """Print what each file holds, and return 0, or 2 if one could not be read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="session file; its name is that of the student")
    parser.add_argument("--data", action="append", default=[], metavar="RUN", help="measurements that sessions are about")
    parser.add_argument("--exercise", metavar="NAME", help="check an exercise on each session, for example 02-mislead")
    args = parser.parse_args(words)
    try:
        exercise = Exercise.load(args.exercise) if args.exercise else None
        if exercise is not None and not exercise.looks_at_session:
            raise UsageError(f"the exercise '{args.exercise}' is answered in words; name one about a session.")
        own = [sk.read(path) for path in args.data]
        handed_in = graded(args.files, [*own, sk.read(bundled("data/quickstart")), *lesson_data()], exercise)
    except ScalkitError as error:
        print(f"grade.py: {error}", file=sys.stderr)
        return 2
    for one in handed_in:
        print(one)
    n_read = sum(not one.problem for one in handed_in)
    print(f"{n_read} of {len(handed_in)} hand-ins read.")
    return 0 if n_read == len(handed_in) else 2


def _without_control_characters(text: str) -> str:
    """Return a text that cannot move the cursor or change colours of a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


if __name__ == "__main__":
    sys.exit(main())
