"""What a library says of itself, read from real ones; and that one that lies is refused, not believed."""

from __future__ import annotations

import os
import struct
import subprocess
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_support import require_tool
from waiting_support import never_waiting

from opkit.deliverable.elf import ElfLibrary, library_in, read_library
from opkit.errors import ElfError
from opkit.toolkit import host_arch

# One name is the end of another, so that the linker may keep one text for both; the last two classes are registered by nobody.
_OPS = """
#include <string>
#include "graph/custom_op.h"
#include "graph/operator_reg.h"

namespace ge {
REG_OP(AddCustom).INPUT(x, TensorType({DT_FLOAT})).OUTPUT(z, TensorType({DT_FLOAT})).OP_END_FACTORY_REG(AddCustom)
REG_OP(Custom).INPUT(x, TensorType({DT_FLOAT})).OUTPUT(z, TensorType({DT_FLOAT})).OP_END_FACTORY_REG(Custom)
std::string Served(const std::string &name);
}  // namespace ge

template <typename Rules>
class Executed : public ge::EagerExecuteOp {
  ge::graphStatus Execute(gert::EagerOpExecutionContext *) override { return ge::Served("x").size(); }
};

namespace mine {
namespace inner {
class AddCustom : public Executed<int> {};
REG_AUTO_MAPPING_OP(AddCustom);
}  // namespace inner
}  // namespace mine

class Custom : public Executed<long>, virtual public ge::BaseCustomOp {};
REG_AUTO_MAPPING_OP(Custom);

class Unregistered : public Executed<char> {};
class Unrelated {
 public:
  virtual ~Unrelated() = default;
};
ge::BaseCustomOp *Make() { return new Unregistered; }
Unrelated *MakeUnrelated() { return new Unrelated; }
const char *Name() { return "Unrelated"; }
"""


def _compile(target: Path, text: str, *flags: str | Path, compiler: str = "g++") -> Path:
    source = target.with_suffix(".cpp")
    source.write_text(text)
    command = [compiler, "-std=c++17", "-O2", "-fPIC", "-w", *flags, source, "-o", target]
    subprocess.run(command, check=True, capture_output=True)
    return target


def _link(target: Path, compiled: Path, *flags: str) -> Path:
    subprocess.run(["g++", "-shared", compiled, *flags, "-o", target], check=True, capture_output=True)
    return target


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory, toolkit_home: Path) -> Path:
    target = tmp_path_factory.mktemp("compiled") / "ops.o"
    return _compile(target, _OPS, "-c", "-D_GLIBCXX_USE_CXX11_ABI=0", "-I", toolkit_home / "include")


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory, compiled: Path) -> Path:
    target = tmp_path_factory.mktemp("my ops 算子") / "libops.so"
    return _link(target, compiled, "-Wl,-soname,libops.so", "-Wl,-rpath,$ORIGIN:/opt/mine")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    text = '#include <stdio.h>\nstruct Base { virtual ~Base() = default; };\nBase *Make() { puts("x"); return new Base; }\n'
    return _compile(tmp_path_factory.mktemp("small") / "libsmall.so", text, "-shared").read_bytes()


def test_a_library_says_what_it_needs(ops: Path) -> None:
    library = read_library(ops)
    assert library.machine in {"x86_64", "aarch64"}
    assert library.soname == "libops.so"
    assert {"libstdc++.so.6", "libc.so.6"} <= set(library.needed)
    assert library.runpath == ("$ORIGIN", "/opt/mine")
    assert library.glibc is not None
    assert library.glibcxx == "3.4"
    assert library.cxxabi is not None
    assert "_Z4Makev" in library.defined
    assert "_ZN2ge6ServedERKSs" in library.undefined
    assert library.string_abis == {0}


def test_the_highest_version_is_by_number_not_by_letter(ops: Path) -> None:
    glibc = read_library(ops).glibc
    assert glibc is not None
    told = subprocess.run(["readelf", "-V", "-W", ops], check=True, capture_output=True, text=True).stdout
    versions = [word.removeprefix("GLIBC_") for word in told.split() if word.startswith("GLIBC_")]
    assert glibc == max(versions, key=lambda version: [*map(int, version.split("."))])


def _registered(library: ElfLibrary) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return library.ops, library.prototypes


def test_a_library_says_which_ops_it_registers(ops: Path) -> None:
    assert _registered(read_library(ops)) == (("AddCustom", "Custom"), ("AddCustom", "Custom"))


