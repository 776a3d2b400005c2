"""Installs, uninstalls and lists among what belongs to somebody else: what is in nobody's way is no error, and what is, is named."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from install_support import HEADER, LIBRARY, opp_root, tree

from opkit.cli import main
from opkit.packaging import installed

_NOBODY = 65534
_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder that everybody may pass through, unlike pytest's own

needs_two_users = pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can be two users")


class Place:
    """Packages to install, and a folder of a user's own with a prefix in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.prefix = self.home / "prefix"
        self.sources = {
            name: opp_root(folder / name, {LIBRARY: name, HEADER: "header"}, package=name, ops=[name], kind="cann").path
            for name in ("add", "mul")
        }
        if os.geteuid() == 0:
            os.chown(self.home, _NOBODY, _NOBODY)

    def run(self, *arguments: str | Path) -> tuple[int, str]:
        """opkit, by that user: what it exits with, and what it says."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            said = io.StringIO()
            code = 99
            try:
                if os.geteuid() == 0:
                    os.setgroups([])
                    os.setgid(_NOBODY)
                    os.setuid(_NOBODY)
                with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                    code = main([*map(str, arguments)])
            finally:
                os.write(writing, said.getvalue().encode()[:60_000])
                os._exit(code)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            said_by_child = file.read().decode()
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said_by_child

    def change(self, *arguments: str | Path, exit_code: int = 0) -> str:
        code, said = self.run(*arguments, "--prefix", self.prefix)
        assert code == exit_code, said
        return said


@pytest.fixture
def place(as_nobody: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    folder = Path(tempfile.mkdtemp(dir=_MEMORY if os.access(_MEMORY, os.W_OK) else tmp_path))
    folder.chmod(0o755)
    # All modules are loaded, wherever a nobody may not look.
    warm = opp_root(folder / "warm", {LIBRARY: "warm"}, package="warm")
    for arguments in (["install", warm.path], ["list"], ["verify", warm.path, "--no-load"], ["uninstall", "warm"]):
        main([*map(str, arguments), *([] if "verify" in arguments else ["--prefix", str(tmp_path / "warm")])])
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder / "home"))
    made = Place(folder)
    yield made
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder)


@needs_two_users
def test_what_somebody_else_put_into_a_package_hinders_no_package(place: Place) -> None:
    for name in ("add", "mul"):
        place.change("install", place.sources[name])
    (place.prefix / "add/prof").mkdir()
    (place.prefix / "add/prof/trace.json").write_text("theirs")
    (place.prefix / "add/theirs").mkdir()
    said = place.change("install", place.sources["add"])
    assert "isn't in use any more and can't be removed: " in said
    assert "is owned by uid 0" in said
    assert tree(place.prefix / "add")["prof/trace.json"] == "theirs"
    assert "warning" not in place.change("install", place.sources["mul"])
    assert "can't be removed" not in place.change("uninstall", "mul")
    for _ in range(2):
        place.change("install", place.sources["add"])
    assert "Uninstalled add" in place.change("uninstall", "add")
    assert installed(place.prefix) == []
    assert tree(place.prefix / "add") == {"prof/trace.json": "theirs"}
    assert "isn't installed" in place.change("uninstall", "add")
    place.change("install", place.sources["add"])
    assert tree(place.prefix / "add")["prof/trace.json"] == "theirs"


@needs_two_users
def test_an_empty_folder_of_somebody_else_is_no_hindrance_at_all(place: Place) -> None:
    place.change("install", place.sources["add"])
    (place.prefix / "add/theirs").mkdir(mode=0o555)
    for arguments in (("install", place.sources["add"]), ("uninstall", "add")):
        assert "can't be removed" not in place.change(*arguments)
    assert not place.prefix.exists()


def test_a_file_that_can_not_be_read_is_told_as_that_and_nothing_is_changed(place: Place) -> None:
    place.change("install", place.sources["add"])
    (place.prefix / "add/mine.txt").write_text("mine")
    (place.prefix / "add/mine.txt").chmod(0)
    for arguments in (("install", place.sources["add"]), ("uninstall", "add")):
        said = place.change(*arguments, exit_code=3)
        assert said.startswith("error[OPK0311]: cannot read ")
        assert "mine.txt" in said.splitlines()[0]
        assert "mode 0000" in said
        assert "chmod u+rX" in said
        assert [each.problems() for each in installed(place.prefix)] == [[]]
    (place.prefix / "add/mine.txt").chmod(0o644)
    place.change("uninstall", "add")
    assert tree(place.prefix / "add") == {"mine.txt": "mine"}


@pytest.mark.parametrize("arguments", [("uninstall", "add"), ("list",)], ids=" ".join)
def test_a_closed_folder_is_not_an_empty_one(place: Place, arguments: tuple[str, ...]) -> None:
    place.change("install", place.sources["add"])
    place.home.chmod(0)
    said = place.change(*arguments, exit_code=3)
    assert said.startswith(f"error[OPK0311]: cannot read {place.prefix}")
    assert f"because: {place.home} is owned by uid " in said
    assert "mode 0000; you are uid " in said


def test_list_tells_what_can_not_be_read_and_goes_on(place: Place) -> None:
    for name in ("add", "mul"):
        place.change("install", place.sources[name])
    folder = (place.prefix / "add").resolve()
    (folder / HEADER).chmod(0)
    assert f"problem: {HEADER} can't be read: Permission denied" in place.change("list")
    folder.chmod(0)
    said = place.change("list")
    assert "problem: cannot read " in said
    assert "mul 0.1.0" in said
    (place.prefix / ".opkit").chmod(0)
    assert place.change("list").count("problem: cannot read ") == 2
    said = place.change("uninstall", "add", exit_code=3)
    assert f"because: {place.prefix / '.opkit'} is owned by uid " in said


def test_a_home_in_a_closed_folder_is_no_home(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPKIT_PREFIX", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(place.home / "me"))
    (place.home / "me").mkdir()
    place.home.chmod(0)
    for arguments in (("install", place.sources["add"]), ("uninstall", "add")):
        code, said = place.run(*arguments)
        assert (code, said.splitlines()[0]) == (3, "error[OPK0300]: there is no place to install to")
    assert place.run("list") == (0, "nothing is installed in the wheels of this Python\n")
