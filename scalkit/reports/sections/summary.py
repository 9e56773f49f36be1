"""The table of all verdicts, in the form of the paper's Tables 2 and 3, and what could not be judged."""

from collections.abc import Iterator, Sequence

from scalkit import plots
from scalkit.measure import bandwidths, fixed_parameters
from scalkit.measure.process_times import HEAD as BANDWIDTH_HEAD
from scalkit.measure.virtual_time import is_virtual, machine_of, numbers_in_words
from scalkit.plots.plot import plot
from scalkit.plots.style import ANSWER_KEYS, RANK_MARKS, metric_word, rank_key
from scalkit.reports.answer import details, headline_sentence
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section, Tile, table, words_of
from scalkit.validation import AnyVerdict

_HEAD = ("Function", "Expectation", "Model", "adj. R²", "Divergence δ", "Inside limits", "Answer")


_LEFT_OUT = words_of("left_out")


def summary(page: Page) -> Section:
    """Return the table of verdicts, the caveats in words and the functions without a verdict.

    As in Exascaling Your Library, tables 2 and 3 (docs/references.md).
    """
    result, groups = page.result, []
    for metric in dict.fromkeys(v.metric for v in result.worst_first):
        verdicts = [v for v in result.worst_first if v.metric == metric]
        groups.append((f"{metric_word(verdicts[0])} [{verdicts[0].unit}]", verdicts))
    left_out = [(*words, getattr(result, which)) for which, words in _LEFT_OUT.items()]
    more = {"litmus": result.litmus, "caveats": _caveats(result.verdicts), "left_out": left_out}
    return Section.rendered("summary.html", page=page, head=_HEAD, groups=groups, **more) + _moved(page)


def _moved(page: Page) -> Section:
    """Return the table of bandwidths and rates of messages; empty if no windows of messages were measured."""
    rows = [one.cells() for one in bandwidths(page.data)]
    caption = (
        "Bandwidth and messages a second of windows of 64 messages, all processes together: of the first quartile of the times, "
        "medians over the runs. The times are judged above."
    )
    return Section.of(table(caption, BANDWIDTH_HEAD, rows, (2, 3)) if rows else "")


def _caveats(verdicts: Sequence[AnyVerdict]) -> list[str]:
    """Return every caveat once, with the functions that it concerns."""
    lines = []
    for caveat in dict.fromkeys(c for v in verdicts for c in v.caveats):
        concerned = [v.function for v in verdicts if caveat in v.caveats]
        whom = "all functions" if len(concerned) == len(verdicts) else ", ".join(concerned)
        lines.append(f"{caveat[0].upper() + caveat[1:]}. This concerns {whom}.")
    return lines


def overview(page: Page) -> Section:
    """Return the divergences of all functions, and folded below one scaling figure per metric beside each other.

    Over several parameters it is one figure of their effects.

    As in Exascaling Your Library, figure 2 (docs/references.md).
    """
    result, verdicts = page.result, page.result.verdicts
    if result.over_several:
        return Section.rendered("overview.html", effects=plot(result))
    mine = {metric: [v for v in verdicts if v.metric == metric] for metric in dict.fromkeys(v.metric for v in verdicts)}
    words = {metric: metric_word(several[0]) for metric, several in mine.items() if len(several) > 1}
    scaling = [(word[0].upper() + word[1:], plots.scaling(result, metric)) for metric, word in words.items()]
    return Section.rendered("overview.html", effects=None, scaling=scaling, divergence=plots.divergence(result))


_MOST_VALUES = 40

_MEANINGS = words_of("answers")


def headline(page: Page) -> Section:
    """Return the top of the page."""
    tiles = [*_tiles(page), *_rules(page)]
    return Section.top("Scalability report", page, facts(page), tiles, headline_sentence(page), details(page))


def _tiles(page: Page) -> Iterator[Tile]:
    """Yield kind, mark, number of verdicts and what they are, for each answer; the worst first."""
    for answer, count in page.result.answers.items():
        mine = [v for v in page.result.verdicts if v.answer == answer]
        better, idle = sum(rank_key(v) == "slower" for v in mine), sum(not v.decides for v in mine)
        extra = [f"{better} better"] * bool(better and answer == "fine")
        extra += [f"{idle} not deciding"] * bool(idle and answer == "cannot tell")
        if count or answer != "cannot tell":
            key = ANSWER_KEYS[answer] if count else ""
            yield key, RANK_MARKS[ANSWER_KEYS[answer]], count, "; ".join([_MEANINGS[answer], *extra])


def _rules(page: Page) -> Iterator[Tile]:
    found = [rule.status for rule in page.result.rules]
    broken, unknown = found.count("violated") + found.count("predicted"), found.count("unknown")
    extra = f"; {unknown} not to be checked" if unknown else ""
    if broken:
        yield "", "⚠", broken, f"of {len(found)} rules violated, or predicted to be{extra}"
    elif found and unknown == len(found):
        yield "", "?", unknown, "rules not to be checked"
    elif found:
        yield "", "✓", len(found) - unknown, f"rules hold, as measured and as predicted{extra}"


def _settings(page: Page) -> Iterator[tuple[str, str]]:
    """Yield the measured values of each parameter, and the value of each parameter that is fixed."""
    found: dict[str, set[float]] = {}
    for verdict in page.result.verdicts:
        for name in verdict.parameters:
            found.setdefault(name, set()).update(verdict.series.shown_along(name).tolist())
    for name, values in found.items():
        shown = [f"{x:g}" for x in sorted(values)]
        yield (name, ", ".join(shown) if len(shown) <= _MOST_VALUES else f"{len(shown)} values, {shown[0]} to {shown[-1]}")
    for name, value in fixed_parameters(page.data).items():
        yield name, f"{value:g}"


def facts(page: Page) -> list[tuple[str, object]]:
    """Return what was measured where, by name; what is unknown is empty."""
    attrs = page.data.attrs
    return [
        ("measured on", attrs.get("measured_on")),
        ("library", page.library),
        *_settings(page),
        ("runs", int(page.data.sizes.get("run", 1))),
        ("message", f"{int(attrs['message_size_B'])} B" if attrs.get("message_size_B") else ""),
        ("measured", page.measured_at),
        ("report", page.made),
        ("", "simulated, not measured" if int(attrs.get("simulated", 0)) else ""),
        ("clock", f"virtual: {numbers_in_words(machine_of(attrs))}" if is_virtual(attrs) else ""),
    ]
