"""`install`: a prefix holds the whole deliverable or what it held before."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from archive_support import MACHINES, elf
from hypothesis import given, settings
from hypothesis import strategies as st
from install_support import HEADER, KERNEL, LIBRARY, install, opp_root, tree
from manifest_support import signed
from waiting_support import never_waiting

from opkit.deliverable import MANIFEST, OppRoot, Requires, Target, library_folder
from opkit.errors import BusyError, DeliverableError, IncompatibleError, NoSpaceError, UnwritableError, UsageError
from opkit.packaging import Change, Source, default_prefix, install_all, installed, uninstall, verify_installed
from opkit.toolkit import host_arch


@pytest.fixture
def source(tmp_path: Path) -> OppRoot:
    return opp_root(tmp_path / "output", {LIBRARY: "library", KERNEL: "kernel", HEADER: "header"})


def _change(root: OppRoot, prefix: Path) -> Change:
    (change,) = install_all([Source.of(root)], prefix)
    return change


def _while_held(prefix: Path, change: Callable[[], object]) -> None:
    """`change` while somebody has the lock: as soon as there is a folder for it."""
    real = os.open

    def held_first(path: str | Path, flags: int, *others: int) -> int:
        if Path(path) == prefix / ".opkit/.lock":
            holder = real(path, flags, *others)
            fcntl.flock(holder, fcntl.LOCK_EX)
            holders.append(holder)
            os.open = real
        return real(path, flags, *others)

    holders: list[int] = []
    os.open = held_first  # type: ignore[assignment]
    try:
        change()
    finally:
        os.open = real
        for holder in holders:
            os.close(holder)


@pytest.mark.case("F11")
def test_a_package_is_an_opp_root_of_its_name_with_the_tree_that_ge_looks_in(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "in stall" / "算子"
    done = install(source, prefix)
    assert done.path == prefix / "add"
    assert tree(done.path) == tree(source.path)
    assert OppRoot.read(done.path) == done.opp_root
    assert done.problems() == []
    # As GE walks it, and nothing of opkit's beside it.
    assert [path.name for path in (prefix / "add" / LIBRARY).parent.glob("*.so")] == ["libcust_opapi.so"]
    assert sorted(path.name for path in (prefix / "add").iterdir()) == ["op_graph", MANIFEST]
    assert str((prefix / "add").readlink()) == f".opkit/add/{done.folder.name}"


@pytest.mark.case("F11")
def test_a_package_and_one_whose_name_begins_with_its_name_do_not_mix(tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    for name in ("acme", "acme_v2"):
        install(opp_root(tmp_path / name, {LIBRARY: name, f"op_graph/include/{name}.h": name}, package=name), prefix)
    assert tree(prefix / "acme") == {LIBRARY: "acme", "op_graph/include/acme.h": "acme"}
    uninstall(["acme"], prefix)
    assert [each.package for each in installed(prefix)] == ["acme_v2"]
    assert tree(prefix / "acme_v2") == {LIBRARY: "acme_v2", "op_graph/include/acme_v2.h": "acme_v2"}


@pytest.mark.case("D10")
def test_everyone_can_read_it_whatever_the_umask(source: OppRoot, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        install(source, tmp_path / "new" / "prefix")
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o777 for path in (tmp_path / "new" / "prefix" / "add").resolve().rglob("*")}
    assert {mode for path, mode in modes.items() if path.is_dir() or path.suffix == ".so"} == {0o755}
    assert {mode for path, mode in modes.items() if path.is_file() and path.suffix != ".so"} == {0o644}
    above = [path for path in (tmp_path / "new").rglob("*") if path.is_dir() and not path.is_symlink()]
    assert {path.stat().st_mode & 0o777 for path in above} == {0o755}
    assert [path for path in (tmp_path / "new").rglob("*") if not path.stat().st_mode & 0o004] == []
    # Who lets others write it means it.
    (tmp_path / "new/prefix/.opkit/.lock").chmod(0o666)
    install(source, tmp_path / "new" / "prefix")
    assert (tmp_path / "new/prefix/.opkit/.lock").stat().st_mode & 0o777 == 0o666


def test_the_receipt_says_what_came_from_where_and_when(source: OppRoot, tmp_path: Path) -> None:
    install(source, tmp_path / "prefix")
    (document,) = json.loads((tmp_path / "prefix/.opkit/add.json").read_text())["installs"]
    assert {name: document[name] for name in ("package", "version", "source", "opkit")} == {
        "package": "add",
        "version": "0.1.0",
        "source": str(source.path),
        "opkit": "0.1.0",
    }
    assert document["sha256"] == document["manifest"]
    assert document["installed"].endswith("Z")
    assert document["files"][LIBRARY]["mode"] == "0755"
    assert document["files"][HEADER]["mode"] == "0644"


def test_an_upgrade_removes_what_the_new_version_lacks_and_keeps_what_is_not_opkits(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    (prefix / "add/notes.txt").write_text("mine")
    (prefix / "add/op_graph/lib/mine").mkdir()
    (prefix / "add/op_graph/lib/mine/link").symlink_to("../nowhere")
    change = _change(opp_root(tmp_path / "newer", {LIBRARY: "newer", HEADER: "header"}, version="0.2.0"), prefix)
    assert change.verb == "Upgraded"
    assert tree(prefix / "add") == {LIBRARY: "newer", HEADER: "header", "notes.txt": "mine"}
    assert str((prefix / "add/op_graph/lib/mine/link").readlink()) == "../nowhere"
    assert [str(kept.path) for kept in change.kept] == ["notes.txt", "op_graph/lib/mine/link"]
    assert len(list((prefix / ".opkit/add").iterdir())) == 1


def test_an_edited_file_is_kept_under_a_name_that_ge_does_not_load(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    (prefix / "add" / LIBRARY).write_text("patched")
    (prefix / "add" / KERNEL).write_text("tuned")
    assert installed(prefix)[0].problems() == [f"{LIBRARY} was edited", f"{KERNEL} was edited"]
    # The new version has no kernel: the edited one may not go back to its place, where it would belong to another library.
    change = _change(opp_root(tmp_path / "newer", {LIBRARY: "newer"}), prefix)
    assert tree(prefix / "add") == {LIBRARY: "newer", f"{LIBRARY}.edited": "patched", f"{KERNEL}.edited": "tuned"}
    assert [(str(kept.path), str(kept.place)) for kept in change.kept] == [(KERNEL, f"{KERNEL}.edited"), (LIBRARY, f"{LIBRARY}.edited")]
    # A second edit doesn't overwrite the first.
    (prefix / "add" / LIBRARY).write_text("again")
    install(source, prefix)
    assert (prefix / "add" / f"{LIBRARY}.edited").read_text() == "patched"
    assert (prefix / "add" / f"{LIBRARY}.edited.2").read_text() == "again"
    assert installed(prefix)[0].problems() == []


def test_a_foreign_file_makes_room_for_one_of_the_package(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(opp_root(tmp_path / "older", {LIBRARY: "older"}), prefix)
    (prefix / "add" / HEADER).parent.mkdir()
    (prefix / "add" / HEADER).write_text("mine")
    (prefix / "add" / KERNEL).mkdir()
    (prefix / "add" / KERNEL / "a").write_text("a")
    (prefix / "add" / KERNEL / "b").write_text("b")
    (prefix / "add/extra").write_text("a file where the package needs a folder")
    newer = opp_root(tmp_path / "newer", {LIBRARY: "newer", KERNEL: "kernel", HEADER: "header", "extra/more": "more"})
    install(newer, prefix)
    assert tree(prefix / "add") == {
        **tree(newer.path),
        f"{HEADER}.edited": "mine",
        f"{KERNEL}.edited/a": "a",
        f"{KERNEL}.edited/b": "b",
        "extra.edited": "a file where the package needs a folder",
    }


def test_a_foreign_file_that_is_the_new_one_already_is_nobodys_loss(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(opp_root(tmp_path / "older", {LIBRARY: "library"}), prefix)
    (prefix / "add" / KERNEL).write_text("kernel")
    assert _change(source, prefix).kept == ()
    assert tree(prefix / "add") == tree(source.path)


@pytest.mark.parametrize(
    ("first", "second", "verb"),
    [
        ("1.9", "1.10", "Upgraded"),
        ("1.10", "1.9", "Downgraded"),
        ("1.0", "1.0", "Reinstalled"),
        ("1.0rc1", "1.0", "Upgraded"),
        ("yesterday", "today", "Replaced"),
    ],
)
def test_what_an_install_did_is_told_by_the_versions(tmp_path: Path, first: str, second: str, verb: str) -> None:
    prefix = tmp_path / "prefix"
    assert _change(opp_root(tmp_path / "a", {LIBRARY: "a"}, version=first), prefix).verb == "Installed"
    change = _change(opp_root(tmp_path / "b", {LIBRARY: "b"}, version=second), prefix)
    assert (change.verb, change.previous.version if change.previous else None) == (verb, first)


def test_a_broken_package_is_mended_by_installing_it_again(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    (prefix / "add" / KERNEL).unlink()
    assert installed(prefix)[0].problems() == [f"{KERNEL} is missing"]
    for _ in range(3):
        assert _change(source, prefix).verb == "Reinstalled"
        assert installed(prefix)[0].problems() == []
    assert len(list((prefix / ".opkit/add").iterdir())) == 1


def test_a_package_whose_folder_was_removed_is_broken_and_can_be_installed_and_uninstalled(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    for mend in (lambda: install(source, prefix), lambda: uninstall(["add"], prefix)):
        folder = install(source, prefix).folder
        shutil.rmtree(folder)
        assert installed(prefix)[0].problems() == [f"{folder} is missing"]
        mend()
        assert all(each.problems() == [] for each in installed(prefix))
    assert not prefix.exists()


def test_a_package_whose_link_was_removed_leaves_what_was_put_into_it(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    folder = install(source, prefix).folder
    (prefix / "add").unlink()
    # As two uninstalls that couldn't end leave it: both are whole, and each has something of somebody's.
    shutil.copytree(folder, folder.with_name(f"{folder.name}.2"))
    for place, notes, only in ((folder, "first", "a"), (folder.with_name(f"{folder.name}.2"), "second", "b")):
        (place / "notes.txt").write_text(notes)
        (place / "same.txt").write_text("in both")
        (place / only).write_text("mine")
    assert installed(prefix) == []
    install(opp_root(tmp_path / "other", {LIBRARY: "other"}, package="other"), prefix)
    assert _change(source, prefix).verb == "Installed"
    kept = {"notes.txt": "first", "notes.txt.edited": "second", "same.txt": "in both", "a": "mine", "b": "mine"}
    assert tree(prefix / "add") == {**tree(source.path), **kept}
    assert len(list((prefix / ".opkit/add").iterdir())) == 1
    uninstall(["add"], prefix)
    assert tree(prefix / "add") == kept


def test_a_package_whose_link_was_removed_goes_with_an_uninstall_but_for_what_is_somebodys(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    folder = install(source, prefix).folder
    (folder / "notes.txt").write_text("mine")
    (prefix / "add").unlink()
    (removal,) = uninstall(["add"], prefix)
    assert removal.removed is not None
    assert removal.removed.version == "0.1.0"
    assert tree(prefix / "add") == {"notes.txt": "mine"}
    assert len(list((prefix / ".opkit/add").iterdir())) == 1
    # What is nobody's but somebody's stays where it is, linked or not.
    (prefix / "add").unlink()
    assert uninstall(["add"], prefix)[0].removed is None
    assert [path.read_text() for path in prefix.rglob("notes.txt")] == ["mine"]


def test_something_of_somebodys_in_the_place_of_a_removed_link_stays(source: OppRoot, tmp_path: Path) -> None:
    install(source, tmp_path / "prefix")
    (tmp_path / "prefix/add").unlink()
    (tmp_path / "prefix/add").write_text("mine")
    assert uninstall(["add"], tmp_path / "prefix")[0].removed is None
    assert (tmp_path / "prefix/add").read_text() == "mine"


def test_a_package_whose_version_in_use_was_removed_leaves_what_is_in_another(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    folder = install(source, prefix).folder
    other = folder.with_name(f"0.0.9-{'0' * 12}")
    folder.rename(other)
    (other / "notes.txt").write_text("mine")
    assert installed(prefix)[0].problems() == [f"{folder} is missing"]
    install(source, prefix)
    assert tree(prefix / "add") == {**tree(source.path), "notes.txt": "mine"}


def test_a_failed_install_removes_no_folder_that_it_did_not_make(source: OppRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = tmp_path / "prefix"
    folder = install(source, prefix).folder
    (prefix / "add").unlink()
    taken = [folder, folder.with_name(f"{folder.name}.2")]
    for place in taken:
        place.mkdir(exist_ok=True)
        (place / "notes.txt").write_text("mine")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "symlink_to", refuse)
        with pytest.raises(UnwritableError):
            install(source, prefix)
    assert [(place / "notes.txt").read_text() for place in taken] == ["mine", "mine"]
    assert install(source, prefix).problems() == []
    assert (prefix / "add/notes.txt").read_text() == "mine"


def test_an_upgrade_keeps_private_folders_private_and_empty_ones_where_they_are(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    (prefix / "add/private/deep").mkdir(parents=True)
    (prefix / "add/private/deep/key").write_text("secret")
    (prefix / "add/private/deep").chmod(0o500)
    (prefix / "add/private").chmod(0o700)
    (prefix / "add/empty/more").mkdir(parents=True)
    (prefix / "add/empty/more").chmod(0o1777)
    for _ in range(2):
        install(opp_root(tmp_path / "newer", {LIBRARY: "newer"}, version="0.2.0"), prefix)
        modes = {name: (prefix / "add" / name).stat().st_mode & 0o7777 for name in ("private", "private/deep", "empty", "empty/more")}
        assert modes == {"private": 0o700, "private/deep": 0o500, "empty": 0o755, "empty/more": 0o1777}
        # Those that opkit made for its own files go with them.
        assert sorted(path.name for path in (prefix / "add/op_graph").iterdir()) == ["lib"]
    (prefix / "add/private/deep").chmod(0o700)
    (prefix / "add/private/deep/key").unlink()
    uninstall(["add"], prefix)
    assert not prefix.exists(), "an empty folder is nothing to keep"


@pytest.mark.parametrize("damage", ["a manifest that can't be read", "no manifest"])
def test_an_uninstall_that_does_not_know_what_is_opkits_is_refused_until_it_does(source: OppRoot, tmp_path: Path, damage: str) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    (prefix / ".opkit/add.json").unlink()
    if damage == "no manifest":
        (prefix / "add" / MANIFEST).unlink()
    else:
        (prefix / "add" / MANIFEST).write_text("{")
    before = tree(prefix)
    for _ in range(2):
        with pytest.raises(DeliverableError, match="which of its files are opkit's isn't known") as caught:
            uninstall(["add"], prefix)
        assert "opkit install add again" in (caught.value.help or "")
        assert tree(prefix) == before
    assert installed(prefix)[0].version is None
    install(source, prefix)
    assert uninstall(["add"], prefix)[0].removed is not None
    assert f"{LIBRARY}" not in tree(prefix / "add")


def test_an_uninstall_can_be_repeated_whatever_lies_where_the_rest_goes(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    folder = install(source, prefix).folder
    (prefix / "add/notes.txt").write_text("mine")
    # As an uninstall leaves it that was killed before it renamed the link.
    shutil.copytree(folder, folder.with_name("left"))
    uninstall(["add"], prefix)
    assert tree(prefix / "add") == {"notes.txt": "mine"}


def test_a_package_without_state_is_taken_out_by_its_link(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "made" / "prefix"
    install(source, prefix)
    shutil.rmtree(prefix / ".opkit")
    assert uninstall(["add"], prefix)[0].removed is not None
    assert list(prefix.iterdir()) == []


def test_a_moved_prefix_takes_no_folder_of_its_new_place_with_it(source: OppRoot, tmp_path: Path) -> None:
    install(source, tmp_path / "made" / "by" / "opkit")
    (tmp_path / "mine" / "too").mkdir(parents=True)
    (tmp_path / "made/by/opkit").rename(tmp_path / "mine/too/opkit")
    uninstall(["add"], tmp_path / "mine/too/opkit")
    assert list((tmp_path / "mine/too").iterdir()) == []


def test_a_prefix_goes_with_its_last_package_whoever_came_to_its_lock_first(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "made" / "prefix"
    # The first makes the folders, and before it gets the lock somebody else has it.
    with pytest.raises(BusyError):
        _while_held(prefix, lambda: install_all([Source.of(source)], prefix, wait=0))
    install(source, prefix)
    uninstall(["add"], prefix)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", ["lock", "made", "left", "link", "stage"])
def test_a_package_may_have_any_name(tmp_path: Path, name: str) -> None:
    prefix = tmp_path / "prefix"
    root = opp_root(tmp_path / "output", {LIBRARY: name}, package=name)
    for _ in range(2):
        assert install(root, prefix).problems() == []
    (prefix / name / "mine").write_text("mine")
    uninstall([name], prefix)
    assert tree(prefix / name) == {"mine": "mine"}


def test_a_file_may_have_the_longest_name_that_there_is(tmp_path: Path) -> None:
    files = {LIBRARY: "library", f"op_graph/include/{'h' * 253}.h": "long", f"op_graph/include/{'算' * 84}.h": "long"}
    assert tree(install(opp_root(tmp_path / "output", files), tmp_path / "prefix").path) == files


@pytest.mark.parametrize("path", ["\x1b[31mred", "/etc/passwd", "../outside", "a//b", "nul\x00"])
def test_a_receipt_with_a_path_that_no_package_has_is_no_receipt(source: OppRoot, tmp_path: Path, path: str) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    document = json.loads((prefix / ".opkit/add.json").read_text())
    document["installs"][0]["files"][path] = {"sha256": "0" * 64, "mode": "0644"}
    (prefix / ".opkit/add.json").write_text(json.dumps(document))
    (state,) = installed(prefix)
    assert (state.receipt, state.problems()) == (None, [f"its receipt {prefix}/.opkit/add.json isn't one that this opkit can read"])


def test_a_file_with_a_mode_that_it_was_not_installed_with_is_told_by_list_and_verify(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    (prefix / "add" / KERNEL).chmod(0o600)
    (prefix / "add" / MANIFEST).chmod(0o640)
    (prefix / "add" / HEADER).chmod(0o664)  # neither hinders anybody, nor
    (prefix / "add" / LIBRARY).chmod(0o444)  # that it isn't executable
    told = [f"{KERNEL} has mode 0600, and was installed with 0644", f"{MANIFEST} has mode 0640, and was installed with 0644"]
    (state,) = installed(prefix)
    assert state.problems() == told
    assert {*told} <= {*verify_installed(state, environ=None).violations}
    (prefix / "add" / LIBRARY).chmod(0o4755)
    assert f"{LIBRARY} has mode 4755, and was installed with 0755" in installed(prefix)[0].problems()
    install(source, prefix)
    assert installed(prefix)[0].problems() == []


def test_a_link_to_the_same_content_is_told_by_list_and_verify(source: OppRoot, tmp_path: Path) -> None:
    """What it leads to is somebody else's to change."""
    prefix = tmp_path / "prefix"
    install(source, prefix)
    shutil.copytree(source.path / "op_graph", tmp_path / "theirs")
    (prefix / "add" / HEADER).unlink()
    (prefix / "add" / HEADER).symlink_to(tmp_path / "theirs/include/add.h")
    os.mkfifo(prefix / "add" / "pipe")
    told = [f"{HEADER} is a link, and a package holds none", "pipe is neither a file nor a folder"]
    (state,) = installed(prefix)
    assert state.problems() == told
    assert {*told} <= {*verify_installed(state, environ=None).violations}
    shutil.rmtree(prefix / "add/op_graph")
    (prefix / "add/op_graph").symlink_to(tmp_path / "theirs")
    assert installed(prefix)[0].problems() == ["op_graph is a link, and a package holds none", told[1]]
    install(source, prefix)
    assert [*installed(prefix)[0].problems()] == [told[1]]


