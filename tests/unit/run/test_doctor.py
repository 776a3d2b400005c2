"""`doctor`: each thing that stops a build or a run, found before it does."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from manifest_support import signed

from opkit import resources
from opkit.build import Project
from opkit.deliverable import LIBRARY, library_folder
from opkit.run import Status, examine
from opkit.toolkit import discovery, host_arch

if TYPE_CHECKING:
    from opkit.run.doctor import Finding

_FOLDER = library_folder(host_arch())
_HEADER = "op_graph/include/add.h"


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("library")
    (folder / "x.c").write_text("int x;\n")
    subprocess.run(["g++", "-shared", "-fPIC", "-x", "c", folder / "x.c", "-o", folder / "x.so"], check=True)
    return (folder / "x.so").read_bytes()


@pytest.fixture
def environ(tmp_path: Path, make_toolkit: Callable[..., Path]) -> dict[str, str]:
    home = make_toolkit(tmp_path / "toolkit", simulator="9.2.0-sim")
    return {"PATH": os.environ["PATH"], "ASCEND_HOME_PATH": str(home)}


@pytest.fixture
def project(tmp_path: Path, library: bytes) -> Project:
    root = tmp_path / "my ops"
    (root / "output" / _FOLDER).mkdir(parents=True)
    (root / "output" / _FOLDER / LIBRARY).write_bytes(library)
    (root / "output" / _HEADER).parent.mkdir(parents=True)
    (root / "output" / _HEADER).write_text("")
    (root / "ops.py").write_text("")
    signed(root / "output", [str(_FOLDER / LIBRARY), _HEADER])
    return Project.find(root)


def _by_id(findings: list[Finding], name: str) -> Finding:
    return next(finding for finding in findings if finding.id == name)


def _failures(findings: list[Finding]) -> list[str]:
    return [finding.id for finding in findings if finding.status is Status.FAIL]


def test_a_machine_that_is_in_order_has_no_failure_and_is_told_quickly(environ: dict[str, str], project: Project) -> None:
    started = time.monotonic()
    findings = examine(environ, project=project)
    assert time.monotonic() - started < 5
    assert _failures(findings) == []
    assert {finding.id for finding in findings} >= {
        "toolkit",
        "headers",
        "compiler",
        "cmake",
        "ninja",
        "deliverable",
        "header",
        "library",
        "device",
    }


def test_without_a_project_the_computer_is_examined(environ: dict[str, str]) -> None:
    findings = examine(environ, project=None)
    assert _failures(findings) == []
    assert "deliverable" not in {finding.id for finding in findings}


def test_the_toolkit_is_named_with_the_reason_why_it_is_this_one(environ: dict[str, str]) -> None:
    evidence = _by_id(examine(environ, project=None), "toolkit").evidence
    assert environ["ASCEND_HOME_PATH"] in evidence
    assert "named by ASCEND_HOME_PATH" in evidence


def test_a_wrong_toolkit_is_a_failure_and_the_rest_is_still_examined(environ: dict[str, str]) -> None:
    findings = examine(environ | {"ASCEND_HOME_PATH": "/nope"}, project=None)
    assert _failures(findings) == ["toolkit"]
    assert "does not exist" in _by_id(findings, "toolkit").evidence
    assert _by_id(findings, "compiler").status is Status.OK


def test_missing_tools_are_failures_that_say_what_to_install(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opkit.toolkit.tools._wheel_folders", lambda _: [])
    findings = examine(environ | {"PATH": "/nowhere"}, project=None)
    assert _failures(findings) == ["compiler", "cmake", "ninja"]
    assert _by_id(findings, "compiler").help == "sudo apt install -y g++"
    assert _by_id(findings, "cmake").help == "pip install cmake"


def test_a_compiler_that_is_too_old_is_a_failure(
    environ: dict[str, str], tmp_path: Path, make_program: Callable[[Path, str], Path]
) -> None:
    path = make_program(tmp_path / "bin" / "g++", "#!/bin/sh\necho 4.8.5\n")
    finding = _by_id(examine(environ | {"CXX": str(path)}, project=None), "compiler")
    assert finding.status is Status.FAIL
    assert "4.8.5" in finding.evidence


def test_headers_that_an_older_toolkit_lacks_are_a_failure(environ: dict[str, str]) -> None:
    (Path(environ["ASCEND_HOME_PATH"]) / "include/graph/custom_op.h").unlink()
    finding = _by_id(examine(environ, project=None), "headers")
    assert finding.status is Status.FAIL
    assert "graph/custom_op.h" in finding.evidence


def test_a_project_that_was_not_built_is_a_warning(environ: dict[str, str], project: Project) -> None:
    (project.output / "opkit-manifest.json").unlink()
    finding = _by_id(examine(environ, project=project), "deliverable")
    assert finding.status is Status.WARN
    assert finding.help == f"opkit build {shlex.quote(str(project.root))}"


@pytest.mark.parametrize("name", [str(_FOLDER / LIBRARY), _HEADER])
def test_a_missing_file_of_the_deliverable_is_a_failure(environ: dict[str, str], project: Project, name: str) -> None:
    (project.output / name).unlink()
    finding = _by_id(examine(environ, project=project), "deliverable")
    assert finding.status is Status.FAIL
    assert finding.evidence == f"{name} is missing"


def test_a_deliverable_without_a_header_is_a_failure(environ: dict[str, str], project: Project) -> None:
    signed(project.output, [str(_FOLDER / LIBRARY)])
    assert _failures(examine(environ, project=project)) == ["header"]


def test_a_deliverable_of_another_toolkit_is_a_warning(environ: dict[str, str], project: Project) -> None:
    signed(project.output, [str(_FOLDER / LIBRARY), _HEADER], kind="cann")
    finding = _by_id(examine(environ, project=project), "built-against")
    assert finding.status is Status.WARN


@pytest.mark.case("E10")
@pytest.mark.parametrize(
    ("entry", "status", "told"),
    [
        ("{tmp}/gone", Status.FAIL, "does not exist"),
        ("{tmp}/file", Status.FAIL, "is a file"),
        ("{tmp}/my ops/output/op_graph/lib/linux/" + host_arch(), Status.WARN, "lies inside an OPP root"),
        ("{tmp}/my ops/output/op_graph", Status.FAIL, "lies inside an OPP root"),
        ("{tmp}/my ops", Status.FAIL, "is no OPP root, but holds one"),
        ("{tmp}/empty", Status.WARN, "has no .so"),
        ("", Status.WARN, "an empty element"),
        ("relative/folder", Status.FAIL, "is relative"),
        ("{relative}", Status.WARN, "is relative"),
        ("{tmp}/my ops/output", Status.OK, "output"),
    ],
)
def test_every_entry_of_the_path_list_is_judged(
    *, environ: dict[str, str], project: Project, tmp_path: Path, entry: str, status: Status, told: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    value = f"{project.output}:{entry.format(tmp=tmp_path, relative=os.path.relpath(project.output))}"
    finding = _by_id(examine(environ | {"ASCEND_CUSTOM_OPP_PATH": value}, project=None), "opp-path[1]")
    assert finding.status is status
    assert told in finding.evidence
    if "inside" in told:
        assert f"lies inside an OPP root, {project.output};" in finding.evidence
    if status is not Status.OK:
        # One command mends the whole list.
        assert finding.help == f"export ASCEND_CUSTOM_OPP_PATH='{project.output}'"


@pytest.mark.parametrize("name", [f"{_FOLDER}/liba_broken.so", LIBRARY])
def test_a_library_that_does_not_load_is_found_in_a_child(environ: dict[str, str], project: Project, name: str) -> None:
    broken = project.output / name
    broken.write_text("no library")
    findings = [finding for finding in examine(environ, project=project) if finding.id == "library"]
    assert {finding.status for finding in findings if str(broken) in finding.evidence} == {Status.FAIL}
    assert len(findings) == 2
    assert all("GEInitialize" in finding.evidence for finding in findings if finding.status is Status.FAIL)


def test_a_library_that_kills_its_loader_does_not_kill_doctor(environ: dict[str, str], project: Project, tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text("#include <stdlib.h>\n__attribute__((constructor)) static void die(void) { abort(); }\n")
    target = project.output / _FOLDER / "libdies.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-x", "c", tmp_path / "x.c", "-o", target], check=True)
    findings = [finding for finding in examine(environ, project=project) if "libdies.so" in finding.evidence]
    assert findings[0].status is Status.FAIL


def test_an_op_that_is_shadowed_by_an_earlier_entry_is_a_warning(
    environ: dict[str, str], project: Project, tmp_path: Path, library: bytes
) -> None:
    other = tmp_path / "other"
    (other / _FOLDER).mkdir(parents=True)
    (other / _FOLDER / LIBRARY).write_bytes(library)
    signed(other, [str(_FOLDER / LIBRARY)], ops=("Sub", "Add"))
    findings = examine(environ | {"ASCEND_CUSTOM_OPP_PATH": f"{project.output}:{other}"}, project=None)
    assert _by_id(findings, "shadowed").evidence == f"Add of {other} is shadowed by {project.output}: the first registration wins"


def test_an_empty_element_of_the_library_path_is_a_warning(environ: dict[str, str]) -> None:
    finding = _by_id(examine(environ | {"LD_LIBRARY_PATH": "/x:"}, project=None), "library-path")
    assert finding.status is Status.WARN


def test_the_threads_of_the_simulator_are_those_that_it_would_use(environ: dict[str, str]) -> None:
    assert f"{len(os.sched_getaffinity(0))} threads" in _by_id(examine(environ, project=None), "device").evidence
    assert "7 threads" in _by_id(examine(environ | {"OPKIT_SIM_THREADS": "7"}, project=None), "device").evidence


def test_the_simulator_says_what_its_times_are_worth(environ: dict[str, str]) -> None:
    assert "this computer's" in _by_id(examine(environ, project=None), "device").evidence


def test_a_toolkit_of_cann_without_a_device_is_a_warning(
    environ: dict[str, str], tmp_path: Path, make_toolkit: Callable[..., Path]
) -> None:
    if list(Path("/dev").glob("davinci*")):
        pytest.skip("this computer has a device")
    home = make_toolkit(tmp_path / "cann")
    assert _by_id(examine(environ | {"ASCEND_HOME_PATH": str(home)}, project=None), "device").status is Status.WARN


def test_no_toolkit_anywhere_is_a_failure(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "_BASES", ())
    monkeypatch.setattr(resources, "bundled_toolkit", lambda: None)
    del environ["ASCEND_HOME_PATH"]
    assert _failures(examine(environ, project=None)) == ["toolkit"]
