"""What is checked in a linked library: each thing that would go wrong on somebody else's machine is an error of the build."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_support import REGISTERED, Tiny

from opkit.build import Project, Settings
from opkit.build.linked import require_one_abi, require_sound
from opkit.deliverable import MANIFEST, Manifest
from opkit.errors import (
    BuildError,
    FalseManifestError,
    ForeignLibraryError,
    NotRelocatableError,
    StringAbiError,
    UndeclaredOpError,
    UnregisteredOpError,
    WrongMachineError,
)
from opkit.toolkit import Toolkit, discover, host_arch

_CALLS_GRAPH = """
#include <string>
namespace ge {
std::string Name(const std::string &text);
}
std::string Named() { return ge::Name("x"); }
"""
_GRAPH = _CALLS_GRAPH + "namespace ge {\nstd::string Name(const std::string &text) { return text; }\n}\n"

Link = Callable[..., Path]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "my ops 算子").mkdir()
    return Project.at(tmp_path / "my ops 算子")


@pytest.fixture
def link(tmp_path: Path) -> Link:
    """Gives a library that registers Tiny, made of more text and with more flags."""

    def made(text: str = "", *flags: str | Path, name: str = "libcust_opapi.so") -> Path:
        source = tmp_path / f"{name}.cpp"
        source.write_text(REGISTERED + text)
        subprocess.run(["g++", "-O1", "-shared", "-fPIC", source, *flags, "-o", tmp_path / name], check=True)
        return tmp_path / name

    return made


def test_what_is_as_it_must_be_passes(link: Link, project: Project, toolkit: Toolkit) -> None:
    beside = link(name="libbeside.so")
    (toolkit.lib64 / "libgraph.so").write_bytes(beside.read_bytes())
    linked = ["-Wl,--no-as-needed", f"-L{beside.parent}", "-lbeside", f"-L{toolkit.lib64}", "-lgraph", "-lpthread", "-ldl"]
    require_sound([link("", "-Wl,-rpath,$ORIGIN", *linked), beside], ["Tiny"], project, toolkit)


def test_an_op_that_nobody_registers_is_named(link: Link, project: Project, toolkit: Toolkit) -> None:
    with pytest.raises(UnregisteredOpError, match="registers no Other and no More") as caught:
        require_sound([link()], ["Other", "Tiny", "More"], project, toolkit)
    assert caught.value.because == "REG_AUTO_MAPPING_OP leaves Tiny in libcust_opapi.so"
    assert caught.value.exit_code == 5


def test_ops_that_nothing_tells_of_are_not_missing(link: Link, project: Project, toolkit: Toolkit) -> None:
    library = link("", "-fno-rtti")
    assert require_sound([library], ["Tiny"], project, toolkit)[library].ops == ()


def test_an_op_without_its_prototype_is_named(link: Link, project: Project, toolkit: Toolkit) -> None:
    bare = "struct Bare : ge::BaseCustomOp {};\nge::BaseCustomOp *New() { return new Bare; }\n"
    library = link(bare + 'ge::CustomOpCreatorRegister bare("Bare", New);\n')
    with pytest.raises(UnregisteredOpError, match="registers no Bare") as caught:
        require_sound([library], ["Tiny", "Bare"], project, toolkit)
    assert (caught.value.because or "").startswith("REG_OP leaves Tiny")


def test_an_op_that_is_in_no_spec_is_named(link: Link, project: Project, toolkit: Toolkit) -> None:
    """The manifest couldn't say it, and no other command would take what was built."""
    by_hand = (
        "struct Mine : ge::BaseCustomOp {};\nge::BaseCustomOp *New() { return new Mine; }\n"
        'ge::CustomOpCreatorRegister mine("Mine", New);\n'
        "namespace ge {\nnamespace op {\nstruct Mine : Operator {};\n"
        'OperatorCreatorRegister mine("Mine", []() -> Operator * { return new Mine; });\n}\n}\n'
    )
    library = link(by_hand)
    with pytest.raises(UndeclaredOpError, match=r"registers Mine, which ops\.py doesn't declare") as caught:
        require_sound([library], ["Tiny"], project, toolkit)
    assert (caught.value.because or "").endswith("in libcust_opapi.so")
    assert caught.value.exit_code == 5
    assert set(require_sound([library], ["Tiny", "Mine"], project, toolkit)) == {library}


