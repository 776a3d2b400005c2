"""Ninja or make, whichever there is or is asked for: the same build, as quick when nothing changed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tool_support import require_tool

from opkit.errors import CompileError, ToolMissingError, UsageError
from opkit.toolkit import find_cmake, process_environment, tools

if TYPE_CHECKING:
    from tiny_support import Tiny

_MAKE = {"CMAKE_GENERATOR": "Unix Makefiles"}


@pytest.fixture(autouse=True)
def _make() -> None:
    require_tool("make", "make")


@pytest.fixture
def without_ninja(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of links to everything but Ninja, and none beside opkit."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for tool in Path(place).iterdir() if Path(place).is_dir() else ():
            if not tool.name.startswith("ninja") and not (folder / tool.name).exists():
                (folder / tool.name).symlink_to(tool)
    (folder / "cmake").unlink()
    (folder / "cmake").symlink_to(find_cmake(process_environment()).path)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(tools, "_wheel_folders", lambda _: [])
    return folder


@pytest.mark.case("H1")
def test_another_generator_starts_from_scratch_and_builds_the_same(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    ninja = tiny.build().read_opp_root()
    make = tiny.build(environ=_MAKE)
    assert make.steps == ("configured", "compiled", "installed")
    assert "generator Ninja -> Unix Makefiles" in make.reasons[0]
    assert "   Compiling with make\n" in capsys.readouterr().err
    assert make.read_opp_root().manifest.files == ninja.manifest.files
    # Not named, it stays: a Ninja that comes and goes on PATH is no reason to start again.
    assert tiny.build().steps == ()


@pytest.mark.case("H1")
def test_with_make_a_build_does_what_it_must_and_no_more(tiny: Tiny) -> None:
    tiny.build(environ=_MAKE)
    assert tiny.build(environ=_MAKE).steps == ()
    tiny.say("7")
    changed = tiny.build(environ=_MAKE)
    assert changed.steps == ("rendered", "compiled", "installed")
    assert subprocess.run([changed.program], check=False).returncode == 7
    log = (tiny.tree / "opkit-build.log").read_text()
    assert "custom_op.cpp.o" in log
    assert "main.cc.o" not in log
    os.utime(tiny.root / "ge/custom_op.cpp")
    subprocess.run(["make", "-C", tiny.tree], check=True, capture_output=True)
    assert tiny.build(environ=_MAKE).steps == ("installed",)
    tiny.say("no_such_name")
    with pytest.raises(CompileError, match="no_such_name") as caught:
        tiny.build(environ=_MAKE)
    assert (caught.value.where or "").startswith("ge/custom_op.cpp:3:")


@pytest.mark.parametrize("name", ["Makefile", "CMakeFiles/Makefile2", "CMakeFiles/cust_opapi.dir/build.make"])
def test_a_truncated_file_of_make_is_made_again(tiny: Tiny, name: str) -> None:
    tiny.build(environ=_MAKE)
    os.truncate(tiny.tree / name, 40)
    built = tiny.build(environ=_MAKE)
    assert built.steps[0] == "configured"
    assert f"{name} was changed from outside" in built.reasons[0]


@pytest.mark.case("H1")
def test_an_unknown_generator_is_an_error_that_lists_those_that_work(tiny: Tiny) -> None:
    with pytest.raises(UsageError) as caught:
        tiny.build(environ={"CMAKE_GENERATOR": "NoSuch"})
    assert caught.value.message == "CMAKE_GENERATOR=NoSuch is no generator that opkit builds with"
    assert caught.value.because == "those that work are Ninja and Unix Makefiles"
    assert not tiny.tree.exists()


@pytest.mark.case("H1")
@pytest.mark.usefixtures("without_ninja")
def test_without_ninja_make_builds(tiny: Tiny) -> None:
    assert tiny.build().steps == ("rendered", "configured", "compiled", "installed")
    assert (tiny.tree / "Makefile").is_file()
    with pytest.raises(ToolMissingError, match="no Ninja"):
        tiny.build(environ={"CMAKE_GENERATOR": "Ninja"}, is_forced=True)


def test_without_ninja_and_make_both_are_named(tiny: Tiny, without_ninja: Path) -> None:
    for name in ("make", "gmake"):
        (without_ninja / name).unlink(missing_ok=True)
    with pytest.raises(ToolMissingError, match="neither Ninja nor make"):
        tiny.build()


@pytest.mark.case("G7")
@pytest.mark.parametrize("version", ["3.10.2", None])
def test_a_cmake_that_is_too_old_or_absent_is_told_with_the_version_that_is_needed(
    tiny: Tiny, without_ninja: Path, make_program: Callable[[Path, str], Path], version: str | None
) -> None:
    for tool in without_ninja.glob("cmake*"):
        tool.unlink()
    if version is not None:
        make_program(without_ninja / "cmake", f"#!/bin/sh\necho cmake version {version}\n")
    with pytest.raises(ToolMissingError) as caught:
        tiny.build()
    assert caught.value.exit_code == 3
    assert caught.value.message == "no CMake of at least 3.20"
    expected = f"{without_ninja / 'cmake'} is {version}" if version else "there is none on PATH and none beside opkit"
    assert caught.value.because == expected
    assert not tiny.tree.exists()
