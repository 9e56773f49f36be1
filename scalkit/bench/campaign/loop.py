"""The one loop that does the launches of campaigns: whatever they start, it resumes, shares the budget and reports."""

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scalkit.bench.campaign.folder import Folder, Launch, new_record, share
from scalkit.bench.limits import CampaignArguments
from scalkit.errors import LaunchError, UsageError

_ATTEMPTS = 2
"""After this many failures of one kind at one number of processes, its other runs are not tried."""

Start = Callable[[Launch, float, float], Sequence[str]]
"""Does a launch within a budget and a time limit, both in s, puts its run file in place, and returns what is wrong in it.

It raises LaunchError if the launch failed, and StopError if all others would fail like it.
"""


class StopError(LaunchError):
    """A launch failed for a reason that all others share: going on is useless."""


@dataclass(frozen=True)
class Progress:
    """The state of a campaign.

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
        Problems of the results that it wrote; empty if there are none.
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
        A text for each launch that failed.
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


class Campaign(ABC):
    """Launches into one folder. A subclass says which they are, under which conditions, and how one is done."""

    folder: Folder
    arguments: CampaignArguments

    def __new__(cls, *_args: object, **_options: object) -> Self:
        """Return a campaign of a subclass. Raises UsageError of this class itself."""
        if cls is Campaign:
            raise UsageError("a Campaign has no launches; make one by scalkit.bench.prepare.")
        return super().__new__(cls)

    @property
    def identity(self) -> str:
        """Begin of all ``run_id`` of a new folder; it is drawn where it is empty."""
        return ""

    @property
    @abstractmethod
    def plan(self) -> tuple[Launch, ...]:
        """All launches, in their order."""

    @property
    @abstractmethod
    def facts(self) -> dict[str, dict[str, Any]]:
        """The tables of campaign.toml about the conditions, such as the library, the environment and the machine."""

    @abstractmethod
    def opened(self, run_id: str, lock: int) -> AbstractContextManager[Start]:
        """Yield the function that does a launch.

        `run_id`: of the campaign; each launch adds its run.
        `lock`: file descriptor that the launches inherit.
        """

    def remarks(self) -> Iterable[str]:
        """Return sentences about the whole campaign, known when its launches have ended."""
        return ()

    def require_same(self) -> None:
        """Return nothing if the folder is new or holds this campaign, begun under the same conditions; else raise UsageError."""
        self.folder.require_usable()
        self.folder.require_same(self.arguments, self.facts)

    def budget_of(self, launches: Iterable[Launch]) -> float | None:
        """Return the share of the budget, in s, that launches have by their weight; None without a budget."""
        if self.arguments.budget_s is None:
            return None
        whole = sum(launch.weight for launch in self.plan)
        return self.arguments.budget_s * sum(launch.weight for launch in launches) / whole

    def run(
        self,
        *,
        launches: Sequence[Launch] | None = None,
        budget_s: float | None = None,
        timeout_s: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Result:
        """Do every launch whose run file is missing.

        `launches`: only these; by default all of the plan.
        `budget_s` in s: for what is missing of them; by default its share of the campaign's budget.
        `timeout_s` in s: time limit of one launch; by default amply more than its budget.
        `on_progress`: called before and after each launch.
        Returns: also when launches failed.
        Raises UsageError if the folder holds another campaign, or another process is writing to it.
        Raises LaunchError if the folder cannot be written to, or a launch fails for a reason that all others
        share.
        Raises KeyboardInterrupt after Ctrl-C; the processes are ended, what was measured is kept, a second call
        resumes.
        """
        with Loop(timeout_s, on_progress) as loop:
            loop.add(self, launches, budget_s)
            loop.run()
        return loop.results[0]


@dataclass
class _Opened:
    """A campaign in the loop.

    `launches`: all that were added; `n_missing` of them had no run file then.
    `budget_s` in s: left for those that wait; None without a limit.
    `failed`: how often a kind failed with a number of processes.
    """

    campaign: Campaign
    record: dict[str, Any]
    start: Start
    launches: list[Launch] = field(default_factory=list)
    n_missing: int = 0
    budget_s: float | None = None
    failed: Counter[tuple[str, int]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def forget(self, launches: Sequence[Launch]) -> None:
        """Drop the remarks and failures of launches that are measured anew."""
        about = tuple(f"{launch.name}{sign}" for launch in launches for sign in (":", " "))
        for key in ("remarks", "failures"):
            self.record[key] = [text for text in self.record.get(key, ()) if not text.startswith(about)]

    def keep(self) -> None:
        """Write into campaign.toml which launches failed and which results are wrong."""
        remarks = [*dict.fromkeys((*self.record["remarks"], *self.campaign.remarks()))]
        self.record |= {"remarks": remarks, "failures": self.record["failures"] + self.failures}
        self.campaign.folder.write(self.record)

    @property
    def result(self) -> Result:
        """State of the campaign."""
        folder, total = self.campaign.folder, len(self.launches)
        missing = tuple(folder.missing(self.launches))
        fresh = self.n_missing - len(missing)
        return Result(
            folder.path, total, total - len(missing), fresh, tuple(self.failures), missing, tuple(self.record["remarks"])
        )


class Loop:
    """A context in which launches of campaigns are done, one after the other; more can be added between two calls of `run`.

    `timeout_s` in s: time limit of one launch; by default amply more than its budget.
    `on_progress`: called before and after each launch, with the numbers of all.
    """

    def __init__(self, timeout_s: float | None = None, on_progress: Callable[[Progress], None] | None = None) -> None:
        self._timeout_s = timeout_s
        self._on_progress = on_progress or (lambda progress: None)
        self._opened: dict[Path, _Opened] = {}
        self._waiting: list[tuple[_Opened, Launch]] = []
        self._stack = ExitStack()
        self._begun_s, self._n_ended = time.monotonic(), 0
        self._is_begun = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._stack:
            for opened in self._opened.values():
                opened.keep()

    def add(self, campaign: Campaign, launches: Sequence[Launch] | None = None, budget_s: float | None = None) -> None:
        """Take in what is missing of some launches, by default of all; see `Campaign.run`.

        Raises UsageError if the folder holds another campaign, or another process is writing to it.
        """
        opened = self._opened.get(campaign.folder.path) or self._open(campaign)
        launches = campaign.plan if launches is None else launches
        missing = campaign.folder.missing(launches)
        opened.launches += launches
        opened.n_missing += len(missing)
        opened.forget(missing)
        more_s = campaign.budget_of(missing) if budget_s is None else budget_s
        opened.budget_s = None if more_s is None else more_s + (opened.budget_s or 0.0)
        self._waiting += [(opened, launch) for launch in missing]

    def run(self) -> None:
        """Do what was added, all of one run before those of the next."""
        self._waiting.sort(key=lambda one: one[1].run)
        if not self._is_begun:
            self._is_begun = True
            self._tell(None, None)
        while self._waiting:
            opened, launch = self._waiting[0]
            self._tell(opened, launch)
            begun_s = time.monotonic()
            remarks, failure = self._done(opened, launch)
            opened.record["remarks"] += remarks
            opened.failures += [failure] if failure else []
            spent_s = time.monotonic() - begun_s
            self._n_ended += 1
            if opened.budget_s is not None:
                opened.budget_s = max(0.0, opened.budget_s - spent_s)
            self._waiting.pop(0)
            self._tell(opened, launch, ended=True, failure=failure, remarks=tuple(remarks))

    @property
    def results(self) -> tuple[Result, ...]:
        """Outcome of each campaign."""
        return tuple(opened.result for opened in self._opened.values())

    def is_missing(self, campaigns: Sequence[Campaign]) -> bool:
        """Return whether a launch of these campaigns has no run file."""
        return any(self._opened[campaign.folder.path].result.missing for campaign in campaigns)

    def _open(self, campaign: Campaign) -> _Opened:
        lock = self._stack.enter_context(campaign.folder.locked())
        campaign.require_same()
        new = new_record(campaign.arguments, [launch.name for launch in campaign.plan], campaign.identity)
        record = campaign.folder.record or {**new, "failures": [], **campaign.facts}
        campaign.folder.write(record)
        start = self._stack.enter_context(campaign.opened(str(record["id"]), lock))
        opened = _Opened(campaign, record, start)
        self._opened[campaign.folder.path] = opened
        return opened

    def _done(self, opened: _Opened, launch: Launch) -> tuple[list[str], str]:
        """Do one launch; return its remarks, and why it failed, or nothing."""
        if opened.failed[launch.kind, launch.p] >= _ATTEMPTS:
            return [], f"{launch.name} was not tried: {launch.kind} failed {_ATTEMPTS} times with {launch.p} processes."
        waiting = [other for one, other in self._waiting if one is opened]
        budget_s = share(launch, waiting, opened.budget_s)
        try:
            return list(opened.start(launch, budget_s, time_limit(launch, budget_s, self._timeout_s))), ""
        except StopError:
            raise
        except LaunchError as error:
            opened.failed[launch.kind, launch.p] += 1
            return [], str(error)

    def _tell(
        self,
        opened: _Opened | None,
        launch: Launch | None,
        *,
        ended: bool = False,
        failure: str = "",
        remarks: tuple[str, ...] = (),
    ) -> None:
        total = sum(len(one.launches) for one in self._opened.values())
        done, elapsed_s = total - len(self._waiting), time.monotonic() - self._begun_s
        # most plans are in random order, so that launches that ended stand for those that wait
        at_this_pace_s = elapsed_s / self._n_ended * len(self._waiting) if self._n_ended else None
        expected_s = min((one for one in (at_this_pace_s, self._left_of_budgets()) if one is not None), default=None)
        name = opened.campaign.folder.path.name if opened is not None and len(self._opened) > 1 else ""
        self._on_progress(Progress(done, total, launch, ended, failure, elapsed_s, expected_s, remarks, name))

    def _left_of_budgets(self) -> float | None:
        """Return the sum of what is left of all budgets, in s; None if a campaign has none."""
        budgets = [one.budget_s for one in self._opened.values()]
        return None if None in budgets else sum(one for one in budgets if one is not None)


def time_limit(launch: Launch, budget_s: float, given_s: float | None) -> float:
    """Return after how many seconds a launch is ended by force: `given_s`, or amply more than its budget."""
    return given_s if given_s is not None else 60.0 + 3.0 * budget_s + 10.0 * launch.start_s
