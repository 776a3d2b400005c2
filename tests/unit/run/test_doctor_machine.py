"""`doctor` about the computer: opkit itself, the toolkit and the others that there are, the tools, the folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from install_support import install
from manifest_support import signed
from tool_support import require_tool

import opkit
from opkit import resources
from opkit.build import Project
from opkit.deliverable import LIBRARY, OppRoot, library_folder
from opkit.run import Finding, Sources, Status, activated, examine, find_installed
from opkit.run.doctor_distribution import commands, distribution, installed_again
from opkit.run.doctor_folders import folders
from opkit.run.doctor_machine import tools
from opkit.run.doctor_toolkit import examined_toolkit
from opkit.run.installed import Candidate
from opkit.toolkit import discovery, host_arch

Make = Callable[..., Path]


@pytest.fixture
def environ(tmp_path: Path, make_toolkit: Make) -> dict[str, str]:
    home = make_toolkit(tmp_path / "toolkit", simulator="9.2.0-sim")
    return {"PATH": os.environ["PATH"], "ASCEND_HOME_PATH": str(home)}


def _found(environ: dict[str, str], name: str, *, project: Project | None = None) -> list[Finding]:
    """Without what tries each tool again: a compiler is only started where it is asked for."""
    toolkit, about_toolkit = examined_toolkit(environ, None)
    findings = [*about_toolkit, *(tools(environ) if name in {"compiler", "launcher"} else ()), *folders(environ, project, toolkit)]
    return [finding for finding in findings if finding.id == name]


def _one(environ: dict[str, str], name: str, *, project: Project | None = None) -> Finding:
    (finding,) = _found(environ, name, project=project)
    return finding


def test_other_toolkits_are_named_with_why_they_are_not_used(
    environ: dict[str, str], tmp_path: Path, make_toolkit: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "_BASES", (str(tmp_path / "Ascend"),))
    monkeypatch.setattr(resources, "bundled_toolkit", lambda: None)
    assert _found(environ, "other-toolkits") == []
    (tmp_path / "Ascend/latest").mkdir(parents=True)
    other = make_toolkit(tmp_path / "Ascend/cann", version="9.3.0")
    evidence = _one(environ, "other-toolkits").evidence
    assert f"{other} (CANN 9.3.0, " in evidence
    assert f"{tmp_path}/Ascend/latest (refused: it has no include folder)" in evidence


@pytest.mark.case("E4")
@pytest.mark.parametrize(
    ("version", "status", "told"),
    [
        ("7.0", Status.FAIL, "needs CANN 9.2 or newer, found 7.0"),
        ("9.1.0", Status.FAIL, "needs CANN 9.2 or newer, found 9.1.0"),
        ("8.5.RC1.alpha001", Status.FAIL, "needs CANN 9.2 or newer, found 8.5.RC1.alpha001"),
        ("9.2.0", Status.OK, "9.2.0"),
        ("10.0.RC1", Status.OK, "10.0.RC1"),
        (None, Status.WARN, "says which version it is"),
    ],
)
def test_a_toolkit_is_held_to_the_oldest_version(
    *, environ: dict[str, str], tmp_path: Path, make_toolkit: Make, version: str | None, status: Status, told: str
) -> None:
    home = make_toolkit(tmp_path / "cann", version=version)
    finding = _one(environ | {"ASCEND_HOME_PATH": str(home)}, "toolkit-version")
    assert finding.status is status
    assert told in finding.evidence


def test_a_library_that_the_linker_would_miss_is_a_failure(environ: dict[str, str]) -> None:
    (Path(environ["ASCEND_HOME_PATH"]) / "lib64/liblowering.so").unlink()
    finding = _one(environ, "toolkit-libraries")
    assert finding.status is Status.FAIL
    assert finding.evidence.endswith("lib64 has no liblowering.so")


def test_the_compiler_is_tried(environ: dict[str, str], tmp_path: Path, make_program: Callable[[Path, str], Path]) -> None:
    assert "compiles and links" in _one(environ, "compiler").evidence
    script = '#!/bin/sh\ncase "$*" in *dumpversion*) echo 12.2.0;; *) echo "cannot find -lstdc++: No such file" >&2; exit 1;; esac\n'
    broken = make_program(tmp_path / "bin/g++", script)
    finding = _one(environ | {"CXX": str(broken)}, "compiler")
    assert finding.status is Status.FAIL
    assert "can't compile and link a library: cannot find -lstdc++: No such file" in finding.evidence
    assert finding.help == "export CXX="


def test_an_output_folder_that_no_path_list_can_name_is_a_failure(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "a:b").mkdir()
    (finding,) = _found(environ, "folder", project=Project.at(tmp_path / "a:b"))
    assert finding.status is Status.FAIL
    assert f"the output folder, {tmp_path}/a:b/output: its path holds a ':'" in finding.evidence
    assert (finding.help, finding.hint) == (None, "name another with --output")


def test_a_folder_of_the_kernel_s_is_not_said_to_be_full(environ: dict[str, str]) -> None:
    (finding,) = _found(environ | {"OPKIT_SIM_CACHE_DIR": "/proc/x"}, "folder")
    assert finding.evidence.endswith(
        ": /proc can't be written by this user" if os.getuid() else ": /proc is the kernel's, which keeps no files"
    )


def test_without_ninja_make_is_what_a_build_takes(environ: dict[str, str], tmp_path: Path) -> None:
    require_tool("make", "make")
    (tmp_path / "bin").mkdir()
    for name in ("make", "g++", "cmake"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or name)
    environ = environ | {"PATH": str(tmp_path / "bin"), "CMAKE_GENERATOR": "Unix Makefiles"}
    (finding,) = (finding for finding in tools(environ) if finding.id == "ninja")
    assert (finding.status, finding.evidence) == (Status.OK, f"none: builds take {tmp_path}/bin/make")


@pytest.mark.parametrize("name", ["installed", "named", "bundled"])
def test_a_toolkit_that_is_too_old_is_got_round_by_what_is_told(
    environ: dict[str, str], tmp_path: Path, make_toolkit: Make, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    bundled = make_toolkit(tmp_path / "my bundled", simulator="9.2.0" if name != "bundled" else "9.1")
    monkeypatch.setattr(resources, "bundled_toolkit", lambda: bundled)
    monkeypatch.setattr(discovery, "_BASES", (str(tmp_path / "Ascend"),))
    old = make_toolkit(tmp_path / ("Ascend/cann" if name == "installed" else "old"), version="9.1.0")
    environ = {"PATH": environ["PATH"], **({"ASCEND_HOME_PATH": str(old)} if name == "named" else {})}
    (finding,) = (each for each in examined_toolkit(environ, None)[1] if each.id == "toolkit-version")
    assert finding.status is Status.FAIL
    assert finding.help is not None
    if name == "bundled":
        assert finding.help == installed_again()
        return
    assert finding.help == f"export ASCEND_HOME_PATH='{bundled}'"
    (finding,) = (each for each in examined_toolkit(environ | {"ASCEND_HOME_PATH": str(bundled)}, None)[1] if each.id == "toolkit-version")
    assert finding.status is Status.OK


def test_the_launcher_that_a_build_would_go_through_is_tried(
    environ: dict[str, str], tmp_path: Path, make_program: Callable[[Path, str], Path]
) -> None:
    environ |= {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    sound = make_program(tmp_path / "sound/ccache", '#!/bin/sh\nexec "$@"\n')
    found = environ | {"PATH": f"{sound.parent}:{environ['PATH']}"}
    assert _one(found, "launcher").evidence == f"{sound} (found on PATH) compiles"
    broken = make_program(tmp_path / "broken", "#!/bin/sh\necho no room >&2; exit 1\n")
    finding = _one(found | {"CMAKE_CXX_COMPILER_LAUNCHER": str(broken)}, "launcher")
    assert finding.status is Status.WARN
    named = f"{broken} (named by CMAKE_CXX_COMPILER_LAUNCHER)"
    told = f"{named} doesn't work, and builds go without it: no room"
    assert (finding.evidence, finding.help) == (told, "export CMAKE_CXX_COMPILER_LAUNCHER=")
    # Nobody named this one: whether it is mended or goes isn't opkit's business.
    broken.rename(sound)
    finding = _one(found, "launcher")
    assert finding.help is None
    assert finding.hint is not None
    assert _one(found | {"CMAKE_CXX_COMPILER_LAUNCHER": "gone"}, "launcher").status is Status.FAIL
    assert "none: every compilation" in _one(found | {"CXX": f"{sound} g++"}, "launcher").evidence


def test_a_launcher_is_left_out_of_the_folders_that_were_examined(
    environ: dict[str, str], tmp_path: Path, make_program: Callable[[Path, str], Path]
) -> None:
    make_program(tmp_path / "bin/ccache", "#!/bin/sh\nexit 1\n")
    (tmp_path / "pd").mkdir()
    (tmp_path / "pd/ops.py").write_text("")
    environ |= {"PATH": f"{tmp_path}/bin:{environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for options in ({"build_dir": f"{tmp_path}/b d", "output": f"{tmp_path}/bo"}, {}):
        project = Project.find(tmp_path / "pd", **options)
        (finding,) = (each for each in tools(environ, project) if each.id == "launcher")
        named = f"--build-dir '{tmp_path}/b d' --output {tmp_path}/bo " if options else ""
        assert finding.help == f"opkit build {tmp_path}/pd {named}--launcher none"


@pytest.mark.parametrize("name", ["a:b/toolkit", "bundled"])
def test_opkit_s_own_simulator_is_installed_again_where_that_helps(
    environ: dict[str, str], tmp_path: Path, make_toolkit: Make, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    bundled = make_toolkit(tmp_path / name, simulator="9.2.0")
    if name == "bundled":
        (bundled / "lib64").rename(bundled / "lib")
    monkeypatch.setattr(discovery, "_BASES", ())
    monkeypatch.setattr(resources, "bundled_toolkit", lambda: bundled)
    (finding,) = (each for each in examined_toolkit({"PATH": environ["PATH"]}, None)[1] if each.status is Status.FAIL)
    if name == "bundled":
        assert finding.help == installed_again()
    else:
        assert (finding.help, finding.hint) == (None, "install opkit where no folder above has a ':' in its name")


def test_a_compiler_of_several_words_is_tried_as_it_is_named(environ: dict[str, str]) -> None:
    assert "g++ -m64 " in _one(environ | {"CXX": "g++ -m64"}, "compiler").evidence
    finding = _one(environ | {"CXX": "g++ --no-such-option"}, "compiler")
    assert finding.status is Status.FAIL
    assert "--no-such-option" in finding.evidence


@pytest.fixture
def distributions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, object]:
    """What is installed, as importlib.metadata has it: only another distribution than the tests' own can be made up."""
    from importlib import metadata

    own = Path(opkit.__file__).parent
    made: dict[str, object] = {"ascend-opkit": _Installed("0.1.0", own.parent)}

    def find(name: str) -> object:
        if name not in made:
            raise metadata.PackageNotFoundError(name)
        return made[name]

    monkeypatch.setattr(metadata, "distribution", find)
    return made


