"""The manifest: what is written is read again, and nothing that came from elsewhere is believed."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from manifest_support import signed

from opkit.deliverable import MANIFEST, Manifest, OppRoot
from opkit.errors import DeliverableError

_HEADER = PurePosixPath("op_graph/include/add.h")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / _HEADER).parent.mkdir(parents=True)
    (tmp_path / _HEADER).write_text("REG_OP")
    return tmp_path


@pytest.fixture
def manifest(root: Path) -> Manifest:
    return signed(root, [str(_HEADER)], ops=("AddRefreshOp", "AddNoRefreshOp")).manifest


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
        (("layout",), 1),
        (("layout",), 3),
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


def test_a_manifest_that_is_none_is_mended_where_it_was_made(tmp_path: Path) -> None:
    """An OPP root is no project: what is wrong with it can't be built there."""
    (tmp_path / MANIFEST).write_text("{")
    with pytest.raises(DeliverableError) as caught:
        Manifest.read(tmp_path)
    assert caught.value.help == "build it again in its project: opkit build --force; or install it again"
