"""Archives: the same deliverable gives the same bytes, and what is opened is what was packed or an error."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from archive_support import END, HEADER, KERNEL, LIBRARY, TOP, Good, entry, header, opp_root
from hypothesis import example, given, settings
from hypothesis import strategies as st

from opkit.deliverable import MANIFEST, OppRoot, Target
from opkit.errors import ArchiveEntryError, ArchiveError, DeliverableError, MachineError, SimulatorBuildError, UnwritableError, UsageError
from opkit.packaging import Compression, open_archive, pack
from opkit.packaging.archive import source_date_epoch


@pytest.fixture
def root(tmp_path: Path) -> OppRoot:
    return opp_root(tmp_path / "output", kind="cann")


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_packed_is_opened_again(root: OppRoot, tmp_path: Path) -> None:
    packed = pack(root, tmp_path / "dist")
    assert packed.path == tmp_path / "dist" / "add-0.1.0-linux_x86_64.tar.gz"
    assert packed.size == packed.path.stat().st_size
    with open_archive(packed.path) as opened:
        assert opened.manifest == root.manifest
        assert OppRoot.read(opened.path) == opened
        assert _tree(opened.path) == _tree(root.path)
        assert opened.manifest.violations(opened.path) == []
        assert opened.path.parent.stat().st_mode & 0o777 == 0o700
        assert opened.path.name == TOP
    assert not opened.path.parent.exists()


def test_any_tar_reads_it(root: OppRoot, tmp_path: Path) -> None:
    packed = pack(root, tmp_path / "dist")
    subprocess.run(["tar", "-xzf", packed.path, "-C", tmp_path], check=True)
    assert _tree(tmp_path / TOP) == _tree(root.path)


def test_entries_are_sorted_and_nobody_s(root: OppRoot, tmp_path: Path) -> None:
    with tarfile.open(pack(root, tmp_path / "dist").path) as tar:
        members = tar.getmembers()
    assert [member.name for member in members] == sorted(member.name for member in members)
    assert {(member.uid, member.gid, member.uname, member.gname, member.mtime) for member in members} == {(0, 0, "", "", 315532800)}
    assert {member.name.rpartition("/")[2]: oct(member.mode) for member in members if member.isfile()} == {
        "add.asc": "0o644",
        "add.h": "0o644",
        "libcust_opapi.so": "0o755",
        MANIFEST: "0o644",
    }
    assert {member.mode for member in members if member.isdir()} == {0o755}


_PACK = """\
import os, sys
from pathlib import Path
from opkit.deliverable import OppRoot
from opkit.packaging import pack
os.umask(int(sys.argv[3], 8))
print(pack(OppRoot.read(Path(sys.argv[1])), Path(sys.argv[2])).sha256)
"""


@pytest.mark.case("K1")
def test_another_folder_umask_time_zone_and_hash_seed_give_the_same_bytes(root: OppRoot, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / "算子 output"
    for place, umask in ((root.path, "0022"), (moved, "0077")):
        place.parent.mkdir(parents=True, exist_ok=True)
        before = os.umask(int(umask, 8))
        try:
            opp_root(place, kind="cann")
        finally:
            os.umask(before)
    os.utime(moved / KERNEL, (0, 0))
    (moved / KERNEL).chmod(0o700)
    sums = [
        subprocess.run(
            [sys.executable, "-c", _PACK, folder, tmp_path / f"dist {seed}", umask],
            env={**os.environ, "TZ": zone, "PYTHONHASHSEED": seed, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for folder, umask, zone, seed in ((root.path, "0022", "UTC", "1"), (moved, "0077", "Asia/Shanghai", "2"))
    ]
    assert sums[0] == sums[1]


def test_the_time_of_the_entries_can_be_named(root: OppRoot, tmp_path: Path) -> None:
    packed = pack(root, tmp_path, epoch=source_date_epoch({"SOURCE_DATE_EPOCH": "86400"}))
    with tarfile.open(packed.path) as tar:
        assert {member.mtime for member in tar} == {86400}
    assert source_date_epoch({}) == source_date_epoch({"SOURCE_DATE_EPOCH": ""}) == 315532800


@pytest.mark.parametrize("told", ["yesterday", "-1", "1.5", "9" * 30, "8589934592", "٣"])
def test_a_time_that_no_archive_can_have_is_refused(told: str) -> None:
    with pytest.raises(UsageError, match="SOURCE_DATE_EPOCH"):
        source_date_epoch({"SOURCE_DATE_EPOCH": told})


def test_what_was_built_against_the_simulator_is_refused_or_marked(tmp_path: Path) -> None:
    root = opp_root(tmp_path / "output", kind="simulator")
    with pytest.raises(SimulatorBuildError) as caught:
        pack(root, tmp_path / "dist")
    assert "a device would load it" in (caught.value.because or "")
    assert "--allow-simulator" in (caught.value.help or "")
    assert not (tmp_path / "dist").exists()
    assert pack(root, tmp_path / "dist", is_simulator_allowed=True).path.name == "add-0.1.0+sim-linux_x86_64.tar.gz"


@pytest.mark.case("G10")
def test_the_name_tells_version_and_chip(tmp_path: Path) -> None:
    target = Target(os="linux", arch="x86_64", npu_arch="dav-2201")
    root = opp_root(tmp_path / "output", version="1.0+local", target=target)
    assert pack(root, tmp_path, is_simulator_allowed=True).path.name == "add-1.0+local.sim-linux_x86_64-dav-2201.tar.gz"


@pytest.mark.case("K4")
def test_a_package_without_kernel_files_is_packed(tmp_path: Path) -> None:
    root = opp_root(tmp_path / "output", {LIBRARY: (opp_root(tmp_path / "other").path / LIBRARY).read_bytes()}, kind="cann")
    with open_archive(pack(root, tmp_path / "dist").path) as opened:
        assert sorted(_tree(opened.path)) == [LIBRARY, MANIFEST]


def test_only_what_the_manifest_names_is_packed(root: OppRoot, tmp_path: Path) -> None:
    (root.path / "notes.txt").write_text("mine")
    with open_archive(pack(root, tmp_path / "dist").path) as opened:
        assert "notes.txt" not in _tree(opened.path)


def test_a_deliverable_that_was_changed_after_the_build_is_not_packed(root: OppRoot, tmp_path: Path) -> None:
    (root.path / KERNEL).write_text("other")
    with pytest.raises(DeliverableError) as caught:
        pack(root, tmp_path / "dist")
    assert KERNEL in (caught.value.because or "")
    assert not (tmp_path / "dist").exists()


def test_a_library_that_nobody_could_load_is_not_packed(tmp_path: Path) -> None:
    root = opp_root(tmp_path / "output", {LIBRARY: b"a text"}, kind="cann")
    with pytest.raises(DeliverableError, match="isn't what was built"):
        pack(root, tmp_path / "dist")
    assert not (tmp_path / "dist").exists()


def test_a_second_manifest_is_not_read(root: OppRoot, tmp_path: Path) -> None:
    """Each may have 8 MiB, and a small archive can have many."""
    second = header(f"other/{MANIFEST}", 8 << 20)
    bomb = tmp_path / "bomb.tar.gz"
    bomb.write_bytes(gzip.compress(Good.of(root).tar(second, end=b"")))
    with pytest.raises(ArchiveError) as caught, open_archive(bomb):
        pytest.fail("it was opened")
    assert caught.value.because == "two folders in it have a manifest"


def test_nothing_is_written_through_a_link_that_lies_in_wait(root: OppRoot, tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "dist" / f".add-0.1.0-linux_x86_64.tar.gz.{os.getpid()}").symlink_to(tmp_path / "victim")
    pack(root, tmp_path / "dist")
    assert (tmp_path / "victim").read_text() == "mine"


def test_a_name_that_a_tar_has_no_place_for_is_told(tmp_path: Path) -> None:
    long = f"op_graph/lib/linux/x86_64/{'x' * 97}.asc"
    files = {LIBRARY: Good.of(opp_root(tmp_path / "other")).files[LIBRARY], long: b""}
    with pytest.raises(ArchiveEntryError, match="has no place in a tar archive"):
        pack(opp_root(tmp_path / "output", files, kind="cann"), tmp_path / "dist")


def test_a_failure_keeps_the_archive_that_was_there(root: OppRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = pack(root, tmp_path / "dist")
    before = packed.path.read_bytes()

    def no_space(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("opkit.packaging.archive.write_tar", no_space)
    with pytest.raises(UnwritableError) as caught:
        pack(root, tmp_path / "dist")
    assert "--dest" in (caught.value.help or "")
    assert packed.path.read_bytes() == before
    assert [path.name for path in (tmp_path / "dist").iterdir()] == [packed.path.name]


def test_a_disk_that_is_full_while_it_is_opened_is_one_clear_error(root: OppRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = pack(root, tmp_path / "dist")

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("opkit.packaging.archive.make_folders", no_space)
    with pytest.raises(UnwritableError, match="cannot write"), open_archive(packed.path):
        pytest.fail("it was opened")


def test_an_archive_that_changes_while_it_is_read_is_refused(root: OppRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good, path = Good.of(root), tmp_path / "add.tar.gz"
    path.write_bytes(good.tar_gz())
    changed = good.place(KERNEL, b"KERNEL\n", is_named=False).tar_gz()

    def change(folder: Path) -> None:
        if not folder.is_dir():
            folder.mkdir(parents=True)
            path.write_bytes(changed)

    monkeypatch.setattr("opkit.packaging.archive.make_folders", change)
    with pytest.raises(ArchiveError), open_archive(path):
        pytest.fail("it was opened")


@pytest.mark.parametrize("what", ["gone", "folder", "pipe"])
def test_what_is_no_file_is_a_usage_error(what: str, tmp_path: Path) -> None:
    path = tmp_path / what
    if what == "folder":
        path.mkdir()
    if what == "pipe":
        os.mkfifo(path)  # Opening it would wait for ever.
    with pytest.raises(UsageError, match=str(path)), open_archive(path):
        pytest.fail("it was opened")


def test_zstandard_is_an_extra_that_is_asked_for(root: OppRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MachineError) as caught:
        pack(root, tmp_path / "dist", compression=Compression.ZST)
    assert caught.value.help == "pip install 'ascend-opkit[zstd]'"
    assert list((tmp_path / "dist").iterdir()) == []


def test_a_tar_of_zstandard_is_packed_and_opened(root: OppRoot, tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    packed = pack(root, tmp_path / "dist", compression=Compression.ZST)
    assert packed.path.name == "add-0.1.0-linux_x86_64.tar.zst"
    assert pack(root, tmp_path / "again", compression=Compression.ZST).sha256 == packed.sha256
    with open_archive(packed.path) as opened:
        assert _tree(opened.path) == _tree(root.path)
    whole = packed.path.read_bytes()
    for more in (b"\0", whole):
        packed.path.write_bytes(whole + more)
        with pytest.raises(ArchiveError), open_archive(packed.path):
            pytest.fail("it was opened")
    packed.path.write_bytes(whole)
    _require_refused_wherever_it_is_cut(packed.path)


Open = Callable[[bytes], dict[str, bytes]]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Open:
    """Opens an archive of these bytes and gives what is in it."""
    path = tmp_path_factory.mktemp("opened") / "add.tar.gz"

    def open_bytes(content: bytes) -> dict[str, bytes]:
        path.write_bytes(content)
        with open_archive(path) as root:
            return _tree(root.path)

    return open_bytes


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Good:
    return Good.of(opp_root(tmp_path_factory.mktemp("good") / "output"))


@pytest.fixture(scope="module")
def tree(good: Good, opened: Open) -> dict[str, bytes]:
    return opened(good.tar_gz())


def _wheel(good: Good) -> bytes:
    return Good(files=good.files, manifest=good.manifest).wheel()


@pytest.mark.parametrize("make", [Good.tar_gz, _wheel], ids=["tar", "wheel"])
def test_an_archive_that_was_cut_anywhere_is_refused(good: Good, make: Callable[[Good], bytes], tmp_path: Path) -> None:
    path = tmp_path / "add.tar.gz"
    path.write_bytes(make(good))
    _require_refused_wherever_it_is_cut(path)


def _require_refused_wherever_it_is_cut(path: Path) -> None:
    for size in reversed(range(path.stat().st_size)):
        os.truncate(path, size)
        with pytest.raises(ArchiveError), open_archive(path):
            pytest.fail(f"its first {size} bytes were opened")


_MUTATIONS = st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=4)


def _mutated(whole: bytes, mutations: list[tuple[int, int]]) -> bytes:
    changed = bytearray(whole)
    for place, value in mutations:
        changed[place % len(whole)] = value
    return bytes(changed)


def _is_good_or_refused(content: bytes, tree: dict[str, bytes], opened: Open) -> bool:
    try:
        found = opened(content)
    except ArchiveError:
        return True
    # The manifest is written anew from what was read; its text is the archive's own affair.
    return found == tree


@settings(max_examples=150, deadline=None)
@given(mutations=_MUTATIONS)
@example(mutations=[(8, 0)])
def test_a_changed_archive_gives_the_good_content_or_a_refusal(
    good: Good, tree: dict[str, bytes], opened: Open, mutations: list[tuple[int, int]]
) -> None:
    assert _is_good_or_refused(_mutated(good.tar_gz(), mutations), tree, opened)


@settings(max_examples=150, deadline=None)
@given(mutations=_MUTATIONS, is_mended=st.booleans())
def test_a_changed_tar_gives_the_good_content_or_a_refusal(
    good: Good, tree: dict[str, bytes], opened: Open, mutations: list[tuple[int, int]], is_mended: bool
) -> None:
    """Compressed anew, so that no checksum of gzip's tells of it, and with the checksums of its headers set right."""
    changed = bytearray(_mutated(good.tar(), mutations))
    for place in range(0, len(changed) - len(END), 512) if is_mended else ():
        block = changed[place : place + 512]
        if block[257:262] == b"ustar":
            block[148:156] = b"        "
            changed[place + 148 : place + 156] = b"%06o\0 " % sum(block)
    # Texts of the manifest that no file depends on may differ.
    content = gzip.compress(bytes(changed), compresslevel=1)
    try:
        found = opened(content)
    except ArchiveError:
        return
    assert {name: found[name] for name in tree if name != MANIFEST} == {name: tree[name] for name in tree if name != MANIFEST}


