"""The metrics of a result, each with its unit, its title and, of a wait, what is awaited: a new wait pattern adds a line."""

from dataclasses import dataclass

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


FACTS = {
    "time": Facts("ns", "all time"),
    "visits": Facts("1", "visits"),
    "rma_operations": Facts("1", "one-sided operations"),
    "rma_bytes": Facts("B", "one-sided bytes"),
    "wait_for_progress": Facts("ns", "wait for progress", "progress", True),
    "wait_for_progress_bound": Facts("ns", "wait for progress, bound", of_progress=True),
    "without_progress": Facts("1", "completed without progress seen", of_progress=True),
    "wait_for_grant": Facts("ns", "wait for grant", "windows", True),
    "wait_for_grant_bound": Facts("ns", "wait for grant, bound", of_progress=True),
    "late_sender": Facts("ns", "late sender", "messages"),
    "late_receiver": Facts("ns", "late receiver", "messages"),
    "wait_at_barrier": Facts("ns", "wait at barrier", "collective operations"),
    "wait_at_nxn": Facts("ns", "wait at all-to-all", "collective operations"),
    "late_broadcast": Facts("ns", "late broadcast", "collective operations"),
    "early_reduce": Facts("ns", "early reduce", "collective operations"),
    "lock_contention": Facts("ns", "lock contention", "windows"),
    "wait_at_fence": Facts("ns", "wait at fence", "windows"),
    "late_post": Facts("ns", "late post", "windows"),
    "early_wait": Facts("ns", "early wait", "windows"),
    "critical_path": Facts("ns", "on the critical path"),
    "delay_cost": Facts("ns", "cost of delays"),
}
"""Every metric; its place is its number in files, so that new ones stand at the end."""

WAITS = tuple(name for name, one in FACTS.items() if one.awaits)
"""Metrics that are waiting time."""

WHY = ("critical_path", "delay_cost")
"""Metrics that say why a run takes as long as it does."""

TITLES = {name: FACTS[name].title for name in WAITS}
"""Names of the waits for people."""
