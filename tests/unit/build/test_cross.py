"""A build for another processor: what CMake is told of it, and what stops it before CMake runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cross_support import CROSS_COMPILER, OTHER, program

from opkit.build.cross import Cross
from opkit.deliverable import LIBRARY
from opkit.errors import CompilerMissingError, EmulatorMissingError
from opkit.toolkit import elf_arch, host_arch, tools

if TYPE_CHECKING:
    from tiny_support import Tiny


@pytest.fixture(autouse=True)
def _nothing_emulates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_BINFMT", tmp_path / "none")


def test_a_build_for_this_machine_tells_cmake_nothing(tmp_path: Path) -> None:
    cross = Cross.of(host_arch(), {"PATH": str(tmp_path)}, has_toolchain_file=False, runs_program=True)
    assert cross == Cross()
    assert cross.definitions() == {}
    assert cross.fingerprint() == {}


def test_the_toolchain_file_of_the_user_says_it_all(tmp_path: Path) -> None:
    compiler = program(tmp_path / "g++")
    environ = {"PATH": str(tmp_path)}
    cross = Cross.of(OTHER, environ, has_toolchain_file=True, runs_program=True)
    assert cross.definitions() == {}
    assert cross.find_compiler(environ).path == compiler


def test_cmake_is_told_the_processor(tmp_path: Path) -> None:
    compiler = program(tmp_path / CROSS_COMPILER)
    environ = {"PATH": str(tmp_path)}
    cross = Cross.of(OTHER, environ, has_toolchain_file=False, runs_program=False)
    assert cross.definitions() == {"CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": OTHER}
    assert cross.find_compiler(environ).path == compiler


def test_a_program_that_the_build_runs_is_emulated_or_refused(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}
    with pytest.raises(EmulatorMissingError, match=f"kernels for {OTHER} can't be prebuilt here"):
        Cross.of(OTHER, environ, has_toolchain_file=False, runs_program=True)
    qemu = program(tmp_path / f"qemu-{OTHER}-static")
    cross = Cross.of(OTHER, environ, has_toolchain_file=False, runs_program=True)
    assert cross.definitions()["CMAKE_CROSSCOMPILING_EMULATOR"] == f"{qemu};-L;/usr/{OTHER}-linux-gnu"
    assert cross.fingerprint() == {"emulator": f"{qemu} -L /usr/{OTHER}-linux-gnu"}


def test_a_toolkit_for_another_processor_is_never_built_with_this_machines_compiler(tiny: Tiny, tmp_path: Path) -> None:
    program(tmp_path / "bin/g++")
    tiny.toolkit = tiny.toolkit._replace(arch=OTHER)
    with pytest.raises(CompilerMissingError, match=f"no C\\+\\+ compiler for {OTHER}"):
        tiny.build(environ={"PATH": str(tmp_path / "bin"), "CXX": ""})
    assert not list(tiny.project.build_dir.rglob("CMakeCache.txt"))


def test_a_build_for_this_machine_refuses_a_compiler_for_another(tiny: Tiny, tmp_path: Path) -> None:
    cross = program(tmp_path / "g++", f"#!/bin/sh\necho {OTHER}-linux-gnu\n")
    with pytest.raises(CompilerMissingError, match=f"CXX doesn't compile for {host_arch()}") as caught:
        tiny.build(environ={"CXX": f"'{cross}' -O2"})
    assert (caught.value.because or "").endswith(f"compiles for {OTHER}-linux-gnu")
    assert f"opkit build --arch {OTHER}" in (caught.value.help or "")
    assert not list(tiny.project.build_dir.rglob("CMakeCache.txt"))


@pytest.mark.skipif(shutil.which(CROSS_COMPILER) is None, reason="the cross compiler isn't installed")
def test_the_deliverable_for_one_processor_takes_the_place_of_that_for_the_other(tiny: Tiny) -> None:
    """One manifest is about one processor, so no library stays that it doesn't know; each has a tree of its own."""
    own, libraries = tiny.toolkit, tiny.root / "output/op_graph/lib/linux"
    tiny.build()
    (libraries / "notes.txt").write_text("mine")
    tiny.toolkit = own._replace(arch=OTHER)
    built = tiny.build()
    assert built.steps == ("configured", "compiled", "installed")
    assert built.read_opp_root().manifest.target.arch == OTHER
    library = libraries / OTHER / LIBRARY
    assert elf_arch(library) == OTHER
    assert sorted(path.name for path in libraries.iterdir()) == [OTHER, "notes.txt"]
    # Going back is an installation of what was built.
    tiny.toolkit = own
    assert tiny.build().steps == ("installed",)
    assert sorted(path.name for path in libraries.iterdir()) == ["notes.txt", host_arch()]
    assert len([path for path in tiny.project.build_dir.iterdir() if (path / "CMakeCache.txt").exists()]) == 2