_RECEIPTS = ["", "{", "[]", '{"layout": 1}', '{"layout": 2, "installs": []}', '{"layout": 1, "installs": [{"package": 1}]}', "[" * 100_000]


@pytest.mark.parametrize("text", _RECEIPTS, ids=range(len(_RECEIPTS)))
def test_a_damaged_receipt_is_no_receipt_and_installing_again_mends_it(source: OppRoot, tmp_path: Path, text: str) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    (prefix / ".opkit/add.json").write_text(text)
    (state,) = installed(prefix)
    assert (state.receipt, state.version) == (None, "0.1.0")
    (problem,) = state.problems()
    receipt = f"its receipt {prefix}/.opkit/add.json"
    assert problem in (f"{receipt} isn't one that this opkit can read", f"{receipt} doesn't tell of {state.folder.name}")
    assert problem in verify_installed(state, environ=None).violations
    (prefix / "add" / HEADER).write_text("edited")
    install(source, prefix)
    (state,) = installed(prefix)
    assert state.receipt is not None
    assert state.problems() == []
    assert tree(prefix / "add") == {**tree(source.path), f"{HEADER}.edited": "edited"}


@pytest.mark.parametrize("there", ["a pipe", "a folder", "a huge file", "nothing"])
def test_what_is_no_file_in_the_place_of_a_receipt_keeps_nobody_waiting(source: OppRoot, tmp_path: Path, there: str) -> None:
    prefix = tmp_path / "prefix"
    receipt = prefix / ".opkit/add.json"
    install(source, prefix)
    receipt.unlink()
    if there == "a pipe":
        os.mkfifo(receipt)
    elif there == "a folder":
        receipt.mkdir()
    elif there == "a huge file":
        with receipt.open("wb") as file:
            file.truncate(1 << 42)
    told = {
        "a pipe": "can't be read: it is no file",
        "a folder": "can't be read: Is a directory",
        "a huge file": f"can't be read: it has {1 << 42} bytes, and at most {32 << 20} are read",
        "nothing": "is missing",
    }
    with never_waiting():
        (state,) = installed(prefix)
        assert state.problems() == [f"its receipt {receipt} {told[there]}"]
        if there == "a folder":
            with pytest.raises(UnwritableError, match="cannot write"):
                install(source, prefix)
            receipt.rmdir()
        install(source, prefix)
    assert installed(prefix)[0].problems() == []