def _Installed(version: str, site: Path) -> object:  # noqa: N802 - stands for a class
    from importlib.metadata import Distribution

    class Installed(Distribution):
        def read_text(self, filename: str) -> str | None:
            return f"Name: x\nVersion: {version}\n" if filename == "METADATA" else None

        def locate_file(self, path: object) -> Path:
            return site / str(path)

    return Installed()


def test_opkit_says_which_one_it_is(distributions: dict[str, object]) -> None:
    (finding,) = distribution({})
    assert finding.status is Status.OK
    assert finding.evidence == f"ascend-opkit 0.1.0 in {Path(opkit.__file__).parent}"


def test_a_distribution_of_the_name_opkit_is_in_the_way(distributions: dict[str, object], tmp_path: Path) -> None:
    distributions["opkit"] = _Installed("0.3.1", tmp_path)
    (finding,) = distribution({})
    assert finding.status is Status.FAIL
    assert "the distribution opkit 0.3.1 is installed as well" in finding.evidence
    assert finding.help == "pip uninstall -y opkit && pip install --force-reinstall --no-deps ascend-opkit==0.1.0"


@pytest.mark.parametrize("is_here", [False, True], ids=["by PYTHONPATH", "by the current folder"])
def test_another_package_of_the_name_opkit_that_is_imported_instead_is_told(
    distributions: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_here: bool
) -> None:
    monkeypatch.chdir(Path(opkit.__file__).parents[1] if is_here else tmp_path)
    (tmp_path / "opkit").mkdir()
    (tmp_path / "opkit/__init__.py").write_text("")
    distributions["ascend-opkit"] = _Installed("0.1.0", tmp_path)
    (finding,) = distribution({"PYTHONPATH": f"/x:{Path(opkit.__file__).parents[1]}/:/y"})
    assert finding.status is Status.FAIL
    assert f"was imported, not {tmp_path}/opkit, which ascend-opkit 0.1.0 installed" in finding.evidence
    assert finding.help == ("cd /" if is_here else "export PYTHONPATH=/x:/y")


