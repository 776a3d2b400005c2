"""The version of a package: any text is refused before anything is built, or comes out of each place that it goes to as it was."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from install_support import HEADER, LIBRARY, install, opp_root

from opkit.build import Project
from opkit.build.version import require_version
from opkit.deliverable import Manifest, is_version
from opkit.errors import DeliverableError, VersionError
from opkit.packaging import installed, open_archive, pack, uninstall

_ALIKE = st.text(st.sampled_from("019azAZ.!+_-"), max_size=130)


@settings(deadline=None, max_examples=120)
@given(version=_ALIKE | st.text(max_size=20))
@example(version="left")
@example(version="1.0-0123456789ab")
@example(version="1.0\n")
@example(version="a" * 128)
@example(version="a" * 129)
@example(version="\u0661.\u0660")
@example(version="\x7f")
def test_any_text_is_refused_or_comes_through_all_places_unchanged(version: str) -> None:
    with tempfile.TemporaryDirectory(prefix="opkit-test-") as name:
        folder = Path(name)
        (folder / "ops.py").write_text("")
        # A text of JSON is one of TOML.
        (folder / "pyproject.toml").write_text(f"[project]\nversion = {json.dumps(version, ensure_ascii=False)}\n", encoding="utf-8")
        project = Project.find(folder)
        root = opp_root(folder / "output", {LIBRARY: "library", HEADER: "header"}, version=version, kind="cann")
        if not is_version(version):
            with pytest.raises(VersionError):
                require_version(project)
            with pytest.raises(DeliverableError):
                Manifest.read(root.path)
            return
        require_version(project)
        assert Manifest.read(root.path) == root.manifest
        packed = pack(root, folder / "dist")
        assert packed.path.name.removeprefix("add-").rpartition("-linux_")[0] == version
        with open_archive(packed.path) as opened:
            assert opened.manifest.version == version
            state = install(opened, folder / "prefix")
        assert (state.version, state.receipt and state.receipt.version, state.problems()) == (version, version, [])
        assert state.folder.name.rpartition("-")[0] == version
        assert [each.version for each in installed(folder / "prefix")] == [version]
        # Installed again, over itself, and out: nothing takes its folder for another's.
        assert install(root, folder / "prefix").problems() == []
        uninstall(["add"], folder / "prefix")
        assert not (folder / "prefix").exists()
