"""What a session begins with besides measurements and expectations: a baseline, a parameter, nothing to judge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from session_data import EXPECTATIONS, made

import scalkit as sk
from scalkit.errors import DataError, ExpectationError

BY_TWO = {
    "function": ["f"] * 50,
    "p": np.tile([2, 4, 8, 16, 32], 10),
    "n": np.repeat([1, 2, 4, 8, 16, 32, 64, 128, 256, 512], 5),
    "time": 1e-6 * np.repeat([1, 2, 4, 8, 16, 32, 64, 128, 256, 512], 5),
}


@pytest.fixture
def compared(data):
    """Return a result that is compared with a baseline; one of its functions is judged by a product."""
    baseline = sk.Baseline(sk.validate(data, EXPECTATIONS))
    return sk.validate(made(seed=2).assign(time=lambda new: new["time"] * (1 + (new["function"] == "gather"))), baseline)


def same(one, other):
    assert [v.sentence for v in one] == [v.sentence for v in other]
    assert one.headline == other.headline
    assert one.comparison.headline == other.comparison.headline


def test_a_session_against_a_baseline_says_what_validate_says(compared):
    assert compared.comparison["gather", "time"].kind == "factor"
    same(sk.Session(compared).result, compared)
    session = sk.Session(compared.data, compared.comparison.baseline)
    same(session.result, compared)
    assert session.baseline is compared.comparison.baseline


def test_a_baseline_is_saved_with_the_session(compared, tmp_path: Path):
    session = sk.Session(compared).select("bcast").expect("p")
    kept = session.save(tmp_path / "s.json").to_dict()
    again = sk.Session.load(tmp_path / "s.json")
    assert again.to_dict() == kept
    same(again.undo().result, compared)


def test_an_expectation_replaces_the_status_quo(compared):
    session = sk.Session(compared).select("bcast").expect("p")
    assert str(session.verdict.expectation.growth) == "p"
    assert [c.kind for c in session.result.comparison] == [c.kind for c in compared.comparison]
    same(session.undo().result, compared)
    same(session.redo().undo().use_data(made(seed=2)).undo().result, compared)


def test_a_baseline_over_another_parameter_is_named(compared):
    other = sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], parameter="n", name="bcast")
    for call in (sk.Session, sk.validate):
        with pytest.raises(DataError, match=r"^the parameter of 'time' of 'bcast' is 'n', in the baseline 'p'; compare "):
            call(other, compared.comparison.baseline)


def test_code_of_a_session_opens_its_baseline(compared, tmp_path: Path):
    session = sk.Session(compared)
    assert "baseline = sk.Baseline.load('baseline.json')\n" in session.as_code()
    session.save(tmp_path / "s.json")
    code = sk.Session.load(tmp_path / "s.json").as_code()
    names: dict[str, object] = {}
    exec(compile(code, "session", "exec"), names)
    same(names["session"].result, compared)  # type: ignore[attr-defined]


def test_without_a_verdict_there_is_no_all_clear(data):
    expected = "no measured function has an expectation: measured are bcast, gather, reduce, split, alone; expectations name x"
    with pytest.raises(ExpectationError, match=f"^{expected}"):
        sk.validate(data, {"x": "p"})
    session = sk.Session(data, {"x": "p"})
    assert session.result.headline == expected
    assert session.result.answer == "cannot tell"
    assert expected in repr(session)
    few = sk.Session(data.isel(p=[0, 1, 2]), {"bcast": "log p"})
    assert few.result.headline.startswith("nothing was judged: ")
    assert "3" in few.result.headline


@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_a_table_is_read_over_a_parameter(form):
    for parameter in ("n", ["p", "n"]):
        session = sk.Session(form(BY_TWO), parameter=parameter)
        assert session.parameters == ((parameter,) if isinstance(parameter, str) else tuple(parameter))


def test_paths_that_hold_something_else_without_the_parameter_are_not_kept(tmp_path: Path):
    pd.DataFrame(BY_TWO).to_csv(tmp_path / "table.csv", index=False)
    plain = sk.Session(tmp_path / "table.csv", parameter=["p", "n"])
    assert plain.parameters == ("p", "n")
    plain.save(tmp_path / "s.json")
    assert sk.Session.load(tmp_path / "s.json").parameters == ("p", "n")


def test_several_data_sets_are_not_a_table(data):
    for several in ({"old": data, "new": data}, {"old": "a.json", "new": ["b.json", Path("c.json")]}):
        for call in (sk.Session, sk.plot, lambda given: sk.validate(given, "mpi")):
            with pytest.raises(DataError, match=r"^there are several data sets, old, new; give one of them, or compare them by "):
                call(several)
