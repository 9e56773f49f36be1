"""The session file: JSON that session.schema.json describes, alone or inside an HTML report."""

from __future__ import annotations

import base64
import gzip
import json
import math
import os
import re
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from scalkit import __version__
from scalkit.errors import DataError, ScalkitError
from scalkit.growth import Growth
from scalkit.growth.relation import Relation
from scalkit.judge import SearchSpace
from scalkit.judge.baseline.file import baseline_from
from scalkit.judge.measured import Rulers, Setting
from scalkit.measure import write_netcdf
from scalkit.measure.netcdf import read_netcdf
from scalkit.session.plain import (
    expectation_from,
    options_from,
    plain_expectation,
    plain_options,
    plain_set,
    set_from_plain,
    ticks_from,
)
from scalkit.session.source import Source, confirmed, content_hash, open_source
from scalkit.session.state import History, State, Step
from scalkit.support.arguments import path_of
from scalkit.support.files import whole_file
from scalkit.support.options import Judging
from scalkit.support.schema_errors import load_jsonschema, schema_in

if TYPE_CHECKING:
    from scalkit.session.session import Session

FORMAT = "scalkit-session"
SCHEMA = 1
_SCHEMA_FILE = Path(__file__).with_name("session.schema.json")

_MAX_BYTES = 200_000_000


def session_to_dict(session: Session, with_data: bool | None = None) -> dict[str, Any]:
    """Return a session as JSON values; data that no file holds go in by default."""
    session._source = source = confirmed(session._source)
    embeds = not source.is_there if with_data is None else with_data
    history, given = session._history, session._given
    text = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "scalkit": __version__,
        "data": {
            "paths": list(source.paths),
            "sha256": source.sha256,
            "netcdf": dataset_to_text(session.data) if embeds else None,
        },
        "expectations": {"source": text, **plain_set(session._judge.expected)},
        **({} if session.baseline is None else {"baseline": session.baseline.to_dict()}),
        "selected": list(session.selected),
        "present": plain_state(history.present),
        "past": _plain_steps(history.past, history.present),
        "future": _plain_steps(history.future, history.present),
        "snapshots": {
            name: plain_state(state) for name, state in session.snapshots.items() if state.data == history.present.data
        },
    }


def session_from_dict(
    kind: type[Session], plain: Mapping[str, Any], data: object | None = None, folder: Path | None = None
) -> Session:
    """Return the session that `session_to_dict` wrote; paths are looked for here, then in `folder`."""
    if not isinstance(plain, Mapping) or plain.get("format") != FORMAT:
        raise DataError(f"this is no session: its 'format' is not '{FORMAT}'; save one with Session.save.")
    schema = plain.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema != SCHEMA:
        raise DataError(f"the session has schema {schema!r:.20}, this scalkit reads {SCHEMA}; install a newer scalkit.")
    try:
        _require_schema(plain)
        measured, source = _data_of(plain["data"], data, folder)
        quo = baseline_from(plain["baseline"], "its baseline is none") if "baseline" in plain else None
        session = kind(measured, quo or set_from_plain(plain["expectations"]))
        session._source = source
        given = plain["expectations"]["source"]
        session._given = given if isinstance(given, str) else session._judge.expected
        past, future = _steps(plain["past"]), _steps(plain["future"])
        session._history = History(state_from_plain(plain["present"]), past, future)
        session._snapshots = {str(name): state_from_plain(one) for name, one in plain["snapshots"].items()}
        function, metric = plain["selected"]
        if (function, metric) in session.names:
            session._selected = (function, metric)
    except ScalkitError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"the session cannot be read: {type(error).__name__}: {error!s:.200}; save it again.") from error
    session._outcome = session._judge.result(session.state)
    return session


def _require_schema(plain: Mapping[str, Any]) -> None:
    """Raise a ValueError if a session is not as its schema says."""
    jsonschema = load_jsonschema()
    validator = jsonschema.Draft202012Validator(schema_in(_SCHEMA_FILE))
    if error := jsonschema.exceptions.best_match(validator.iter_errors(plain)):
        raise ValueError(f"{error.json_path}: {error.message}")


