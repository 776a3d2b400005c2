"""`opkit inspect` of what isn't a project: libraries and OPP roots of opkit and of others, and what is neither."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from install_support import install
from manifest_support import signed
from tiny_support import REGISTERED
from waiting_support import never_waiting
from wheel_support import environment, installed_wheel, site_packages

from opkit.cli import main
from opkit.deliverable import LIBRARY, MANIFEST, Target, library_folder
from opkit.deliverable.elf import read_library
from opkit.packaging import uninstall
from opkit.toolkit import host_arch

_PLACE = str(library_folder(host_arch()) / LIBRARY)
# Registered by nobody for execution, and by nobody with a prototype.
_HALVES = """
namespace ge {
namespace op {
struct Described : Operator {};
static Operator *New() { return new Described; }
static const OperatorCreatorRegister described("Described", New);
}  // namespace op
}  // namespace ge
struct Executed : ge::BaseCustomOp {};
static ge::BaseCustomOp *New() { return new Executed; }
static const ge::CustomOpCreatorRegister executed("Executed", New);
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("my ops 算子")
    (folder / "ops.cpp").write_text(REGISTERED + _HALVES)
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", folder / "ops.cpp", "-o", folder / LIBRARY], check=True)
    return folder / LIBRARY


@pytest.fixture
def root(tmp_path: Path, library: Path) -> Path:
    """An OPP root of whomever."""
    root = tmp_path / "an output"
    (root / _PLACE).parent.mkdir(parents=True)
    shutil.copy(library, root / _PLACE)
    return root


def _told(capsys: pytest.CaptureFixture[str], target: Path, *, exit_code: int = 0) -> list[str]:
    assert main(["inspect", str(target)]) == exit_code
    out, err = capsys.readouterr()
    return [" ".join(line.split()) for line in (err if exit_code else out).splitlines()]


def test_a_library_alone_says_what_it_shows(capsys: pytest.CaptureFixture[str], library: Path) -> None:
    found = read_library(library)
    assert _told(capsys, library) == [
        LIBRARY,
        "",
        "registers 3 ops",
        "Described described by REG_OP only",
        "Executed registered for execution only: no REG_OP describes it",
        "Tiny",
        "needs",
        f"libraries {' '.join(found.needed)}",
        f"glibc {found.glibc or 'none'}",
        f"libstdc++ GLIBCXX {found.glibcxx}, CXXABI {found.cxxabi}",
        "toolkit not said",
        "is for",
        f"processor {host_arch()}",
        "string ABI any: no string goes in or out",
    ]


