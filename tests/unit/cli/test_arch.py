"""--arch as a person types it: the toolkits for other processors, and what is said where a deliverable doesn't run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cross_support import OTHER, CrossTools

from opkit.cli import main
from opkit.toolkit import discovery, host_arch, tools


@pytest.fixture
def cross(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CrossTools:
    """Nothing but shims for another processor, and no toolkit but the bundled one."""
    made = CrossTools(tmp_path / "tools")
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(discovery, "_BASES", ())
    monkeypatch.setattr(tools, "_BINFMT", tmp_path / "none")
    return made


def test_the_simulator_is_built_listed_and_its_path_printed(cross: CrossTools, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["toolkit", "build", "--arch", OTHER, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["arch"], document["kind"]) == (OTHER, "simulator")
    assert document["seconds"] >= 0
    assert main(["toolkit", "build", "--arch", OTHER]) == 0
    told = capsys.readouterr()
    assert told.out == f"{document['home']}\n"
    assert told.err == f"nothing to build: the bundled host simulator, built for {OTHER}\n"
    assert main(["toolkit", "list"]) == 0
    assert f"{document['home']}  host simulator 9.2.0, {OTHER}  (built for --arch {OTHER} by " in capsys.readouterr().out
    assert main(["toolkit", "path", "--arch", OTHER]) == 0
    assert capsys.readouterr().out == f"{document['home']}\n"
    assert cross.installs() == 1


def test_the_path_alone_of_a_toolkit_that_isnt_built_yet_goes_to_stdout(cross: CrossTools, capsys: pytest.CaptureFixture[str]) -> None:
    """`ASCEND_HOME_PATH=$(opkit toolkit path --arch aarch64)` is what it is for."""
    assert main(["toolkit", "path", "--arch", OTHER]) == 0
    told = capsys.readouterr()
    assert Path(told.out.rstrip("\n")).parent == cross.toolkits
    assert f"the simulator for {OTHER}, once, into" in told.err


def test_this_machines_simulator_is_there_without_a_build(
    cross: CrossTools, toolkit_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["toolkit", "build", "--arch", host_arch()]) == 0
    told = capsys.readouterr()
    assert told.out == f"{toolkit_home.resolve()}\n"
    assert told.err == "nothing to build: the bundled host simulator as it is\n"
    assert cross.calls() == []


@pytest.mark.parametrize("command", ["bench", "test"])
def test_without_an_emulator_nothing_is_built_to_be_run(
    command: str, cross: CrossTools, built_project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cross_only = str(cross.folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", cross_only)
        assert main([command, str(built_project), "--arch", OTHER]) == 3
    told = capsys.readouterr().err
    assert f"error[OPK0360]: a program for {OTHER} doesn't run here" in told
    assert "sudo apt install qemu-user-static" in told
    assert cross.calls() == []
    assert not (built_project / "build").exists()


@pytest.mark.parametrize("command", ["build", "bench", "test", "package"])
def test_a_processor_that_ge_doesnt_know_is_a_wrong_option(command: str, built_project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(built_project), "--arch", "armv7"]) == 2
    assert "'armv7' is not one of 'aarch64', 'x86_64'" in capsys.readouterr().err


@pytest.fixture
def foreign_project(built_project: Path) -> Path:
    libraries = built_project / "output/op_graph/lib/linux"
    (libraries / host_arch()).rename(libraries / OTHER)
    return built_project


def test_a_deliverable_for_another_processor_is_told_when_it_is_activated(
    foreign_project: Path, make_toolkit: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = make_toolkit(tmp_path / "sim", simulator="9.2.0")
    assert main(["env", str(foreign_project), "--toolkit", str(home)]) == 0
    told = capsys.readouterr()
    output = foreign_project / "output"
    assert str(output) in told.out
    assert f"warning: {output} is for {OTHER} alone, and GE on {host_arch()} finds no op in it\n" in told.err
    assert f"--arch {OTHER}" in told.err


def test_with_the_toolkit_for_its_processor_it_is_activated_without_a_word(
    foreign_project: Path, cross: CrossTools, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["env", str(foreign_project), "--arch", OTHER, "--json"]) == 0
    told = capsys.readouterr()
    assert Path(json.loads(told.out)["ASCEND_HOME_PATH"]).parent == cross.toolkits
    assert "warning" not in told.err


def test_a_root_with_a_library_for_this_processor_too_says_nothing(foreign_project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (foreign_project / "output/op_graph/lib/linux" / host_arch()).mkdir()
    assert main(["env", str(foreign_project)]) == 0
    assert "warning" not in capsys.readouterr().err
