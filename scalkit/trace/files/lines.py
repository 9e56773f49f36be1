"""Lines of the source of the places that call a function, which a recorder knows as addresses."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_SECONDS = 60
LINES = "lines.json"


class Site(NamedTuple):
    """An address that a call returns to.

    `text`: function and offset, as in ``solve+0x1c``. `object`: path of the program or library it is in.
    `address`: as that counts it. `size` in bytes and `changed` in s since 1970: of the object, when it was recorded.
    """

    text: str
    object: str
    address: int
    size: int
    changed: int


def _site_of(line: Mapping[str, Any]) -> Site:
    """Return a site as a line of a recorder's file has it. Raises ValueError or TypeError if that is damaged."""
    numbers = (int(line.get(name, 0)) for name in ("address", "size", "changed"))
    return Site(str(line.get("site", "")), str(line.get("object", "")), *numbers)


def write_lines(folder: Path) -> None:
    """Write ``lines.json``, from texts of sites to ``file:line``, and delete the files of sites that it is made of."""
    of_object: dict[str, set[Site]] = {}
    for file in folder.glob("[0-9]*.sites"):
        # a process that was killed may have cut the last line off
        for line in file.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]:
            site = _site_of(json.loads(line))
            if site.object:
                of_object.setdefault(site.object, set()).add(site)
        file.unlink()
    tool = shutil.which("addr2line")
    if tool is None:
        return
    of_text: dict[str, set[str]] = {}
    for path, sites in of_object.items():
        for site, place in _places(tool, path, sorted(sites)).items():
            of_text.setdefault(site.text, set()).add(Path(place).name)
    lines = {text: next(iter(places)) for text, places in of_text.items() if len(places) == 1}
    if lines:
        (folder / LINES).write_text(json.dumps(lines, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def _places(tool: str, path: str, sites: list[Site]) -> dict[Site, str]:
    """Return ``function file:line`` of the sites of an object, unless it was changed since; a call ends before its address."""
    try:
        now = Path(path).stat()
    except (OSError, ValueError):
        return {}
    same = [site for site in sites if (site.size, site.changed) == (now.st_size, int(now.st_mtime))]
    if not same:
        return {}
    asked = "".join(f"{site.address - 1:#x}\n" for site in same)
    words = [tool, "-f", "-C", "-e", path]
    try:
        done = subprocess.run(words, input=asked, capture_output=True, text=True, timeout=_SECONDS, check=False, errors="replace")
    except subprocess.TimeoutExpired:
        return {}
    answers = done.stdout.splitlines()
    if done.returncode != 0 or len(answers) != 2 * len(same):
        return {}
    found = {}
    for site, function, line in zip(same, answers[::2], answers[1::2], strict=True):
        place = line.partition(" (discriminator")[0]
        if not place.startswith("??") and not place.endswith((":?", ":0")):
            found[site] = f"{function} {place}"
    return found
