"""What is no package is none, whichever way it comes: as a folder that is installed, as an archive, or as an installer."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from archive_support import ARCH, HEADER, KERNEL, LIBRARY, MACHINES, elf, opp_root
from install_support import install

from opkit.deliverable import MANIFEST, OppRoot, Target
from opkit.errors import DeliverableError
from opkit.packaging import pack, pack_run, require_package, verify

_FOLDER = f"op_graph/lib/linux/{ARCH}"
_UNSOUND = {
    "a text among the libraries": (
        {LIBRARY: elf(), f"{_FOLDER}/libextra.so": b"text"},
        f"{_FOLDER}/libextra.so: it is no library that can be read",
    ),
    "a program": ({LIBRARY: elf(kind=2)}, "it is a 64-bit executable"),
    "a library for another machine": ({LIBRARY: elf(MACHINES["aarch64"])}, "it is for aarch64, the manifest says x86_64"),
    "the header of a library": ({LIBRARY: elf()[:64]}, "it is no library that can be read, and GE loads it with the others: it is damaged"),
    "ops that no library registers": (
        {LIBRARY: elf(ops=["Mul"])},
        "no library of it registers Add, which its manifest says; registered: Mul",
    ),
    "ops of a library that GE doesn't load": (
        {LIBRARY: elf(ops=[]), "op_graph/lib/libcust_opapi.so": elf()},
        "no library of it registers Add, which its manifest says; registered: none",
    ),
    "no library": ({KERNEL: b"kernel"}, f"it has no library in {_FOLDER}"),
    "a library elsewhere alone": ({"op_graph/lib/libcust_opapi.so": elf()}, f"it has no library in {_FOLDER}"),
    "a name that Windows takes for two": ({LIBRARY: elf(), "op_graph\\x.h": b""}, "its name holds a backslash"),
    "two names but for case": ({LIBRARY: elf(), HEADER: b"", HEADER.upper(): b""}, "only in case"),
}


def _installed(root: OppRoot, tmp_path: Path) -> None:
    install(root, tmp_path / "made")


def _packed(root: OppRoot, tmp_path: Path) -> None:
    pack(root, tmp_path / "made")


def _packed_as_installer(root: OppRoot, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "makeself").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bin" / "makeself").chmod(0o755)
    pack_run(root, tmp_path / "made", epoch=0, environ={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})


@pytest.mark.parametrize("way", [_installed, _packed, _packed_as_installer])
@pytest.mark.parametrize("fault", list(_UNSOUND))
def test_what_ge_could_not_load_or_no_archive_hold_is_refused(fault: str, way: Callable[[OppRoot, Path], None], tmp_path: Path) -> None:
    files, because = _UNSOUND[fault]
    with pytest.raises(DeliverableError, match="isn't what was built") as caught:
        way(opp_root(tmp_path / "output", files, kind="cann"), tmp_path)
    assert because in (caught.value.because or "")
    assert not (tmp_path / "made").exists()


def _linked(path: Path) -> None:
    """It lies elsewhere, and is as it was."""
    elsewhere = path.with_name(f".{path.name}")
    path.rename(elsewhere)
    path.symlink_to(elsewhere.name)


_IRREGULAR: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link": (lambda root: _linked(root / HEADER), f"{HEADER} is a link, and a package holds none"),
    "a folder that is a link": (lambda root: _linked(root / "op_graph"), "op_graph is a link, and a package holds none"),
    "a manifest that is a link": (lambda root: _linked(root / MANIFEST), f"{MANIFEST} is a link, and a package holds none"),
    "setuid": (lambda root: (root / LIBRARY).chmod(0o4777), f"{LIBRARY} has mode 4777, and a package holds it with 0755"),
    "sticky": (lambda root: (root / MANIFEST).chmod(0o1644), f"{MANIFEST} has mode 1644, and a package holds it with 0644"),
    "a stray pipe": (lambda root: os.mkfifo(root / "op_graph/pipe"), "op_graph/pipe is neither a file nor a folder"),
}


@pytest.mark.parametrize("way", [_installed, _packed, _packed_as_installer])
@pytest.mark.parametrize("what", list(_IRREGULAR))
def test_what_no_archive_could_hold_is_no_package_though_its_content_is_right(
    what: str, way: Callable[[OppRoot, Path], None], tmp_path: Path
) -> None:
    tamper, because = _IRREGULAR[what]
    root = opp_root(tmp_path / "output", {LIBRARY: elf(), HEADER: b"header"}, kind="cann")
    tamper(root.path)
    with pytest.raises(DeliverableError, match="isn't what was built") as caught:
        way(root, tmp_path)
    assert caught.value.because == because
    assert not (tmp_path / "made").exists()
    assert because in verify(root, environ=None).violations
    for line in (caught.value.help or "").splitlines():
        if line == "opkit build":  # It makes the files of the manifest anew, through a link too, and keeps modes and all else.
            assert opp_root(root.path, {LIBRARY: elf(), HEADER: b"header"}, kind="cann").manifest == root.manifest
        else:
            subprocess.run(["sh", "-c", line.removeprefix("take out what isn't the package's: ")], check=True)
    require_package(root)
    assert not any(path.is_symlink() for path in root.path.rglob("*"))


@pytest.mark.parametrize("what", list(_IRREGULAR))
def test_in_the_folder_of_a_wheel_that_is_what_its_installer_made(what: str, tmp_path: Path) -> None:
    """One that links files instead of copying them, for one."""
    tamper, because = _IRREGULAR[what]
    root = opp_root(tmp_path / "site" / "mine" / "add", {LIBRARY: elf(), HEADER: b"header"}, kind="cann")
    tamper(root.path)
    (root.path / "__init__.py").touch()
    (root.path.parent / "__init__.py").touch()
    with pytest.raises(DeliverableError) as caught:
        require_package(root)
    assert caught.value.because == because
    (tmp_path / "site" / "add-0.1.0.dist-info").mkdir()
    require_package(root)
    (root.path / HEADER).write_text("edited")
    with pytest.raises(DeliverableError) as caught:
        require_package(root)
    assert caught.value.help == "install its wheel again: pip install --force-reinstall --no-deps FILE"


def test_what_pip_made_is_held_as_such(tmp_path: Path) -> None:
    root = opp_root(tmp_path, {LIBRARY: elf(), HEADER: b"header"}, kind="cann")
    _linked(root.path / HEADER)
    because = f"{HEADER} is a link, and a package holds none"
    assert because in verify(root, environ=None).violations
    # What pip's kin make of a wheel.
    assert because not in verify(root, environ=None, is_of_wheel=True).violations


@pytest.mark.skipif(os.geteuid() != 0, reason="others are told that they can't read it")
def test_a_file_that_its_owner_may_not_read_is_told_to_the_superuser_too(tmp_path: Path) -> None:
    root = opp_root(tmp_path, {LIBRARY: elf(), HEADER: b"header"})
    (tmp_path / HEADER).chmod(0)
    with pytest.raises(DeliverableError) as caught:
        require_package(root)
    assert caught.value.because == f"{HEADER} has mode 0000, and a package holds it with 0644"


def test_a_link_to_the_root_itself_is_a_name_like_any(tmp_path: Path) -> None:
    """An installed package is one."""
    root = opp_root(tmp_path / "output")
    (tmp_path / "link").symlink_to("output")
    (tmp_path / "output/mine").symlink_to("/nowhere")  # somebody's own, which nothing loads
    require_package(root._replace(path=tmp_path / "link"))


def test_another_system_is_told_alone(tmp_path: Path) -> None:
    root = opp_root(tmp_path, {"x.so": b"text"}, target=Target(os="windows", arch=ARCH))
    with pytest.raises(DeliverableError) as caught:
        require_package(root)
    assert caught.value.because == "its manifest is for windows x86_64; opkit knows linux aarch64, linux x86_64"


def test_what_is_sound_passes(tmp_path: Path) -> None:
    require_package(opp_root(tmp_path))


def test_ops_may_be_spread_over_the_libraries_that_ge_loads(tmp_path: Path) -> None:
    files = {LIBRARY: elf(ops=["Add"]), f"{_FOLDER}/libmore.so": elf(ops=["Mul"])}
    require_package(opp_root(tmp_path, files, ops=["Add", "Mul"]))


def test_of_many_ops_a_few_are_told(tmp_path: Path) -> None:
    lacking, registered = ([f"{word}{number}" for number in range(9)] for word in ("Lacking", "There"))
    with pytest.raises(DeliverableError) as caught:
        require_package(opp_root(tmp_path, {LIBRARY: elf(ops=registered)}, ops=lacking))
    assert caught.value.because == (
        "no library of it registers Lacking0, Lacking1, Lacking2, Lacking3, Lacking4 and 4 more, which its manifest says; "
        "registered: There0, There1, There2, There3, There4 and 4 more"
    )
