"""What an installer asks of the machine: processor, glibc, and a shell with coreutils."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from archive_support import MACHINES, elf
from manifest_support import signed
from run_installer_support import NEW, TOOLS, Case, cann_root, installer_of, is_as_built, run

from opkit.deliverable import Requires, Target
from opkit.toolkit import host_arch


@pytest.mark.case("G3")
def test_a_package_for_another_machine_is_refused(tmp_path: Path) -> None:
    other = "aarch64" if host_arch() == "x86_64" else "x86_64"
    library_there = f"op_graph/lib/linux/{other}/libcust_opapi.so"
    (tmp_path / "other" / library_there).parent.mkdir(parents=True)
    (tmp_path / "other" / library_there).write_bytes(elf(MACHINES[other]))
    roots = {
        "glibc 9.99": cann_root(tmp_path / "root", NEW, requires=Requires(glibc="9.99")),
        f"is for {other}": signed(tmp_path / "other", [library_there], kind="cann", target=Target(os="linux", arch=other)),
    }
    for told, root in roots.items():
        installer = installer_of(root, tmp_path / told)
        done = run(installer, "--install-path", tmp_path / "p")
        assert done.returncode == 3
        assert told in done.stderr
        assert "installed" not in done.stdout
        assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("here", "floor", "is_enough"),
    [
        ("glibc 2.36", "2.36", True),
        ("glibc 2.36", "2.4", True),
        ("glibc 3.0", "2.99", True),
        ("glibc 2.36.9000", "2.36", True),
        ("glibc 2.17", "2.34", False),
        ("glibc 1.99", "2.1", False),
        ("", "2.17", False),
    ],
)
def test_versions_of_glibc_are_compared_as_numbers(case: Case, tmp_path: Path, here: str, floor: str, is_enough: bool) -> None:
    unpacked = shutil.copytree(case.unpacked["1.0"], tmp_path / "unpacked")
    with (unpacked / "package").open("a") as facts:
        facts.write(f"glibc={floor}\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "getconf").write_text(f"#!/bin/sh\ntest -n '{here}' && echo '{here}'\n")
    (tmp_path / "bin" / "getconf").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = case.script("1.0", "--install-path", tmp_path / "p", cwd=unpacked, env={"PATH": path})
    assert done.returncode == (0 if is_enough else 3), done.stderr
    assert (tmp_path / "p").exists() == is_enough
    if not is_enough:
        assert f"because: this machine has {here.removeprefix('glibc ') or 'another C library'}\n" in done.stderr


def test_a_shell_and_coreutils_are_enough(case: Case, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in TOOLS:
        (tools / tool).symlink_to(str(shutil.which(tool)))
    dash = str(shutil.which("dash"))
    prefix = tmp_path / "p"
    for version in ("1.0", "2.0"):
        done = case.script(version, "--install-path", prefix, shell=dash, env={"PATH": str(tools)})
        assert (done.returncode, done.stderr) == (0, "")
        assert is_as_built(prefix, version)
    (tools / "flock").unlink()
    done = case.script("2.0", "--install-path", prefix, "--uninstall", shell=dash, env={"PATH": str(tools)})
    assert (done.returncode, done.stderr) == (0, "")
    assert not prefix.exists()
    with (case.unpacked["1.0"] / "package").open() as facts:
        assert "glibc=''\n" in facts.read()


def test_without_getconf_the_glibc_is_left_to_the_user(case: Case, tmp_path: Path) -> None:
    unpacked = shutil.copytree(case.unpacked["1.0"], tmp_path / "unpacked")
    with (unpacked / "package").open("a") as facts:
        facts.write("glibc=2.34\n")
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in TOOLS:
        (tools / tool).symlink_to(str(shutil.which(tool)))
    done = case.script("1.0", "--install-path", tmp_path / "p", shell=str(shutil.which("dash")), cwd=unpacked, env={"PATH": str(tools)})
    assert done.returncode == 0
    assert "warning: add 1.0 needs glibc 2.34, and without getconf nobody knows which one is here" in done.stderr
