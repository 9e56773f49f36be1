"""The store that comes with scalkit, and what it says to the question of the SKaMPI data base."""

import os

import scalkit.store
from scalkit.bundled import bundled
from scalkit.clocks import TIMES
from scalkit.errors import DataError
from scalkit.markup import block, bullets
from scalkit.store import Store
from scalkit.store.advice.advise import advise_all
from scalkit.store.advice.answer import Advice, Portable
from scalkit.text import capital


def bundled_store(source: str | os.PathLike[str] = "") -> Store:
    """Return the store in a folder or zip, or the one that comes with scalkit, read-only."""
    return scalkit.store.open(source or bundled("data/store"), readonly=True)


class Answers:
    """What to call, for every operation that was measured beside something that does the same.

    `of`: the advice on each, or why there is none.
    """

    def __init__(self, store: Store) -> None:
        self.of = advise_all(store)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The portable choice of each operation, whether it is the operation itself, and what it costs at worst."""
        found = [self._sentence(name, advice) for name, advice in self.of.items()]
        return tuple(found) or ("No operation was measured beside a substitute.",)

    def _sentence(self, name: str, advice: Advice | DataError) -> str:
        if isinstance(advice, DataError):
            return f"{name}: {advice}"
        best = advice.portable[::-1]
        if not best:
            return f"{name}: not measured on all platforms alike; see the settings one by one."
        several = len({setting.clock for setting in advice.settings}) > 1
        parts = [_part(name, one, f"{capital(TIMES[one.clock])}: " if several else "") for one in best]
        return f"{name}: {' '.join(parts)}"

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        return block(bullets(self.sentences))


def _part(name: str, best: Portable, beginning: str) -> str:
    """Return the answer for the times of one clock."""
    if best.factor <= 1.005:
        return f"{beginning}{'call it, it' if best.choice == name else best.choice} is the best everywhere."
    what = "call it;" if best.choice == name else f"{best.choice} loses least,"
    place = f" ({best.where})" if best.where else ""
    return f"{beginning}{what} at worst {'it takes ' * (best.choice == name)}{best.factor:.3g} times the best{place}."


def which_operation(store: Store) -> Answers:
    """Return the answers for all operations of a store that can be replaced."""
    return Answers(store)
