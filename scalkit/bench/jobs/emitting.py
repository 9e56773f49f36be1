"""A campaign for other tools: a test file of ReFrame, a benchmark of JUBE."""

import os
import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scalkit.bench.arguments import PROGRAMS, choose
from scalkit.bench.campaign.file import CampaignFile, Library, SlurmOptions
from scalkit.bench.campaign.folder import MEMORY_RUNS, STEMS
from scalkit.bench.jobs.script import filled, python_literal, xml_text
from scalkit.bench.libraries.installing import find_library
from scalkit.bench.libraries.mpi import cores, settings
from scalkit.errors import UsageError
from scalkit.native import sources

TOOLS = {"reframe": ".py", "jube": ".xml"}
"""Names of the tools, and how their files end."""

_KINDS = ("MPICH", "Open MPI", "Intel MPI")
_OVERSUBSCRIBE = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
"""What Open MPI is told in variables, of version 4 and 5, as its launcher is not ours."""


def emitted(file: CampaignFile, tool: str, name: str, library: str | None = None) -> str:
    """Return the file of another tool that measures the same.

    `tool`: one of `TOOLS`.
    `name`: of the file that is written.
    `library`: which one of several MPI libraries; each has a file of its own.
    Returns: Python for ReFrame, XML for JUBE. It compiles the microbenchmarks and keeps every run file.
    Raises UsageError if the campaign has what the tool cannot do, or its library was not added.
    """
    if any(variant.arguments.experiments for variant in file.variants):
        raise UsageError(
            f"{file.path} measures neighbourhoods, which {tool} is not told to do; use 'scalkit campaign run {file.path}', or "
            "submit it."
        )
    file = _with_one_library(file, tool, library)
    campaign = _campaign(file, tool)
    if tool == "reframe":
        return filled("reframe_test.py.jinja", python_literal, name=re.sub(r"[^\w.+-]+", "-", name), campaign=campaign)
    return filled("jube.xml.jinja", _jube_text, **_jube(file, campaign, name))


def _with_one_library(file: CampaignFile, tool: str, wanted: str | None) -> CampaignFile:
    """Return the campaign with the library that is wanted, which must be one that both tools can launch."""
    names = list(dict.fromkeys(variant.library.name for variant in file.variants))
    if wanted is not None and wanted not in names:
        raise UsageError(f"{file.path} has no MPI library {wanted!r}; it has {', '.join(names)}.")
    chosen = [variant for variant in file.variants if wanted in (None, variant.library.name)]
    if simulated := next((one.library.name for one in chosen if one.library.platform), None):
        raise UsageError(
            f"{file.path} has the simulated machine {simulated!r}, which {tool} cannot launch; measure it with 'scalkit campaign "
            f"run {file.path}', and leave it out here."
        )
    if chosen[0].library.network is not None:
        raise UsageError(
            f'{file.path} has clock = "virtual", which {tool} cannot launch; measure it with \'scalkit campaign run '
            f"{file.path}'."
        )
    if wanted is None and len(names) > 1:
        raise UsageError(
            f"{file.path} names {', '.join(names)}; a file for {tool} measures one MPI library: write one for each, with "
            f"--mpi {names[0]} and so on."
        )
    return replace(file, variants=tuple(replace(one, library=_with_paths(one.library)) for one in chosen))


def _with_paths(library: Library) -> Library:
    """Return a library of `scalkit mpi list` with the paths of its programs, which other tools do not know by name."""
    if library.is_own:
        return library
    added = find_library(library.name)
    return replace(library, mpicc=added.mpicc, mpiexec=added.mpiexec, environment=dict(added.environment))


def _campaign(file: CampaignFile, tool: str) -> dict[str, Any]:
    """Return what both tools need to know, as plain values."""
    first = file.variants[0].arguments
    libraries = {variant.library.name: variant.library for variant in file.variants}
    unknown = [kind for kind in first.kinds if kind not in PROGRAMS]
    if unknown:
        raise UsageError(f"{file.path} measures {unknown[0]!r}, which {tool} cannot; leave it out.")
    if first.refine is not None:
        raise UsageError(f"{file.path} refines {first.refine.over}, which {tool} cannot; leave out [refine].")
    (library,) = libraries.values()
    slurm = file.slurm or SlurmOptions()
    tree = sources("microbench")
    ops = choose(tree, first.kinds, first.ops)
    shared = {"collectives": {"datatype": first.datatype, **first.timing_options}}
    shared["memory"] = {"shapes": ",".join(first.shapes)}
    return {
        "id": secrets.token_hex(4),
        "sources": str(tree.absolute()),
        "mpicc": library.mpicc or "mpicc",
        "modules": [*slurm.modules, *library.modules],
        "environment": {
            **_first_on_path(library, tool),
            **_waiting(file, max(first.counts)),
            **slurm.environment,
            **library.environment,
        },
        "kinds": list(first.kinds),
        "stems": {kind: STEMS[kind] for kind in first.kinds},
        "programs": {kind: PROGRAMS[kind] for kind in first.kinds},
        "options": {kind: {"ops": ",".join(ops[kind]), **shared[kind]} for kind in first.kinds},
        "processes": list(first.counts),
        "sizes": _distinct([variant.arguments.size for variant in file.variants]),
        "processes_per_node": _distinct([variant.arguments.processes_per_node or 0 for variant in file.variants]),
        "runs": {kind: min(first.runs, MEMORY_RUNS) if kind == "memory" else first.runs for kind in first.kinds},
        "seed": first.seed,
    }