def test_opkit_of_a_checkout_that_nobody_installed_is_told(distributions: dict[str, object]) -> None:
    del distributions["ascend-opkit"]
    (finding,) = distribution({})
    assert finding.status is Status.WARN


def test_a_note_of_where_opkit_came_from_that_is_none_is_passed_over(
    distributions: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = distributions["ascend-opkit"]
    for note in ("{", "[]", "[" * 100_000):
        monkeypatch.setattr(own, "read_text", lambda name, note=note: note if name == "direct_url.json" else "Name: x\nVersion: 0.1.0\n")
        assert installed_again() == "pip install --force-reinstall --no-deps ascend-opkit==0.1.0"


def test_the_distribution_opkit_is_found_in_a_real_environment(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", system_site_packages=False, with_pip=False)
    (site,) = (tmp_path / "venv/lib").glob("python*/site-packages")
    (site / "opkit-9.9.dist-info").mkdir()
    (site / "opkit-9.9.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: opkit\nVersion: 9.9\n")
    paths = [str(Path(opkit.__file__).parent.parent), *(entry for entry in sys.path if entry.endswith("-packages"))]
    asked = "from opkit.run.doctor_distribution import distribution; print(*[each.evidence for each in distribution({})])"
    code = f"import sys; sys.path += {paths!r}; {asked}"
    done = subprocess.run([tmp_path / "venv/bin/python", "-c", code], capture_output=True, text=True, check=True)
    assert "the distribution opkit 9.9 is installed as well" in done.stdout


def test_two_commands_of_the_name_are_told_with_the_one_that_a_shell_starts(
    tmp_path: Path, make_program: Callable[[Path, str], Path]
) -> None:
    first, second = (make_program(tmp_path / name / "opkit", "") for name in ("one", "two"))
    (tmp_path / "three").mkdir()
    (tmp_path / "three/opkit").symlink_to(first)
    value = f"{tmp_path}/one:{tmp_path}/three::{tmp_path}/none"
    assert list(commands({"PATH": value})) == []
    (finding,) = commands({"PATH": f"{value}:{tmp_path}/two"})
    assert finding.status is Status.WARN
    assert finding.evidence == f"a shell starts {first}, and {second} is on PATH too"
    assert finding.help is None  # which of them goes is the user's choice
    assert finding.hint is not None


def test_folders_that_can_be_written_are_one_line(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("")
    finding = _one(environ | {"OPKIT_PREFIX": str(tmp_path / "prefix")}, "folder", project=Project.find(tmp_path))
    assert finding.status is Status.OK
    assert finding.evidence == "the build folder, the output folder, TMPDIR, the prefix of installed packages can be written"
    assert not (tmp_path / "prefix").exists()


def test_a_file_where_a_folder_belongs_is_a_failure(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environ |= {"OPKIT_SIM_CACHE_DIR": str(tmp_path / "file/cache"), "OPKIT_PREFIX": str(tmp_path / "file")}
    evidences = [finding.evidence for finding in _found(environ, "folder")]
    assert evidences == [
        f"the prefix of installed packages, {tmp_path}/file: {tmp_path}/file is no folder",
        f"the simulator's cache of kernels, {tmp_path}/file/cache: {tmp_path}/file is no folder",
    ]


def test_a_prefix_that_can_not_be_one_is_a_failure(environ: dict[str, str]) -> None:
    finding = _one(environ | {"OPKIT_PREFIX": "relative"}, "folder")
    assert finding.status is Status.FAIL
    assert finding.evidence.startswith("OPKIT_PREFIX isn't an absolute path: relative (")


def test_a_folder_for_temporary_files_that_is_not_there_is_a_failure(environ: dict[str, str], tmp_path: Path) -> None:
    environ |= {"TMPDIR": str(tmp_path / "gone")}
    assert [finding.evidence for finding in _found(environ, "folder")] == [f"TMPDIR, {tmp_path}/gone: it does not exist"]
    environ |= {"TMPDIR": str(tmp_path / ("x" * 300))}
    assert [finding.evidence for finding in _found(environ, "folder")] == [f"TMPDIR, {environ['TMPDIR']}: File name too long"]
    compiler = _one(environ, "compiler")
    assert compiler.status is Status.WARN
    assert "wasn't tried" in compiler.evidence


@pytest.mark.parametrize(
    ("flag", "free", "told"),
    [(os.ST_RDONLY, 1 << 30, "mounted read-only"), (8, 1 << 30, "mounted noexec"), (0, 0, "is full"), (0, 100, "is full")],
)
def test_a_file_system_that_would_refuse_is_a_failure(
    *, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flag: int, free: int, told: str
) -> None:
    """Mounting one takes rights that a test has seldom: what the system says of one is stood in for."""
    real = os.statvfs

    def statvfs(path: Path) -> object:
        known = real(path)
        fake = {"f_flag": flag, "f_bavail": free, "f_frsize": 1, "f_files": 10, "f_favail": 10}
        return SimpleNamespace(**fake) if Path(path).is_relative_to(tmp_path / "small") else known

    monkeypatch.setattr(os, "statvfs", statvfs)
    for name in ("prefix", "cache"):
        (tmp_path / "small" / name).mkdir(parents=True)
    environ |= {"OPKIT_PREFIX": str(tmp_path / "small/prefix"), "OPKIT_SIM_CACHE_DIR": str(tmp_path / "small/cache")}
    findings = _found(environ, "folder")
    assert {finding.status for finding in findings} == {Status.FAIL}
    assert all(told in finding.evidence for finding in findings)
    # Kernels are loaded from memory: that the cache is mounted noexec is in order.
    expected = ["name another with OPKIT_PREFIX, or with --prefix", "name a folder of yours with OPKIT_SIM_CACHE_DIR"]
    assert [finding.hint for finding in findings] == expected[: 1 if flag == 8 else 2]
    assert {finding.help for finding in findings} == {None}
    # With a home there is a folder to go back to.
    (tmp_path / "home").mkdir()
    findings = _found(environ | {"HOME": str(tmp_path / "home")}, "folder")
    assert [finding.help for finding in findings] == ["export OPKIT_PREFIX=", "export OPKIT_SIM_CACHE_DIR="][: 1 if flag == 8 else 2]


def _package(root: Path, name: str, library: bytes, *ops: str) -> Path:
    file = root / library_folder(host_arch()) / LIBRARY
    file.parent.mkdir(parents=True)
    file.write_bytes(library)
    signed(root, [str(file.relative_to(root))], package=name, ops=ops)
    return root


def test_installed_packages_are_told_and_one_that_hides_an_op_of_another(
    environ: dict[str, str], tmp_path: Path, library_of: Callable[..., bytes]
) -> None:
    prefix = tmp_path / "prefix"
    environ |= {"OPKIT_PREFIX": str(prefix)}
    for name, ops in (("adds", ("Add", "Mul")), ("subs", ("Sub", "Mul"))):
        root = OppRoot.read(_package(tmp_path / name, name, library_of(*ops), *ops))
        assert root is not None
        install(root, prefix)
    findings = examine(environ, project=None)
    assert [finding.evidence.partition(", ")[0] for finding in findings if finding.id == "installed"] == [
        "adds in the prefix",
        "subs in the prefix",
    ]
    (shadowed,) = [finding for finding in findings if finding.id == "shadowed"]
    assert shadowed.evidence == f"Mul of {prefix}/subs is shadowed by {prefix}/adds: the first registration wins"
    assert shadowed.help == "opkit uninstall subs"
    (prefix / "adds" / library_folder(host_arch()) / LIBRARY).write_text("edited")
    broken = next(finding for finding in examine(environ, project=None) if finding.id == "installed")
    assert broken.status is Status.FAIL
    assert broken.help == f"opkit install {tmp_path}/adds"


def _in_prefix(environ: dict[str, str], folder: Path, library_of: Callable[..., bytes], *, name: str = "adds") -> Path:
    """A package that is installed; gives its OPP root."""
    root = OppRoot.read(_package(folder / name, name, library_of("Add"), "Add"))
    assert root is not None
    environ["OPKIT_PREFIX"] = str(folder / "prefix")
    install(root, folder / "prefix")
    return folder / "prefix" / name


def _about_installed(environ: dict[str, str]) -> list[Finding]:
    return [finding for finding in examine(environ, project=None) if finding.id == "installed"]


_LIBRARY = library_folder(host_arch()) / LIBRARY


@pytest.mark.parametrize(
    ("fault", "status", "told"),
    [
        ("cut", Status.FAIL, f"{_LIBRARY} was edited; a run leaves it out"),
        ("edited", Status.WARN, f"{_LIBRARY} was edited; a run takes it all the same"),
        ("run as its owner", Status.WARN, f"{_LIBRARY} has mode 4755, and was installed with 0755; a run takes it all the same"),
        ("no receipt", Status.WARN, "its receipt {tmp}/prefix/.opkit/adds.json is missing; a run takes it all the same"),
    ],
)
def test_an_installed_package_is_broken_for_doctor_if_it_is_for_a_run(  # noqa: PLR0917 - what is wrong and what is told
    environ: dict[str, str], tmp_path: Path, library_of: Callable[..., bytes], fault: str, status: Status, told: str
) -> None:
    root = _in_prefix(environ, tmp_path, library_of)
    library = root / _LIBRARY
    if fault == "cut":
        library.write_bytes(library_of("Add")[:-1])
    elif fault == "edited":
        library.write_bytes(library_of("Add")[:-1] + b"x")
    elif fault == "run as its owner":
        library.chmod(0o4755)
    else:
        (tmp_path / "prefix/.opkit/adds.json").unlink()
    (finding,) = _about_installed(environ)
    assert finding.status is status
    assert finding.evidence == f"adds in the prefix, {root}: {told.format(tmp=tmp_path)}"
    used = [] if status is Status.FAIL else [root]
    assert activated(environ, None) == [found.path for found in find_installed(Sources(tmp_path / "prefix"))] == used


def test_a_library_that_somebody_put_into_an_installed_package_is_told(
    environ: dict[str, str], tmp_path: Path, library_of: Callable[..., bytes]
) -> None:
    root = _in_prefix(environ, tmp_path, library_of)
    stray = (root / _LIBRARY).with_name("my own.so")
    stray.write_bytes(library_of("Add"))
    whole, finding = _about_installed(environ)
    assert whole.status is Status.OK
    assert finding.status is Status.WARN
    assert finding.evidence == (
        f"adds in the prefix, {root}: {stray.relative_to(root)} isn't in the manifest, and GE loads it with the others"
    )
    assert finding.help == f"rm '{stray}'"


def test_a_wheel_that_leads_nowhere_has_no_place(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opkit.run.doctor.candidates", lambda _: [Candidate("x", None, None, ("its wheel names no folder",))])
    (finding,) = _about_installed(environ)
    assert finding.evidence == "x in a wheel: its wheel names no folder; a run leaves it out"
    assert finding.hint == "install its wheel again: pip install --force-reinstall --no-deps FILE"


def test_an_edited_package_is_mended_by_what_it_came_from(
    environ: dict[str, str], tmp_path: Path, library_of: Callable[..., bytes]
) -> None:
    for name, source in (("a", "my ops.tar.gz"), ("b", "b.run"), ("c", None), ("e", "gone.tar.gz")):
        root = _in_prefix(environ, tmp_path, library_of, name=name)
        (root / _LIBRARY).unlink()
        receipt = tmp_path / f"prefix/.opkit/{name}.json"
        if source is None:
            receipt.unlink()
            continue
        receipt.write_text(receipt.read_text().replace(f'"{tmp_path}/{name}"', f'"{tmp_path}/{source}"'))
        if name != "e":
            (tmp_path / source).touch()
    assert [finding.help for finding in _about_installed(environ)] == [
        f"opkit install '{tmp_path}/my ops.tar.gz'",
        f"sh {tmp_path}/b.run",
        "opkit uninstall c",
        "opkit uninstall e",
    ]