def write(plain: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write JSON values to a file that appears only when it is complete. Raises DataError if it cannot be written."""
    with whole_file(path, DataError, what=f"the session '{os.fspath(path)}'") as part:
        part.write_text(json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def script_of(plain: Mapping[str, Any]) -> str:
    """Return the script element that holds a session in an HTML page, from which `read_session` reads it."""
    text = json.dumps(plain, ensure_ascii=True, allow_nan=False, separators=(",", ":"), sort_keys=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{SCRIPT_ID}">{text}</script>'


def read_session(kind: type[Session], path: str | os.PathLike[str] | Mapping[str, Any], data: object | None = None) -> Session:
    """Return the session in a file, JSON or HTML, or in JSON values. Raises DataError if there is none."""
    if isinstance(path, Mapping):
        return session_from_dict(kind, path, data)
    target = path_of(path, "the session")
    try:
        with target.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        text = content.decode("utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise DataError(f"cannot read the session '{target}': {reason}; name a file of Session.save or a report.") from error
    if len(content) > _MAX_BYTES:
        raise DataError(f"the session '{target}' is larger than {_MAX_BYTES} bytes; name a file of Session.save.")
    if text.lstrip()[:1] == "<":
        text = sessions_in(text, target)[0]
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"the session '{target}' is no JSON: {error!s:.100}; name a file of Session.save.") from error
    try:
        session = session_from_dict(kind, plain, data, target.parent)
    except ScalkitError as error:
        raise type(error)(f"{target}: {error}") from error
    if data is None and plain["data"]["netcdf"] is not None:
        session._source = replace(session._source, holder=os.fspath(path))
    return session


def _plain_steps(steps: tuple[Step, ...], present: State) -> list[dict[str, Any]]:
    """Return the steps next to the present state, as far as they are about the same measurements: a file holds one."""
    near = list(takewhile(lambda step: step.state.data == present.data, reversed(steps)))
    return [{"step": step.name, "state": plain_state(step.state)} for step in reversed(near)]


def _steps(plain: Any) -> tuple[Step, ...]:
    return tuple(Step(str(one["step"]), state_from_plain(one["state"])) for one in plain)


def _data_of(plain: Mapping[str, Any], data: object | None, folder: Path | None) -> tuple[xr.Dataset, Source]:
    """Return the measurements of a session: those given instead, those inside it, or those at its paths."""
    if data is not None:
        return open_source(data)
    paths, digest = tuple(str(one) for one in plain["paths"]), str(plain["sha256"])
    if plain["netcdf"] is not None:
        found = dataset_from_text(plain["netcdf"])
        _require_same(content_hash(found), digest, "inside the session")
        return found, Source(paths, digest)
    if not paths:
        raise DataError("the session names no measurements; give them, as in Session.load(path, data=...).")
    there = _existing(paths, folder)
    found, source = open_source(there[0] if len(there) == 1 else there)
    _require_same(source.sha256, digest, f"at {', '.join(there)}")
    return found, Source(tuple(there), digest)


def _existing(paths: tuple[str, ...], folder: Path | None) -> list[str]:
    found = []
    for path in paths:
        near = folder / path if folder is not None else Path(path)
        if not (Path(path).exists() or near.exists()):
            raise DataError(
                f"the measurements of the session are not at '{path}'; give them, as in Session.load(path, data=...)."
            )
        found.append(path if Path(path).exists() else str(near))
    return found


def _require_same(found: str, expected: str, where: str) -> None:
    if found != expected:
        raise DataError(
            f"the measurements {where} are not those of the session: their hash is {found[:12]}, not {expected[:12]}; give "
            "them, as in Session.load(path, data=...), to use others."
        )


def plain_state(state: State) -> dict[str, Any]:
    """Return a state as JSON values."""
    options = plain_options(replace(state.judging, statistic="q1"))
    return {
        "statistic": state.judging.statistic,
        **({"judging": options} if options else {}),
        "rules": [str(rule) for rule in state.rules],
        "expectations": {function: plain_expectation(one) for function, one in state.expectations.items()},
        "rulers": {function: _plain_rulers(rulers) for function, rulers in state.rulers.items()},
        "excluded": {
            function: [list(one) if isinstance(one, tuple) else one for one in settings]
            for function, settings in state.excluded.items()
        },
    }


def state_from_plain(plain: Mapping[str, Any]) -> State:
    """Return the state that `plain_state` wrote."""
    return State(
        judging=Judging.of({"statistic": plain["statistic"], **options_from(plain.get("judging", {}))}),
        rules=tuple(Relation.parse(rule) for rule in plain["rules"]),
        expectations={function: expectation_from(one) for function, one in plain["expectations"].items()},
        rulers={function: _rulers(one) for function, one in plain["rulers"].items()},
        excluded={function: tuple(_setting(one) for one in settings) for function, settings in plain["excluded"].items()},
    )


def _plain_rulers(rulers: Rulers) -> dict[str, list[str]]:
    return {parameter: [str(tick) for tick in ticks] for parameter, ticks in rulers.items()}


def _rulers(plain: Any) -> dict[str, tuple[Growth, ...]]:
    return {
        parameter: SearchSpace.of(ticks_from(ticks, parameter), "by hand", parameter).ticks for parameter, ticks in plain.items()
    }


def _setting(plain: Any) -> Setting:
    values = tuple(float(one) for one in (plain if isinstance(plain, list) else [plain]))
    if not all(map(math.isfinite, values)):
        raise ValueError(f"{plain!r:.40} is no setting")
    return values if isinstance(plain, list) else values[0]


SCRIPT_ID = "scalkit-session"
"""``id`` of the script element that holds a session; those of further ones begin with it."""


def sessions_in(text: str, path: str | os.PathLike[str]) -> list[str]:
    """Return the JSON of all sessions in a page, in their order.

    `text`: the page.
    `path`: where it comes from, for a message.
    Raises DataError if there is none.
    """
    # `script_of` escapes the ends of elements, so that the first one closes.
    found = re.findall(rf'<script\b[^>]*\bid="{SCRIPT_ID}[^>]*>(.*?)</script>', text, re.DOTALL)
    if not found:
        raise DataError(f"the page '{os.fspath(path)}' holds no session; name a report of scalkit that has one.")
    return found


_MOST_OF_A_PAGE = 1_000_000_000
_GZIP = 31


def dataset_to_text(ds: xr.Dataset) -> str:
    """Return a Dataset of measurements as text; the same one gives the same text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.nc"
        write_netcdf(ds, path)
        return base64.b64encode(gzip.compress(path.read_bytes(), 9, mtime=0)).decode("ascii")


def dataset_from_text(text: object) -> xr.Dataset:
    """Return the Dataset that `dataset_to_text` wrote. Raises DataError if it is something else."""
    try:
        if not isinstance(text, str):
            raise TypeError(f"{text!r:.40} is no text")
        unpacker = zlib.decompressobj(_GZIP)
        content = unpacker.decompress(base64.b64decode(text, validate=True), _MOST_OF_A_PAGE)
        if not unpacker.eof:
            raise ValueError("they end early or are too large")
    except (TypeError, ValueError, zlib.error) as error:
        raise DataError(
            f"the measurements inside the session cannot be read: {error}; give them, as in Session.load(path, data=...)."
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.nc"
        path.write_bytes(content)
        return read_netcdf(path)
