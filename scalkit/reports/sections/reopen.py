"""How to open the page as a session, and how to make it again, in commands and in Python."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from scalkit.options import Judging
from scalkit.reports.inputs import named_parameters
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section
from scalkit.session.code import code_of, option_code


def reopen(page: Page) -> Section:
    """Return how to open the page as a session, the commands that make it again, and the same verdicts in Python."""
    commands = [measuring(page.arguments, page.campaign.get("mpi"), page.campaign.get("virtual"))] if page.arguments else []
    changed = ""
    if page.session is not None or not (page.expectations_name or page.judged_by_baseline) or page.rules:
        changed = "The session was changed" if page.session is not None else "Expectations or rules were stated"
    else:
        commands += _judging(page)
    opening = [
        "import scalkit as sk",
        "",
        'session = sk.Session.load("report.html")  # the name of this file',
        "sk.explore(session)  # in a notebook: change it",
        "session.result  # the verdicts",
    ]
    is_inside = page.session_values["data"]["netcdf"] is not None
    known = {"changed": changed, "is_inside": is_inside, "python": _python(page)}
    return Section.rendered("reopen.html", page=page, opening=opening, commands=commands, **known)


def _judging(page: Page) -> list[str]:
    """Return the commands that write the same report and print the same verdicts."""
    runs = [as_path(run) for run in page.named]
    is_told = page.judged_by_baseline and page.baseline_kind != "measurements"
    expect = [] if is_told or page.expectations_name in ("", "mpi") else ["--expect", as_path(page.expectations_name)]
    options = [*expect, *shared_options(page.fail_on, page.judging, page.read_along)]
    compared = ["--baseline", as_path(page.baseline_name)] if page.baseline else []
    template = ["--template", "regression"] if page.judged_by_baseline else []
    targets = ["--target-p", ",".join(f"{x:g}" for x in page.targets)] if page.targets else []
    shown = ["--real-times", as_path(page.real_times_name)] if page.real_times_name else []
    commands = [
        shlex.join(["scalkit", "report", *template, *runs, *options, *compared, *shown, *targets, "--out", "report.html"])
    ]
    is_kept = not compared or (page.judged_by_baseline and page.baseline_kind == "baseline")
    return commands + [shlex.join(["scalkit", "validate", *runs, *options, *compared])] * is_kept


def as_path(name: str) -> str:
    """Return a path so that no command takes it for an option."""
    return f"./{name}" if name.startswith("-") else name


def shared_options(fail_on: Sequence[str], judging: Judging, parameter: str = "") -> list[str]:
    """Return the options that report and validate share, as far as they are not the defaults."""
    options = [word for each in fail_on for word in ("--fail-on", each)]
    told = [(f"--{name.replace('_', '-')}", str(value)) for name, value in judging.changed.items()]
    return [*options, *(word for pair in told for word in pair), *["--parameter", parameter] * bool(parameter)]


def _python(page: Page) -> list[str]:
    """Return the lines that give the same verdicts in Python."""
    if page.session is not None:
        return code_of(page.session, "report.html").splitlines()
    data = repr(page.named[0]) if len(page.named) == 1 else repr(list(page.named))
    expected = repr(page.expectations_name) if page.expectations_name else "expectations"
    load = _baseline(page) if page.baseline is not None else []
    words = ["data", "baseline" if page.judged_by_baseline else expected]
    words += [f"rules={list(page.rules)!r}"] * bool(page.rules)
    for name, value in page.judging.changed.items():
        words.append(f"{name}={repr(value) if isinstance(value, str | int) else option_code(value)}")
    status = [f"print(result.exit_status({list(page.fail_on)!r}))"] if page.fail_on else []
    along = _along(page)
    read, result = f"data = sk.read({data}{along})", f"result = sk.validate({', '.join(words)})"
    compared = ["print(baseline.compare(result).headline)"] * (page.baseline is not None)
    return ["import scalkit as sk", "", read, *load, result, "print(result.to_frame())", *compared, *status]


def _baseline(page: Page) -> list[str]:
    """Return the line that gives the baseline."""
    name = repr(page.baseline_name)
    if page.baseline_kind == "baseline":
        return [f"baseline = sk.Baseline.load({name})"]
    if page.baseline_kind == "session":
        return [f"baseline = sk.Baseline.from_result(sk.Session.load({name}).result)"]
    expected = repr(page.expectations_name or "mpi")
    return [f"baseline = sk.Baseline.from_result(sk.validate(sk.read({name}{_along(page)}), {expected}))"]


def _along(page: Page) -> str:
    """Return the argument of `scalkit.read` that names the parameters, after a comma; empty if the files say them."""
    return f", parameter={named_parameters(page.read_along)!r}" if page.read_along else ""


def measuring(arguments: Mapping[str, Any], mpi: object = None, virtual: object = None) -> str:
    """Return the command that repeats a campaign, from the arguments, MPI library and virtual machine in its record."""
    options = {"runs": "--runs", "budget_s": "--budget", "ops": "--ops", "size": "--size", "datatype": "--datatype"}
    options |= {"sync": "--sync", "shapes": "--shapes", "max_reps": "--max-reps", "seed": "--seed"}
    options |= {"min_reps": "--min-reps", "standard_error": "--standard-error", "cut_quartiles": "--cut-quartiles"}
    kinds = arguments.get("kinds", ())
    words = ["scalkit", "measure", *(map(str, kinds) if isinstance(kinds, list | tuple) else [str(kinds)])]
    words += ["-n", as_word(arguments.get("counts", ()))]
    if counts := arguments.get("memory_counts"):
        words += ["--memory-n", as_word(counts)]
    words += _on_network(virtual)
    programs = {key: mpi.get(key) for key in ("mpicc", "mpiexec")} if isinstance(mpi, Mapping) else {}
    for key, option in {**options, "mpicc": "--mpicc", "mpiexec": "--mpiexec"}.items():
        value = programs.get(key, arguments.get(key))
        if value is not None and value not in ("", [], ()):
            words += [option, as_word(value)]
    words += ["--per-process"] * (arguments.get("per_process") is True)
    words += _refining(arguments.get("refine"))
    return shlex.join([*words, "--out", "runs/again"])


def _on_network(virtual: object) -> list[str]:
    """Return the options of virtual time."""
    if not isinstance(virtual, Mapping):
        return []
    network, per_node = virtual.get("network"), virtual.get("per_node", 1)
    words = ["--clock", "virtual", *(["--network", str(network)] if network else [])]
    return [*words, *(["--per-node", str(per_node)] if per_node != 1 else [])]


def _refining(given: object) -> list[str]:
    """Return the options of automatic refinement."""
    if not isinstance(given, Mapping):
        return []
    options = {"over": "--refine", "allowed": "--allowed-bend", "smallest_step": "--smallest-step"}
    options |= {"max_points": "--max-points"}
    return [word for key, option in options.items() if key in given for word in (option, as_word(given[key]))]


def as_word(value: object) -> str:
    """Return an argument as it is written after its option."""
    if isinstance(value, list | tuple):
        return ",".join(str(each) for each in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
