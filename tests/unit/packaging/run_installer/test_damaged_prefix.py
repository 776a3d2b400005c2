"""A prefix that lost some of what opkit wrote there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from install_support import install
from run_installer_support import NEW, Case, Steps, cann_root, installer_of, is_as_built, run, tree_with_modes

from opkit.deliverable import MANIFEST
from opkit.packaging import installed


def _without_link(case: Case, prefix: Path) -> str:
    """Two versions of one name with a file of somebody's in each, and somebody's own things beside them."""
    install(case.roots["1.0"], prefix)
    name = (prefix / "add").readlink().name
    versions = prefix / ".opkit" / "add"
    (versions / name / "one.txt").write_text("one")
    shutil.copytree(versions / name, versions / f"{name}.2")
    (versions / f"{name}.2" / "two.txt").write_text("two")
    (versions / "notes.txt").write_text("beside the versions")
    (versions / "own-folder").mkdir()
    (versions / "own-folder" / "own.txt").write_text("in a folder beside them")
    (prefix / "add").unlink()
    return name


def test_of_several_versions_without_a_link_all_keep_what_is_somebodys(case: Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    name = _without_link(case, prefix)
    versions = prefix / ".opkit" / "add"
    done = case.script("1.0", "--install-path", prefix)
    assert done.returncode == 0, done.stderr
    assert (prefix / "add").readlink() == Path(".opkit", "add", f"{name}.3")
    texts = {path.name: path.read_text() for path in (prefix / "add").glob("*.txt")}
    assert texts == {"one.txt": "one", "two.txt": "two"}
    assert sorted(path.name for path in versions.iterdir()) == [f"{name}.3", "notes.txt", "own-folder"]
    (prefix / "add" / "one.txt").unlink()
    (prefix / "add" / "two.txt").unlink()
    assert case.script("1.0", "--install-path", prefix, "--uninstall").returncode == 0
    assert installed(prefix) == []
    assert sorted(path.name for path in versions.iterdir()) == ["notes.txt", "own-folder"]
    assert (versions / "own-folder" / "own.txt").read_text() == "in a folder beside them"


def test_a_failed_install_removes_no_folder_that_it_did_not_make(case: Case, tmp_path: Path) -> None:
    steps = Steps(tmp_path / "steps", ("ln", "mv"))
    prefix = tmp_path / "p"
    _without_link(case, prefix)
    before = tree_with_modes(prefix)
    failures = 0
    for at in range(1, 100):
        done = case.script("1.0", "--install-path", prefix, env=steps.environ(at, "echo no such luck >&2; exit 1"))
        if done.returncode:
            failures += 1
            assert tree_with_modes(prefix) == before
        else:
            break
    assert failures > 3


def test_without_receipt_and_manifest_it_is_not_removed_by_guess(case: Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    install(case.roots["1.0"], prefix)
    for damage in ("{", None):
        (prefix / ".opkit" / "add.json").unlink(missing_ok=True)
        (prefix / "add" / MANIFEST).unlink()
        if damage is not None:
            (prefix / "add" / MANIFEST).write_text(damage)
        before = tree_with_modes(prefix)
        for _ in range(2):
            done = case.script("1.0", "--install-path", prefix, "--uninstall")
            assert (done.returncode, done.stdout) == (4, "")
            assert "because: which of its files are opkit's isn't known" in done.stderr
            assert "help: install it again, then remove it" in done.stderr
            assert tree_with_modes(prefix) == before
        assert case.script("1.0", "--install-path", prefix).returncode == 0
        assert is_as_built(prefix, "1.0")
    # What the damaged one had, it can't tell from somebody's.
    assert case.script("1.0", "--install-path", prefix, "--uninstall").returncode == 0
    assert installed(prefix) == []


@pytest.mark.parametrize("lost", [".opkit", ".opkit/add", ".opkit/add.json"])
def test_a_link_to_nothing_goes_and_is_installed_over(case: Case, tmp_path: Path, lost: str) -> None:
    prefix = tmp_path / "p"
    prefix.mkdir()
    for uninstalls in (False, True):
        install(case.roots["1.0"], prefix)
        for name in {lost, ".opkit/add"}:
            place = prefix / name
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)
        assert not (prefix / "add").exists()
        done = case.script("1.0", "--install-path", prefix, *(["--uninstall"] if uninstalls else []))
        assert done.returncode == 0, done.stderr
        if uninstalls:
            assert done.stdout == f"removed add from {prefix}\n"
            assert list(prefix.iterdir()) == []
        else:
            assert is_as_built(prefix, "1.0")


@pytest.mark.parametrize("package", ["lock", "made"])
def test_no_name_of_a_package_is_that_of_a_file_of_the_prefix(tmp_path: Path, package: str) -> None:
    root = cann_root(tmp_path / "root", NEW, package=package)
    installer, prefix = installer_of(root, tmp_path), tmp_path / "new" / "p"
    for install_it in (lambda: run(installer, "--install-path", prefix).check_returncode(), lambda: install(root, prefix)):
        install_it()
        assert [each.problems() for each in installed(prefix)] == [[]]
    run(installer, "--install-path", prefix, "--uninstall").check_returncode()
    assert not (tmp_path / "new").exists()


def test_a_package_whose_receipt_is_lost_is_known_by_its_manifest(case: Case, tmp_path: Path) -> None:
    for damage in ("", "{", '{"layout": 2, "installs": []}'):
        case.script("1.0", "--install-path", tmp_path / "p")
        (tmp_path / "p" / ".opkit" / "add.json").write_text(damage)
        done = case.script("2.0", "--install-path", tmp_path / "p")
        assert done.returncode == 0, done.stderr
        assert "kept" not in done.stdout
        assert is_as_built(tmp_path / "p", "2.0")
        (tmp_path / "p" / ".opkit" / "add.json").unlink()
        assert case.script("1.0", "--install-path", tmp_path / "p", "--uninstall").returncode == 0
        assert not (tmp_path / "p").exists()
