"""A campaign file measured on this machine: run after run, in each run every library, size and placement."""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from scalkit.bench.campaign.campaign import Campaign, LaunchedCampaign
from scalkit.bench.campaign.file import CampaignFile, Variant
from scalkit.bench.campaign.folder import Folder, Pace
from scalkit.bench.campaign.loop import Progress, Result
from scalkit.bench.jobs.job import prepare_variant
from scalkit.errors import UsageError


def prepare_here(file: CampaignFile, *, set_aside: bool = False) -> tuple[Campaign, ...]:
    """Return the campaigns of a file, one for each variant, ready to run here.

    `set_aside`: rename folders that hold other campaigns, rather than refuse them.
    Raises UsageError if a placement needs several nodes, two libraries are the same one or share an environment, or a
    folder cannot be used; BuildError or LaunchError if a library or its programs do not work.
    """
    for variant in file.variants:
        p, per_node = max(variant.arguments.counts), variant.arguments.processes_per_node
        is_real = variant.library.platform is None and variant.library.network is None
        if is_real and per_node is not None and p > per_node:
            raise UsageError(
                f"{file.path}: {p} processes with {per_node} on a node need several nodes, and this machine is one; leave "
                "out processes_per_node, or submit the campaign."
            )
        Folder(variant.folder(file.out)).require_usable()
    campaigns = []
    identities: dict[tuple[str, int | None], str] = {}
    for variant in file.variants:
        folder = variant.folder(file.out)
        identity = _shared_identity(variant, folder, identities)
        campaigns.append(prepare_variant(file, variant, folder, set_aside=set_aside, identity=identity))
        _require_apart(file, campaigns)
    return tuple(campaigns)


def _shared_identity(variant: Variant, folder: Path, known: dict[tuple[str, int | None], str]) -> str:
    """Return the begin of all run ids: that of the other sizes where sizes are refined, so that they are one run."""
    rules = variant.arguments.refine
    if rules is None or rules.over != "sizes":
        return ""
    key = (variant.library.name, variant.arguments.processes_per_node)
    return known.setdefault(key, str(Folder(folder).record.get("id") or secrets.token_hex(4)))


def run_here(
    file: CampaignFile, campaigns: Sequence[Campaign], *, on_progress: Callable[[Progress], None] | None = None
) -> tuple[Result, ...]:
    """Do every launch whose run file is missing: all of one run, in every variant, then those of the next.

    `campaigns`: from `prepare_here`.
    `on_progress`: called before and after each launch, with the numbers of all.
    Returns: one for each variant.
    Raises LaunchError if a launch fails for a reason that all others of its variant share; KeyboardInterrupt after
    Ctrl-C; the processes are ended, what was measured is kept, a second call resumes.
    """
    return run_alternately(campaigns, timeout_s=file.timeout_s, on_progress=on_progress)


def run_alternately(
    campaigns: Sequence[LaunchedCampaign],
    *,
    timeout_s: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> tuple[Result, ...]:
    """Do every launch of several campaigns whose run file is missing: all of one run, in every campaign, then the next.

    `timeout_s` in s: time limit of one launch; by default amply more than its budget.
    `on_progress`: called before and after each launch, with the numbers of all.
    Returns: one for each campaign.
    Raises LaunchError if a launch fails for a reason that all others of its campaign share; KeyboardInterrupt after
    Ctrl-C; the processes are ended, what was measured is kept, a second call resumes.
    """
    whole = _Whole(campaigns, on_progress or (lambda progress: None))
    failed: list[Counter[tuple[str, int]]] = [Counter() for _ in campaigns]
    before = [len(campaign.folder.missing(campaign.plan)) for campaign in campaigns]
    failures: list[list[str]] = [[] for _ in campaigns]
    for run in range(max(campaign.arguments.runs for campaign in campaigns)):
        for number, campaign in enumerate(campaigns):
            mine = [launch for launch in campaign.plan if launch.run == run]
            if campaign.folder.missing(mine):
                whole.variant = campaign.folder.path.name if len(campaigns) > 1 else ""
                result = campaign.run(launches=mine, failed=failed[number], timeout_s=timeout_s, on_progress=whole.told)
                failures[number] += result.failures
                whole.add(result)
    return tuple(
        Result.of(one.folder, one.plan, missing, failed_here, one.folder.record.get("remarks", ()))
        for one, missing, failed_here in zip(campaigns, before, failures, strict=True)
    )


class _Whole:
    """Progress of one call as part of all."""

    def __init__(self, campaigns: Sequence[LaunchedCampaign], on_progress: Callable[[Progress], None]) -> None:
        missing = [campaign.folder.missing(campaign.plan) for campaign in campaigns]
        self._total = sum(len(campaign.plan) for campaign in campaigns)
        self._done = self._total - sum(map(len, missing))
        self._elapsed_s = 0.0
        self._waiting = Counter(launch for one in missing for launch in one)
        self._pace = Pace()
        self._on_progress = on_progress
        self._begun = 0
        self._now_s = 0.0
        self.variant = ""

    def told(self, progress: Progress) -> None:
        """Hand on the progress of one call."""
        if progress.launch is None:
            self._begun, self._now_s = progress.done, progress.elapsed_s
            return
        if progress.ended:
            self._pace.learn(progress.launch, progress.elapsed_s - self._now_s)
            self._waiting[progress.launch] -= 1
        self._now_s = progress.elapsed_s
        elapsed_s = self._elapsed_s + progress.elapsed_s
        left_s = self._pace.left_s(self._waiting.elements())
        done = self._done + progress.done - self._begun
        told = replace(progress, done=done, total=self._total, elapsed_s=elapsed_s, left_s=left_s, variant=self.variant)
        self._on_progress(told)

    def add(self, result: Result) -> None:
        """Count a call that ended."""
        self._done += result.total - self._begun
        self._elapsed_s += self._now_s


def _require_apart(file: CampaignFile, campaigns: Sequence[Campaign]) -> None:
    """Return nothing if the libraries of the variants are different ones, each in an environment of its own."""
    names = [variant.library.name for variant in file.variants]
    for number, (name, one) in enumerate(zip(names, campaigns, strict=False)):
        for earlier, other in zip(names[:number], campaigns, strict=False):
            is_real = not one.mpi.is_simulated
            if is_real and name != earlier and Path(one.mpi.mpicc).resolve() == Path(other.mpi.mpicc).resolve():
                raise UsageError(
                    f"{file.path}: the libraries {earlier!r} and {name!r} have the same compiler {one.mpi.mpicc}: they are one "
                    "library. Install each into an environment of its own."
                )