def test_nothing_of_that_is_in_what_strip_removes(ops: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "libops.so"
    subprocess.run(["strip", "--strip-all", ops, "-o", stripped], check=True)
    assert read_library(stripped) == read_library(ops)


def test_nor_in_the_section_headers(ops: Path, tmp_path: Path) -> None:
    bare = bytearray(ops.read_bytes())
    bare[40:48] = bytes(8)  # e_shoff
    bare[58:64] = bytes(6)  # e_shentsize, e_shnum, e_shstrndx
    (tmp_path / "libops.so").write_bytes(bare)
    assert read_library(tmp_path / "libops.so") == read_library(ops)


def test_another_compiler_and_hidden_classes_make_no_difference(toolkit_home: Path, tmp_path: Path) -> None:
    require_tool("clang++", "clang")
    flags: list[str | Path] = ["-shared", "-fvisibility=hidden", "-D_GLIBCXX_USE_CXX11_ABI=1", "-I", toolkit_home / "include"]
    library = read_library(_compile(tmp_path / "libops.so", _OPS, *flags, compiler="clang++"))
    assert _registered(library) == (("AddCustom", "Custom"), ("AddCustom", "Custom"))
    assert library.string_abis == {1}
    assert library.soname is None
    assert library.runpath == ()


@pytest.mark.parametrize(
    "flags",
    [
        "-Wl,--hash-style=sysv",
        "-Wl,-Bsymbolic",
        "-static-libstdc++",
        "-Wl,-z,pack-relative-relocs",
        "-Wl,--strip-all",
        "-static-libstdc++ -Wl,--exclude-libs,ALL",
        "-static-libstdc++ -Wl,--exclude-libs,ALL -Wl,-z,pack-relative-relocs -Wl,--strip-all",
    ],
)
def test_nor_does_how_it_is_linked(compiled: Path, tmp_path: Path, flags: str) -> None:
    library = read_library(_link(tmp_path / "libops.so", compiled, *flags.split()))
    assert _registered(library) == (("AddCustom", "Custom"), ("AddCustom", "Custom"))
    assert "_Z4Makev" in library.defined


def test_ops_without_a_description_of_their_classes_are_hidden_not_missing(ops: Path, toolkit_home: Path, tmp_path: Path) -> None:
    library = read_library(_compile(tmp_path / "libops.so", _OPS, "-shared", "-fno-rtti", "-I", toolkit_home / "include"))
    assert _registered(library) == ((), ())
    assert library.hides_ops
    assert not read_library(ops).hides_ops


@pytest.mark.parametrize("flags", ["", "-Wl,--strip-all"])
def test_a_library_that_exports_nothing_still_needs_what_it_needs(compiled: Path, tmp_path: Path, flags: str) -> None:
    """The hash table leads to what is exported only, and is then empty."""
    (tmp_path / "nothing.map").write_text("{ local: *; };\n")
    library = read_library(_link(tmp_path / "libops.so", compiled, f"-Wl,--version-script={tmp_path / 'nothing.map'}", *flags.split()))
    assert library.defined == frozenset()
    assert "_ZN2ge6ServedERKSs" in library.undefined
    assert library.string_abis == {0}
    assert _registered(library) == (("AddCustom", "Custom"), ("AddCustom", "Custom"))


def test_what_registers_nothing_says_so(small: bytes, tmp_path: Path) -> None:
    (tmp_path / "libsmall.so").write_bytes(small)
    assert _registered(read_library(tmp_path / "libsmall.so")) == ((), ())


@pytest.mark.parametrize(
    ("content", "because"),
    [
        (b"", "it is empty"),
        (b"library", "it doesn't begin as an ELF file"),
        (b"\x7fELF", "it is damaged"),
        (b"\x7fELF" + b"\xff" * 4096, "it is damaged"),
        (b"\x7fELF\x01\x01\x01" + bytes(4096), "it is damaged"),
    ],
    ids=["empty", "text", "cut", "filled", "of no kind"],
)
def test_what_is_no_library_is_one_clear_error(tmp_path: Path, content: bytes, because: str) -> None:
    (tmp_path / "lib.so").write_bytes(content)
    with pytest.raises(ElfError, match="is no library that can be read") as caught:
        read_library(tmp_path / "lib.so")
    assert (caught.value.because or "").startswith(because)
    # What Python calls it helps nobody.
    assert "Error" not in (caught.value.because or "")
    assert caught.value.exit_code == 4


def test_a_folder_a_gap_a_pipe_and_an_endless_file_are_refused_alike(tmp_path: Path) -> None:
    with (tmp_path / "huge.so").open("wb") as file:
        file.truncate(1 << 41)
    os.mkfifo(tmp_path / "pipe.so")
    told = {
        tmp_path: "Is a directory",
        tmp_path / "gone.so": "No such file or directory",
        Path("/dev/zero"): "it is no file",
        tmp_path / "pipe.so": "it is no file",
        tmp_path / "huge.so": "it has 2199023255552 bytes, and at most 2147483648 are read",
    }
    for path, because in told.items():
        with pytest.raises(ElfError) as caught, never_waiting():
            read_library(path)
        assert caught.value.because == because
        assert caught.value.help == (None if path.name == "gone.so" else f"move {path} away")


_READ = "; opkit reads 64-bit shared libraries for aarch64 and x86_64"


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({4: b"\x01", 18: b"\x03\x00"}, "it is a 32-bit shared library for x86"),
        ({16: b"\x02\x00"}, "it is a 64-bit executable for x86_64"),
        ({16: b"\x01\x00"}, "it is a 64-bit object file for x86_64"),
        ({16: b"\x04\x00"}, "it is a 64-bit core dump for x86_64"),
        ({18: b"\x28\x00"}, "it is a 64-bit shared library for ARM"),
        ({5: b"\x02", 16: b"\x00\x03", 18: b"\x00\x15", 20: b"\x00\x00\x00\x01"}, "it is a big-endian 64-bit shared library for PowerPC"),
    ],
    ids=["32 bits", "a program", "an object", "a core", "another machine", "big-endian"],
)
def test_a_file_for_others_is_told_for_what_it_is(small: bytes, tmp_path: Path, changes: dict[int, bytes], because: str) -> None:
    content = bytearray(small)
    content[18:20] = b"\x3e\x00"
    for place, value in changes.items():
        content[place : place + len(value)] = value
    (tmp_path / "lib.so").write_bytes(content)
    with pytest.raises(ElfError) as caught:
        read_library(tmp_path / "lib.so")
    assert caught.value.because == because + _READ


