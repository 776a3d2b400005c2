"""A real op package as one file: the same wherever it was built, whole where its project isn't, and refused when it isn't whole."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from archive_support import ARCH, MACHINES, elf, opp_root
from command_support import copy_of_sample, opkit, opkit_json

from opkit.build import Project, held
from opkit.deliverable import MANIFEST, Target, library_folder
from opkit.packaging import open_archive, pack
from opkit.toolkit import discover, host_arch, process_environment

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sample")]


@pytest.fixture(scope="module")
def archive(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    dest = tmp_path_factory.mktemp("dist") / "in a 文件夹"
    return Path(opkit_json("package", sample, "--allow-simulator", "--dest", dest)["path"])


@pytest.mark.case("K1")
def test_another_folder_gives_the_same_bytes(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCACHE_DISABLE", "1")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    environ = process_environment()
    project = copy_of_sample(tmp_path / "deeper" / "算子")
    before = os.umask(0o077)
    try:
        # Without the program that checks ops, which isn't in the package.
        with held(Project.find(project), discover(environ), environ, program=tmp_path / "none") as built:
            packed = pack(built.read_opp_root(), tmp_path / "dist", is_simulator_allowed=True)
    finally:
        os.umask(before)
    assert packed.path.name == archive.name
    assert packed.path.read_bytes() == archive.read_bytes()


@pytest.mark.case("K2", "F1", "G3")
def test_an_archive_that_was_changed_is_refused_by_verify_and_by_install(archive: Path, tmp_path: Path) -> None:
    manifest = next(name for name in _members(archive) if name.endswith(MANIFEST))
    kernel = next(name for name in _members(archive) if name.endswith(".asc"))
    folder = kernel.rpartition("/")[0]
    lies: dict[str, tuple[Callable[[dict[str, bytes]], object], str]] = {
        "without its kernel": (lambda files: files.pop(kernel), kernel),
        "a text as a library": (lambda files: files.update({f"{folder}/libextra.so": b"a text\n"}), "libextra.so"),
        "a library of nobody": (lambda files: files.update({f"{folder}/libextra.so": elf(MACHINES[host_arch()])}), "libextra.so"),
    }
    for name, (change, says) in lies.items():
        path = _changed(archive, tmp_path / f"{name}.tar.gz", change)
        for command in (("verify", path, "--no-load"), ("install", path, "--prefix", tmp_path / "prefix")):
            error = opkit_json(*command, exit_code=4)["error"]
            assert error["number"] == "OPK0422", name
            assert says in error["where"], name
        assert not (tmp_path / "prefix").exists()

    def need_a_newer_glibc(files: dict[str, bytes]) -> None:
        document = json.loads(files[manifest])
        document["requires"]["glibc"] = "9.99"
        files[manifest] = json.dumps(document).encode()

    path = _changed(archive, tmp_path / "newer.tar.gz", need_a_newer_glibc)
    error = opkit_json("install", path, "--prefix", tmp_path / "prefix", exit_code=3)["error"]
    assert "glibc 9.99" in error["message"]
    assert "this computer has glibc " in error["because"]
    assert not (tmp_path / "prefix").exists()


@pytest.mark.case("G10")
def test_kernels_for_another_chip_than_the_simulator_stands_for_are_installed_with_a_warning(tmp_path: Path) -> None:
    for chip in ("dav-2201", "dav-3510"):
        root = opp_root(tmp_path / chip, kind="cann", target=Target(os="linux", arch=ARCH, npu_arch=chip))
        packed = pack(root, tmp_path).path
        assert packed.name == f"add-0.1.0-linux_x86_64-{chip}.tar.gz"
        said = opkit("install", packed, "--prefix", tmp_path / f"for {chip}").stderr
        assert (tmp_path / f"for {chip}" / "add").is_dir()
        warning = "warning: the kernels of add 0.1.0 are compiled for dav-3510: no device is here, and the simulator stands for dav-2201"
        assert (warning in said) == (chip == "dav-3510")


@pytest.mark.case("K9")
def test_a_folder_of_two_packages_asks_install_and_verify_for_one(archive: Path, tmp_path: Path) -> None:
    for version in ("1.0", "1.1"):
        shutil.copy(archive, tmp_path / f"package-{version}.tar.gz")
    for command in (("verify", tmp_path), ("install", tmp_path, "--prefix", tmp_path / "prefix")):
        error = opkit_json(*command, exit_code=2)["error"]
        assert error["because"] == "package-1.0.tar.gz, package-1.1.tar.gz"
    assert not (tmp_path / "prefix").exists()


def test_without_a_word_nothing_of_the_simulator_is_shipped(sample: Path, archive: Path, tmp_path: Path) -> None:
    refused = opkit("package", sample, "--dest", tmp_path / "dist", exit_code=2)
    assert re.search(r"error\[OPK0110\]: .* is the host simulator", refused.stderr)
    assert "the same command with --allow-simulator" in refused.stderr
    assert not (tmp_path / "dist").exists()
    with open_archive(archive) as root:
        assert root.manifest.version == "0.1.0"
        assert (root.path / library_folder(host_arch()) / "libcust_opapi.so").is_file()
    assert archive.name == f"args_refresh_add_custom-0.1.0+sim-linux_{host_arch()}.tar.gz"


def _members(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}  # type: ignore[union-attr]


def _changed(archive: Path, target: Path, change: Callable[[dict[str, bytes]], object]) -> Path:
    files, made = _members(archive), io.BytesIO()
    change(files)
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    target.write_bytes(gzip.compress(made.getvalue()))
    return target
