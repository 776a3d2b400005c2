"""What a build does, what it may skip, and what makes it start again."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opkit import build as room
from opkit import resources
from opkit.build import Project, clean, read_opp_root
from opkit.build.lock import LOCK
from opkit.deliverable import MANIFEST, Manifest
from opkit.errors import (
    BuildError,
    CompileError,
    ConfigureError,
    DeliverableError,
    EditedFileError,
    LinkError,
    NotBuiltError,
    ToolkitError,
    UnwritableError,
    UsageError,
)
from opkit.toolkit import host_arch, process_environment

if TYPE_CHECKING:
    from tiny_support import Tiny

_ALL = ("rendered", "configured", "compiled", "installed")
_LIBRARY = f"op_graph/lib/linux/{host_arch()}/libcust_opapi.so"


def test_a_first_build_does_every_step_and_the_next_none(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    first = tiny.build()
    assert first.steps == _ALL
    verbs = [line.split()[0] for line in capsys.readouterr().err.splitlines()]
    assert verbs == ["Rendered", "Configuring", "Compiling", "Installed"]
    assert first.package == "tiny"
    assert subprocess.run([first.program], check=False).returncode == 0
    assert tiny.build().steps == ()
    assert tiny.loads == 1
    assert capsys.readouterr().err == ""


def test_the_output_is_an_opp_root_with_a_true_manifest(tiny: Tiny) -> None:
    built = tiny.build()
    manifest = Manifest.read(tiny.root / "output")
    assert manifest == built.read_opp_root().manifest
    assert manifest is not None
    assert [str(file.path) for file in manifest.files] == ["op_graph/include/tiny.h", _LIBRARY]
    assert manifest.violations(tiny.root / "output") == []
    assert manifest.op_types == ("Tiny",)
    assert manifest.built_against.is_simulator


def test_a_changed_spec_renders_compiles_and_installs_and_configures_nothing(tiny: Tiny) -> None:
    before = tiny.build().read_opp_root()
    tiny.say("7")
    after = tiny.build()
    assert after.steps == ("rendered", "compiled", "installed")
    assert subprocess.run([after.program], check=False).returncode == 7
    assert before.manifest.files[1].sha256 != after.read_opp_root().manifest.files[1].sha256
    assert tiny.build().steps == ()


def test_a_spec_that_renders_to_the_same_changes_nothing_further(tiny: Tiny) -> None:
    tiny.build()
    (tiny.root / "ops.py").write_text("0")
    os.utime(tiny.root / "ops.py", ns=(1, 1))
    assert tiny.build().steps == ()
    assert tiny.loads == 1


def test_a_changed_template_renders_again(tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "templates/deliverable").mkdir(parents=True)
    (tmp_path / "templates/deliverable/main.cc.j2").write_text("one")
    monkeypatch.setattr(resources, "templates", lambda: tmp_path / "templates")
    tiny.build()
    (tmp_path / "templates/deliverable/main.cc.j2").write_text("two")
    tiny.build()
    assert tiny.loads == 2


def test_a_header_that_nothing_includes_is_installed_when_it_changes(tiny: Tiny) -> None:
    tiny.files["ge/notes.h"] = "// @ANSWER@\n"
    tiny.files["CMakeLists.txt"] += "install(FILES ge/notes.h DESTINATION op_graph/include)\n"
    tiny.files["ge/custom_op.cpp"] = tiny.files["ge/custom_op.cpp"].replace("@ANSWER@", "0")
    tiny.build()
    tiny.say("1")
    assert tiny.build().steps == ("rendered", "installed")
    assert (tiny.root / "output/op_graph/include/notes.h").read_text() == "// 1\n"


def test_a_header_that_no_longer_belongs_leaves_the_output(tiny: Tiny) -> None:
    tiny.build()
    tiny.files["CMakeLists.txt"] = tiny.files["CMakeLists.txt"].replace(
        "ge/tiny.h DESTINATION op_graph/include", "ge/tiny.h DESTINATION op_graph/inc"
    )
    tiny.say("1")
    tiny.build()
    assert not (tiny.root / "output/op_graph/include").exists()
    assert (tiny.root / "output/op_graph/inc/tiny.h").is_file()


@pytest.mark.parametrize("damage", ["delete", "change", "manifest"])
def test_a_damaged_output_is_installed_again_without_compiling(tiny: Tiny, damage: str) -> None:
    tiny.build()
    if damage == "delete":
        shutil.rmtree(tiny.root / "output")
    elif damage == "change":
        (tiny.root / "output" / _LIBRARY).write_text("broken")
    else:
        (tiny.root / "output" / MANIFEST).write_text("{")
    assert tiny.build().steps == ("installed",)
    assert read_opp_root(tiny.project).manifest.violations(tiny.root / "output") == []


def test_another_output_folder_is_filled_without_compiling(tiny: Tiny, tmp_path: Path) -> None:
    tiny.build()
    elsewhere = Project.find(tiny.root, output=tmp_path / "else where")
    assert tiny.build(elsewhere).steps == ("installed",)
    assert (tmp_path / "else where" / _LIBRARY).is_file()


def test_work_that_ninja_did_by_hand_is_installed_too(tiny: Tiny) -> None:
    tiny.build()
    # As an editor's CMake integration would: the output is stale although opkit's own Ninja finds nothing to do.
    os.utime(tiny.root / "ge/custom_op.cpp")
    subprocess.run(["ninja", "-C", tiny.tree], check=True, capture_output=True)
    assert tiny.build().steps == ("installed",)


@pytest.mark.parametrize("name", ["CXXFLAGS", "LDFLAGS", "CPATH"])
def test_changed_flags_configure_again(tiny: Tiny, name: str) -> None:
    tiny.build()
    value = "/nowhere" if name == "CPATH" else "-g"
    assert tiny.build(environ={name: value}).steps[0] == "configured"
    assert tiny.build(environ={name: value}).steps == ()


def test_an_upgraded_compiler_configures_again(tiny: Tiny, make_program: Callable[[Path, str], Path], tmp_path: Path) -> None:
    wrapper = make_program(tmp_path / "bin" / "g++", '#!/bin/sh\nexec /usr/bin/g++ "$@"\n')
    environ = {"PATH": f"{wrapper.parent}:{os.environ['PATH']}"}
    tiny.build(environ=environ)
    assert tiny.build(environ=environ).steps == ()
    os.utime(wrapper)
    assert tiny.build(environ=environ).steps[0] == "configured"
    shutil.rmtree(wrapper.parent)
    assert tiny.build(environ=environ).steps[0] == "configured"


def test_a_moved_project_is_configured_again_but_not_rendered(tiny: Tiny, tmp_path: Path) -> None:
    tiny.build()
    tiny.root = tiny.root.rename(tmp_path / "moved")
    assert tiny.build().steps == ("configured", "compiled", "installed")
    assert tiny.loads == 1


@pytest.mark.parametrize("name", ["CMakeCache.txt", "build.ninja"])
@pytest.mark.parametrize("size", [0, 100, None], ids=["empty", "truncated", "absent"])
def test_a_damaged_configuration_is_made_again(tiny: Tiny, name: str, size: int | None) -> None:
    tiny.build()
    path = tiny.tree / name
    if size is None:
        path.unlink()
    else:
        os.truncate(path, size)
    assert "configured" in tiny.build().steps


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema": 1}', '{"schema": 99}'])
def test_a_damaged_state_costs_that_its_steps_are_done_again_and_nothing_else(tiny: Tiny, text: str) -> None:
    tiny.build()
    (tiny.tree / "opkit-build.json").write_text(text)
    assert tiny.build().steps == ("configured", "compiled", "installed")
    (tiny.root / "build/opkit-build.json").write_text(text)
    assert tiny.build().steps == ("installed",)
    assert tiny.build().steps == ()


def test_force_starts_from_scratch(tiny: Tiny) -> None:
    tiny.build()
    assert tiny.build(is_forced=True).steps == ("configured", "compiled", "installed")


def test_what_would_misdirect_cmake_or_make_changes_nothing(tiny: Tiny) -> None:
    environ = {"CMAKE_GENERATOR_PLATFORM": "x64", "DESTDIR": "/nowhere", "MAKEFLAGS": "n"}
    assert tiny.build(environ=environ).steps == _ALL
    assert (tiny.root / "output" / _LIBRARY).is_file()


def test_a_toolkit_in_the_environment_does_not_contradict_the_one_that_opkit_chose(tiny: Tiny) -> None:
    # A generated project takes a changed ASCEND_HOME_PATH when Ninja runs CMake again by itself.
    tiny.files["CMakeLists.txt"] += 'if(NOT "$ENV{ASCEND_HOME_PATH}" STREQUAL "")\n  message(FATAL_ERROR "contradicted")\nendif()\n'
    assert tiny.build(environ={"ASCEND_HOME_PATH": "/another/toolkit"}).steps == _ALL


def test_a_build_folder_of_someone_else_is_refused_and_kept(tiny: Tiny) -> None:
    (tiny.root / "build").mkdir()
    (tiny.root / "build/thesis.txt").write_text("years of work")
    for act in (tiny.build, lambda: clean(tiny.project)):
        with pytest.raises(UsageError, match="wasn't made by opkit"):
            act()
    assert (tiny.root / "build/thesis.txt").read_text() == "years of work"


def test_clean_removes_what_opkit_made_and_keeps_the_rest(tiny: Tiny) -> None:
    tiny.build()
    (tiny.root / "output/notes.txt").write_text("mine")
    assert clean(tiny.project) == [tiny.root / "build", tiny.root / "output"]
    assert not (tiny.root / "build").exists()
    assert [path.name for path in (tiny.root / "output").rglob("*")] == ["notes.txt"]
    assert clean(tiny.project) == []
    assert tiny.build().steps == ("configured", "compiled", "installed")


def test_clean_takes_the_output_folder_with_it_if_nothing_else_is_there(tiny: Tiny) -> None:
    tiny.build()
    clean(tiny.project)
    assert not (tiny.root / "output").exists()


def test_an_edited_generated_file_is_one_clear_error_and_stays(tiny: Tiny) -> None:
    tiny.build()
    edited = tiny.root / "ge/custom_op.cpp"
    edited.write_text(edited.read_text() + "// mine\n")
    with pytest.raises(EditedFileError, match=r"custom_op\.cpp"):
        tiny.build()
    assert edited.read_text().endswith("// mine\n")


def test_a_deleted_generated_file_is_written_again(tiny: Tiny) -> None:
    tiny.build()
    (tiny.root / "ge/tiny.h").unlink()
    assert tiny.build().steps[0] == "rendered"
    assert (tiny.root / "ge/tiny.h").is_file()


def test_a_compiler_error_is_shown_with_its_line_and_the_log(tiny: Tiny) -> None:
    tiny.say("no_such_name")
    with pytest.raises(CompileError) as caught:
        tiny.build()
    assert "no_such_name" in caught.value.message
    assert caught.value.where is not None
    assert caught.value.where.startswith("ge/custom_op.cpp:3:23   int answer()")
    log = tiny.tree / "opkit-build.log"
    assert str(log) in (caught.value.help or "")
    assert "no_such_name" in log.read_text()
    assert [line.split()[1].rpartition("/")[2] for line in log.read_text().splitlines() if line.startswith("+ ")] == ["cmake", "ninja"]
    assert not (tiny.root / "output" / MANIFEST).exists()


def test_a_failed_build_keeps_the_last_good_output(tiny: Tiny) -> None:
    built = tiny.build()
    tiny.say("no_such_name")
    with pytest.raises(CompileError):
        tiny.build()
    assert built.read_opp_root().manifest.violations(tiny.root / "output") == []
    tiny.say("0")
    assert "compiled" in tiny.build().steps


def test_an_undefined_symbol_is_named(tiny: Tiny) -> None:
    tiny.files["session_run/main.cc"] = "int missing_piece();\nint main() { return missing_piece(); }\n"
    with pytest.raises(LinkError, match=r"no library defines missing_piece\(\)"):
        tiny.build()


def test_an_error_of_cmake_is_shown_with_its_message(tiny: Tiny) -> None:
    tiny.files["CMakeLists.txt"] += 'message(FATAL_ERROR "the moon is in the wrong phase")\n'
    with pytest.raises(ConfigureError) as caught:
        tiny.build()
    assert caught.value.message == "the moon is in the wrong phase"
    assert caught.value.where == "CMakeLists.txt:24"


def test_a_project_that_installs_no_library_is_one_clear_error(tiny: Tiny) -> None:
    tiny.files["CMakeLists.txt"] = tiny.files["CMakeLists.txt"].replace("op_graph/lib/linux", "lib")
    with pytest.raises(BuildError, match="installs no op library"):
        tiny.build()


def test_an_output_folder_that_cannot_be_is_told_before_anything_is_compiled(tiny: Tiny, tmp_path: Path) -> None:
    (tmp_path / "in-the-way").write_text("")
    project = Project.find(tiny.root, output=tmp_path / "in-the-way" / "output")
    with pytest.raises(UnwritableError) as caught:
        tiny.build(project)
    assert "--output" in (caught.value.help or "")
    assert not (tiny.tree / "CMakeCache.txt").exists()


@pytest.mark.case("I8")
def test_an_output_folder_with_too_long_a_path_is_one_clear_error(tiny: Tiny, tmp_path: Path) -> None:
    with pytest.raises(UnwritableError, match="cannot write") as caught:
        tiny.build(Project.find(tiny.root, output=tmp_path.joinpath(*["d" * 200] * 25)))
    assert (caught.value.because or "").endswith("File name too long")
    assert not (tiny.tree / "CMakeCache.txt").exists()


def test_a_file_in_the_way_of_a_library_is_one_clear_error(tiny: Tiny) -> None:
    (tiny.root / "output").mkdir()
    (tiny.root / "output/op_graph").write_text("")
    with pytest.raises(UnwritableError) as caught:
        tiny.build()
    assert "op_graph" in (caught.value.because or "")
    assert not (tiny.root / "output" / MANIFEST).exists()


def test_a_build_folder_that_cannot_be_is_one_clear_error(tiny: Tiny) -> None:
    (tiny.root / "build").write_text("")
    with pytest.raises(UnwritableError) as caught:
        tiny.build()
    assert "--build-dir" in (caught.value.help or "")


def test_a_lock_that_cannot_be_written_is_one_clear_error(tiny: Tiny) -> None:
    tiny.build()
    (tiny.root / "build" / LOCK).unlink()
    (tiny.root / "build" / LOCK).mkdir()
    with pytest.raises(UnwritableError) as caught:
        tiny.build()
    assert "--build-dir" in (caught.value.help or "")


def test_a_toolkit_that_is_too_old_is_told_before_cmake_runs(tiny: Tiny) -> None:
    (tiny.toolkit.include / "graph/custom_op.h").unlink()
    with pytest.raises(ToolkitError) as caught:
        tiny.build()
    assert "graph/custom_op.h" in (caught.value.because or "")
    assert not (tiny.tree / "CMakeCache.txt").exists()


def test_what_was_never_built_says_how_to_build_it(tiny: Tiny) -> None:
    with pytest.raises(NotBuiltError) as caught:
        read_opp_root(tiny.project)
    assert caught.value.help == f"opkit build {shlex.quote(str(tiny.root))}"


def test_a_variant_is_built_in_a_folder_without_ops_py(tiny: Tiny, tmp_path: Path) -> None:
    package = tiny.load(tiny.root / "ops.py")
    scratch = Project.at(tmp_path / "scratch")
    built = room.build(scratch, tiny.toolkit, process_environment(), package=package)  # type: ignore[arg-type]
    assert built.steps == _ALL
    assert not (tmp_path / "scratch/ops.py").exists()
    package.text = "5"
    again = room.build(scratch, tiny.toolkit, process_environment(), package=package)  # type: ignore[arg-type]
    assert again.steps == ("rendered", "compiled", "installed")


def test_the_state_holds_nothing_of_a_step_that_failed(tiny: Tiny) -> None:
    tiny.files["CMakeLists.txt"] += 'message(FATAL_ERROR "no")\n'
    with pytest.raises(ConfigureError):
        tiny.build()
    assert json.loads((tiny.tree / "opkit-build.json").read_text())["fingerprint"] == {}
    assert json.loads((tiny.root / "build/opkit-build.json").read_text())["rendered"]["package"] == "tiny"


def _configured_arch(tiny: Tiny) -> str:
    cache = (tiny.tree / "CMakeCache.txt").read_text()
    return cache.partition("OPKIT_NPU_ARCH:")[2].partition("\n")[0].partition("=")[2]


def test_the_architecture_of_prebuilt_kernels_is_kept_until_another_is_named_or_all_is_forgotten(tiny: Tiny) -> None:
    tiny.files["prebuild/main.cc"] = "int main() {}\n"
    tiny.files["CMakeLists.txt"] += 'set(OPKIT_NPU_ARCH "" CACHE STRING "")\n'
    tiny.build()
    assert _configured_arch(tiny) == ""
    assert "configured" in tiny.build(npu_arch="dav-2201").steps
    assert _configured_arch(tiny) == "dav-2201"
    assert tiny.build().steps == ()
    assert tiny.build(npu_arch="dav-2201").steps == ()
    assert "configured" in tiny.build(npu_arch="dav-3510").steps
    assert _configured_arch(tiny) == "dav-3510"
    assert "configured" in tiny.build(is_forced=True).steps
    assert _configured_arch(tiny) == ""


def test_an_architecture_for_kernels_that_nobody_prebuilds_is_an_error(tiny: Tiny) -> None:
    with pytest.raises(UsageError) as caught:
        tiny.build(npu_arch="dav-2201")
    assert caught.value.message == "--npu-arch dav-2201 says nothing here"
    assert 'no op of the package has compile="prebuilt"' in (caught.value.because or "")
    # One that was named before, for ops that since are compiled at another time, is no error.
    tiny.files["prebuild/main.cc"] = "int main() {}\n"
    tiny.say("1")
    tiny.build(npu_arch="dav-2201")
    del tiny.files["prebuild/main.cc"]
    tiny.say("2")
    assert "configured" in tiny.build().steps


@pytest.mark.parametrize("is_seen", [True, False])
def test_a_damaged_manifest_is_made_anew_by_what_its_error_advises(tiny: Tiny, is_seen: bool) -> None:
    """Where the time of the file tells of the damage, a build does; else it has to be forced."""
    tiny.build()
    manifest = tiny.root / "output" / MANIFEST
    whole, before = manifest.read_bytes(), manifest.stat()
    manifest.write_bytes(b"?" + whole[1:])
    os.utime(manifest, ns=(before.st_atime_ns, before.st_mtime_ns + is_seen))
    with pytest.raises(DeliverableError) as caught:
        read_opp_root(tiny.project)
    assert caught.value.help is not None
    words = shlex.split(caught.value.help)
    assert words == ["opkit", "build", str(tiny.root), *([] if is_seen else ["--force"])]
    tiny.build(is_forced="--force" in words)
    assert manifest.read_bytes() == whole
    assert read_opp_root(tiny.project).manifest.package == "tiny"
