"""Ops whose kernels are compiled with a graph or while the project is built, run against their references, and what a deliverable needs."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_support import edited, opkit, opkit_json
from compile_support import compiled_project, write_compiled
from generated_support import AS_DEEP, NAMED_COMPILER, build_by_hand, shell, succeed

from opkit.codegen import render
from opkit.run.arrays import Array, numpy_dtype, tolerance_of
from opkit.run.case import AttrItem, Case, CaseWriter, OutputItem, TensorItem
from opkit.spec import DTYPES, load_package

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("compile_times"), pytest.mark.usefixtures("toolkit_home")]

OPS = [
    "AddAtLoad",
    "AddInGraph",
    "AddInBuild",
    "AddInBuildPortable",
    "ScaleInGraph",
    "ScaleInBuild",
    "SubtractInGraph",
    "SubtractInBuild",
    "CastInGraph",
    "CastInBuild",
]
ONE_ADD = 'add.replace(type="AddInBuild", compile="prebuilt", dtypes={"T": ["float32"]})'
# An op, its inputs and its attrs.
Run = tuple[str, dict[str, Array], dict[str, int]]
# Where every compilation fails and none was kept.
NO_COMPILER = {"OPKIT_SIM_CXX": "/bin/false"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_compiled(tmp_path_factory.mktemp("compiled"))


@pytest.fixture(scope="module")
def results(project: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = opkit_json("test", project)["results"]
    return found


@pytest.mark.parametrize("op", OPS)
def test_every_row_computes_what_numpy_does_whenever_its_kernels_are_compiled(
    results: list[dict[str, Any]], project: Path, op: str
) -> None:
    cases = [result for result in results if result["op"] == op and result["status"] != "skipped"]

    assert {result["status"] for result in cases} == {"passed"}
    found = next(each for each in load_package(project / "ops.py").ops if each.type == op)
    rows = {tuple(combo.ports[port.name].name for port in found.ports) for combo in found.dtype_combos()}
    tested = {tuple(result["dtypes"][port.name] for port in found.ports) for result in cases}
    # The op whose rows differ by SoC has one that the simulated one lacks.
    assert tested == rows if not found.soc_rows else tested < rows


def run_cases(project: Path, opp: Path, folder: Path, *cases: Run, env: dict[str, str], exit_code: int = 0) -> str:
    """Runs cases of some ops with the deliverable in `opp`, and gives what was said on stderr."""
    package = load_package(project / "ops.py")
    writer = CaseWriter(Path(tempfile.mkdtemp(dir=folder)))
    folders: list[str | Path] = []
    for number, (op_type, inputs, attrs) in enumerate(cases):
        op = next(each for each in package.ops if each.type == op_type)
        names = {numpy_dtype(dtype.name): dtype.name for dtype in DTYPES.values() if dtype.npy is not None}
        assert op.reference is not None
        output = op.reference(*(inputs.get(port.name) for port in op.inputs), **attrs)
        name = names[output.dtype]
        case = Case(
            op=op_type,
            inputs=tuple(TensorItem(port=port, dtype=names[array.dtype], array=array) for port, array in inputs.items()),
            attrs=tuple(AttrItem(name=attr, type="int", value=value) for attr, value in attrs.items()),
            outputs=(OutputItem(port=op.outputs[0].name, dtype=name, array=output, tolerance=tolerance_of(name)),),
        )
        folders += ["--case", writer.write(f"case{number}", case)]
    program = project / "build" / "compiled_session_run"
    done = opkit("run", "--opp", opp, "--", program, "--check-only", *folders, env=env, exit_code=exit_code)
    assert done.stdout.count("Precision check passed") == (0 if exit_code else 2 * len(cases))
    return done.stderr


def cases_of(time: str) -> list[Run]:
    whole = np.arange(-40, 41)
    return [
        *((f"AddIn{time}", {"x": whole.astype(dtype), "y": whole[::-1].astype(dtype)}, {}) for dtype in ("float32", "int32", "float16")),
        *((f"ScaleIn{time}", {"x": whole.astype(dtype)}, {}) for dtype in ("float32", "int32")),
        *((f"SubtractIn{time}", {"x": whole.astype(dtype)}, {}) for dtype in ("int64", "int32")),
        (f"CastIn{time}", {"x": whole.astype("int32"), "bias": whole.astype("float32")}, {"to": DTYPES["int32"].number}),
        (f"CastIn{time}", {"x": whole.astype("int32")}, {"to": DTYPES["float16"].number}),
    ]


@pytest.fixture
def moved(project: Path, results: list[dict[str, Any]], tmp_path: Path) -> Path:
    """The deliverable in another folder, without any kernel's source."""
    assert results
    folder = tmp_path / "else where"
    shutil.copytree(project / "output", folder)
    for source in folder.rglob("*.asc"):
        source.unlink()
    return folder


