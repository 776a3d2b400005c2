"""`doctor` about the places where GE looks: what keeps a library from loading, what hides an op, what is read otherwise than meant."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from install_support import library
from manifest_support import signed

from opkit.deliverable import LIBRARY, Target, library_folder
from opkit.lookup import lookup
from opkit.run import Finding, Status
from opkit.run.doctor_loading import Loaded, load_all
from opkit.run.doctor_path import library_path, loading, origins, path_list, shadowed
from opkit.run.doctor_vendors import vendors
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
    assert {finding.help for finding in findings.values() if finding.status is Status.FAIL} == {"export ASCEND_CUSTOM_OPP_PATH="}


def test_a_library_for_another_computer_is_told_without_a_try(toolkit: Toolkit, tmp_path: Path) -> None:
    library = _compiled(tmp_path / "opp" / _FOLDER / LIBRARY, "int x;\n")
    other, machine = ("aarch64", 183) if host_arch() == "x86_64" else ("x86_64", 62)
    content = bytearray(library.read_bytes())
    content[18:20] = machine.to_bytes(2, "little")
    library.write_bytes(content)
    (finding,) = _loaded(toolkit, tmp_path / "opp")
    assert finding.status is Status.FAIL
    assert finding.evidence.endswith(f"it is for {other}, this computer is {host_arch()}")


def test_a_pipe_among_the_libraries_is_told_at_once(toolkit: Toolkit, tmp_path: Path) -> None:
    _compiled(tmp_path / "opp" / _FOLDER / LIBRARY, "int x;\n")
    os.mkfifo(tmp_path / "opp" / _FOLDER / "zz.so")
    started = time.monotonic()
    findings = _loaded(toolkit, tmp_path / "opp")
    assert time.monotonic() - started < 5
    assert sorted(finding.status.value for finding in findings) == ["fail", "ok"]


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


@pytest.mark.usefixtures("as_nobody")
def test_a_manifest_that_this_user_may_not_read_is_opened_to_him() -> None:
    if os.getuid():
        pytest.skip("only root has files of somebody else")
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        base.chmod(0o755)
        for root, owner in (("his", 65534), ("roots", 0)):
            _roots(base, **{root: "Add"})
            (base / root / "opkit-manifest.json").chmod(0)
            os.chown(base / root / "opkit-manifest.json", owner, owner)
        argv = [sys.executable, "-c", _UNREAD_BY_NOBODY, f"{base}/his:{base}/roots"]
        told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
        assert told == [f"chmod a+rX {base}/his/opkit-manifest.json", f"sudo chmod a+rX {base}/roots/opkit-manifest.json"]


def test_a_library_that_this_user_may_not_read_is_opened_to_him(tmp_path: Path) -> None:
    _compiled(tmp_path / "opp" / _FOLDER / LIBRARY, "int x;\n")
    found = _looked(tmp_path / "opp", tmp_path / "opp2")
    (library,) = found.custom[0].libraries
    loaded = [Loaded(library, f"{library.path}: cannot open shared object file: Permission denied", is_helped=False)]
    (finding,) = loading(found, loaded)
    assert finding.help == f"chmod a+rX {library.path}"
    assert {finding.help for finding in path_list(found, loaded)} == {"export ASCEND_CUSTOM_OPP_PATH="}


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
    commands = {finding.advice for finding in findings if finding.status is not Status.OK}
    assert commands == {
        f"help: export ASCEND_CUSTOM_OPP_PATH={tmp_path}/good:{tmp_path}/more",
        "hint: put first in ASCEND_CUSTOM_OPP_PATH whose Add is to be used, or build the other without it",
    }


def _roots(tmp_path: Path, **ops: str) -> list[Path]:
    """OPP roots of these names, each with the ops that its manifest says; `broken…` don't load."""
    for name, types in ops.items():
        library = _compiled(tmp_path / name / _FOLDER / LIBRARY, "int x;\n")
        if name.startswith("broken"):
            library.write_bytes(library.read_bytes()[:1000])
        signed(tmp_path / name, [str(_FOLDER / LIBRARY)], ops=types.split())
    return [tmp_path / name for name in ops]


