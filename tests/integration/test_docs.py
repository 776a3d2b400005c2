"""Runs the commands of the documentation, in order, as a reader types them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def shell_blocks(page: Path) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def links(page: Path) -> list[str]:
    return [link for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()) if "://" not in link]


@pytest.mark.slow
def test_every_command_of_the_tutorial_works_in_a_folder_with_a_space(tmp_path: Path) -> None:
    folder = tmp_path / "first steps"
    folder.mkdir()
    script = "\n".join(["set -e", *shell_blocks(ROOT / "docs" / "tutorial.md")])
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(["bash", "-c", script], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "exit code 4" in done.stdout
    assert "Precision check passed" in done.stdout
    assert list((folder / "installed").rglob("libcust_opapi.so")), done.stdout


@pytest.mark.slow
def test_every_command_of_the_how_to_about_existing_operators_works(tmp_path: Path) -> None:
    page = ROOT / "docs" / "how-to" / "bring-an-operator.md"
    script = "\n".join(["set -e", *shell_blocks(page)])
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # What the page shows is what came.
    (shown,) = re.findall(r"^```text\n(.*?)^```$", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert shown in done.stderr
    assert done.stdout.count("exit code 2") == 2
    assert ".ATTR(alpha, Float, 1.0f)" in done.stdout


@pytest.mark.slow
def test_layer_norm_as_its_page_writes_it_computes_what_numpy_does(tmp_path: Path) -> None:
    script = "\n".join(["set -e", *shell_blocks(ROOT / "docs" / "how-to" / "layer-norm.md")])
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^26 passed$", done.stdout, flags=re.MULTILINE), done.stdout
    assert done.stdout.count("Precision check passed") == 12
    assert '.OPTIONAL_INPUT(bias, "T")\n    .OUTPUT(y, "T")' in done.stdout


def test_readme_commands_are_the_ones_that_ci_runs() -> None:
    main_job, the_tests, *_ = shell_blocks(ROOT / "README.md")
    ci = (ROOT / ".ci" / "run").read_text()
    assert main_job.strip().endswith("pip install . && opkit bench samples/args_refresh_add_custom")
    assert the_tests.strip().endswith("pip install nox && nox -s tests")
    for command in ("opkit bench samples/args_refresh_add_custom", "nox -s tests"):
        assert command in ci


def test_readme_shows_the_spec_of_the_sample() -> None:
    assert (ROOT / "samples" / "args_refresh_add_custom" / "ops.py").read_text() in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("page", sorted(str(path.relative_to(ROOT)) for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]))
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    folder = (ROOT / page).parent
    assert [link for link in links(ROOT / page) if not (folder / link).exists()] == []


def test_reference_pages_are_what_the_code_gives() -> None:
    done = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
