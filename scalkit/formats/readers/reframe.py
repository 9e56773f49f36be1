"""ReFrame's performance logs: fields between bars, one row for each run of a test."""

import re
from collections import Counter
from collections.abc import Mapping

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, Line, base_unit, finite, shortened
from scalkit.formats.readers.observed import Found, Gathered, Setting, identifier, setting_of
from scalkit.support.toml.tables import table_beside
from scalkit.support.units import scaled


def is_perflog(content: Content) -> bool:
    """Return whether the first line is the header of a performance log of ReFrame 4."""
    header = content.head.split("\n", 1)[0].split("|")
    return "result" in header and any(
        f"{name.removesuffix('_value')}_unit" in header for name in header if name.endswith("_value")
    )


def read_perflog(content: Content) -> Found:
    """Return the performance values in a log of ReFrame.

    The test's name without its parameters is the function; the parameters, which have columns of their own, are settings, and
    so is the number of tasks, ``p``, unless a parameter is called so. Rows of the same setting are repetitions. What failed is
    left out and said.

    Raises DataError if a row is damaged.

    Source: ReFrame, documentation, "Performance logging" (docs/references.md).
    """
    gathered = Gathered(content.where)
    failed: Counter[str] = Counter()
    machines: dict[str, None] = {}
    started: list[str] = []
    for line, row in content.table(lambda text: text.split("|")):
        machines[f"{row.get('system', '')}:{row.get('partition', '')}".strip(":")] = None
        started.append(row.get("job_completion_time", ""))
        if row["result"] not in ("pass", "xpass"):
            failed[_test(row)] += 1
        else:
            _add(content, line, row, gathered)
    if not len(gathered):
        why = f"all {sum(failed.values())} rows are failures" if failed else "there are no rows"
        raise DataError(f"{content.where} has no performance value: {why}; run the tests again.")
    return Found(
        "ReFrame performance log",
        gathered.observed(),
        attrs={
            "title": "what ReFrame measured",
            "measured_on": ", ".join(one for one in machines if one),
            "started": min(filter(None, started), default=""),
        },
        notes=[f"{name}: {count} runs that failed are left out" for name, count in failed.items()],
        cut=content.cut,
        incidental=("p", "environ"),
        advice="give the test a parameter, as in p = parameter([2, 4, 8])",
    )


def _add(content: Content, line: Line, row: Mapping[str, str], gathered: Gathered) -> None:
    variables = [name.removesuffix("_value") for name in row if name.endswith("_value") and f"{name[:-6]}_unit" in row]
    extra = {
        f"{name}{end}" for name in variables for end in ("_value", "_unit", "_ref", "_lower_thres", "_upper_thres", "_result")
    }
    extra |= set(table_beside(__file__, "names.toml")["reframe"]["own"])
    settings: dict[str, Setting] = {}
    for name, text in row.items():
        if name not in extra and text not in ("null", ""):
            settings[identifier(name)] = setting_of(text)
    tasks = finite(row.get("num_tasks", ""))
    if "p" not in settings and tasks:
        settings["p"] = tasks
    if (environment := row.get("environ", "")) not in ("", "builtin", "null"):
        settings["environ"] = environment[:60]
    function = _test(row)
    for name in variables:
        text = row[f"{name}_value"]
        if text in ("null", "None", ""):
            continue
        factor, base = base_unit(row[f"{name}_unit"])
        value = scaled(content.number(text, line, f"{name}_value"), factor)
        shown = f"{function}[{name}]" if base == "s" and len(variables) > 1 else function
        metric = "time" if base == "s" else name
        gathered.add(shown if metric == "time" else function, settings, [value], metric, base)
    if not variables:
        raise content.error(line, f"no column ends in _value; {shortened(line.text)} is no performance log.")


def _test(row: Mapping[str, str]) -> str:
    """Return the test's name without the parameters that follow it: ``ScanTest`` of ``ScanTest %n=1000``."""
    name = row.get("name") or row.get("display_name") or row.get("short_name") or "test"
    name = name[:300]
    return re.sub(r"\s+[%~@].*$", "", re.sub(r"\s*/[0-9a-f]{8}$", "", name)).strip() or "test"