def test_a_library_that_no_machine_must_have_is_named(link: Link, project: Project, toolkit: Toolkit) -> None:
    foreign = link(name="libforeign.so")
    library = link("", "-Wl,--no-as-needed", f"-L{foreign.parent}", "-lforeign")
    with pytest.raises(ForeignLibraryError, match=r"needs libforeign\.so") as caught:
        require_sound([library], ["Tiny"], project, toolkit)
    assert str(toolkit.home) in (caught.value.because or "")
    # Beside it, but nothing leads there.
    with pytest.raises(ForeignLibraryError):
        require_sound([library, foreign], ["Tiny"], project, toolkit)


@pytest.mark.case("K5")
@pytest.mark.parametrize("path", ["/opt/mine/lib", "$ORIGIN:/opt/mine", "lib", ""])
def test_a_library_that_looks_in_a_fixed_folder_is_refused(link: Link, project: Project, toolkit: Toolkit, path: str) -> None:
    with pytest.raises(NotRelocatableError, match="looks for its libraries in a fixed folder") as caught:
        require_sound([link("", f"-Wl,-rpath,{path or ':'}")], ["Tiny"], project, toolkit)
    assert "$ORIGIN" in (caught.value.because or "")
    assert path or "is empty, which is the current folder" in (caught.value.because or "")
    assert ("expanded" in (caught.value.help or "")) == (not path or "/opt" in path)


@pytest.mark.case("K5")
def test_a_library_that_names_the_folder_it_was_built_in_is_refused(link: Link, project: Project, toolkit: Toolkit) -> None:
    with pytest.raises(NotRelocatableError, match="names the folder that it was built in") as caught:
        require_sound([link(f'const char *kPath = "{project.root}/ge/x.h";')], ["Tiny"], project, toolkit)
    assert f"{project.root}/ge/x.h" in (caught.value.because or "")
    # The end of a longer path, and the beginning of a longer name, are other folders.
    require_sound([link(f'const char *kPath[] = {{"/else{project.root}/x", "{project.root}er/x"}};')], ["Tiny"], project, toolkit)


def test_a_library_for_another_machine_is_refused(link: Link, project: Project, toolkit: Toolkit) -> None:
    other = toolkit._replace(arch="aarch64" if host_arch() == "x86_64" else "x86_64")
    with pytest.raises(WrongMachineError, match=f"is for {host_arch()}, and the toolkit for {other.arch}"):
        require_sound([link()], ["Tiny"], project, other)


def test_what_is_no_library_is_refused(project: Project, toolkit: Toolkit, tmp_path: Path) -> None:
    (tmp_path / "libcust_opapi.so").write_text("INPUT(libgraph.so)\n")
    with pytest.raises(BuildError, match="is no library that can be read"):
        require_sound([tmp_path / "libcust_opapi.so"], ["Tiny"], project, toolkit)


@pytest.mark.case("G1")
@pytest.mark.parametrize("abi", [0, 1])
def test_a_string_of_the_other_abi_is_told_by_the_call_that_has_it(link: Link, project: Project, toolkit: Toolkit, abi: int) -> None:
    library = link(_CALLS_GRAPH, f"-D_GLIBCXX_USE_CXX11_ABI={abi}")
    require_sound([library], ["Tiny"], project, toolkit._replace(abi=abi))
    with pytest.raises(StringAbiError, match=f"has strings of the ABI {abi}, and this build is for {1 - abi}") as caught:
        require_sound([library], ["Tiny"], project, toolkit._replace(abi=1 - abi))
    assert (caught.value.because or "").startswith("it needs ge::Name")
    assert "string" in (caught.value.because or "")


@pytest.mark.case("G1")
@pytest.mark.parametrize(
    "flags",
    ["-D_GLIBCXX_USE_CXX11_ABI=1", "-O2 -D _GLIBCXX_USE_CXX11_ABI=1 -g", "-D_GLIBCXX_USE_CXX11_ABI=0 -D_GLIBCXX_USE_CXX11_ABI=1"],
)
def test_a_flag_for_the_other_abi_is_an_error_before_anything_is_compiled(tiny: Tiny, flags: str) -> None:
    with pytest.raises(StringAbiError, match="CXXFLAGS asks for another string ABI") as caught:
        tiny.build(environ={"CXXFLAGS": flags})
    assert "--abi 1" in (caught.value.help or "")
    require_one_abi(tiny.toolkit._replace(abi=1), {"CXXFLAGS": flags})


@pytest.mark.parametrize("flags", ["", "-DMINE=1", "-D_GLIBCXX_USE_CXX11_ABI=0", "-D_GLIBCXX_USE_CXX11_ABI=1 -D_GLIBCXX_USE_CXX11_ABI=0"])
def test_a_flag_for_the_same_abi_is_none(toolkit: Toolkit, flags: str) -> None:
    require_one_abi(toolkit, {"CXXFLAGS": flags})


