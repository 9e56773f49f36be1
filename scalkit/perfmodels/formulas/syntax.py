"""The syntax tree of a formula, which a white list is walked over; nothing is evaluated."""

import ast
import warnings


def syntax_tree(text: str) -> ast.expr | None:
    """Return the syntax tree of a formula in which ``^`` is a power; None if it is none."""
    try:
        with warnings.catch_warnings():
            # Python warns of numbers that touch a word; the white list judges them.
            warnings.simplefilter("ignore")
            return ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
