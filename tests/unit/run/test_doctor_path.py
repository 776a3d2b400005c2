"""`doctor` about the places where GE looks: what keeps a library from loading, what hides an op, what is read otherwise than meant."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from manifest_support import signed

from opkit.deliverable import LIBRARY, Target, library_folder
from opkit.lookup import lookup
from opkit.run import Finding, Status
from opkit.run.doctor_path import Loaded, library_path, load_all, loading, origins, path_list, shadowed, vendors
from opkit.toolkit import Kind, Toolkit, host_arch

if TYPE_CHECKING:
    from opkit.lookup import Lookup

_FOLDER = library_folder(host_arch())


def _compiled(target: Path, text: str, *options: str | Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    source = target.with_suffix(".c")
    source.write_text(text)
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", target, *options], check=True)
    source.unlink()
    return target


def _looked(*roots: Path, toolkit: Toolkit | None = None, **variables: str) -> Lookup:
    return lookup({"ASCEND_CUSTOM_OPP_PATH": ":".join(map(str, roots)), **variables}, toolkit)


def _loaded(toolkit: Toolkit, *roots: Path) -> list[Finding]:
    found = _looked(*roots, toolkit=toolkit)
    return list(loading(found, load_all(found, toolkit, {"PATH": os.environ["PATH"]})))


@pytest.fixture
def cann(toolkit: Toolkit) -> Toolkit:
    return toolkit._replace(kind=Kind.CANN, arch=host_arch())


@pytest.mark.case("F1")
def test_what_keeps_a_library_from_loading_is_named_and_the_others_are_still_tried(toolkit: Toolkit, tmp_path: Path) -> None:
    missing = _compiled(tmp_path / "libmissing_helper.so", "int helper(void) { return 1; }\n")
    folder = tmp_path / "opp" / _FOLDER
    _compiled(folder / "a.so", "int other(void); int a(void) { return other(); }\n", "-Wl,-z,lazy")
    _compiled(folder / "b.so", "int helper(void); int b(void) { return helper(); }\n", missing)
    _compiled(folder / "c.so", "#include <stdlib.h>\n__attribute__((constructor)) static void die(void) { abort(); }\n")
    _compiled(folder / "d.so", "int d;\n")
    (folder / "e.so").write_text("no library")
    missing.unlink()
    findings = {Path(finding.evidence.split()[0]).name: finding for finding in _loaded(toolkit, tmp_path / "opp")}
    assert list(findings) == ["a.so", "b.so", "c.so", "d.so", "e.so"]
    assert findings["a.so"].evidence.endswith("so GEInitialize fails for every op: it needs the symbol other, which no library has")
    assert findings["b.so"].evidence.endswith(f"it needs {missing}, which isn't found")
    assert findings["c.so"].evidence.endswith("loading it ended with 134")
    assert findings["d.so"].status is Status.OK
    assert "file too short" in findings["e.so"].evidence or "invalid ELF header" in findings["e.so"].evidence
    # What mends all of them at once is to leave the root out.
    assert {finding.help for finding in findings.values() if finding.status is Status.FAIL} == {"unset ASCEND_CUSTOM_OPP_PATH"}


def test_a_library_for_another_computer_is_told_without_a_try(toolkit: Toolkit, tmp_path: Path) -> None:
    library = _compiled(tmp_path / "opp" / _FOLDER / LIBRARY, "int x;\n")
    other, machine = ("aarch64", 183) if host_arch() == "x86_64" else ("x86_64", 62)
    content = bytearray(library.read_bytes())
    content[18:20] = machine.to_bytes(2, "little")
    library.write_bytes(content)
    (finding,) = _loaded(toolkit, tmp_path / "opp")
    assert finding.status is Status.FAIL
    assert finding.evidence.endswith(f"it is for {other}, this computer is {host_arch()}")


def test_a_library_that_is_named_twice_is_loaded_once(toolkit: Toolkit, tmp_path: Path) -> None:
    _compiled(tmp_path / "opp" / _FOLDER / LIBRARY, "int x;\n")
    assert len(_loaded(toolkit, tmp_path / "opp", tmp_path / "opp")) == 1


def test_a_library_finds_those_of_the_toolkit(toolkit: Toolkit, tmp_path: Path) -> None:
    lowering = toolkit.lib64 / "liblowering.so"
    lowering.unlink()
    _compiled(lowering, "int lower(void) { return 1; }\n", "-Wl,-soname,liblowering.so")
    _compiled(tmp_path / "opp" / _FOLDER / LIBRARY, "int lower(void); int x(void) { return lower(); }\n", lowering)
    (finding,) = _loaded(toolkit, tmp_path / "opp")
    assert finding.status is Status.OK


def test_a_library_that_only_a_program_of_ges_can_load_is_a_warning(toolkit: Toolkit, tmp_path: Path) -> None:
    """It isn't linked with what it needs; a program that is has it in reach, a Python that imports GE hasn't."""
    runner = toolkit.lib64 / "libge_runner.so"
    runner.unlink()
    _compiled(runner, "int run(void) { return 1; }\n", "-Wl,-soname,libge_runner.so")
    folder = tmp_path / "opp" / _FOLDER
    _compiled(folder / "a.so", "int run(void); int a(void) { return run(); }\n")
    _compiled(folder / "b.so", "int other(void); int b(void) { return other(); }\n")
    helped, broken = _loaded(toolkit, tmp_path / "opp")
    assert (helped.status, broken.status) == (Status.WARN, Status.FAIL)
    assert helped.evidence.endswith("linked with GE's libraries: by itself, it needs the symbol run, which no library has")


def test_a_stray_library_in_a_sound_package_is_removed_alone(toolkit: Toolkit, tmp_path: Path) -> None:
    _compiled(tmp_path / "opp" / _FOLDER / LIBRARY, "int x;\n")
    signed(tmp_path / "opp", [str(_FOLDER / LIBRARY)])
    (tmp_path / "opp" / _FOLDER / "readme.so").write_text("hello")
    sound, stray = _loaded(toolkit, tmp_path / "opp")
    assert (sound.status, stray.help) == (Status.OK, f"rm {tmp_path}/opp/{_FOLDER}/readme.so")


def test_a_library_that_this_user_may_not_read_is_opened_to_him(tmp_path: Path) -> None:
    _compiled(tmp_path / "opp" / _FOLDER / LIBRARY, "int x;\n")
    found = _looked(tmp_path / "opp", tmp_path / "opp2")
    (library,) = found.custom[0].libraries
    loaded = [Loaded(library, f"{library.path}: cannot open shared object file: Permission denied", is_helped=False)]
    (finding,) = loading(found, loaded)
    assert finding.help == f"chmod a+r {library.path}"
    assert {finding.help for finding in path_list(found, loaded)} == {"unset ASCEND_CUSTOM_OPP_PATH"}


def test_all_that_is_wrong_with_the_list_is_mended_by_one_command(toolkit: Toolkit, tmp_path: Path) -> None:
    """Each finding alone would keep what the others take out."""
    for name in ("good", "copy", "more", "text"):
        _compiled(tmp_path / name / _FOLDER / LIBRARY, "int x;\n")
        signed(tmp_path / name, [str(_FOLDER / LIBRARY)], ops=("Add", "Sub", "Mul") if name == "more" else ("Add", "Sub"))
    (tmp_path / "text" / _FOLDER / LIBRARY).write_text("x")
    (tmp_path / "file").write_text("")
    roots = [tmp_path / name for name in ("good", "gone", "copy", "text", "file")]
    found = _looked(*roots, Path(os.path.relpath(tmp_path / "more")), Path("gone"), toolkit=toolkit)
    loaded = load_all(found, toolkit, {"PATH": os.environ["PATH"]})
    findings = [*path_list(found, loaded), *loading(found, loaded), *shadowed(found, loaded)]
    commands = {finding.help for finding in findings if finding.status is not Status.OK}
    assert commands == {f"export ASCEND_CUSTOM_OPP_PATH={tmp_path}/good:{found.custom[5].path}", "opkit doctor --explain Add"}


def test_two_roots_that_share_several_ops_are_one_finding(tmp_path: Path) -> None:
    for name in ("one", "two"):
        _compiled(tmp_path / name / _FOLDER / LIBRARY, "int x;\n")
        signed(tmp_path / name, [str(_FOLDER / LIBRARY)], ops=("Add", "Sub"))
    (finding,) = shadowed(_looked(tmp_path / "one", tmp_path / "two"))
    assert finding.evidence == f"Add, Sub of {tmp_path}/two are shadowed by {tmp_path}/one: the first registration wins"
    assert finding.help == f"export ASCEND_CUSTOM_OPP_PATH={tmp_path}/one"


# All modules first: the interpreter may lie in a folder of root's own.
_AS_NOBODY = """\
import os, sys
from opkit.deliverable.elf import read_library
from opkit.lookup import lookup
from opkit.run.doctor_path import path_list
os.setgid(65534)
os.setuid(65534)
os.chdir("/")
for finding in path_list(lookup({"ASCEND_CUSTOM_OPP_PATH": sys.argv[1]}, None)):
    print(finding.status.value, finding.evidence, "|", finding.help)
