"""Compiler, CMake and Ninja: which is taken, and what is said when there is none."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from opkit.errors import CompilerMissingError, ToolMissingError
from opkit.toolkit import find_cmake, find_compiler, find_ninja, tools

Make = Callable[[Path, str], Path]

_CMAKE = "#!/bin/sh\necho 'cmake version {}'\n"


@pytest.fixture
def _no_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_wheel_folders", lambda _: [])


def test_no_compiler_names_the_package_to_install(tmp_path: Path) -> None:
    with pytest.raises(CompilerMissingError) as caught:
        find_compiler({"PATH": str(tmp_path)})
    assert "g++" in caught.value.message
    assert caught.value.help == "sudo apt install -y g++"
    assert caught.value.exit_code == 3


def test_the_first_compiler_of_the_path_is_taken_by_preference_of_name(tmp_path: Path, make_program: Make) -> None:
    make_program(tmp_path / "one" / "clang++", "#!/bin/sh\n")
    wanted = make_program(tmp_path / "two" / "g++", "#!/bin/sh\n")
    compiler = find_compiler({"PATH": f"{tmp_path}/one:{tmp_path}/two"})
    assert (compiler.path, compiler.is_named, compiler.argv) == (wanted, False, (str(wanted),))


def test_cxx_names_the_compiler_with_its_options(tmp_path: Path, make_program: Make) -> None:
    wanted = make_program(tmp_path / "my tools" / "g++-13", "#!/bin/sh\n")
    compiler = find_compiler({"PATH": "", "CXX": f"'{wanted}' -m64"})
    assert (compiler.path, compiler.is_named) == (wanted, True)
    assert compiler.argv == (str(wanted), "-m64")
    assert compiler.command == f"'{wanted}' -m64"


def test_a_compiler_is_asked_for_its_version_with_all_words_of_cxx(tmp_path: Path, make_program: Make) -> None:
    make_program(tmp_path / "env", '#!/bin/sh\necho "$*"\n')
    compiler = find_compiler({"PATH": str(tmp_path), "CXX": "env MODE=1 'g++ 13' -m64"})
    assert compiler.version() == "MODE=1 g++ 13 -m64 --version"


@pytest.mark.parametrize("value", ["no-such-compiler", "/nope/g++", "'unbalanced"])
def test_a_wrong_cxx_is_never_replaced_by_a_right_compiler(value: str) -> None:
    with pytest.raises(CompilerMissingError) as caught:
        find_compiler({"PATH": "/usr/bin", "CXX": value})
    assert f"CXX={value}" in (caught.value.because or "")


def test_a_compiler_in_the_current_folder_is_no_accident_of_an_empty_element(
    tmp_path: Path, make_program: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_program(tmp_path / "g++", "#!/bin/sh\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CompilerMissingError):
        find_compiler({"PATH": f":{tmp_path}/none:"})


@pytest.mark.usefixtures("_no_wheels")
def test_a_cmake_that_is_too_old_is_passed_over(tmp_path: Path, make_program: Make) -> None:
    make_program(tmp_path / "old" / "cmake", _CMAKE.format("3.10.2"))
    new = make_program(tmp_path / "new" / "cmake", _CMAKE.format("3.31.6"))
    tool = find_cmake({"PATH": f"{tmp_path}/old:{tmp_path}/new"})
    assert (tool.path, tool.version) == (new, "3.31.6")


@pytest.mark.usefixtures("_no_wheels")
@pytest.mark.parametrize("text", [_CMAKE.format("3.10.2"), "#!/bin/sh\nexit 1\n", "#!/no/such/interpreter\n"])
def test_only_unusable_cmakes_are_one_error_that_names_them(tmp_path: Path, make_program: Make, text: str) -> None:
    path = make_program(tmp_path / "cmake", text)
    with pytest.raises(ToolMissingError) as caught:
        find_cmake({"PATH": str(tmp_path)})
    assert str(path) in (caught.value.because or "")
    assert caught.value.help == "pip install cmake"


def test_without_a_system_cmake_and_ninja_the_wheels_binaries_are_taken_past_their_python_shims(tmp_path: Path) -> None:
    cmake = find_cmake({"PATH": str(tmp_path)})
    ninja = find_ninja({"PATH": str(tmp_path)})
    for tool in (cmake, ninja):
        assert tool.path.read_bytes()[:4] == b"\x7fELF"
        assert tool.reason.endswith("wheel")


def test_a_launcher_that_is_passed_over_is_named(tmp_path: Path, make_program: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    make_program(tmp_path / "wheel" / "cmake", _CMAKE.format("4.0.0"))
    monkeypatch.setattr(tools, "_wheel_folders", lambda _: [tmp_path / "wheel"])
    launcher = make_program(tmp_path / "first" / "cmake", f"#!{sys.executable}\n")
    make_program(tmp_path / "second" / "cmake", f"#!{sys.executable}\n")
    assert (
        find_cmake({"PATH": f"{tmp_path}/first:{tmp_path}/second"}).reason == f"from the cmake wheel, past the Python launcher {launcher}"
    )
    system = make_program(tmp_path / "third" / "cmake", _CMAKE.format("3.31.6"))
    tool = find_cmake({"PATH": f"{tmp_path}/first:{tmp_path}/third"})
    assert (tool.path, tool.reason) == (system, f"found on PATH, past the Python launcher {launcher}")


@pytest.mark.usefixtures("_no_wheels")
def test_a_python_shim_on_the_path_is_not_the_tool(tmp_path: Path, make_program: Make) -> None:
    make_program(tmp_path / "ninja", f"#!{sys.executable}\nprint('1.11.1')\n")
    with pytest.raises(ToolMissingError) as caught:
        find_ninja({"PATH": str(tmp_path)})
    assert caught.value.because == "there is none on PATH and none beside opkit"


@pytest.mark.skipif(shutil.which("cmake", path="/usr/bin") is None, reason="no system CMake")
def test_a_system_cmake_is_preferred_to_the_wheel() -> None:
    tool = find_cmake({"PATH": "/usr/bin"})
    assert (tool.path, tool.reason) == (Path("/usr/bin/cmake"), "found on PATH")
