"""The shipped sample: complete as it is committed, with nothing in it that its spec and kernel don't give."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command_support import ROOT, SAMPLE, copy_of_sample, opkit, opkit_json
from packaging_support import path_without

from opkit.toolkit import find_cmake, process_environment


def test_the_committed_generated_files_are_what_the_spec_renders_to() -> None:
    opkit("generate", "--check", SAMPLE)


def test_its_kernel_is_the_one_that_new_projects_get() -> None:
    assert (SAMPLE / "kernels" / "add_custom.asc").read_text() == (ROOT / "kernels" / "add_custom.asc").read_text()


def test_its_spec_passes_the_check(tmp_path: Path) -> None:
    opkit("check", copy_of_sample(tmp_path))


def test_it_holds_nothing_that_a_build_made() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", SAMPLE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name.removeprefix("samples/args_refresh_add_custom/") for name in listed.stdout.splitlines()]
    assert "ops.py" in names
    assert not [name for name in names if name.startswith(("build/", "output/")) or name.endswith((".so", ".pyc"))]


@pytest.mark.slow
@pytest.mark.usefixtures("toolkit_home")
def test_its_run_sh_does_it_all_without_opkit(tmp_path: Path) -> None:
    project = copy_of_sample(tmp_path)
    home = opkit_json("toolkit", "path")["home"]
    tools = Path(path_without(("opkit", "cmake"), tmp_path / "tools"))
    # Where no cmake is installed, the one that came with opkit; not its shim, which is a Python program of this environment.
    (tools / "cmake").symlink_to(find_cmake(process_environment()).path)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    environment |= {"ASCEND_HOME_PATH": home, "PATH": str(tools)}
    assert shutil.which("opkit", path=environment["PATH"]) is None
    imported = subprocess.run(["python3", "-c", "import opkit"], cwd=project, env=environment, capture_output=True, check=False)
    assert imported.returncode != 0
    done = subprocess.run(
        ["bash", "run.sh", "--shape", "x=64,64", "--shape", "y=64,64", "--iters", "3"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[Perf] Speedup" in done.stdout
