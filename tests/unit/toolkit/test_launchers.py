"""Which launcher stands before the compiler, and whether it can."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opkit.errors import ToolMissingError
from opkit.toolkit import Launcher, find_compiler, find_launcher

if TYPE_CHECKING:
    from collections.abc import Callable

_PASSES_ON = '#!/bin/sh\nexec "$@"\n'


@pytest.fixture
def tools(tmp_path: Path, make_program: Callable[[Path, str], Path]) -> Path:
    """A PATH of a compiler and both launchers."""
    folder = tmp_path / "some tools"
    for name in ("g++", "ccache", "sccache", "mine"):
        make_program(folder / name, _PASSES_ON)
    return folder


def _found(environ: dict[str, str], named: str | None = None) -> Launcher | None:
    return find_launcher(environ, find_compiler(environ), named)


def test_ccache_is_taken_if_it_is_there_then_sccache_then_none(tools: Path) -> None:
    environ = {"PATH": str(tools), "HOME": str(tools)}
    assert _found(environ) == Launcher((str(tools / "ccache"),), "found on PATH")
    (tools / "ccache").unlink()
    assert _found(environ) == Launcher((str(tools / "sccache"),), "found on PATH")
    (tools / "sccache").unlink()
    assert _found(environ) is None


def test_without_a_home_none_is_looked_for_that_would_make_one(tools: Path) -> None:
    for home in ({}, {"HOME": ""}, {"HOME": str(tools / "gone")}):
        environ = {"PATH": str(tools), **home}
        assert _found(environ) is None
        assert _found(environ | {"SCCACHE_DIR": "/somewhere"}) == Launcher((str(tools / "sccache"),), "found on PATH")
        assert _found(environ, "ccache") == Launcher((str(tools / "ccache"),), "named by --launcher ccache")


def test_an_option_counts_before_the_environment_and_that_before_what_is_found(tools: Path) -> None:
    environ = {"PATH": str(tools), "HOME": str(tools), "CMAKE_CXX_COMPILER_LAUNCHER": "mine;--quick"}
    assert _found(environ) == Launcher((str(tools / "mine"), "--quick"), "named by CMAKE_CXX_COMPILER_LAUNCHER")
    assert _found(environ, "sccache") == Launcher((str(tools / "sccache"),), "named by --launcher sccache")
    assert _found(environ, "none") is None
    assert _found(environ | {"CMAKE_CXX_COMPILER_LAUNCHER": ""}) == Launcher((str(tools / "ccache"),), "found on PATH")


@pytest.mark.parametrize(("named", "variable"), [("/nowhere/ccache", ""), (None, "nothing;-x")])
def test_a_named_launcher_that_is_absent_is_an_error(tools: Path, named: str | None, variable: str) -> None:
    with pytest.raises(ToolMissingError) as caught:
        _found({"PATH": str(tools), "CMAKE_CXX_COMPILER_LAUNCHER": variable}, named)
    assert caught.value.message == f"no compiler launcher {named or 'nothing'}"
    assert caught.value.help is not None
    assert "--launcher none" in caught.value.help


def test_no_second_launcher_stands_before_a_compiler_that_has_one(tools: Path, tmp_path: Path) -> None:
    assert _found({"PATH": str(tools), "HOME": str(tools), "CXX": f"ccache {str(tools / 'g++').replace(' ', chr(92) + ' ')}"}) is None
    masked = tmp_path / "masked"
    masked.mkdir()
    (masked / "g++").symlink_to(tools / "ccache")
    assert _found({"PATH": f"{masked}:{tools}", "HOME": str(tools)}) is None


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        (_PASSES_ON, None),
        ("#!/bin/sh\necho; echo 'ccache: error: no room' >&2; exit 1\n", "ccache: error: no room"),
        ("#!/bin/sh\nexit 3\n", "it exits with 3"),
        ("#!/bin/sh\nkill -9 $$\n", "it exits with 137"),
        ("#!/bin/sh\nexit 0\n", "it compiles nothing"),
        ("#!/nowhere/sh\n", "command not found: "),
    ],
)
def test_a_launcher_is_tried_on_a_trivial_file(
    tools: Path, tmp_path: Path, make_program: Callable[[Path, str], Path], script: str, fault: str | None
) -> None:
    (tools / "g++").unlink()
    (tools / "g++").symlink_to("/usr/bin/g++")
    compiler = find_compiler({"PATH": str(tools)})
    launcher = Launcher((str(make_program(tools / "ccache", script)),), "found on PATH")
    folder = tmp_path / "probe"
    folder.mkdir()
    told = launcher.fault(compiler, folder, {"PATH": "/usr/bin:/bin"})
    assert (told is None) if fault is None else (told is not None and told.startswith(fault))


def test_a_launcher_that_never_ends_is_given_up(
    tools: Path, tmp_path: Path, make_program: Callable[[Path, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opkit.toolkit.launchers._PROBE_SECONDS", 0.2)
    launcher = Launcher((str(make_program(tools / "sccache", "#!/bin/sh\nexec sleep 60\n")),), "found on PATH")
    told = launcher.fault(find_compiler({"PATH": str(tools)}), tmp_path, {"PATH": "/usr/bin:/bin"})
    assert told == "it took more than 0.2 s for a trivial file"


def test_ccache_alone_is_told_where_the_project_lies_unless_the_user_did(tools: Path) -> None:
    root = Path("/some/where")
    (tools / "fast").symlink_to("ccache")
    for name in ("ccache", "fast"):
        launcher = Launcher((str(tools / name),), "")
        assert launcher.environment(root, {}) == {"CCACHE_BASEDIR": "/some/where", "CCACHE_ABSSTDERR": "1"}
        assert launcher.environment(root, {"CCACHE_BASEDIR": "/"}) == {}
    assert Launcher((str(tools / "sccache"),), "").environment(root, {}) == {}