def test_a_moved_deliverable_runs_prebuilt_kernels_and_compiles_nothing(project: Path, moved: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    run_cases(project, moved, tmp_path, *cases_of("Build"), env={**NO_COMPILER, "OPKIT_SIM_CACHE_DIR": str(cache)})

    assert not list(cache.rglob("*.entry"))


def test_a_graph_s_kernels_are_compiled_with_it(project: Path, moved: Path, tmp_path: Path) -> None:
    env = {"OPKIT_SIM_CACHE_DIR": str(tmp_path / "cache")}
    case: Run = ("AddInGraph", {"x": np.ones(5, np.float32), "y": np.ones(5, np.float32)}, {})

    run_cases(project, project / "output", tmp_path, case, env=env)
    assert len(list((tmp_path / "cache").rglob("*.entry"))) == 1
    told = run_cases(project, moved, tmp_path, case, env=env, exit_code=4)
    assert "add.asc is missing" in told
    assert "CompileGraph failed" in told


def test_a_row_of_another_soc_is_refused_while_the_graph_is_compiled(project: Path, results: list[dict[str, Any]], tmp_path: Path) -> None:
    assert results
    case: Run = ("CastInGraph", {"x": np.ones(5, np.float16)}, {"to": DTYPES["int32"].number})

    told = run_cases(project, project / "output", tmp_path, case, env={}, exit_code=4)

    assert "the spec has no kernel for x float16, bias absent -> y int32 on the SoC 'Ascend910B1'" in told
    assert "CompileGraph failed" in told


def test_without_the_file_of_prebuilt_kernels_its_name_is_told(project: Path, moved: Path, tmp_path: Path) -> None:
    (file,) = moved.rglob("cust_opapi.kernels")
    file.unlink()

    told = run_cases(project, moved, tmp_path, cases_of("Build")[0], env={}, exit_code=4)

    assert f"the prebuilt kernels {file} are missing: No such file or directory" in told


# A library with the package's ops, which saves or restores as GE does around an offline model.
PORTABLE_LIBRARY = """\
#include "ge/custom_op.cpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace {
using Bytes = std::vector<uint8_t>;

struct OfflineModel {
  OfflineModel() {
    if (const char *const path = std::getenv("RESTORE")) {
      std::ifstream file(path, std::ios::binary);
      const Bytes buffer{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      ge::PortableOp *const op = dynamic_cast<ge::PortableOp *>(static_cast<ge::BaseCustomOp *>(new OP));
      std::fprintf(stderr, "restored %d\\n", op->Deserialize(buffer) == ge::GRAPH_SUCCESS);
    }
  }
  ~OfflineModel() {
    if (const char *const path = std::getenv("SAVE")) {
      Bytes buffer;
      OP op;
      std::fprintf(stderr, "saved %d\\n", op.Serialize(buffer) == ge::GRAPH_SUCCESS);
      std::ofstream file(path, std::ios::binary);
      file.write(reinterpret_cast<const char *>(buffer.data()), static_cast<std::streamsize>(buffer.size()));
    }
  }
} offline_model;
}  // namespace
"""


@pytest.mark.parametrize("op", ["ScaleInGraph", "AddInBuildPortable"])
def test_a_saved_model_brings_its_kernels_into_a_process_that_compiles_none(
    project: Path, results: list[dict[str, Any]], toolkit_home: Path, tmp_path: Path, op: str
) -> None:
    assert results
    library = tmp_path / "opp" / "op_graph" / "lib" / "linux" / os.uname().machine
    shutil.copytree(project / "output" / "op_graph" / "lib" / "linux" / os.uname().machine, library)
    (tmp_path / "library.cpp").write_text(PORTABLE_LIBRARY)
    include = toolkit_home / "include"
    utils = project / "ge" / "utils"
    sources = [tmp_path / "library.cpp", *(utils / f"{name}.cpp" for name in ("kernel_store", "kernel_compiler", "rtc_kernel_loader"))]
    flags = ["-std=c++17", "-shared", "-fPIC", "-D_GLIBCXX_USE_CXX11_ABI=0", f"-DOP=compiled_ops::registered::{op}"]
    names = ["lowering", "graph", "graph_base", "metadef", "platform", "acl_rtc", "acl_rt", "dl"]
    includes: list[str | Path] = ["-I", project, "-I", project / "ge", "-isystem", include, "-isystem", include / "graph"]
    libraries = [f"-L{toolkit_home / 'lib64'}", *(f"-l{name}" for name in names)]
    succeed(shell("g++", *flags, *includes, *sources, "-o", library / "libcust_opapi.so", *libraries))
    x = np.arange(7, dtype=np.float32)
    case: Run = (op, {"x": x, **({"y": x} if op.startswith("Add") else {})}, {})
    saved = tmp_path / "saved"

    told = run_cases(project, tmp_path / "opp", tmp_path, case, env={"SAVE": str(saved)})
    assert "saved 1" in told
    for file in [*library.glob("*.asc"), *library.glob("*.kernels")]:
        file.unlink()
    bare = {**NO_COMPILER, "OPKIT_SIM_CACHE_DIR": str(tmp_path / "cache")}
    run_cases(project, tmp_path / "opp", tmp_path, case, env=bare, exit_code=4)
    told = run_cases(project, tmp_path / "opp", tmp_path, case, env={**bare, "RESTORE": str(saved)})

    assert "restored 1" in told
    assert not list((tmp_path / "cache").rglob("*.entry"))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, toolkit_home: Path) -> Path:
    """One kernel that is compiled while the project is built, by hand and with CMake's own generator."""
    root = tmp_path_factory.mktemp("small")
    compiled_project(root, ops=ONE_ADD)
    build_by_hand(root, toolkit_home, "-DOPKIT_SESSION_RUN=OFF", NAMED_COMPILER, tree=AS_DEEP)
    return root


