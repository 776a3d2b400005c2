"""The shipped sample: complete as it is committed, with nothing in it that its spec and kernel don't give."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_support import ROOT, SAMPLE, copy_of_sample, opkit, opkit_json


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
    done = subprocess.run(
        ["bash", "run.sh", "--shape", "x=64,64", "--shape", "y=64,64", "--iters", "3"],
        cwd=project,
        # Where no cmake is installed, the one that came with opkit.
        env={**os.environ, "ASCEND_HOME_PATH": home, "PATH": f"{os.environ['PATH']}{os.pathsep}{Path(sys.executable).parent}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[Perf] Speedup" in done.stdout
