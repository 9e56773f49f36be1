"""Values as JSON can hold them: what is not finite becomes null, and growths, models and paths their text."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def json_value(value: Any) -> Any:
    """Return a value, or what lies in arrays, lists and mappings, as JSON can hold it."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: json_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def json_fields(thing: object, names: str) -> dict[str, Any]:
    """Return attributes of a thing, named between blanks, by their names."""
    return {name: json_value(getattr(thing, name)) for name in names.split()}
