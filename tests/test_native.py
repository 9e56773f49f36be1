"""Compile into the cache once for each combination of sources, compiler and flags; name whatever is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scalkit.bench import find_mpi
from scalkit.errors import BuildError, LaunchError
from scalkit.support import native

MAKEFILE = """BUILD ?= build
SOURCE := $(dir $(abspath $(firstword $(MAKEFILE_LIST))))
$(BUILD)/hello: $(SOURCE)hello.c $(SOURCE)word.def
\t$(MPICC) $(CFLAGS) -I$(SOURCE) -o $@ $<
"""
HELLO = '#include <stdio.h>\n#include "word.def"\nint main(void) { puts(WORD); return 0; }\n'


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with one program, and an empty cache; the compiler is plain cc."""
    if shutil.which("cc") is None or shutil.which("make") is None:
        pytest.skip("needs a C compiler and make")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("CFLAGS", "CPPFLAGS", "LDFLAGS", "MPIFLAGS"):
        monkeypatch.delenv(name, raising=False)
    tree = tmp_path / "hello world"
    tree.mkdir()
    (tree / "Makefile").write_text(MAKEFILE)
    (tree / "hello.c").write_text(HELLO)
    (tree / "word.def").write_text('#define WORD "hello"\n')
    return tree


def _wrapper(folder: Path, body: str, name: str = "mpicc") -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def _built(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache/scalkit/native").iterdir())


def test_another_makefile_makes_other_programs(tree: Path, tmp_path: Path) -> None:
    (tree / "more").mkdir()
    (tree / "more/Makefile").write_text("all:\n\t$(MPICC) -o $(BUILD)/other $(SOURCE)hello.c\n")
    other = native.build(tree, "cc", makefile="more/Makefile")
    assert native.build(tree, "cc").folder != other.folder
    assert other.program("other").is_file()


def test_second_build_comes_from_the_cache(tree: Path, tmp_path: Path) -> None:
    first = native.build(tree, "cc")
    second = native.build(tree, "cc")
    assert (first.fresh, second.fresh) == (True, False)
    assert first.folder == second.folder
    assert subprocess.run([first.program("hello")], capture_output=True, check=True).stdout == b"hello\n"
    assert first.log.read_text().startswith("$ make -C ")
    assert len(_built(tmp_path)) == 1
    assert sorted(path.name for path in tree.iterdir()) == ["Makefile", "hello.c", "word.def"]


def test_builds_at_the_same_time_compile_once(tree: Path, tmp_path: Path) -> None:
    compiled = tmp_path / "compiled"
    body = f'case "$1" in -show) echo cc;; --version) echo 1;; *) echo x >>{compiled}; sleep 0.3; exec cc "$@";; esac'
    compiler = _wrapper(tmp_path, body)
    with ThreadPoolExecutor(4) as pool:
        builds = list(pool.map(lambda _: native.build(tree, compiler), range(4)))
    assert compiled.read_text() == "x\n"
    assert sorted(build.fresh for build in builds) == [False, False, False, True]
    assert _built(tmp_path) == [builds[0].folder.name]


@pytest.mark.parametrize("change", ["sources", "flags", "library", "compiler"])
def test_a_change_leads_to_another_build(change: str, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = native.build(tree, "cc")
    compiler, library = "cc", ""
    if change == "sources":
        (tree / "word.def").write_text('#define WORD "bye"\n')
    elif change == "flags":
        monkeypatch.setenv("CFLAGS", "-O2")
    elif change == "library":
        library = "Some MPI 2.0"
    else:
        compiler = _wrapper(tmp_path, 'case "$1" in -show) echo cc -DX;; *) exec cc "$@";; esac')
    second = native.build(tree, compiler, library=library)
    assert second.fresh
    assert second.folder != first.folder


def test_compiler_in_a_folder_with_blanks(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "my mpi").mkdir()
    compiler = _wrapper(tmp_path / "my mpi", 'case "$1" in -show) echo cc;; *) exec cc "$@";; esac')
    assert native.build(tree, compiler).program("hello").is_file()


def test_temporary_folder_with_blanks(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my  files").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "my  files"))
    built = native.build(tree, "cc")
    assert subprocess.run([built.program("hello")], capture_output=True, check=True).stdout == b"hello\n"


@pytest.mark.slow
@pytest.mark.mpi
def test_measuring_programs_in_a_temporary_folder_with_blanks(tmp_path: Path) -> None:
    """Nothing but the environment differs: the probe and the programs are compiled, started and write their files."""
    try:
        mpi = find_mpi()
    except (BuildError, LaunchError) as error:
        pytest.skip(f"needs an MPI library: {error}")
    (tmp_path / "my  files").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "my  files"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment["CFLAGS"] = "-O0"  # how well it is compiled does not matter
    words = ["memory", "-n", "2", "--runs", "1", "--ops", "MPI_Comm_dup", "--budget", "5", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-m", "scalkit", "measure", *words, "--mpi", mpi.mpicc, "--mpiexec", mpi.mpiexec]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/memory-p0002-r00.jsonl").is_file()


def test_make_around_it_does_not_disturb(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEFLAGS", "n -- BUILD=/nowhere MPICC=false")
    assert native.build(tree, "cc").program("hello").is_file()


def test_sources_that_do_not_compile(tree: Path, tmp_path: Path) -> None:
    (tree / "hello.c").write_text("int main(void) { return nothing; }\n")
    with pytest.raises(BuildError) as caught:
        native.build(tree, "cc")
    first, *rest = str(caught.value).splitlines()
    (log,) = [name for name in _built(tmp_path) if name.endswith(".failed.log")]
    assert first == (
        f"compiling {tree} with 'cc' failed (status 2), see {tmp_path / 'cache/scalkit/native' / log}; MPI 3.0 or newer is "
        "needed, check 'cc -show'. It ended with:"
    )
    assert any("nothing" in line for line in rest)
    assert len(_built(tmp_path)) == 1


def test_compiler_that_hangs(tree: Path, tmp_path: Path) -> None:
    compiler = _wrapper(tmp_path, 'case "$1" in --*|-show) exit 1;; *) sleep 6000;; esac')
    with pytest.raises(BuildError, match=r"did not finish within 0\.5 s, see .*\.failed\.log; MPI 3\.0 or newer"):
        native.build(tree, compiler, timeout_s=0.5)


def test_wrapper_that_hangs_on_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_QUESTION_S", 0.2)
    assert native.show_command(_wrapper(tmp_path, "sleep 6000")) == ""


def test_no_make(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = _wrapper(tmp_path, "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    message = "compiling needs 'make', which is not on PATH; install it (Debian: apt-get install make)."
    with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
        native.build(tree, compiler)


def test_no_c_compiler_behind_the_wrapper(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = _wrapper(tmp_path, "echo cc -I/some/include")
    _wrapper(tmp_path, "exit 0", "make")
    monkeypatch.setenv("PATH", str(tmp_path))
    message = (
        f"{compiler!r} calls the C compiler 'cc', which is not on PATH; install one (Debian: apt-get install gcc libc6-dev)."
    )
    with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
        native.build(tree, compiler)


def test_no_wrapper(tree: Path) -> None:
    message = "cannot run the compiler '/no/mpicc': No such file or directory; install an MPI library or name its compiler."
    with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
        native.build(tree, "/no/mpicc")


def test_cache_that_cannot_be_written(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    message = (
        f"cannot keep the build in {tmp_path}/file/scalkit/native: Not a directory; make room there, or name another place "
        "with XDG_CACHE_HOME."
    )
    with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
        native.build(tree, "cc")


def test_program_that_was_not_made(tree: Path) -> None:
    built = native.build(tree, "cc")
    message = f"the build in {built.folder} has no program 'bye', see {built.log}; delete that folder."
    with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
        built.program("bye")


def test_cache_folder_ignores_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "some/where")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert native.cache_folder("native") == tmp_path / ".cache/scalkit/native"


@pytest.fixture
def home_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache below a home directory that cannot be written, also by root; temporary files go to `tmp_path`."""
    (tmp_path / "home").write_text("a file, as permissions do not hold root back")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    native._warn_once.cache_clear()
    return tmp_path / "home/.cache"


def test_home_that_cannot_be_written(home_of_others: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    own = tmp_path / f"scalkit-{os.getuid()}"
    assert [native.cache_folder(name) for name in ("native", "mpi")] == [own / "native", own / "mpi"]
    assert own.stat().st_mode & 0o777 == 0o700
    message = f"scalkit: {home_of_others} cannot be written; files are kept in {own} (XDG_CACHE_HOME names another place)."
    assert [record.message for record in caplog.records] == [message]


@pytest.mark.parametrize("is_link", [False, True])
def test_temporary_folder_that_others_can_write(home_of_others: Path, tmp_path: Path, is_link: bool) -> None:
    other, own = tmp_path / "other", tmp_path / f"scalkit-{os.getuid()}"
    other.mkdir()
    if is_link:
        own.symlink_to(other)
    else:
        own.mkdir()
        own.chmod(0o777)
    message = f"{own} is not a folder that only this user can write to; name a place of your own with XDG_CACHE_HOME."
    with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
        native.cache_folder("native")


def test_home_of_another_user(home_of_others: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that this user may not even look into, as that of root: root itself may look everywhere."""
    exists = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: "home" not in Path(path).parts and exists(path))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert native.cache_folder("native") == tmp_path / f"scalkit-{os.getuid()}/native"


def test_user_without_a_home(home_of_others: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert native.cache_folder("native") == tmp_path / f"scalkit-{os.getuid()}/native"
    assert caplog.records[0].message.startswith("scalkit: this user has no home directory; files are kept in ")


def test_no_place_for_a_cache(home_of_others: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    message = f"cannot make {tmp_path}/none/scalkit-{os.getuid()}: No such file or directory; name a place with XDG_CACHE_HOME."
    with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
        native.cache_folder("native")


@pytest.mark.parametrize("has_cache_blanks", [False, True])
def test_path_without_blanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_cache_blanks: bool) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ("the cache" if has_cache_blanks else "cache")))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / "my environment"
    folder.mkdir()
    expected = tmp_path / f"scalkit-{os.getuid()}/links" if has_cache_blanks else tmp_path / "cache/scalkit/links"
    link = native.without_blanks(folder)
    assert link.parent == expected
    assert link.readlink() == folder
    link.unlink()
    link.symlink_to("/somewhere/else")
    assert native.without_blanks(folder) == link
    assert link.readlink() == folder
    assert list(expected.iterdir()) == [link]
    assert native.without_blanks(tmp_path) == tmp_path


def test_path_without_blanks_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    message = (
        rf"compilers of MPI libraries need a path without blanks, and the link {tmp_path}/file/scalkit/links/\w+ to "
        "'/my environment' cannot be made: Not a directory; name a place without blanks with XDG_CACHE_HOME."
    )
    with pytest.raises(BuildError, match=f"^{message}$"):
        native.without_blanks(Path("/my environment"))


def test_checkout_wins_and_missing_sources_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "scalkit"
    monkeypatch.setattr(native, "_PACKAGE", package)
    message = f"the C sources 'some' are not at {package / '_shipped/some'}; install scalkit again."
    with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
        native.sources("some")
    for place in (package / "_shipped/some", tmp_path / "some"):
        place.mkdir(parents=True)
        (place / "Makefile").write_text("")
    assert native.sources("some") == package / "_shipped/some"
    (tmp_path / "pyproject.toml").write_text("")
    assert native.sources("some") == tmp_path / "some"
