"""Own growth classes on their way to the notebook's process, where the texts of a report name them again."""

from scalkit.growth import plain_growths, register_again

__all__ = ["plain_growths", "register_again", "registering"]


def registering(text: str) -> list[str]:
    """Return the lines of Python that register all classes, if a text names one of them; else none."""
    plain = plain_growths()
    if not any(f"{name}(" in text for name in plain):
        return []
    return [
        f"sk.register_growth({name!r}, {', '.join(f'{key}={value!r}' for key, value in one.items())})"
        for name, one in plain.items()
    ]
