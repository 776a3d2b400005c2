"""Any sequence of installs, uninstalls, edits and foreign files: the prefix is what a model of a few dictionaries says."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from install_support import LIBRARY, install, library, opp_root, tree

from opkit.deliverable import MANIFEST
from opkit.packaging import installed, uninstall
from opkit.packaging.prefix import STATE

_PACKAGES = st.sampled_from(["acme", "acme_v2"])
# Of two paths one may lie below the other: in one package a file, in the next a folder.
_PATHS = st.sampled_from(["lib.so", "a", "a/b", "a/b/c", "a.edited", "d/e"])
_TEXTS = st.sampled_from(["1", "2", "3"])


def _fits(path: str, files: dict[str, str]) -> bool:
    return not any(path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in files)


@st.composite
def _versions(draw: st.DrawFn) -> dict[str, str]:
    files = {LIBRARY: draw(_TEXTS)}
    for path in draw(st.lists(_PATHS, min_size=1, max_size=4)):
        if _fits(path, files):
            files[path] = draw(_TEXTS)
    return files


class Prefix(RuleBasedStateMachine):
    """For each package: what opkit put there, and what lies there now."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="opkit-model-"))
        self.prefix = self.folder / "prefix"
        self.ours: dict[str, dict[str, str]] = {}
        self.there: dict[str, dict[str, str]] = {"acme": {}, "acme_v2": {}}
        self.modes: dict[str, int] = {}
        self.lost: dict[str, str] = {}
        self.installs = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize()
    def begin(self) -> None:
        assert installed(self.prefix) == []

    @rule(package=_PACKAGES, files=_versions(), version=st.sampled_from(["1.0", "1.1"]), is_swept=st.booleans())
    def install(self, package: str, files: dict[str, str], version: str, *, is_swept: bool) -> None:
        self.installs += 1
        root = opp_root(self.folder / f"source{self.installs}", files, package=package, version=version)
        # As where somebody else owns what lies in the version before.
        with nullcontext() if is_swept else patch("opkit.packaging.installing._removed", return_value=False):
            done = install(root, self.prefix)
        self.lost.pop(package, None)
        assert (done.version, done.problems()) == (version, [])
        kept = self._kept(package, files)
        self.there[package] = tree(done.path)
        self._require_kept(package, files, kept)
        self.ours[package] = files

    @rule(package=_PACKAGES)
    def uninstall(self, package: str) -> None:
        kept = self._kept(package, {})
        is_there = package in self.ours
        (removal,) = uninstall([package], self.prefix)
        assert (removal.removed is not None) == is_there
        self.there[package] = tree(self.prefix / package)
        self.modes.pop(package, None)
        if is_there:
            self._require_kept(package, {}, kept)
            del self.ours[package]
            self.lost.pop(package, None)
        else:
            assert sorted(self.there[package].values()) == sorted(kept.values())

    @precondition(lambda self: any(self.there.values()))
    @rule(data=st.data(), text=_TEXTS)
    def edit(self, data: st.DataObject, text: str) -> None:
        package = data.draw(st.sampled_from([name for name, files in self.there.items() if files]))
        path = data.draw(st.sampled_from(sorted(self.there[package])))
        (self.prefix / package / path).unlink()  # As most editors do it.
        self._write(package, path, text)
        self.there[package][path] = text

    @precondition(lambda self: any(self.there.values()))
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        package = data.draw(st.sampled_from([name for name, files in self.there.items() if files]))
        path = data.draw(st.sampled_from(sorted(self.there[package])))
        (self.prefix / package / path).unlink()
        del self.there[package][path]

    @precondition(lambda self: self.ours)
    @rule(data=st.data(), path=_PATHS, text=_TEXTS)
    def add(self, data: st.DataObject, path: str, text: str) -> None:
        package = data.draw(st.sampled_from(sorted(self.ours)))
        file = self.prefix / package / path
        if path in self.there[package] or not _fits(path, self.there[package]) or file.is_dir():
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        self._write(package, path, text)
        self.there[package][path] = text

    @precondition(lambda self: self.ours)
    @rule(data=st.data(), mode=st.sampled_from([0o700, 0o750, 0o755]))
    def add_a_folder(self, data: st.DataObject, mode: int) -> None:
        package = data.draw(st.sampled_from(sorted(self.ours)))
        folder = self.prefix / package / "private"
        folder.mkdir(exist_ok=True)
        folder.chmod(mode)
        self.modes[package] = mode
        if data.draw(st.booleans()):
            self._write(package, "private/key", "1")
            self.there[package]["private/key"] = "1"

    @precondition(lambda self: bool({*self.ours} - {*self.lost}))
    @rule(data=st.data())
    def lose(self, data: st.DataObject) -> None:
        """One of the two that know whose the files are; the other does still."""
        package = data.draw(st.sampled_from(sorted({*self.ours} - {*self.lost})))
        self.lost[package] = data.draw(st.sampled_from(["manifest", "receipt"]))
        if self.lost[package] == "manifest":
            (self.prefix / package / MANIFEST).unlink()
        else:
            (self.prefix / STATE / f"{package}.json").write_text("{")

    @invariant()
    def the_prefix_is_the_model(self) -> None:
        states = {state.package: state for state in installed(self.prefix)}
        assert set(states) == set(self.ours)
        for package, there in self.there.items():
            assert tree(self.prefix / package) == there
        for package, ours in self.ours.items():
            missing = {path for path in ours if path not in self.there[package]}
            edited = {path for path in ours if self.there[package].get(path, ours[path]) != ours[path]}
            told = [f"{path} is missing" for path in missing] + [f"{path} was edited" for path in edited]
            told += [f"{states[package].folder / MANIFEST} is missing"] if self.lost.get(package) == "manifest" else []
            receipt = self.prefix / f".opkit/{package}.json"
            told += [f"its receipt {receipt} isn't one that this opkit can read"] if self.lost.get(package) == "receipt" else []
            assert sorted(states[package].problems()) == sorted(told)

    @invariant()
    def folders_are_as_private_as_they_were(self) -> None:
        for package, mode in self.modes.items():
            assert (self.prefix / package / "private").stat().st_mode & 0o7777 == mode

    def _write(self, package: str, path: str, text: str) -> None:
        (self.prefix / package / path).write_bytes(library(text) if path.endswith(".so") else text.encode())

    def _kept(self, package: str, new: dict[str, str]) -> dict[str, str]:
        """What isn't opkit's, or isn't any more what opkit put there, and isn't the new file itself."""
        ours = self.ours.get(package, {})
        return {path: text for path, text in self.there[package].items() if text not in (ours.get(path), new.get(path))}

    def _require_kept(self, package: str, new: dict[str, str], kept: dict[str, str]) -> None:
        """The new files are there, and beside them what was kept: at its place, unless that is taken or the file was opkit's."""
        there = dict(self.there[package])
        for path, text in new.items():
            assert there.pop(path) == text
        assert sorted(there.values()) == sorted(kept.values())
        for path, text in kept.items():
            if path not in self.ours.get(package, {}) and path not in new and _fits(path, new):
                assert there[path] == text
        loadable = {path for path in there if path.endswith(".so")}
        assert loadable <= {path for path in kept if path not in self.ours.get(package, {})}
        assert MANIFEST not in there


TestPrefix = Prefix.TestCase
TestPrefix.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
