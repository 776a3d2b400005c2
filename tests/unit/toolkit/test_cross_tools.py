"""The tools for another processor: the compiler that makes its code and the emulator that runs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cross_support import CROSS_COMPILER, OTHER, program

from opkit.errors import CompilerMissingError, EmulatorMissingError
from opkit.run import launcher_for
from opkit.toolkit import find_cross_compiler, find_emulator, host_arch
from opkit.toolkit import tools as tools_module


def test_the_cross_compiler_is_found_by_its_name_in_debian(tmp_path: Path) -> None:
    wanted = program(tmp_path / CROSS_COMPILER)
    compiler = find_cross_compiler({"PATH": f"/usr/games:{tmp_path}"}, OTHER)
    assert compiler.path == wanted
    assert not compiler.is_named


@pytest.mark.parametrize("triple", ["aarch64-linux-gnu", "aarch64-unknown-linux-gnu", "arm64-linux-gnu"])
def test_cxx_is_taken_if_it_compiles_for_that_processor(tmp_path: Path, triple: str) -> None:
    """As clang does with an option that only the command line holds."""
    text = f'#!/bin/sh\nif [ "$*" = "--target={triple} -dumpmachine" ]; then echo {triple}; else echo x86_64-linux-gnu; fi\n'
    clang = program(tmp_path / "clang++", text)
    compiler = find_cross_compiler({"PATH": str(tmp_path), "CXX": f"clang++ --target={triple}"}, "aarch64")
    assert compiler.path == clang
    assert compiler.is_named


@pytest.mark.parametrize(
    ("text", "shown"), [("echo riscv64-linux-gnu", "riscv64-linux-gnu"), ("exit 1", "a processor that it does not tell")]
)
def test_cxx_for_another_processor_is_refused_and_not_passed_over(tmp_path: Path, text: str, shown: str) -> None:
    program(tmp_path / CROSS_COMPILER)
    program(tmp_path / "my-g++", f"#!/bin/sh\n{text}\n")
    with pytest.raises(CompilerMissingError) as caught:
        find_cross_compiler({"PATH": str(tmp_path), "CXX": "my-g++"}, OTHER)
    assert caught.value.because == f"CXX=my-g++ compiles for {shown}"
    assert CROSS_COMPILER in (caught.value.help or "")


def test_qemu_is_called_with_the_folder_of_the_cross_compilers_libraries(tmp_path: Path) -> None:
    dynamic = program(tmp_path / f"qemu-{OTHER}")
    environ = {"PATH": str(tmp_path)}
    assert find_emulator(environ, OTHER) == (str(dynamic), "-L", f"/usr/{OTHER}-linux-gnu")
    static = program(tmp_path / f"qemu-{OTHER}-static")
    assert find_emulator(environ, OTHER) == (str(static), "-L", f"/usr/{OTHER}-linux-gnu")


def test_an_emulator_that_the_kernel_starts_serves_while_it_is_enabled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools_module, "_BINFMT", tmp_path)
    environ = {"PATH": str(tmp_path / "empty")}
    assert find_emulator(environ, OTHER) == ()
    (tmp_path / f"qemu-{OTHER}").write_text("enabled\ninterpreter /usr/libexec/qemu-binfmt\n")
    assert find_emulator(environ, OTHER) == ("/usr/bin/env", f"QEMU_LD_PREFIX=/usr/{OTHER}-linux-gnu")
    (tmp_path / f"qemu-{OTHER}").write_text("disabled\n")
    assert find_emulator(environ, OTHER) == ()


def test_a_program_for_this_machine_needs_no_emulator_and_one_for_another_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools_module, "_BINFMT", tmp_path)
    environ = {"PATH": str(tmp_path)}
    assert launcher_for(host_arch(), environ) == ()
    with pytest.raises(EmulatorMissingError) as caught:
        launcher_for(OTHER, environ)
    assert caught.value.exit_code == 3
    assert f"qemu-{OTHER}-static isn't on PATH" in (caught.value.because or "")
    assert "sudo apt install qemu-user-static" in (caught.value.help or "")
