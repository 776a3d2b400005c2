"""The string ABI of a toolkit: what its libraries' symbols show, and that they are read once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from opkit.toolkit import abi, discover, served_abis, string_abi_of
from opkit.toolkit.abi import abi_of

Make = Callable[..., Path]

_GRAPH = """
#include <string>
namespace ge {
std::string Name(const std::string &text) { return text + "."; }
int Numbers(int count) { return count; }
}  // namespace ge
// As of a library that is linked in.
namespace other { int Length(const char *text) { return 0; } }
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """A library with a call of GE's that takes a string, for each ABI."""
    folder = tmp_path_factory.mktemp("libraries")
    (folder / "graph.cpp").write_text(_GRAPH)
    found = {}
    for each in (0, 1):
        found[each] = folder / f"{each}.so"
        of_object = found[each].with_suffix(".o")
        subprocess.run(["g++", "-c", "-fPIC", f"-D_GLIBCXX_USE_CXX11_ABI={each}", folder / "graph.cpp", "-o", of_object], check=True)
        subprocess.run(["g++", "-shared", of_object, "-o", found[each]], check=True)
    return found


def _toolkit(make_toolkit: Make, home: Path, **libraries: Path) -> Path:
    made = make_toolkit(home)
    for name, library in libraries.items():
        (made / f"lib64/lib{name}.so").write_bytes(library.read_bytes())
    return made


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("_ZN2ge8Operator7GetNameERKSs", 0),
        ("_ZNK2ge5Graph4NameB5cxx11Ev", 1),
        ("_ZN2ge4NameERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", 1),
        ("_ZNSbIwSt11char_traitsIwESaIwEE6assignEPKwm", 0),
        ("_ZNSs6appendEPKcm", 0),
        ("_ZN2ge6StoresISt6vectorISsSaISsEEEEvRKT_", 0),
        ("_ZN2ge9MasSsSbSsEv", None),
        ("_ZN2ge5GraphC1ERKS0_S1_Si", None),
        ("_ZN2ge5ArrayILi15ELb1EE3getEA5_c", None),
        ("_ZNSt6vectorIiSaIiEED2Ev", None),
        ("aclrtSs", None),
        ("", None),
        ("_Z", None),
        ("_Z99x", None),
    ],
)
def test_a_mangled_name_shows_which_string_is_in_it(symbol: str, expected: int | None) -> None:
    assert string_abi_of(symbol) == expected


@pytest.mark.case("G1")
@pytest.mark.parametrize("each", [0, 1])
def test_code_is_compiled_with_the_abi_of_the_toolkits_libraries(
    tmp_path: Path, make_toolkit: Make, libraries: dict[int, Path], each: int
) -> None:
    home = _toolkit(make_toolkit, tmp_path / "a toolkit", graph=libraries[each])
    assert served_abis(home / "lib64") == {each}
    assert discover({}, option=str(home)).abi == each


def test_without_a_string_or_with_both_it_is_that_of_cann(tmp_path: Path, make_toolkit: Make, libraries: dict[int, Path]) -> None:
    bare = _toolkit(make_toolkit, tmp_path / "bare")
    assert served_abis(bare / "lib64") == set()
    assert discover({}, option=str(bare)).abi == 0
    both = tmp_path / "both.so"
    objects = [library.with_suffix(".o") for library in libraries.values()]
    subprocess.run(["g++", "-shared", "-Wl,-z,muldefs", *objects, "-o", both], check=True)
    home = _toolkit(make_toolkit, tmp_path / "both", graph=both)
    assert served_abis(home / "lib64") == {0, 1}
    assert discover({}, option=str(home)).abi == 0


def test_the_simulator_serves_both_and_is_not_asked(toolkit_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abi, "served_abis", lambda _: pytest.fail("its libraries were read"))
    assert discover({}, option=str(toolkit_home)).abi == 0


