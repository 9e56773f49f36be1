"""The lines above a table in CSV that say where its times come from."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from scalkit.measure.virtual_time import clock_attributes, clock_of, machine_of

_SIMULATED, _VIRTUAL = "# simulated, not measured", "# virtual: "


def remarks_of(machine: Mapping[str, Any], *, simulated: bool) -> str:
    """Return the lines above a table in CSV that say where its times come from; `attributes_of_remarks` reads them."""
    lines = [_SIMULATED] if simulated else []
    if machine:
        lines += [f"# {clock_of(machine)}", f"{_VIRTUAL}{json.dumps(dict(machine))}"]
    return "".join(f"{line}\n" for line in lines)


def attributes_of_remarks(remarks: Sequence[str]) -> dict[str, Any]:
    """Return ``simulated``, and ``clock`` and ``virtual`` if the clock was virtual, by the remarks of a table in CSV.

    Raises DataError if there are several clocks.
    """
    clocks = [machine_of({"virtual": line.removeprefix(_VIRTUAL)}) for line in remarks if line.startswith(_VIRTUAL)]
    return {"simulated": any(re.match(r"# ?simulated\b", line, re.IGNORECASE) for line in remarks), **clock_attributes(clocks)}
