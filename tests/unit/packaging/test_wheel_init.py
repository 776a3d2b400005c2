"""The `__init__.py` of a wheel of ops: what importing it does, and how it knows that it comes too late."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from opkit import resources

_PROGRAM = """\
import ctypes, json, os, sys, warnings
sys.path.insert(0, sys.argv[1])
for library in sys.argv[3:]:
    ctypes.CDLL(library)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for name in sys.argv[2].split(","):
        __import__(name)
module = sys.modules[name]
print(json.dumps([os.environ.get("ASCEND_CUSTOM_OPP_PATH"), str(module.opp_root), [str(warning.message) for warning in told]]))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the packages `alpha` and `beta`."""
    site = tmp_path / "site packages 昇"
    for name in ("alpha", "beta"):
        (site / name).mkdir(parents=True)
        shutil.copy(resources.templates() / "deliverable" / "cmake" / "wheel_init.py.j2", site / name / "__init__.py")
    return site


def _library(path: Path, code: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".cpp").write_text(code)
    subprocess.run(["g++", "-shared", "-fPIC", path.with_suffix(".cpp"), "-o", path], check=True)
    return path


def _imported(site: Path, names: str, *libraries: Path, current: str | None = None) -> tuple[str, str, list[str]]:
    environ = {"PATH": os.environ["PATH"]} | ({} if current is None else {"ASCEND_CUSTOM_OPP_PATH": current})
    argv = [sys.executable, "-c", _PROGRAM, str(site), names, *map(str, libraries)]
    value, root, told = json.loads(subprocess.run(argv, env=environ, capture_output=True, text=True, check=True).stdout)
    return value, root, told


@pytest.mark.case("E6")
@pytest.mark.parametrize(("current", "kept"), [(None, ""), ("", ""), ("/old:", ":/old"), (":/a::/b", ":/a:/b"), ("/a:{root}:/a", ":/a")])
def test_importing_puts_the_folder_first_once_and_leaves_no_empty_element(current: str | None, kept: str, site: Path) -> None:
    value, root, told = _imported(site, "alpha", current=None if current is None else current.format(root=site / "alpha"))
    assert root == str(site / "alpha")
    assert (value, told) == (f"{site / 'alpha'}{kept}", [])


def test_what_is_imported_last_is_first(site: Path) -> None:
    assert _imported(site, "alpha,beta,alpha")[0] == f"{site / 'beta'}:{site / 'alpha'}"


def test_a_folder_that_no_path_list_can_hold_is_told_and_left_out(site: Path) -> None:
    odd = site.rename(site.with_name("a:b"))
    value, _, told = _imported(odd, "alpha", current="/old")
    assert value == "/old"
    assert told == [f"{odd / 'alpha'} can't be activated: ':' separates the folders of ASCEND_CUSTOM_OPP_PATH"]


@pytest.mark.case("E9")
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("namespace ge { bool IsGEInitialize() { return false; } }", None),
        ("namespace ge { bool IsGEInitialize() { return true; } }", "GE is initialised"),
        ("", "GE is loaded, and may be initialised"),
    ],
    ids=["not yet", "initialised", "a GE that can't be asked"],
)
def test_a_loaded_ge_is_asked_whether_it_is_too_late(code: str, reason: str | None, site: Path, tmp_path: Path) -> None:
    _, root, told = _imported(site, "alpha", _library(tmp_path / "libge_runner.so", code))
    expected = f"{root} comes too late: {reason}, and GE reads ASCEND_CUSTOM_OPP_PATH once in a process"
    assert [text.partition(";")[0] for text in told] == ([] if reason is None else [expected])


@pytest.mark.case("E9")
def test_a_loaded_library_of_another_package_says_that_it_is_too_late(site: Path, tmp_path: Path) -> None:
    library = _library(tmp_path / "other" / "op_graph" / "lib" / "libcust_opapi.so")
    _, _, told = _imported(site, "alpha", library, current=str(tmp_path / "other"))
    assert [text.partition(",")[0] for text in told] == [f"{site / 'alpha'} comes too late: GE has loaded {library}"]


@pytest.mark.case("E9")
@pytest.mark.parametrize(
    ("place", "is_late"),
    [
        ("libcust_opapi.so", True),
        ("op_graph/lib/linux/x86_64/any.so", True),
        ("op_proto/lib/linux/x86_64/libcust_opsproto.so", True),
        ("op_impl/ai_core/tbe/op_tiling/liboptiling.so", True),
        ("lib/python3.11/lib-dynload/_ctypes.so", False),
        ("op_graph/include/any.so", False),
        ("libmine.so", False),
    ],
)
def test_only_what_ge_loads_of_a_folder_says_that_it_has_started(place: str, is_late: bool, site: Path, tmp_path: Path) -> None:
    """An element may hold a whole Python, whose own libraries are loaded all the time."""
    library = _library(tmp_path / "other" / place)
    assert [f"GE has loaded {library}" in text for text in _imported(site, "alpha", library, current=str(tmp_path / "other"))[2]] == (
        [True] if is_late else []
    )


@pytest.mark.case("E9")
@pytest.mark.parametrize("line", ["import beta", "from beta import opp_root", "alpha.activate()", "import user"])
def test_a_warning_names_the_line_that_comes_too_late(line: str, site: Path, tmp_path: Path) -> None:
    library = _library(tmp_path / "other" / "libcust_opapi.so")
    (site / "user.py").write_text("import os\nimport beta\n")
    program = tmp_path / "program.py"
    program.write_text(f"import ctypes, sys\nsys.path.insert(0, {str(site)!r})\nimport alpha\nctypes.CDLL({str(library)!r})\n{line}\n")
    environ = {"PATH": os.environ["PATH"], "ASCEND_CUSTOM_OPP_PATH": str(tmp_path / "other")}
    told = subprocess.run([sys.executable, program], env=environ, capture_output=True, text=True, check=True).stderr
    place = f"{site}/user.py:2" if line == "import user" else f"{program}:5"
    assert told.startswith(f"{place}: RuntimeWarning: {site}/{'alpha' if 'alpha' in line else 'beta'} comes too late")


def test_a_package_that_ge_has_loaded_is_not_too_late(site: Path) -> None:
    library = _library(site / "alpha" / "op_graph" / "lib" / "libcust_opapi.so")
    assert _imported(site, "alpha", library, current=str(site / "alpha"))[2] == []
