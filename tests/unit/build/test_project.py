"""What counts as a project, and where its folders lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from opkit.build import Project
from opkit.cli import main
from opkit.errors import NotAProjectError, UsageError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "my ops"
    root.mkdir()
    (root / "ops.py").write_text("")
    return root


def test_build_and_output_lie_in_the_project(root: Path) -> None:
    project = Project.find(root)
    assert (project.root, project.build_dir, project.output) == (root, root / "build", root / "output")


def test_every_spelling_is_one_absolute_path(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    (root.parent / "link").symlink_to(root)
    for spelling in (".", "../my ops/", root.parent / "link", "ops.py"):
        assert Project.find(spelling).root == root


def test_folders_elsewhere_count_from_the_current_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root.parent)
    project = Project.find("my ops", build_dir="b", output="o")
    assert (project.build_dir, project.output) == (root.parent / "b", root.parent / "o")


@pytest.mark.parametrize(("name", "because"), [("gone", "it doesn't exist"), ("empty", "it has no ops.py"), ("file", "it is a file")])
def test_a_folder_that_is_no_project_says_why(tmp_path: Path, name: str, because: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(NotAProjectError) as caught:
        Project.find(tmp_path / name)
    assert caught.value.because == because
    assert "opkit new" in (caught.value.help or "")


@pytest.mark.parametrize(
    ("build_dir", "output"),
    [(".", None), (None, ".."), ("build", "build"), ("build", "build/output"), ("output/build", "output")],
)
def test_folders_that_would_swallow_each_other_or_the_project_are_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch, build_dir: str | None, output: str | None
) -> None:
    monkeypatch.chdir(root)
    with pytest.raises(UsageError):
        Project.find(".", build_dir=build_dir, output=output)


def test_paths_are_shown_as_a_person_would_type_them(root: Path) -> None:
    project = Project.find(root)
    assert project.shown(root / "ge" / "x.h") == "ge/x.h"
    assert project.shown(Path("/elsewhere")) == "/elsewhere"


def test_a_name_that_no_file_system_takes_is_refused_like_any_other() -> None:
    with pytest.raises(NotAProjectError) as caught:
        Project.find("x" * 5000)
    assert caught.value.because == "File name too long"


def test_a_loop_of_links_is_left_to_whoever_writes_there(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    assert Project.find(root, output=root / "loop").output == root / "loop"


@pytest.mark.case("I8")
@pytest.mark.parametrize("option", ["--build-dir", None])
def test_a_path_that_is_too_long_for_the_system_is_one_error(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str | None
) -> None:
    long = tmp_path.joinpath(*["d" * 200] * 25)
    assert main(["build", str(long)] if option is None else ["build", str(root), option, str(long)]) in (2, 3)
    told = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("using the bundled")]
    assert [line for line in told if line.startswith("error")] == told[:1]
    assert "File name too long" in "\n".join(told)
    assert "Traceback" not in "\n".join(told)
