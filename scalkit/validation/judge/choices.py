"""What a person chose about measurements, as a value: what is expected, how it is judged, and what is left out."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from scalkit.growth import Growth
from scalkit.measure import Series, SeveralSeries
from scalkit.options import Judging
from scalkit.relation import Relation
from scalkit.validation.expectation import Expectation
from scalkit.validation.several.expectation import SeveralExpectation
from scalkit.validation.several.verdict import SeveralVerdict
from scalkit.validation.verdict import Verdict

AnyExpectation = Expectation | SeveralExpectation
AnySeries = Series | SeveralSeries
AnyVerdict = Verdict | SeveralVerdict

Rulers = Mapping[str, tuple[Growth, ...]]
"""Ticks by parameter, ascending."""

Setting = float | tuple[float, ...]
"""A value of the parameter, or a value of each of several."""


@dataclass(frozen=True)
class Choices:
    """What was chosen, as far as it differs from the set of expectations.

    Two are equal if they lead to the same result from the same measurements. The mappings are never changed in place.

    `rules`: all cross-function rules, those of the set of expectations included.
    `shared`: those of all functions; empty while each function has its own ruler.
    `excluded`: ascending; what is left out.
    """

    judging: Judging = field(default_factory=Judging)
    rules: tuple[Relation, ...] = ()
    expectations: Mapping[str, AnyExpectation] = field(default_factory=dict)
    rulers: Mapping[str, Rulers] = field(default_factory=dict)
    shared: Rulers = field(default_factory=dict)
    excluded: Mapping[str, tuple[Setting, ...]] = field(default_factory=dict)
