"""What a project has for people who drive CMake themselves: presets of every kind of build, and a toolchain file for aarch64."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from opkit.build import BUILD_TYPES

_SAMPLE = Path(__file__).resolve().parents[3] / "samples" / "args_refresh_add_custom"
_PROJECT = """\
cmake_minimum_required(VERSION 3.20)
project(crossed LANGUAGES CXX)
file(WRITE "${CMAKE_BINARY_DIR}/told" "${CMAKE_SYSTEM_PROCESSOR} ${CMAKE_CROSSCOMPILING} ${CMAKE_CXX_COMPILER}")
"""


def test_presets_name_every_build_type_and_nothing_of_this_machine() -> None:
    text = (_SAMPLE / "CMakePresets.json").read_text()
    document = json.loads(text)
    presets = {preset["name"]: preset for preset in document["configurePresets"]}
    types = [preset["cacheVariables"].get("CMAKE_BUILD_TYPE") for preset in presets.values() if "cacheVariables" in preset]
    assert sorted(filter(None, types)) == sorted(BUILD_TYPES)
    assert presets["toolkit"]["cacheVariables"] == {"ASCEND_HOME_PATH": "$env{ASCEND_HOME_PATH}"}
    assert {preset["configurePreset"] for preset in document["buildPresets"]} == set(presets) - {"toolkit"}
    assert not re.search(r'"/', text)
    assert (_SAMPLE / presets["aarch64"]["toolchainFile"].removeprefix("${sourceDir}/")).is_file()


def test_the_toolchain_file_takes_debians_cross_compiler(tmp_path: Path, make_program: Callable[[Path, str], Path]) -> None:
    """One that compiles for this machine stands in for it: what counts here is which is called, and for which processor."""
    compiler = make_program(tmp_path / "bin" / "aarch64-linux-gnu-g++", '#!/bin/sh\nexec g++ "$@"\n')
    (tmp_path / "CMakeLists.txt").write_text(_PROJECT)
    argv = [
        "cmake",
        "-G",
        "Ninja",
        "-S",
        str(tmp_path),
        "-B",
        str(tmp_path / "b"),
        f"-DCMAKE_TOOLCHAIN_FILE={_SAMPLE / 'cmake/aarch64-linux-gnu.cmake'}",
    ]
    env = {**os.environ, "PATH": f"{compiler.parent}:{os.environ['PATH']}"}
    subprocess.run(argv, env=env, check=True, capture_output=True)
    assert (tmp_path / "b" / "told").read_text() == f"aarch64 TRUE {compiler}"
