"""The how-to guides: their files are written and their commands run, as they stand there."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import DOCS, run_page
from tiers import slow_unless

PAGES = sorted(set((DOCS / "howto").glob("*.md")) - {DOCS / "howto/index.md"})
QUICK = [page for page in PAGES if page.stem not in ("any-program", "memory", "regions")]
"""The other ones measure a program for seconds."""


def test_there_are_twelve() -> None:
    index = (DOCS / "howto/index.md").read_text(encoding="utf-8")
    assert len(PAGES) == 12
    assert [page.name for page in PAGES if f"({page.name})" not in index] == []


@pytest.mark.parametrize("page", [slow_unless(page, *QUICK) for page in PAGES], ids=lambda page: page.stem)
def test_a_guide_does_what_it_says(page: Path, tmp_path: Path) -> None:
    assert run_page(page, tmp_path)
