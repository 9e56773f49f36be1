"""The result of a validation: verdicts, rules, and the exit status that they decide."""

from __future__ import annotations

import difflib
import json
import math
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from scalkit.errors import DataError, UsageError
from scalkit.judge.advise import Advice, Cost, advise
from scalkit.judge.answer import ANSWERS, Answer, resolution_in_words
from scalkit.judge.judged import grows_slower
from scalkit.judge.limit import Limit, limit
from scalkit.judge.measured import AnyVerdict
from scalkit.judge.names import function_in, in_short
from scalkit.judge.rules import Litmus, RuleResult
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.verdict import Verdict
from scalkit.support.arguments import each_of
from scalkit.support.json_values import json_fields
from scalkit.support.text import brief, did_you_mean, few

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from scalkit.judge.baseline.comparison import Comparison
    from scalkit.judge.catalogue import ExpectationSet
    from scalkit.judge.measured import Choices

SCHEMA = 3
_SAID = 3  # of the problems in a headline
FAIL_ON = ("better", "predicted", "cannot-tell")
FAIL_ON_BASELINE = ("gone",)
"""Words for `Validation.exit_status` that need a comparison with a baseline."""


@dataclass(frozen=True, eq=False)
class Validation:
    """All verdicts on one set of measurements; ``result["MPI_Bcast"]`` gives one.

    Attributes
    ----------
    verdicts : tuple of Verdict or SeveralVerdict
        Over one parameter, or several.
    rules : tuple of RuleResult
    unexpected : tuple of str
        Functions that were measured but have no expectation.
    missing : tuple of str
        Functions that have an expectation but were not measured.
    unjudged : tuple of str
        Functions that have an expectation and too few settings for a model, with the settings there are.
    litmus : Litmus or None
    notes : tuple of str
        What a reader of the result should know of the data as a whole, for example truncated files.
    comparison : Comparison or None
        With the baseline, where one was the expectation.
    expectations : str
        Name of the set of expectations.
    statistic : str
    data : Dataset or None
        The measurements; with `expected`, the set of expectations, and `choices` all that led to the result.
    """

    verdicts: tuple[AnyVerdict, ...]
    rules: tuple[RuleResult, ...] = ()
    unexpected: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    litmus: Litmus | None = None
    notes: tuple[str, ...] = ()
    comparison: Comparison | None = None
    expectations: str = ""
    statistic: str = "q1"
    data: xr.Dataset | None = None
    expected: ExpectationSet | None = None
    choices: Choices | None = None

    def __getitem__(self, key: str | tuple[str, str]) -> AnyVerdict:
        if not (isinstance(key, str) or (isinstance(key, tuple) and len(key) == 2)):
            raise DataError(f"{key!r:.60} names no verdict; ask by function, or by function and metric.")
        function, metric = (key, None) if isinstance(key, str) else key
        found = [v for v in self.verdicts if v.function == function and metric in (None, v.metric)]
        if len(found) == 1:
            return found[0]
        if not found:
            names = dict.fromkeys(v.function for v in self.verdicts)
            hint = did_you_mean(function, names)
            raise DataError(f"there is no verdict on {key!r}; there are verdicts on {', '.join(names) or 'none'}.{hint}")
        metrics = ", ".join(v.metric for v in found)
        raise DataError(
            f"'{function}' has verdicts on several metrics ({metrics}); ask for one, as in result['{function}', 'time']."
        )

    def __contains__(self, key: object) -> bool:
        return any(key in (v, v.function, (v.function, v.metric)) for v in self.verdicts)

    def __iter__(self) -> Iterator[AnyVerdict]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    @property
    def along_one(self) -> tuple[Verdict, ...]:
        """The verdicts, all over one parameter. Raises DataError if one is over several parameters, with the way on."""
        for v in self.over_several:
            raise v.series.needs_one()
        return tuple(v for v in self.verdicts if isinstance(v, Verdict))

    @property
    def over_several(self) -> tuple[SeveralVerdict, ...]:
        """The verdicts over several parameters; none where the measurements are along one."""
        return tuple(v for v in self.verdicts if isinstance(v, SeveralVerdict))

    @property
    def ok(self) -> bool:
        """Whether the exit status is 0."""
        return self.exit_status() == 0

    def exit_status(self, fail_on: Collection[str] = ()) -> int:
        """Return 0 or 1.

        `fail_on`: ``better``: a deciding verdict grows slower than the limits allow. ``predicted``: the models predict a
        violation. ``cannot-tell``: an answer is "cannot tell" where the measurements might decide. Compared with a baseline,
        which these words hold for as well, also ``"gone"``; see
        `Comparison.exit_status`.
        Raises UsageError if a word of `fail_on` is unknown.
        """
        fail_on = each_of(() if fail_on is None else fail_on, str, "what to fail on", f"choose from {', '.join(FAIL_ON)}")
        known = FAIL_ON if self.comparison is None else (*FAIL_ON, *FAIL_ON_BASELINE)
        unknown = [word for word in fail_on if word not in known]
        if unknown:
            raise UsageError(f"cannot fail on {unknown[0]!r}; choose from {', '.join(known)}.")
        failed = self.answer == "fix"
        if self.comparison is not None:
            failed |= bool(self.comparison.failures([word for word in fail_on if word != "predicted"]))
        if "better" in fail_on:
            failed |= any(v.decides and grows_slower(v) for v in self.verdicts)
        if "cannot-tell" in fail_on:
            failed |= any(v.decides and v.answer == "cannot tell" for v in self.verdicts)
        if "predicted" in fail_on:
            failed |= any(r.decides and r.status == "predicted" for r in self.rules)
        return int(failed)

    @property
    def answer(self) -> Answer:
        """The worst answer: ``"fix"`` where there is a problem, ``"cannot tell"``, also without a verdict, or ``"fine"``."""
        if self._wrong:
            return "fix"
        return "cannot tell" if self.answers["cannot tell"] or not self.verdicts else "fine"

    @property
    def answers(self) -> dict[Answer, int]:
        """Number of verdicts with each answer, the worst first."""
        return {word: sum(v.answer == word for v in self.verdicts) for word in ANSWERS}

    @property
    def worst_first(self) -> tuple[AnyVerdict, ...]:
        """The verdicts by their answers: fix, cannot tell, fine; the largest excess first, then as measured."""

        def urgency(verdict: AnyVerdict) -> tuple[int, float]:
            excess = verdict.evidence.excess if verdict.answer == "fix" else 0.0
            return ANSWERS.index(verdict.answer), -excess

        return tuple(sorted(self.verdicts, key=urgency))

    @property
    def problems(self) -> tuple[str, ...]:
        """What is to be fixed, each as one says it to a person who decides, the worst first."""
        return tuple(_problem(one) for one in self._wrong)

    @property
    def _wrong(self) -> tuple[AnyVerdict | RuleResult, ...]:
        """What is to be fixed, the worst first; a sentence for each of hundreds would take long."""
        found = [v for v in self.worst_first if v.answer == "fix"]
        return (*found, *(r for r in self.rules if r.is_failure))

    @property
    def headline(self) -> str:
        """One sentence: what is to be fixed, and how many verdicts are fine or cannot be told."""
        wrong, answers = self._wrong, self.answers
        unclear = [v.function for v in self.worst_first if v.answer == "cannot tell"]
        counts = [f"{answers['fine']} fine"] if answers["fine"] else []
        counts += [f"{len(unclear)} cannot tell ({', '.join(in_short(unclear))})"] if unclear else []
        if not wrong:
            return f"no problem: {', '.join(counts)}" if counts else _nothing_judged(self)
        problems = [_problem(one) for one in wrong[:_SAID]]
        said = problems[0] if len(wrong) == 1 else "; ".join(f"({k}) {one}" for k, one in enumerate(problems, 1))
        more = f"; and {len(wrong) - _SAID} more" if len(wrong) > _SAID else ""
        rest = f". Beside it: {', '.join(counts)}" if counts else ""
        return f"{len(wrong)} problem{'' if len(wrong) == 1 else 's'}: {said}{more}{rest}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What does not decide but should be read: better than expected, predicted violations, caveats, gaps."""
        found = [v.sentence for v in self.worst_first if v.answer == "cannot tell" or grows_slower(v)]
        found += [r.sentence for r in self.rules if r.status != "holds" and not r.is_failure]
        for caveat in dict.fromkeys(c for v in self.verdicts for c in v.caveats):
            names = [v.function for v in self.verdicts if caveat in v.caveats]
            found.append(f"{caveat} ({', '.join(names)})")
        if self.unexpected:
            found.append(f"measured, but without an expectation: {', '.join(in_short(self.unexpected))}")
        if self.unjudged:
            found.append(f"not judged: {'; '.join(self.unjudged)}")
        if self.missing:
            found.append(f"expected, but not measured: {', '.join(self.missing)}")
        for name in self.missing:
            others = [one for one in self.unexpected if function_in(one) != function_in(name)]
            for near in difflib.get_close_matches(name, others, 1, 0.8):
                found.append(f"{name} is expected and {near} measured; write one like the other if they are the same")
        compared = () if self.comparison is None else (self.comparison.headline,)
        return (*self.notes, *compared, *found)

    def advise(self, candidates: ArrayLike, cost: Cost = "p") -> dict[tuple[str, str], Advice]:
        """Return where to measure next, for each function and metric; see `scalkit.judge.advise.advise`.

        `candidates` (shape (m,), over several parameters (m, parameters)): points that could be measured.
        `cost`: ``"p"``, or the parameter's name, where a measurement costs as much as its value says, a function of the
        point, or None.
        """
        return {(v.function, v.metric): advise(v, candidates, cost) for v in self.verdicts}

    def limit(
        self,
        metric: str,
        budget: float | str,
        ppn: int = 1,
        *,
        along: str | None = None,
        fixed: Mapping[str, float] | None = None,
    ) -> tuple[Limit, ...]:
        """Return the largest setting within a budget of each function, the tightest first; see `scalkit.judge.limit.limit`.

        `metric`: of the functions.

        `budget`: in the unit of the metric, or with a prefix, as in ``"24 GB"`` or ``"10 ms"``.
        `ppn`: processes that share a budget of memory.
        `along`, `fixed`: of several parameters, that of the limit, and values of the others.
        Raises DataError if no verdict is about `metric`; UsageError as from `limit`.
        """
        found = [limit(v, budget, ppn, along=along, fixed=fixed) for v in self.verdicts if v.metric == metric]
        if not found:
            known = ", ".join(dict.fromkeys(v.metric for v in self.verdicts)) or "none"
            raise DataError(f"there is no verdict on the metric {brief(metric)}; there are verdicts on {known}.")
        return tuple(sorted(found, key=lambda one: (one.value, one.low)))

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each verdict, as a pandas DataFrame.

        Over several parameters there are also a growth, a verdict and an effect along each.
        """
        import pandas as pd

        rows = [
            {
                "function": v.function,
                "metric": v.metric,
                "answer": v.answer,
                "expectation": str(v.expectation.growth),
                "model": str(v.model),
                "growth": str(v.model.growth),
                "adjusted_r2": v.model.adjusted_r2,
                "divergence": str(v.divergence),
                "match": v.match,
                "probability": v.probability.get(v.match, math.nan),
                "resolution": resolution_in_words(v.resolution),
                "direction": v.direction,
                "crossing": v.crossing if isinstance(v, Verdict) else math.nan,
                "decides": v.decides,
                **{f"{what}_{name}": value for name, one in v.along.items() for what, value in one.facts if len(v.along) > 1},
            }
            for v in self.verdicts
        ]
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``verdict.schema.json`` describes them; NaN and infinity become null."""
        litmus = self.litmus
        return {
            "schema": SCHEMA,
            **json_fields(self, "headline answer answers problems"),
            "exit_status": self.exit_status(),
            **json_fields(self, "expectations statistic"),
            "verdicts": [v.to_dict() for v in self.worst_first],
            "rules": [r.to_dict() for r in self.rules],
            "litmus": litmus and {"function": litmus.verdict.function, **json_fields(litmus, "passed sentence")},
            **json_fields(self, "unexpected missing unjudged"),
            "comparison": self.comparison and self.comparison.to_dict(),
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON text, indented, with a newline at the end."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def plot(self) -> Any:
        """Return the plotly figure of all verdicts, or of the only one; see `scalkit.plot`."""
        # Drawing belongs to a higher layer; only the public face knows what draws a result.
        import scalkit

        return scalkit.plot(self)

    def __repr__(self) -> str:
        from scalkit.judge.told.listing import result_text

        return result_text(self, shutil.get_terminal_size().columns)

    def _repr_html_(self) -> str:
        from scalkit.judge.told.shown import result_html

        return result_html(self)


def _nothing_judged(result: Validation) -> str:
    """Return why there is no verdict."""
    if result.unjudged:
        return f"nothing was judged: {few(result.unjudged, _SAID)}"
    return (
        f"no measured function has an expectation: measured are {few(result.unexpected) or 'nothing'}; "
        f"expectations name {few(result.missing) or 'nothing'}"
    )


def _problem(wrong: AnyVerdict | RuleResult) -> str:
    return wrong.problem if isinstance(wrong, Verdict | SeveralVerdict) else wrong.sentence.removesuffix(".")