def test_a_broken_library_hides_nobody(toolkit: Toolkit, tmp_path: Path) -> None:
    """What it would hide stays in the list when it is left out, and nothing is said of a shadow that is gone then."""
    roots = _roots(tmp_path, broken="Add", mul="Mul", add="Add", copy="Add")
    found = _looked(*roots, toolkit=toolkit)
    loaded = load_all(found, toolkit, {"PATH": os.environ["PATH"]})
    (fault,) = (finding for finding in loading(found, loaded) if finding.status is Status.FAIL)
    assert fault.help == f"export ASCEND_CUSTOM_OPP_PATH={tmp_path}/mul:{tmp_path}/add"
    assert [finding.evidence for finding in shadowed(found, loaded)] == [
        f"Add of {tmp_path}/copy is shadowed by {tmp_path}/add: the first registration wins"
    ]


def test_a_root_that_is_meant_is_left_out_if_it_does_not_load(toolkit: Toolkit, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    _roots(tmp_path / "project", broken="Add")
    (sound,) = _roots(tmp_path, sound="Add")
    found = _looked(tmp_path / "project", sound, toolkit=toolkit)
    loaded = load_all(found, toolkit, {"PATH": os.environ["PATH"]})
    findings = [*path_list(found, loaded), *loading(found, loaded)]
    assert [(finding.id, finding.status) for finding in findings] == [
        ("opp-path[0]", Status.FAIL),
        ("opp-path[1]", Status.OK),
        ("library", Status.OK),
    ]
    assert findings[0].help == f"export ASCEND_CUSTOM_OPP_PATH={sound}"


def test_an_element_with_dots_is_what_the_system_takes_it_for(tmp_path: Path) -> None:
    (root,) = _roots(tmp_path, root="Add")
    found = lookup({"ASCEND_CUSTOM_OPP_PATH": f"{root}//op_graph/../:{root}:{tmp_path}/gone"}, None)
    findings = list(path_list(found))
    assert [finding.status for finding in findings] == [Status.OK, Status.OK, Status.FAIL]
    assert findings[2].help == f"export ASCEND_CUSTOM_OPP_PATH={root}"


@pytest.mark.parametrize("name", ["ok", "gone"])
def test_a_relative_element_is_no_better_than_what_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    _roots(tmp_path, ok="Add")
    monkeypatch.chdir(tmp_path)
    (finding,) = path_list(lookup({"ASCEND_CUSTOM_OPP_PATH": name}, None))
    assert finding.status is (Status.WARN if name == "ok" else Status.FAIL)


@pytest.mark.parametrize("at_the_end", ["", "abort();"], ids=["and loads", "and aborts"])
@pytest.mark.parametrize("said", ["hello", "", "0 ok", "\\n0 ok\\n1 ok\\n"])
def test_what_a_library_prints_is_no_answer(toolkit: Toolkit, tmp_path: Path, said: str, at_the_end: str) -> None:
    text = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n__attribute__((constructor)) static void say(void) {\n"
    text += f'printf("{said}\\n"); fflush(stdout); (void)!write(1, "{said}\\n", 3); {at_the_end} }}\n'
    _compiled(tmp_path / "opp" / _FOLDER / "a.so", text)
    _compiled(tmp_path / "opp" / _FOLDER / "b.so", "int b;\n")
    first, second = _loaded(toolkit, tmp_path / "opp")
    assert (first.status, second.status) == (Status.FAIL if at_the_end else Status.OK, Status.OK), first


def test_two_roots_that_share_several_ops_are_one_finding(tmp_path: Path) -> None:
    for name in ("one", "two"):
        _compiled(tmp_path / name / _FOLDER / LIBRARY, "int x;\n")
        signed(tmp_path / name, [str(_FOLDER / LIBRARY)], ops=("Add", "Sub"))
    (finding,) = shadowed(_looked(tmp_path / "one", tmp_path / "two"))
    assert finding.evidence == f"Add, Sub of {tmp_path}/two are shadowed by {tmp_path}/one: the first registration wins"
    assert finding.help == f"export ASCEND_CUSTOM_OPP_PATH={tmp_path}/one"


_UNREAD_BY_NOBODY = """\
import os, sys
from opkit.deliverable.elf import read_library
from opkit.lookup import lookup
from opkit.run.doctor_path import origins
from opkit.toolkit import discover
toolkit = discover(os.environ)
os.setgid(65534)
os.setuid(65534)
os.chdir("/")
for finding in origins(lookup({"ASCEND_CUSTOM_OPP_PATH": sys.argv[1]}, None).custom, toolkit):
    print(finding.help)
"""

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


@pytest.mark.parametrize("is_own", [True, False], ids=["his own", "somebody else's"])
@pytest.mark.parametrize("closed", ["opp", "opp/op_graph", f"opp/{_FOLDER}"])
def test_a_folder_that_this_user_cannot_read_is_a_failure(closed: str, is_own: bool) -> None:
    """His own is opened by what is told; another's is left out of the list."""
    if not is_own and os.getuid():
        pytest.skip("only root has folders of somebody else")
    # A folder of pytest's own is closed to others as a whole.
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        base.chmod(0o755)
        (base / "opp" / _FOLDER).mkdir(parents=True)
        (base / "opp" / _FOLDER / LIBRARY).write_text("")
        (base / closed).chmod(0)
        if is_own and os.getuid() == 0:
            os.chown(base / closed, 65534, 65534)
        mend = f"chmod a+rX {base}/{closed}" if is_own else "export ASCEND_CUSTOM_OPP_PATH="
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
    assert f"{base}/{closed} can't be read by this user; GE ignores it without an error | {mend}" in told


@pytest.mark.parametrize(
    ("kind", "built", "told"),
    [
        (Kind.CANN, "simulator", "was built against the host simulator 9.2.0-sim; the toolkit in use is CANN"),
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


def test_a_manifest_that_is_none_is_made_again_where_it_is_a_projects(cann: Toolkit, tmp_path: Path) -> None:
    root = tmp_path / "my ops/output"
    _compiled(root / _FOLDER / LIBRARY, "int x;\n")
    (root / "opkit-manifest.json").write_text("{")
    (finding,) = origins(_looked(root, toolkit=cann).custom, cann)
    assert finding.help is None
    assert finding.hint is not None
    (root.parent / "ops.py").touch()
    (finding,) = origins(_looked(root, toolkit=cann).custom, cann)
    assert finding.help == f"opkit build '{root.parent}'"


_ABI = """\
#include <string>
int take(const std::string &text);
int give() { return take("x"); }
"""


@pytest.mark.parametrize("abi", [0, 1])
@pytest.mark.parametrize("own", [0, 1])
def test_another_abi_is_seen_without_a_manifest(cann: Toolkit, tmp_path: Path, own: int, abi: int) -> None:
    (tmp_path / _FOLDER).mkdir(parents=True)
    (tmp_path / "x.cc").write_text(_ABI)
    argv: list[str | Path] = [
        "g++",
        "-shared",
        "-fPIC",
        f"-D_GLIBCXX_USE_CXX11_ABI={own}",
        tmp_path / "x.cc",
        "-o",
        tmp_path / _FOLDER / LIBRARY,
    ]
    subprocess.run(argv, check=True)
    used = cann._replace(abi=abi)
    findings = list(origins(_looked(tmp_path, toolkit=used).custom, used))
    assert len(findings) == (own != abi)
    if findings:
        assert f"with _GLIBCXX_USE_CXX11_ABI={own}, by the strings of {LIBRARY}, while the toolkit has {abi}" in findings[0].evidence
        assert "build" in (findings[0].hint or "")
    assert not [*origins(_looked(tmp_path, toolkit=used).custom, used._replace(kind=Kind.SIMULATOR))]


def test_what_a_toolkit_can_not_build_is_not_told_to_be_built_with_it(cann: Toolkit, tmp_path: Path) -> None:
    (root,) = _roots(tmp_path, output="Add")
    (tmp_path / "ops.py").touch()
    old = cann._replace(version="9.1.0")
    (finding,) = origins(_looked(root, toolkit=old).custom, old)
    assert finding.help is None
    (finding,) = origins(_looked(root, toolkit=cann).custom, cann)
    assert finding.help == f"opkit build {tmp_path} --toolkit '{cann.home}'"


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
    assert (folder.help, "install the toolkit for linux/" in (folder.hint or "")) == (None, True)
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
        names = "acme,zeta" if "zeta" in content else "acme"
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
    assert default.help is None
    assert default.hint is not None


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


def test_an_op_that_two_libraries_of_a_package_lose_is_told_once(tmp_path: Path) -> None:
    for name, libraries in (("first", [LIBRARY]), ("second", [LIBRARY, "libmine.so"])):
        (tmp_path / name / _FOLDER).mkdir(parents=True)
        for file in libraries:
            (tmp_path / name / _FOLDER / file).write_bytes(library(name + file, ops=("Add", "Mul")))
    (finding,) = shadowed(_looked(tmp_path / "first", tmp_path / "second"))
    assert finding.evidence == f"Add, Mul of {tmp_path}/second are shadowed by {tmp_path}/first: the first registration wins"
