"""Writes a validation as JUnit XML, which every CI system shows."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Collection

from scalkit.validation.baseline.comparison import Comparison
from scalkit.validation.judge.choices import AnyVerdict
from scalkit.validation.result import Validation
from scalkit.validation.rules import RuleResult

__all__ = ["to_junit"]

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(result: Validation, name: str = "scalkit", fail_on: Collection[str] = ()) -> str:
    """Return JUnit XML: one test case for each verdict, rule, and comparison with a baseline.

    A case fails where it decides the exit status; verdicts that cannot tell are skipped with the reason.

    Parameters
    ----------
    result : Validation
    name : str
        Name of the test suite.
    fail_on : collection of str
        As in `Validation.exit_status`.
    """
    result.exit_status(fail_on)
    suite = ET.Element("testsuite", name=_clean(name))
    for verdict in result.worst_first:
        _verdict_case(suite, verdict, fail_on)
    for rule in result.rules:
        _rule_case(suite, rule, fail_on)
    if result.comparison is not None:
        _baseline_cases(suite, result.comparison, fail_on)
    for reason in result.unjudged:
        case = ET.SubElement(
            suite, "testcase", classname="scalkit.unjudged", name=_clean(reason.rpartition(" has ")[0])
        )
        ET.SubElement(case, "skipped", message=_clean(reason))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", "0")
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _verdict_case(suite: ET.Element, verdict: AnyVerdict, fail_on: Collection[str]) -> None:
    case = ET.SubElement(
        suite, "testcase", classname=_clean(f"scalkit.{verdict.metric}"), name=_clean(verdict.function)
    )
    outside = verdict.misses or (verdict.is_better and "better" in fail_on)
    outside |= verdict.decides and verdict.answer == "cannot tell" and "undecided" in fail_on
    if outside and verdict.decides:
        said = f"{verdict.answer}: {verdict.problem or verdict.sentence}"
        failure = ET.SubElement(case, "failure", message=_clean(said), type=verdict.answer)
        facts = {"expectation": verdict.expectation.growth, "model": verdict.model, "divergence": verdict.divergence}
        failure.text = _clean("\n".join([verdict.sentence, *(f"{name} {one}" for name, one in facts.items())]))
    elif outside or verdict.answer == "cannot tell":
        reasons = "" if verdict.decides else f" Not decided: {'; '.join(verdict.caveats)}"
        ET.SubElement(case, "skipped", message=_clean(f"{verdict.answer}: {verdict.sentence}{reasons}"))


def _rule_case(suite: ET.Element, rule: RuleResult, fail_on: Collection[str]) -> None:
    case = ET.SubElement(suite, "testcase", classname="scalkit.rule", name=_clean(str(rule.rule)))
    outside = rule.status == "violated" or (rule.status == "predicted" and "predicted" in fail_on)
    if outside and rule.decides:
        ET.SubElement(case, "failure", message=_clean(rule.sentence), type=rule.status)
    elif outside or rule.status == "unknown":
        reasons = f" Not decided: {'; '.join(rule.caveats)}" if rule.caveats else ""
        ET.SubElement(case, "skipped", message=_clean(f"{rule.sentence}{reasons}"))


def _baseline_cases(suite: ET.Element, comparison: Comparison, fail_on: Collection[str]) -> None:
    """Add a case for each change: what decides fails, what is worse or gone but does not decide is skipped."""
    failures = comparison.failures([word for word in fail_on if word != "predicted"])
    for change in comparison:
        case = ET.SubElement(
            suite, "testcase", classname=_clean(f"scalkit.baseline.{change.metric}"), name=_clean(change.function)
        )
        if change in failures:
            ET.SubElement(case, "failure", message=_clean(change.sentence), type=change.kind)
        elif change.kind in ("worse", "gone"):
            ET.SubElement(case, "skipped", message=_clean(change.sentence))


def _clean(text: str) -> str:
    """Replace what XML 1.0 cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