@pytest.mark.case("G1")
def test_the_abi_that_is_asked_for_is_in_the_manifest(tiny: Tiny) -> None:
    assert tiny.build(settings=Settings(abi=1)).read_opp_root().manifest.built_against.abi == 1


@pytest.mark.case("G1")
def test_a_build_for_an_abi_that_the_toolkit_lacks_says_so(tiny: Tiny, make_toolkit: Callable[..., Path], tmp_path: Path) -> None:
    home = make_toolkit(tmp_path / "of the new ABI")
    (tmp_path / "graph.cpp").write_text(_GRAPH)
    made = home / "lib64/libgraph.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-D_GLIBCXX_USE_CXX11_ABI=1", tmp_path / "graph.cpp", "-o", made], check=True)
    tiny.files["ge/custom_op.cpp"] += _CALLS_GRAPH
    tiny.files["CMakeLists.txt"] += (
        "target_compile_definitions(cust_opapi PRIVATE _GLIBCXX_USE_CXX11_ABI=${OPKIT_CXX11_ABI})\n"
        'target_link_libraries(cust_opapi PRIVATE "${ASCEND_HOME_PATH}/lib64/libgraph.so")\n'
        "target_link_options(cust_opapi PRIVATE -Wl,-z,defs)\n"
        "set_target_properties(cust_opapi PROPERTIES NO_SONAME ON SKIP_BUILD_RPATH ON)\n"
    )
    tiny.toolkit = discover({}, option=str(home))
    with pytest.raises(StringAbiError, match="the libraries of the toolkit have strings of the ABI 1, and this build is for 0") as caught:
        tiny.build(settings=Settings(abi=0))
    assert "ge::Name" in (caught.value.because or "")
    assert caught.value.help == "opkit build --abi 1"


def _forged(tiny: Tiny, text: str) -> FalseManifestError:
    """What is said of a manifest that some CMake changed after it was written."""
    tiny.files["CMakeLists.txt"] += f"function(forge)\n  install(CODE [=[{text}]=])\nendfunction()\ncmake_language(DEFER CALL forge)\n"
    with pytest.raises(FalseManifestError) as caught:
        tiny.build()
    assert not (tiny.root / "output" / MANIFEST).exists()
    return caught.value


_REWRITE = """
  file(READ "${CMAKE_INSTALL_PREFIX}/opkit-manifest.json" text)
  string(REPLACE [["@OLD@]] [["@NEW@]] text "${text}")
  file(WRITE "${CMAKE_INSTALL_PREFIX}/opkit-manifest.json" "${text}")
"""


@pytest.mark.parametrize(
    ("old", "new", "because"),
    [
        ('package": "tiny', 'package": "other', "its package is other, not tiny"),
        ('type": "Tiny', 'type": "Other', "its list of ops is Other, not Tiny"),
        ('abi": 0', 'abi": 1', "with the string ABI 1, not "),
        ('glibcxx": "3', 'glibcxx": "2', "it says of glibcxx that libcust_opapi.so needs 2"),
        ("libstdc++.so.6", "libstdc++.so.5", "needs libstdc++.so.5, which needs libstdc++.so.6"),
        (
            "op_graph/include/tiny.h",
            "op_graph/include/other.h",
            "op_graph/include/other.h is missing; it doesn't name op_graph/include/tiny.h",
        ),
    ],
)
def test_a_manifest_that_is_not_true_is_not_published(tiny: Tiny, old: str, new: str, because: str) -> None:
    assert because in (_forged(tiny, _REWRITE.replace("@OLD@", old).replace("@NEW@", new)).because or "")


def test_what_cmake_had_no_tool_to_find_out_is_found_out(tiny: Tiny) -> None:
    tiny.files["CMakeLists.txt"] = tiny.files["CMakeLists.txt"].replace("[[${CMAKE_READELF}]]", "[[]]")
    requires = tiny.build().read_opp_root().manifest.requires
    assert requires.glibcxx is not None
    assert "libstdc++.so.6" in requires.libraries
    published = Manifest.read(tiny.root / "output")
    assert published is not None
    assert published.requires == requires


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ('file(WRITE "${CMAKE_INSTALL_PREFIX}/opkit-manifest.json" "{}")', "the manifest that CMake wrote can't be read"),
        ('file(REMOVE "${CMAKE_INSTALL_PREFIX}/opkit-manifest.json")', "the project installs no manifest"),
    ],
)
def test_a_manifest_that_is_none_or_absent_is_not_published(tiny: Tiny, command: str, message: str) -> None:
    assert _forged(tiny, command).message == message
