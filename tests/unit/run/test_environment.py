"""The environment of a child, and the same in a shell that lives on."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit.errors import UsageError
from opkit.run.environment import HOME, LIBRARIES, OPP, activate, alone, prepended
from opkit.run.shell import lines_for
from opkit.toolkit import Kind, Origin, Toolkit

_SHELLS = [shell for shell in ("sh", "dash", "bash", "zsh", "fish") if shutil.which(shell)]


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        ("", "/new"),
        ("/a", "/new:/a"),
        ("/a:", "/new:/a"),
        (":/a", "/new:/a"),
        ("/a::/b", "/new:/a:/b"),
        ("/a:/new:/a", "/new:/a"),
        (":", "/new"),
        ("/a/:$ORIGIN/../lib", "/new:/a/:$ORIGIN/../lib"),
    ],
)
def test_a_path_list_gets_the_folder_first_each_once_and_none_empty(current: str, expected: str) -> None:
    assert prepended(current, [Path("/new")]) == expected


@pytest.mark.case("E3")
def test_what_is_relative_is_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert prepended("mine:./theirs", [Path("/new")]) == f"/new:{tmp_path}/mine:{tmp_path}/theirs"


@pytest.mark.case("E3")
def test_what_ge_takes_for_a_folder_of_the_current_one_is_written_out(
    toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It knows no variables and no home, and the dynamic loader its $ORIGIN."""
    monkeypatch.chdir(tmp_path)
    environment = activate(toolkit, [], {OPP: "$HOME/x:../y:~/z:/a/../b", LIBRARIES: "$ORIGIN/x"})
    assert environment[OPP] == f"{tmp_path}/$HOME/x:{tmp_path}/../y:{tmp_path}/~/z:/a/../b"
    assert environment[LIBRARIES] == f"{toolkit.lib64}:$ORIGIN/x"


