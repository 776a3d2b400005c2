"""The cause of a failed build, from what real tools print."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from opkit.build.diagnosis import diagnose
from opkit.errors import CompileError, ConfigureError, LinkError, OpkitError

_ROOT = Path("/p/my ops")
_LOG = Path("/p/my ops/build/opkit-build.log")


def _diagnosed(output: str) -> OpkitError:
    return diagnose(output, root=_ROOT, log=_LOG, step="ninja")


def test_the_first_compiler_error_is_shown_and_warnings_before_it_are_not() -> None:
    error = _diagnosed(
        "[1/3] Building CXX object CMakeFiles/x.dir/ge/custom_op.cpp.o\n"
        "FAILED: CMakeFiles/x.dir/ge/custom_op.cpp.o \n"
        "/usr/bin/g++ -o x -c '/p/my ops/ge/custom_op.cpp'\n"
        "/p/my ops/ge/custom_op.cpp:3:5: warning: unused variable 'a' [-Wunused-variable]\n"
        "/p/my ops/ge/custom_op.cpp: In function 'int f()':\n"
        "/p/my ops/ge/custom_op.cpp:12:9: error: 'nope' was not declared in this scope\n"
        "   12 |     int x = nope;\n"
        "      |             ^~~~\n"
        "/p/my ops/ge/custom_op.cpp:14:1: error: expected '}' at end of input\n"
        "ninja: build stopped: subcommand failed.\n"
    )
    assert isinstance(error, CompileError)
    assert error.message == "'nope' was not declared in this scope"
    assert error.where == "ge/custom_op.cpp:12:9   int x = nope;"
    assert error.help == f"the full log is {_LOG}"


def test_an_error_in_a_header_names_the_line_of_the_project_that_included_it() -> None:
    error = _diagnosed(
        "In file included from /opt/cann/include/graph/operator_reg.h:20,\n"
        "                 from /p/my ops/ge/add.h:4,\n"
        "                 from /p/my ops/ge/custom_op.cpp:7:\n"
        "/opt/cann/include/graph/operator.h:31:10: fatal error: securec.h: No such file or directory\n"
        '   31 | #include "securec.h"\n'
    )
    assert error.where == '/opt/cann/include/graph/operator.h:31:10   #include "securec.h"'
    assert error.because == "included from ge/custom_op.cpp:7 and ge/add.h:4 and /opt/cann/include/graph/operator_reg.h:20"


def test_a_relative_path_of_ninja_and_colours_do_not_disturb() -> None:
    error = _diagnosed("\x1b[1m../ge/x.cpp:2:1:\x1b[0m \x1b[31merror: \x1b[0mexpected ';'\n")
    assert (error.message, error.where) == ("expected ';'", "ge/x.cpp:2:1")


@pytest.mark.parametrize(
    ("line", "symbol"),
    [
        ("/usr/bin/ld: x.o: in function `main':\nmain.cc:(.text+0x9): undefined reference to `ge::Graph::Save()'", "ge::Graph::Save()"),
        ("main.cc:(.text._ZN1xE[_ZN1xE]+0x9): undefined reference to `aclrtMalloc'", "aclrtMalloc"),
        ("ld.lld: error: undefined symbol: aclrtMalloc", "aclrtMalloc"),
    ],
)
def test_an_undefined_symbol_is_the_cause_not_collect2(line: str, symbol: str) -> None:
    error = _diagnosed(f"FAILED: x\n{line}\ncollect2: error: ld returned 1 exit status\nninja: build stopped: subcommand failed.\n")
    assert isinstance(error, LinkError)
    assert error.message == f"no library defines {symbol}"


def test_many_undefined_symbols_are_counted_once_each() -> None:
    lines = "\n".join(f"a.cc:(.text+0x1): undefined reference to `{name}'" for name in ("a", "b", "a", "c", "d"))
    assert "and 3 more: b, c, d" in (_diagnosed(lines).because or "")


def test_an_undefined_symbol_with_a_string_points_at_the_string_abi() -> None:
    error = _diagnosed("a.cc:(.text+0x1): undefined reference to `ge::F(std::__cxx11::basic_string<char> const&)'")
    assert "_GLIBCXX_USE_CXX11_ABI" in (error.because or "")


@pytest.mark.parametrize(
    "line", ["/usr/bin/ld: cannot find -lascendcl: No such file or directory", "ld.lld: error: unable to find library -lascendcl"]
)
def test_a_missing_library_is_named(line: str) -> None:
    assert _diagnosed(f"{line}\ncollect2: error: ld returned 1 exit status\n").message == "the linker finds no library ascendcl"


def test_another_linker_error_is_shown_as_it_is() -> None:
    error = _diagnosed(
        "/usr/bin/ld: libx.so: file not recognized: file format not recognized\ncollect2: error: ld returned 1 exit status\n"
    )
    assert error.message == "libx.so: file not recognized: file format not recognized"


def test_a_message_of_cmake_is_shown_without_its_layout() -> None:
    error = _diagnosed(
        "-- Configuring incomplete, errors occurred!\n"
        "CMake Error at CMakeLists.txt:12 (message):\n"
        "  No CANN toolkit: set ASCEND_HOME_PATH\n"
        "  or pass -DASCEND_HOME_PATH.\n"
        "Call Stack (most recent call first):\n"
        "  a.cmake:1 (include)\n"
        "\n\n"
    )
    assert isinstance(error, ConfigureError)
    assert error.message == "No CANN toolkit: set ASCEND_HOME_PATH or pass -DASCEND_HOME_PATH."
    assert error.where == "CMakeLists.txt:12"


def test_an_error_of_cmake_without_a_place_is_shown() -> None:
    error = _diagnosed("CMake Error: The source directory does not appear to contain CMakeLists.txt.\nSpecify --help for usage.\n")
    assert error.message == "The source directory does not appear to contain CMakeLists.txt."
    assert error.where is None


def test_a_compiler_that_fails_its_first_test_says_why() -> None:
    error = _diagnosed(
        "CMake Error at /usr/share/cmake/Modules/CMakeTestCXXCompiler.cmake:63 (message):\n"
        "  The C++ compiler\n\n"
        '    "/usr/bin/g++"\n\n'
        "  is not able to compile a simple test program.\n\n"
        "  It fails with the following output:\n\n"
        "    FAILED: CMakeFiles/cmTC_1.dir/testCXXCompiler.cxx.o \n"
        "    cc1plus: fatal error: /nope.h: No such file or directory\n"
        "    compilation terminated.\n"
        "\n\n"
        "-- Configuring incomplete, errors occurred!\n"
    )
    assert error.message == "the C++ compiler can't compile a simple program"
    assert error.because == "/nope.h: No such file or directory"


def test_a_compiler_that_is_named_a_file_that_is_not_there_says_so() -> None:
    error = _diagnosed(
        "CMake Error at /usr/share/cmake/Modules/CMakeTestCXXCompiler.cmake:63 (message):\n"
        "  is not able to compile a simple test program.\n\n"
        "    <command-line>: fatal error: /no/such/header.h: No such file or directory\n\n"
    )
    assert error.because == "<command-line>: fatal error: /no/such/header.h: No such file or directory"


def test_a_compiler_that_fails_its_first_test_names_the_flags_of_the_user() -> None:
    output = (
        "CMake Error at /usr/share/cmake/Modules/CMakeTestCXXCompiler.cmake:63 (message):\n"
        "  is not able to compile a simple test program.\n\n"
        "    /usr/bin/ld: cannot find Scrt1.o: No such file or directory\n"
        "    collect2: error: ld returned 1 exit status\n\n"
    )
    error = diagnose(output, root=_ROOT, log=_LOG, step="cmake", flags=["CXXFLAGS=-m32", "-D CMAKE_CXX_FLAGS=-g"])
    assert error.message == "the C++ compiler can't compile a simple program"
    assert error.because == "the linker finds no library Scrt1.o\nit is called with CXXFLAGS=-m32\nit is called with -D CMAKE_CXX_FLAGS=-g"
    assert (error.help or "").startswith("without CXXFLAGS and -D CMAKE_CXX_FLAGS it may; ")


def test_a_compiler_that_is_killed_ran_out_of_memory() -> None:
    error = _diagnosed("g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n")
    assert isinstance(error, CompileError)
    assert "out of memory" in (error.because or "")


def test_a_full_disk_is_the_cause_of_whatever_follows() -> None:
    error = _diagnosed("/p/my ops/ge/x.cpp:1:1: error: error writing to /tmp/ccX.s: No space left on device\nninja: build stopped.\n")
    assert error.message == "the disk is full"
    # As everywhere else, it is the machine and not the project.
    assert error.exit_code == 3
    assert str(error.help).startswith("free some space; the full log is ")


def test_an_unknown_failure_shows_the_last_lines_and_ninjas_own_words() -> None:
    error = _diagnosed("ninja: error: loading 'build.ninja': No such file or directory\n")
    assert error.message == "ninja failed: loading 'build.ninja': No such file or directory"
    assert _diagnosed("").because == "it printed nothing"
    assert error.exit_code == 5


def test_what_the_compiler_here_prints_is_understood(tmp_path: Path) -> None:
    source = tmp_path / "my ops" / "x.cpp"
    source.parent.mkdir()
    source.write_text('static_assert(sizeof(int) == 8, "too small");\n')
    done = subprocess.run(["g++", "-c", source, "-o", "/dev/null"], capture_output=True, text=True, check=False)
    error = diagnose(done.stderr, root=source.parent, log=_LOG, step="ninja")
    assert error.message == "static assertion failed: too small"
    assert (error.where or "").startswith("x.cpp:1:")


def test_what_the_linker_here_prints_is_understood(tmp_path: Path) -> None:
    (tmp_path / "x.cpp").write_text("int gone(int);\nint main() { return gone(1); }\n")
    done = subprocess.run(
        ["g++", tmp_path / "x.cpp", "-o", tmp_path / "x", "-lnowhere_at_all"], capture_output=True, text=True, check=False
    )
    assert diagnose(done.stderr, root=tmp_path, log=_LOG, step="ninja").message == "the linker finds no library nowhere_at_all"
    done = subprocess.run(["g++", tmp_path / "x.cpp", "-o", tmp_path / "x"], capture_output=True, text=True, check=False)
    assert diagnose(done.stderr, root=tmp_path, log=_LOG, step="ninja").message == "no library defines gone(int)"


def test_what_kernels_that_are_compiled_in_the_build_end_with_is_told_without_its_place_in_generated_code() -> None:
    error = _diagnosed(
        "[3/4] Generating cust_opapi.kernels\n"
        "FAILED: cust_opapi.kernels /p/my ops/build/cust_opapi.kernels \n"
        "cd '/p/my ops/build' && ./add_prebuild kernels cust_opapi.kernels dav-1\n"
        "[ERROR] ge/utils/kernel_compiler.cpp:61: kernel source k/add.asc does not compile for --npu-arch=dav-1: error 176 (bad): no\n"
        "ninja: build stopped: subcommand failed.\n"
    )
    assert error.message == "kernel source k/add.asc does not compile for --npu-arch=dav-1"
    assert error.because == "error 176 (bad): no"


def test_the_first_log_of_a_prebuilt_kernel_is_the_cause_of_all_its_dtypes() -> None:
    error = _diagnosed(
        "FAILED: cust_opapi.kernels /p/my ops/build/cust_opapi.kernels \n"
        "[ERROR] ge/utils/kernel_compiler.cpp:80: kernel source k/add.asc does not compile for --npu-arch=dav-1: error 3 (failed): [3]\n"
        "m.h:4: error: 'why' was not declared\n"
        "  4 |   why;\n"
        "\n"
        "[ERROR] ge/utils/kernel_compiler.cpp:80: kernel source k/add.asc does not compile for --npu-arch=dav-1: error 3 (failed): [3]\n"
        "m.h:5: error: another\n"
        "add_prebuild: error: a kernel of Add doesn't compile for float32 and float16\n"
        "[11/12] Building CXX object x.o\n"
        "ninja: build stopped: subcommand failed.\n"
    )
    assert isinstance(error, CompileError)
    assert error.message == "a kernel of Add doesn't compile for float32 and float16"
    assert error.because == "m.h:4: error: 'why' was not declared\n  4 |   why;"


def test_a_prebuild_that_knows_no_architecture_says_how_to_name_one() -> None:
    error = _diagnosed(
        "FAILED: cust_opapi.kernels \n"
        "add_prebuild: error: no architecture to compile for is named, and this machine has no device that names one: "
        "error 1 (x); pass -DA=b\n"
    )
    assert error.message == "no architecture to compile for is named, and this machine has no device that names one"
    assert error.because == "error 1 (x); pass -DA=b"
