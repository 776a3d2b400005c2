"""Toolkits, opkit's own too, that a user isn't let into: one error that says whose they are, and never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# As a user who owns nothing, with opkit's data in another folder. What is needed is loaded before: Python may be for root alone.
_BECOME = """\
import contextlib, io, os, pwd, sys
from pathlib import Path
from opkit import errors, resources
from opkit.cli import main
from opkit.toolkit import discovery, tools
discovery._BASES = ()
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    main(["toolkit", "list"]), main(["toolkit", "path", "--toolkit", "/nonexistent"])
resources._PACKAGE = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
"""

pytestmark = pytest.mark.usefixtures("as_nobody")


class _Nobody:
    """`folder` is one that every user can enter, with opkit's data in it: a toolkit that looks like the bundled one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bundled = folder / "_data" / "toolkit"

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return self.ask("sys.exit(main(sys.argv[2:]))", *arguments, **environ)

    def ask(self, code: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-c", _BECOME + code, str(self.folder), *arguments]
        environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environ}
        return subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)

    def close(self, path: Path) -> str:
        """What is told of it then."""
        path.chmod(0)
        return f"{path} is owned by uid {os.geteuid()} "


@pytest.fixture
def nobody(make_toolkit: Callable[..., Path]) -> Iterator[_Nobody]:
    with tempfile.TemporaryDirectory(prefix="opkit-test-") as name:
        made = _Nobody(Path(name))
        made.folder.chmod(0o755)
        make_toolkit(made.bundled, simulator="9.2.0-sim")
        yield made
        for folder, folders, _ in os.walk(name):
            for each in folders:
                Path(folder, each).chmod(0o755)


@pytest.mark.parametrize("part", ["..", ".", "lib64", "include", "include/graph", "opkit-simulator.json"])
def test_opkit_s_own_simulator_that_is_closed_is_an_error_with_what_opens_it(nobody: _Nobody, part: str) -> None:
    told = nobody.close(Path(os.path.normpath(nobody.bundled / part)))
    done = nobody.run("toolkit", "path")
    assert done.returncode == 3
    assert done.stderr.startswith(
        f"error[OPK0301]: opkit's own simulator, {nobody.bundled}, can't be used\n  because: it can't be read: {told}"
    )
    assert f"  help: let every user read it: chmod -R a+rX {nobody.bundled}; or pip install" in done.stderr
    assert done.stdout == ""
    listed = nobody.run("toolkit", "list")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert f"it can't be read: {told}" in listed.stdout


@pytest.mark.parametrize("part", [".", "lib64", "include", "include/ge", "version.info", "compiler"])
def test_a_named_toolkit_that_is_closed_is_refused_by_whose_it_is(nobody: _Nobody, make_toolkit: Callable[..., Path], part: str) -> None:
    home = make_toolkit(nobody.folder / "cann", version=None if part == "compiler" else "9.2.0")
    (home / "compiler").mkdir()
    told = nobody.close(home / part)
    done = nobody.run("toolkit", "path", ASCEND_HOME_PATH=str(home))
    assert done.returncode == 3
    assert done.stderr.startswith(
        f"error[OPK0301]: {home} is no CANN toolkit\n  --> ASCEND_HOME_PATH={home}\n  because: it can't be read: {told}"
    )
    assert done.stdout == ""


def test_a_link_to_a_closed_place_is_no_library_and_no_traceback(nobody: _Nobody, make_toolkit: Callable[..., Path]) -> None:
    home = make_toolkit(nobody.folder / "cann")
    (nobody.folder / "closed").mkdir()
    for name in ("libgraph.so", "libacl_rt.so"):
        (home / "lib64" / name).rename(nobody.folder / "closed" / name)
        (home / "lib64" / name).symlink_to(nobody.folder / "closed" / name)
    nobody.close(nobody.folder / "closed")
    done = nobody.ask("print(*discovery.discover(os.environ).missing_libraries())", ASCEND_HOME_PATH=str(home))
    assert (done.stdout, done.stderr) == ("libacl_rt.so libgraph.so\n", "")


def test_a_closed_cache_of_simulators_is_told_and_not_taken_for_an_empty_one(nobody: _Nobody) -> None:
    cache = nobody.folder / "cache"
    (cache / "opkit" / "toolkits").mkdir(parents=True)
    told = nobody.close(cache / "opkit" / "toolkits")
    done = nobody.run("toolkit", "list", XDG_CACHE_HOME=str(cache))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"error[OPK0311]: cannot read {cache}/opkit/toolkits\n  because: {told}")


@pytest.mark.parametrize("part", [".", "templates"])
def test_opkit_s_own_files_that_are_closed_are_an_error_too(nobody: _Nobody, part: str) -> None:
    data = nobody.folder / "_data"
    (data / "templates").mkdir()
    told = nobody.close(data / part)
    done = nobody.ask("try: resources.templates()\nexcept errors.UnreadableError as error: print(error.message, error.because, sep='; ')")
    assert done.stdout.startswith(f"cannot read {data}/templates; {told}"), done.stderr


def test_a_program_that_may_be_run_and_not_read_is_no_python_script(nobody: _Nobody) -> None:
    program = nobody.folder / "cmake"
    program.write_text("#!/usr/bin/python3\n")
    nobody.close(program)
    done = nobody.ask("print(tools._is_python_script(Path(sys.argv[2])))", str(program))
    assert (done.stdout, done.stderr) == ("False\n", "")
