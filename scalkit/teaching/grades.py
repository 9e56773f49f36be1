"""Reads the session files that learners hand in: what they found, by which steps, and whether an exercise is solved."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import xarray as xr

from scalkit.errors import DataError, ScalkitError
from scalkit.session import Session
from scalkit.session.state import content_hash
from scalkit.teaching.exercise import Exercise

_LARGEST = 20_000_000


@dataclass(frozen=True)
class HandIn:
    """One file that was handed in.

    `student`: the name of the file without its ending.
    `problem`: why it could not be read, in one sentence; all that follows is then empty.
    `function`, `metric`: what was selected last.
    `expectation`, `model`, `verdict`, `sentence`: about that; empty where there is none.
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
    verdict: str = ""
    sentence: str = ""
    steps: tuple[str, ...] = ()
    solved: bool | None = None
    thought: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self) | {"steps": list(self.steps)}


def graded(paths: Iterable[Path], data: Sequence[xr.Dataset], exercise: Exercise | None = None) -> list[HandIn]:
    """Return what each file holds; one that cannot be read does not stop the others.

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
    return Session.from_dict(plain, data=None if embedded is not None else known[digest])


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
        verdict=verdict.verdict if verdict else "",
        sentence=verdict.sentence if verdict else session.problem,
        steps=session.history,
        solved=outcome.is_right if outcome else None,
        thought=outcome.thought if outcome else "",
    )
