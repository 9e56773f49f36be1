"""The search space: ticks of growth on a ruler around an expectation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise, product

from scalkit.errors import ExpectationError
from scalkit.growth import Growth
from scalkit.judge.expectation import Expectation
from scalkit.support.arguments import each_of, require_kind, require_text
from scalkit.support.markup import block, counted, details, formula
from scalkit.support.text import brief

PRESETS = ("ics15",)
SPACES = ("around", "paper", *PRESETS)
MAX_TICKS = 2000
_FASTEST = 4  # power beside an exponential: algorithms on all subsets of x things do that much on each
_MOST = 3  # power that the default space reaches for any expectation from a linear one on
_LOG, _POWER = 1, 2  # ranks of the fastest factor of a growth; an exponential has 3
_MAKERS = "write SearchSpace.of(['1', 'p', 'p^2'], 'mine', 'p') or SearchSpace.around(expectation)"


@dataclass(frozen=True)
class SearchSpace:
    """An ascending tuple of ticks; every change returns a new one.

    Attributes
    ----------
    ticks : tuple of Growth
    name : str
        How it was made, for reports: ``"around"``, ``"paper"``, ``"ics15"``, with ``"+"`` after a change by hand.
    parameter : str

    References
    ----------
    Shudler et al. 2015, sections 2.3 and 3.3 (docs/references.md).
    """

    ticks: tuple[Growth, ...]
    name: str
    parameter: str

    def __post_init__(self) -> None:
        n_ticks = len(each_of(self.ticks, Growth, "the ticks", _MAKERS))
        if not 0 < n_ticks <= MAX_TICKS:
            raise ExpectationError(
                f"the search space '{self.name}' would have {n_ticks} ticks; "
                f"1 to {MAX_TICKS} are allowed. Refine it less, or leave a tick."
            )

    def __hash__(self) -> int:
        found = self.__dict__.get("_hash")
        if found is None:
            found = self.__dict__["_hash"] = hash((self.ticks, self.name, self.parameter))
        return int(found)

    def __reduce__(self) -> tuple[type[SearchSpace], tuple[object, ...]]:
        return type(self), (self.ticks, self.name, self.parameter)  # another process hashes names otherwise

    @classmethod
    def of(cls, ticks: Iterable[Growth | str], name: str, parameter: str) -> SearchSpace:
        """Return a space of the given ticks, sorted, each once.

        Raises ExpectationError if there is no tick, or more than 2,000, or a text is no growth.
        """
        given = each_of(ticks, object, "the ticks", _MAKERS)
        chosen = {one if isinstance(one, Growth) else Growth(one) for one in given}
        return cls(tuple(sorted(chosen)), name, parameter)

    @classmethod
    def paper(cls, expectation: Expectation, depth: int = 2) -> SearchSpace:
        """Return the paper's ruler: from 1 to E^2, `depth` recursive halvings, each tick also times the next lower class.

        For ``E = p`` and depth 2 these are 17 ticks: 1, log p, p^1/4, p^1/4 log p, ..., p^7/4 log p, p^2.

        Raises ExpectationError if `depth` is not between 0 and 8.
        """
        _require_expectation(expectation)
        if not isinstance(depth, int) or not 0 <= depth <= 8:
            raise ExpectationError(f"the depth of the ruler is {depth!r}; 0 to 8 halvings are allowed.")
        parameter, growth = expectation.parameter, expectation.growth
        if growth.is_constant:
            return cls((growth,), "paper", parameter)
        lower, upper = sorted((Growth(), growth**2))
        leading = growth.leading(parameter)
        big = [leading**e for e in _halvings(depth)]
        factor = _next_lower(growth, parameter)
        small = [tick * factor for tick in big] if factor else []
        inside = [tick for tick in (*big, *small) if lower <= tick <= upper]
        return cls.of([lower, upper, growth, *inside], "paper", parameter)

    @classmethod
    def preset(cls, name: str, parameter: str = "p") -> SearchSpace:
        """Return a named space; ``"ics15"`` has ``p^a * log(p)^b``, b in {0, 1}, a the multiples of 1/4 and 1/3 up to 2.

        Raises ExpectationError if the name is unknown.
        """
        require_text(name, "the name of the search space")
        require_text(parameter, "the parameter")
        if name not in PRESETS:
            raise ExpectationError(f"the search space {brief(name)} is unknown; choose one of {', '.join(PRESETS)}.")
        return _preset(name, parameter)

    @classmethod
    def named(cls, name: str, expectation: Expectation) -> SearchSpace:
        """Return the space that a file or a user names for an expectation: ``"around"``, ``"paper"`` or a preset.

        Raises ExpectationError if the name is unknown.
        """
        _require_expectation(expectation)
        if name == "around":
            return _around(expectation)
        if name == "paper":
            return cls.paper(expectation)
        if name not in SPACES:
            raise ExpectationError(f"the search space {brief(name)} is unknown; choose one of {', '.join(SPACES)}.")
        return cls.preset(name, expectation.parameter)

    @classmethod
    def around(cls, expectation: Expectation, depth: int = 2) -> SearchSpace:
        """Return the default space: the paper's ruler, E times the next lower class to the power -1 and +1, and ``ics15``.

        From linear expectations on, which are claims about computing, it goes on to x^3 and holds x log(x)^2 as well.
        Around an exponential there are ``x^k * 2^(c*x)`` in place of the preset: k from 0 to 4, c in halves of that of E.
        """
        _require_expectation(expectation)
        parameter, growth = expectation.parameter, expectation.growth
        ticks = set(cls.paper(expectation, depth).ticks)
        factor = _next_lower(growth, parameter)
        if factor:
            ticks |= {growth / factor, growth, growth * factor}
        if _leading_rank(growth, parameter) <= _POWER:
            ticks |= set(cls.preset("ics15", parameter).ticks)
            ticks |= set(_cubic(parameter)) if growth.power(parameter) >= 1 else set()
        ticks |= {tick for tick in _exponentials(growth, parameter) if tick <= growth**2}
        return cls.of(ticks, "around", parameter)

    def with_tick(self, tick: Growth | str) -> SearchSpace:
        """Return the space with one more tick, a Growth or its text."""
        return self._changed({*self.ticks, Growth(tick, self.parameter)})

    def without_tick(self, tick: Growth | str) -> SearchSpace:
        """Return the space without a tick. Raises ExpectationError if the tick is not there."""
        gone = Growth(tick, self.parameter)
        if gone not in self.ticks:
            shown = ", ".join(map(str, self.ticks))
            raise ExpectationError(f"the search space '{self.name}' has no tick '{gone}'; its ticks are {shown}.")
        return self._changed(set(self.ticks) - {gone})

    def refine(self, n: int = 1) -> SearchSpace:
        """Return the space with a tick in the middle of every gap between neighbours of a row, `n` times over.

        A row holds the ticks that differ in the exponent of the leading class only, such as 1, p^1/4, p^1/2, ...

        Raises ExpectationError if that makes more than 2,000 ticks.
        """
        if not isinstance(n, int) or n < 0:
            raise ExpectationError(f"cannot refine the space {brief(n)} times; a whole number is needed.")
        space = self
        for _ in range(n):
            rows = space._rows().values()
            middles = {(a * b) ** Fraction(1, 2) for row in rows for a, b in pairwise(row)}
            space = space._changed({*space.ticks, *middles})
        return space

    def _changed(self, ticks: Iterable[Growth]) -> SearchSpace:
        name = self.name if self.name.endswith("+") else f"{self.name}+"
        return SearchSpace.of(ticks, name, self.parameter)

    def _rows(self) -> dict[object, list[Growth]]:
        """Return the ticks in rows that differ only in the exponent of the leading class."""
        leading = _leading_rank(self.ticks[-1], self.parameter)
        rows: dict[object, list[Growth]] = {}
        for tick in self.ticks:
            others = (pair for pair in tick.exponents(self.parameter).by_rank() if pair[0] != leading)
            rows.setdefault(tuple(others), []).append(tick)
        return rows

    def __len__(self) -> int:
        return len(self.ticks)

    def __contains__(self, growth: object) -> bool:
        return growth in self._set

    @cached_property
    def _set(self) -> frozenset[Growth]:
        return frozenset(self.ticks)

    def __repr__(self) -> str:
        return f"SearchSpace({self.name!r}, {len(self)} ticks from {self.ticks[0]} to {self.ticks[-1]})"

    def _repr_html_(self) -> str:
        said = f"{self.name}: {counted(len(self), 'tick')} from {self.ticks[0]} to {self.ticks[-1]}"
        return block(details(said, f"<p>{', '.join(formula(tick) for tick in self.ticks)}</p>"))


def _require_expectation(expectation: object) -> None:
    require_kind(expectation, Expectation, "the expectation", "write Expectation('p*log(p)')")


@lru_cache(maxsize=256)
def _around(expectation: Expectation) -> SearchSpace:
    return SearchSpace.around(expectation)


@lru_cache(maxsize=32)
def _preset(name: str, parameter: str) -> SearchSpace:
    return SearchSpace(_ics15(parameter), name, parameter)


@lru_cache(maxsize=32)
def _ics15(parameter: str) -> tuple[Growth, ...]:
    powers = {Fraction(i, d) for d in (3, 4) for i in range(2 * d + 1)}
    return tuple(sorted(Growth.of(parameter, power=a, log=b) for a, b in product(powers, (0, 1))))


@lru_cache(maxsize=32)
def _cubic(parameter: str) -> tuple[Growth, ...]:
    """Return the growths beyond ``ics15`` up to x^3, by the same steps, and x log(x)^2."""
    powers = {Fraction(i, d) for d in (3, 4) for i in range(2 * d + 1, 3 * d + 1)}
    return (
        Growth.of(parameter, power=1, log=2),
        *(Growth.of(parameter, power=a, log=b) for a, b in product(powers, (0, 1)) if a < _MOST or not b),
    )


def _exponentials(growth: Growth, parameter: str) -> list[Growth]:
    """Return powers times exponentials for an exponential that grows, nothing otherwise."""
    c = growth.exponential(parameter)
    if c <= 0:
        return []
    pairs = product(range(1, 5), range(_FASTEST + 1))
    return [Growth.of(parameter, exponential=c * half / 2, power=power) for half, power in pairs]


def _leading_rank(growth: Growth, parameter: str) -> int:
    """Return the rank of the fastest factor: 1 for a logarithm, 2 for a power of x, 3 for 2^x; 0 for a constant."""
    return max((rank for rank, _ in growth.exponents(parameter).by_rank()), default=0)


def _next_lower(growth: Growth, parameter: str) -> Growth | None:
    """Return the fastest of 2^x, x and log x that is slower than the leading class; None below log x."""
    rank = _leading_rank(growth, parameter)
    if rank > _POWER:
        return Growth.of(parameter, power=1)
    return Growth.of(parameter, log=1) if rank > _LOG else None


def _halvings(depth: int) -> list[Fraction]:
    """Return 0, 1, 2 and `depth` rounds of averages between neighbours."""
    exponents = [Fraction(0), Fraction(1), Fraction(2)]
    for _ in range(depth):
        middles = [(a + b) / 2 for a, b in pairwise(exponents)]
        exponents = sorted([*exponents, *middles])
    return exponents
