"""Lines of the source of the places that call MPI, as addr2line tells them of the debugging data of a program."""

import json
import shutil
import subprocess
from collections.abc import Iterable
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


def _site(said: dict[str, Any]) -> Site:
    """Return a site as a line of a recorder's file has it. Raises ValueError or TypeError if that is damaged."""
    numbers = (int(said.get(name, 0)) for name in ("address", "size", "changed"))
    return Site(str(said.get("site", "")), str(said.get("object", "")), *numbers)


def write_lines(folder: Path) -> None:
    """Write ``lines.json``, from texts of sites to ``file:line``, and delete the files of sites that it is made of."""
    sites: set[Site] = set()
    for file in folder.glob("[0-9]*.sites"):
        # a process that was killed may have cut the last line off
        sites |= {_site(json.loads(line)) for line in file.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]}
        file.unlink()
    of_text: dict[str, set[str]] = {}
    for site, place in source_lines(sites).items():
        of_text.setdefault(site.text, set()).add(Path(place).name)
    lines = {text: next(iter(places)) for text, places in of_text.items() if len(places) == 1}
    if lines:
        (folder / LINES).write_text(json.dumps(lines, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def source_lines(sites: Iterable[Site]) -> dict[Site, str]:
    """Return ``function file:line`` of those sites where it is to be found; none of a file that was changed since."""
    of_file: dict[str, list[Site]] = {}
    for site in sorted(sites):
        if site.object:
            of_file.setdefault(site.object, []).append(site)
    tool = shutil.which("addr2line")
    found: dict[Site, str] = {}
    if tool is None:
        return found
    for path, here in of_file.items():
        try:
            now = Path(path).stat()
        except (OSError, ValueError):
            continue
        same = [site for site in here if (site.size, site.changed) == (now.st_size, int(now.st_mtime))]
        if same:
            found |= _lines(tool, path, same)
    return found


def _lines(tool: str, path: str, sites: list[Site]) -> dict[Site, str]:
    """Return what addr2line says; the call itself ends before the address that it returns to."""
    asked = "".join(f"{site.address - 1:#x}\n" for site in sites)
    words = [tool, "-f", "-C", "-e", path]
    try:
        done = subprocess.run(words, input=asked, capture_output=True, text=True, timeout=_SECONDS, check=False, errors="replace")
    except subprocess.TimeoutExpired:
        return {}
    said = done.stdout.splitlines()
    if done.returncode != 0 or len(said) != 2 * len(sites):
        return {}
    found = {}
    for site, function, line in zip(sites, said[::2], said[1::2], strict=True):
        place = line.partition(" (discriminator")[0]
        if not place.startswith("??") and not place.endswith((":?", ":0")):
            found[site] = f"{function} {place}"
    return found
