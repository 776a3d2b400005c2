"""What a user may name as a package, and that nothing is guessed where several are there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from archive_support import KERNEL, opp_root

from opkit.deliverable import MANIFEST
from opkit.errors import AmbiguousSourceError, InstallerFileError, NotBuiltError, UsageError
from opkit.packaging import Place, PlaceKind, find_place, opened, pack


@pytest.fixture
def project(tmp_path: Path) -> Path:
    opp_root(tmp_path / "project" / "output", kind="cann")
    (tmp_path / "project" / "ops.py").write_text("")
    return tmp_path / "project"


def test_each_kind_is_known_and_gives_its_opp_root(project: Path, tmp_path: Path) -> None:
    output, dist = project / "output", project / "dist"
    with opened(Place(PlaceKind.OPP_ROOT, output)) as root:
        archive = pack(root, dist).path
    places = {
        project: Place(PlaceKind.PROJECT, project),
        project / "ops.py": Place(PlaceKind.PROJECT, project),
        output: Place(PlaceKind.OPP_ROOT, output),
        archive: Place(PlaceKind.ARCHIVE, archive),
        dist: Place(PlaceKind.ARCHIVE, archive),
    }
    for named, place in places.items():
        assert find_place(named) == place
        with opened(place) as root:
            assert (root.path / KERNEL).read_text() == "kernel\n"


@pytest.mark.case("K9")
@pytest.mark.parametrize(
    "second",
    [
        "add-0.2.0-linux_x86_64.tar.gz",
        "add-0.2.0-py3-none-linux_x86_64.whl",
        "mul-0.1.0-linux_aarch64.tar.zst",
        "add-0.2.0-linux_x86_64.run",
        "add-0.0.1-linux_x86_64.run",
    ],
)
def test_a_folder_of_two_packages_asks_for_one(second: str, project: Path) -> None:
    dist = project / "the dist"
    with opened(find_place(project)) as root:
        first = pack(root, dist).path
    (dist / second).write_bytes(first.read_bytes())
    with pytest.raises(AmbiguousSourceError, match="holds 2 packages") as caught:
        find_place(dist)
    assert caught.value.because == ", ".join(sorted([first.name, second]))
    newest = first if second.endswith(".run") else dist / second
    assert caught.value.help == f"name one: '{newest}'"
    assert caught.value.exit_code == 2


_VERSIONS = ["0.9.0+sim", "0.10.0+sim", "0.2.0", "0.11.0rc1", "0.11.0", "0.11.0.dev3", "an older one"]


@pytest.mark.parametrize("inside", [Path(), Path("dist")])
def test_of_many_versions_the_newest_is_advised(inside: Path, tmp_path: Path) -> None:
    """The first by name is the oldest, and what was copied has the time of the copy."""
    folder = tmp_path / inside
    folder.mkdir(exist_ok=True)
    for age, version in enumerate(_VERSIONS):
        name = folder / f"add-{version}-linux_x86_64.tar.gz"
        name.touch()
        os.utime(name, (age, age))
    newest = f"'{folder}/add-0.11.0-linux_x86_64.tar.gz'" if " " in str(folder) else f"{folder}/add-0.11.0-linux_x86_64.tar.gz"
    with pytest.raises(UsageError) as caught:
        find_place(tmp_path)
    assert caught.value.help == (f"name {newest}" if inside.parts else f"name one: {newest}")
    # Nobody types all of such a name.
    with pytest.raises(UsageError, match="doesn't exist") as caught:
        find_place(tmp_path / "add")
    assert caught.value.help == f"did you mean {newest}?"


def test_of_one_version_the_last_made_is_advised(tmp_path: Path) -> None:
    for age, name in enumerate(["add-0.1.0-py3-none-linux_x86_64.whl", "add-0.1.0-linux_x86_64.tar.gz"]):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    with pytest.raises(AmbiguousSourceError) as caught:
        find_place(tmp_path)
    assert caught.value.help == f"name one: {tmp_path}/add-0.1.0-py3-none-linux_x86_64.whl"


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("projekt", "project"),
        ("project/outptu", "project/output"),
        ("add-0.1.0-linux_x86-64.tar.gz", "add-0.1.0-linux_x86_64.tar.gz"),
        ("my-ops", "dist/my_ops-0.2.0-linux_x86_64.tar.gz"),
        ("notez", None),
        ("gone/add", None),
    ],
)
def test_a_misspelt_path_gets_the_nearest_package(named: str, meant: str | None, project: Path, tmp_path: Path) -> None:
    assert project.is_dir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "add-0.1.0-linux_x86_64.tar.gz").touch()
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist/my_ops-0.2.0-linux_x86_64.tar.gz").touch()
    with pytest.raises(UsageError, match="doesn't exist") as caught:
        find_place(tmp_path / named)
    usual = "name a project, an OPP root or an archive"
    assert caught.value.help == (usual if meant is None else f"did you mean {tmp_path / meant}?")


@pytest.mark.case("K9")
def test_a_folder_of_installers_alone_asks_for_an_archive(tmp_path: Path) -> None:
    for version in ("0.1.0", "0.2.0"):
        (tmp_path / f"add-{version}-linux_x86_64.run").write_text("#!/bin/sh\n")
    with pytest.raises(AmbiguousSourceError) as caught:
        find_place(tmp_path)
    assert caught.value.help == "make an archive: opkit package --format tar"


def test_what_is_no_package_is_told_with_what_would_be_one(project: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no package") as caught:
        find_place(tmp_path / "empty")
    assert MANIFEST in (caught.value.because or "")
    with pytest.raises(UsageError, match="doesn't exist"):
        find_place(tmp_path / "gone")
    with pytest.raises(UsageError, match="holds no package") as caught:
        find_place(project / "output" / "op_graph" / "lib")
    assert caught.value.help == f"name {project}/output"


def test_an_installer_alone_is_told_to_be_one(project: Path, tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "add-0.2.0-linux_x86_64.run").write_text("#!/bin/sh\n")
    with pytest.raises(InstallerFileError), opened(find_place(tmp_path / "dist")):
        pytest.fail("it was opened")


def test_a_name_that_is_too_long_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="cannot read") as caught:
        find_place("x" * 5000)
    assert caught.value.because == "File name too long"


def test_a_project_is_opened_as_it_was_built(project: Path) -> None:
    (project / "output" / MANIFEST).unlink()
    with pytest.raises(NotBuiltError), opened(find_place(project)):
        pytest.fail("it was opened")
