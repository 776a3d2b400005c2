"""A project of one small library and one program, so that the steps of a build are tested with real tools in a second.

Only spec and rendering are stood in for here: `tests/integration` builds real projects.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from opkit import build as room
from opkit.build import Built, Project
from opkit.codegen import FileSet, GeneratedFile
from opkit.toolkit import Toolkit, process_environment

_CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(tiny LANGUAGES CXX)
add_library(cust_opapi SHARED ge/custom_op.cpp)
target_include_directories(cust_opapi PRIVATE "${ASCEND_HOME_PATH}/include")
option(OPKIT_SESSION_RUN "" ON)
if(OPKIT_SESSION_RUN)
  add_executable(tiny_session_run session_run/main.cc)
  target_link_libraries(tiny_session_run PRIVATE cust_opapi)
endif()
install(TARGETS cust_opapi DESTINATION "op_graph/lib/linux/${CMAKE_SYSTEM_PROCESSOR}")
install(FILES ge/tiny.h DESTINATION op_graph/include)
"""

_FILES = {
    "CMakeLists.txt": _CMAKE,
    "ge/tiny.h": "int answer();\n",
    "ge/custom_op.cpp": '#include "graph/custom_op.h"\n#include "tiny.h"\nint answer() { return @ANSWER@; }\n',
    "session_run/main.cc": "int answer();\nint main() { return answer(); }\n",
}


class Tiny:
    """The project and what its spec renders to; `answer` stands for anything in ops.py."""

    def __init__(self, root: Path, toolkit: Toolkit) -> None:
        self.root = root
        self.toolkit = toolkit
        self.files = dict(_FILES)
        self.loads = 0
        self.name = "tiny"
        root.mkdir(parents=True)
        self.say("0")

    def say(self, answer: str) -> None:
        (self.root / "ops.py").write_text(answer)

    @property
    def project(self) -> Project:
        return Project.find(self.root)

    def build(
        self,
        project: Project | None = None,
        *,
        environ: dict[str, str] | None = None,
        is_forced: bool = False,
        npu_arch: str | None = None,
        wait: float = 0.0,
    ) -> Built:
        environ = process_environment() | (environ or {})
        return room.build(project or self.project, self.toolkit, environ, is_forced=is_forced, npu_arch=npu_arch, jobs=2, wait=wait)

    def load(self, ops_py: Path) -> SimpleNamespace:
        self.loads += 1
        return SimpleNamespace(
            name=self.name,
            ops=[SimpleNamespace(type="Tiny")],
            sources=(ops_py,),
            kernel_files=(),
            user_headers=(),
            warnings=(),
            text=ops_py.read_text(),
        )

    def render(self, package: SimpleNamespace) -> FileSet:
        return FileSet(
            files=tuple(GeneratedFile(path=path, text=text.replace("@ANSWER@", package.text)) for path, text in self.files.items())
        )
