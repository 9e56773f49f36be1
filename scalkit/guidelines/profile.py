"""The profile file: for each call, number of processes and size the implementation that was measured to be fastest."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scalkit.errors import DataError
from scalkit.guidelines.choices import Choice, choices
from scalkit.guidelines.result import Assessment
from scalkit.support.json_values import json_value
from scalkit.support.schema_errors import load_jsonschema, schema_in

_FORMAT, _SCHEMA = "scalkit-profile", 1
_MOST_BYTES = 200_000_000


@dataclass(frozen=True, eq=False)
class Profile:
    """The fastest choices among the measured ones.

    `about`: further entries of the file: ``headline``; ``virtual``, the machine of a virtual clock
    or None; and others.
    """

    choices: tuple[Choice, ...]
    about: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the content of the profile's file."""
        from scalkit import __version__

        head = {"format": _FORMAT, "schema": _SCHEMA, "scalkit": __version__, **self.about}
        table = head | {"choices": [json_value(asdict(one)) for one in self.choices]}
        return json.dumps(table, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def __repr__(self) -> str:
        better = sum(one.is_better for one in self.choices)
        return f"<Profile: {better} of {len(self.choices)} choices are better than the call itself>"


def profile(found: Assessment) -> Profile:
    """Return the profile of an assessment."""
    about = {
        "headline": found.headline,
        "simulated": any("simulated" in caveat for caveat in found.data.caveats),
        "virtual": dict(found.data.machine) or None,
        "varied": found.varied,
        "thresholds": asdict(found.thresholds),
        "remarks": list(found.warnings),
    }
    return Profile(choices(found), about)


def load_profile(path: str | os.PathLike[str]) -> Profile:
    """Return the profile in a file that `Profile.to_json` wrote.

    Raises DataError if it cannot be read, or is no profile; the text names the file and the entry.
    """
    shown = os.fspath(path)
    try:
        with Path(path).open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError("too large")
        table = json.loads(content)
    except OSError as error:
        raise DataError(f"cannot read the profile {shown!r}: {error.strerror}; name a file of --profile.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{shown} is no profile: it is not valid JSON; name a file of --profile.") from error
    if wrong := next(_wrong(table), ""):
        raise DataError(f"{shown} is no profile: {wrong}; name a file of --profile.")
    about = {key: value for key, value in table.items() if key not in ("format", "schema", "scalkit", "choices")}
    return Profile(tuple(_choice(one) for one in table["choices"]), about)


def _wrong(table: Any) -> Iterator[str]:
    validator = load_jsonschema().Draft202012Validator
    for error in validator(schema_in(Path(__file__).with_name("profile.schema.json"))).iter_errors(table):
        place = error.json_path.removeprefix("$").removeprefix(".")
        yield f"{place + ': ' if place else ''}{error.message[:200]}"


def _choice(table: dict[str, Any]) -> Choice:
    known = {key: table[key] for key in Choice.__dataclass_fields__ if key in table}
    known["terms"] = tuple((float(factor), level) for factor, level in table.get("terms", ()))
    for key in ("ratio_low", "ratio_high"):
        known[key] = math.nan if table.get(key) is None else table[key]
    return Choice(**known)
