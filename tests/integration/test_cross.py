"""Another processor, with real tools: what the how-to page says, the sample's benchmark under QEMU, and what is refused on this machine.

The simulator is built for it once, by the first command of the page, into a cache that all tests here share.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_support import copy_of_sample, edited, opkit, opkit_json
from docs_support import follow, how_to
from tool_support import require_tool

from opkit.deliverable import Manifest, OppRoot
from opkit.toolkit import elf_arch, host_arch

if TYPE_CHECKING:
    from collections.abc import Mapping

ARCH = "aarch64"
LIBRARY = f"op_graph/lib/linux/{ARCH}/libcust_opapi.so"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("cross"),
    pytest.mark.skipif(host_arch() == ARCH, reason="the tools of the page are for the other processor"),
]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cross") / "cache")}


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory, cache: Mapping[str, str]) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The project that the page makes, and what its commands said."""
    require_tool(f"{ARCH}-linux-gnu-g++", f"g++-{ARCH}-linux-gnu")
    require_tool(f"qemu-{ARCH}-static", "qemu-user-static")
    folder = tmp_path_factory.mktemp("cross page")
    kernels = str(tmp_path_factory.getbasetemp().parent / "rtc-cache")
    done = follow(how_to("cross.md"), folder, OPKIT_SIM_CACHE_DIR=kernels, **cache)
    return folder / "my_ops", done


def test_the_page_gives_a_verified_deliverable_for_the_other_processor(page: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    project, done = page
    assert done.stdout.startswith("aarch64\n")
    assert elf_arch(project / "output" / LIBRARY) == ARCH
    manifest = Manifest.read(project / "output")
    assert manifest is not None
    assert (manifest.target.os, manifest.target.arch) == ("linux", ARCH)
    assert manifest.built_against.is_simulator
    assert manifest.requires.glibc is not None
    assert "Verified my_ops 0.1.0+sim, for linux aarch64" in done.stderr
    assert f"not loaded: it is for {ARCH}, this computer is {host_arch()}" in done.stderr


def test_the_page_builds_the_simulator_once(page: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    _, done = page
    assert done.stderr.count(f"the simulator for {ARCH}, once, into ") == 1
    assert re.search(rf"Built the simulator for {ARCH} in \d+ s", done.stderr)
    assert re.search(rf"host simulator [\d.]+, {ARCH}  \(built for --arch {ARCH} by .+-g\+\+\)$", done.stdout, flags=re.MULTILINE)


def test_the_page_runs_what_it_builds_and_every_result_is_right(page: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    _, done = page
    assert re.search(r"^\d\d passed$", done.stdout, flags=re.MULTILINE), done.stdout
    # Both memory sets of both ops: of the benchmark against the reference, of the program alone against each other.
    assert done.stdout.count("Precision check passed") == 8
    assert f"on: host simulator, {ARCH} under qemu on {host_arch()}, " in done.stdout
    assert "times and ratio say nothing about any computer, nor about a device" in done.stdout


def test_the_page_keeps_two_folders_and_ships_what_this_computer_refuses(page: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    project, done = page
    assert elf_arch(project / "output-aarch64" / LIBRARY) == ARCH
    assert [path.name for path in (project / "dist").iterdir()] == [f"my_ops-0.1.0+sim-linux_{ARCH}.tar.gz"]
    assert "exit code 3" in done.stdout
    assert f"this computer is linux {host_arch()}" in done.stderr


def test_the_page_builds_with_cmake_alone(page: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    project, _ = page
    assert elf_arch(project / "build/aarch64/libcust_opapi.so") == ARCH


def test_the_benchmark_of_the_sample_passes_its_checks_under_qemu(
    page: tuple[Path, subprocess.CompletedProcess[str]], cache: Mapping[str, str], tmp_path: Path
) -> None:
    sample = copy_of_sample(tmp_path)
    shapes = ["--shape", "x=64,1024", "--shape", "y=64,1024", "--iters", "3", "--repeat", "2"]
    report = opkit_json("bench", sample, "--arch", ARCH, *shapes, env=cache)
    assert report["device"]["name"] == f"host simulator, {ARCH} under qemu on {host_arch()}"
    assert [case["refresh"] for case in report["cases"]] == ["updater", "none"]
    assert all(check["passed"] and check["max_error"] == 0 for case in report["cases"] for check in case["precision"])
    root = OppRoot.read(sample / "output")
    assert root is not None
    assert root.manifest.target.arch == ARCH
    assert opkit("build", sample, "--arch", ARCH, env=cache).stderr.count("up to date") == 1


def test_a_kernel_that_writes_past_a_tensor_is_caught_under_qemu_too(
    page: tuple[Path, subprocess.CompletedProcess[str]], cache: Mapping[str, str]
) -> None:
    """By a guard page and the simulator's own handler; and a plain char is as signed there as here."""
    project, _ = page
    past = "static_assert(static_cast<char>(-1) < 0);\n    reinterpret_cast<__gm__ DTYPE_X *>(z)[length] = DTYPE_X(0);\n    "
    (kernel,) = (project / "kernels").glob("*.asc")
    shapes = ["--shape", "x=64,1024", "--shape", "y=64,1024", "--iters", "1", "--repeat", "1"]
    with edited(kernel, "z_gm_.SetGlobalBuffer", f"{past}z_gm_.SetGlobalBuffer"):
        told = opkit("bench", project, "--arch", ARCH, *shapes, env=cache, exit_code=4).stderr
    assert "my_ops_session_run was ended by signal 11" in told
    assert re.search(r"memory fault at 0x[0-9a-f]+: byte 262144 of 'z', which has 262144 bytes", told), told


def test_prebuilt_kernels_are_compiled_by_an_emulated_program(
    page: tuple[Path, subprocess.CompletedProcess[str]], cache: Mapping[str, str]
) -> None:
    project, _ = page
    shapes = ["--shape", "x=64,1024", "--shape", "y=64,1024", "--iters", "1", "--repeat", "1"]
    with edited(project / "ops.py", 'refresh="updater",', 'compile="prebuilt", refresh="updater",'):
        report = opkit_json("bench", project, "--arch", ARCH, *shapes, env=cache)
    assert all(check["passed"] for case in report["cases"] for check in case["precision"])
    folder = project / "output" / LIBRARY
    assert sorted(path.name for path in folder.parent.iterdir()) == ["cust_opapi.kernels", "libcust_opapi.so"]
