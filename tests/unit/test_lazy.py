"""The packages whose names load on first use: each name is what type checkers take it for, and nothing is imported before."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import opkit

_PACKAGES = ["opkit", "opkit.build", "opkit.deliverable", "opkit.packaging", "opkit.run", "opkit.toolkit"]


def _typed(package: str) -> dict[str, str]:
    """The names that a type checker sees in the package, with the modules that it sees them in."""
    tree = ast.parse(Path(str(import_module(package).__file__)).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    imports = [node for node in (*tree.body, *block.body) if isinstance(node, ast.ImportFrom) and str(node.module).startswith("opkit.")]
    return {name.asname or name.name: str(node.module) for node in imports for name in node.names}


def test_these_are_all_the_packages_that_load_names_on_first_use() -> None:
    root = Path(opkit.__file__).parent
    found = [file.parent for file in root.rglob("__init__.py") if "def __getattr__" in file.read_text()]
    assert sorted(".".join(folder.relative_to(root.parent).parts) for folder in found) == _PACKAGES


@pytest.mark.parametrize("package", _PACKAGES)
def test_a_name_is_that_of_the_module_in_which_a_type_checker_sees_it(package: str) -> None:
    room = import_module(package)
    typed = _typed(package)
    assert sorted(typed) == sorted(room.__all__)
    for name, module in typed.items():
        assert getattr(room, name) is getattr(import_module(module), name)
    assert set(room.__all__) <= set(dir(room))


@pytest.mark.parametrize("package", _PACKAGES)
def test_another_name_is_no_attribute(package: str) -> None:
    with pytest.raises(AttributeError, match=f"^module '{package}' has no attribute 'nothing_like_it'$"):
        _ = import_module(package).nothing_like_it


@pytest.mark.parametrize("package", _PACKAGES)
def test_a_package_loads_none_of_its_modules_until_a_name_is_used(package: str) -> None:
    code = f"import sys, {package}; print([name for name in sys.modules if name.startswith('{package}.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
