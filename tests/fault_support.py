"""Runs changes of a prefix in processes that end, are interrupted, or are refused by the disk, at their N-th step; as another user; and
many at once.

A step is what changes a file system: Python announces each to audit hooks, before it happens and whoever calls it. A hook can't be taken
off again, nor a user come back, so each change runs in a child of this program, `python fault_support.py FAULT FOLDER [SCENARIO]`.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from install_support import HEADER, KERNEL, LIBRARY, install, opp_root, tree

from opkit.errors import UnwritableError
from opkit.packaging import Source, install_all, installed, uninstall

_CHANGES = {"os.mkdir", "os.rename", "os.symlink", "os.link", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "shutil.copyfile"}
_REFUSED = 3
_UNHURT = 4  # it came to that step, and got over it
_INTERRUPTED = 5
_NOBODY = 65534


def _is_change(event: str, arguments: tuple[object, ...]) -> bool:
    if event == "open":
        flags = arguments[2]
        return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))
    return event in _CHANGES


def _in_child(change: Callable[[], object], step: int, fault: Callable[[], None]) -> int:
    """Gives the child's wait status; its exit is 0 if it never came to that step."""
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)[1]
    left = step

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if _is_change(event, arguments):
            left -= 1
            if left == -1:
                fault()

    sys.addaudithook(hook)
    try:
        change()
    except UnwritableError:
        os._exit(_REFUSED)
    except KeyboardInterrupt:
        os._exit(_INTERRUPTED)
    except BaseException as unexpected:  # noqa: BLE001 - a child must not go on as its parent
        print(f"{type(unexpected).__name__}: {unexpected}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0 if left >= 0 else _UNHURT)


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _refuse() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _interrupt() -> None:
    raise KeyboardInterrupt


class Scenario:
    """A prefix with what `before` made of it, and a change of it that is cut short."""

    def __init__(self, folder: Path, name: str) -> None:
        self.prefix = folder / "made" / "prefix"
        self.old = opp_root(folder / "old", {LIBRARY: "old", KERNEL: "kernel", HEADER: "header"}, version="1.0")
        self.new = opp_root(folder / "new", {LIBRARY: "new", HEADER: "header"}, version="1.1")
        self.other = opp_root(folder / "other", {LIBRARY: "other"}, package="other")
        self.pristine = folder / "pristine"
        self.has_before = name != "first"
        if self.has_before:
            install(self.old, self.prefix)
            (self.prefix / "add/mine.txt").write_text("mine")
            (self.prefix / "add" / HEADER).write_text("edited")
            shutil.copytree(self.prefix, self.pristine, symlinks=True)
        self.change = self._uninstall if name == "uninstall" else self._install

    def _install(self) -> None:
        install_all([Source.of(self.new), Source.of(self.other)], self.prefix)

    def _uninstall(self) -> None:
        uninstall(["add"], self.prefix)

    def reset(self) -> None:
        shutil.rmtree(self.prefix.parent, ignore_errors=True)
        if self.has_before:
            shutil.copytree(self.pristine, self.prefix, symlinks=True)

    def check_whole(self, step: int) -> str:
        """The version that is in use, each of whose files is there; nothing of somebody's is lost."""
        states = {each.package: each for each in installed(self.prefix)}
        told = [problem for state in states.values() for problem in state.problems() if problem != f"{HEADER} was edited"]
        assert told == [], f"step {step}: {told}"
        if self.has_before:
            texts = tree(self.prefix / "add").values()
            assert {"mine", "edited"} <= {*texts}, f"step {step}: {texts}"
        version = states["add"].version if "add" in states else "none"
        assert version == {"new": "1.1", "old": "1.0"}.get(tree(self.prefix / "add").get(LIBRARY, ""), "none"), f"step {step}"
        return str(version)

    def check_mended(self, step: int) -> None:
        install_all([Source.of(self.new), Source.of(self.other)], self.prefix)
        assert [each.problems() for each in installed(self.prefix)] == [[], []], f"step {step}"
        state = self.prefix / ".opkit"
        assert [len(list((state / name).iterdir())) for name in ("add", "other")] == [1, 1], f"step {step}"
        assert {path.name for path in state.iterdir() if path.name.startswith(".")} <= {".lock", ".made"}, f"step {step}"


def killed(folder: Path, name: str) -> int:
    """Afterwards the old version is whole and in use or the new one is, and another install cleans up."""
    scenario, step, seen = Scenario(folder, name), 0, set()
    while True:
        scenario.reset()
        status = _in_child(scenario.change, step, _kill)
        seen.add(scenario.check_whole(step))
        scenario.check_mended(step)
        if status == 0:
            break
        assert os.WIFSIGNALED(status), f"step {step}: exit {os.waitstatus_to_exitcode(status)}"
        step += 1
    expected = {"first": {"none", "1.1"}, "upgrade": {"1.0", "1.1"}, "uninstall": {"1.0", "none"}}
    assert seen == expected[name], seen
    return step


def refused(folder: Path, name: str) -> int:
    """An install that fails leaves the prefix as it was; one that succeeds in spite of it left something to remove at most."""
    scenario, step, failures = Scenario(folder, name), 0, 0
    while True:
        scenario.reset()
        before = _shape(scenario.prefix.parent)
        status = os.waitstatus_to_exitcode(_in_child(scenario.change, step, _refuse))
        if status == 0:
            break
        if status == _REFUSED:
            failures += 1
            scenario.check_whole(step)
            assert _shape(scenario.prefix.parent) == before, f"step {step}"
        else:
            assert status == _UNHURT, f"step {step}: exit {status}"
            assert scenario.check_whole(step) == "1.1"
        step += 1
    assert failures
    return step


def interrupted(folder: Path, name: str) -> int:
    """After Ctrl-C, too, one of the two is whole, and the next one cleans up: an install, or the same uninstall again."""
    scenario, step = Scenario(folder, name), 0
    while True:
        scenario.reset()
        status = os.waitstatus_to_exitcode(_in_child(scenario.change, step, _interrupt))
        assert status in (0, _INTERRUPTED), f"step {step}: exit {status}"
        assert scenario.check_whole(step) in ("1.0", "none" if name == "uninstall" else "1.1")
        if name == "uninstall":
            uninstall(["add"], scenario.prefix)
            assert scenario.check_whole(step) == "none"
        scenario.check_mended(step)
        if status == 0:
            return step
        step += 1


def unprivileged(folder: Path) -> str:
    """What somebody else is told who installs into a folder that isn't theirs, and then into one of theirs, twice."""
    root = opp_root(folder / "old", {LIBRARY: "old"})
    (folder / "theirs").mkdir()
    (folder / "closed").mkdir(mode=0o555)
    if os.geteuid() == 0:
        os.chown(folder / "theirs", _NOBODY, _NOBODY)
    install(root, folder / "warm")  # All modules are loaded, wherever a nobody may not look.

    def change() -> None:
        if os.geteuid() == 0:
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
        for _ in range(2):
            done = install(root, folder / "theirs/prefix")
            for path in done.folder.rglob("*"):
                path.chmod(0o555 if path.is_dir() else 0o444)
        try:
            install(root, folder / "closed")
        except UnwritableError as error:
            print(error.render(), flush=True)
            return
        raise AssertionError

    status = _in_child(change, sys.maxsize, _kill)
    assert status == 0, status
    assert [path.name for path in (folder / "closed").iterdir()] == []
    assert installed(folder / "theirs/prefix")[0].problems() == []
    return f"uid {(folder / 'closed').stat().st_uid}"


def crowded(folder: Path) -> int:
    """Ten that install at once, and ten that install and uninstall: the lock file, and the prefix itself, come and go under them."""
    prefix = folder / "prefix"
    roots = [opp_root(folder / f"v{number}", {LIBRARY: "library"}, package=f"v{number}") for number in range(10)]

    def come_and_go(number: int) -> None:
        for _ in range(3):
            install(roots[number], prefix)
            uninstall([f"v{number}"], prefix)

    _at_once(come_and_go)
    assert installed(prefix) == []
    assert not (prefix / ".opkit").exists()
    _at_once(lambda number: install(roots[number], prefix))
    assert [each.package for each in installed(prefix)] == [f"v{number}" for number in range(10)]
    assert [each.problems() for each in installed(prefix)] == [[]] * 10
    return len(installed(prefix))


def _at_once(change: Callable[[int], object]) -> None:
    children = []
    for number in range(10):
        pid = os.fork()
        if pid == 0:
            try:
                change(number)
            except BaseException as unexpected:  # noqa: BLE001 - a child must not go on as its parent
                print(f"{type(unexpected).__name__}: {unexpected}", file=sys.stderr, flush=True)
                os._exit(1)
            os._exit(0)
        children.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 10


def _shape(folder: Path) -> dict[str, str]:
    """Everything but the lock file, which notes its last holder."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else path.read_bytes().hex()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
        if path.name != ".lock"
    }


if __name__ == "__main__":
    faults: dict[str, Callable[..., object]] = {each.__name__: each for each in (killed, refused, interrupted, unprivileged, crowded)}
    print(faults[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:]))
