"""Extra-P's text format: PARAMETER, POINTS, METRIC, REGION, DATA."""

import re

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, Line, shortened
from scalkit.formats.readers.extra_p_common import Series
from scalkit.formats.readers.observed import Found

_WORDS = ("PARAMETER", "POINTS", "METRIC", "REGION", "DATA")


def is_extra_p_text(content: Content) -> bool:
    """Return whether the first line that is no comment says PARAMETER."""
    for line in content.head.splitlines():
        if line.strip() and not line.startswith("#"):
            return line.split(" ")[0].split("\t")[0] == "PARAMETER"
    return False


def read_extra_p_text(content: Content) -> Found:
    """Return the measurements in a text file of Extra-P.

    Raises DataError if a line is damaged, or a call path has fewer or more DATA lines than there are points.

    Source: Extra-P, docs/file-formats.md (docs/references.md).
    """
    names: list[str] = []
    points: list[list[float]] = []
    metric, blocks = "", list[tuple[str, str, list[list[float]]]]()
    for line in content.lines():
        text = " ".join(line.text.split()) if line.text[:1].strip() else line.text
        word, _, rest = text.partition(" ")
        if line.text.startswith("#"):
            continue
        if word == "PARAMETER":
            names += rest.split()
        elif word == "POINTS":
            points += _points(content, line, rest, len(names))
        elif word == "METRIC":
            metric = rest
            blocks.append((metric, "", []))
        elif word == "REGION":
            blocks.append((metric, rest, []))
        elif word == "DATA":
            blocks = blocks or [("", "", [])]
            blocks[-1][2].append(_data(content, line, rest, blocks[-1], len(points)))
        elif text.strip():
            raise content.error(
                line, f"{shortened(word)} is none of {', '.join(_WORDS)}; the file is damaged there, or no text of Extra-P."
            )
    if not points or not any(rows for _, _, rows in blocks):
        missing = "POINTS" if not points else "DATA"
        raise DataError(
            f"{content.where} ends without {missing}, read were {len(names)} parameters and {len(points)} points; "
            "the file was cut: write it again."
        )
    series = Series(content.where, names)
    for metric, region, rows in blocks:
        if len(rows) not in (0, len(points)):
            raise DataError(
                f"{content.where}: {shortened(region)} has {len(rows)} DATA lines, for {len(points)} POINTS; the file was cut or "
                "edited: write it again."
            )
        for point, values in zip(points, rows, strict=False):
            series.add(region, metric, point, values, content.where)
    last = content.unended
    cut = f"line {last.number} has no line end; if the file was cut there, its last value is wrong: check it" if last else ""
    return series.found("Extra-P text", cut)


def _points(content: Content, line: Line, text: str, n: int) -> list[list[float]]:
    """Return points of n numbers: in brackets, or of one parameter without."""
    groups = re.findall(r"\(([^()]*)\)", text) if "(" in text else text.split()
    if "(" in text and re.sub(r"\(\s*[^()\s][^()]*\)", "", text).strip():
        raise content.error(line, f"the brackets in {shortened(text)} do not match; write POINTS ( 4 10 ) ( 8 10 ).")
    points = [[content.number(one, line, "a point") for one in group.replace(",", " ").split()] for group in groups]
    for point in points:
        if len(point) != n:
            raise content.error(
                line, f"the point {tuple(point)} has {len(point)} numbers for {n} parameters; write one number for each."
            )
    return points


def _data(content: Content, line: Line, text: str, block: tuple[str, str, list[list[float]]], n: int) -> list[float]:
    """Return the values of a line of a block, of which there is one for each of n points."""
    if len(block[2]) >= n:
        raise content.error(
            line,
            f"DATA number {len(block[2]) + 1} of {shortened(block[1])}, but there are {n} POINTS; the file is damaged there, "
            "or a REGION is missing.",
        )
    if not text.strip():
        raise content.error(line, "DATA without a value; the file was cut or edited: write it again.")
    return [float("nan") if one.lower() == "nan" else content.number(one, line, "a value of DATA") for one in text.split()]
