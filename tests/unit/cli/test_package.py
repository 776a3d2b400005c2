"""package and verify as a person or a script calls them, on a project of one small library that is really built."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from archive_support import HEADER, opp_root
from install_support import install
from tiny_support import Tiny
from tool_support import require_tool
from wheel_support import installed_wheel

from opkit import codegen, spec
from opkit.cli import main
from opkit.deliverable import MANIFEST, Requires
from opkit.packaging import open_archive, pack
from opkit.toolkit import Toolkit, host_arch


@pytest.fixture
def home(tmp_path: Path, make_toolkit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A toolkit that looks like CANN's."""
    home = make_toolkit(tmp_path / "cann")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
    return home


@pytest.fixture
def tiny(tmp_path: Path, home: Path, toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    tiny = Tiny(tmp_path / "my ops 算子" / "tiny", toolkit)
    (tiny.root / "pyproject.toml").write_text('[project]\nname = "tiny"\nversion = "1.2.3"\n')
    monkeypatch.setattr(spec, "load_package", tiny.load)
    monkeypatch.setattr(codegen, "render", tiny.render)
    monkeypatch.chdir(tiny.root)
    return tiny


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """Runs a command with --json, holds it to its exit, and gives its document."""

    def run(*arguments: str | Path, exit_code: int = 0) -> dict[str, Any]:
        assert main([*map(str, arguments), "--json"]) == exit_code
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return document

    return run


@pytest.fixture
def verified(told: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """What `verify` says of one package."""

    def run(*arguments: str | Path, exit_code: int = 0) -> dict[str, Any]:
        (package,) = told("verify", *arguments, exit_code=exit_code)["packages"]
        return dict(package)

    return run


def test_package_builds_what_is_out_of_date_and_packs_it(
    tiny: Tiny, told: Callable[..., dict[str, Any]], verified: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"tiny-1.2.3-linux_{host_arch()}.tar.gz"
    packed = told("package")
    assert packed["path"] == str(tiny.root / "dist" / name)
    assert packed["sha256"] == hashlib.sha256((tiny.root / "dist" / name).read_bytes()).hexdigest()
    assert packed["built_against"]["kind"] == "cann"
    assert told("package")["sha256"] == packed["sha256"]
    # Nothing stale: the next one holds what ops.py says now.
    tiny.say("7")
    newer = told("package", "--dest", "./gone/../else where")
    assert newer["path"] == str(tiny.root / "else where" / name)
    assert newer["sha256"] != packed["sha256"]
    assert main(["package"]) == 0
    out, err = capsys.readouterr()
    assert Path(out.rstrip("\n")) == tiny.root / "dist" / name
    assert newer["sha256"] in err


def test_package_refuses_what_was_built_against_the_simulator_or_marks_it(
    tiny: Tiny, home: Path, told: Callable[..., dict[str, Any]]
) -> None:
    (home / "opkit-simulator.json").write_text(json.dumps({"kind": "simulator", "version": "9.2.0-sim"}))
    refused = told("package", exit_code=2)["error"]
    assert (refused["number"], "--allow-simulator" in refused["help"]) == ("OPK0110", True)
    assert refused["message"] == f"{home} is the host simulator, and a package that is built with it is for no device"
    assert not (tiny.root / "dist").exists()
    assert not (tiny.root / "build").exists(), "it is told before anything is built"
    packed = told("package", "--allow-simulator")
    assert Path(packed["path"]).name == f"tiny-1.2.3+sim-linux_{host_arch()}.tar.gz"
    # By hand the name can be changed, what it was built against can't.
    with open_archive(Path(packed["path"]).rename(tiny.root / "tiny.tar.gz")) as root:
        assert root.manifest.built_against.is_simulator


def test_package_tells_before_it_builds_what_it_can_not_do(
    tiny: Tiny, told: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--format tar --compression zst" in told("package", "--format", "wheel", "--compression", "zst", exit_code=2)["error"]["help"]
    (tiny.root.parent / "bin").mkdir()
    with monkeypatch.context() as without_makeself:
        without_makeself.setenv("PATH", str(tiny.root.parent / "bin"))
        assert told("package", "--format", "run", exit_code=3)["error"]["help"] == "sudo apt install makeself"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert "SOURCE_DATE_EPOCH=yesterday" in told("package", exit_code=2)["error"]["because"]
    assert not (tiny.root / "build").exists()


_WHEEL = """\
[build-system]
build-backend = "scikit_build_core.build"

[project]
name = "tiny"
version = "1.2.3"
"""
_ENTRY = '[project.entry-points."opkit.opp"]\ntiny = "tiny"\n'


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("", "pyproject.toml names no entry point of opkit.opp, by which they look"),
        (f'{_ENTRY}[project.scripts]\ntiny = "tiny:main"\n', "pyproject.toml has tiny = tiny:main in [project.scripts]"),
        (f'{_ENTRY}[project.gui-scripts]\ntiny = "tiny:main"\n', "pyproject.toml has tiny = tiny:main in [project.gui-scripts]"),
        (f'{_ENTRY}[project.entry-points.pytest11]\nx = "y"\n', "pyproject.toml has x = y in [project.entry-points.pytest11]"),
        (f'{_ENTRY}other = "tiny"\n', 'pyproject.toml has other = tiny in [project.entry-points."opkit.opp"]'),
    ],
    ids=["none", "a command", "a window", "another group", "another name"],
)
def test_a_wheel_with_other_entry_points_than_that_of_its_ops_is_told_before_anything_is_built(
    text: str, because: str, tiny: Tiny, told: Callable[..., dict[str, Any]]
) -> None:
    (tiny.root / "pyproject.toml").write_text(_WHEEL + text)
    error = told("package", "--format", "wheel", exit_code=2)["error"]
    assert error["because"].startswith(because)
    assert "pyproject.toml" in error["help"]
    assert not (tiny.root / "build").exists()


@pytest.mark.case("K2")
def test_verify_tells_all_that_is_wrong_and_exits_4(
    tiny: Tiny, told: Callable[..., dict[str, Any]], verified: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    told("package")
    header = next((tiny.root / "output").rglob("tiny.h"))
    header.unlink()
    next((tiny.root / "output").rglob("libcust_opapi.so")).write_bytes(b"")
    document = verified(exit_code=4)
    assert f"{header.relative_to(tiny.root / 'output')} is missing" in document["violations"]
    assert len(document["violations"]) > 2
    assert main(["verify", "--no-load"]) == 4
    err = capsys.readouterr().err
    assert "error[OPK0425]" in err
    assert "Held 2 files: size and SHA-256, against the manifest" in err
    # What was packed before is whole.
    assert verified("dist")["violations"] == []


@pytest.mark.case("K6")
def test_verify_passes_where_neither_project_nor_build_is(
    tiny: Tiny,
    tmp_path: Path,
    told: Callable[..., dict[str, Any]],
    verified: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packed = Path(told("package")["path"]).rename(tmp_path / "tiny.tar.gz")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    shutil.rmtree(tiny.root)
    document = verified(Path("..", "tiny.tar.gz"))
    assert document["violations"] == document["skipped"] == []
    assert (Path(document["archive"]).resolve(), document["opp_root"]) == (packed, None)
    assert Path(document["archive"]).is_absolute()
    assert any("loaded in a process of its own" in sentence for sentence in document["held"])
    # Without loading it needs no toolkit.
    monkeypatch.setenv("ASCEND_HOME_PATH", "/nope")
    assert verified(packed, "--no-load")["skipped"] == ["not loaded, as you wished"]
    assert told("verify", packed, exit_code=3)["error"]["kind"] == "ToolkitError"


@pytest.mark.case("K9")
def test_a_folder_of_two_archives_asks_for_one(tmp_path: Path, home: Path, told: Callable[..., dict[str, Any]]) -> None:
    packed = pack(opp_root(tmp_path / "output", kind="cann"), tmp_path / "dist").path
    shutil.copy(packed, packed.with_name("add-0.0.9-linux_x86_64.tar.gz"))
    refused = told("verify", tmp_path / "dist", exit_code=2)["error"]
    assert refused["number"] == "OPK0111"
    assert packed.name in refused["because"]


def test_verify_refuses_an_archive_that_lies(tmp_path: Path, home: Path, told: Callable[..., dict[str, Any]]) -> None:
    packed = pack(opp_root(tmp_path / "output", kind="cann"), tmp_path / "dist").path
    packed.write_bytes(packed.read_bytes()[:-1])
    assert told("verify", packed, exit_code=4)["error"]["number"] == "OPK0420"


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With two packages: add, of which a file was edited, and mul."""
    prefix = tmp_path / "the prefix"
    for package in ("add", "mul"):
        install(opp_root(tmp_path / package, kind="cann", package=package, ops=(package.title(),)), prefix)
    (prefix / "add" / HEADER).write_text("edited")
    monkeypatch.setenv("OPKIT_PREFIX", str(prefix))
    monkeypatch.chdir(tmp_path / "add")
    return prefix


def test_verify_takes_the_name_of_an_installed_package(prefix: Path, verified: Callable[..., dict[str, Any]]) -> None:
    edited = f"{HEADER} isn't the file that was built"
    for arguments in (["add", "--prefix", prefix], ["add"], [prefix / "add"]):
        document = verified(*arguments, "--no-load", exit_code=4)
        assert document["opp_root"] == str(prefix / "add")
        assert document["archive"] is None
        assert edited in document["violations"]
    # The OPP root in the current folder is whole.
    assert verified(".", "--no-load")["violations"] == []


def test_verify_takes_a_whole_prefix_with_what_is_broken(prefix: Path, told: Callable[..., dict[str, Any]]) -> None:
    (prefix / "mul" / MANIFEST).write_text("{")
    for arguments in ([prefix], ["--prefix", prefix]):
        packages = told("verify", *arguments, "--no-load", exit_code=4)["packages"]
        assert [package["opp_root"] for package in packages] == [str(prefix / "add"), str(prefix / "mul")]
        assert "is no manifest that this opkit can read" in packages[1]["violations"][0]


def test_verify_of_what_is_not_installed_is_a_usage_error(prefix: Path, tmp_path: Path, told: Callable[..., dict[str, Any]]) -> None:
    assert "sub isn't installed" in told("verify", "sub", "--prefix", prefix, "--no-load", exit_code=2)["error"]["message"]
    assert "nothing is installed" in told("verify", "--prefix", tmp_path / "gone", "--no-load", exit_code=2)["error"]["message"]
    assert "sub doesn't exist" in told("verify", "sub", "--no-load", exit_code=2)["error"]["message"]


def test_verify_holds_an_installed_package_against_its_receipt(prefix: Path, verified: Callable[..., dict[str, Any]]) -> None:
    """Who edits a file can write its new hash into the manifest beside it."""
    assert f"{HEADER} isn't the file that was installed, by the receipt" not in verified("add", "--no-load", exit_code=4)["violations"]
    manifest = prefix / "add" / MANIFEST
    document = json.loads(manifest.read_text())
    for file in document["files"]:
        if file["path"] == HEADER:
            file |= {"sha256": hashlib.sha256(b"edited").hexdigest(), "size": len("edited")}
    manifest.write_text(json.dumps(document))
    for named in ("add", prefix / "add", prefix / "add" / "op_graph" / ".."):
        violations = verified(named, "--no-load", exit_code=4)["violations"]
        assert f"{HEADER} isn't the file that was built" not in violations
        assert f"{HEADER} isn't the file that was installed, by the receipt" in violations
        assert f"{MANIFEST} isn't the file that was installed, by the receipt" in violations


def test_verify_takes_the_name_of_a_package_in_a_wheel(
    prefix: Path, tmp_path: Path, verified: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = installed_wheel(tmp_path / "site", "sub")
    monkeypatch.syspath_prepend(tmp_path / "site")
    document = verified("sub", "--no-load")
    assert (document["opp_root"], document["package"], document["violations"]) == (str(root), "sub", [])


_AS_NOBODY = """\
import os, sys
from opkit.cli import main
import opkit.cli.root, opkit.deliverable.elf, opkit.packaging.places, opkit.packaging.verifying, opkit.run.installed
os.setgroups([]), os.setgid(65534), os.setuid(65534)
sys.exit(main(["verify", "--no-load", sys.argv[1]]))
"""


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.parametrize("named", ["closed/add", "closed/add.tar.gz", "closed", "unreadable.tar.gz", "holes"])
def test_verify_says_whose_it_is_that_can_not_be_read(named: str) -> None:
    with tempfile.TemporaryDirectory(prefix="opkit-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "closed" / "add").mkdir(parents=True)
        (folder / "closed").chmod(0o700)
        (folder / "unreadable.tar.gz").touch(mode=0o600)
        root = opp_root(folder / "holes", kind="cann")
        (root.path / HEADER).chmod(0o600)
        (root.path / HEADER).parent.chmod(0o700)
        environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
        argv = [sys.executable, "-c", _AS_NOBODY, str(folder / named)]
        done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    if named == "holes":
        assert done.returncode == 4
        assert f"{HEADER} can't be read: Permission denied" in done.stderr
    else:
        assert done.returncode == 3, done.stderr
        assert "is owned by uid 0 (root)" in done.stderr


@pytest.mark.parametrize("version", ["-rf", "1.0 beta", "1.0;x", "../../x", "v" * 129, ""])
def test_a_version_that_no_package_can_have_is_told_before_anything_is_configured(
    version: str, tiny: Tiny, told: Callable[..., dict[str, Any]]
) -> None:
    (tiny.root / "pyproject.toml").write_text(f'# mine\n[project]\nname = "tiny"\nversion = "{version}"  # so\n\n[tool.x]\n')
    for command in ("build", "package"):
        error = told(command, exit_code=2)["error"]
        assert error["number"] == "OPK0132"
        assert error["where"] == f'pyproject.toml:4   version = "{version}"  # so'
    assert not list((tiny.root / "build").rglob("CMakeCache.txt"))


def test_no_format_packs_what_is_no_package(tiny: Tiny, told: Callable[..., dict[str, Any]]) -> None:
    tiny.files["CMakeLists.txt"] += 'file(WRITE "${CMAKE_BINARY_DIR}/extra.so" text)\n'
    tiny.files["CMakeLists.txt"] += 'install(FILES "${CMAKE_BINARY_DIR}/extra.so" DESTINATION op_graph)\n'
    for form in ("tar", "wheel"):
        error = told("package", "--format", form, exit_code=4)["error"]
        assert (
            error["because"]
            == "op_graph/extra.so: it is no library that can be read, and GE loads it with the others: it doesn't begin as an ELF file"
        )


@pytest.mark.parametrize("form", ["tar", "run"])
@pytest.mark.parametrize("dynamic", ['dynamic = ["version"]', "dynamic = [\n  'readme',\n  'version',\n]"])
def test_a_version_that_is_not_written_down_is_no_version_of_an_archive(
    dynamic: str, form: str, tiny: Tiny, told: Callable[..., dict[str, Any]]
) -> None:
    if form == "run":
        require_tool("makeself", "makeself")
    (tiny.root / "pyproject.toml").write_text(f'[project]\nname = "tiny"\n{dynamic}\n\n[tool.x]\n')
    error = told("package", "--format", form, exit_code=2)["error"]
    assert (error["number"], error["where"].partition("   ")[0]) == ("OPK0132", "pyproject.toml:3")
    assert "--format wheel" in error["help"]
    assert not (tiny.root / "build").exists()


def test_a_project_whose_version_is_not_written_down_builds(tiny: Tiny, told: Callable[..., dict[str, Any]]) -> None:
    (tiny.root / "pyproject.toml").write_text('[project]\nname = "tiny"\ndynamic = ["version"]\n')
    told("build")
    assert json.loads((tiny.root / "output" / MANIFEST).read_text())["version"] == "0"


def test_an_archive_is_installed_without_a_toolkit(
    tmp_path: Path, told: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = pack(opp_root(tmp_path / "output", kind="cann"), tmp_path / "dist").path
    monkeypatch.setenv("ASCEND_HOME_PATH", "/nope")
    assert told("install", packed, "--prefix", tmp_path / "prefix")["packages"][0]["package"] == "add"
    assert told("install", packed, "--prefix", tmp_path / "prefix", "--toolkit", "/nope", exit_code=3)["error"]["kind"] == "ToolkitError"


def test_an_archive_that_wants_a_newer_toolkit_is_installed_with_a_warning(
    tmp_path: Path, home: Path, told: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    packed = pack(opp_root(tmp_path / "output", kind="cann", requires=Requires(toolkit="9.9")), tmp_path / "dist").path
    assert main(["install", str(packed), "--prefix", str(tmp_path / "prefix")]) == 0
    assert "warning: add 0.1.0 needs toolkit 9.9 or newer: the toolkit in use is 9.2.0" in capsys.readouterr().err
