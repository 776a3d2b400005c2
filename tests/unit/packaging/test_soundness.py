"""What is no package is none, whichever way it comes: as a folder that is installed, as an archive, or as an installer."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from archive_support import ARCH, HEADER, KERNEL, LIBRARY, MACHINES, elf, opp_root
from install_support import install

from opkit.deliverable import OppRoot, Target
from opkit.errors import DeliverableError
from opkit.packaging import pack, pack_run, require_package

_FOLDER = f"op_graph/lib/linux/{ARCH}"
_UNSOUND = {
    "a text among the libraries": ({LIBRARY: elf(), f"{_FOLDER}/libextra.so": b"text"}, f"{_FOLDER}/libextra.so: it is no ELF library"),
    "a program": ({LIBRARY: elf(kind=2)}, "it is no 64-bit shared library"),
    "a library for another machine": ({LIBRARY: elf(MACHINES["aarch64"])}, "it is a library for aarch64, in a package for x86_64"),
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


def test_another_system_is_told_alone(tmp_path: Path) -> None:
    root = opp_root(tmp_path, {"x.so": b"text"}, target=Target(os="windows", arch=ARCH))
    with pytest.raises(DeliverableError) as caught:
        require_package(root)
    assert caught.value.because == "its manifest is for windows x86_64; opkit knows linux x86_64, linux aarch64"


def test_what_is_sound_passes(tmp_path: Path) -> None:
    require_package(opp_root(tmp_path))
