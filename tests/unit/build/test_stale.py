"""What a build must notice although no time, no size, or nobody but opkit tells so."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opkit.build import Project, Settings, clean, held, scratch_folder
from opkit.errors import StringAbiError, UsageError
from opkit.toolkit import discover, process_environment

if TYPE_CHECKING:
    from tiny_support import Tiny

_MAKE = {"CMAKE_GENERATOR": "Unix Makefiles"}
_VERSION = '[project]\nname = "tiny"\nversion = "{}"\n'


def _replaced_by_an_old_one(path: Path, text: str) -> None:
    """As `cp -p`, `rsync -a` and `mv` of an older file do."""
    path.write_text(text)
    long_ago = time.time_ns() - 10**17
    os.utime(path, ns=(long_ago, long_ago))


@pytest.fixture
def included(tiny: Tiny) -> Path:
    """A header of the user's that gives the answer of the library."""
    header = tiny.root / "ge/user/infer.h"
    header.parent.mkdir(parents=True)
    header.write_text("enum { kAnswer = 1 };\n")
    tiny.files["ge/custom_op.cpp"] = '#include "user/infer.h"\n' + tiny.files["ge/custom_op.cpp"].replace("@ANSWER@", "kAnswer")
    return header


@pytest.mark.parametrize("environ", [{}, _MAKE])
def test_a_file_with_an_older_time_is_compiled(tiny: Tiny, included: Path, environ: dict[str, str]) -> None:
    tiny.build(environ=environ)
    _replaced_by_an_old_one(included, "enum { kAnswer = 7 };\n")
    built = tiny.build(environ=environ)
    assert built.steps == ("compiled", "installed")
    assert subprocess.run([built.program], check=False).returncode == 7
    assert tiny.build(environ=environ).steps == ()


def test_a_file_with_an_older_time_and_what_it_had_before_keeps_it(tiny: Tiny, included: Path) -> None:
    tiny.build()
    _replaced_by_an_old_one(included, included.read_text())
    before = included.stat().st_mtime_ns
    assert tiny.build().steps == ()
    assert included.stat().st_mtime_ns == before


@pytest.mark.parametrize("environ", [{}, _MAKE])
@pytest.mark.parametrize("is_old", [False, True])
def test_another_version_of_the_package_is_installed_without_compiling(tiny: Tiny, environ: dict[str, str], *, is_old: bool) -> None:
    pyproject = tiny.root / "pyproject.toml"
    pyproject.write_text(_VERSION.format("1.0"))
    tiny.build(environ=environ)
    (_replaced_by_an_old_one if is_old else Path.write_text)(pyproject, _VERSION.format("5.5"))
    built = tiny.build(environ=environ)
    assert built.read_opp_root().manifest.version == "5.5"
    assert built.steps == ("configured", "installed")
    assert built.reasons[0] == "reconfigured because pyproject.toml changed"
    assert built.reasons[1].startswith("installed because pyproject.toml changed")
    assert "compiled" not in "".join(built.reasons)
    assert tiny.build(environ=environ).steps == ()


