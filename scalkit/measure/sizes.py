"""Run files of several message sizes: the size becomes a second parameter."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.measure.schema import is_reserved, parameters_of

_SIZE = "message_size_B"


def over_size(part: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """Return the Dataset of run files of one message size as one over two parameters.

    `part`: along the number of processes, with the size in its attributes.
    `names`: the parameter of the run files and a name for the message size, in the order of the dimensions.
    Raises DataError if the names are others, or there is no positive message size.
    """
    (known,) = parameters_of(part)
    others = [name for name in names if name != known]
    if len(names) != 2 or len(others) != 1 or not str(others[0]).isidentifier() or is_reserved(str(others[0])):
        raise DataError(
            f"run files have the parameter '{known}' and a message size, asked for are {', '.join(map(repr, names)) or 'none'}; "
            f"name two, as in ['{known}', 'S']."
        )
    size = int(part.attrs.get(_SIZE, 0))
    if size <= 0:
        sent = "messages of 0 B" if _SIZE in part.attrs else "no messages"
        raise DataError(
            f"'{others[0]}' is to be the message size, and some run files hold {sent}; leave them out, or read them alone along "
            f"'{known}'."
        )
    wide = {
        name: variable.expand_dims({others[0]: np.array([size])}, axis=variable.dims.index(known) + 1)
        for name, variable in part.data_vars.items()
        if known in variable.dims
    }
    found = part.assign(wide).assign_coords({others[0]: [size]})
    found.attrs = {key: value for key, value in part.attrs.items() if key != _SIZE} | {"parameter": ",".join(names)}
    return found
