"""What the arguments of all campaigns share: how they stand in campaign.toml, and how their numbers are checked."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from scalkit.errors import UsageError
from scalkit.support.arguments import require_positive

_MOST_RUNS = 99


class CampaignArguments:
    """What decides a campaign, a dataclass; two with the same values are the same campaign."""

    runs: int
    """How often all is launched anew."""
    seed: int
    """Of every random choice."""
    budget_s: float | None
    """For the whole campaign, in s."""
    processes_per_node: int | None = None
    """At most so many on a node."""

    def require_usual(self) -> None:
        """Return nothing if runs, seed, budget, and how often something is repeated make sense; else raise UsageError."""
        require_range("--runs", self.runs, 1, _MOST_RUNS)
        require_range("--seed", self.seed, 0, 2**63 - 1)
        if self.budget_s is not None:
            require_positive(self.budget_s, "--budget")
        least, most = getattr(self, "min_reps", 1), getattr(self, "max_reps", 1)
        if least > most:
            raise UsageError(f"--min-reps {least} is greater than --max-reps {most}; lower the first or raise the second.")

    def as_table(self) -> dict[str, Any]:
        """Return the arguments as they stand in campaign.toml; what is None is left out."""
        values = asdict(self)  # type: ignore[call-overload]
        return {key: list(v) if isinstance(v, tuple) else v for key, v in values.items() if v is not None}

    def differing(self, table: Mapping[str, Any]) -> list[str]:
        """Return the names of the arguments that differ from those in a campaign.toml."""
        return changed(self.as_table(), table)


def changed(now: Mapping[str, Any], then: Mapping[str, Any]) -> list[str]:
    """Return the names whose values in two tables differ, in alphabetic order."""
    return [name for name in sorted({*now, *then}) if now.get(name) != then.get(name)]


def require_range(what: str, value: Any, low: int, high: int) -> None:
    """Return nothing if a number is from `low` to `high`, else raise UsageError."""
    if not isinstance(value, int) or not low <= value <= high:
        raise UsageError(f"{what} {value}: a whole number from {low} to {high} is needed.")


def require_numbers(what: str, numbers: Sequence[Any], low: int, high: int, most: int = 10_000) -> None:
    """Return nothing if there are numbers from `low` to `high`, ascending, at most so many; else raise UsageError."""
    shown = ",".join(map(str, numbers))[:60] or "nothing"
    if not numbers or any(not isinstance(number, int) or not low <= number <= high for number in numbers):
        raise UsageError(f"{what} {shown}: whole numbers from {low} to {high} are needed.")
    if list(numbers) != sorted(set(numbers)):
        raise UsageError(f"{what} {shown}: name each number once, ascending.")
    if len(numbers) > most:
        raise UsageError(f"{what} {shown}: at most {most} numbers are possible, got {len(numbers)}.")


def require_choices(what: str, values: Sequence[str], allowed: Sequence[str]) -> None:
    """Return nothing if there are words, each once, of those that are allowed; else raise UsageError."""
    for value in values:
        if value not in allowed:
            raise UsageError(f"{what}: {value!r:.40} is unknown; choose from {', '.join(allowed)}.")
    if not values or len(set(values)) < len(values):
        raise UsageError(f"{what}: {', '.join(values) or 'nothing'} is named; name each once, from {', '.join(allowed)}.")
