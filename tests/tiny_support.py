"""A project of one small library and one program, so that the steps of a build are tested with real tools in a second.

Only spec and rendering are stood in for here: `tests/integration` builds real projects.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from opkit import build as room
from opkit import codegen, resources, spec
from opkit.build import Built, Project, Settings
from opkit.build.tree import Tree
from opkit.codegen import FileSet, GeneratedFile
from opkit.codegen.manifest import ManifestContext
from opkit.codegen.templates import opened
from opkit.toolkit import Toolkit, process_environment

_TEMPLATES = resources.templates() / "deliverable"
_CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(tiny LANGUAGES CXX)
add_library(cust_opapi SHARED ge/custom_op.cpp)
target_include_directories(cust_opapi PRIVATE "${ASCEND_HOME_PATH}/include")
target_compile_options(cust_opapi PRIVATE "-ffile-prefix-map=${CMAKE_CURRENT_BINARY_DIR}=.")
option(OPKIT_SESSION_RUN "" ON)
if(OPKIT_SESSION_RUN)
  add_executable(tiny_session_run session_run/main.cc)
  target_link_libraries(tiny_session_run PRIVATE cust_opapi)
endif()
install(TARGETS cust_opapi DESTINATION "op_graph/lib/linux/${CMAKE_SYSTEM_PROCESSOR}")
install(FILES ge/tiny.h DESTINATION op_graph/include)
# Whatever a test appends is installed before.
function(install_manifest)
  install(CODE "set(manifest_source_dir [[${CMAKE_CURRENT_SOURCE_DIR}]])
    set(manifest_arch [[${CMAKE_SYSTEM_PROCESSOR}]])
    set(manifest_toolkit [[${ASCEND_HOME_PATH}]])
    set(manifest_abi [[${OPKIT_CXX11_ABI}]])
    set(manifest_opkit [[${OPKIT_VERSION}]])
    set(manifest_readelf [[${CMAKE_READELF}]])
    include([[${CMAKE_CURRENT_SOURCE_DIR}/cmake/write_manifest.cmake]])")
endfunction()
cmake_language(DEFER CALL install_manifest)
"""

# What the headers of GE have for registering, and the op that REG_OP and REG_AUTO_MAPPING_OP would register with it.
REGISTERED = """
namespace ge {
struct BaseCustomOp {
  virtual ~BaseCustomOp() = default;
};
struct Operator {
  virtual ~Operator() = default;
};
struct CustomOpCreatorRegister {
  __attribute__((noipa)) CustomOpCreatorRegister(const char *, BaseCustomOp *(*)()) {}
};
struct OperatorCreatorRegister {
  __attribute__((noipa)) OperatorCreatorRegister(const char *, Operator *(*)()) {}
};
namespace op {
struct Tiny : Operator {};
static Operator *Create() { return new Tiny; }
static const OperatorCreatorRegister registered("Tiny", Create);
}  // namespace op
}  // namespace ge
struct Tiny : ge::BaseCustomOp {};
static ge::BaseCustomOp *Create() { return new Tiny; }
static const ge::CustomOpCreatorRegister registered("Tiny", Create);
"""

_FILES = {
    "CMakeLists.txt": _CMAKE,
    "ge/tiny.h": "int answer();\n",
    "ge/custom_op.cpp": '#include "graph/custom_op.h"\n#include "tiny.h"\nint answer() { return @ANSWER@; }\n' + REGISTERED,
    "session_run/main.cc": "int answer();\nint main() { return answer(); }\n",
}


def manifest_script(name: str, prototypes: dict[str, str], *helpers: str) -> str:
    """The CMake script that writes the manifest of a package with these ops, as opkit renders it."""
    with opened(_TEMPLATES) as templates:
        template = templates.get_template("cmake/write_manifest.cmake.j2")
    return template.render(name=name, manifest=ManifestContext.of(prototypes), helpers=helpers)


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

    @property
    def tree(self) -> Path:
        """The tree of CMake that a build without settings has."""
        return Tree.of(self.project, self.toolkit, "Release").path

    def build(
        self,
        project: Project | None = None,
        *,
        environ: dict[str, str] | None = None,
        is_forced: bool = False,
        npu_arch: str | None = None,
        settings: Settings = Settings(),  # noqa: B008 - frozen
        is_explained: bool = False,
        wait: float = 0.0,
    ) -> Built:
        return room.build(
            project or self.project,
            self.toolkit,
            process_environment() | (environ or {}),
            settings=settings._replace(npu_arch=npu_arch),
            is_forced=is_forced,
            is_explained=is_explained,
            jobs=2,
            wait=wait,
        )

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
            files=(
                *(GeneratedFile(path=path, text=text.replace("@ANSWER@", package.text)) for path, text in self.files.items()),
                GeneratedFile(
                    path="cmake/write_manifest.cmake", text=manifest_script(self.name, {"Tiny": ".INPUT(x, TensorType({DT_FLOAT}))"})
                ),
            )
        )


def stand_in() -> None:
    """For a process of its own, such as an opkit that another one starts: every project is a tiny one, named as its folder."""

    def of(root: Path) -> Tiny:
        tiny = object.__new__(Tiny)
        tiny.root, tiny.files, tiny.loads, tiny.name = root, dict(_FILES), 0, root.name
        return tiny

    def load(ops_py: Path) -> SimpleNamespace:
        return of(ops_py.parent).load(ops_py)

    def render(package: SimpleNamespace) -> FileSet:
        return of(package.sources[0].parent).render(package)

    spec.load_package = load  # type: ignore[assignment]
    codegen.render = render  # type: ignore[assignment]