"""


@pytest.mark.parametrize("closed", ["opp", "opp/op_graph", f"opp/{_FOLDER}"])
def test_a_folder_that_this_user_cannot_read_is_a_failure(closed: str) -> None:
    # A folder of pytest's own is closed to others as a whole.
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        base.chmod(0o755)
        (base / "opp" / _FOLDER).mkdir(parents=True)
        (base / "opp" / _FOLDER / LIBRARY).write_text("")
        (base / closed).chmod(0)
        try:
            if os.getuid() == 0:
                argv = [sys.executable, "-c", _AS_NOBODY, str(base / "opp")]
                told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
            else:
                (finding,) = path_list(_looked(base / "opp"))
                told = f"{finding.status.value} {finding.evidence} | {finding.help}"
        finally:
            (base / closed).chmod(0o755)
    assert told.startswith(f"fail {base}/opp")
    assert f"{base}/{closed} can't be read by this user; GE ignores it without an error | chmod a+rX {base}/{closed}" in told


@pytest.mark.parametrize(
    ("kind", "built", "told"),
    [
        (Kind.CANN, "simulator", "was built against the simulator 9.2.0-sim; the toolkit in use is CANN"),
        (Kind.SIMULATOR, "cann", "was built against CANN 9.2.0-sim; the toolkit in use is host simulator"),
    ],
)
def test_a_package_of_the_other_kind_of_toolkit_is_told_by_its_place_in_the_list(
    toolkit: Toolkit, tmp_path: Path, kind: Kind, built: str, told: str
) -> None:
    used = toolkit._replace(kind=kind, arch=host_arch())
    for name, origin in (("one", kind.value), ("two", built)):
        _compiled(tmp_path / name / _FOLDER / LIBRARY, "int x;\n")
        signed(tmp_path / name, [str(_FOLDER / LIBRARY)], kind=origin)
    (finding,) = origins(_looked(tmp_path / "one", tmp_path / "two", toolkit=used).custom, used)
    assert (finding.id, finding.status) == ("built-against[1]", Status.WARN)
    assert told in finding.evidence


def test_another_abi_and_architecture_than_the_toolkits_are_told(cann: Toolkit, tmp_path: Path) -> None:
    _compiled(tmp_path / _FOLDER / LIBRARY, "int x;\n")
    signed(tmp_path, [str(_FOLDER / LIBRARY)], kind="cann", abi=1, target=Target(os="linux", arch="riscv64"))
    (finding,) = origins(_looked(tmp_path, toolkit=cann).custom, cann)
    assert "built for riscv64, with _GLIBCXX_USE_CXX11_ABI=1, while the toolkit has 0" in finding.evidence


def test_a_manifest_that_is_none_is_told_and_the_rest_is_examined(cann: Toolkit, tmp_path: Path) -> None:
    _compiled(tmp_path / _FOLDER / LIBRARY, "int x;\n")
    (tmp_path / "opkit-manifest.json").write_text("{")
    (finding,) = origins(_looked(tmp_path, toolkit=cann).custom, cann)
    assert (finding.id, finding.status) == ("manifest[0]", Status.FAIL)


@pytest.mark.case("G5")
def test_a_toolkit_that_searches_another_computers_folder_is_told(cann: Toolkit, tmp_path: Path) -> None:
    (cann.lib64 / "libgraph_base.so").unlink()
    (cann.home / "opp").mkdir()
    scene = cann.home / "opp/scene.info"
    other = "aarch64" if host_arch() == "x86_64" else "x86_64"
    scene.write_text(f"os=linux\narch={other}\n")
    (tmp_path / "opp" / _FOLDER).mkdir(parents=True)
    (tmp_path / "opp" / _FOLDER / LIBRARY).write_text("")
    entry, folder = path_list(_looked(tmp_path / "opp", toolkit=cann))
    assert entry.status is Status.FAIL
    assert entry.evidence == f"{tmp_path}/opp has no .so in op_graph/lib/linux/{other}, but in linux/{host_arch()}"
    assert folder.status is Status.WARN
    assert folder.evidence == f"GE searches op_graph/lib/linux/{other}, as {scene} says; this computer is linux/{host_arch()}"


def _told_of_vendors(toolkit: Toolkit, opp: Path) -> list[Finding]:
    environ = {"ASCEND_OPP_PATH": str(opp)}
    return [finding for finding in vendors(lookup(environ, toolkit), environ, toolkit) if finding.id == "vendors"]


@pytest.fixture
def opp(tmp_path: Path) -> Path:
    for name in ("built-in", "vendors/acme/op_proto", "vendors/zeta/op_proto"):
        (tmp_path / "opp" / name).mkdir(parents=True)
    return tmp_path / "opp"


@pytest.mark.case("F5")
@pytest.mark.parametrize(
    ("content", "status", "told"),
    [
        ("load_priority=zeta,acme\n", Status.OK, "GE reads zeta, acme"),
        ("# ours\nload_priority=acme\n", Status.FAIL, "has no '='; only the first line is read; GE reads no vendor"),
        ("\nload_priority=acme\n", Status.FAIL, "the first line is empty; only the first line is read; GE reads no vendor"),
        ("load_priority=acme=zeta\n", Status.FAIL, "has more than one '='; GE reads no vendor"),
        ("\ufeffload_priority=acme,zeta\n", Status.WARN, "it begins with a byte order mark; GE reads acme, zeta"),
        ("load_priority=acme,gone\n", Status.WARN, "vendors has no gone; GE reads acme, gone"),
    ],
)
def test_a_list_of_vendors_that_is_read_otherwise_than_meant_is_told_and_left_alone(
    *, cann: Toolkit, opp: Path, content: str, status: Status, told: str
) -> None:
    config = opp / "vendors/config.ini"
    config.write_text(content, "utf-8")
    before = (config.read_bytes(), config.stat().st_mtime_ns)
    (finding,) = _told_of_vendors(cann, opp)
    assert finding.status is status
    assert finding.evidence.startswith(f"{config}: ")
    assert finding.evidence.endswith(told)
    assert (config.read_bytes(), config.stat().st_mtime_ns) == before
    if status is not Status.OK:
        names = "acme" if "gone" in content else "acme,zeta"
        assert finding.help == f"echo load_priority={names} | sudo tee {config}"


def test_no_list_of_vendors_is_no_finding(cann: Toolkit, opp: Path) -> None:
    assert _told_of_vendors(cann, opp) == []


def test_a_list_of_vendors_that_ge_does_not_come_to_is_told(cann: Toolkit, opp: Path) -> None:
    (opp / "vendors/config.ini").write_text("load_priority=acme\n")
    (opp / "built-in").rmdir()
    (finding,) = _told_of_vendors(cann, opp)
    assert finding.status is Status.WARN
    assert "isn't read" in finding.evidence


def test_a_folder_of_operators_that_is_not_there_is_told(cann: Toolkit, tmp_path: Path) -> None:
    (named,) = vendors(lookup({"ASCEND_OPP_PATH": f"{tmp_path}/gone"}, cann), {"ASCEND_OPP_PATH": f"{tmp_path}/gone"}, cann)
    assert named.status is Status.WARN
    assert named.evidence == f"ASCEND_OPP_PATH={tmp_path}/gone, which does not exist: no built-in operator is found"
    (default,) = vendors(lookup({}, cann), {}, cann)
    assert default.evidence.startswith(f"ASCEND_OPP_PATH is not set, GE takes {cann.home}/ops, which does not exist")
    assert default.help == f". '{cann.home}/set_env.sh'"


def test_the_simulator_has_no_operators_that_could_be_missed(toolkit: Toolkit) -> None:
    assert list(vendors(lookup({}, toolkit), {}, toolkit)) == []


def test_a_project_s_output_is_built_again_from_anywhere(toolkit: Toolkit, tmp_path: Path) -> None:
    project = tmp_path / "my project"
    (project / "output" / library_folder(host_arch())).mkdir(parents=True)
    (project / "ops.py").touch()
    library = library_folder(host_arch()) / LIBRARY
    (project / "output" / library).write_text("")
    signed(project / "output", [str(library)], kind="cann")
    (finding,) = origins(lookup({"ASCEND_CUSTOM_OPP_PATH": f"{project}/output"}, toolkit).custom, toolkit)
    assert (finding.id, finding.help) == ("built-against[0]", f"opkit build '{project}' --toolkit '{toolkit.home}'")


def test_a_library_path_is_in_order_after_what_is_told(toolkit: Toolkit, tmp_path: Path, make_toolkit: Callable[..., Path]) -> None:
    other = make_toolkit(tmp_path / "other")
    environ = {**os.environ, "PYTHON": sys.executable, "ASCEND_HOME_PATH": str(toolkit.home)}
    environ["LD_LIBRARY_PATH"] = f"lib::{other}/lib64:/x"
    (other / "lib64/libgraph.so").touch()
    found = list(library_path(environ, toolkit))
    assert len(found) == 3
    (told,) = {finding.help for finding in found}
    script = f'set -e\nopkit() {{ "$PYTHON" -m opkit "$@"; }}\n{told}\nprintf %s "$LD_LIBRARY_PATH"'
    value = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=environ, check=True, capture_output=True, text=True).stdout
    assert {finding.status for finding in library_path({"LD_LIBRARY_PATH": value}, toolkit)} <= {Status.OK}
    assert value == f"{toolkit.lib64}:{tmp_path}/lib:{other}/lib64:/x"


def test_a_library_path_is_held_to_the_toolkit_in_use(toolkit: Toolkit, tmp_path: Path, make_toolkit: Callable[..., Path]) -> None:
    other = make_toolkit(tmp_path / "other")

    def told(value: str) -> list[str]:
        return [finding.evidence for finding in library_path({"LD_LIBRARY_PATH": value}, toolkit)]

    assert told("") == []
    assert told(f"/x:{toolkit.lib64}/:{other}/lib64") == []
    assert told(f"{other}/lib64:{toolkit.lib64}") == [
        f"LD_LIBRARY_PATH gives {other}/lib64 before any other, and the toolkit in use is {toolkit.home}"
    ]
    assert told("lib:/x") == ["LD_LIBRARY_PATH has lib: a relative element means another folder for each program"]
