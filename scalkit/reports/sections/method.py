"""How the verdicts come about, with formulas as MathML so that no script is needed to draw them."""

from __future__ import annotations

from collections.abc import Iterator

from scalkit.reports.markup import big_o, esc, math
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section
from scalkit.validation import AnyVerdict
from scalkit.validation.posterior import SURE
from scalkit.validation.rules import TOLERANCE

__all__ = ["method"]

_STATISTICS = {
    "q1": "the first quartile, because disturbances only ever add time,",
    "median": "the median",
    "mean": "the mean",
    "min": "the least, because disturbances only ever add time,",
    "cut_mean": "the mean without the lowest and the highest quarter",
    "cut_mean_1": "the mean without the lowest quarter",
    "cut_mean_4": "the mean without the highest quarter",
    "cut_mean_12": "the mean of the upper half",
    "cut_mean_34": "the mean of the lower half",
}


def method(page: Page) -> Section:
    """Return the method in a few paragraphs, with the deviations and search spaces of this report."""
    own = _over_several() if page.result.over_several else _along_one()
    return Section.of(f'<div class="sheet">{_measurement(page)}{"".join(own)}{_changes(page)}{_settings(page)}</div>')


def _measurement(page: Page) -> str:
    return (
        "<h3>Measurement</h3><p>A run time is the time from a common start of all processes to the end of the last "
        f"one. Of the repetitions of a run, {_STATISTICS[page.result.statistic]} counts; the "
        "value of a setting summarises its runs in the same way. The memory of an object is the largest number of bytes that one "
        "process allocates for it. MPI's own memory is the proportional set size of a process after use, less what "
        "it had before MPI started and less the benchmark's own buffers.</p>"
    )


def _along_one() -> tuple[str, ...]:
    return (
        "<h3>Model</h3><p>For each function, every class on a ruler around the expectation is fitted by least squares "
        f"with relative weights:</p>{_model()}"
        "<p>The class with the largest adjusted coefficient of determination wins. A constant has none; a class must "
        "beat it by an F test at 5 %, or, where the metric is exact, by a growth that every run shows. Where no class "
        "comes near the values, all are fitted on a logarithmic scale instead, and a caveat says so.</p>"
        f"{_adjusted_r2()}",
        "<h3>Verdict</h3><p>The divergence δ compares the growth of the model G with the expectation E, without "
        f"coefficients. D is the deviation that is tolerated.</p>{_divergence()}"
        "<p>δ = 1 is a total match ✓, δ within the limits (a limit included) an approximate match ≈, anything else no "
        "match ✗. p* is the scale beyond which δ stays outside. A model below the lower limit grows slower than "
        "expected: worth knowing, and no failure.</p>"
        "<p>The best model alone does not say how sure that is. So every class of the ruler, and every sum of the "
        "expectation and a faster class, is weighed by how well it explains the values and their scatter. The weights add up "
        f"to a probability of each match. A match that is at least {100 * SURE:.0f} % probable is the verdict, with total and "
        "approximate taken together where total alone is not; otherwise the function is undecided ?. “Inside limits” is the "
        "probability of a total or approximate match.</p>",
        "<h3>Rules</h3><p>A rule such as <code>MPI_Allreduce &lt;= MPI_Reduce + MPI_Bcast</code> says that a function "
        "is not slower than a substitute built from others. It is violated where, in every run, the left side exceeds "
        f"the right side by more than {100 * TOLERANCE:.0f} %. Where the measurements keep it, the models say whether "
        "a larger scale will break it.</p>",
    )


def _changes(page: Page) -> str:
    """Return how changes are told from noise; nothing without a baseline."""
    comparison = page.result.comparison
    if comparison is None:
        return ""
    return (
        "<h3>Changes</h3><p>The growth of each model in the baseline is what is expected now, with the deviation that was given "
        "then or half of its leading class. A function grows faster ▲ or slower ▼ if that is at least "
        f"{100 * SURE:.0f} % probable to be no match; otherwise its values are compared at the largest setting that both have. "
        f"It costs more × or less ÷ if they changed by more than {100 * comparison.tolerance:g} % and by more than two standard "
        "errors of the ratio. Constant factors depend on the machine, so they fail only when asked; growth does not.</p>"
    )