@settings(deadline=None, max_examples=40)
@given(field=st.sampled_from(["package", "version", "folder", "source", "manifest", "files"]), value=st.none() | st.integers() | st.text())
def test_a_receipt_that_lies_is_told_and_costs_no_file_of_somebodys(
    field: str, value: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("lies")
    source, prefix = opp_root(folder / "output", {LIBRARY: "library", HEADER: "header"}), folder / "prefix"
    install(source, prefix)
    (prefix / "add/mine.txt").write_text("mine")
    document = json.loads((prefix / ".opkit/add.json").read_text())
    document["installs"][0][field] = {"../../../outside": {"sha256": value, "mode": "0644"}} if field == "files" else value
    (prefix / ".opkit/add.json").write_text(json.dumps(document))
    (folder / "outside").write_text("outside")
    for each in installed(prefix):
        each.problems()
    install(source, prefix)
    assert installed(prefix)[0].problems() == []
    assert (prefix / "add/mine.txt").read_text() == "mine"
    uninstall(["add"], prefix)
    assert tree(prefix / "add")["mine.txt"] == "mine"
    assert (folder / "outside").read_text() == "outside"


@pytest.mark.parametrize("text", ["", "{}", '{"layout": 9}'])
def test_a_damaged_manifest_is_told_and_mended_by_installing_again(source: OppRoot, tmp_path: Path, text: str) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    (prefix / "add" / MANIFEST).write_text(text)
    (state,) = installed(prefix)
    assert state.manifest is None
    assert state.version == "0.1.0"
    assert "no manifest" in state.problems()[0]
    assert [str(kept.place) for kept in _change(source, prefix).kept] == [f"{MANIFEST}.edited"]
    assert installed(prefix)[0].problems() == []


def test_a_lost_manifest_is_told_and_an_uninstall_still_knows_its_files(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    (prefix / "add" / MANIFEST).unlink()
    assert "is missing" in installed(prefix)[0].problems()[0]
    uninstall(["add"], prefix)
    assert not prefix.exists()


def test_a_manifest_of_another_package_is_told(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    opp_root(tmp_path / "other", {LIBRARY: "other"}, package="other")
    shutil.copy(tmp_path / "other" / MANIFEST, prefix / "add" / MANIFEST)
    assert installed(prefix)[0].problems()[0] == "its manifest is that of other"


def test_a_running_program_keeps_the_library_it_has_open(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    with (prefix / "add" / LIBRARY).open("rb") as loaded:
        install(opp_root(tmp_path / "newer", {LIBRARY: "newer"}), prefix)
        assert loaded.read() == (source.path / LIBRARY).read_bytes()


def test_several_are_all_checked_before_the_first_is_installed(source: OppRoot, tmp_path: Path) -> None:
    bad = opp_root(tmp_path / "bad", {LIBRARY: "bad"}, package="bad")
    (bad.path / LIBRARY).write_text("patched")
    with pytest.raises(DeliverableError, match="isn't what was built"):
        install_all([Source.of(source), Source.of(bad)], tmp_path / "prefix")
    assert not (tmp_path / "prefix").exists()


def test_two_versions_of_a_package_at_once_are_refused(source: OppRoot, tmp_path: Path) -> None:
    newer = opp_root(tmp_path / "newer", {LIBRARY: "newer"}, version="0.2.0")
    with pytest.raises(UsageError, match="are both the package add"):
        install_all([Source.of(source), Source.of(newer)], tmp_path / "prefix")


def test_something_of_somebodys_in_the_place_of_a_package_is_refused_and_kept(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    for make in (Path.mkdir, lambda path: path.write_text("mine"), lambda path: path.symlink_to("elsewhere")):
        shutil.rmtree(prefix, ignore_errors=True)
        prefix.mkdir()
        make(prefix / "add")
        with pytest.raises(UsageError, match="holds add, which opkit didn't put there"):
            install(source, prefix)
        assert [path.name for path in prefix.iterdir()] == ["add"]
        assert uninstall(["add"], prefix)[0].removed is None
        assert [path.name for path in prefix.iterdir()] == ["add"]


def test_a_prefix_that_holds_other_things_is_taken_and_stays_after_the_last_uninstall(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    (prefix / "include").mkdir(parents=True)
    (prefix / "include/mine.h").write_text("mine")
    install(source, prefix)
    uninstall(["add"], prefix)
    assert tree(prefix) == {"include/mine.h": "mine"}
    assert [path.name for path in prefix.iterdir()] == ["include"]


@pytest.mark.case("F8")
def test_a_path_list_is_no_prefix_and_makes_no_folder(source: OppRoot, tmp_path: Path) -> None:
    for change in (lambda prefix: install(source, prefix), lambda prefix: uninstall(["add"], prefix)):
        with pytest.raises(UsageError, match="isn't one folder"):
            change(Path(f"{tmp_path}/a:{tmp_path}/b"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["output"]


def test_a_prefix_inside_of_what_is_installed_is_refused(source: OppRoot, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(source.path)
    for prefix in (source.path, tmp_path / "link", source.path / "prefix"):
        with pytest.raises(UsageError) as caught:
            install(source, prefix)
        assert caught.value.message == f"the prefix {prefix} lies in what is to be installed"
        assert caught.value.help == "name another folder: --prefix DIR"
    assert sorted(path.name for path in source.path.iterdir()) == ["op_graph", MANIFEST]


@pytest.mark.parametrize("named", ["prefix/add", "prefix/add/op_graph/deeper", "output", "linked"])
def test_a_prefix_inside_of_a_package_is_refused(source: OppRoot, tmp_path: Path, named: str) -> None:
    install(source, tmp_path / "prefix")
    (tmp_path / "linked").symlink_to("output/op_graph")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError) as caught:
        install(opp_root(tmp_path / "mul", {LIBRARY: "mul"}, package="mul"), tmp_path / named)
    assert caught.value.message == f"the prefix {tmp_path / named} lies in a package"
    assert caught.value.help == "name another folder: --prefix DIR"
    assert caught.value.because == (
        f"{tmp_path / ('prefix/add' if named.startswith('prefix') else 'output')} has {MANIFEST}; a prefix holds packages, "
        "each in a folder of its own"
    )
    assert sorted({*tmp_path.rglob("*")} - {*(tmp_path / "mul").rglob("*"), tmp_path / "mul"}) == before


def test_a_link_to_nowhere_is_told_as_that(source: OppRoot, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    for prefix in (tmp_path / "link", tmp_path / "link" / "deeper"):
        with pytest.raises(UnwritableError) as caught:
            install(source, prefix)
        assert caught.value.because == f"{tmp_path / 'link'} is a link to nowhere, which isn't there"


def test_a_prefix_that_is_a_link_is_used_as_it_is_named(source: OppRoot, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert install(source, tmp_path / "link").path == tmp_path / "link/add"
    assert tree(tmp_path / "real/add") == tree(source.path)
    uninstall(["add"], tmp_path / "link")
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.case("G3")
def test_a_package_that_needs_a_newer_glibc_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    root = opp_root(tmp_path / "output", {LIBRARY: "library"}, requires=Requires(glibc="9.99"))
    with pytest.raises(IncompatibleError, match=r"needs glibc 9\.99 or newer") as caught:
        install(root, tmp_path / "prefix")
    assert "this computer has glibc" in (caught.value.because or "")
    assert not (tmp_path / "prefix").exists()


def test_a_package_for_another_architecture_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (other,) = {*MACHINES} - {host_arch()}
    path = tmp_path / "output" / library_folder(other) / "libcust_opapi.so"
    path.parent.mkdir(parents=True)
    path.write_bytes(elf(MACHINES[other]))
    root = signed(tmp_path / "output", [str(path.relative_to(tmp_path / "output"))], target=Target(os="linux", arch=other))
    with pytest.raises(IncompatibleError, match=f"is for linux {other}"):
        install(root, tmp_path / "prefix")
    assert not (tmp_path / "prefix").exists()


def test_a_file_where_the_prefix_should_be_is_one_clear_error(source: OppRoot, tmp_path: Path) -> None:
    (tmp_path / "prefix").write_text("")
    with pytest.raises(UnwritableError) as caught:
        install(source, tmp_path / "prefix" / "opp")
    assert caught.value.because == f"{tmp_path / 'prefix'} is a file"
    assert "--prefix" in (caught.value.help or "")
    assert (tmp_path / "prefix").read_text() == ""


def test_no_room_is_told_before_anything_is_written(source: OppRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*real[:4], 0, *real[5:])))
    with pytest.raises(NoSpaceError, match="no room in") as caught:
        install(source, tmp_path / "prefix")
    size = sum(file.size for file in source.manifest.files)
    needed = 6 * real.f_frsize
    assert caught.value.because == f"the files of {size} bytes need {needed} with their folders, and 0 are free"
    assert not (tmp_path / "prefix").exists()
    # As much as it says is enough.
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*real[:4], needed // real.f_frsize, *real[5:])))
    install(source, tmp_path / "prefix")


def test_an_uninstall_leaves_no_trace_and_a_second_one_is_no_error(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "made" / "by" / "opkit"
    install(source, prefix)
    (removal,) = uninstall(["add", "add"], prefix)
    assert removal.removed is not None
    assert not (tmp_path / "made").exists()
    (again,) = uninstall(["add"], prefix)
    assert again.removed is None
    assert not (tmp_path / "made").exists()


def test_an_uninstall_keeps_what_was_added_and_edited_until_it_is_removed(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    (prefix / "add/notes.txt").write_text("mine")
    (prefix / "add" / LIBRARY).write_text("patched")
    (removal,) = uninstall(["add"], prefix)
    assert [(str(kept.path), str(kept.place)) for kept in removal.kept] == [("notes.txt", "notes.txt"), (LIBRARY, f"{LIBRARY}.edited")]
    # Nothing that GE would load, and no package any more.
    assert tree(prefix / "add") == {"notes.txt": "mine", f"{LIBRARY}.edited": "patched"}
    assert installed(prefix) == []
    (again,) = uninstall(["add"], prefix)
    assert (again.removed, len(again.kept)) == (None, 2)
    install(source, prefix)
    assert tree(prefix / "add") == {**tree(source.path), "notes.txt": "mine", f"{LIBRARY}.edited": "patched"}
    uninstall(["add"], prefix)
    (prefix / "add/notes.txt").unlink()
    (prefix / "add" / f"{LIBRARY}.edited").unlink()
    uninstall(["add"], prefix)
    assert not prefix.exists()


@pytest.mark.parametrize("name", ["..", ".opkit", "../prefix/add", "/etc", "", ".", "a b"])
def test_a_name_that_is_no_package_is_not_there(source: OppRoot, tmp_path: Path, name: str) -> None:
    prefix = tmp_path / "prefix"
    install(source, prefix)
    before = tree(prefix)
    assert uninstall([name], prefix)[0].removed is None
    assert tree(prefix) == before


def test_what_a_killed_install_left_is_removed_by_the_next(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    state = prefix / ".opkit"
    for left in ("add/.stage", "add/.stage.2", "add/0.0-0123456789ab", "add/0.0-0123456789ab.2"):
        (state / left / "op_graph").mkdir(parents=True)
    (state / "add/0.0-0123456789ab").chmod(0o555)
    (state / ".add.json.17").write_text("half")
    (state / ".link.add").symlink_to(".opkit/add/0.0-0123456789ab")
    install(source, prefix)
    assert sorted(path.name for path in state.iterdir()) == [".lock", "add", "add.json"]
    assert len(list((state / "add").iterdir())) == 1


def test_what_is_of_another_package_or_of_somebody_is_nothing_to_sweep(source: OppRoot, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    theirs = [f".opkit/{name}" for name in ("add/notes", "add/old/notes", "other/notes", "other/.stage/half", ".x/y", ".x.json", "z.json")]
    for name in theirs:
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        (prefix / name).write_text("mine")
    for _ in range(2):
        install(source, prefix)
    uninstall(["add"], prefix)
    assert sorted(tree(prefix)) == sorted([*theirs, ".opkit/.lock"])


def test_the_default_prefix_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPKIT_PREFIX")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_prefix(dict(os.environ)) == tmp_path / ".local/share/opkit/opp"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_prefix(dict(os.environ)) == tmp_path / "data/opkit/opp"
    monkeypatch.setenv("OPKIT_PREFIX", str(tmp_path / "named"))
    assert default_prefix(dict(os.environ)) == tmp_path / "named"
    monkeypatch.setenv("OPKIT_PREFIX", "")
    assert default_prefix(dict(os.environ)) == tmp_path / "data/opkit/opp"