def test_a_spec_of_the_same_size_and_time_is_read_again(tiny: Tiny) -> None:
    spec = tiny.root / "ops.py"
    _replaced_by_an_old_one(spec, "1")
    tiny.build()
    time.sleep(1.1)  # Until the state is one to rely on.
    tiny.build()
    stat = spec.stat()
    spec.write_text("7")
    os.utime(spec, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert subprocess.run([tiny.build().program], check=False).returncode == 7


def test_an_upgraded_opkit_tells_its_version_without_compiling(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.build()
    monkeypatch.setattr("opkit.build.configuration.__version__", "99.0")
    built = tiny.build()
    assert built.steps == ("configured", "installed")
    assert built.read_opp_root().manifest.opkit == "99.0"
    assert " -> 99.0" in built.reasons[0]
    assert tiny.build().steps == ()


def test_a_build_folder_is_of_one_project(tiny: Tiny, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    tiny.build(Project.find(tiny.root, build_dir=shared))
    other = tmp_path / "other"
    other.mkdir()
    (other / "ops.py").write_text("0")
    project = Project.find(other, build_dir=shared)
    for act in (lambda: tiny.build(project), lambda: clean(project)):
        with pytest.raises(UsageError, match="is the build folder of another project") as caught:
            act()
        assert caught.value.because == f"{tiny.root} was built in it"
    assert list(shared.glob("*/CMakeCache.txt"))
    tiny.root.rename(tmp_path / "gone")
    assert tiny.build(project).steps == ("rendered", "configured", "compiled", "installed")


def test_clean_takes_what_killed_commands_left(tiny: Tiny) -> None:
    tiny.build()
    build = tiny.root / "build"
    (build / "opkit-scratch").mkdir()
    (build / "opkit-scratch/x.npy").write_text("")
    (build / "opkit-wheel.log").write_text("")
    assert clean(tiny.project) == [build, tiny.root / "output"]
    assert not build.exists()


def test_the_folder_that_a_killed_run_leaves_has_the_name_that_clean_knows(tiny: Tiny) -> None:
    tiny.build()
    with held(tiny.project, tiny.toolkit, process_environment()), scratch_folder(tiny.project) as folder:
        assert folder.name == "opkit-scratch"


def test_clean_says_what_went_if_the_folder_stays(tiny: Tiny) -> None:
    tiny.build()
    (tiny.root / "build/mine").mkdir()
    removed = clean(tiny.project)
    assert tiny.root / "build" not in removed
    assert tiny.tree in removed
    assert [path.name for path in (tiny.root / "build").iterdir()] == ["mine"]


@pytest.mark.parametrize(
    "environ",
    [{**_MAKE, "GNUMAKEFLAGS": "-n"}, {**_MAKE, "MAKEFILES": "/no/such/$(error included)"}, {"LD_RUN_PATH": "/opt/x"}],
    ids=["GNUMAKEFLAGS", "MAKEFILES", "LD_RUN_PATH"],
)
def test_what_make_and_the_linker_take_from_the_environment_changes_no_build(tiny: Tiny, environ: dict[str, str]) -> None:
    built = tiny.build(environ=environ)
    assert subprocess.run([built.program], check=False).returncode == 0


@pytest.mark.parametrize("letter", [";", "#", '"', "\\"])
@pytest.mark.parametrize("place", ["project", "--build-dir", "--output"])
def test_a_name_that_no_build_can_have_is_refused_before_anything_is_made(tiny: Tiny, tmp_path: Path, place: str, letter: str) -> None:
    folder = tmp_path / f"semi{letter}colon"
    if place == "project":
        folder.mkdir()
        (folder / "ops.py").write_text("0")
        project = Project.find(folder)
    else:
        project = Project.find(tiny.root, **{place.removeprefix("--").replace("-", "_"): folder})
    with pytest.raises(UsageError, match="can't be built in") as caught:
        tiny.build(project)
    assert repr(letter) in (caught.value.because or "")
    assert [path for path in (project.build_dir, project.output, tmp_path / "semi") if path.exists()] == []


def test_a_definition_for_the_other_abi_is_refused_and_not_remembered(tiny: Tiny) -> None:
    flags = Settings(definitions={"CMAKE_CXX_FLAGS": "-D_GLIBCXX_USE_CXX11_ABI=1"})
    with pytest.raises(StringAbiError, match="-D CMAKE_CXX_FLAGS asks for another string ABI") as caught:
        tiny.build(settings=flags)
    assert caught.value.help == "leave out -D CMAKE_CXX_FLAGS, or build with --abi 1"
    assert tiny.build().steps == ("configured", "compiled", "installed")
    tiny.build(settings=flags._replace(abi=1))
    with pytest.raises(StringAbiError) as caught:
        tiny.build(settings=Settings(abi=0))
    assert caught.value.help == "forget it with opkit build --force, or build with --abi 1"


def test_a_compiler_that_is_named_from_the_current_folder_is_found(tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "mycxx"
    compiler.write_text('#!/bin/sh\nexec g++ "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    tiny.build(environ={"CXX": "./mycxx -DMINE"})
    commands = (tiny.tree / "compile_commands.json").read_text()
    assert str(compiler) in commands
    assert "-DMINE" in commands


@pytest.mark.parametrize("environ", [{}, _MAKE])
def test_a_file_that_the_toolchain_file_includes_starts_from_scratch(tiny: Tiny, tmp_path: Path, environ: dict[str, str]) -> None:
    more = tmp_path / "more $ flags.cmake"
    more.write_text("set(CMAKE_CXX_FLAGS_INIT -DONE)\n")
    chain = tmp_path / "chain.cmake"
    chain.write_text(f"include([[{more}]])\n")
    environ = {**environ, "CMAKE_TOOLCHAIN_FILE": str(chain)}
    tiny.build(environ=environ)
    assert tiny.build(environ=environ).steps == ()
    more.write_text("set(CMAKE_CXX_FLAGS_INIT -DOTHER)\n")
    again = tiny.build(environ=environ)
    assert f"reconfigured from scratch because {more} changed" in again.reasons[0]
    assert "-DOTHER" in (tiny.tree / "compile_commands.json").read_text()


def test_another_library_of_a_toolkit_is_another_toolkit(tiny: Tiny, tmp_path: Path) -> None:
    home = tmp_path / "toolkit"
    for name in ("include/acl", "lib64"):
        (home / name).mkdir(parents=True)
    library = home / "lib64/liblowering.so"
    library.write_text("one")
    before = discover({}, option=str(home)).stamp
    assert discover({}, option=str(home)).stamp == before
    library.write_text("another")
    assert discover({}, option=str(home)).stamp != before
    assert tiny.toolkit.stamp != before
