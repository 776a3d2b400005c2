"""The installer as a file: its bytes, and what is done with one that is damaged, moved or can't be executed."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from run_installer_support import ENVIRON, Case, installer_of, is_as_built, run

from opkit.deliverable import OppRoot
from opkit.packaging import installed
from opkit.packaging.run_installer import pack_run
from opkit.toolkit import host_arch


@pytest.mark.case("K1")
def test_the_same_deliverable_gives_the_same_bytes(case: Case, tmp_path: Path) -> None:
    root = case.roots["1.0"]
    moved = tmp_path / "other place" / "算子"
    shutil.copytree(root.path, moved)
    # Each of these reaches into makeself, tar or gzip; the PATH finds makeself in another folder.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "makeself").write_text(f'#!/bin/sh\nexec {shutil.which("makeself")} "$@"\n')
    (tmp_path / "bin" / "makeself").chmod(0o755)
    environ = {
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C.UTF-8",
        "TAR_OPTIONS": "--mode=0600",
        "GZIP": "-1",
        "LICENSE": "x",
        "TMPDIR": "/nowhere",
    }
    before = os.umask(0o077)
    try:
        again = installer_of(OppRoot(path=moved, manifest=root.manifest), tmp_path / "out", environ)
    finally:
        os.umask(before)
    assert again.read_bytes() == case.installers["1.0"].read_bytes()
    assert again.name == f"add-1.0-linux_{host_arch()}.run"
    assert stat.S_IMODE(again.stat().st_mode) == 0o755
    assert [path.name for path in (tmp_path / "out").iterdir()] == [again.name]
    later = pack_run(root, tmp_path / "later", epoch=86400, environ=ENVIRON).path
    assert later.read_bytes() != again.read_bytes()


def test_nothing_of_the_machine_that_made_it_is_in_it(case: Case) -> None:
    content = case.installers["1.0"].read_bytes()
    header = content[: content.index(b"\x1f\x8b")].decode()
    assert str(case.roots["1.0"].path.parent) not in header
    assert str(shutil.which("makeself")) not in header
    assert 'Build command was: "makeself \\' in header
    assert "Date of packaging: 1970-01-01T00:00:00+00:00\n" in header


@pytest.mark.parametrize("damage", ["a byte", "the end", "more"])
def test_a_damaged_installer_installs_nothing(case: Case, tmp_path: Path, damage: str) -> None:
    content = case.installers["1.0"].read_bytes()
    middle = content.index(b"\x1f\x8b") + 500
    damaged = {
        "a byte": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "the end": content[:-100],
        "more": content + b"\n",
    }[damage]
    installer = tmp_path / "damaged.run"
    installer.write_bytes(damaged)
    installer.chmod(0o755)
    for options in (["--install-path", str(tmp_path / "p")], ["--check"]):
        done = run(installer, *options)
        assert done.returncode == 4, done.stdout + done.stderr
        assert "SHA256 checksums" in done.stderr or "Unexpected archive size" in done.stderr
        assert done.stderr.endswith("\n  help: it isn't whole: copy or download it again\n")
        assert "installed" not in done.stdout
    assert not (tmp_path / "p").exists()


def test_it_works_by_a_shell_from_any_folder_with_nothing_executable(case: Case, tmp_path: Path) -> None:
    """What a noexec /tmp asks for: neither the installer nor what it unpacks is executed, both are read by a shell."""
    assert [path for path in case.unpacked["1.0"].iterdir() if path.is_file() and path.stat().st_mode & 0o111] == []
    folder = tmp_path / "my 算子"
    (folder / "tmp").mkdir(parents=True)
    installer = shutil.copy(case.installers["1.0"], folder / "it.run")
    Path(installer).chmod(0o444)
    for shell in ("dash", "bash"):
        prefix = folder / shell
        argv = [shell, "it.run", "--install-path", prefix]
        done = subprocess.run(argv, cwd=folder, env={**ENVIRON, "TMPDIR": str(folder / "tmp")}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert is_as_built(prefix, "1.0")
        (package,) = installed(prefix)
        assert package.receipt is not None
        assert package.receipt.source in (f"{folder}/it.run", case.installers["1.0"].name)
    assert list((folder / "tmp").iterdir()) == []


def test_the_receipt_names_the_installer_by_path_and_hash(case: Case, tmp_path: Path) -> None:
    installer = shutil.copy(case.installers["1.0"], tmp_path / "renamed.run")
    assert run("./renamed.run", "--install-path", tmp_path / "p", cwd=tmp_path).returncode == 0
    (package,) = installed(tmp_path / "p")
    assert package.receipt is not None
    assert package.receipt.source == str(installer)
    (told,) = run("sha256sum", str(installer)).stdout.split()[:1]
    assert package.receipt.sha256 == told