def test_a_header_of_the_toolkit_s_is_a_reason_to_prebuild_again(small: Path, toolkit_home: Path) -> None:
    rules = ["-f", "CMakeFiles/prebuilt_kernels.dir/build.make", "CMakeFiles/prebuilt_kernels.dir/build"]
    # The first build makes the files that name dependencies, the next one reads them.
    succeed(shell("make", "-C", small / AS_DEEP))
    plain = succeed(shell("make", "-C", small / AS_DEEP, "-n", *rules)).stdout
    as_if = [f"--what-if={toolkit_home}/{name}" for name in ("include/kernel_operator.h", "lib64/libacl_rtc.so")]
    for changed in as_if:
        assert "compiled_prebuild" in succeed(shell("make", "-C", small / AS_DEEP, "-n", changed, *rules)).stdout
    assert "compiled_prebuild" not in plain


def test_no_source_of_a_kernel_is_installed_if_all_its_ops_are_prebuilt(small: Path) -> None:
    installed = {path.name for path in (small / "output").rglob("*") if path.is_file()}

    assert installed == {"libcust_opapi.so", "cust_opapi.kernels", "compiled.h", "opkit-manifest.json"}
    # Of this machine's device, as none was named.
    assert json.loads((small / "output" / "opkit-manifest.json").read_text())["target"]["npu_arch"] == "dav-2201"


def test_kernels_are_compiled_again_when_they_their_headers_or_the_tables_change(small: Path, toolkit_home: Path) -> None:
    file = small / AS_DEEP / "cust_opapi.kernels"

    def rebuilt(*options: str) -> bool:
        before = file.stat().st_mtime_ns
        compiled_project_again(small)
        build_by_hand(small, toolkit_home, "-DOPKIT_SESSION_RUN=OFF", NAMED_COMPILER, *options, tree=AS_DEEP)
        return file.stat().st_mtime_ns != before

    assert not rebuilt()
    with edited(small / "ops.py", 'args=["x", "y", "z", numel("x")], blocks=8', 'args=["x", "y", "z", numel("x")], blocks=4'):
        assert not rebuilt()
    with edited(small / "kernels" / "add_math.h", "x + y", "y + x"):
        assert rebuilt()
    with edited(small / "ops.py", 'numel("x")], blocks=8),', 'numel("x")], blocks=8, defines={"MORE": 1}),'):
        assert rebuilt()
    assert rebuilt()
    assert rebuilt("-DOPKIT_NPU_ARCH=dav-2201")
    assert not rebuilt("-DOPKIT_NPU_ARCH=dav-2201")


def compiled_project_again(root: Path) -> None:
    render(load_package(root / "ops.py")).write(root)


def test_the_architecture_is_told_to_opkit_build_and_kept(small: Path, tmp_path: Path) -> None:
    output: list[str | Path] = ["--output", tmp_path / "output"]

    told = opkit("build", small, *output, "--npu-arch", "dav-9999", exit_code=5).stderr
    assert told.count("error[") == 1
    assert "a kernel of AddInBuild doesn't compile for float32" in told
    assert "kernels/add.asc does not compile for --npu-arch=dav-9999" in told
    assert "because: kernel source" in told
    assert "error 176002 (invalid compile option)" in told
    assert "the simulator emulates dav-2201" in told
    later = opkit("build", small, *output, exit_code=5).stderr
    assert "kernels are prebuilt for dav-9999, which an earlier `opkit build --npu-arch` named; another can be named so" in later

    (library,) = (small / "build").glob("simulator-*/libcust_opapi.so")
    before = library.stat().st_mtime_ns
    assert opkit_json("build", small, *output, "--npu-arch", "dav-2201")["steps"] == ["configured", "compiled", "installed"]
    assert library.stat().st_mtime_ns == before
    assert opkit_json("build", small, *output)["steps"] == []


