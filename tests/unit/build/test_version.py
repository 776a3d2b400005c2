"""The version that a project writes into pyproject.toml: as TOML has it, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from opkit.build import Project, require_fixed_version, require_wheel_version
from opkit.build.version import require_version
from opkit.console import console
from opkit.errors import VersionError


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "ops.py").write_text("")
    return Project.find(tmp_path)


def _refused(project: Project, text: str) -> VersionError:
    (project.root / "pyproject.toml").write_text(text)
    with pytest.raises(VersionError) as caught:
        require_version(project)
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[tool.x]\nversion = 3\n",
        '[project]\nname = "p"\n',
        '[project]\ndynamic = ["version"]\n',
        '[build-system]\nrequires = []\n\n[ project ]\r\nname = "p"\r\nversion = "1.0"\r\n[tool.x]\nversion = "2"\n',
        "[project]\n  version='2.0rc1' # so\n",
    ],
)
def test_a_version_on_a_line_of_its_own_or_none_is_taken(project: Project, text: str) -> None:
    (project.root / "pyproject.toml").write_bytes(text.encode())
    require_version(project)


def test_a_project_without_a_version_is_warned_of(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    console.reset()  # Once a command.
    (project.root / "pyproject.toml").write_text('[project]\nname = "p"\nverison = "1.0"\n')
    require_version(project)
    assert "warning: pyproject.toml gives the project no version: the package is called 0\n" in capsys.readouterr().err
    for text in ("[tool.x]\n", '[project]\ndynamic = ["version"]\n'):
        (project.root / "pyproject.toml").write_text(text)
        require_version(project)
    assert capsys.readouterr().err == ""


def test_a_project_needs_no_pyproject(project: Project) -> None:
    require_version(project)
    require_fixed_version(project)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("project.version = '5.0'\n", "1   project.version = '5.0'"),
        ("# mine\nproject = {version='6.0'}\n", "2   project = {version='6.0'}"),
        ("[project]\n'version' = '7.0'\n", "2   'version' = '7.0'"),
        ('[project]\nversion = """8.0"""\n', '2   version = """8.0"""'),
        ('["project"]\nversion = "9.0"\n', '2   version = "9.0"'),
    ],
)
def test_a_version_that_cmake_would_miss_is_refused(project: Project, text: str, line: str) -> None:
    fault = _refused(project, text)
    assert fault.message.startswith("CMake doesn't find the version ")
    assert fault.where == f"pyproject.toml:{line}"
    assert fault.help is not None
    assert fault.message.rpartition(" ")[2] in fault.help


def test_a_version_that_only_cmake_would_find_is_refused(project: Project) -> None:
    fault = _refused(project, '[tool.x]\ntext = """\n[project]\nversion = "9.0"\n"""\n')
    assert fault.message == "CMake reads the version as 9.0"


@pytest.mark.parametrize("text", ["garbage [\n", '[project]\nversion = "0.1.0"\nname =\n', "[project]\nname = 'a\n"])
def test_what_is_no_toml_is_refused_with_its_line(project: Project, text: str) -> None:
    fault = _refused(project, text)
    assert fault.message == "pyproject.toml is no TOML"
    assert fault.because is not None
    assert fault.where is not None
    assert fault.where.startswith("pyproject.toml:")


def test_the_line_is_that_of_the_project_and_no_comment(project: Project) -> None:
    fault = _refused(project, '[tool.x]\nversion = "1.0"\n[project]\n# version = "2.0"\nversion = "3 0"\n')
    assert fault.where == 'pyproject.toml:5   version = "3 0"'


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "\ufeff[project]\n"])
def test_what_only_an_editor_could_make_is_refused(project: Project, text: str) -> None:
    fault = _refused(project, text)
    assert fault.message == "pyproject.toml is no TOML"
    assert "\ufeff" not in (fault.where or "")


def test_what_is_no_utf_8_is_no_toml(project: Project) -> None:
    (project.root / "pyproject.toml").write_bytes(b'[project]\nname = "\xff"\n')
    with pytest.raises(VersionError, match="is no TOML"):
        require_version(project)


def test_dynamic_is_a_list(project: Project) -> None:
    for value in ("3", '"version"'):
        fault = _refused(project, f"[project]\ndynamic = {value}\n")
        assert fault.message == "dynamic is no list in pyproject.toml"
        assert fault.where == f"pyproject.toml:2   dynamic = {value}"


@pytest.mark.parametrize("value", ["2", "1.0", "true", '["1.0"]'])
def test_a_version_is_a_string(project: Project, value: str) -> None:
    fault = _refused(project, f"[project]\nversion = {value}\n")
    assert "is no string" in fault.message
    assert fault.help == {"2": 'version = "2"', "1.0": 'version = "1.0"', "true": 'version = "True"'}.get(value, 'version = "1.0"')
    assert fault.where == f"pyproject.toml:2   version = {value}"


def test_project_is_a_table(project: Project) -> None:
    assert _refused(project, 'project = "p"\n').message == "project is no table in pyproject.toml"


@pytest.mark.parametrize("version", ["nightly", "1.0-2024_a", "1..0", "2024a.x"])
def test_a_version_that_no_wheel_can_have_is_told_before_anything_is_built(project: Project, version: str) -> None:
    (project.root / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    require_version(project)
    with pytest.raises(VersionError, match="no version that a wheel can have") as caught:
        require_wheel_version(project)
    assert caught.value.where == f'pyproject.toml:2   version = "{version}"'
    assert "PEP 440" in (caught.value.because or "")
    assert caught.value.exit_code == 2


def test_a_wheel_needs_a_version(project: Project) -> None:
    (project.root / "pyproject.toml").write_text('[project]\nname = "p"\n')
    with pytest.raises(VersionError, match="has no version, and a wheel needs one"):
        require_wheel_version(project)


@pytest.mark.parametrize("line", ['version = "1.0-beta_2"', 'version = "1!2.0rc1+a.b"', 'dynamic = ["version"]'])
def test_a_version_of_pep_440_or_one_that_the_backend_finds_out_is_taken(project: Project, line: str) -> None:
    (project.root / "pyproject.toml").write_text(f"[project]\n{line}\n")
    require_wheel_version(project)
