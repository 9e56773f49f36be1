"""What is to be measured, as chosen in a form: the command for it, checked before it is started."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from scalkit.bench import Arguments
from scalkit.bench.arguments import KINDS, choose, operations
from scalkit.bench.libraries.mpi import candidates, cores
from scalkit.errors import ScalkitError, UsageError
from scalkit.native import sources

_NUMBERS = {"runs": "the number of runs", "reps": "the most repetitions", "budget": "the budget in seconds"}


@dataclass(frozen=True)
class Choices:
    """The fields of the form, as texts.

    `ops`: operations by name.
    `counts`: numbers of processes, between commas.
    `runs`, `reps`, `budget`: launches of each, most repetitions in a launch, seconds for all of it; the last may be
    empty.
    `out`: folder.
    `sets_aside`: whether another campaign in the folder is renamed.
    """

    ops: tuple[str, ...]
    counts: str = "2,4,8,16,32"
    runs: str = "3"
    reps: str = "400"
    budget: str = "60"
    out: str = "runs/app"
    sets_aside: bool = False

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "Choices":
        """Return what was chosen in a form; a box that is not ticked is absent."""
        named = {name: values.get(name, "").strip() for name in ("counts", "runs", "reps", "budget", "out")}
        ops = tuple(name for names in known_operations().values() for name in names if f"op {name}" in values)
        return cls(ops, **named, sets_aside="aside" in values)

    def command(self) -> list[str]:
        """Return the arguments of the command ``scalkit``. Raises ScalkitError if something chosen is not allowed."""
        kinds = [kind for kind, names in known_operations().items() if set(names) & set(self.ops)]
        if not kinds:
            raise UsageError("no function is chosen; choose at least one to measure.")
        runs, reps = self._whole("runs"), self._whole("reps")
        budget = self._seconds()
        Arguments(tuple(kinds), self._counts(), runs, 0, self.ops, budget_s=budget, max_reps=reps)
        choose(sources("microbench"), kinds, self.ops)
        if not self.out:
            raise UsageError("no folder is named; name one to measure into, such as runs/app.")
        words = ["measure", *kinds, "-n", self.counts.replace(" ", ""), "--runs", str(runs)]
        words += [] if reps == 400 else ["--max-reps", str(reps)]
        words += [] if budget is None else ["--budget", f"{budget:g}"]
        words += [] if self._has_the_usual(kinds) else ["--ops", ",".join(self.ops)]
        return [*words, "--out", self.out, *(["--set-aside"] if self.sets_aside else []), "--json"]

    @property
    def remarks(self) -> list[str]:
        """What a person should know before it starts, in plain words."""
        try:
            counts = self._counts()
        except ScalkitError:
            return []
        found = []
        crowded = ", ".join(str(n) for n in counts if n > cores())
        if crowded and set(known_operations()["collectives"]) & set(self.ops):
            found.append(
                f"{cores()} cores are here: run times with {crowded} processes describe the scheduler and do not decide."
            )
        if len(counts) < 5:
            found.append(f"A verdict needs 5 numbers of processes, not {len(counts)}.")
        return found

    def _has_the_usual(self, kinds: list[str]) -> bool:
        """Return whether what is chosen is what is measured when nothing is named."""
        usual = choose(sources("microbench"), kinds, ())
        return set(self.ops) == {name for names in usual.values() for name in names}

    def _counts(self) -> tuple[int, ...]:
        words = [word.strip() for word in self.counts.split(",") if word.strip()]
        if not words or not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
            raise UsageError(f"the ranks are '{self.counts:.60}'; numbers of processes are needed, such as 2,4,8,16,32.")
        return tuple(int(word) for word in words)

    def _whole(self, name: str) -> int:
        text = getattr(self, name)
        if not (text.isascii() and text.isdecimal() and len(text) < 10):
            raise UsageError(f"{_NUMBERS[name]} is '{text:.40}'; a whole number is needed.")
        return int(text)

    def _seconds(self) -> float | None:
        if not self.budget:
            return None
        try:
            return float(self.budget)
        except ValueError:
            raise UsageError(
                f"{_NUMBERS['budget']} is '{self.budget:.40}'; a number is needed, or nothing for no limit."
            ) from None


@cache
def known_operations() -> dict[str, tuple[str, ...]]:
    """Return what the microbenchmarks can measure, by kind."""
    tree = sources("microbench")
    return {kind: operations(tree, kind) for kind in KINDS}


@cache
def usual_operations() -> tuple[str, ...]:
    """Return the run times that are measured when nothing is named."""
    return operations(sources("microbench"), "collectives", "paper")


def lack_of_mpi() -> str:
    """Return why nothing can be measured here; empty if there is a compiler and a launcher of an MPI library."""
    try:
        next(candidates())
    except ScalkitError as error:
        return str(error)
    return ""
