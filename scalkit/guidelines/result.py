"""What an assessment returns: the tests, the table of violations, JSON, and the exit status."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from scalkit.errors import UsageError
from scalkit.guidelines.experiments import MISSING, Measured
from scalkit.guidelines.guideline import Guideline
from scalkit.guidelines.sentences import assessment_html, headline, sentence, titled, warnings
from scalkit.stats.samples import Floats, Integers
from scalkit.support.arguments import each_of, is_number
from scalkit.support.json_values import json_fields, json_value

SCHEMA = 1
STATES = ("violated", "compliant", "inconclusive", "undecidable")
STRICTNESSES = ("strict", "paper")
FAIL_ON = ("inconclusive", "undecidable", "untested")
_COLUMNS = (
    "state", "is_severe", "violation_ratio", "ratio", "ratio_low", "ratio_high", "p_value", "q_value", "test",
    "n_left", "n_right", "runs_needed", "decides",
)  # fmt: skip


@dataclass(frozen=True)
class Thresholds:
    """When a guideline counts as violated.

    Attributes
    ----------
    p : float
        The adjusted p-value is at most this.
    v : float
        The ratio is at least this; above 1.
    strictness : {"strict", "paper"}
        ``paper``: rank sums whose p-values are not adjusted, as published.
    """

    p: float = 0.001
    v: float = 1.03
    strictness: str = "strict"

    def __post_init__(self) -> None:
        if not (is_number(self.p) and 0 < self.p < 1):
            raise UsageError(f"the threshold of p is {self.p!r}; it must lie between 0 and 1.")
        if not (is_number(self.v) and self.v > 1):
            raise UsageError(f"the threshold of the ratio is {self.v!r}; it must be above 1, as in 1.03.")
        if self.strictness not in STRICTNESSES:
            raise UsageError(f"the strictness {self.strictness!r} is unknown; choose from {', '.join(STRICTNESSES)}.")


@dataclass(frozen=True, eq=False)
class Assessment:
    """All tests of some guidelines on one campaign.

    Attributes
    ----------
    guidelines : tuple of Guideline
    thresholds : Thresholds
    data : Measured
    which : ndarray of int of shape (tests,)
        The guideline of each test, by its place.
    codes, against : ndarray of int
        Where each test stands, see `scalkit.guidelines.comparisons.Pairs`.
    left, right : ndarray of shape (tests, runs)
        Medians of the runs, in the unit of the measurements; NaN where a run has none.
    columns : mapping from str to ndarray of shape (tests,)
        What `to_frame` shows.
    experiments : tuple
        For each guideline the experiments of its sides, by test.
    varied : str
        Tests that differ in this parameter only are a group.
    not_tested : mapping from int to str
        Guidelines without a test, by their place, and why.
    """

    guidelines: tuple[Guideline, ...]
    thresholds: Thresholds
    data: Measured
    which: Integers
    codes: Integers
    against: Integers
    left: Floats
    right: Floats
    columns: Mapping[str, Any]
    experiments: tuple[Any, ...]
    varied: str
    not_tested: Mapping[int, str]

    def __len__(self) -> int:
        return len(self.which)

    @cached_property
    def groups(self) -> Integers:
        """The group of each test, numbered from 0: same guideline, and all parameters but the varied one."""
        codes = self.codes.copy()
        if self.varied in self.data.parameters:
            codes[:, self.data.parameters.index(self.varied)] = MISSING
        _, found = np.unique(np.column_stack((self.which, codes)), axis=0, return_inverse=True)
        return found.ravel().astype(np.int64)

    def to_frame(self, state: str | None = None) -> pd.DataFrame:
        """Return a row for each test, or for each of one state; violations that decide come first, the largest ratio first.

        Columns are the guideline (its name and its text), the parameters, and

        - ``state``: violated, compliant, inconclusive, or undecidable;
        - ``is_severe``: the whole interval of a violation lies beyond the threshold;
        - ``violation_ratio``: median of run medians, left over right;
        - ``ratio``, ``ratio_low``, ``ratio_high``: Hodges-Lehmann estimate and its exact interval;
        - ``p_value``, ``q_value``: of the test, and adjusted for the number of tests; ``test``: which one;
        - ``n_left``, ``n_right``, ``runs_needed``: runs used, and the fewest that can ever reach the threshold of p;
        - ``decides``: whether it may decide the exit status.

        Raises UsageError if the state is unknown.
        """
        if state is not None and state not in STATES:
            raise UsageError(f"the state {state!r} is unknown; choose from {', '.join(STATES)}.")
        texts = [str(one) for one in self.guidelines]
        frame = pd.DataFrame(
            {
                "name": [self.guidelines[i].name for i in self.which.tolist()],
                "guideline": [texts[i] for i in self.which.tolist()],
                **{self._head(name): self._levels(name) for name in self.data.parameters if self._is_shown(name)},
                **({"against": self._against()} if (self.against != MISSING).any() else {}),
                **{name: self.columns[name] for name in _COLUMNS},
            }
        )
        if state is None:
            return frame
        chosen = frame[frame["state"] == state]
        if state != "violated":
            return chosen
        size = np.abs(np.log(self.columns["effect"][chosen.index]))
        return chosen.iloc[np.lexsort((-size, ~chosen["decides"].to_numpy(dtype=bool)))]

    def _is_shown(self, name: str) -> bool:
        return not len(self) or bool((self.codes[:, self.data.parameters.index(name)] != MISSING).any())

    @staticmethod
    def _head(name: str) -> str:
        """Return the name of a parameter's column, which no column of the results has."""
        return f"{name}_" if name in ("name", "guideline", "against", *_COLUMNS) else name

    def _levels(self, name: str) -> Any:
        codes = self.codes[:, self.data.parameters.index(name)]
        levels = [self.data.level(name, code) for code in codes.tolist()]
        return np.array(levels, dtype=object) if (codes == MISSING).any() else levels  # whole numbers stay whole

    def _against(self) -> list[Any]:
        names = [self.guidelines[i].parameter for i in self.which.tolist()]
        return [
            None if code == MISSING else self.data.level(name, code)
            for name, code in zip(names, self.against.tolist(), strict=True)
        ]

    @property
    def violations(self) -> pd.DataFrame:
        """The tests that found a violation: those that decide first, the largest ratio first."""
        return self.to_frame("violated")

    @property
    def counts(self) -> dict[str, int]:
        """Number of tests of each state."""
        return {state: int(np.count_nonzero(self.columns["state"] == state)) for state in STATES}

    def table(self, by: str | None = None) -> pd.DataFrame:
        """Return the table of violations as the paper prints it: ``n_vioTests/n_tests (n_vioGroups/n_groups)``.

        `by`: a parameter with a column for each of its levels, for example ``"p"``; by default one column.
        Raises UsageError if there is no such parameter.
        """
        if by is not None and by not in self.data.parameters:
            raise UsageError(f"there is no parameter {by!r}; choose from {', '.join(self.data.parameters)}.")
        codes = np.zeros(len(self), dtype=np.int64) if by is None else self.codes[:, self.data.parameters.index(by)]
        heads = (
            {0: "violations"}
            if by is None
            else {code: f"{by}={self.data.level(by, code)}" for code in sorted(set(codes.tolist()))}
        )
        rows = {
            titled(one): {head: self._cell((self.which == i) & (codes == code)) for code, head in heads.items()}
            for i, one in enumerate(self.guidelines)
            if i not in self.not_tested
        }
        return pd.DataFrame.from_dict(rows, orient="index", columns=list(heads.values()))

    def _cell(self, chosen: Any) -> str:
        violated = chosen & (self.columns["state"] == "violated")
        tests, groups = int(np.count_nonzero(chosen)), len(set(self.groups[chosen].tolist()))
        return f"{np.count_nonzero(violated)}/{tests} ({len(set(self.groups[violated].tolist()))}/{groups})"

    def exit_status(self, fail_on: Collection[str] = ()) -> int:
        """Return 1 if a guideline is violated by measurements that may decide, else 0.

        `fail_on`: further states of tests that fail, and guidelines without a test.
        Raises UsageError if a word of `fail_on` is unknown.
        """
        fail_on = each_of(fail_on, str, "fail_on", f"choose from {', '.join(FAIL_ON)}")
        unknown = [word for word in fail_on if word not in FAIL_ON]
        if unknown:
            raise UsageError(f"cannot fail on {unknown[0]!r}; choose from {', '.join(FAIL_ON)}.")
        if "untested" in fail_on and self.not_tested:
            return 1
        return int(bool(np.isin(self.columns["state"][self.columns["decides"]], ["violated", *fail_on]).any()))

    @property
    def headline(self) -> str:
        """One line: how many tests, and what they found."""
        return headline(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know: caveats of the measurements, too few runs, guidelines without a test."""
        return warnings(self)

    def sentence(self, test: int) -> str:
        """Return what one test found, in plain words; `test` is the row of `to_frame`."""
        return sentence(self, test)

    def to_dict(self) -> dict[str, Any]:
        """Return what `to_json` writes."""
        return {
            "schema": SCHEMA,
            "headline": self.headline,
            "exit_status": self.exit_status(),
            "virtual": dict(self.data.machine) or None,
            "thresholds": asdict(self.thresholds),
            **json_fields(self, "varied counts"),
            "guidelines": [self._described(i) for i in range(len(self.guidelines))],
            "tests": json_value(self.to_frame().to_dict("records")),
            "warnings": list(self.warnings),
        }

    def _described(self, i: int) -> dict[str, Any]:
        one, mine = self.guidelines[i], self.which == i
        return {
            "name": one.name,
            "guideline": str(one),
            "meaning": one.meaning,
            "metarule": one.metarule,
            "violations": self._cell(mine),
            "not_tested": self.not_tested.get(i),
            "counts": {s: int(np.count_nonzero(mine & (self.columns["state"] == s))) for s in STATES},
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return the whole assessment as JSON; what has no value is null."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

    def __repr__(self) -> str:
        return f"<Assessment: {self.headline}>"

    def _repr_html_(self) -> str:
        return assessment_html(self)