def _over_several() -> tuple[str, ...]:
    return (
        "<h3>Model</h3><p>For each parameter the classes of its ruler compete, and no effect. The hypotheses are all sums of "
        "up to three products of these, with or without a constant, fitted by least squares with relative weights and "
        "coefficients that are not negative. How well each explains the values and their scatter, and how many it competes "
        "with, makes its probability; the most probable one is the model.</p>",
        "<h3>Verdict</h3><p>Along a parameter, the others fixed, the fastest term of the model is compared with that of the "
        "expectation; D is the deviation that is tolerated. A parameter that the expectation does not name is expected to have "
        "no effect. As a whole a model is a total match ✓ if it has the same leading terms, those that no other term outgrows "
        "along every parameter; an approximate match ≈ if each of its terms is at most an expected one times D along every "
        "parameter, and each expected term at most one of the model times D; anything else is no match ✗. The probabilities of "
        f"all hypotheses add up to one of each match; one that is at least {100 * SURE:.0f} % probable is the verdict, with "
        "total and approximate taken together where total alone is not; otherwise the function is undecided ?.</p>",
        "<h3>Effects</h3><p>The step of the model from the smallest to the largest measured point is shared among the "
        "parameters: the mean over all orders in which they may take it. What remains to 100 % is the value at the smallest "
        "point.</p>",
    )


def _mi(letter: str) -> str:
    return f"<mi>{letter}</mi>"


def _mo(sign: str) -> str:
    return f'<mo stretchy="false">{sign}</mo>'


def _of_p(letter: str) -> str:
    return f"{_mi(letter)}{_mo('(')}{_mi('p')}{_mo(')')}"


def _fraction(above: str, below: str) -> str:
    return f"<mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>"


def _block(content: str) -> str:
    return f'<math display="block">{content}</math>'


def _model() -> str:
    constant, coefficient = (f"<msub>{_mi('c')}<mn>{k}</mn></msub>" for k in (0, 1))
    exponential = f"<msup><mn>2</mn><mrow>{_mi('i')}{_mi('p')}</mrow></msup>"
    power, log = f"<msup>{_mi('p')}{_mi('j')}</msup>", f"<msup>{_mi('log')}{_mi('k')}</msup>{_mi('p')}"
    term = _mo("·").join((coefficient, exponential, power, log))
    return _block(f"{_of_p('G')}{_mo('=')}{constant}{_mo('+')}{term}")


def _adjusted_r2() -> str:
    above = f"{_mi('RSS')}{_mo('/')}{_mo('(')}{_mi('n')}{_mo('−')}<mn>2</mn>{_mo(')')}"
    below = f"{_mi('TSS')}{_mo('/')}{_mo('(')}{_mi('n')}{_mo('−')}<mn>1</mn>{_mo(')')}"
    left = f'<msup><mover>{_mi("R")}<mo stretchy="false">¯</mo></mover><mn>2</mn></msup>'
    return _block(f"{left}{_mo('=')}<mn>1</mn>{_mo('−')}{_fraction(above, below)}")


def _divergence() -> str:
    left = f"{_of_p('δ')}{_mo('=')}{_fraction(_of_p('G'), _of_p('E'))}{_mo(',')}<mspace width='1em'/>"
    right = f"{_fraction('<mn>1</mn>', _of_p('D'))}{_mo('≤')}{_of_p('δ')}{_mo('≤')}{_of_p('D')}"
    return _block(left + right)


def _rulers(verdict: AnyVerdict) -> Iterator[str]:
    for name, one in verdict.along.items():
        which = f"{name}: " if len(verdict.along) > 1 else ""
        yield f"{which}{one.space.name}, {len(one.space.ticks)} classes"


def _settings(page: Page) -> str:
    """Return, for each combination of expectation, deviation and search space in use, the functions it served."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for v in page.result.verdicts:
        ruler = esc("; ".join(_rulers(v)))
        groups.setdefault((big_o(v.expectation.growth), math(v.expectation.deviation), ruler), []).append(v.function)
    rows = "".join(
        f'<tr><td data-label="E">{e}</td><td data-label="D">{d}</td><td data-label="ruler">{space}</td>'
        f'<td data-label="functions">{esc(", ".join(functions))}</td></tr>'
        for (e, d, space), functions in groups.items()
    )
    head = "".join(f'<th scope="col">{text}</th>' for text in ("expectation E", "deviation D", "ruler", "functions"))
    return (
        '<h3>Settings of this report</h3><table class="stack">'
        "<caption>Expectations, deviations and rulers in use.</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )
