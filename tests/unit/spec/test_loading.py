"""Running ops.py: afresh each time, its folder importable, no trace left in that folder, and the user's own line when it fails."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
from pathlib import Path

import pytest
from spec_support import SpecFolder, add_spec

from opkit.errors import SpecErrors
from opkit.spec import Package, load_package
from opkit.spec.local_imports import SpecFolder as LocalFolder

HELPED = add_spec().replace("1024", "helper.BLOCK").replace("from opkit import *", "from opkit import *\nimport helper")


def block_of(package: Package) -> str:
    return str(package.ops[0].kernel.blocks)


def test_loading_twice_gives_fresh_values(folder: SpecFolder) -> None:
    first = folder.add()
    second = load_package(folder.ops_py)

    assert first == second
    assert first.ops[0] is not second.ops[0]


def test_an_edit_of_ops_py_is_seen_at_once(folder: SpecFolder) -> None:
    assert block_of(folder.load(add_spec())) == 'ceil_div(numel("x"), 1024)'
    # The same length and, in all likelihood, the same time stamp: nothing may rely on either.
    assert block_of(folder.load(add_spec().replace("1024", "2048"))) == 'ceil_div(numel("x"), 2048)'


def test_an_edit_of_a_module_beside_it_is_seen_at_once(folder: SpecFolder) -> None:
    folder.write("helper.py", "BLOCK = 1024\n")
    assert block_of(folder.load(HELPED)) == 'ceil_div(numel("x"), 1024)'

    folder.write("helper.py", "BLOCK = 2048\n")
    assert block_of(folder.load(HELPED)) == 'ceil_div(numel("x"), 2048)'


def test_an_error_after_an_edit_shows_the_edited_line(folder: SpecFolder) -> None:
    assert folder.mistake("x = 1\ny = 2\nraise ValueError\n").where == "ops.py:3   raise ValueError"
    assert folder.mistake("x = 1\ny = 2\nraise KeyErrors\n").where == "ops.py:3   raise KeyErrors"


def test_the_sources_are_ops_py_and_the_modules_of_its_folder(folder: SpecFolder) -> None:
    folder.write("helper.py", "from parts.sizes import BLOCK\nimport json\n")
    folder.write("parts/__init__.py", "")
    folder.write("parts/sizes.py", "from bare import more\nBLOCK = 1024\n")
    folder.write("bare/more.py", "")
    folder.write("unused.py", "")
    package = folder.load(HELPED)

    assert [path.relative_to(folder.root).as_posix() for path in package.sources] == [
        "ops.py",
        "bare/more.py",
        "helper.py",
        "parts/__init__.py",
        "parts/sizes.py",
    ]


def test_a_module_of_another_folder_is_a_source_and_read_afresh(
    folder: SpecFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    common = tmp_path / "common"
    common.mkdir()
    monkeypatch.syspath_prepend(str(common))
    for block in (1024, 2048):
        # The same length and, in all likelihood, the same second.
        (common / "helper.py").write_text(f"BLOCK = {block}\n")
        package = folder.load(HELPED)
        assert block_of(package) == f'ceil_div(numel("x"), {block})'
        assert package.sources == (folder.ops_py, common / "helper.py")
    assert [path.name for path in common.iterdir()] == ["helper.py"]
    assert "helper" not in sys.modules


def test_nothing_is_written_beside_ops_py(folder: SpecFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    folder.write("helper.py", "BLOCK = 1024\n")
    folder.load(HELPED)

    assert sorted(path.name for path in folder.root.rglob("*")) == ["add.asc", "helper.py", "kernels", "ops.py"]


def test_the_interpreter_is_left_as_it_was(folder: SpecFolder) -> None:
    folder.write("helper.py", "BLOCK = 1024\n")
    before = (list(sys.path), list(sys.path_hooks), set(sys.path_importer_cache), set(sys.modules))
    folder.load(HELPED)

    assert (list(sys.path), list(sys.path_hooks), set(sys.path_importer_cache)) == before[:3]
    assert {"helper", "ops"}.isdisjoint(set(sys.modules) - before[3])
    assert not [name for name in linecache.cache if name.startswith(str(folder.root))]


def test_a_module_that_the_caller_imported_stays_the_caller_s(folder: SpecFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder.write("helper.py", "BLOCK = 1\n")
    monkeypatch.syspath_prepend(folder.root)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    import helper  # type: ignore[import-not-found] # made by this test

    path.write_text("BLOCK = 1024\n")
    try:
        assert block_of(folder.load(HELPED)) == 'ceil_div(numel("x"), 1024)'
        assert sys.modules["helper"] is helper
        assert helper.BLOCK == 1
    finally:
        del sys.modules["helper"]


def test_a_package_installed_in_an_environment_inside_the_project_is_no_source(folder: SpecFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write(".venv/lib/python3/site-packages/installed_helper.py", "BLOCK = 1024\n")
    monkeypatch.syspath_prepend(folder.root / ".venv/lib/python3/site-packages")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    try:
        package = folder.load(HELPED.replace("import helper", "import installed_helper as helper"))
        assert [path.name for path in package.sources] == ["ops.py"]
        assert "installed_helper" in sys.modules
    finally:
        del sys.modules["installed_helper"]


def test_a_home_folder_with_the_interpreter_below_it_is_a_project_like_any_other(
    folder: SpecFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = folder.root
    for prefix in ("prefix", "base_prefix"):
        monkeypatch.setattr(sys, prefix, str(home / "python"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    folder.write("python/lib/standard.py", "from opkit import *\nBLOCK = 1024\n")
    folder.write("src/editable/other.py", "BLOCK = 512\n")
    for entry in ("python/lib", "src/editable"):
        monkeypatch.syspath_prepend(home / entry)
    import other  # type: ignore[import-not-found] # made by this test
    import standard  # type: ignore[import-not-found] # as above

    try:
        package = folder.load(HELPED.replace("import helper", "import standard as helper, other"))
        assert (sys.modules["standard"], sys.modules["other"]) == (standard, other)
        assert [path.name for path in package.sources] == ["ops.py"]
    finally:
        del sys.modules["standard"], sys.modules["other"]


def test_opkit_below_the_project_is_no_module_of_it() -> None:
    import opkit.spec.declare

    checkout = Path(opkit.__file__).parents[1]
    assert not LocalFolder.of(checkout).holds_module("opkit.spec.declare", opkit.spec.declare)
    assert not LocalFolder.of(checkout).holds(opkit.spec.declare.__file__)


def test_what_ops_py_prints_stays_out_of_stdout(folder: SpecFolder, capsys: pytest.CaptureFixture[str]) -> None:
    folder.load("print('hello')\n" + add_spec())

    assert capsys.readouterr() == ("", "hello\n")


def test_a_relative_path_and_a_symlink_name_the_same_project(folder: SpecFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = folder.add()
    monkeypatch.chdir(folder.root)
    (tmp_path / "link").symlink_to(folder.root, target_is_directory=True)

    assert load_package(Path("ops.py")).root == package.root
    assert load_package(tmp_path / "link/ops.py") == package


def test_a_folder_with_blanks_and_other_letters_is_a_project(tmp_path: Path) -> None:
    folder = SpecFolder(root=tmp_path / "mein Projekt ü 算子")
    folder.write("kernels/add.asc", 'extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t n) {}')
    folder.write("helper.py", "BLOCK = 1024\n")

    assert [path.name for path in folder.load(HELPED).sources] == ["ops.py", "helper.py"]


@pytest.mark.parametrize(
    ("text", "message", "where", "because"),
    [
        ("x = 1\n1 / 0\n", "ops.py raised ZeroDivisionError", "ops.py:2   1 / 0", "division by zero"),
        (
            "import nowhere_at_all\n",
            "ops.py raised ModuleNotFoundError",
            "ops.py:1   import nowhere_at_all",
            "No module named 'nowhere_at_all'",
        ),
        ("from opkit import Opp\n", "ops.py raised ImportError", "ops.py:1   from opkit import Opp", None),
        ("raise SystemExit(3)\n", "ops.py raised SystemExit", "ops.py:1   raise SystemExit(3)", "3"),
        ("assert 0\n", "ops.py raised AssertionError", "ops.py:1   assert 0", "AssertionError"),
        ("def f():\n    return json.x\n\nf()\n", "ops.py raised NameError", "ops.py:2   return json.x", None),
        ("import json\n\njson.loads('{')\n", "ops.py raised JSONDecodeError", "ops.py:3   json.loads('{')", None),
    ],
)
def test_a_spec_that_raises_is_told_with_its_own_line(folder: SpecFolder, text: str, message: str, where: str, because: str | None) -> None:
    error = folder.mistake(text)

    assert (error.number, error.message, error.where) == ("OPK0204", message, where)
    assert because is None or error.because == because


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("from opkit import adress_list\n", "did you mean 'address_list'?"),
        ("from opkit import nothing_like_it\n", None),
        ("import opkit\nopkit.numels\n", "did you mean 'numel'?"),
        ("count\n", "write `from opkit import count`"),
        ("from opkit import *\nadress_list\n", "did you mean 'address_list'?"),
        ("weights\n", None),
        ("from json import load_s\n", None),
    ],
)
def test_a_misspelt_or_missing_word_comes_with_the_right_one(folder: SpecFolder, text: str, advice: str | None) -> None:
    error = folder.mistake(text)

    assert (error.number, error.help) == ("OPK0204", advice)


@pytest.mark.parametrize(
    ("expression", "because"),
    [
        *(
            (f'numel("x") {sign} 40', "known only when the op runs: use min_ and max_ instead of min, max and comparisons")
            for sign in ("<", "<=", ">", ">=")
        ),
        ('min(numel("x"), 40)', "use min_ and max_ instead of min, max and comparisons"),
        ('max(40, numel("x"))', "use min_ and max_ instead of min, max and comparisons"),
        ('numel("x") ** 2', 'write numel("x") * numel("x")'),
    ],
)
def test_a_size_in_an_expression_of_python_s_says_what_to_write(folder: SpecFolder, expression: str, because: str) -> None:
    error = folder.mistake(f"from opkit import *\n{expression}\n")

    assert (error.message, error.where) == ("ops.py raised TypeError", f"ops.py:2   {expression}")
    assert (error.because or "").endswith(because)


def test_a_failure_in_a_module_beside_ops_py_is_told_with_that_line(folder: SpecFolder) -> None:
    folder.write("helper.py", "def block():\n    return [][0]\n")
    error = folder.mistake("import helper\n\nhelper.block()\n")

    assert (error.message, error.where) == ("helper.py raised IndexError", "helper.py:2   return [][0]")


def test_a_syntax_error_in_a_module_beside_ops_py_is_told_with_that_line(folder: SpecFolder) -> None:
    folder.write("helper.py", "x = 1\ny = = 2\n")
    error = folder.mistake("import helper\n")

    assert (error.message, error.where) == ("helper.py raised SyntaxError", "helper.py:2   y = = 2")


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b"x = 1\nop = Op(\n", "ops.py:2   op = Op("),
        (b"x = 1\ny = = 2\n", "ops.py:2   y = = 2"),
        (b"# coding: latin-1\nx = '\xe4'\nif\n", "ops.py:3   if"),
        (b"x = '\xff'\n", None),
        (b"x = 1\0\n", None),
    ],
)
def test_a_spec_that_is_no_python_is_told_with_the_line(folder: SpecFolder, content: bytes, where: str | None) -> None:
    folder.ops_py.write_bytes(content)
    with pytest.raises(SpecErrors) as caught:
        load_package(folder.ops_py)
    (error,) = caught.value.errors

    assert (error.number, error.message) == ("OPK0203", "ops.py is no Python")
    assert where is None or error.where == where
    assert error.because


def test_a_missing_spec_is_told_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        load_package(tmp_path / "ops.py")
    (error,) = caught.value.errors

    assert (error.number, error.message) == ("OPK0202", f"the spec {tmp_path}/ops.py can't be read")
    assert error.because == "No such file or directory"


def test_a_spec_without_a_package_says_how_it_ends(folder: SpecFolder) -> None:
    error = folder.mistake("from opkit import Op\nop = Op('A')\n")

    assert (error.number, error.message) == ("OPK0205", "ops.py defines no package")
    assert error.help == 'end it with package = Package("my_package", ops=[…])'


def test_of_several_packages_the_one_called_package_is_taken(folder: SpecFolder) -> None:
    two = add_spec() + 'other = Package("other", ops=[op])\n'

    assert folder.load(two).name == "my_ops"
    error = folder.mistake(two.replace("package =", "first ="))
    assert (error.number, error.message) == ("OPK0205", "ops.py defines several packages: first, other")


def test_two_names_of_one_package_are_one(folder: SpecFolder) -> None:
    assert folder.load(add_spec() + "alias = package\n").name == "my_ops"


def test_ctrl_c_in_a_spec_is_passed_on(folder: SpecFolder) -> None:
    folder.write("ops.py", "raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        load_package(folder.ops_py)
    assert "ops" not in sys.modules


def test_importing_opkit_loads_neither_numpy_nor_a_parser() -> None:
    heavy = "{'numpy', 'ml_dtypes', 'tree_sitter', 'attrs', 'opkit.spec'}"
    code = f"import sys, opkit; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=_environ())

    assert done.stdout.strip() == "[]"


def test_loading_a_spec_doesn_t_load_numpy(folder: SpecFolder) -> None:
    folder.write("ops.py", add_spec())
    code = f"import sys, pathlib, opkit.spec; opkit.spec.load_package(pathlib.Path({str(folder.ops_py)!r})); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=_environ())

    assert done.stdout.strip() == "False"


def test_opkit_says_what_it_has() -> None:
    import opkit

    assert {"Op", "Package", "numel", "__version__"} <= set(dir(opkit))
    assert opkit.Op.__name__ == "Op"
    with pytest.raises(AttributeError, match="module 'opkit' has no attribute 'Opp'"):
        getattr(opkit, "Opp")  # noqa: B009 - a plain attribute would be a type error, as it should


def _environ() -> dict[str, str]:
    import opkit

    checkout = str(Path(opkit.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([checkout, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}
