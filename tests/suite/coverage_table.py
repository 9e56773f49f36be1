"""Combine the coverage data of all processes in a folder, and print statement and branch coverage by package."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from coverage import Coverage
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")
N_FILES = 10
"""Number of the files with the most uncovered lines that are listed."""


def combined(folder: Path) -> dict[str, Any]:
    """Combine the data of all processes, and return coverage.py's report for each file."""
    coverage = Coverage(data_file=str(folder / "data"), config_file=str(ROOT / "pyproject.toml"))
    coverage.combine([str(folder)], keep=False)
    coverage.save()
    report = folder / "coverage.json"
    coverage.json_report(outfile=str(report))
    return dict(json.loads(report.read_text(encoding="utf-8"))["files"])


def by_package(files: dict[str, Any]) -> dict[str, Counter[str]]:
    """Return the counts of each package of scalkit; modules beside the packages count as one."""
    totals: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, file in files.items():
        parts = Path(name).parts
        package = parts[1] if len(parts) > 2 else "top-level modules"
        for count in COUNTS:
            totals[package][count] += file["summary"][count]
            totals["all"][count] += file["summary"][count]
    return dict(totals)


def main() -> int:
    files = combined(Path(sys.argv[1]))
    totals = by_package(files)
    table = Table(title="Coverage of the tests and of the processes that they start")
    for name in ("package", "statements", "covered", "branches", "covered"):
        table.add_column(name, justify="left" if name == "package" else "right")
    for name, counts in sorted(totals.items(), key=lambda item: _share(item[1])):
        lines, branches = counts["num_statements"], counts["num_branches"]
        covered = f"{100 * counts['covered_lines'] / max(lines, 1):.1f} %"
        taken = f"{100 * counts['covered_branches'] / max(branches, 1):.1f} %"
        table.add_row(name, f"{lines:,}", covered, f"{branches:,}", taken)
    console = Console(width=100)
    console.print(table)
    least = sorted(files.items(), key=lambda item: -len(item[1]["missing_lines"]))[:N_FILES]
    console.print("The files with the most lines that no test reaches:")
    for name, file in least:
        lines = ", ".join(map(str, file["missing_lines"]))
        shown = lines if len(lines) < 80 else f"{lines[:76]} ..."
        console.print(f"  {name}: {shown}", highlight=False, markup=False, soft_wrap=True)
    return 0


def _share(counts: Counter[str]) -> float:
    both = counts["num_statements"] + counts["num_branches"]
    return (counts["covered_lines"] + counts["covered_branches"]) / max(both, 1)


if __name__ == "__main__":
    sys.exit(main())
