"""The launches of one call of a campaign, one after the other: how far it is, and how it ended."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from scalkit.bench.campaign.folder import Folder, Launch, Pace, share
from scalkit.bench.campaign.launch import StopError, time_limit
from scalkit.errors import LaunchError

_ATTEMPTS = 2
"""After this many failures of one kind at one number of processes, its other runs are not tried."""


@dataclass(frozen=True)
class Progress:
    """Where a campaign is.

    Attributes
    ----------
    done, total : int
        Launches.
    launch : Launch or None
        The one that starts or ended; None at the very beginning.
    ended : bool
        Whether it ended.
    failure : str
        Why it failed; empty if it did not.
    elapsed_s : float, in s
        Of this call.
    left_s : float or None, in s
        Expected; None while nothing is known.
    remarks : tuple of str
        What is wrong with the results that it wrote; empty if nothing is.
    variant : str
        Which library, size or placement, where several are measured.
    """

    done: int
    total: int
    launch: Launch | None
    ended: bool
    failure: str
    elapsed_s: float
    left_s: float | None
    remarks: tuple[str, ...] = ()
    variant: str = ""


@dataclass(frozen=True)
class Result:
    """How a campaign ended.

    Attributes
    ----------
    folder : Path
    total : int
        Launches of the plan.
    done : int
        Of these, run files that are there now.
    fresh : int
        Of these, measured by this call.
    failures : tuple of str
        What went wrong, one text for each launch that failed.
    missing : tuple of Launch
    remarks : tuple of str
        Of all run files that are there, the wrong results, a sentence for each; their records are marked.
    """

    folder: Path
    total: int
    done: int
    fresh: int
    failures: tuple[str, ...]
    missing: tuple[Launch, ...]
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: Folder, plan: Sequence[Launch], before: int, failures: Sequence[str], remarks: Sequence[str]) -> "Result":
        """Return the result, from what the folder holds now and how many launches were missing before."""
        missing = tuple(folder.missing(plan))
        done, fresh = len(plan) - len(missing), before - len(missing)
        return cls(folder.path, len(plan), done, fresh, tuple(failures), missing, tuple(remarks))


class Starter(Protocol):
    """What starts launches, as `scalkit.bench.campaign.launch.Launcher` does."""

    @property
    def folder(self) -> Folder:
        """Where the run files go."""

    def run(self, launch: Launch, budget_s: float, timeout_s: float) -> tuple[str, ...]:
        """Start a launch, put its run file in place, and return what is wrong with the results in it."""


@dataclass
class LaunchLoop:
    """The launches of one call, one after the other."""

    launcher: Starter
    plan: Sequence[Launch]
    budget_s: float | None
    failed: Counter[tuple[str, int]]
    timeout_s: float | None
    on_progress: Callable[[Progress], None]
    remarks: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._waiting = self.launcher.folder.missing(self.plan)
        self._start, self._pace = time.monotonic(), Pace()

    def run(self) -> list[str]:
        """Do all launches; return what failed."""
        failures: list[str] = []
        self._tell(None)
        while self._waiting:
            launch = self._waiting[0]
            self._tell(launch)
            known, begin = len(self.remarks), time.monotonic()
            failure = self._one(launch)
            if failure:
                failures.append(failure)
            self._pace.learn(launch, time.monotonic() - begin)
            self._waiting.pop(0)
            self._tell(launch, ended=True, failure=failure, remarks=tuple(self.remarks[known:]))
        return failures

    def _one(self, launch: Launch) -> str:
        """Do one launch; return why it failed, or nothing."""
        if self.failed[launch.kind, launch.p] >= _ATTEMPTS:
            return f"{launch.name} was not tried: {launch.kind} failed {_ATTEMPTS} times with {launch.p} processes."
        budget_s = share(launch, self._waiting, self._left_of_budget())
        try:
            self.remarks += self.launcher.run(launch, budget_s, time_limit(launch, budget_s, self.timeout_s))
        except StopError:
            raise
        except LaunchError as error:
            self.failed[launch.kind, launch.p] += 1
            return str(error)
        return ""

    def _left_of_budget(self) -> float | None:
        return None if self.budget_s is None else max(0.0, self.budget_s - (time.monotonic() - self._start))

    def _tell(self, launch: Launch | None, ended: bool = False, failure: str = "", remarks: tuple[str, ...] = ()) -> None:
        total, elapsed_s = len(self.plan), time.monotonic() - self._start
        known = [value for value in (self._pace.left_s(self._waiting), self._left_of_budget()) if value is not None]
        left_s = min(known, default=None)
        self.on_progress(Progress(total - len(self._waiting), total, launch, ended, failure, elapsed_s, left_s, remarks))


def do_missing(
    launcher: Starter,
    record: Mapping[str, Any],
    plan: Sequence[Launch],
    budget_s: float | None,
    failed: Counter[tuple[str, int]] | None,
    timeout_s: float | None,
    on_progress: Callable[[Progress], None] | None,
) -> Result:
    """Do the launches whose run file is missing, and write into campaign.toml what failed and what is wrong."""
    folder = launcher.folder
    before = folder.missing(plan)
    tell = on_progress or (lambda progress: None)
    loop = LaunchLoop(launcher, plan, budget_s, Counter() if failed is None else failed, timeout_s, tell)
    remarks, failures = (_of_others(record.get(key, ()), before) for key in ("remarks", "failures"))
    try:
        new = loop.run()
    except BaseException:
        folder.write({**record, "remarks": remarks + loop.remarks})
        raise
    remarks = [*dict.fromkeys((*remarks, *loop.remarks, *getattr(launcher, "odd", ())))]
    folder.write({**record, "remarks": remarks, "failures": failures + new})
    return Result.of(folder, plan, len(before), new, remarks)


def _of_others(remarks: Iterable[str], launches: Sequence[Launch]) -> list[str]:
    """Return the remarks and failures that are about none of these launches, which will be measured anew."""
    about = tuple(f"{launch.name}{sign}" for launch in launches for sign in (":", " "))
    return [remark for remark in remarks if not remark.startswith(about)]
