"""What is judged: a series with its expectation and its ticks, for what was chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import xarray as xr

from scalkit.errors import ExpectationError
from scalkit.growth import Growth
from scalkit.measure import Series, SeveralSeries
from scalkit.validation.against.claimed import over_model
from scalkit.validation.answer import tolerances
from scalkit.validation.baseline import Baseline
from scalkit.validation.catalogue import ExpectationSet, Expected
from scalkit.validation.catalogue.catalogue import is_bundled
from scalkit.validation.expectation import Expectation
from scalkit.validation.judge.along_one import Case
from scalkit.validation.judge.measured import AnyExpectation, AnySeries, Choices, Measured, Recent, Rulers
from scalkit.validation.names import Name, named, primary
from scalkit.validation.space import SearchSpace
from scalkit.validation.strong import falls, product_expectation, product_metric, product_sentence, product_series

_KEPT = 2000


@dataclass(frozen=True, eq=False)
class Task:
    """A series and what it is judged by.

    `name`: function and metric as measured.
    `series`: what is modelled: the values, or their product with the parameter.
    `spaces`: with the expected growth, which always competes.
    `note`: why the product of parameter and value is judged; empty where the values are.
    `tolerance`: by which growth it may outgrow the expectation along each and be fine.
    `model`: name of the model with constants that the values were divided by; empty without one.
    """

    name: Name
    series: AnySeries
    expectation: AnyExpectation
    spaces: Mapping[str, SearchSpace]
    note: str = ""
    tolerance: Mapping[str, Growth] = field(default_factory=dict)
    model: str = ""

    @property
    def case(self) -> Case:
        """What `judge` takes, of a task over one parameter."""
        (space,) = self.spaces.values()
        return cast(Series, self.series), cast(Expectation, self.expectation), space


class Tasks:
    """What is judged: the series of measurements with what is expected of them, for any choices.

    `baseline`: what is expected of each function and metric instead.
    `statistic`: that of the first choices.
    `names`: function and metric of everything that was measured.
    """

    def __init__(
        self, data: xr.Dataset, expected: ExpectationSet, baseline: Baseline | None = None, *, statistic: str = "q1"
    ) -> None:
        self.measured = Measured(data, statistic)
        self.expected = expected
        self.names = self.measured.names()
        self.functions = tuple(dict.fromkeys(function for function, _ in self.names))
        self._baseline = baseline
        self._primary = primary(self.names) if baseline is None else frozenset(self.names)
        self._products: Recent[Series] = Recent(_KEPT)
        self._spaces: dict[tuple[int, Growth], SearchSpace] = {}
        self._spaces_of: Choices | None = None

    def key_of(self, name: Name) -> str:
        """Return the name by which choices are kept for a function and metric: that of the function if it can be."""
        own = named(*name)
        return name[0] if name in self._primary and own not in self.expected.functions else own

    def expected_of(self, name: Name, choices: Choices) -> Expected | None:
        """Return the expectation of a function and metric and where its ticks come from, without those moved by hand."""
        given = self.expected.of(*name, name in self._primary)
        own = choices.expectations.get(self.key_of(name)) if choices.expectations else None
        space = choices.judging.space
        if own is None and (given is None or space is None):
            return given
        expectation = own if own is not None else cast(Expected, given).expectation
        return Expected(expectation, space if space is not None else given.space if given else "around")

    def given(self, name: Name, choices: Choices) -> AnyExpectation | None:
        """Return the expectation of a function and metric as it was written, in terms of the parameters of the data."""
        expected = self.expected_of(name, choices)
        if expected is None:
            return None
        if len(self.measured.parameters) > 1:
            return expected.search_spaces(self.measured.parameters)[0]
        return expected.along(self.measured.parameters[0], self.measured.fixed)

    def task(self, one: AnySeries, choices: Choices, expected: Expected | None = None) -> Task | None:
        """Return how a series is judged; None without an expectation, which is that of `expected_of` if none is given.

        Raises ExpectationError if the expectation or the ruler does not fit the data.
        """
        name = (one.function, one.metric)
        expected = expected or self.expected_of(name, choices)
        if expected is None:
            return None
        try:
            if expected.model is not None:
                one = over_model(one, expected.model, self.measured.fixed)
            if isinstance(one, SeveralSeries):
                found = self._task_over_several(one, expected, choices)
            else:
                found = self._task_along(one, expected, choices)
            return found if found is None or expected.model is None else replace(found, name=name, model=expected.model.name)
        except ExpectationError as error:
            raise ExpectationError(f"function '{one.function}': {error}") from error

    def task_of(self, name: Name, choices: Choices) -> Task | None:
        """Return how a function and metric is judged; with the settings that are left out, if nothing else remains."""
        for excluded in (choices.excluded, {}):
            for one in self.measured.series(choices.judging.statistic, excluded):
                if (one.function, one.metric) == name:
                    return self.task(one, choices)
        return None

    def _task_over_several(self, one: SeveralSeries, expected: Expected, choices: Choices) -> Task | None:
        name = (one.function, one.metric)
        if self._baseline is not None:
            status_quo = self._baseline.expectation_of(*name)
            if status_quo is None:
                return None
            expected = Expected(status_quo, expected.space)
        return self._task(name, one, *expected.search_spaces(one.parameters), choices)

    def _task_along(self, one: Series, expected: Expected, choices: Choices) -> Task | None:
        parameter, fixed = one.parameter, self.measured.fixed
        name, note = (one.function, one.metric), ""
        if self._baseline is not None:
            product = self._baseline.expectation_of(one.function, product_metric(parameter, one.metric))
            status_quo = product or self._baseline.expectation_of(one.function, one.metric)
            if status_quo is None:
                return None
            one = one if product is None else self._product(one)
            expected = Expected(status_quo, expected.space)
        elif choices.judging.scaling != "weak" and falls((claim := expected.along(parameter, fixed)).growth):
            note = product_sentence(one, claim)
            one, expected = self._product(one), Expected(product_expectation(claim), expected.space)
        expectation, space = expected.search_space(parameter, fixed)
        return self._task(name, one, expectation, {parameter: space}, choices, note)

    def _product(self, one: Series) -> Series:
        """Return the product of parameter and value; the same object while it is among the last ones."""
        found = self._products.get(one)
        return self._products.put(one, product_series(one)) if found is None else found

    def _task(
        self,
        name: Name,
        one: AnySeries,
        expectation: AnyExpectation,
        spaces: Mapping[str, SearchSpace],
        choices: Choices,
        note: str = "",
    ) -> Task:
        along = expectation.along
        ruled = self._ruled(name, choices, spaces, {each: one_of.growth for each, one_of in along.items()})
        return Task(name, one, expectation, ruled, note, self._tolerance(one, along, choices))

    def _tolerance(self, one: AnySeries, along: Mapping[str, Expectation], choices: Choices) -> dict[str, Growth]:
        """Return what is tolerated along each parameter; around a status quo the deviation, for its class may be off a little."""
        strictness = choices.judging.strictness
        if strictness == "auto" and self._baseline is not None:
            strictness = "paper"
        bundled = is_bundled(one.function, along)
        return tolerances(along, strictness, bundled=bundled, is_exact=one.exact or one.virtual)

    def _ruled(
        self, one: Name, choices: Choices, spaces: Mapping[str, SearchSpace], growths: Mapping[str, Growth]
    ) -> dict[str, SearchSpace]:
        """Return the search spaces of a function and metric with the ticks moved by hand and the expected growths."""
        rulers: Rulers = choices.rulers.get(self.key_of(one), {}) if choices.rulers else {}
        found = {}
        for parameter, growth in growths.items():
            if parameter not in rulers:
                space = spaces[parameter]
                found[parameter] = space if growth in space else space.with_tick(growth)
                continue
            found[parameter] = self._by_hand(choices, rulers[parameter], growth, parameter)
        return found

    def _by_hand(self, choices: Choices, ticks: tuple[Growth, ...], growth: Growth, parameter: str) -> SearchSpace:
        """Return the space of ticks moved by hand and a growth; of the same ticks the same one, while the choices last."""
        if self._spaces_of is not choices:
            self._spaces_of, self._spaces = choices, {}
        key = (id(ticks), growth)
        if key not in self._spaces:
            is_there = growth in ticks
            self._spaces[key] = (
                SearchSpace(ticks, "by hand", parameter) if is_there else SearchSpace.of((*ticks, growth), "by hand", parameter)
            )
        return self._spaces[key]
