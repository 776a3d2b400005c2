"""The manifest that CMake writes at installation: what opkit would have written, wherever it is and whatever is in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

import pytest
from tiny_support import manifest_script

from opkit.deliverable import LIBRARY, MANIFEST, BuiltAgainst, Manifest, library_folder
from opkit.deliverable.elf import read_library
from opkit.toolkit import Kind, discover, find_cmake, process_environment

Make = Callable[..., Path]

_HEADER = "op_graph/include/add.h"
_CMAKE = find_cmake(process_environment()).path
_LIBRARY = str(library_folder("x86_64") / LIBRARY)
# Of `;` and a backslash CMake makes something else.
_PLACES = ["plain", "my ops", "算子", "a'b", 'a"b', "a$b", "a[b", "a]b", "a(b)", "a#b", "${a}", "@a@"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    (folder / "a.cpp").write_text("#include <iostream>\nvoid Told() { std::cout << 1; }\n")
    subprocess.run(["g++", "-shared", "-fPIC", folder / "a.cpp", "-o", folder / LIBRARY], check=True)
    return folder / LIBRARY


@pytest.fixture
def home(tmp_path: Path, make_toolkit: Make) -> Path:
    return make_toolkit(tmp_path / "a toolkit", version="9.2.1")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return _filled(tmp_path / "output")


def _filled(root: Path) -> Path:
    for name in (_HEADER, _LIBRARY):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(name)
    return root


def _install(
    folder: Path,
    root: Path,
    toolkit: Path,
    *,
    prototypes: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    prefix: Path | None = None,
    helpers: tuple[str, ...] = (),
    **variables: str | Path,
) -> None:
    """Runs the script as an installation of the two files to `root` would."""
    prefix = prefix or root
    (folder / "write_manifest.cmake").write_text(manifest_script("add", dict(prototypes or {"Add": ".INPUT(x, T)"}), *helpers))
    given = {
        "CMAKE_INSTALL_PREFIX": prefix,
        "CMAKE_INSTALL_MANIFEST_FILES": f"{root}/{_LIBRARY};{root}/{_HEADER};{folder}/elsewhere",
        "manifest_source_dir": folder,
        "manifest_arch": "x86_64",
        "manifest_toolkit": toolkit,
        "manifest_abi": "0",
        **variables,
    }
    text = "".join(f"set({name} [==[{value}]==])\n" for name, value in given.items())
    (folder / "install.cmake").write_text(f"{text}include([==[{folder}/write_manifest.cmake]==])\n")
    changes = [f"{name}={value}" for name, value in (environ or {}).items()]
    command: list[str | Path] = ["env", *changes, _CMAKE, "-P", folder / "install.cmake"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr


def _read(root: Path) -> Manifest:
    manifest = Manifest.read(root)
    assert manifest is not None
    assert (root / MANIFEST).read_text() == json.dumps(manifest.to_json(), indent=2, ensure_ascii=False) + "\n"
    return manifest


def test_it_is_what_opkit_would_write(tmp_path: Path, root: Path, home: Path) -> None:
    _install(tmp_path, root, home, manifest_opkit="0.1.0")
    manifest = _read(root)
    assert (manifest.package, manifest.version, manifest.opkit) == ("add", "0", "0.1.0")
    assert [file.path for file in manifest.files] == [PurePosixPath(_HEADER), PurePosixPath(_LIBRARY)]
    assert manifest.violations(root) == []
    assert manifest.built_against == BuiltAgainst(kind="cann", version="9.2.1", abi=0)
    assert (manifest.target.os, manifest.target.arch, manifest.target.npu_arch, manifest.target.socs) == ("linux", "x86_64", None, ())
    assert (manifest.requires.toolkit, manifest.requires.glibc, manifest.requires.libraries) == ("9.2", None, ())


def test_a_build_by_hand_has_no_opkit(tmp_path: Path, root: Path, home: Path) -> None:
    _install(tmp_path, root, home)
    assert _read(root).opkit is None


@pytest.mark.case("K1")
def test_the_same_files_give_the_same_bytes(tmp_path: Path, home: Path) -> None:
    texts = set()
    for place, umask in (("one", 0o022), ("another place", 0o077)):
        (tmp_path / place).mkdir()
        root = _filled(tmp_path / place / "output")
        before = os.umask(umask)
        try:
            _install(tmp_path / place, root, home, environ={"TZ": "Asia/Shanghai"})
        finally:
            os.umask(before)
        texts.add((root / MANIFEST).read_bytes())
        assert (root / MANIFEST).stat().st_mode & 0o777 == 0o644
        assert not list(root.glob("*.part"))
    assert len(texts) == 1


@pytest.mark.parametrize("place", _PLACES)
def test_it_lies_in_any_folder(tmp_path: Path, make_toolkit: Make, place: str) -> None:
    (tmp_path / place).mkdir()
    root = _filled(tmp_path / place / "output")
    _install(tmp_path, root, make_toolkit(tmp_path / place / "toolkit"))
    assert _read(root).violations(root) == []
    assert len(_read(root).files) == 2


def test_with_destdir_it_is_about_what_lies_there(tmp_path: Path, home: Path) -> None:
    _filled(tmp_path / "stage/usr/lib/add")
    _install(tmp_path, Path("/usr/lib/add"), home, environ={"DESTDIR": str(tmp_path / "stage")})
    assert _read(tmp_path / "stage/usr/lib/add").violations(tmp_path / "stage/usr/lib/add") == []


def test_in_a_wheel_the_opp_root_is_a_folder_of_its_own(tmp_path: Path, home: Path) -> None:
    root = _filled(tmp_path / "wheel/platlib/add")
    for prefix, opp_root in (("platlib", "add/"), ("platlib/other", "../add/"), ("platlib/add", "")):
        _install(tmp_path, root, home, prefix=tmp_path / "wheel" / prefix, manifest_opp_root=opp_root)
        assert len(_read(root).files) == 2
        (root / MANIFEST).unlink()


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('[project]\nname = "x"\nversion = "1.2.3"\n', "1.2.3"),
        ("[project]\nversion='1.2.3rc1'  # soon\n", "1.2.3rc1"),
        ('[project]\r\nversion = "1.2.3"\r\n', "1.2.3"),
        ('# [project]\n[tool.x]\nversion = "9"\n\n [ project ]\n\tversion\t=\t"1!2+3"\n[tool.y]\nversion = "8"\n', "1!2+3"),
        ('[project]\nname = "x"\n[tool.x]\nversion = "9"\n', "0"),
        ('[project]\ndynamic = ["version"]\nrequires-python = ">=3"\n', "0"),
        ('[tool.project]\nversion = "9"\n', "0"),
        ('[project]\nmin-version = "9"\nversion-file = "8"\n', "0"),
        ('[project]\ndescription = "a; [b], ${c}"\nversion = "2"\n', "2"),
        ("", "0"),
        (None, "0"),
    ],
)
def test_the_version_is_that_of_the_project(tmp_path: Path, root: Path, home: Path, text: str | None, version: str) -> None:
    if text is not None:
        (tmp_path / "pyproject.toml").write_bytes(text.encode())
    _install(tmp_path, root, home)
    assert _read(root).version == version
    _install(tmp_path, root, home, manifest_version="3.4")
    assert _read(root).version == "3.4"


@pytest.mark.parametrize(
    "files",
    [
        {"version.info": "Version=9.2.0\nversion_dir=9.2.0\n"},
        {"version.info": "Version=7.7.0.1.300\nversion_dir=cann-9.2.0-beta.1\n"},
        {"version.info": "VERSION = 9.2.RC1\n"},
        {"version.info": "\tversion=[7.6:9.2.0]\r\n"},
        {"version.info": "no version\n", "compiler/version.info": "Version=9.3\n"},
        {"version.info": "inner_version=1\n", "runtime/version.info": "# 算子\nversion_dir=9.4.0\n"},
        {"version.cfg": "# version: 1\n[list]\nruntime_running_version=[7.7.0:9.2.0]\nruntime_upgrade_version=[1:2]\n"},
        {"x86_64-linux/ascend_toolkit_install.info": "package_name=Ascend\nversion=9.2.0\n"},
        {"version.info": "", "aarch64-linux/ascend_toolkit_install.info": "version=9.9\n"},
        {"version.info": "Version=\n"},
        {"version.info": "Version=\nfoo=1\n"},
        {"version.info": "Version =\r\n9.3=1\r\n"},
        {"version.info": "Version=\rversion=9.4\r"},
        {"version.info": "version_dir=\ncann-9.3.0\nVersion=9.2\n"},
        {"version.info": "Version=9.2.0\u0663算\n"},
        {"version.info": "Version=\u0663.1\n"},
        {},
        {"opkit-simulator.json": '{"kind": "simulator", "version": "9.2.0-sim"}', "version.info": "Version=1\n"},
    ],
)
def test_it_names_the_toolkit_as_opkit_does(tmp_path: Path, root: Path, make_toolkit: Make, files: dict[str, str]) -> None:
    home = make_toolkit(tmp_path / "toolkit", version=None)
    for name, text in files.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_bytes(text.encode())
    _install(tmp_path, root, home)
    toolkit = discover({}, option=str(home))
    assert _read(root).built_against == BuiltAgainst(kind=toolkit.kind.value, version=toolkit.version, abi=0)
    assert (toolkit.kind is Kind.SIMULATOR) == ("opkit-simulator.json" in files)


def test_a_toolkit_that_is_damaged_fails_the_installation(tmp_path: Path, root: Path, make_toolkit: Make) -> None:
    home = make_toolkit(tmp_path / "toolkit", simulator="9")
    (home / "opkit-simulator.json").write_text("{}")
    with pytest.raises(AssertionError, match=r"is not what the simulator's installation\s+writes"):
        _install(tmp_path, root, home)
    assert not (root / MANIFEST).exists()


@pytest.mark.parametrize(
    "prototype",
    [
        '.ATTR(a, String, "x;y")',
        '.ATTR(a, String, "\\\\ \\" \\n")',
        "${CMAKE_VERSION}",
        "@a@ $<1:2>",
        "]]",
        "]==] ]===]",
        "[[",
        "a]",
        "é算",
        "\t",
    ],
)
def test_a_prototype_is_what_the_spec_says_whatever_is_in_it(tmp_path: Path, root: Path, home: Path, prototype: str) -> None:
    _install(tmp_path, root, home, prototypes={"Add": prototype, "Sub": prototype})
    document = json.loads((root / MANIFEST).read_text())
    assert document["ops"] == [{"type": "Add", "prototype": prototype}, {"type": "Sub", "prototype": prototype}]


@pytest.mark.parametrize("tool", ["readelf", "objdump"])
def test_what_the_library_needs_is_read_with_the_compilers_tools(tmp_path: Path, root: Path, home: Path, library: Path, tool: str) -> None:
    program = shutil.which(tool)
    assert program is not None, "the compiler comes with it"
    shutil.copy(library, root / _LIBRARY)
    readelf = program if tool == "readelf" else ""
    _install(tmp_path, root, home, environ={"LC_ALL": "C.UTF-8", "LANGUAGE": "de"}, manifest_readelf=readelf, manifest_objdump=program)
    requires, found = _read(root).requires, read_library(library)
    assert (requires.glibc, requires.glibcxx, requires.libraries) == (found.glibc, found.glibcxx, found.needed)
    assert requires.glibcxx is not None


def test_a_tool_that_fails_finds_out_nothing(tmp_path: Path, root: Path, home: Path) -> None:
    _install(tmp_path, root, home, manifest_readelf="/bin/false")
    assert _read(root).requires.libraries == ()


def test_prebuilt_kernels_say_what_they_are_for(tmp_path: Path, root: Path, home: Path) -> None:
    (tmp_path / "kernels.npu_arch").write_text("dav-2201")
    _install(tmp_path, root, home, helpers=("prebuilt_kernels",), manifest_npu_arch_file=tmp_path / "kernels.npu_arch")
    assert _read(root).target.npu_arch == "dav-2201"