def _first_on_path(library: Library, tool: str) -> dict[str, str]:
    """Return what makes ReFrame start the launcher of a library that was added; it takes the first one on PATH."""
    if tool != "reframe" or library.is_own or not library.mpiexec:
        return {}
    return {"PATH": f"{Path(library.mpiexec).parent}:$PATH"}


def _waiting(file: CampaignFile, most: int) -> dict[str, str]:
    """Return settings for more processes than this machine has cores; each library ignores those of the others."""
    if file.slurm is not None or most <= cores():
        return {}
    waiting = {key: value for kind in _KINDS for key, value in settings(kind, oversubscribed=True).items()}
    return {**waiting, **{key: value for key, value in _OVERSUBSCRIBE.items() if key not in os.environ}}


def _jube(file: CampaignFile, campaign: Mapping[str, Any], name: str) -> dict[str, Any]:
    if campaign["processes_per_node"] != [0]:
        raise UsageError(f"{file.path}: JUBE's platform files place processes; leave processes_per_node out.")
    sized = {"collectives": {"size": "SIZE"}, "memory": {}}
    words = {
        kind: " ".join(f"--{key}={value}" for key, value in {**options, **sized[kind]}.items())
        for kind, options in campaign["options"].items()
    }
    library = file.variants[0].library
    launch = [library.mpiexec or "mpiexec", "-n", _Own("$p"), _Own("compile/bin/$program"), _Own("--out=$file")]
    launch += [_Own("--expect-np=$p"), _Own("--seed=$seed"), _Own("--run-id=$run_id"), _Own("$options")]
    before = [f"module load {shlex.quote(module)}" for module in campaign["modules"]]
    before += [f"export {key}={shlex.quote(value)}" for key, value in campaign["environment"].items()]
    measure = _command([*before, *(file.slurm.lines if file.slurm else ())], launch)
    if file.slurm:
        measure = _Own(f"{_sbatch(file.slurm)} --wrap {shlex.quote(f'{measure}; touch ended')}")
    make = ["make", "-C", campaign["sources"], f"MPICC={campaign['mpicc']}", _Own('BUILD="$$PWD/bin"')]
    only = [f"('$kind' != '{kind}' or $run &lt; {runs})" for kind, runs in campaign["runs"].items()]
    return {
        "name": name,
        "outpath": f"{Path(name).stem}_runs",
        "title": file.title or file.path.name,
        "campaign": {**campaign, "words": words, "most_runs": max(campaign["runs"].values())},
        "compile": _command(before, make),
        "measure": measure,
        "is_batch": file.slurm is not None,
        "runs_active": " and ".join(only) if len(set(campaign["runs"].values())) > 1 else "",
        "patterns": [one for kind in campaign["kinds"] for one in _patterns(kind, campaign["options"][kind]["ops"])],
    }


class _Own(str):
    """Text in which JUBE finds its parameters; in any other a dollar is a dollar."""

    __slots__ = ()


def _jube_text(value: object) -> str:
    return xml_text(value if isinstance(value, _Own) else str(value).replace("$", "$$"))


def _command(before: Sequence[str], words: Sequence[str]) -> _Own:
    """Return commands in turn, of which the last one is given as words."""
    last = " ".join(word if isinstance(word, _Own) else shlex.quote(word).replace("$", "$$") for word in words)
    return _Own(" && ".join([*(line.replace("$", "$$") for line in before), last]))


def _sbatch(slurm: SlurmOptions) -> str:
    options = slurm.options_of("account", "partition", "qos", "constraint", "reservation", "time")
    return " ".join(["sbatch", "--ntasks=$p", *(shlex.quote(one).replace("$", "$$") for one in [*options, *slurm.options])])


def _patterns(kind: str, ops: str) -> list[dict[str, str]]:
    """Return a pattern for each function: the statistic over all passes so far, of which JUBE takes the last."""
    what, unit = ("steady_B", "B") if kind == "memory" else ("q1_ns", "ns")
    return [
        {
            "name": f"{re.sub(r'[^A-Za-z0-9_]', '_', op)}_{what}",
            "unit": unit,
            "regex": rf'"op":"{re.escape(op)}",.*"{what}":([0-9]+)',
        }
        for op in ops.split(",")
    ]


def _distinct(values: Sequence[Any]) -> list[Any]:
    return list(dict.fromkeys(values))
