"""The public names exist, are lazy, and leave the heavy libraries alone."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import scalkit as sk


@pytest.mark.parametrize("name", sk.__all__)
def test_every_public_name_has_a_body(name: str) -> None:
    assert getattr(sk, name) is not None


def test_unknown_name_is_named() -> None:
    with pytest.raises(AttributeError, match=r"^module 'scalkit' has no attribute 'Sesion'$"):
        sk.Sesion  # noqa: B018


def test_dir_lists_the_public_names() -> None:
    assert set(sk.__all__) <= set(dir(sk))


@pytest.mark.parametrize("package", ["scalkit.plots", "scalkit.widgets", "scalkit.perfmodels"])
def test_names_of_a_package_are_found_where_they_are_said_to_be(package: str) -> None:
    module = importlib.import_module(package)
    everything: dict[str, object] = {}
    exec(f"from {package} import *", everything)
    for name in module.__all__:
        assert everything[name] is getattr(module, name)
    assert module.__all__
    assert set(module.__all__) == set(dir(module))
    with pytest.raises(AttributeError, match=rf"^module '{package}' has no attribute 'nothing'$"):
        module.nothing  # noqa: B018


@pytest.mark.parametrize("package", ["scalkit.plots", "scalkit.widgets"])
def test_a_package_loads_none_of_its_modules(package: str) -> None:
    code = f"import sys, {package}; print([name for name in sys.modules if name.startswith('{package}.')])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, scalkit;"
        "heavy = {'plotly', 'ipywidgets', 'papermill', 'mpi4py', 'sympy', 'numpy', 'xarray', 'pandas', 'pyarrow', 'duckdb'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_validating_loads_no_drawing_and_no_notebook() -> None:
    code = (
        "import sys, scalkit as sk;"
        "res = sk.validate(sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name='f'), {'f': 'log(p)'});"
        "print(res['f'].match, sorted({'plotly', 'papermill', 'mpi4py', 'sympy', 'IPython'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "total []"
