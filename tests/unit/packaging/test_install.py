"""`install`: a prefix holds the whole deliverable or what it held before."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from opkit.deliverable import MANIFEST, BuiltAgainst, Manifest, ManifestFile, OppRoot
from opkit.errors import DeliverableError, UnwritableError, UsageError
from opkit.files import digest_of
from opkit.packaging import install

_LIBRARY = "op_graph/lib/linux/x86_64/libcust_opapi.so"
_KERNEL = "op_graph/lib/linux/x86_64/add.asc"
_HEADER = "op_graph/include/add.h"


def _opp_root(path: Path, files: dict[str, str], *, package: str = "add") -> OppRoot:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    manifest = Manifest(
        opkit="0.1.0",
        package=package,
        ops=("Add",),
        files=tuple(ManifestFile(path=PurePosixPath(name), sha256=digest_of(path / name), size=len(text)) for name, text in files.items()),
        built_against=BuiltAgainst(kind="simulator", version="9", abi=0, arch="x86_64"),
    )
    manifest.write(path)
    return OppRoot(path=path, manifest=manifest)


@pytest.fixture
def source(tmp_path: Path) -> OppRoot:
    return _opp_root(tmp_path / "output", {_LIBRARY: "library", _KERNEL: "kernel", _HEADER: "header"})


def _tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST}


def test_the_prefix_becomes_an_opp_root(source: OppRoot, tmp_path: Path) -> None:
    installed = install(source, tmp_path / "in stall" / "算子")
    assert installed.path == tmp_path / "in stall" / "算子"
    assert _tree(installed.path) == _tree(source.path)
    assert OppRoot.read(installed.path) == installed
    assert installed.manifest.violations(installed.path) == []


@pytest.mark.case("D10")
def test_everyone_can_read_it_whatever_the_umask(source: OppRoot, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        install(source, tmp_path / "new" / "prefix")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "new").rglob("*")}
    assert {name for name, mode in modes.items() if mode == 0o755} == {
        "prefix",
        "op_graph",
        "lib",
        "linux",
        "x86_64",
        "include",
        "libcust_opapi.so",
    }
    assert {name for name, mode in modes.items() if mode == 0o644} == {"add.asc", "add.h", MANIFEST}


def test_installing_again_replaces_and_removes_what_the_new_build_lacks(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    (prefix / "notes.txt").write_text("mine")
    newer = _opp_root(tmp_path / "newer", {_LIBRARY: "newer", _HEADER: "header"})
    install(newer, prefix)
    assert _tree(prefix) == {_LIBRARY: "newer", _HEADER: "header", "notes.txt": "mine"}


def test_a_running_program_keeps_the_library_it_has_open(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    with (prefix / _LIBRARY).open() as loaded:
        install(_opp_root(tmp_path / "newer", {_LIBRARY: "newer"}), prefix)
        assert loaded.read() == "library"


def test_the_prefix_of_another_package_is_refused(source: OppRoot, tmp_path: Path) -> None:
    other = install(_opp_root(tmp_path / "other", {_LIBRARY: "other"}, package="other"), tmp_path / "prefix")
    before = _tree(other.path)
    with pytest.raises(UsageError, match="holds the package other"):
        install(source, other.path)
    assert _tree(other.path) == before


def test_files_of_nobody_in_the_way_are_refused_and_kept(source: OppRoot, tmp_path: Path) -> None:
    in_the_way = tmp_path / "prefix" / _LIBRARY
    in_the_way.parent.mkdir(parents=True)
    in_the_way.write_text("someone's")
    with pytest.raises(UsageError) as caught:
        install(source, tmp_path / "prefix")
    assert caught.value.because == _LIBRARY
    assert _tree(tmp_path / "prefix") == {_LIBRARY: "someone's"}


def test_a_new_build_overwrites_no_file_of_nobody_either(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(_opp_root(tmp_path / "older", {_LIBRARY: "library"}), prefix)
    (prefix / _KERNEL).write_text("someone's")
    before = _tree(prefix)
    with pytest.raises(UsageError, match="didn't put there") as caught:
        install(source, prefix)
    assert caught.value.because == _KERNEL
    assert _tree(prefix) == before


def test_a_prefix_that_holds_other_things_is_taken(source: OppRoot, tmp_path: Path) -> None:
    (tmp_path / "prefix" / "include").mkdir(parents=True)
    (tmp_path / "prefix" / "include" / "mine.h").write_text("mine")
    install(source, tmp_path / "prefix")
    assert _tree(tmp_path / "prefix") == {**_tree(source.path), "include/mine.h": "mine"}


def test_what_a_killed_installation_left_is_taken_over(source: OppRoot, tmp_path: Path) -> None:
    # The manifest is the last to come: without it the files are nobody's.
    installed = install(source, tmp_path / "prefix")
    (installed.path / MANIFEST).unlink()
    (installed.path / _KERNEL).unlink()
    assert install(source, installed.path).manifest.violations(installed.path) == []


def test_a_path_list_is_no_prefix(source: OppRoot, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="isn't one folder"):
        install(source, Path(f"{tmp_path}/a:{tmp_path}/b"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["output"]


def test_the_output_folder_is_no_prefix_for_itself(source: OppRoot, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(source.path)
    with pytest.raises(UsageError, match="is the output folder itself"):
        install(source, tmp_path / "link")


def test_a_deliverable_that_was_changed_after_the_build_is_not_installed(source: OppRoot, tmp_path: Path) -> None:
    (source.path / _LIBRARY).write_text("patched")
    with pytest.raises(DeliverableError) as caught:
        install(source, tmp_path / "prefix")
    assert _LIBRARY in (caught.value.because or "")
    assert not (tmp_path / "prefix").exists()


def test_a_file_where_the_prefix_should_be_is_one_clear_error(source: OppRoot, tmp_path: Path) -> None:
    (tmp_path / "prefix").write_text("")
    with pytest.raises(UnwritableError) as caught:
        install(source, tmp_path / "prefix" / "opp")
    assert "--prefix" in (caught.value.help or "")
    assert (tmp_path / "prefix").read_text() == ""


def test_a_copy_that_fails_half_way_leaves_no_prefix(source: OppRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[Path] = []

    def fail_at_the_second(source_file: Path, target: Path, *, mode: int) -> None:
        if copied:
            raise OSError(28, "No space left on device", str(target))
        copied.append(target)
        target.write_bytes(source_file.read_bytes())
        target.chmod(mode)

    monkeypatch.setattr("opkit.packaging.prefix.copy_whole", fail_at_the_second)
    with pytest.raises(UnwritableError) as caught:
        install(source, tmp_path / "deep" / "prefix")
    assert "No space left on device" in (caught.value.because or "")
    assert not (tmp_path / "deep").exists()


def test_an_interrupt_half_way_keeps_the_earlier_installation(source: OppRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    before = _tree(prefix)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("opkit.packaging.prefix.copy_whole", interrupt)
    with pytest.raises(KeyboardInterrupt):
        install(_opp_root(tmp_path / "newer", {_LIBRARY: "newer"}), prefix)
    assert _tree(prefix) == before


@pytest.mark.parametrize("in_the_way", [_HEADER, MANIFEST])
def test_an_upgrade_that_can_not_place_one_file_changes_none(source: OppRoot, tmp_path: Path, in_the_way: str) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    newer = _opp_root(tmp_path / "newer", {_LIBRARY: "newer", _HEADER: "newer"})
    if in_the_way == MANIFEST:
        # Found at the last rename, when all the others are done.
        (tmp_path / "elsewhere").write_bytes((prefix / MANIFEST).read_bytes())
        (prefix / MANIFEST).unlink()
        (prefix / MANIFEST).symlink_to(tmp_path / "elsewhere")
        before = _tree(prefix)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, "replace", _interrupted_at(MANIFEST))
            with pytest.raises(KeyboardInterrupt):
                install(newer, prefix)
    else:
        (prefix / _HEADER).unlink()
        (prefix / _HEADER).mkdir()
        before = _tree(prefix)
        with pytest.raises(UnwritableError):
            install(newer, prefix)
    assert _tree(prefix) == before
    assert sorted(path.name for path in prefix.iterdir()) == ["op_graph", MANIFEST]


def _interrupted_at(name: str) -> Callable[[Path, Path], Path]:
    rename = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if target.name == name and self.parent.name.startswith(".opkit-install"):
            raise KeyboardInterrupt
        return rename(self, target)

    return replace
