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
    """What is fastest where, of what was measured.

    `choices`: one for each tested call, setting, number of processes and size.
    `headline`: what the assessment found.
    `simulated`: whether nothing of it was measured.
    `virtual`: the machine of the virtual clock that times were read from; empty for a real clock.
    `varied`: the parameter that `Choice.size` is of.
    """

    choices: tuple[Choice, ...]
    headline: str = ""
    simulated: bool = False
    virtual: Mapping[str, Any] = field(default_factory=dict)
    varied: str = "size"
    thresholds: dict[str, Any] | None = None
    remarks: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the file: JSON with a line for each choice."""
        from scalkit import __version__

        head = {
            "format": _FORMAT,
            "schema": _SCHEMA,
            "scalkit": __version__,
            "headline": self.headline,
            "simulated": self.simulated,
            "virtual": dict(self.virtual) or None,
            "varied": self.varied,
            "thresholds": self.thresholds or {},
            "remarks": list(self.remarks),
        }
        rows = ",\n".join(
            f"    {json.dumps(json_value(asdict(one)), ensure_ascii=False, allow_nan=False)}" for one in self.choices
        )
        lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
        return "\n".join(["{", *lines, '  "choices": [', *([rows] if rows else []), "  ]", "}"]) + "\n"

    def __repr__(self) -> str:
        better = sum(one.is_better for one in self.choices)
        return f"<Profile: {better} of {len(self.choices)} choices are better than the call itself>"


def profile(found: Assessment) -> Profile:
    """Return the profile of an assessment."""
    return Profile(
        choices=choices(found),
        headline=found.headline,
        simulated=any("simulated" in caveat for caveat in found.data.caveats),
        virtual=found.data.machine,
        varied=found.varied,
        thresholds=asdict(found.thresholds),
        remarks=found.warnings,
    )


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
    return Profile(
        choices=tuple(_choice(one) for one in table["choices"]),
        headline=table.get("headline", ""),
        simulated=table.get("simulated", False),
        virtual=table.get("virtual") or {},
        varied=table.get("varied", "size"),
        thresholds=table.get("thresholds"),
        remarks=tuple(table.get("remarks", ())),
    )


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
