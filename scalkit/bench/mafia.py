"""The MAFIA case study: searches planted clusters of k dimensions, times four functions and counts what they do."""

import json
import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit import __version__
from scalkit.bench.campaign.folder import Folder, drawn_orders, new_record
from scalkit.bench.limits import CampaignArguments, first_change, require_range
from scalkit.bench.process import LAST_LINES, Outcome, run_program
from scalkit.bench.provenance import environment, machine
from scalkit.errors import LaunchError, UsageError
from scalkit.native import build, sources, sources_hash

FUNCTIONS = ("gen", "dedup", "pcount", "unjoin")
"""What is measured, in the order in which a search calls them."""

_MOST_K = 20
_WRONG_RESULT = 4
_DEFAULT_BUDGET_S = 10.0
_LEAST_REPETITIONS = 5
_SECONDS_A_UNIT = 2e-5
"""What one dense unit costs at most, for the time limit; an idle machine takes a third."""


@dataclass(frozen=True)
class MafiaSettings(CampaignArguments):
    """What is searched and how often.

    `k`: dimensions of the clusters, 1 to 20; each is a setting.
    `n`, `d`: points and their dimensions.
    `clusters`: how many are planted, 1 to 5: the m of the paper.
    `runs`, `max_reps`: launches of each k; repetitions in a launch at most, 5 at least.
    `seed`: of the points, the same in all runs, and of the order of launches.
    `budget_s` in s: for all launches together, about; by default 10 s for each.
    Raises UsageError if one of them is out of range.

    Source: Shudler et al. 2015 (docs/references.md), section 4.3: n = 100000, d = 20, m = 3, k = 3 to 16.
    """

    k: tuple[int, ...] = tuple(range(3, 17))
    n: int = 100_000
    d: int = 20
    clusters: int = 3
    runs: int = 5
    max_reps: int = 50
    seed: int = 1
    budget_s: float | None = None

    def __post_init__(self) -> None:
        if not self.k or list(self.k) != sorted(set(self.k)) or self.k[0] < 1 or self.k[-1] > _MOST_K:
            shown = ",".join(map(str, self.k)) or "nothing"
            raise UsageError(f"k = {shown}: ascending numbers from 1 to {_MOST_K} are needed, as in 3,4,5.")
        if self.k[-1] > self.d:
            raise UsageError(f"k = {self.k[-1]} is more than d = {self.d}; a cluster cannot have more dimensions than d.")
        for name, least, most in (
            ("n", 1000, 100_000_000),
            ("d", 1, 64),
            ("clusters", 1, 5),
            ("runs", 1, 1000),
            ("max_reps", 1, 1_000_000),
            ("seed", 0, 2**63 - 1),
        ):
            require_range(f"{name} =", getattr(self, name), least, most)
        if self.budget_s is not None and not 0 < self.budget_s < float("inf"):
            raise UsageError(f"a budget of {self.budget_s:g} s: a positive number of seconds is needed.")

    def budget_of(self, k: int) -> float:
        """Return the share of one launch in s: a launch gets as much as its number of dense units weighs, 0.2 s at least."""
        if self.budget_s is None:
            return _DEFAULT_BUDGET_S
        return max(0.2, self.budget_s / self.runs * 2.0**k / sum(2.0**other for other in self.k))


@dataclass(frozen=True)
class MafiaProgress:
    """One launch has ended: which, of how many, and what is wrong with it (empty if nothing is)."""

    name: str
    done: int
    total: int
    remark: str