def test_an_opp_root_without_a_manifest_is_shown_by_its_libraries(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    shutil.copy(root / _PLACE, root / LIBRARY)
    assert main(["inspect", str(root), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["path"] for each in document["libraries"]] == [LIBRARY, _PLACE]
    assert [op["type"] for op in document["ops"]] == ["Described", "Executed", "Tiny"]
    assert (document["name"], document["manifest"], document["violations"]) == ("an output", None, [])


def test_a_manifest_adds_what_no_library_shows(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    target = Target(os="linux", arch=host_arch(), npu_arch="dav-2201", socs=("Ascend910B", "Ascend310P"))
    signed(root, [_PLACE], package="tiny", version="1.2", ops=("Tiny", "Gone"), kind="cann", target=target)
    for place in (root, root / _PLACE):
        lines = _told(capsys, place)
        assert f"{place.name}: package tiny 1.2" in lines
        assert "Tiny .INPUT(x, TensorType({DT_FLOAT})).OUTPUT(z, TensorType({DT_FLOAT}))" in lines
        assert any(line.startswith("Gone ") and line.endswith("in the manifest only: no library registers it") for line in lines)
        assert {"toolkit CANN 9.2 or newer", "built against CANN 9.2.0-sim, ABI 0", "NPU dav-2201", "SoCs Ascend910B, Ascend310P"} <= {
            *lines
        }
        assert "differs from its manifest" not in lines


def test_what_was_built_against_the_simulator_shows_it_as_its_files_do(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    signed(root, [_PLACE], package="tiny", version="1.2", ops=("Tiny",))
    lines = _told(capsys, root)
    assert f"{root.name}: package tiny 1.2+sim" in lines
    assert "built against the host simulator 9.2.0-sim, ABI 0: not for a device" in lines


def test_an_opp_root_is_called_what_the_user_calls_it(
    capsys: pytest.CaptureFixture[str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed package is a link to a folder of opkit's."""
    (root.parent / "tiny").symlink_to(root)
    signed(root, [_PLACE], package="tiny")
    monkeypatch.chdir(root)
    for place, name in ((root.parent / "tiny", "tiny"), (Path(), "an output")):
        assert _told(capsys, place)[0] == f"{name}: package tiny 0.1.0+sim"


def test_what_differs_from_the_manifest_is_told(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    (root / "op_graph/include").mkdir()
    (root / "op_graph/include/a.h").write_text("")
    signed(root, [_PLACE, "op_graph/include/a.h"])
    (root / "op_graph/include/a.h").unlink()
    assert _told(capsys, root)[-2:] == ["differs from its manifest", "op_graph/include/a.h is missing"]


def test_the_manifest_of_another_library_says_nothing(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    signed(root, [_PLACE])
    with (root / _PLACE).open("ab") as file:
        file.write(b"\0")
    assert _told(capsys, root / _PLACE)[0] == LIBRARY


def test_an_opp_root_whose_library_is_none_is_one_clear_error(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    (root / _PLACE).write_text("library")
    lines = _told(capsys, root, exit_code=4)
    assert lines[0].startswith("error[OPK0410]: ")
    assert lines[0].endswith("is no library that can be read")
    assert "because: it doesn't begin as an ELF file" in lines


def test_a_damaged_manifest_is_an_error_of_the_root_and_none_of_the_library(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    (root / MANIFEST).write_text("{")
    assert "error[OPK0405]" in _told(capsys, root, exit_code=4)[0]
    assert _told(capsys, root / _PLACE)[0] == LIBRARY


@pytest.mark.parametrize(
    ("name", "exit_code", "number"),
    [
        ("gone", 2, "OPK0100"),
        ("empty", 2, "OPK0101"),
        ("notes.txt", 4, "OPK0420"),
        ("x" * 300, 2, "OPK0101"),
        ("lib.so", 4, "OPK0410"),
        ("pipe", 2, "OPK0101"),
        ("pipe.so", 2, "OPK0101"),
    ],
)
def test_what_is_nothing_of_that_kind_is_one_clear_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, exit_code: int, number: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("mine\n")
    (tmp_path / "lib.so").write_text("mine\n")
    for pipe in ("pipe", "pipe.so"):
        os.mkfifo(tmp_path / pipe)
    with never_waiting():
        assert f"error[{number}]" in _told(capsys, tmp_path / name, exit_code=exit_code)[0]


_AS_NOBODY = """\
import os, signal, sys
from opkit.cli import main
import opkit.build.project, opkit.cli.inspect, opkit.deliverable.inspection, opkit.packaging.archive, opkit.packaging.places
os.setgroups([]), os.setgid(65534), os.setuid(65534)
sys.exit(main(["inspect", sys.argv[1]]))
"""


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_what_a_closed_folder_hides_is_not_taken_for_no_project() -> None:
    with tempfile.TemporaryDirectory(prefix="opkit-test-") as name:
        folder = Path(name)
        (folder / "closed" / "add").mkdir(parents=True)
        (folder / "closed").chmod(0)
        folder.chmod(0o755)
        environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
        argv = [sys.executable, "-c", _AS_NOBODY, str(folder / "closed" / "add")]
        done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "error[OPK0311]: cannot read " in done.stderr
    assert f"because: {folder / 'closed'} is owned by uid 0 (root), mode 0000" in done.stderr


@pytest.mark.parametrize("name", ["program", "program.so"])
def test_a_program_is_told_for_what_it_is(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", tmp_path / "main.c", "-o", tmp_path / name], check=True)
    lines = _told(capsys, tmp_path / name, exit_code=4)
    assert lines[0] == f"error[OPK0410]: {tmp_path / name} is no library that can be read"
    assert f"because: it is a 64-bit executable for {host_arch()}; opkit reads 64-bit shared libraries for aarch64 and x86_64" in lines


@pytest.fixture
def prefix(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two packages, in the prefix that is the user's own."""
    prefix = tmp_path / "a prefix"
    for package in ("mul", "add"):
        install(signed(root, [_PLACE], package=package, ops=("Tiny",), kind="cann"), prefix)
    monkeypatch.setenv("OPKIT_PREFIX", str(prefix))
    monkeypatch.chdir(tmp_path)
    return prefix


def test_an_installed_package_is_shown_by_its_name(
    capsys: pytest.CaptureFixture[str], prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = _told(capsys, prefix / "add")
    assert shown[0] == "add: package add 0.1.0"
    assert "differs from its manifest" not in shown
    assert _told(capsys, Path("add")) == shown
    monkeypatch.delenv("OPKIT_PREFIX")
    monkeypatch.setenv("HOME", str(prefix.parent))
    for arguments in (["add", "--prefix", prefix], [prefix / "add", "--json"], ["--prefix", prefix, "mul", "--json"]):
        assert main(["inspect", *map(str, arguments)]) == 0
        out = capsys.readouterr().out
        assert out.startswith("add: package add 0.1.0\n") or json.loads(out)["name"] in ("add", "mul")


def test_a_prefix_is_shown_with_all_of_its_packages(capsys: pytest.CaptureFixture[str], prefix: Path) -> None:
    assert [line for line in _told(capsys, prefix) if ": package " in line] == ["add: package add 0.1.0", "mul: package mul 0.1.0"]
    for arguments in ([prefix], ["--prefix", prefix]):
        assert main(["inspect", *map(str, arguments), "--json"]) == 0
        assert [package["name"] for package in json.loads(capsys.readouterr().out)["packages"]] == ["add", "mul"]
    # One alone is a list too: who reads it needn't know how many there are.
    uninstall(["mul"], prefix)
    assert main(["inspect", str(prefix), "--json"]) == 0
    assert [package["name"] for package in json.loads(capsys.readouterr().out)["packages"]] == ["add"]


def test_a_package_that_is_not_installed_or_is_broken_is_one_clear_error(capsys: pytest.CaptureFixture[str], prefix: Path) -> None:
    assert _told(capsys, Path("sub"), exit_code=2)[0] == "error[OPK0100]: sub doesn't exist"
    assert main(["inspect", "sub", "--prefix", str(prefix)]) == 2
    assert "sub isn't installed in" in capsys.readouterr().err
    (prefix / "add" / MANIFEST).write_text("{")
    for target in (Path("add"), prefix / "add"):
        lines = _told(capsys, target, exit_code=4)
        assert lines[0] == f"error[OPK0405]: the package add in {prefix} is broken"
        assert any("is no manifest that this opkit can read" in line for line in lines[1:])


def test_a_broken_package_of_a_prefix_hides_no_other(capsys: pytest.CaptureFixture[str], prefix: Path, root: Path) -> None:
    install(signed(root, [_PLACE], package="sub", ops=("Tiny",), kind="cann"), prefix)
    (prefix / "add" / MANIFEST).write_text("{")
    (prefix / "mul" / _PLACE).write_text("library")
    for arguments in ([prefix], ["--prefix", prefix]):
        assert main(["inspect", *map(str, arguments)]) == 4
        out, err = capsys.readouterr()
        assert out.startswith("sub: package sub 0.1.0\n")
        assert f"error[OPK0405]: the package add in {prefix} is broken\n" in err
        assert "error[OPK0410]: " in err
    assert main(["inspect", str(prefix), "--json"]) == 4
    add, mul, sub = json.loads(capsys.readouterr().out)["packages"]
    assert (add["name"], add["error"]["number"]) == ("add", "OPK0405")
    assert (mul["name"], mul["error"]["number"]) == ("mul", "OPK0410")
    assert (sub["name"], sub["manifest"]["package"], "error" in sub) == ("sub", "sub", False)


def test_the_packages_of_a_python_are_shown(capsys: pytest.CaptureFixture[str], library: Path, tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    for name in ("mul", "add"):
        root = installed_wheel(site_packages(python), name)
        shutil.copy(library, root / _PLACE)
        signed(root, [_PLACE], package=name)
    assert main(["inspect", "mul", "--python", str(python)]) == 0
    assert capsys.readouterr().out.startswith("mul: package mul 0.1.0+sim\n")
    (root / MANIFEST).unlink()
    assert main(["inspect", "--python", str(python), "--json"]) == 4
    add, mul = json.loads(capsys.readouterr().out)["packages"]
    assert (add["name"], add["error"]["number"], mul["name"]) == ("add", "OPK0405", "mul")


def test_a_folder_of_the_name_of_a_package_is_told_with_a_command_that_shows_the_package(
    capsys: pytest.CaptureFixture[str], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = installed_wheel(tmp_path / "site", "sub")
    monkeypatch.syspath_prepend(tmp_path / "site")
    root.rename(tmp_path / "sub")
    monkeypatch.chdir(tmp_path)
    assert main(["inspect", "sub"]) == 0
    told = capsys.readouterr().err
    assert f"warning: this is {tmp_path}/sub, and not the package sub in {package}\n" in told
    assert f"  help: that one: opkit inspect sub --python {sys.executable}\n" in told


def test_the_package_of_a_wheel_is_shown_by_its_name(
    capsys: pytest.CaptureFixture[str], library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = installed_wheel(tmp_path / "site", "sub")
    shutil.copy(library, root / _PLACE)
    signed(root, [_PLACE], package="sub")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.chdir(tmp_path)
    assert _told(capsys, Path("sub"))[0] == "sub: package sub 0.1.0+sim"


def test_a_name_gives_the_terminal_no_orders(capsys: pytest.CaptureFixture[str], library: Path, tmp_path: Path) -> None:
    content = library.read_bytes()
    assert b"libstdc++.so.6\0" in content
    (tmp_path / LIBRARY).write_bytes(content.replace(b"libstdc++.so.6\0", b"\x1b[31mlibc++.10\0"))
    assert any(line.startswith("libraries ?[31mlibc++.10") for line in _told(capsys, tmp_path / LIBRARY))


def test_a_misspelt_path_gets_the_nearest_package(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    signed(root, [_PLACE])
    assert _told(capsys, root.with_name("an outptu"), exit_code=2)[-1] == f"help: did you mean '{root}'?"


def test_what_is_nothing_to_inspect_is_told_with_all_that_could_be(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    help_line = "help: name a project, an OPP root, a library, an archive, a wheel, a prefix or an installed package"
    error, *_, advice = _told(capsys, tmp_path / "nosuch.whl", exit_code=2)
    assert error.endswith(f"{tmp_path}/nosuch.whl doesn't exist")
    assert advice == help_line
    (tmp_path / "empty").mkdir()
    error, *_, advice = _told(capsys, tmp_path / "empty", exit_code=2)
    assert error.endswith(f"{tmp_path}/empty is nothing that can be inspected")
    assert advice == help_line
