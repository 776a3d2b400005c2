"""The project's sessions: what a contributor and .ci/run do, each in an environment of its own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "types", "tests"]

HERE = Path(__file__).parent
RUFF = "ruff==0.17.6"
MYPY = "mypy==2.4.1"
CLANG_FORMAT = "clang-format==23.1.5"
GERSEMI = "gersemi==0.29.2"
WORKERS = os.environ.get("OPKIT_TEST_WORKERS", "2")


def cpp_sources() -> list[str]:
    folders = [HERE / "simulator" / name for name in ("include", "src", "tests", "opp")]
    return [str(path) for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in {".h", ".cpp", ".cc"}]


def build_simulator(session: nox.Session, folder: str, *options: str) -> Path:
    """Configures and builds simulator/ with its tests below the session's own folder; gives the build folder."""
    build = Path(session.create_tmp()).resolve() / folder
    session.run("cmake", "-S", str(HERE / "simulator"), "-B", str(build), "-G", "Ninja", "-DOPKIT_SIM_BUILD_TESTS=ON", *options)
    session.run("cmake", "--build", str(build), "-j", WORKERS)
    return build


@nox.session
def tests(session: nox.Session) -> None:
    """Installs opkit as a user does, runs the simulator's own tests and then pytest against the installed package."""
    session.install(".[test]")
    if not session.posargs:
        build = build_simulator(session, "simulator", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON")
        session.run("ctest", "--test-dir", str(build), "--output-on-failure", "-j", WORKERS)
    # `pytest`, not `python -m pytest`: the latter would put the checkout before the installed package.
    session.run("pytest", "-n", WORKERS, "--dist", "loadgroup", *session.posargs)


@nox.session
def sanitize(session: nox.Session) -> None:
    """Runs the simulator's own tests under AddressSanitizer and UndefinedBehaviorSanitizer, built file by file."""
    session.install("cmake>=3.20", "ninja")
    # Not optimised: the sanitizers' checks make optimising these sources five times as long, for tests that run seconds.
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g1", "-DOPKIT_SIM_SANITIZE=address,undefined"]
    build = build_simulator(session, "sanitize", *options)
    session.run("ctest", "--test-dir", str(build), "--output-on-failure", "-j", WORKERS)


@nox.session
def lint(session: nox.Session) -> None:
    """Check formatting and lint: ruff for Python, clang-format for C++, gersemi for CMake: nothing is changed."""
    session.install(RUFF, CLANG_FORMAT, GERSEMI)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("clang-format", "--dry-run", "-Werror", *cpp_sources())
    session.run("gersemi", "--check", "CMakeLists.txt", "simulator", "opkit/cmake")


@nox.session
def types(session: nox.Session) -> None:
    """mypy, strict, over the package, the tests, the benchmarks and what makes the docs."""
    session.install(
        MYPY, "attrs", "click", "jinja2", "nox", "numpy", "packaging", "platformdirs", "rich", "tree-sitter", "hypothesis", "pytest"
    )
    session.run("mypy")


@nox.session
def sample(session: nox.Session) -> None:
    """The main job: the address-refresh comparison of the shipped sample."""
    session.install(".")
    session.run("opkit", "bench", "samples/args_refresh_add_custom", *session.posargs)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """The design's budgets, each as a ratio against what a user would otherwise use."""
    session.install(".", "onnxruntime", "onnx")
    session.run("python", "-m", "benchmarks", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Writes the reference pages from the code; `nox -s docs -- --check` only compares."""
    session.install(".")
    session.run("python", "docs/generate.py", *session.posargs)


@nox.session
def conformance(session: nox.Session) -> None:
    """Compiles what opkit generates against the genuine headers that the torch-npu wheel ships; they stay outside the repository."""
    session.install(".[test]")
    wheels = Path(session.create_tmp()).resolve() / "torch_npu"
    if not any(wheels.glob("*.whl")):
        # Only the headers are read, so the wheel may be for another Python than this one.
        session.run("pip", "download", "--no-deps", "--only-binary=:all:", "--python-version", "3.11", "--dest", str(wheels), "torch-npu")
    headers = wheels / "headers"
    shutil.rmtree(headers, ignore_errors=True)
    shutil.unpack_archive(str(next(wheels.glob("*.whl"))), str(headers), "zip")
    include = headers / "torch_npu" / "include" / "third_party" / "acl" / "inc"
    session.run("pytest", "tests/conformance", "-m", "conformance", env={"OPKIT_GENUINE_HEADERS": str(include)})