def measure_mafia(
    out: Path,
    settings: MafiaSettings | None = None,
    *,
    compiler: str = "cc",
    on_progress: Callable[[MafiaProgress], None] | None = None,
) -> list[str]:
    """Do every launch whose run file is missing in a folder, and return what is wrong with results, a text for each.

    `out`: folder; what was measured there with the same settings stays.
    `settings`: by default those of the paper.
    `compiler`: any C compiler; MPI is not needed.
    `on_progress`: called after each launch.
    Raises UsageError if the folder holds another campaign, or cannot be used; BuildError if the program cannot be
    compiled; LaunchError if a launch fails; what was measured before is kept.
    """
    settings = settings or MafiaSettings()
    folder = Folder(out)
    folder.require_usable()
    tree = sources("microbench")
    program = build(tree, compiler, makefile="mafia/Makefile").program("sk_mafia")
    facts = _facts(sources_hash(tree / "mafia"), compiler)
    launches = list(drawn_orders(settings.seed, ([(k, run) for k in settings.k] for run in range(settings.runs))))
    with folder.locked(), tempfile.TemporaryDirectory(prefix="scalkit-") as scratch:
        record = folder.record or {**new_record(settings, (_name(k, run) for k, run in launches)), "settings": {}, **facts}
        _require_same(folder.path, record, settings, facts)
        folder.write(record)
        remarks = [str(text) for text in record.get("remarks", ())]
        for number, (k, run) in enumerate(launches, 1):
            name = _name(k, run)
            if (out / f"{name}.jsonl").is_file():
                continue
            note = Path(scratch) / "provenance.json"
            note.write_text(
                json.dumps({**facts, "load_average": [round(value, 2) for value in os.getloadavg()]}), encoding="utf-8"
            )
            remark = _launch(program, out, settings, k, f"{record['id']}-r{run:02d}", name, note)
            if remark:
                remarks.append(remark)
                folder.write({**record, "remarks": remarks})
            if on_progress:
                on_progress(MafiaProgress(name, number, len(launches), remark))
    return remarks


def _launch(program: Path, out: Path, settings: MafiaSettings, k: int, run_id: str, name: str, note: Path) -> str:
    """Start the program once, put its run file in place, and return what is wrong with its result."""
    part = out / f"{name}.jsonl.part"
    options = {
        "out": part.absolute(),
        "n": settings.n,
        "d": settings.d,
        "k": k,
        "clusters": settings.clusters,
        "seed": settings.seed,
        "max-reps": settings.max_reps,
        "budget": f"{settings.budget_of(k):.3f}",
        "run-id": run_id,
        "provenance": note,
    }
    budget_s = settings.budget_of(k)
    units = settings.clusters * 2.0**k * max(1.0, settings.n / 1e5)
    least_s = (_LEAST_REPETITIONS + 1) * units * _SECONDS_A_UNIT
    outcome = _run(program, [f"--{key}={value}" for key, value in options.items()], 600 + 3 * budget_s + 100 * least_s)
    if outcome.status not in (0, _WRONG_RESULT):
        raise LaunchError(f"{name} {outcome.ending}; what was measured before is kept. {LAST_LINES}\n{outcome.last_lines}")
    os.replace(part, out / f"{name}.jsonl")
    if outcome.status == _WRONG_RESULT:
        return f"{name}: {outcome.output.strip().removeprefix('sk_mafia: ')}."
    return ""


def _run(program: Path, words: Sequence[str], timeout_s: float) -> Outcome:
    try:
        return run_program([str(program), *words], timeout_s=timeout_s)
    except OSError as error:
        raise LaunchError(f"cannot start {program}: {error.strerror or error}; delete it to have it built anew.") from error


def _name(k: int, run: int) -> str:
    return f"mafia-k{k:02d}-r{run:02d}"


def _facts(digest: str, compiler: str) -> dict[str, Any]:
    return {
        "program": {"name": "sk_mafia", "compiler": compiler, "sources": digest},
        "environment": environment(),
        "machine": machine(),
        "scalkit": __version__,
        "python": platform.python_version(),
    }


def _require_same(path: Path, record: Mapping[str, Any], settings: MafiaSettings, facts: Mapping[str, Any]) -> None:
    """Return nothing if the folder was begun with these settings, this program, on this machine."""
    own = {"arguments": settings.as_table(), **{name: facts[name] for name in ("program", "environment", "machine")}}
    if shown := first_change(record, own):
        raise UsageError(f"{path} holds another campaign: {shown}. Repeat it as it was, or name another folder.")
