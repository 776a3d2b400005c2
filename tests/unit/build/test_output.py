"""Whose the output folder is: a build never destroys another package's deliverable, nor files of nobody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opkit.build import Project
from opkit.deliverable import MANIFEST, Manifest
from opkit.errors import UsageError
from opkit.files import copy_whole
from opkit.toolkit import host_arch

if TYPE_CHECKING:
    from tiny_support import Tiny

_LIBRARY = f"op_graph/lib/linux/{host_arch()}/libcust_opapi.so"


@pytest.fixture
def elsewhere(tiny: Tiny, tmp_path: Path) -> Project:
    return Project.find(tiny.root, output=tmp_path / "elsewhere")


def test_the_output_of_another_package_is_refused_before_anything_is_compiled(tiny: Tiny, elsewhere: Project) -> None:
    tiny.name = "other"
    tiny.files["CMakeLists.txt"] = tiny.files["CMakeLists.txt"].replace("tiny_session_run", "other_session_run")
    theirs = tiny.build(elsewhere).read_opp_root().manifest
    tiny.name = "tiny"
    tiny.say("7")
    with pytest.raises(UsageError, match="holds the package other") as caught:
        tiny.build(elsewhere)
    assert caught.value.message.startswith(f"--output {elsewhere.output}")
    assert Manifest.read(elsewhere.output) == theirs
    assert theirs.violations(elsewhere.output) == []


def test_files_of_nobody_are_refused_and_kept(tiny: Tiny, elsewhere: Project) -> None:
    in_the_way = elsewhere.output / _LIBRARY
    in_the_way.parent.mkdir(parents=True)
    in_the_way.write_text("somebody's")
    for _ in range(2):
        with pytest.raises(UsageError, match="holds files that opkit didn't put there") as caught:
            tiny.build(elsewhere)
        assert caught.value.because == _LIBRARY
    assert [path.read_text() for path in elsewhere.output.rglob("*") if path.is_file()] == ["somebody's"]


def test_what_an_interrupted_build_left_there_is_its_own(tiny: Tiny, elsewhere: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("opkit.build.publish.copy_whole", _copied_but_the_manifest)
        with pytest.raises(KeyboardInterrupt):
            tiny.build(elsewhere)
    assert (elsewhere.output / _LIBRARY).is_file()
    tiny.say("7")
    assert tiny.build(elsewhere).read_opp_root().manifest.violations(elsewhere.output) == []


def test_a_file_that_a_build_adds_may_not_take_the_place_of_somebodys(tiny: Tiny, elsewhere: Project) -> None:
    before = tiny.build(elsewhere).read_opp_root().manifest
    somebodys = elsewhere.output / "op_graph/inc/tiny.h"
    somebodys.parent.mkdir()
    somebodys.write_text("somebody's")
    tiny.files["CMakeLists.txt"] = tiny.files["CMakeLists.txt"].replace(
        "ge/tiny.h DESTINATION op_graph/include", "ge/tiny.h DESTINATION op_graph/inc"
    )
    tiny.say("1")
    for _ in range(2):
        with pytest.raises(UsageError, match="holds files that opkit didn't put there") as caught:
            tiny.build(elsewhere)
        assert caught.value.because == "op_graph/inc/tiny.h"
    assert somebodys.read_text() == "somebody's"
    assert Manifest.read(elsewhere.output) == before
    assert before.violations(elsewhere.output) == []


def test_a_package_under_a_new_name_keeps_the_output_of_its_project(tiny: Tiny) -> None:
    tiny.build()
    tiny.name = "renamed"
    tiny.files["CMakeLists.txt"] = tiny.files["CMakeLists.txt"].replace("tiny_session_run", "renamed_session_run")
    tiny.say("7")
    assert tiny.build().package == "renamed"


def test_what_cmake_installed_by_hand_into_the_projects_own_output_is_replaced(tiny: Tiny) -> None:
    tiny.build()
    (tiny.root / "output" / MANIFEST).unlink()
    tiny.say("7")
    assert "installed" in tiny.build().steps


def _copied_but_the_manifest(source: Path, target: Path, *, mode: int) -> None:
    if target.name == MANIFEST:
        raise KeyboardInterrupt
    copy_whole(source, target, mode=mode)