@pytest.mark.case("E3")
def test_what_is_relative_to_a_folder_that_no_path_list_can_hold_is_an_error(
    toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a:b").mkdir()
    monkeypatch.chdir(tmp_path / "a:b")
    with pytest.raises(UsageError, match=f"the folder {tmp_path}/a:b/mine can't be activated"):
        activate(toolkit, [], {OPP: "mine"})


@pytest.mark.case("E1")
def test_the_libraries_of_another_toolkit_go_and_those_of_this_one_stay(toolkit: Toolkit, tmp_path: Path) -> None:
    another = tmp_path / "another"
    (another / "lib64").mkdir(parents=True)
    (tmp_path / "latest").symlink_to(another)
    base = {HOME: f"{tmp_path}/latest", LIBRARIES: f"{another}/lib64:{another}/lib64/plugin:{tmp_path}/latest/lib64/:/x"}
    assert activate(toolkit, [], base)[LIBRARIES] == f"{toolkit.lib64}:/x"
    base = {HOME: str(toolkit.home), LIBRARIES: f"/x:{toolkit.lib64}/plugin"}
    assert activate(toolkit, [], base)[LIBRARIES] == f"{toolkit.lib64}:/x:{toolkit.lib64}/plugin"


@given(st.lists(st.sampled_from(["", "/a", "/b", "/new", "relative"])))
def test_prepending_is_idempotent_and_never_leaves_an_empty_element(elements: list[str]) -> None:
    once = prepended(":".join(elements), [Path("/new")])
    assert prepended(once, [Path("/new")]) == once
    assert "" not in once.split(":")
    assert once.split(":")[0] == "/new"


def test_a_folder_that_no_path_list_can_hold_is_one_clear_error() -> None:
    with pytest.raises(UsageError, match="can't be activated"):
        prepended("", [Path("/a:b")])


def test_the_child_gets_three_variables_and_the_rest_unchanged(toolkit: Toolkit, tmp_path: Path) -> None:
    base = {"PATH": "/bin", HOME: "/another", OPP: "/old:", LIBRARIES: "/x"}
    environment = activate(toolkit, [tmp_path / "output"], base)
    assert environment == {
        "PATH": "/bin",
        HOME: str(toolkit.home),
        OPP: f"{tmp_path}/output:/old",
        LIBRARIES: f"{toolkit.lib64}:/x",
    }
    assert base[HOME] == "/another"


def test_without_deliverables_the_path_list_stays_unset(toolkit: Toolkit) -> None:
    assert OPP not in activate(toolkit, [], {})


def _evaluated(shell: str, lines: list[str], environ: dict[str, str], *, times: int = 1) -> dict[str, str]:
    script = "\n".join(lines * times)
    prefix = "" if shell == "fish" else "set -eu\n"
    printed = subprocess.run([shell, "-c", f"{prefix}{script}\nenv -0"], env=environ, check=True, capture_output=True, text=True).stdout
    return dict(entry.split("=", 1) for entry in printed.split("\0") if "=" in entry)


@pytest.mark.parametrize("shell", _SHELLS)
@pytest.mark.parametrize("current", [None, "", "/old", "/old:", ":/old", "/a::/b", "{output}:/old"])
def test_a_shell_comes_to_the_same_environment_as_a_child(shell: str, current: str | None, toolkit: Toolkit, tmp_path: Path) -> None:
    output = tmp_path / 'it\'s my "out\\put" $HOME 算子'
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    if current is not None:
        environ |= {OPP: current.format(output=output), LIBRARIES: current.format(output=toolkit.lib64)}
    expected = activate(toolkit, [output], environ)
    lines = lines_for("fish" if shell == "fish" else "sh", toolkit, [output], environ)
    for times in (1, 2):
        found = _evaluated(shell, lines, environ, times=times)
        assert {name: found[name] for name in (HOME, OPP, LIBRARIES)} == {name: expected[name] for name in (HOME, OPP, LIBRARIES)}


@pytest.mark.parametrize("shell", _SHELLS)
def test_the_root_that_was_activated_last_is_the_first(shell: str, toolkit: Toolkit, tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    kind = "fish" if shell == "fish" else "sh"
    for root, expected in (("a", ["a"]), ("b", ["b", "a"]), ("a", ["a", "b"])):
        # As a shell does: each call of opkit sees what the one before has left.
        environ = _evaluated(shell, lines_for(kind, toolkit, [tmp_path / root], environ), environ)
        assert environ[OPP].split(":") == [str(tmp_path / name) for name in expected]
        assert environ[LIBRARIES] == str(toolkit.lib64)


@pytest.mark.parametrize("shell", _SHELLS)
def test_a_variable_of_empty_elements_alone_goes(shell: str, toolkit: Toolkit, tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), OPP: "::"}
    lines = lines_for("fish" if shell == "fish" else "sh", toolkit, [], environ)
    assert OPP not in _evaluated(shell, lines, environ)


def test_the_lines_of_a_clean_shell_are_short() -> None:
    plain = Toolkit(
        home=Path("/opt/cann"), kind=Kind.CANN, version="9.2.0", abi=0, arch="x86_64", origin=Origin.INSTALLED, reason="", stamp=""
    )
    assert lines_for("sh", plain, [Path("/p/output")], {}) == [
        "export ASCEND_HOME_PATH=/opt/cann",
        "export ASCEND_CUSTOM_OPP_PATH=/p/output",
        "export LD_LIBRARY_PATH=/opt/cann/lib64",
    ]


def test_a_toolkit_alone_keeps_nothing_but_the_device_s_driver(toolkit: Toolkit, tmp_path: Path) -> None:
    (tmp_path / "libascend_hal.so").write_text("")
    base = {"PATH": "/bin", OPP: "/others", LIBRARIES: f"/elsewhere::{tmp_path}", HOME: "/other", "LD_PRELOAD": "/other.so"}
    assert alone(toolkit, base) == {HOME: str(toolkit.home), LIBRARIES: f"{toolkit.lib64}:{tmp_path}"}
    assert alone(toolkit, {}) == {HOME: str(toolkit.home), LIBRARIES: str(toolkit.lib64)}
    unseen = {LIBRARIES: f"{tmp_path}/{'x' * 300}"}
    assert alone(toolkit, unseen) == alone(toolkit, {}), "a folder that can't be looked into has no driver"
