"""Every row of the paper's result data base has a test that runs it: the table in paper.md names them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = re.compile(r"^\| \d[\w, .]* \| (?P<what>[^|]+) \| `(?P<file>tests/[\w/]+\.py)`, `(?P<test>test_\w+)` \|$", re.M)


def test_each_row_names_a_test_that_is_there() -> None:
    rows = list(TABLE.finditer((Path(__file__).parent / "paper.md").read_text(encoding="utf-8")))
    assert len(rows) >= 18
    for row in rows:
        source = (ROOT / row["file"]).read_text(encoding="utf-8")
        assert re.search(rf"^def {row['test']}\(", source, re.M), f"{row['what']}: {row['test']} is not in {row['file']}"
        marks = source[: source.index(f"def {row['test']}(")].rpartition("\n\n\n")[2]
        assert "skip" not in marks, row["what"]
