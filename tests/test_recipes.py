"""Recipes, workflows and the citation say what pyproject.toml says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = yaml.safe_load((ROOT / "packaging/conda-forge/recipe.yaml").read_text(encoding="utf-8"))
SPACK = (ROOT / "packaging/spack/package.py").read_text(encoding="utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
CI = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))


def test_versions_agree() -> None:
    version = PROJECT["version"]
    assert RECIPE["context"]["version"] == CITATION["version"] == version
    assert f'version("{version}",' in SPACK
    assert f"scalkit-{version}.tar.gz" in SPACK
    assert f"]=={version}'" in (ROOT / "packaging/apptainer/scalkit.def").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(version)} ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_dependencies_agree() -> None:
    needed = {Requirement(one).name: str(Requirement(one).specifier) for one in PROJECT["dependencies"]}
    conda = dict(one.split() for one in RECIPE["requirements"]["run"] if not one.startswith("python "))
    assert conda == needed
    spack = dict(re.findall(r'depends_on\("py-([\w-]+)@([\d.]+):", type=\("build", "run"\)', SPACK))
    assert {name: f">={low}" for name, low in spack.items()} == needed


def test_every_python_of_the_classifiers_is_in_ci() -> None:
    listed = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)]
    assert CI["jobs"]["test"]["strategy"]["matrix"]["python"] == listed
    assert PROJECT["requires-python"] == f">={listed[0]}" == f">={RECIPE['context']['python_min']}"


def test_addresses_agree() -> None:
    home = PROJECT["urls"]["Homepage"]
    assert RECIPE["about"]["homepage"] == CITATION["repository-code"] == home
    assert f'homepage = "{home}"' in SPACK
    assert all(url.startswith(home) for url in PROJECT["urls"].values())


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.stem)
def test_workflows_and_forms_are_yaml_and_name_what_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert yaml.safe_load(text)["name"]
    targets = set(re.findall(r"\bmake ([a-z-]+)", text))
    assert targets <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