@settings(max_examples=150, deadline=None)
@given(mutations=_MUTATIONS)
def test_a_changed_wheel_gives_the_good_content_or_a_refusal(
    good: Good, tree: dict[str, bytes], opened: Open, mutations: list[tuple[int, int]]
) -> None:
    assert _is_good_or_refused(_mutated(_wheel(good), mutations), tree, opened)


@settings(max_examples=150, deadline=None)
@given(
    name=st.one_of(st.binary(max_size=100), st.sampled_from([f"{TOP}/{HEADER}".encode(), b"..", b"/", f"{TOP}/x".encode()])),
    kind=st.binary(min_size=1, max_size=1),
    mode=st.integers(0, 0o7777777),
    content=st.binary(max_size=20),
)
def test_no_entry_can_be_added(good: Good, opened: Open, *, name: bytes, kind: bytes, mode: int, content: bytes) -> None:
    with pytest.raises(ArchiveError):
        opened(good.tar_gz(header(name, len(content), type=kind, mode=mode) + content + bytes(-len(content) % 512)))


def test_a_folder_that_its_files_lie_in_can_be_an_entry(good: Good, tree: dict[str, bytes], opened: Open) -> None:
    assert opened(good.tar_gz(entry(f"{TOP}/op_graph/", type=b"5", mode=0o755))) == tree
