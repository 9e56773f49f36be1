"""How the verdicts come about, with formulas as MathML so that no script is needed to draw them."""

from __future__ import annotations

from scalkit.reports.markup import big_o, esc, math
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section

__all__ = ["method"]

_MODEL = (
    '<math display="block"><mi>G</mi><mo>(</mo><mi>p</mi><mo>)</mo><mo>=</mo><msub><mi>c</mi><mn>0</mn></msub><mo>+</mo>'
    "<msub><mi>c</mi><mn>1</mn></msub><mo>·</mo><msup><mn>2</mn><mrow><mi>a</mi><mi>p</mi></mrow></msup><mo>·</mo>"
    "<msup><mi>p</mi><mi>b</mi></msup><mo>·</mo><msup><mi>log</mi><mi>c</mi></msup><mi>p</mi></math>"
)
_R2 = (
    '<math display="block"><msup><mover><mi>R</mi><mo>¯</mo></mover><mn>2</mn></msup><mo>=</mo><mn>1</mn><mo>−</mo>'
    "<mfrac><mrow><mi>RSS</mi><mo>/</mo><mo>(</mo><mi>n</mi><mo>−</mo><mn>2</mn><mo>)</mo></mrow>"
    "<mrow><mi>TSS</mi><mo>/</mo><mo>(</mo><mi>n</mi><mo>−</mo><mn>1</mn><mo>)</mo></mrow></mfrac></math>"
)
_DELTA = (
    '<math display="block"><mi>δ</mi><mo>(</mo><mi>p</mi><mo>)</mo><mo>=</mo><mfrac><mrow><mi>G</mi><mo>(</mo><mi>p</mi>'
    "<mo>)</mo></mrow><mrow><mi>E</mi><mo>(</mo><mi>p</mi><mo>)</mo></mrow></mfrac><mo>,</mo><mspace width='1em'/>"
    "<mfrac><mn>1</mn><mi>D</mi></mfrac><mo>≤</mo><mi>δ</mi><mo>≤</mo><mi>D</mi></math>"
)


def method(page: Page) -> Section:
    """Return the method in a few paragraphs, with the deviations and search spaces of this report."""
    return Section.of(
        '<div class="sheet">'
        "<h3>Measurement</h3><p>A run time is the time from a common start of all processes to the end of the last one. "
        "Of the repetitions of a run, the first quartile counts, because disturbances only ever add time; the value of a "
        "setting summarises its runs. The memory of an object is the largest number of bytes that one process allocates "
        "for it. MPI's own memory is the proportional set size of a process after use, less what it had before MPI "
        "started and less the benchmark's own buffers.</p>"
        "<h3>Model</h3><p>For each function, every class on a ruler around the expectation is fitted by least squares "
        f"with relative weights:</p>{_MODEL}"
        "<p>The class with the largest adjusted coefficient of determination wins; a constant competes by an F test, "
        f"because it has none.</p>{_R2}"
        "<h3>Verdict</h3><p>The divergence δ compares the growth of the model G with the expectation E, without "
        "coefficients. D is the deviation that is tolerated.</p>"
        f"{_DELTA}"
        "<p>δ = 1 is a total match ✓, δ within the limits (a limit included) an approximate match ≈, anything else no "
        "match ✗. p* is the scale beyond which δ stays outside. A model below the lower limit grows slower than "
        "expected: worth knowing, and no failure.</p>"
        "<h3>Rules</h3><p>A rule such as <code>MPI_Allreduce &lt;= MPI_Reduce + MPI_Bcast</code> says that a function is "
        "not slower than a substitute built from others. It is evaluated on the measurements, and on the models for "
        f"scales beyond them.</p>{_settings(page)}</div>"
    )


def _settings(page: Page) -> str:
    """Return, for each combination of expectation, deviation and search space in use, the functions it served."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for v in page.result.verdicts:
        key = (
            big_o(v.expectation.growth),
            math(v.expectation.deviation),
            esc(f"{v.space.name}, {len(v.space.ticks)} classes"),
        )
        groups.setdefault(key, []).append(v.function)
    rows = "".join(
        f'<tr><td data-label="E">{e}</td><td data-label="D">{d}</td><td data-label="ruler">{space}</td>'
        f'<td data-label="functions">{esc(", ".join(functions))}</td></tr>'
        for (e, d, space), functions in groups.items()
    )
    head = "".join(f'<th scope="col">{text}</th>' for text in ("expectation E", "deviation D", "ruler", "functions"))
    return (
        '<h3>Settings of this report</h3><table class="stack"><caption>Expectations, deviations and rulers in use.</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )
