"""A ruler and a session: one gesture is one step, and the page shows what the session holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from widget_page import ask, from_page

import scalkit as sk
from scalkit.measure import combine
from scalkit.session import Session
from scalkit.widgets import Ruler

Wire = list[tuple[str, str, dict[str, Any]]]
P = 2.0 ** np.arange(1, 8)


@pytest.fixture
def session() -> Session:
    data = sk.measurements(P, 1 + 0.2 * np.sqrt(P) * np.log2(P), name="f")
    return Session(data, {"f": "p"})


@pytest.fixture
def ruler(wire: Wire, session: Session) -> Ruler:
    return Ruler(session=session)


def texts(ruler: Ruler) -> list[str]:
    return [tick["growth"] for tick in ruler.ticks]


def edited(ruler: Ruler, *, gone: str = "", new: str = "") -> list[dict[str, str]]:
    """Return what the page sends when a tick went or came."""
    kept = [{"growth": text} for text in texts(ruler) if text != gone]
    return kept + ([{"growth": new}] if new else [])


def test_session_is_shown(ruler: Ruler, session: Session) -> None:
    assert ruler.growths == session.space.ticks
    assert (ruler.expectation, ruler.best) == ("p", str(session.verdict.model.growth))
    assert not ruler.can_undo
    session.expect("p^(1/2)*log(p)")
    assert ruler.expectation == "p^(1/2)*log(p)"
    assert ruler.limits == [str(limit) for limit in session.expectation.limits]
    assert ruler.growths == session.space.ticks
    assert ruler.can_undo


@pytest.mark.parametrize(
    ("gone", "new", "step"),
    [
        ("p^(1/4)", "p^(1/5)", "move tick p^(1/4) to p^(1/5)"),
        ("", "p^(1/5)", "add tick p^(1/5)"),
        ("p^(1/4)", "", "remove tick p^(1/4)"),
    ],
)
def test_a_gesture_is_a_step_with_its_name(ruler: Ruler, session: Session, gone: str, new: str, step: str) -> None:
    before = session.space
    from_page(ruler, ticks=edited(ruler, gone=gone, new=new))
    assert session.history == (step,)
    assert ruler.growths == session.space.ticks
    ask(ruler, "undo")
    assert session.space == before
    assert ruler.growths == before.ticks
    assert ruler.can_redo
    ask(ruler, "redo")
    assert session.history == (step,)


def test_many_changes_at_once_are_one_step(ruler: Ruler, session: Session) -> None:
    ruler.ticks = ["1", "p", "p^2"]
    assert session.history == ("set ticks",)
    assert texts(ruler) == ["1", "p", "p^2"]


def test_a_drag_is_followed_and_one_step(ruler: Ruler, session: Session) -> None:
    seen: list[Any] = []
    session.observe(lambda _: seen.append(session.space.ticks))
    start = edited(ruler, gone="p^(1/2)")
    for to in ("p^(2/5)", "p^(3/5)"):
        from_page(ruler, preview={"from": "p^(1/2)", "to": to})
        assert to in {str(tick) for tick in session.space.ticks}
    end = {"from": "p^(1/2)", "to": "p^(4/5)", "final": True}
    from_page(ruler, selected="p^(4/5)", ticks=[*start, {"growth": "p^(4/5)"}], preview=end)
    assert session.history == ("move tick p^(1/2) to p^(4/5)",)
    assert "p^(4/5)" in texts(ruler)
    assert not {"p^(1/2)", "p^(2/5)", "p^(3/5)"} & set(texts(ruler))
    assert len(seen) >= 3
    session.undo()
    assert "p^(1/2)" in texts(ruler)
    assert session.history == ()


def test_no_ticks_are_sent_during_a_drag(ruler: Ruler, session: Session, wire: Wire) -> None:
    """They could arrive after the tick was dropped, and remove it with focus and selection."""
    wire.clear()
    for to in ("p^(2/5)*log(p)", "p^(3/5)*log(p)"):
        from_page(ruler, preview={"from": "p^(1/2)*log(p)", "to": to})
        assert to in {str(tick) for tick in session.space.ticks}
    sent = [data["state"] for _, _, data in wire if data["method"] == "update"]
    assert any("weights" in state for state in sent)
    assert [state["ticks"] for state in sent if "ticks" in state] == []


def test_a_drag_that_ends_where_the_session_is_already_is_one_step(ruler: Ruler, session: Session) -> None:
    start = edited(ruler, gone="p^(1/2)")
    from_page(ruler, preview={"from": "p^(1/2)", "to": "p^(2/5)"})
    from_page(ruler, ticks=[*start, {"growth": "p^(2/5)"}], preview={"from": "p^(1/2)", "to": "p^(2/5)", "final": True})
    assert session.history == ("move tick p^(1/2) to p^(2/5)",)
    from_page(ruler, ticks=edited(ruler, gone="p^(1/3)"))
    assert session.history[1:] == ("remove tick p^(1/3)",)


def test_a_drag_that_ends_elsewhere_in_the_same_message_is_named_by_where_it_ends(ruler: Ruler, session: Session) -> None:
    start = edited(ruler, gone="p^(1/2)")
    from_page(ruler, preview={"from": "p^(1/2)", "to": "p^(2/5)"})
    from_page(ruler, ticks=[*start, {"growth": "p^(4/5)"}])
    assert session.history == ("move tick p^(1/2) to p^(4/5)",)


def test_a_drag_that_was_given_up_is_no_step(ruler: Ruler, session: Session) -> None:
    before = session.space
    from_page(ruler, preview={"from": "p^(1/2)", "to": "p^(2/5)"})
    from_page(ruler, preview={})
    assert session.history == ()
    assert ruler.growths == before.ticks


def test_what_the_session_refuses_is_said_and_taken_back(ruler: Ruler, session: Session, wire: Wire) -> None:
    before = list(ruler.ticks)
    wire.clear()
    from_page(ruler, ticks=edited(ruler, gone="p"))
    assert "expect" in ruler.problem
    assert ruler.ticks == before
    assert session.history == ()
    sent = [data["state"] for _, _, data in wire if data["method"] == "update" and "ticks" in data["state"]]
    assert sent[-1]["ticks"] == before
    from_page(ruler, ticks=edited(ruler, gone="p^(1/3)"))
    assert ruler.problem == ""


def test_text_from_the_page_is_a_step(ruler: Ruler, session: Session) -> None:
    ask(ruler, "add", "p^4")
    assert session.history == ("add tick p^4",)
    assert ruler.selected == "p^4"
    ask(ruler, "add", "p^4 +")
    assert ruler.problem != ""
    assert session.history == ("add tick p^4",)


def test_undo_at_the_beginning_does_nothing(ruler: Ruler, session: Session) -> None:
    ask(ruler, "undo")
    ask(ruler, "redo")
    assert (session.history, ruler.problem) == ((), "")


def test_two_rulers_show_the_same(ruler: Ruler, session: Session) -> None:
    other = Ruler(session=session)
    from_page(ruler, ticks=edited(ruler, gone="p^(1/4)"))
    assert other.ticks == ruler.ticks
    other.close()
    from_page(ruler, ticks=edited(ruler, gone="p^(1/3)"))
    assert "p^(1/3)" in texts(other)


def test_function_without_expectation(wire: Wire) -> None:
    data = combine([sk.measurements(P, P, name="f"), sk.measurements(P, P**2, name="g")])
    session = Session(data, {"f": "p"})
    ruler = Ruler(session=session)
    assert ruler.absent == ""
    session.select("g")
    assert ruler.absent == session.problem != ""
    session.expect("p^2")
    assert (ruler.absent, ruler.expectation) == ("", "p^2")
    session.undo()
    assert Ruler(session=session).absent != ""


def test_ruler_along_one_of_several_parameters(wire: Wire) -> None:
    p, s = np.meshgrid(2.0 ** np.arange(1, 6), 10.0 ** np.arange(1, 6))
    points = np.stack([p.ravel(), s.ravel()], axis=1)
    data = sk.measurements(points, (np.log2(p) * s).ravel(), parameter=["p", "S"], name="f")
    session = Session(data, {"f": "log(p)*S"})
    ruler = Ruler(session=session, parameter="S")
    assert (ruler.parameter, ruler.expectation, ruler.best) == ("S", "S", "S")
    from_page(ruler, ticks=edited(ruler, gone="S^(1/2)"))
    assert session.history == ("remove tick S^(1/2)",)
    assert ruler.growths == session.spaces["S"].ticks


def test_link_ends(ruler: Ruler, session: Session) -> None:
    assert ruler.link is not None
    ruler.link.close()
    session.add_tick("p^4")
    assert "p^4" not in texts(ruler)


def test_edits_and_requests_that_arrive_together_keep_their_order(ruler: Ruler, session: Session) -> None:
    asked = [{"n": 1, "type": "undo"}, {"n": 2, "type": "redo"}, {"n": 3, "type": "undo"}]
    from_page(ruler, requests=asked, ticks=edited(ruler, gone="p^(1/4)"))
    assert session.history == ()
    assert session.undone == ("remove tick p^(1/4)",)
    from_page(ruler, requests=asked, selected="p")
    assert session.undone == ("remove tick p^(1/4)",), "each is answered once"
