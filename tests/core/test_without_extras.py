"""The core alone, in an environment of its own: what it brings, what it can, and the sentence for everything it cannot."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scalkit.support.extras import EXTRAS, explained, install_command, missing, require, sentence

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = ("growth", "measure", "judge", "stats", "session", "bench")
CLIENTS = ("history", "trace", "store", "perfmodels", "guidelines")

_SPEC = importlib.util.spec_from_file_location("environment", Path(__file__).with_name("environment.py"))
environment = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(environment)

WITHOUT = """
import sys
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name in {"fcntl", "resource", "termios", "grp", "_multiprocessing"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Refused())
import subprocess, threading
def refused(*args, **options):
    raise OSError("there are no processes and no threads here")
threading.Thread.start = subprocess.Popen.__init__ = refused
"""
JUDGED = """
import scalkit as sk
time = sk.measurements([2, 4, 8, 16, 32, 64], [3.1, 4.9, 7.0, 9.1, 11.0, 12.9], unit="us", name="my_sort")
verdict = sk.validate(time, {"my_sort": "log(p)"})["my_sort"]
sk.plots.fit(verdict).to_html()
print(verdict.model, "|", verdict.match, "|", len(sk.validate(sk.read("data/quickstart"), "mpi").to_frame()))
"""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment without any extra."""
    folder = tmp_path_factory.mktemp("core")
    environment.make(folder)
    return folder / "bin" / "python"


def _run(core: Path, *words: str, path: str = "") -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    given = {**kept, **({"PATH": path} if path else {})}
    return subprocess.run([str(core), *words], cwd=ROOT, env=given, capture_output=True, text=True, check=False)


def test_the_core_is_light() -> None:
    brought = environment.closure(environment.required())
    assert len(brought) + 1 <= 30
    wanted = {"numpy", "xarray", "sympy", "lmfit", "plotly", "rich"}
    assert wanted <= set(brought)
    assert not {package for extra in EXTRAS.values() for package in extra.packages} & set(brought)


def test_extras_are_those_of_the_project() -> None:
    optional = PROJECT["optional-dependencies"]
    for name, extra in EXTRAS.items():
        assert {Requirement(text).name.replace("-", "_") for text in optional[name]} == set(extra.packages)
    assert set(optional) - set(EXTRAS) == {"mpi", "all", "test", "docs"}
    (everything,) = map(Requirement, optional["all"])
    assert everything.extras == set(EXTRAS)


def test_judges_and_draws(core: Path) -> None:
    done = _run(core, "-c", JUDGED)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1.15 us + 1.96 us * log(p) | total | 16\n"


@pytest.mark.slow
def test_judges_where_the_system_has_no_locks_limits_processes_and_threads(core: Path) -> None:
    every = "\nimport importlib\nfor name in MODULES:\n    importlib.import_module(name)\n"
    paths = [path for path in (ROOT / "scalkit").rglob("*.py") if "_shipped" not in path.parts]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    apart = re.compile(r"scalkit\.(widgets|pytest_plugin)|.*\.__main__")
    listed = f"MODULES = {[name for name in sorted(names) if not apart.match(name)]!r}"
    done = _run(core, "-c", WITHOUT + listed + every + JUDGED)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1.15 us")


def test_a_folder_is_not_measured_into_without_locks(core: Path) -> None:
    code = (
        "import pathlib, scalkit.bench.campaign.folder as lock\ntry:\n    lock.locked_folder(pathlib.Path('x'), '').__enter__()\n"
        "except lock.UsageError as error:\n    print(error)"
    )
    done = _run(core, "-c", WITHOUT + code)
    assert done.stdout == "cannot lock the folder x: this system has no fcntl; measure on Linux.\n", done.stderr


def test_python_says_what_is_missing(core: Path) -> None:
    cases = (
        ("lab", "ipywidgets", "sk.explore('data/quickstart')"),
        ("lab", "ipywidgets", "import scalkit.widgets.ruler.ruler"),
        ("report", "papermill", "sk.report('data/quickstart', 'mpi', 'r.html')"),
        ("store", "pyarrow", "sk.store.open('data/store')"),
        ("store", "pyarrow", "sk.store.validate('data/store')"),
        ("cube", "pycubexr", "sk.read('tests/data/readers/cube/set/demo.p4.r1/profile.cubex')"),
    )
    told = "try:\n    {}\nexcept sk.errors.MissingPackageError as error:\n    print(error)\n"
    done = _run(core, "-c", "import scalkit as sk\n" + "".join(told.format(code) for _, _, code in cases))
    assert done.stdout.splitlines() == [_sentence(core, extra, package) for extra, package, _ in cases], done.stderr


@pytest.mark.parametrize(
    ("extra", "package", "words"),
    [
        ("lab", "jupyterlab", ["lab"]),
        ("report", "papermill", ["report", "data/quickstart", "--out", "/tmp/never-written.html"]),
        ("store", "pyarrow", ["store", "runs", "data/store"]),
    ],
)
def test_the_command_says_the_same(core: Path, extra: str, package: str, words: list[str]) -> None:
    done = _run(core, "-m", "scalkit", *words)
    assert (done.returncode, done.stdout) == (2, "")
    name = " ".join(words[:1])
    assert done.stderr == f"scalkit {name}: {_sentence(core, extra, package)}\n"


def test_the_doctor_says_the_same(core: Path) -> None:
    done = _run(core, "-m", "scalkit", "doctor", "--json", *(f"--need={name}" for name in EXTRAS))
    assert done.returncode == 2
    found = {one["need"]: one for one in json.loads(done.stdout)}
    assert set(found) == set(EXTRAS)
    for name, extra in EXTRAS.items():
        assert not found[name]["here"]
        assert found[name]["lack"] == _sentence(core, name, extra.packages[0])


def _sentence(core: Path, extra: str, package: str) -> str:
    return sentence(extra, package).replace(shlex.quote(sys.executable), shlex.quote(str(core)))


def test_the_command_is_one_for_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/a place/python")
    assert install_command("lab") == "'/a place/python' -m pip install 'scalkit[lab]'"
    monkeypatch.setattr(sys, "executable", "")
    assert install_command("lab") == "pip install 'scalkit[lab]'"


def test_a_failed_import_is_explained_only_if_an_extra_brings_it() -> None:
    assert explained(ModuleNotFoundError("", name="numpy")) is None
    assert explained(ModuleNotFoundError("")) is None
    found = explained(ModuleNotFoundError("", name="nbformat.v4"))
    assert str(found) == sentence("report", "nbformat")
    assert found.name == "nbformat"


def test_what_is_here_is_required_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kaleido", None)
    assert missing("pdf") == ["kaleido"]
    monkeypatch.setitem(sys.modules, "kaleido", type(sys)("kaleido"))  # made by hand: it has no spec
    require("pdf")
    assert missing("pdf") == []


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("name", CORE)
def test_the_core_does_not_know_who_uses_it(name: str) -> None:
    place = ROOT / "scalkit" / name
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    assert files
    known = [
        f"{path}: {one}" for path in files for one in _imported(path) if one.split(".")[1:2] and one.split(".")[1] in CLIENTS
    ]
    assert known == []


@pytest.mark.slow
def test_judging_and_drawing_load_none_of_them(core: Path) -> None:
    loaded = f"print(sorted({{name.split('.')[1] for name in sys.modules if name.startswith('scalkit.')}} & set({CLIENTS!r})))"
    done = _run(core, "-c", f"import sys\n{JUDGED}\nsk.Session(time)\n{loaded}")
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
