"""The metrics of a result, each with its unit, its title and, of a wait, what is awaited: a new wait pattern adds a line."""

from dataclasses import dataclass

from scalkit.toml.tables import table_beside

AWAITED = ("progress", "messages", "collective operations", "windows")
"""What a process waits for, in the order in which trees and tables show it."""


@dataclass(frozen=True)
class Facts:
    """What is known of a metric.

    `awaits`: one of `AWAITED`; empty if the metric is no wait.
    `of_progress`: whether it is missing where a thread makes progress, since nobody waits for calls there.
    """

    unit: str
    title: str
    awaits: str = ""
    of_progress: bool = False


FACTS = {name: Facts(**one) for name, one in table_beside(__file__, "metrics.toml").items()}
"""Every metric of metrics.toml; its place is its number in files, so that new ones stand at the end."""

WAITS = tuple(name for name, one in FACTS.items() if one.awaits)
"""Metrics that are waiting time."""

WHY = ("critical_path", "delay_cost")
"""Metrics that say why a run takes as long as it does."""

TITLES = {name: FACTS[name].title for name in WAITS}
"""Names of the waits for people."""
