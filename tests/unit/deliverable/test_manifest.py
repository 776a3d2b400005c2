"""The manifest: what is written is read again, and nothing that came from elsewhere is believed."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from opkit.deliverable import MANIFEST, BuiltAgainst, Manifest, ManifestFile, OppRoot
from opkit.errors import DeliverableError
from opkit.files import digest_of

_HEADER = PurePosixPath("op_graph/include/add.h")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / _HEADER).parent.mkdir(parents=True)
    (tmp_path / _HEADER).write_text("REG_OP")
    return tmp_path


@pytest.fixture
def manifest(root: Path) -> Manifest:
    return Manifest(
        opkit="0.1.0",
        package="add",
        ops=("AddRefreshOp", "AddNoRefreshOp"),
        files=(ManifestFile(path=_HEADER, sha256=digest_of(root / _HEADER), size=6),),
        built_against=BuiltAgainst(kind="simulator", version="9.2.0-sim", abi=0, arch="x86_64"),
    )


def test_what_is_written_is_read_again(root: Path, manifest: Manifest) -> None:
    manifest.write(root)
    assert Manifest.read(root) == manifest
    assert OppRoot.read(root) == OppRoot(path=root, manifest=manifest)
    assert manifest.built_against.is_simulator


def test_a_folder_without_one_is_no_opp_root_of_opkit(tmp_path: Path) -> None:
    assert OppRoot.read(tmp_path) is None
    assert OppRoot.read(tmp_path / "gone") is None


def test_an_untouched_folder_has_no_violations(root: Path, manifest: Manifest) -> None:
    assert manifest.violations(root) == []


@pytest.mark.parametrize("content", ["REG_OPS", "REG_OQ"], ids=["longer", "of the same length"])
def test_a_changed_file_is_a_violation(root: Path, manifest: Manifest, content: str) -> None:
    (root / _HEADER).write_text(content)
    assert manifest.violations(root) == [f"{_HEADER} isn't the file that was built"]


def test_a_missing_file_is_a_violation(root: Path, manifest: Manifest) -> None:
    (root / _HEADER).unlink()
    assert manifest.violations(root) == [f"{_HEADER} is missing"]


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "a/../../b", "", "a\0b"])
def test_a_path_that_leaves_the_folder_is_refused(root: Path, manifest: Manifest, path: str) -> None:
    manifest.write(root)
    _change(root, ("files", 0, "path"), path)
    with pytest.raises(DeliverableError, match="no manifest that this opkit can read"):
        Manifest.read(root)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("layout",), 2),
        (("package",), None),
        (("ops",), "AddRefreshOp"),
        (("ops",), [1]),
        (("files",), {}),
        (("files", 0, "sha256"), 3),
        (("built_against",), []),
        (("built_against", "abi"), "0"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(root: Path, manifest: Manifest, place: tuple[str | int, ...], value: object) -> None:
    manifest.write(root)
    _change(root, place, value)
    with pytest.raises(DeliverableError) as caught:
        OppRoot.read(root)
    assert caught.value.because
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"layout": 1}', "\x00", "[" * 100_000])
def test_text_that_is_no_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(DeliverableError):
        Manifest.read(tmp_path)


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).mkdir()
    with pytest.raises(DeliverableError) as caught:
        Manifest.read(tmp_path)
    assert caught.value.because == "Is a directory"


def _change(root: Path, place: tuple[str | int, ...], value: object) -> None:
    document: Any = json.loads((root / MANIFEST).read_text())
    target = document
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    (root / MANIFEST).write_text(json.dumps(document))
