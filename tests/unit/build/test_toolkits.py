"""Which toolkit a build uses, by what CMake was told; and what stops a build before CMake runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opkit import resources
from opkit.cli import main
from opkit.errors import ToolkitError
from opkit.toolkit import discover, discovery

if TYPE_CHECKING:
    from tiny_support import Tiny

Make = Callable[..., Path]


@pytest.fixture(autouse=True)
def _nothing_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(discovery, "_BASES", (str(tmp_path / "usr/local/Ascend"), "~/Ascend"))


@pytest.mark.case("E1")
def test_nothing_of_another_toolkit_is_on_any_command_line(tiny: Tiny, tmp_path: Path, make_toolkit: Make) -> None:
    """Of two that there are the one that is named counts, whatever an installer's file or a link in a default place says."""
    named = make_toolkit(tmp_path / "named")
    (tmp_path / "Ascend").mkdir()
    other = make_toolkit(tmp_path / "Ascend/9.2")
    (tmp_path / "Ascend/latest").symlink_to(other)
    (tmp_path / "Ascend/ascend_cann_install.info").write_text(f"Install_Path={other}\nCANN_Path={other}\n")
    environ = {"HOME": str(tmp_path), "ASCEND_HOME_PATH": str(named)}
    tiny.toolkit = discover(environ)
    tiny.build(environ=environ)
    commands = _said(tiny, "compile_commands.json")
    assert str(named / "include") in commands
    assert str(tmp_path / "Ascend") not in commands + _said(tiny, "build.ninja") + _said(tiny, "CMakeCache.txt")


def _said(tiny: Tiny, name: str) -> str:
    files = [path.read_text("utf-8") for path in tiny.project.build_dir.rglob(name)]
    assert files, name
    return "".join(files)


@pytest.mark.case("E2")
def test_without_any_toolkit_a_build_stops_before_cmake_with_the_ways_out(
    *, tmp_path: Path, built_project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(resources, "bundled_toolkit", lambda: None)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert main(["build", str(built_project)]) == 3
    told = capsys.readouterr().err
    assert "no CANN toolkit named or found" in told
    for way in ("--toolkit DIR", "export ASCEND_HOME_PATH=DIR", "pip install ."):
        assert way in told
    assert not (built_project / "build").exists()


@pytest.mark.case("E4")
def test_a_toolkit_that_is_too_old_stops_a_build_before_cmake(tiny: Tiny, tmp_path: Path, make_toolkit: Make) -> None:
    tiny.toolkit = discover({"ASCEND_HOME_PATH": str(make_toolkit(tmp_path / "old", version="7.0"))})
    with pytest.raises(ToolkitError, match=r"needs CANN 9\.2 or newer, found 7\.0"):
        tiny.build()
    assert not list(tiny.project.build_dir.rglob("CMakeCache.txt"))


@pytest.mark.case("E3")
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("/nope", "it does not exist"),
        ("{tmp}/file", "it is a file, not a folder"),
        ("{tmp}/empty/", "it has no include folder"),
        ("~/nothing", "it does not exist"),
        ("relative/nothing", "it does not exist"),
        ("{tmp}/real", None),
        ("{tmp}/real//", None),
        ("{tmp}/latest", None),
        ("~/real", None),
        ("real", None),
        ("", "using the bundled host simulator"),
    ],
)
def test_each_value_of_the_variable_is_one_folder_or_a_refusal_with_its_reason(
    *,
    tmp_path: Path,
    make_toolkit: Make,
    toolkit_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    value: str,
    told: str | None,
) -> None:
    real = make_toolkit(tmp_path / "real")
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "latest").symlink_to("real")
    # A relative value counts from where the command was given.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ASCEND_HOME_PATH", value.format(tmp=tmp_path))
    exit_code = main(["toolkit", "path"])
    out, err = capsys.readouterr()
    if told is None:
        assert (exit_code, out) == (0, f"{real}\n")
    elif value:
        assert (exit_code, out) == (3, "")
        assert f"because: {told}" in err
        assert "--toolkit DIR or ASCEND_HOME_PATH" in err
    else:
        assert (exit_code, out) == (0, f"{toolkit_home.resolve()}\n")
        assert told in err
