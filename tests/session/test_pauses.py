"""The collector of cyclic garbage waits for the end of an edit, and is as it was after it."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import scalkit as sk
from scalkit.session.observers import without_pauses


def test_an_edit_is_told_before_garbage_is_collected() -> None:
    p = 2.0 ** np.arange(1, 7)
    session = sk.Session(sk.measurements(p, 1 + p, name="f"), {"f": "p"})
    seen: list[bool] = []
    session.observe(lambda _: seen.append(gc.isenabled()))
    assert gc.isenabled()
    session.add_tick("p^(5/7)")
    assert seen == [False]
    assert gc.isenabled()


@pytest.mark.parametrize("is_on", [True, False])
def test_the_collector_is_left_as_it_was_also_after_an_error(is_on: bool) -> None:
    try:
        (gc.enable if is_on else gc.disable)()
        with pytest.raises(ZeroDivisionError), without_pauses():
            _ = 1 / int(gc.isenabled())
        assert gc.isenabled() is is_on
    finally:
        gc.enable()
