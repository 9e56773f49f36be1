"""JUnit XML, which every CI system shows: suites of test cases that pass, fail or are skipped."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Case:
    """One test case, which passes unless it says otherwise.

    `group`, `name`: attributes ``classname`` and ``name``.
    `failure`, `skipped`: why it fails or was skipped; empty if it does not or was not.
    `kind`, `detail`: attribute ``type`` and text of the failure; empty: left out.
    """

    group: str
    name: str
    failure: str = ""
    skipped: str = ""
    kind: str = ""
    detail: str = ""


def junit_xml(suites: Mapping[str, Iterable[Case]]) -> str:
    """Return suites, each with its name, as JUnit XML; characters that XML 1.0 cannot hold are replaced by U+FFFD."""
    root = ET.Element("testsuites")
    for name, cases in suites.items():
        suite = ET.SubElement(root, "testsuite", name=_clean(name))
        for one in cases:
            case = ET.SubElement(suite, "testcase", classname=_clean(one.group), name=_clean(one.name))
            if one.failure:
                failure = ET.SubElement(case, "failure", message=_clean(one.failure))
                if one.kind:
                    failure.set("type", one.kind)
                failure.text = _clean(one.detail) or None
            elif one.skipped:
                ET.SubElement(case, "skipped", message=_clean(one.skipped))
        _count(suite, "testcase")
    _count(root, "testsuite/testcase")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _count(element: ET.Element, cases: str) -> None:
    """Say how many test cases there are below an element."""
    element.set("tests", str(len(element.findall(cases))))
    element.set("failures", str(len(element.findall(f"{cases}/failure"))))
    element.set("errors", "0")
    element.set("skipped", str(len(element.findall(f"{cases}/skipped"))))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
