"""A profile of calls as text, for the terminal."""

from scalkit.cli.terminal.printed import aligned
from scalkit.support.text import plain
from scalkit.trace.calls.profile import FUNCTIONS, PLACES, Profile, function_rows, head_line, place_rows

_MOST_ROWS = 10


def profile_text(profile: Profile) -> str:
    """Return what a program spent in MPI: in each function, and at the places with the longest times."""
    functions, places = function_rows(profile)[:_MOST_ROWS], place_rows(profile)[:_MOST_ROWS]
    lines = [head_line(profile), "", *aligned([FUNCTIONS, *functions]), "", *aligned([PLACES, *places])]
    lines += ["", "left out:", *(f"  {one}" for one in profile.problems)] if profile.problems else []
    return plain("\n".join(lines))
