"""Extra-P's text format: PARAMETER, POINTS, METRIC, REGION, DATA."""

import re

from scalkit.errors import DataError
from scalkit.formats.readers.content import Content, Line, shortened
from scalkit.formats.readers.extra_p_common import Series, found_in, parameters_of_names
from scalkit.formats.readers.observed import Found

_WORDS = ("PARAMETER", "POINTS", "METRIC", "REGION", "DATA")
_UNIT = re.compile(r"#\s*scalkit: metric (?P<metric>.*) is in (?P<unit>\S+)(?P<exact>, exact)?\s*$")


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
    reader = _Reader(content)
    for line in content.lines():
        reader.line(line)
    reader.close(None)
    if not reader.points or not reader.blocks:
        missing = "POINTS" if not reader.points else "DATA"
        raise DataError(
            f"{content.where} ends without {missing}, read were {len(reader.names)} parameters and {len(reader.points)} points; "
            "the file was cut: write it again."
        )
    last = content.unended
    cut = f"line {last.number} has no line end; if the file was cut there, its last value is wrong: check it" if last else ""
    return found_in("Extra-P text", reader.series, reader.parameters, cut)


class _Reader:
    """The state between lines: what was declared, and the block that DATA lines fill."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self.series = Series(content.where)
        self.names: list[str] = []
        self.points: list[tuple[float, ...]] = []
        self.blocks = 0
        self.metric, self.region = "", ""
        self.place = 0
        self.units: dict[str, tuple[str, bool]] = {}
        self.begin = 0

    @property
    def parameters(self) -> tuple[str, ...]:
        return parameters_of_names(self.names, self.content.where)

    def line(self, line: Line) -> None:
        if line.text.startswith("#"):
            if known := _UNIT.match(line.text):
                self.units[known["metric"]] = (known["unit"], bool(known["exact"]))
            return
        text = " ".join(line.text.split()) if line.text[:1].strip() else line.text
        if not text.strip():
            return
        word, _, rest = text.partition(" ")
        match word:
            case "PARAMETER":
                self.names += rest.split()
                parameters_of_names(self.names, f"{self.content.where}, line {line.number}")
            case "POINTS":
                self._points(line, rest)
            case "METRIC":
                self.close(line)
                self.metric = rest
            case "REGION":
                self.close(line)
                self.region = rest
            case "DATA":
                self._data(line, rest)
            case _:
                raise self.content.error(
                    line, f"{shortened(word)} is none of {', '.join(_WORDS)}; the file is damaged there, or no text of Extra-P."
                )

    def close(self, line: Line | None) -> None:
        """Check that the block that ends here has as many DATA lines as there are points."""
        if self.place not in (0, len(self.points)):
            at = f"line {line.number}" if line else "the end"
            raise DataError(
                f"{self.content.where}: {shortened(self.region)} has {self.place} DATA lines up to {at}, for {len(self.points)} "
                "POINTS; the file was cut or edited: write it again."
            )
        self.place = 0

    def _points(self, line: Line, rest: str) -> None:
        n = len(self.names)
        text = rest.replace("(", " ( ").replace(")", " ) ")
        if "(" not in text:
            numbers = [self.content.number(one, line, "a point") for one in text.split()]
            groups = [[one] for one in numbers]
        else:
            if re.sub(r"\(\s*[^()\s][^()]*\)", "", text).strip():
                raise self.content.error(line, f"the brackets in {shortened(rest)} do not match; write POINTS ( 4 10 ) ( 8 10 ).")
            groups = [
                [self.content.number(one, line, "a point") for one in inner.replace(",", " ").split()]
                for inner in re.findall(r"\(([^()]*)\)", text)
            ]
        for group in groups:
            if len(group) != n:
                raise self.content.error(
                    line, f"the point {tuple(group)} has {len(group)} numbers for {n} parameters; write one number for each."
                )
            if min(group) <= 0:
                raise self.content.error(
                    line, f"the point {tuple(group)} is not positive; every value of a parameter must be: leave it out."
                )
            self.points.append(tuple(group))

    def _data(self, line: Line, rest: str) -> None:
        if self.place >= len(self.points):
            raise self.content.error(
                line,
                f"DATA number {self.place + 1} of {shortened(self.region)}, but there are {len(self.points)} POINTS; the file is "
                "damaged there, or a REGION is missing.",
            )
        values = [self._value(line, one) for one in rest.split()]
        if not values:
            raise self.content.error(line, "DATA without a value; the file was cut or edited: write it again.")
        self.blocks += 1
        unit, exact = self.units.get(self.metric, (None, False))
        point = self.points[self.place]
        self.series.add(self.region, self.metric, self.parameters, point, values, unit=unit, exact=exact)
        self.place += 1

    def _value(self, line: Line, text: str) -> float:
        return float("nan") if text.lower() == "nan" else self.content.number(text, line, "a value of DATA")
