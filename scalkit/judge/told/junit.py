"""A validation as test cases of JUnit XML."""

from collections.abc import Collection, Iterator

from scalkit.judge.baseline.comparison import Comparison
from scalkit.judge.judged import grows_slower
from scalkit.judge.measured import AnyVerdict
from scalkit.judge.result import Validation
from scalkit.judge.rules import RuleResult
from scalkit.support.junit import Case, junit_xml


def to_junit(result: Validation, name: str = "scalkit", fail_on: Collection[str] = ()) -> str:
    """Return JUnit XML with one suite, see `cases`."""
    return junit_xml({name: cases(result, fail_on)})


def cases(result: Validation, fail_on: Collection[str] = ()) -> list[Case]:
    """Return one test case for each verdict, rule, and comparison with a baseline.

    A case fails where it decides the exit status; verdicts that cannot tell are skipped with the reason.

    `fail_on`: as in `Validation.exit_status`.
    Raises UsageError if `fail_on` has an unknown word.
    """
    result.exit_status(fail_on)
    compared = [] if result.comparison is None else list(_changes(result.comparison, fail_on))
    unjudged = [Case("scalkit.unjudged", why.rpartition(" has ")[0], skipped=why) for why in result.unjudged]
    judged = [_verdict(one, fail_on) for one in result.worst_first] + [_rule(one, fail_on) for one in result.rules]
    return judged + compared + unjudged


def _verdict(verdict: AnyVerdict, fail_on: Collection[str]) -> Case:
    group, name = f"scalkit.{verdict.metric}", verdict.function
    outside = verdict.evidence.misses or (grows_slower(verdict) and "better" in fail_on)
    outside |= verdict.decides and verdict.answer == "cannot tell" and "cannot-tell" in fail_on
    if outside and verdict.decides:
        facts = {"expectation": verdict.expectation.growth, "model": verdict.model, "divergence": verdict.divergence}
        detail = "\n".join([verdict.sentence, *(f"{what} {one}" for what, one in facts.items())])
        kind = verdict.answer if verdict.evidence.misses or verdict.answer == "cannot tell" else "better"
        said = f"{kind}: {verdict.problem or verdict.sentence}"
        return Case(group, name, failure=said, kind=kind, detail=detail)
    if not outside and verdict.answer != "cannot tell":
        return Case(group, name)
    reasons = "" if verdict.decides else f" Not decided: {'; '.join(verdict.caveats)}"
    return Case(group, name, skipped=f"{verdict.answer}: {verdict.sentence}{reasons}")


def _rule(rule: RuleResult, fail_on: Collection[str]) -> Case:
    group, name = "scalkit.rule", str(rule.rule)
    outside = rule.status == "violated" or (rule.status == "predicted" and "predicted" in fail_on)
    if outside and rule.decides:
        return Case(group, name, failure=rule.sentence, kind=rule.status)
    reasons = f" Not decided: {'; '.join(rule.caveats)}" if rule.caveats else ""
    return Case(group, name, skipped=f"{rule.sentence}{reasons}" if outside or rule.status == "unknown" else "")


def _changes(comparison: Comparison, fail_on: Collection[str]) -> Iterator[Case]:
    """Yield a case for each change: what decides fails, what is worse or gone but does not decide is skipped."""
    failures = comparison.failures([word for word in fail_on if word != "predicted"])
    for change in comparison:
        group = f"scalkit.baseline.{change.metric}"
        if change in failures:
            yield Case(group, change.function, failure=change.sentence, kind=change.kind)
        else:
            yield Case(group, change.function, skipped=change.sentence if change.kind in ("worse", "gone") else "")
