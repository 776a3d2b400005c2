"""A build through ccache: found or named, kept, told, passed over when it doesn't work; and what a copy elsewhere gains of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tool_support import require_tool

from opkit.build import Settings
from opkit.cli import main
from opkit.errors import CompileError, ToolMissingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tiny_support import Tiny

_PASSES_ON = '#!/bin/sh\nexec "$@"\n'
_FAILS = "#!/bin/sh\necho 'ccache: error: the cache is gone' >&2\nexit 1\n"


@pytest.fixture(autouse=True)
def _without_the_suites_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CMAKE_CXX_COMPILER_LAUNCHER", "CCACHE_BASEDIR", "CCACHE_NOHASHDIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def shim(tmp_path: Path, make_program: Callable[[Path, str], Path], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes the ccache that is first on PATH be this script."""
    folder = tmp_path / "shims"
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def make(text: str) -> Path:
        return make_program(folder / "ccache", text)

    return make


def _used(tiny: Tiny) -> str:
    """compile_commands.json is without it before CMake 3.29."""
    found = re.search(r"^CMAKE_CXX_COMPILER_LAUNCHER:\w+=(.*)$", (tiny.tree / "CMakeCache.txt").read_text(), flags=re.MULTILINE)
    return found[1] if found else ""


@pytest.mark.case("H10")
def test_a_broken_launcher_is_told_once_and_passed_over_until_it_is_mended(
    tiny: Tiny, shim: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    broken = shim(_FAILS)
    assert tiny.build().steps == ("rendered", "configured", "compiled", "installed")
    told = capsys.readouterr().err
    assert f"warning: {broken} (found on PATH) doesn't work, so nothing is compiled through it: ccache: error: the cache is gone\n" in told
    assert _used(tiny) == ""

    assert tiny.build().steps == ()
    assert "warning" not in capsys.readouterr().err

    sound = shim(_PASSES_ON + "# mended\n")
    reasons = tiny.build().reasons
    assert reasons[0] == "reconfigured from scratch because the launcher works again"
    assert _used(tiny) == str(sound)


def test_a_named_launcher_that_does_not_work_is_told_as_such_each_time(
    tiny: Tiny, make_program: Callable[[Path, str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = make_program(tmp_path / "my launcher", _FAILS)
    tiny.build(settings=Settings(launcher=str(broken)))
    # --force forgets what was named, so it is named again.
    assert f"or mend it and: opkit build --force --launcher '{broken}'\n" in capsys.readouterr().err
    assert tiny.build().steps == ()
    assert f"building with --launcher {broken}, which didn't work when it was tried, as an earlier build" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("named", "lack"),
    [
        ("{folder}", "is a folder"),
        ("{folder}/plain", "can't be executed"),
        ("{folder}/gone", "isn't there"),
        ("gone", "isn't there"),
        ("env A=1 ccache", "it takes no arguments; CMAKE_CXX_COMPILER_LAUNCHER does, as in env;NAME=value;ccache"),
    ],
)
def test_what_is_no_launcher_is_told_for_what_it_is(tiny: Tiny, tmp_path: Path, named: str, lack: str) -> None:
    (tmp_path / "plain").write_text("")
    with pytest.raises(ToolMissingError) as caught:
        tiny.build(settings=Settings(launcher=named.format(folder=tmp_path)))
    assert (caught.value.because or "").endswith(f", and {lack}")


@pytest.mark.case("H10")
def test_a_launcher_that_breaks_after_the_first_build_does_not_break_the_next(
    tiny: Tiny, shim: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    launcher = shim(_PASSES_ON)
    tiny.build()
    assert _used(tiny) == str(launcher)
    shim(_FAILS)
    tiny.say("7")
    built = tiny.build()
    assert subprocess.run([built.program], check=False).returncode == 7
    assert "doesn't work, so nothing is compiled through it" in capsys.readouterr().err
    assert f"reconfigured from scratch because {launcher} doesn't work any more" in built.reasons
    assert _used(tiny) == ""
    assert tiny.build().steps == ()


def test_a_source_that_does_not_compile_is_no_fault_of_a_sound_launcher(
    tiny: Tiny, shim: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    launcher = shim(_PASSES_ON)
    tiny.say("no_such_thing")
    with pytest.raises(CompileError, match="no_such_thing"):
        tiny.build()
    assert "doesn't work" not in capsys.readouterr().err
    assert _used(tiny) == str(launcher)


@pytest.mark.case("H10")
def test_a_launcher_that_is_named_is_kept_and_none_means_none(
    tiny: Tiny, shim: Callable[[str], Path], tmp_path: Path, make_program: Callable[[Path, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    shim(_FAILS)
    mine = make_program(tmp_path / "my launcher", _PASSES_ON)
    tiny.build(settings=Settings(launcher=str(mine)))
    assert _used(tiny) == str(mine)
    assert "doesn't work" not in capsys.readouterr().err
    assert tiny.build().steps == ()
    assert f"building with --launcher {mine}, as an earlier build was asked to; --force forgets it" in capsys.readouterr().err

    built = tiny.build(settings=Settings(launcher="none"))
    assert built.reasons[0] == f"reconfigured from scratch because launcher {mine} -> unset"
    assert _used(tiny) == ""
    assert "doesn't work" not in capsys.readouterr().err


def test_the_launcher_that_the_environment_names_counts_before_one_that_is_found(
    tiny: Tiny, shim: Callable[[str], Path], tmp_path: Path, make_program: Callable[[Path, str], Path]
) -> None:
    shim(_FAILS)
    mine = make_program(tmp_path / "mine", _PASSES_ON)
    tiny.build(environ={"CMAKE_CXX_COMPILER_LAUNCHER": str(mine)})
    assert _used(tiny) == str(mine)
    with pytest.raises(ToolMissingError, match="no compiler launcher gone"):
        tiny.build(environ={"CMAKE_CXX_COMPILER_LAUNCHER": "gone"})
    assert tiny.build(environ={"CMAKE_CXX_COMPILER_LAUNCHER": str(mine)}).steps == ()


def test_a_launcher_is_no_entry_of_cmakes_cache_to_be_defined(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", str(tiny.root), "-D", "CMAKE_CXX_COMPILER_LAUNCHER=ccache"]) == 2
    assert "CMAKE_CXX_COMPILER_LAUNCHER is opkit's own; use --launcher NAME" in capsys.readouterr().err
    assert main(["build", str(tiny.root), "--launcher", " "]) == 2
    assert "name a program, or none" in capsys.readouterr().err


def _hits_and_misses() -> tuple[int, int]:
    told = subprocess.run(["ccache", "--print-stats"], capture_output=True, text=True, check=True).stdout
    counts = dict(re.findall(r"^(\w+)\t(\d+)$", told, flags=re.MULTILINE))
    return int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"]), int(counts["cache_miss"])


@pytest.mark.case("H7")
@pytest.mark.parametrize("build_type", ["Release", "Debug"])
def test_a_copy_in_another_folder_is_compiled_from_the_cache(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build_type: str
) -> None:
    require_tool("ccache", "ccache")
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "cache"))
    # As a generated project does for all that it compiles.
    mapped = 'add_compile_options("-ffile-prefix-map=${CMAKE_CURRENT_BINARY_DIR}=.")\nadd_library'
    tiny.files["CMakeLists.txt"] = tiny.files["CMakeLists.txt"].replace("add_library", mapped, 1)
    settings = Settings(build_type=build_type, launcher="ccache")
    tiny.build(settings=settings)
    # What was tried on the launcher, and the two sources.
    assert _hits_and_misses() == (0, 3)
    tiny.root = shutil.copytree(tiny.root, tmp_path / "elsewhere" / "a copy", ignore=shutil.ignore_patterns("build", "output"))
    tiny.build(settings=settings)
    assert _hits_and_misses() == (2, 4)


def test_an_error_that_ccache_passes_on_names_the_file_by_its_place_in_the_project(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    require_tool("ccache", "ccache")
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "cache"))
    tiny.say("no_such_thing")
    with pytest.raises(CompileError) as caught:
        tiny.build(settings=Settings(launcher="ccache"))
    assert caught.value.where is not None
    assert caught.value.where.startswith("ge/custom_op.cpp:3:")
    assert f"{tiny.root}/ge/custom_op.cpp:3:" in (tiny.tree / "opkit-build.log").read_text()
