"""What a build is asked for: build type, ABI, definitions; kept until something else is asked, and never overlooked."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from opkit.build import RESERVED, Settings
from opkit.build.state import STATE
from opkit.cli import main
from opkit.errors import ConfigureError
from opkit.toolkit import process_environment

if TYPE_CHECKING:
    from tiny_support import Tiny

_SCALE = 'set(SCALE 1 CACHE STRING "")\nset_source_files_properties(session_run/main.cc PROPERTIES COMPILE_DEFINITIONS "SCALE=${SCALE}")\n'


@pytest.fixture
def scaled(tiny: Tiny) -> Tiny:
    tiny.files["CMakeLists.txt"] += _SCALE
    tiny.files["session_run/main.cc"] = "int main() { return SCALE; }\n"
    return tiny


def _answer(scaled: Tiny, **definitions: str) -> tuple[int, tuple[str, ...]]:
    built = scaled.build(settings=Settings(definitions=definitions))
    return subprocess.run([built.program], check=False).returncode, built.steps


@pytest.mark.case("H6")
def test_another_value_of_a_definition_changes_what_is_built(scaled: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    assert _answer(scaled, SCALE="2")[0] == 2
    library = scaled.tree / "libcust_opapi.so"
    before = library.stat().st_mtime_ns
    assert _answer(scaled, SCALE="3") == (3, ("configured", "compiled", "installed"))
    # The definition is the project's own: what doesn't read it isn't compiled again.
    assert library.stat().st_mtime_ns == before
    capsys.readouterr()
    assert _answer(scaled) == (3, ())
    assert "building with -D SCALE=3, as an earlier build was asked to; --force forgets it" in capsys.readouterr().err
    assert subprocess.run([scaled.build(is_forced=True).program], check=False).returncode == 1


def test_a_definition_of_cmakes_starts_from_scratch(tiny: Tiny) -> None:
    tiny.build()
    built = tiny.build(settings=Settings(definitions={"CMAKE_CXX_FLAGS": "-DMINE=1"}))
    assert "-DMINE=1" in (tiny.root / "build/compile_commands.json").read_text()
    assert built.reasons[0] == "reconfigured from scratch because -D CMAKE_CXX_FLAGS unset -> -DMINE=1"


def test_a_definition_that_nothing_reads_is_told(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.build(settings=Settings(definitions={"OPKIT_SESION_RUN": "OFF", "CMAKE_CXX_FLAGS": "-DMINE=1"}))
    told = capsys.readouterr().err
    assert told.count("changes nothing") == 1
    assert "warning: -D OPKIT_SESION_RUN changes nothing: CMakeLists.txt doesn't read it\n  help: leave out -D OPKIT_SESION_RUN\n" in told
    tiny.build()
    assert "building with -D CMAKE_CXX_FLAGS=-DMINE=1, as an earlier build was asked to" in capsys.readouterr().err


def test_a_setting_with_which_nothing_compiles_is_not_kept(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigureError, match="can't compile a simple program"):
        tiny.build(settings=Settings(build_type="Debug", definitions={"CMAKE_CXX_FLAGS": "-nosuch"}))
    assert tiny.build().steps == ("configured", "compiled", "installed")
    assert "an earlier build was asked to" not in capsys.readouterr().err


def test_what_was_asked_for_is_not_lost_in_silence(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.build(settings=Settings(build_type="Debug"))
    state = tiny.root / "build" / STATE
    state.write_bytes(state.read_bytes()[:50])
    capsys.readouterr()
    tiny.build()
    assert "build/opkit-build.json can't be read: what earlier builds were asked for isn't known any more\n" in capsys.readouterr().err
    tiny.build()
    assert "can't be read" not in capsys.readouterr().err


def test_a_build_type_has_its_own_tree_and_is_kept(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.build()
    tiny.build(settings=Settings(build_type="Debug"))
    assert " -g " in (tiny.root / "build/compile_commands.json").read_text()
    capsys.readouterr()
    assert tiny.build().steps == ()
    assert "building with --build-type Debug, as an earlier build was asked to" in capsys.readouterr().err
    assert tiny.build(settings=Settings(build_type="Release")).steps == ("installed",)
    assert capsys.readouterr().err == "   Installed output\n"


def test_an_abi_is_told_to_cmake_and_to_the_manifest(tiny: Tiny) -> None:
    tiny.files["CMakeLists.txt"] += 'set(OPKIT_CXX11_ABI "" CACHE STRING "")\n'
    built = tiny.build(settings=Settings(abi=1))
    assert built.read_opp_root().manifest.built_against.abi == 1
    (cache,) = (tiny.root / "build").glob("*-abi1-release/CMakeCache.txt")
    assert "OPKIT_CXX11_ABI:STRING=1\n" in cache.read_text()
    assert tiny.build().steps == ()


def test_reasons_are_printed_on_demand(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.build(environ={"CXXFLAGS": "-O2"}, is_explained=True)
    told = capsys.readouterr().err
    assert "rendered because it wasn't rendered before\n" in told
    assert "configured because simulator-9.2.0-x86_64-abi0-release is new\n" in told
    assert "installed because nothing is known of output\n" in told
    tiny.build(environ={"CXXFLAGS": "-O3"}, is_explained=True)
    assert "reconfigured from scratch because CXXFLAGS -O2 -> -O3\n" in capsys.readouterr().err
    tiny.say("7")
    built = tiny.build(environ={"CXXFLAGS": "-O3"}, is_explained=True)
    told = capsys.readouterr().err
    assert built.reasons == (
        "rendered because ops.py changed",
        "compiled because ge/custom_op.cpp changed",
        "installed because files were rendered; files were compiled",
    )
    assert all(f"{reason}\n" in told for reason in built.reasons)
    (built.project.output / "op_graph/include/tiny.h").write_text("mine")
    assert tiny.build(environ={"CXXFLAGS": "-O3"}).reasons == ("installed because output/op_graph/include/tiny.h was changed from outside",)
    assert capsys.readouterr().err == "   Installed output\n"
    tiny.build(environ={"CXXFLAGS": "-O3"}, is_explained=True)
    expected = (
        r"nothing to do: the spec and its \d generated files, the configuration simulator-9\.2\.0-\S+, what ninja looks after and output "
    )
    assert re.fullmatch(expected + r"are as the last build left them\n", capsys.readouterr().err)


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_definition_that_is_opkits_own_is_refused_with_the_option_to_use(
    tiny: Tiny, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["build", str(tiny.root), "-D", f"{name}=1"]) == 2
    told = capsys.readouterr().err
    assert f"{name} is opkit's own; use {RESERVED[name]}" in told
    assert not (tiny.root / "build").exists()


@pytest.mark.parametrize("text", ["SCALE", "=3", "3=4", "A B=1", "-DX=1", "SCALE:STRING=3"])
def test_a_definition_that_is_none_is_a_mistake_of_usage(tiny: Tiny, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert main(["build", str(tiny.root), f"-D{text}"]) == 2
    assert f"{text!r} isn't NAME=VALUE" in capsys.readouterr().err


def test_the_options_of_the_command_reach_the_build(scaled: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    home = str(scaled.toolkit.home)
    options = ["--toolkit", home, "--build-type", "RelWithDebInfo", "--abi", "1", "-D", "SCALE=5", "-DOTHER=a b=c;d", "-j1", "--explain"]
    assert main(["build", str(scaled.root), *options]) == 0
    assert "configured because simulator-9.2.0-" in capsys.readouterr().err
    (cache,) = (scaled.root / "build").glob("*-abi1-relwithdebinfo/CMakeCache.txt")
    assert "OTHER:UNINITIALIZED=a b=c;d\n" in cache.read_text()
    assert subprocess.run([scaled.root / "build/tiny_session_run"], check=False).returncode == 5
    assert process_environment().get("SCALE") is None
