"""The toolkit for another processor: which one it is, that it is built once, whole or not at all, and what is said where it can't be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from archive_support import MACHINES, elf
from cross_support import CROSS_COMPILER, OTHER, CrossTools, program

from opkit import resources
from opkit.errors import (
    BusyError,
    CompilerMissingError,
    NoCacheError,
    ToolkitArchError,
    UnwritableError,
    VariantBuildError,
)
from opkit.toolkit import Origin, Toolkit, discover, host_arch
from opkit.toolkit.variants import build_variant, built_variants, toolkit_for

Make = Callable[..., Path]
_CHILD = """\
import os, sys
from opkit.toolkit.variants import build_variant
print(build_variant(sys.argv[1], dict(os.environ), jobs=1).seconds is not None)
"""


@pytest.fixture
def tools(tmp_path: Path) -> CrossTools:
    return CrossTools(tmp_path / "tools with a space")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The simulator's sources, as far as what is tested here looks at them."""
    folder = tmp_path / "simulator"
    for name, text in (("CMakeLists.txt", "project(opkit_simulator VERSION 9.2.0 LANGUAGES CXX)\n"), ("src/a.cpp", "int a;\n")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(resources, "simulator_source", lambda: folder)
    return folder


def _start(tools: CrossTools) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _CHILD, OTHER],
        env={**os.environ, **tools.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _wait_for(file: Path) -> None:
    deadline = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < deadline, file
        time.sleep(0.01)


def test_the_simulator_is_built_once_and_used_from_then_on(tools: CrossTools, capsys: pytest.CaptureFixture[str]) -> None:
    first = build_variant(OTHER, tools.environ, jobs=3)
    assert first.seconds is not None
    assert first.toolkit.arch == OTHER
    assert first.toolkit.is_simulator
    assert first.toolkit.origin is Origin.BUNDLED
    assert first.toolkit.home.parent == tools.toolkits
    told = capsys.readouterr().err
    assert f"the simulator for {OTHER}, once, into {first.toolkit.home}" in told
    assert f"the simulator for {OTHER} in 0 s" in told
    calls = tools.calls()
    assert any(f"-DCMAKE_SYSTEM_PROCESSOR={OTHER}" in call for call in calls)
    assert any(call.startswith("--build") and call.endswith("-j 3") for call in calls)

    again = build_variant(OTHER, tools.environ, jobs=3)
    assert again.seconds is None
    assert again.toolkit == first.toolkit
    assert tools.calls() == calls
    assert capsys.readouterr().err == ""
    assert tools.left() == {first.toolkit.home.name, "log", "lock"}
    assert "[2/2] Linking" in first.toolkit.home.with_name(f"{first.toolkit.home.name}.log").read_text()


@pytest.mark.parametrize("damage", ["cut", "gone", "unlisted"])
def test_a_damaged_simulator_is_built_again(damage: str, tools: CrossTools, capsys: pytest.CaptureFixture[str]) -> None:
    home = build_variant(OTHER, tools.environ, jobs=1).toolkit.home
    library = next(home.glob("lib64/*.so"))
    if damage == "cut":
        library.write_bytes(library.read_bytes()[:10])
    elif damage == "gone":
        library.unlink()
    else:
        (home / "opkit-variant.json").write_text("{")
    capsys.readouterr()
    assert not built_variants(tools.environ)
    assert build_variant(OTHER, tools.environ, jobs=1).seconds is not None
    assert f"warning: the simulator in {home} isn't as it was built; it is built again\n" in capsys.readouterr().err
    assert build_variant(OTHER, tools.environ, jobs=1).seconds is None


def test_other_sources_and_another_compiler_give_another_folder(tools: CrossTools, source: Path) -> None:
    homes = [build_variant(OTHER, tools.environ, jobs=1).toolkit.home]
    (source / "src/a.cpp").write_text("int b;\n")
    homes.append(build_variant(OTHER, tools.environ, jobs=1).toolkit.home)
    program(tools.folder / CROSS_COMPILER, "#!/bin/sh\nexit 0 # upgraded\n")
    homes.append(build_variant(OTHER, tools.environ, jobs=1).toolkit.home)
    (source / "src/a.cpp").rename(source / "src/b.cpp")
    homes.append(build_variant(OTHER, tools.environ, jobs=1).toolkit.home)
    # What no build reads changes nothing.
    (source / "tests").mkdir()
    (source / "tests/a.cpp").write_text("")
    assert build_variant(OTHER, tools.environ, jobs=1).toolkit.home == homes[-1]
    assert len(set(homes)) == 4
    assert {each.path for each in built_variants(tools.environ)} == set(homes)


def test_the_flags_of_a_project_stay_out_of_what_all_use(tools: CrossTools) -> None:
    own = {"CXXFLAGS": "-O0", "LDFLAGS": "-s", "CMAKE_TOOLCHAIN_FILE": "/none"}
    build_variant(OTHER, {**tools.environ, **own, "CCACHE_DIR": "/somewhere", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache"}, jobs=1)
    got = (tools.folder / "environment").read_text().splitlines()
    assert {"CCACHE_DIR=/somewhere", "CMAKE_CXX_COMPILER_LAUNCHER=ccache"} <= set(got)
    assert not [line for line in got if line.startswith(("CXXFLAGS", "LDFLAGS", "CMAKE_TOOLCHAIN_FILE"))]


def test_a_failed_build_names_the_cause_and_the_log_and_leaves_nothing_else(tools: CrossTools) -> None:
    (tools.folder / "broken").touch()
    with pytest.raises(VariantBuildError) as caught:
        build_variant(OTHER, tools.environ, jobs=1)
    assert caught.value.exit_code == 5
    assert caught.value.because == "src/acl/copy.cpp:7: error: no such thing"
    assert caught.value.help is not None
    log = Path(caught.value.help.removeprefix("the full log is "))
    assert "ninja: build stopped" in log.read_text()
    assert tools.left() == {"log", "lock"}
    assert built_variants(tools.environ) == []
    (tools.folder / "broken").unlink()
    assert build_variant(OTHER, tools.environ, jobs=1).seconds is not None


def test_a_killed_build_leaves_no_half_of_a_toolkit_and_no_lock(tools: CrossTools) -> None:
    (tools.folder / "slow").write_text("60")
    with _start(tools) as child:
        _wait_for(tools.folder / "started")
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
    assert built_variants(tools.environ) == []
    (tools.folder / "slow").unlink()
    home = build_variant(OTHER, tools.environ, jobs=1, wait=0).toolkit.home
    assert tools.left() == {home.name, "log", "lock"}


def test_an_interrupted_build_stops_its_tools_and_takes_its_files_along(tools: CrossTools) -> None:
    (tools.folder / "slow").write_text("60")
    with _start(tools) as child:
        _wait_for(tools.folder / "started")
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=20)
    assert tools.left() == {"log", "lock"}


def test_of_two_at_once_one_builds_and_the_other_waits_for_it(tools: CrossTools) -> None:
    (tools.folder / "slow").write_text("0.5")
    with _start(tools) as child:
        _wait_for(tools.folder / "started")
        with pytest.raises(BusyError, match=r"the simulator in .* is in use"):
            build_variant(OTHER, tools.environ, jobs=1, wait=0)
        assert build_variant(OTHER, tools.environ, jobs=1).seconds is None
        assert child.communicate()[0] == "True\n"
    assert tools.installs() == 1


def test_without_a_home_it_is_said_how_to_name_a_cache(tools: CrossTools) -> None:
    environ = {"PATH": tools.environ["PATH"], "XDG_CACHE_HOME": "relative"}
    with pytest.raises(NoCacheError) as caught:
        build_variant(OTHER, environ, jobs=1)
    assert caught.value.exit_code == 3
    assert caught.value.help == "set XDG_CACHE_HOME to a folder that can be written"
    assert built_variants(environ) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("part", ["", "opkit", "opkit/toolkits"])
@pytest.mark.parametrize("how", ["everybody", "another"])
def test_nothing_is_taken_from_where_another_user_could_have_put_it(tools: CrossTools, part: str, how: str) -> None:
    build_variant(OTHER, tools.environ, jobs=1)
    folder = tools.cache / part
    if how == "everybody":
        folder.chmod(0o1777)
    else:
        os.chown(folder, 65534, 65534)
    with pytest.raises(NoCacheError) as caught:
        build_variant(OTHER, tools.environ, jobs=1)
    assert caught.value.message == f"the simulator for another processor isn't taken from {tools.cache / 'opkit/toolkits'}"
    assert caught.value.because == "another user could put libraries there, which would run as you"


def test_a_cache_that_cant_be_written_is_named_with_the_way_out(tools: CrossTools) -> None:
    tools.cache.write_text("no folder")
    with pytest.raises(UnwritableError) as caught:
        build_variant(OTHER, tools.environ, jobs=1)
    assert str(tools.cache) in f"{caught.value.message} {caught.value.because}"
    assert caught.value.help == "set XDG_CACHE_HOME to a folder that can be written"


def test_without_the_cross_compiler_its_package_is_named(tools: CrossTools) -> None:
    (tools.folder / CROSS_COMPILER).unlink()
    with pytest.raises(CompilerMissingError) as caught:
        build_variant(OTHER, {**tools.environ, "PATH": str(tools.folder)}, jobs=1)
    assert caught.value.exit_code == 3
    assert caught.value.help == f"sudo apt install g++-{OTHER.replace('_', '-')}-linux-gnu"
    assert not tools.cache.exists()


def test_the_bundled_simulator_is_the_one_for_this_machine(toolkit_home: Path, tools: CrossTools) -> None:
    variant = build_variant(host_arch(), tools.environ, jobs=1)
    assert variant.toolkit.home == toolkit_home.resolve()
    assert variant.seconds is None
    assert tools.calls() == []


# --- which toolkit serves


def _cann(folder: Path, make_toolkit: Make, arch: str) -> Path:
    home = make_toolkit(folder)
    (home / "lib64/libascendcl.so").write_bytes(elf(MACHINES[arch]))
    return home


def _for(arch: str, home: Path, tools: CrossTools) -> Toolkit:
    return toolkit_for(arch, discover({}, option=str(home)), tools.environ, jobs=1)


def test_the_toolkit_in_use_serves_if_it_is_for_that_processor(tmp_path: Path, make_toolkit: Make, tools: CrossTools) -> None:
    home = _cann(tmp_path / "cann", make_toolkit, OTHER)
    assert _for(OTHER, home, tools).home == home


def test_the_bundled_simulator_is_built_for_it(toolkit_home: Path, tools: CrossTools) -> None:
    assert _for(OTHER, toolkit_home, tools).home.parent == tools.toolkits


def test_cann_has_a_folder_for_each_processor(tmp_path: Path, make_toolkit: Make, tools: CrossTools) -> None:
    home = _cann(tmp_path / "cann", make_toolkit, host_arch())
    other = _cann(home / f"{OTHER}-linux", make_toolkit, OTHER)
    (other / "version.info").unlink()
    found = _for(OTHER, home, tools)
    assert (found.home, found.arch, found.version) == (other, OTHER, "9.2.0")
    own = _cann(home / f"{host_arch()}-linux", make_toolkit, host_arch())
    assert _for(OTHER, own, tools).home == other
    assert tools.calls() == []


def test_a_cann_for_this_machine_alone_is_refused_with_what_to_install(tmp_path: Path, make_toolkit: Make, tools: CrossTools) -> None:
    home = _cann(tmp_path / "cann", make_toolkit, host_arch())
    with pytest.raises(ToolkitArchError) as caught:
        _for(OTHER, home, tools)
    assert caught.value.exit_code == 3
    assert caught.value.message == f"the toolkit {home} is for {host_arch()}, not for {OTHER}"
    assert caught.value.because == f"{home}/{OTHER}-linux is none for {OTHER}: it does not exist"
    _cann(home / f"{OTHER}-linux", make_toolkit, host_arch())
    with pytest.raises(ToolkitArchError) as caught:
        _for(OTHER, home, tools)
    assert caught.value.because == f"{home}/{OTHER}-linux is for {host_arch()}"


def test_a_simulator_of_somebody_elses_is_refused(tmp_path: Path, make_toolkit: Make, tools: CrossTools) -> None:
    home = make_toolkit(tmp_path / "sim", simulator="9.2.0")
    with pytest.raises(ToolkitArchError) as caught:
        _for(OTHER, home, tools)
    assert caught.value.help == "unset ASCEND_HOME_PATH, or name a toolkit with --toolkit DIR"
