"""How a session is kept: as a file, as JSON values, as Python."""

from __future__ import annotations

import os
from typing import Any, Self

from scalkit.session.queries import Reading


class Keeping(Reading):
    """What a session can be turned into, and made of again."""

    def save(self, path: str | os.PathLike[str], *, with_data: bool | None = None) -> Self:
        """Write the session to a file that `load` reads.

        Parameters
        ----------
        path : path
            Appears only when it is complete; an existing file is replaced.
        with_data : bool, optional
            Whether the measurements go into it; by default only those that no file holds, or none any more.
        """
        from scalkit.session.file import write

        write(self.to_dict(with_data=with_data), path)
        return self

    def save_expectations(self, path: str | os.PathLike[str]) -> Self:
        """Write expectations, ticks moved by hand and rules to a TOML file, which `scalkit.validate` and the commands take.

        Parameters
        ----------
        path : path
            An existing file is replaced.

        Raises
        ------
        ScalkitError
            If nothing is expected, or it cannot be written.
        """
        from scalkit.session.expectations_file import write_expectations

        write_expectations(self, path)
        return self

    def to_dict(self, *, with_data: bool | None = None) -> dict[str, Any]:
        """Return the session as JSON values; see `save`."""
        from scalkit.session.file import session_to_dict

        return session_to_dict(self, with_data)

    def as_code(self) -> str:
        """Return Python that comes to the same state from the same measurements, and prints the verdict."""
        from scalkit.session.code import code_of

        return code_of(self)
