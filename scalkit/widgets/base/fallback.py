"""What stands in the place of a widget where nothing runs it: in exported files, on GitHub, in a log."""

from typing import Any


class Fallback:
    """Puts HTML and a short text beside the view of a widget; pages that run widgets show these instead.

    A class that derives from it, and after it from a widget, says both.
    """

    def _fallback_text(self) -> str:
        """Return a line of plain text."""
        raise NotImplementedError

    def _fallback_html(self) -> str:
        """Return markup without a script."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._fallback_text()}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        parent: Any = super()
        found = parent._repr_mimebundle_(**kwargs)
        if not found:
            return found
        data, metadata = found if isinstance(found, tuple) else (found, {})
        return {**data, "text/plain": repr(self), "text/html": self._fallback_html()}, metadata
