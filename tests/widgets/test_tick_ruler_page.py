"""The ruler's script in a bare page: real mouse, real keys, a model that only holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from widget_page import at_rest

import scalkit as sk
from scalkit.growth import Growth
from scalkit.judge import Verdict
from scalkit.widgets import Ruler
from scalkit.widgets.base.templates import source

Show = Callable[..., Any]

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    p = 2.0 ** np.arange(1, 8)
    data = sk.measurements(p, 1 + 0.2 * np.sqrt(p) * np.log2(p), name="f")
    return sk.validate(data, {"f": "p"})["f"]


@pytest.fixture
def ruler(verdict: Verdict) -> Ruler:
    return Ruler(sk.SearchSpace.paper(sk.Expectation("p")), verdict=verdict, denominators=[1, 2, 3, 4])


def growths(page: Any) -> list[str]:
    return list(page.evaluate("() => state.ticks.map((t) => t.growth)"))


def tick(page: Any, growth: str) -> Any:
    return page.locator(f'.tick[data-growth="{growth}"]')


def centre(page: Any, growth: str) -> tuple[float, float]:
    at_rest(page)
    box = tick(page, growth).locator(".knob").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Any, growth: str, x: float, y: float, steps: int = 15) -> None:
    start = centre(page, growth)
    page.mouse.move(*start)
    page.mouse.down()
    for k in range(1, steps + 1):
        page.mouse.move(start[0] + (x - start[0]) * k / steps, start[1] + (y - start[1]) * k / steps)


def commits(page: Any) -> int:
    return int(page.evaluate("() => log.filter(([name]) => name === 'ticks').length"))


def focused(page: Any) -> str:
    return str(page.evaluate("() => document.activeElement.dataset.growth ?? ''"))


def test_drag_snaps_and_is_one_edit(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    (x0, y), (x1, _) = centre(page, "p^(1/2)"), centre(page, "p^(3/4)")
    drag(page, "p^(1/2)", x0 + (x1 - x0) * 0.6, y)
    page.wait_for_function("() => state.preview?.to === 'p^(2/3)'")
    assert commits(page) == 0
    assert page.evaluate("() => state.preview") == {"from": "p^(1/2)", "to": "p^(2/3)"}
    page.mouse.up()
    assert commits(page) == 1
    assert "p^(2/3)" in growths(page)
    assert "p^(1/2)" not in growths(page)
    assert page.evaluate("() => [state.selected, state.preview.final]") == ["p^(2/3)", True]
    assert {"growth": "p^(2/3)", "row": 0, "at": "2/3"} in page.evaluate("() => state.ticks")
    assert focused(page) == "p^(2/3)"


def test_previews_are_throttled(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    page.evaluate("() => { window.setTimeout = (f, ms) => { window.waiting = [f, ms]; return 1; }; }")
    (_, y), (x1, _) = centre(page, "p^(1/2)"), centre(page, "p^(7/4)")
    drag(page, "p^(1/2)", x1, y, steps=40)
    assert page.evaluate("() => log.filter(([name]) => name === 'preview').length") == 0
    assert page.evaluate("() => waiting[1]") >= 50
    page.evaluate("() => waiting[0]()")
    assert page.evaluate("() => log.filter(([name]) => name === 'preview').length") == 1
    page.mouse.up()


def test_drag_into_the_other_row(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    x, _ = centre(page, "p^2")
    drag(page, "p^2", x, centre(page, "p*log(p)")[1])
    page.mouse.up()
    assert "p^2*log(p)" in growths(page)
    assert "p^2" not in growths(page)


def test_drag_never_merges_ticks(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    n = len(growths(page))
    drag(page, "p^(1/2)", *centre(page, "p^(3/4)"))
    page.mouse.up()
    assert len(growths(page)) == n
    assert "p^(3/4)" in growths(page)


def test_escape_gives_a_drag_up(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    before = growths(page)
    _, y = centre(page, "p^(1/2)")
    drag(page, "p^(1/2)", centre(page, "p")[0] - 30, y)
    page.wait_for_function("() => log.some(([name]) => name === 'preview')")
    page.keyboard.press("Escape")
    page.mouse.up()
    assert growths(page) == before
    assert page.evaluate("() => state.preview") == {}
    assert tick(page, "p^(1/2)").count() == 1
    assert focused(page) == "p^(1/2)"


def test_results_that_arrive_during_a_drag_do_not_end_it(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    _, y = centre(page, "p^(1/2)")
    drag(page, "p^(1/2)", centre(page, "p")[0] - 60, y)
    moved = page.evaluate("() => document.querySelector('.tick.dragged').dataset.growth")
    page.evaluate("() => { model.set('best', 'p'); model.set('ticks', state.ticks.filter((t) => t.growth !== 'p^(1/2)')); }")
    assert page.evaluate("() => document.querySelector('.tick.dragged').dataset.growth") == moved
    assert page.locator(".mark.best").text_content() == "best, as expected"
    page.mouse.up()
    assert moved in growths(page)
    assert "p^(1/2)" not in growths(page)


def test_click_on_an_empty_place_adds(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    (x0, y), (x1, _) = centre(page, "p^(1/2)*log(p)"), centre(page, "p^(3/4)*log(p)")
    page.mouse.click(x0 + (x1 - x0) * 0.6, y)
    assert "p^(2/3)*log(p)" in growths(page)
    assert focused(page) == "p^(2/3)*log(p)"
    assert page.locator(".live").text_content() == "Added p to the power 2/3 times log p"


def test_keys(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    n = len(growths(page))
    tick(page, "p^(1/2)").focus()
    page.keyboard.press("ArrowRight")
    assert focused(page) == "p^(2/3)"
    page.keyboard.press("ArrowRight")
    assert focused(page) == "p^(4/3)", "what others hold is skipped"
    page.keyboard.press("ArrowLeft")
    assert focused(page) == "p^(2/3)"
    page.keyboard.press("l")
    assert focused(page) == "p^(2/3)*log(p)"
    page.keyboard.press("Home")
    assert focused(page) == "p^(1/3)*log(p)"
    page.keyboard.press("End")
    assert focused(page) == "p^2*log(p)"
    assert len(growths(page)) == n
    page.keyboard.press("Insert")
    assert len(growths(page)) == n + 1
    page.keyboard.press("Delete")
    page.keyboard.press("Backspace")
    assert len(growths(page)) == n - 1
    assert focused(page) in growths(page)
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+Shift+Z")
    page.keyboard.press("Control+y")
    assert page.evaluate("() => state.requests.map((r) => [r.n, r.type])") == [[1, "undo"], [2, "redo"], [3, "redo"]]
    page.keyboard.press("Tab")
    assert focused(page) == "", "the focus is never held"


def test_row_of_a_taken_place_is_refused_in_words(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    before = growths(page)
    tick(page, "p^(1/2)").focus()
    page.keyboard.press("L")
    assert growths(page) == before
    assert page.locator(".live").text_content() == "There is a tick p to the power 1/2 times log p already."


def test_the_focus_goes_to_the_next_tick_of_the_row(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    tick(page, "p^(1/2)").focus()
    page.keyboard.press("Delete")
    assert focused(page) == "p^(3/4)"
    tick(page, "p^2").focus()
    page.keyboard.press("Delete")
    assert focused(page) == "p^(7/4)"


def test_last_tick_stays(show: Show) -> None:
    page = show(Ruler(ticks=["p"]))
    tick(page, "p").focus()
    page.keyboard.press("Delete")
    assert growths(page) == ["p"]


def test_keys_of_an_exponential_ruler(show: Show) -> None:
    page = show(Ruler(expectation="k^3*2^k", denominators=[1, 2, 3, 4]))
    tick(page, "2^(3*k/4)").focus()
    page.keyboard.press("ArrowLeft")
    assert focused(page) == "2^(2*k/3)"
    page.keyboard.press("l")
    assert focused(page) == "k*2^(2*k/3)"
    tick(page, "k^3*2^k").focus()
    page.keyboard.press("ArrowRight")
    assert focused(page) == "k^3*2^(5*k/4)"
    assert growths(page) == [str(g) for g in sorted(Growth(text) for text in growths(page))]


def test_buttons_do_what_the_keys_do(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    assert page.get_by_role("button", name="slower").is_disabled()
    x, y = centre(page, "p^(1/2)")
    page.mouse.click(x, y)
    page.get_by_role("button", name="faster").click()
    assert page.evaluate("() => state.selected") == "p^(2/3)"
    page.get_by_role("button", name="× log p").click()
    assert page.evaluate("() => state.selected") == "p^(2/3)*log(p)"
    page.get_by_role("button", name="÷ log p").click()
    page.get_by_role("button", name="delete").click()
    assert "p^(2/3)" not in growths(page)
    page.get_by_role("textbox").fill("p^2*log(p)^2")
    page.keyboard.press("Enter")
    assert page.evaluate("() => state.requests") == [{"n": 1, "type": "add", "text": "p^2*log(p)^2"}]


def test_readonly(show: Show, ruler: Ruler) -> None:
    ruler.readonly = True
    page = show(ruler)
    before = growths(page)
    drag(page, "p^(1/2)", *centre(page, "p"))
    page.mouse.up()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Delete")
    assert growths(page) == before
    assert page.get_by_role("button").count() == 0
    assert focused(page) == "p^(1/2)"
    assert tick(page, "p^(1/2)").get_attribute("aria-readonly") == "true"


def test_what_screen_readers_hear(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    best = tick(page, "p^(1/2)*log(p)")
    assert best.get_attribute("role") == "slider"
    weight = f"{round(ruler.weights[ruler.best] * 100)} percent probable"
    assert best.get_attribute("aria-valuetext") == f"p to the power 1/2 times log p, best fit, {weight}, inside the limits"
    assert tick(page, "p").get_attribute("aria-valuetext") == "p, expected, inside the limits"
    assert tick(page, "p^(3/2)*log(p)").get_attribute("aria-valuetext") == ("p to the power 3/2 times log p, outside the limits")
    assert tick(page, "p^2").get_attribute("aria-valuenow") == "2"


def test_limits_are_those_of_python(show: Show) -> None:
    for text in ("p", "log(p)", "1", "p^2*log(p)", "k^3*2^k"):
        expectation = sk.Expectation(text)
        page = show(Ruler(expectation=expectation))
        said = page.evaluate(
            """() => [...document.querySelectorAll('.tick')].map((t) =>
              [t.dataset.growth, t.getAttribute('aria-valuetext').endsWith('inside the limits')])"""
        )
        assert said == [[g, expectation.match(Growth(g)) != "none"] for g, _ in said]
        assert len(said) > 10


def test_every_focusable_keeps_shortcuts_away(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    left = page.evaluate(
        """() => [...document.querySelectorAll('.sk-ruler :is([tabindex], button, input, summary)')]
          .filter((e) => e.dataset.lmSuppressShortcuts !== 'true').length"""
    )
    assert left == 0


@pytest.mark.parametrize("readonly", [False, True])
def test_one_stop_for_the_tab_key_and_arrows_inside(show: Show, ruler: Ruler, readonly: bool) -> None:
    ruler.readonly = readonly
    page = show(ruler)
    shown = "() => [...document.querySelectorAll('.tick')].map((one) => one.dataset.growth)"
    stops = "() => [...document.querySelectorAll('.tick')].filter((one) => one.tabIndex === 0).map((one) => one.dataset.growth)"
    ticks, best = page.evaluate(shown), ruler.best
    assert page.evaluate(stops) == [best]
    tick(page, best).focus()
    place = ticks.index(best)
    for key, step in (("ArrowUp", -1), ("ArrowUp", -1), ("ArrowDown", 1)):
        page.keyboard.press(key)
        place += step
        assert focused(page) == ticks[place]
        assert page.evaluate(stops) == [ticks[place]]
    page.keyboard.press("Tab")
    assert focused(page) == ""
    page.keyboard.press("Shift+Tab")
    assert focused(page) == ticks[place]
    assert page.evaluate(shown) == ticks


def test_end_of_the_view_leaves_no_listener(show: Show, ruler: Ruler) -> None:
    page = show(ruler)
    assert page.evaluate("() => listeners()") > 0
    page.evaluate("() => stop()")
    assert page.evaluate("() => listeners()") == 0


def test_texts_of_python_are_no_markup(show: Show) -> None:
    page = show(Ruler(ticks=["1", "p"]), problem="<img src=x onerror=alert(1)>", label="<b>x</b>")
    assert page.locator(".problem").text_content() == "<img src=x onerror=alert(1)>"
    assert page.locator(".sk-ruler img").count() == 0


@pytest.mark.parametrize("width", [360, 700, 1200])
def test_handles_keep_apart_at_every_width(show: Show, verdict: Verdict, width: int) -> None:
    page = show(Ruler(verdict=verdict), width=width)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    close = page.evaluate(
        """() => {
          const boxes = [...document.querySelectorAll('.tick .knob')].map((k) => k.getBoundingClientRect());
          const at = boxes.map((b) => [b.x + b.width / 2, b.y + b.height / 2]);
          return at.flatMap(([x, y], i) => at.slice(i + 1).filter(([u, v]) => Math.hypot(x - u, y - v) < 24)).length;
        }"""
    )
    assert close == 0


@pytest.mark.parametrize(("width", "theme"), [(1000, "light"), (1000, "dark"), (360, "light")])
def test_axe_finds_nothing(show: Show, axe: Callable[[Any], list[Any]], verdict: Verdict, width: int, theme: str) -> None:
    page = show(Ruler(verdict=verdict), width=width, theme=theme, problem="That is no growth.", selected="p")
    assert axe(page) == []


def test_script_prints_growths_as_python_does(show: Show) -> None:
    texts = [
        *(
            "1",
            "p",
            "p^2",
            "p^(1/2)",
            "log(p)",
            "log(p)^(3/4)",
            "p*log(p)",
            "p^(1/3)/log(p)",
            "2^p",
            "2^(3*p)",
            "2^(p/2)",
            "2^(3*p/2)",
        ),
        *("p^3*2^p", "p^3*log(p)^2*2^(p/4)", "1/p", "1/log(p)^(1/2)", "1/2^p", "p/log(p)", "p^(5/4)*log(p)^(7/3)"),
    ]
    growths = [Growth(text) for text in texts]
    page = show(Ruler(ticks=["1"]))
    script = source("ruler/growth.js") + "\nexport { readGrowth, showGrowth, compare };"
    found = page.evaluate(
        """async ([script, texts, classes]) => {
          const { readGrowth, showGrowth, compare } = await load(script);
          const shown = texts.map((t) => showGrowth(readGrowth(t), classes));
          return [shown, [...texts].sort((a, b) => compare(readGrowth(a), readGrowth(b), classes))];
        }""",
        [script, [str(g) for g in growths], ["2^p", "p", "log(p)"]],
    )
    assert found == [[str(g) for g in growths], [str(g) for g in sorted(growths)]]