@pytest.mark.parametrize("name", ["ascend910b", "", "dav-", "dav-2201;x"])
def test_what_names_no_architecture_is_a_mistake_of_usage(small: Path, name: str) -> None:
    told = opkit("build", small, "--npu-arch", name, exit_code=2).stderr
    assert f"{name!r} is no architecture of the kernel compiler's, such as dav-2201" in told


def test_a_kernel_that_does_not_compile_is_told_with_its_op_its_dtypes_and_the_path_of_its_line(tmp_path: Path) -> None:
    root = write_compiled(tmp_path, ops='add.replace(type="AddInBuild", compile="prebuilt")')
    (root / "kernels" / "parts").mkdir()
    (root / "kernels" / "add_math.h").rename(root / "kernels" / "parts" / "m.h")
    with (
        edited(root / "kernels" / "add.asc", "add_math.h", "parts/m.h"),
        edited(root / "kernels" / "parts" / "m.h", "  return", '  static_assert(sizeof(T) == 2, "wide");\n  return'),
    ):
        told = opkit("build", root, exit_code=5).stderr

    assert told.count("error[") == 1
    assert "error[OPK0502]: a kernel of AddInBuild doesn't compile for float32 and int32\n  --> ops.py:" in told
    assert "because: kernels/parts/m.h:4: error: static assertion failed: wide" in told


def test_without_a_device_the_architecture_must_be_named(small: Path, tmp_path: Path) -> None:
    """A runtime that knows no device stands before the toolkit's."""
    (tmp_path / "none.cpp").write_text('extern "C" int aclrtSetDevice(int) { return 107001; }\n')
    succeed(shell("g++", "-shared", "-fPIC", tmp_path / "none.cpp", "-o", tmp_path / "none.so"))
    program = small / AS_DEEP / "compiled_prebuild"
    arguments: list[str | Path] = [small / AS_DEEP / "kernels", tmp_path / "out.kernels"]
    env = {"LD_PRELOAD": str(tmp_path / "none.so")}

    done = shell(program, *arguments, "", env=env)
    assert done.returncode == 1
    assert (
        "no architecture to compile for is named, and this machine has no device that names one: error 107001 (no such device"
        in done.stderr
    )
    assert "--npu-arch dav-2201" in done.stderr
    assert not (tmp_path / "out.kernels").exists()
    succeed(shell(program, *arguments, "dav-2201", env=env))
    assert (tmp_path / "out.kernels").read_bytes() == (small / AS_DEEP / "cust_opapi.kernels").read_bytes()


def test_a_wheel_of_the_project_has_the_kernels(small: Path, toolkit_home: Path, tmp_path: Path) -> None:
    pytest.importorskip("scikit_build_core")
    shutil.copytree(small, tmp_path / "source", ignore=shutil.ignore_patterns("build", "output"))
    (tmp_path / "source" / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["scikit-build-core>=0.11"]\nbuild-backend = "scikit_build_core.build"\n'
        '[project]\nname = "compiled"\nversion = "0.1"\n'
        '[tool.scikit-build]\nbuild-dir = "build/wheel"\nwheel.packages = []\nwheel.install-dir = "compiled"\nwheel.py-api = "py3"\n'
    )
    options: list[str | Path] = [
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "-Ccmake.define.OPKIT_NPU_ARCH=dav-2201",
        "--wheel-dir",
        tmp_path / "wheels",
    ]
    environ = {"ASCEND_HOME_PATH": str(toolkit_home), "OPKIT_ALLOW_SIMULATOR": "1"}
    done = shell(sys.executable, "-m", "pip", "wheel", *options, tmp_path / "source", env=environ)
    succeed(done)

    (wheel,) = (tmp_path / "wheels").iterdir()
    names = {name.rpartition("/")[2] for name in zipfile.ZipFile(wheel).namelist()}
    assert {"libcust_opapi.so", "cust_opapi.kernels"} <= names
    assert "add.asc" not in names


def test_a_graph_that_is_compiled_twice_compiles_a_kernel_once(project: Path, results: list[dict[str, Any]], tmp_path: Path) -> None:
    """The second graph takes it from the store, though nothing could compile it any more."""
    assert results
    arrays = {"x": np.ones(5, np.float32), "y": np.ones(5, np.float32)}
    cases: list[Run] = [("AddInGraph", arrays, {}), ("AddInGraph", {name: np.ones((2, 3), np.float32) for name in arrays}, {})]

    run_cases(project, project / "output", tmp_path, *cases, env={"OPKIT_SIM_CACHE_DIR": str(tmp_path / "cache")})

    assert len(list((tmp_path / "cache").rglob("*.entry"))) == 1