@pytest.mark.parametrize("flags", [["-pie", "-fPIE"], ["-no-pie"]], ids=["position-independent", "fixed"])
def test_a_program_is_no_library_though_its_header_may_say_so(tmp_path: Path, flags: list[str]) -> None:
    """dlopen refuses both."""
    program = _compile(tmp_path / "program", "int main() { return 0; }", *flags)
    with pytest.raises(ElfError) as caught:
        read_library(program)
    assert (caught.value.because or "").startswith("it is a 64-bit executable for ")


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [(56, b"\xff\xff", "damaged"), (32, b"\xff" * 8, "damaged"), (4, b"\x01", f"32-bit shared library for {host_arch()}")],
    ids=["65535 segments", "segments nowhere", "half as many bits"],
)
def test_a_header_that_lies_is_refused(small: bytes, tmp_path: Path, place: int, value: bytes, told: str) -> None:
    (tmp_path / "lib.so").write_bytes(small[:place] + value + small[place + len(value) :])
    with pytest.raises(ElfError) as caught:
        read_library(tmp_path / "lib.so")
    assert told in (caught.value.because or "")


def _overlapping(count: int, size: int, tag: int) -> bytes:
    """A library with `count` names that end at one place, each `size` bytes long: of symbols, or of libraries that it needs (tag 1)."""
    dynamic = 64 + 2 * 56
    entries = [(5, 0), (10, size + count), (6, 0), (4, 0), *((tag, number) for number in range(count if tag else 0)), (0, 0)]
    hashes = dynamic + 16 * len(entries)
    symbols = hashes + 8
    names = symbols + 24 * count
    places = {5: names, 6: symbols, 4: hashes}
    end = names + size + count
    body = b"".join(struct.pack("<QQ", key, places.get(key, value)) for key, value in entries)
    body += struct.pack("<II", 0, 0 if tag else count)
    body += b"".join(struct.pack("<IBBHQQ", number, 0, 0, 1, 0, 0) for number in range(count))
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    header += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, end, end, 4096)
    header += struct.pack("<IIQQQQQQ", 2, 6, dynamic, dynamic, dynamic, 16 * len(entries), 16 * len(entries), 8)
    return header + body + b"a" * (size + count - 1) + b"\0"


@pytest.mark.parametrize("tag", [0, 1], ids=["symbols", "libraries"])
def test_names_that_overlap_do_not_fill_the_memory(tag: int) -> None:
    """A megabyte of one letter, which packs to nothing, is a thousand names of a megabyte each."""
    few = library_in(_overlapping(8, 1 << 10, tag), "libfew.so")
    assert len(few.needed if tag else few.defined) == 8
    tracemalloc.start()
    try:
        with pytest.raises(ElfError) as caught:
            library_in(_overlapping(1000, 1 << 20, tag), "libbomb.so")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.because == "it is damaged: its names have more than 67108864 bytes"
    assert peak < 256 << 20


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_library_is_read_or_refused_and_nothing_else(small: bytes, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(small)
    # The headers, the dynamic table and what it leads to lie in the first and the last loaded pages.
    places = st.one_of(st.integers(0, 1023), st.integers(0, len(content) - 9), st.integers(len(content) * 2 // 3, len(content) - 9))
    for place in data.draw(st.lists(places, min_size=1, max_size=6)):
        value = data.draw(st.one_of(st.binary(min_size=1, max_size=8), st.sampled_from([b"\0" * 8, b"\xff" * 8, b"\xff\xff\xff\x7f"])))
        content[place : place + len(value)] = value
    cut = data.draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))
    path = tmp_path / "lib.so"
    path.write_bytes(content[:cut])
    with suppress(ElfError):
        assert read_library(path).machine in {"x86_64", "aarch64"}
