"""A change compiles what depends on it and nothing else: told by what Ninja noted that it made."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opkit import resources

if TYPE_CHECKING:
    from tiny_support import Tiny

_KERNEL = """\
set(kernel "${CMAKE_CURRENT_BINARY_DIR}/kernels/add.asc")
add_custom_command(
  OUTPUT "${kernel}"
  COMMAND
    "${CMAKE_COMMAND}" "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/kernels/add.asc" "-DTARGET=${kernel}" "-DDEPFILE=${kernel}.d" -P
    "${CMAKE_CURRENT_SOURCE_DIR}/cmake/flatten_kernel.cmake"
  DEPENDS kernels/add.asc cmake/flatten_kernel.cmake
  DEPFILE "${kernel}.d"
  VERBATIM
)
add_custom_target(kernels ALL DEPENDS "${kernel}")
install(FILES "${kernel}" DESTINATION "op_graph/lib/linux/${CMAKE_SYSTEM_PROCESSOR}")
"""
_LIBRARY = {"CMakeFiles/cust_opapi.dir/ge/custom_op.cpp.o", "libcust_opapi.so"}
_PROGRAM = {"CMakeFiles/tiny_session_run.dir/session_run/main.cc.o", "tiny_session_run"}


@pytest.fixture
def built(tiny: Tiny) -> Tiny:
    tiny.files["CMakeLists.txt"] += _KERNEL
    tiny.files["cmake/flatten_kernel.cmake"] = (resources.templates() / "deliverable/cmake/flatten_kernel.cmake").read_text()
    tiny.files["ge/custom_op.cpp"] = '#include "user/infer.h"\n' + tiny.files["ge/custom_op.cpp"].replace("@ANSWER@", "0")
    tiny.files["ge/shown.h"] = "#define SHOWN @ANSWER@\n"
    tiny.files["session_run/main.cc"] = '#include "../ge/shown.h"\nint main() { return SHOWN; }\n'
    for name, text in {"kernels/add.asc": '#include "math.h"\n', "kernels/math.h": "// one\n", "ge/user/infer.h": "// one\n"}.items():
        (tiny.root / name).parent.mkdir(parents=True, exist_ok=True)
        (tiny.root / name).write_text(text)
    tiny.build()
    return tiny


def _made(tiny: Tiny) -> tuple[set[str], tuple[str, ...]]:
    """What the next build makes, and its steps."""
    log = tiny.tree / ".ninja_log"
    before = len(log.read_text().splitlines())
    steps = tiny.build().steps
    return {Path(line.split("\t")[3]).as_posix().removeprefix(f"{tiny.tree}/") for line in log.read_text().splitlines()[before:]}, steps


def test_a_header_that_a_kernel_includes_makes_that_kernel(built: Tiny) -> None:
    (built.root / "kernels/math.h").write_text("// two\n")
    made, steps = _made(built)
    assert steps == ("compiled", "installed")
    assert {name for name in made if not name.startswith("CMakeFiles/")} == {"kernels/add.asc"}
    assert "// two" in next(built.root.glob("output/op_graph/lib/*/*/add.asc")).read_text()
    assert _made(built) == (set(), ())


def test_a_header_of_the_user_compiles_the_library(built: Tiny) -> None:
    (built.root / "ge/user/infer.h").write_text("// two\n")
    made, _ = _made(built)
    assert made >= _LIBRARY
    assert not made & {"kernels/add.asc", "CMakeFiles/tiny_session_run.dir/session_run/main.cc.o"}


def test_a_generated_header_compiles_what_includes_it(built: Tiny) -> None:
    built.say("7")
    assert _made(built)[0] == _PROGRAM


def test_generated_files_that_come_out_the_same_keep_their_times(built: Tiny) -> None:
    paths = [path for path in (*built.root.glob("ge/*"), *built.root.glob("session_run/*")) if path.is_file()]
    old = time.time_ns() - 10**12
    for path in paths:
        os.utime(path, ns=(old, old))
    built.say("7")
    built.build()
    assert [path.name for path in paths if path.stat().st_mtime_ns != old] == ["shown.h"]