def test_it_is_remembered_until_a_library_changes(
    tmp_path: Path, make_toolkit: Make, libraries: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = _toolkit(make_toolkit, tmp_path / "a toolkit 算子", graph=libraries[1])
    (tmp_path / "home").mkdir()
    environ = {"HOME": str(tmp_path / "home")}
    assert abi_of(home, environ) == 1
    assert (tmp_path / "home/.cache/opkit/toolkit-abi.json").is_file()
    with monkeypatch.context() as patch:
        patch.setattr(abi, "served_abis", lambda _: pytest.fail("its libraries were read again"))
        assert abi_of(home, environ) == 1
    (home / "lib64/libgraph.so").write_bytes(libraries[0].read_bytes())
    assert abi_of(home, environ) == 0


def test_two_toolkits_are_remembered_side_by_side(tmp_path: Path, make_toolkit: Make, libraries: dict[int, Path]) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    homes = [_toolkit(make_toolkit, tmp_path / str(each), graph=libraries[each]) for each in (0, 1)]
    for _ in range(2):
        assert [abi_of(home, environ) for home in homes] == [0, 1]
    assert [path.name for path in (tmp_path / "cache/opkit").iterdir()] == ["toolkit-abi.json"]


def test_a_home_that_is_not_there_is_not_made(tmp_path: Path, make_toolkit: Make, libraries: dict[int, Path]) -> None:
    home = _toolkit(make_toolkit, tmp_path / "a toolkit", graph=libraries[1])
    assert abi_of(home, {"HOME": str(tmp_path / "gone")}) == 1
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("environ", [{}, {"HOME": "/nonexistent"}, {"HOME": ""}, {"XDG_CACHE_HOME": "relative"}])
def test_without_a_place_to_remember_it_is_found_each_time(
    tmp_path: Path, make_toolkit: Make, libraries: dict[int, Path], environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = _toolkit(make_toolkit, tmp_path / "a toolkit", graph=libraries[1])
    monkeypatch.setattr(abi, "make_folders", _refuse)
    assert [abi_of(home, environ), abi_of(home, environ)] == [1, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["a toolkit"]


def _refuse(folder: Path) -> None:
    raise PermissionError(13, os.strerror(13), str(folder))


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', '{"HOME": 1}', "\xff", "[" * 100_000])
def test_a_memory_that_is_none_is_made_anew(tmp_path: Path, make_toolkit: Make, libraries: dict[int, Path], text: str) -> None:
    home = _toolkit(make_toolkit, tmp_path / "a toolkit", graph=libraries[1])
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    (tmp_path / "opkit").mkdir()
    (tmp_path / "opkit/toolkit-abi.json").write_text(text.replace("HOME", str(home)), "latin-1")
    assert [abi_of(home, environ), abi_of(home, environ)] == [1, 1]


@pytest.mark.parametrize("cut", [0, 3, 40, 70, 2000])
def test_a_damaged_library_tells_nothing(tmp_path: Path, make_toolkit: Make, libraries: dict[int, Path], cut: int) -> None:
    home = _toolkit(make_toolkit, tmp_path / "a toolkit", graph=libraries[1])
    content = libraries[1].read_bytes()
    (home / "lib64/libgraph.so").write_bytes(content[:cut])
    assert abi_of(home, {}) == 0
    for place in range(40, 64):
        (home / "lib64/libgraph.so").write_bytes(content[:place] + b"\xff" + content[place + 1 :])
        assert served_abis(home / "lib64") in (set(), {1})


def test_the_call_of_ge_counts_not_what_is_linked_in(tmp_path: Path, make_toolkit: Make) -> None:
    text = "#include <string>\nnamespace ge { void Take(const std::string &) {} }\n"
    foreign = 'extern "C" void _ZN5other4TakeERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE() {}\n'
    (tmp_path / "mixed.cpp").write_text(text + foreign)
    mixed = tmp_path / "mixed.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-D_GLIBCXX_USE_CXX11_ABI=0", tmp_path / "mixed.cpp", "-o", mixed], check=True)
    home = _toolkit(make_toolkit, tmp_path / "a toolkit", graph_base=mixed)
    assert served_abis(home / "lib64") == {0}
