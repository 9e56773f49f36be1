"""Machines to simulate: those that scalkit brings, files of users, and files that are broken."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scalkit.bench.libraries.platforms import load_platform, platform_names
from scalkit.errors import UsageError

SMALL = '<platform version="4.1"><zone id="z" routing="Full">{}</zone></platform>'


@pytest.mark.parametrize(("name", "cores"), [("juropa", 8), ("daint", 8), ("juqueen", 16)])
def test_bundled_machines_have_room_for_1024_nodes(name: str, cores: int) -> None:
    found = load_platform(name)
    assert (len(set(found.hosts)), found.cores) == (1024, cores)
    assert set(found.overheads_s) == {"send", "receive", "isend"}
    assert all(0 < value < 1e-5 for value in found.overheads_s.values())
    assert sorted(found.places(1)) == sorted(found.hosts)


def test_hosts_are_filled_one_after_the_other() -> None:
    places = load_platform("juropa").places(8)
    assert len(places) == 8192
    assert all(len(set(places[i : i + 8])) == 1 for i in range(0, 800, 8))
    assert places[:8] != load_platform("juropa").hosts[:8], "a busy machine hands out scattered nodes"
    assert load_platform("juqueen").places(1) == load_platform("juqueen").hosts


def test_names() -> None:
    assert platform_names() == ("juropa", "daint", "juqueen")
    message = (
        "--platform 'jurop' is unknown (did you mean 'juropa'?); choose from juropa, daint, juqueen, or name a platform file "
        "(.xml) of SimGrid."
    )
    with pytest.raises(UsageError, match=re.escape(message)):
        load_platform("jurop")


def test_a_file_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "two.xml"
    path.write_text(SMALL.format('<host id="a" speed="1Gf" core="4"/><cluster prefix="b" suffix="c" radical="0-1,5"/>'))
    found = load_platform(str(path))
    assert found.hosts == ("a", "b0c", "b1c", "b5c")
    assert (found.name, found.cores, found.scatter_seed) == ("two", 1, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<platform", "is broken: unclosed token"),
        ("<html/>", "is broken: it begins with <html> instead of <platform>"),
        (SMALL.format(""), "has no <host> and no <cluster>"),
        (SMALL.format("<host/>"), "is broken: a <host> has no id="),
        (SMALL.format('<host id="a" core="many"/>'), "is broken: core='many' of a is no number of cores"),
        (SMALL.format('<cluster radical="x"/>'), "is broken: radical='x' does not number its hosts, as in 0-1023"),
        (SMALL.format('<cluster radical="0-99999999"/>'), "does not number its hosts"),
    ],
)
def test_broken_files(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "broken.xml"
    path.write_text(text)
    with pytest.raises(UsageError, match=re.escape(reason)):
        load_platform(str(path))


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(UsageError, match=r"cannot read the platform file no/such\.xml: No such file or directory"):
        load_platform("no/such.xml")


def test_room() -> None:
    juropa = load_platform("juropa")
    juropa.require_room(1024, 1)
    message = (
        "-n 1025: juropa has 1024 hosts, which is room for 1024 processes at 1 a host; use at most 1024, or --per-node up to 8."
    )
    with pytest.raises(UsageError, match=re.escape(message)):
        juropa.require_room(1025, 1)
    with pytest.raises(UsageError, match=r"--per-node 9: the hosts of juropa have 8 cores; choose from 1 to 8\."):
        juropa.places(9)
