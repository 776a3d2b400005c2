"""A tree of CMake for each toolkit and setting: going back to one costs nothing, and what lies beside them is left alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opkit.build import Settings, clean
from opkit.build.tree import Tree
from opkit.errors import UsageError
from opkit.toolkit import host_arch

if TYPE_CHECKING:
    from tiny_support import Tiny

_LIBRARY = f"output/op_graph/lib/linux/{host_arch()}/libcust_opapi.so"


def _by_hand(tiny: Tiny, folder: str) -> Path:
    build = tiny.root / folder
    argv = [
        "cmake",
        "-S",
        str(tiny.root),
        "-B",
        str(build),
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        f"-DASCEND_HOME_PATH={tiny.toolkit.home}",
    ]
    subprocess.run(argv, check=True, capture_output=True)
    return build


def test_going_back_to_a_toolkit_configures_and_compiles_nothing(tiny: Tiny, tmp_path: Path, make_toolkit: Callable[..., Path]) -> None:
    first = tiny.toolkit
    tiny.build()
    second = make_toolkit(tmp_path / "second toolkit", simulator="9.3.0-beta.1")
    tiny.toolkit = first._replace(home=second, version="9.3.0-beta.1")
    assert tiny.build().steps == ("configured", "compiled", "installed")
    commands = (tiny.root / "build/compile_commands.json").read_text()
    assert str(tiny.toolkit.home) in commands
    assert str(first.home) not in commands
    tiny.toolkit = first
    back = tiny.build()
    assert back.steps == ("installed",)
    assert back.read_opp_root().manifest.built_against.version == "9.2.0"
    assert str(first.home) in (tiny.root / "build/compile_commands.json").read_text()
    assert tiny.build().steps == ()
    assert {path.name for path in (tiny.root / "build").glob("simulator-*")} == {
        "simulator-9.2.0-x86_64-abi0-release",
        "simulator-9.3.0-beta.1-x86_64-abi0-release",
    }


@pytest.mark.case("H4")
def test_another_toolkit_of_the_same_version_leaves_nothing_of_the_first(
    tiny: Tiny, tmp_path: Path, make_toolkit: Callable[..., Path]
) -> None:
    tiny.build()
    first = tiny.toolkit.home
    tiny.toolkit = tiny.toolkit._replace(home=make_toolkit(tmp_path / "second toolkit", simulator="9.2.0"))
    built = tiny.build()
    assert built.steps == ("configured", "compiled", "installed")
    assert f"toolkit {first} -> {tiny.toolkit.home}" in built.reasons[0]
    assert str(first) not in (tiny.root / "build/compile_commands.json").read_text()


def test_a_version_that_is_no_name_of_a_folder_gives_one(tiny: Tiny) -> None:
    for version in ("../../9.2 (beta)\n", "9" * 500, "版本"):
        tree = Tree.of(tiny.project, tiny.toolkit._replace(version=version), "Release")
        assert tree.path.parent == tiny.project.build_dir
        assert re.fullmatch(r"simulator-[\w.+-]{1,200}", tree.key)


def test_the_names_that_stay_lead_to_the_tree_built_last(tiny: Tiny) -> None:
    release = tiny.build()
    assert release.program == tiny.root / "build/tiny_session_run"
    debug = tiny.build(settings=Settings(build_type="Debug"))
    assert debug.program == release.program
    assert debug.program.readlink() == Path("simulator-9.2.0-x86_64-abi0-debug/tiny_session_run")
    commands = json.loads((tiny.root / "build/compile_commands.json").read_text())
    assert all(command["directory"].endswith("-abi0-debug") for command in commands)


def test_a_tree_made_by_hand_and_opkits_live_side_by_side(tiny: Tiny) -> None:
    tiny.build()
    shutil.rmtree(tiny.root / "build")
    by_hand = _by_hand(tiny, "build")
    commands = (by_hand / "compile_commands.json").read_bytes()
    built = tiny.build()
    assert built.steps == ("configured", "compiled", "installed")
    subprocess.run(["cmake", "--build", by_hand], check=True, capture_output=True)
    assert (by_hand / "compile_commands.json").read_bytes() == commands
    assert not (by_hand / "tiny_session_run").is_symlink()
    # The program by that name is now the one made by hand; opkit runs its own.
    assert tiny.build().program == tiny.tree / "tiny_session_run"
    clean(tiny.project)
    assert not tiny.tree.exists()
    assert (by_hand / "tiny_session_run").is_file()
    assert not [path.name for path in by_hand.iterdir() if "opkit" in path.name or path.name == "CACHEDIR.TAG"]
    assert tiny.build().steps == ("configured", "compiled", "installed")


def test_trees_of_presets_in_the_build_folder_are_no_reason_to_refuse_it(tiny: Tiny) -> None:
    tiny.build()
    shutil.rmtree(tiny.root / "build")
    _by_hand(tiny, "build/release")
    assert "configured" in tiny.build().steps
    clean(tiny.project)
    assert [path.name for path in (tiny.root / "build").iterdir()] == ["release"]
    (tiny.root / "build/mine").mkdir()
    with pytest.raises(UsageError, match="wasn't made by opkit"):
        tiny.build()


def test_a_link_that_someone_else_made_stays(tiny: Tiny, tmp_path: Path) -> None:
    tiny.build()
    link = tiny.root / "build/compile_commands.json"
    link.unlink()
    link.symlink_to(tmp_path / "mine.json")
    tiny.build()
    assert link.readlink() == tmp_path / "mine.json"


def test_a_broken_link_of_opkits_is_made_again(tiny: Tiny) -> None:
    tiny.build()
    link = tiny.root / "build/tiny_session_run"
    link.unlink()
    link.symlink_to("gone/tiny_session_run")
    tiny.build()
    assert link.is_file()


@pytest.mark.case("H7")
def test_a_copied_project_has_a_build_of_its_own_with_the_same_bytes(tiny: Tiny, tmp_path: Path) -> None:
    """Its tree isn't believed, since CMake's files name the first place; what comes out names neither."""
    tiny.files["CMakeLists.txt"] += 'target_compile_options(cust_opapi PRIVATE "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")\n'
    first, library = tiny.root, (tiny.build().project.output / Path(_LIBRARY).relative_to("output")).read_bytes()
    tiny.root = tmp_path / "another place"
    shutil.copytree(first, tiny.root, symlinks=True)
    built = tiny.build()
    assert built.steps == ("configured", "compiled", "installed")
    assert f"project {first} -> {tiny.root}" in built.reasons[0]
    assert (tiny.root / _LIBRARY).read_bytes() == library
    assert str(first).encode() not in (tiny.tree / "CMakeCache.txt").read_bytes()
    assert (first / _LIBRARY).read_bytes() == library


@pytest.mark.parametrize("name", [".ninja_log", ".ninja_deps"])
@pytest.mark.parametrize("size", [0, 30])
def test_a_truncated_log_of_ninja_costs_compiling_at_most(tiny: Tiny, name: str, size: int) -> None:
    tiny.build()
    os.truncate(tiny.tree / name, size)
    assert tiny.build().package == "tiny"
    tiny.say("7")
    assert subprocess.run([tiny.build().program], check=False).returncode == 7
    assert tiny.build().steps == ()


@pytest.mark.case("H3")
def test_a_compiler_that_is_gone_is_noticed_and_another_taken(
    tiny: Tiny, tmp_path: Path, make_program: Callable[[Path, str], Path]
) -> None:
    wrapper = make_program(tmp_path / "gone" / "my-g++", '#!/bin/sh\nexec /usr/bin/g++ "$@"\n')
    tiny.build(environ={"CXX": str(wrapper)})
    shutil.rmtree(wrapper.parent)
    built = tiny.build()
    assert built.steps[:2] == ("configured", "compiled")
    assert f"CXX {wrapper} -> unset" in built.reasons[0]
    assert str(wrapper) not in (tiny.tree / "CMakeCache.txt").read_text()


def test_a_cmake_that_was_upgraded_configures_again(tiny: Tiny, tmp_path: Path, make_program: Callable[[Path, str], Path]) -> None:
    cmake = make_program(tmp_path / "bin" / "cmake", f'#!/bin/sh\nexec {shutil.which("cmake")} "$@"\n')
    environ = {"PATH": f"{cmake.parent}:{os.environ['PATH']}"}
    tiny.build(environ=environ)
    assert tiny.build(environ=environ).steps == ()
    os.utime(cmake)
    again = tiny.build(environ=environ)
    assert again.steps[0] == "configured"
    assert f"{cmake} isn't the CMake that it was" in again.reasons[0]


def test_a_changed_toolchain_file_configures_again(tiny: Tiny) -> None:
    toolchain = tiny.root / "chain.cmake"
    toolchain.write_text("set(CMAKE_CXX_FLAGS_INIT -DONE)\n")
    # Relative names count from the project, wherever the user stands.
    environ = {"CMAKE_TOOLCHAIN_FILE": "chain.cmake"}
    tiny.build(environ=environ)
    assert "-DONE" in (tiny.tree / "compile_commands.json").read_text()
    assert tiny.build(environ=environ).steps == ()
    toolchain.write_text("set(CMAKE_CXX_FLAGS_INIT -DTWO)\n")
    again = tiny.build(environ=environ)
    assert "the toolchain file changed" in again.reasons[0]
    assert "-DTWO" in (tiny.tree / "compile_commands.json").read_text()


@pytest.mark.case("H9")
def test_a_stale_header_in_the_output_never_wins(tiny: Tiny) -> None:
    tiny.files["ge/tiny.h"] = "// @ANSWER@\nint answer();\n"
    tiny.build()
    stale = tiny.root / "output/op_graph/include/tiny.h"
    stale.write_text("#error stale\n")
    tiny.say("7")
    built = tiny.build(environ={"CPLUS_INCLUDE_PATH": str(stale.parent)})
    assert subprocess.run([built.program], check=False).returncode == 7
    assert stale.read_text().startswith("// 7\n")
    assert "/output/" not in (tiny.root / "build/compile_commands.json").read_text()
