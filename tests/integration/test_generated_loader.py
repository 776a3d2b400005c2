"""The generated kernel loader on what no test machine has: two devices, one without an architecture, a kernel compiler that fails."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from generated_support import succeed, varied_project
from loader_support import FAKE_RUNTIME

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("loader")]

PROGRAM = """\
using namespace varied_ops;
int main() {
  const KernelVariant first{"copy.asc", "copy_elements", "#define DTYPE_X half\\n#line 1 \\"copy.asc\\"\\n"};
  const KernelVariant second{"copy.asc", "copy_elements", "#define DTYPE_X float\\n#line 1 \\"copy.asc\\"\\n"};
  if (std::getenv("FAIL") != nullptr || std::getenv("NO_ARCH") != nullptr) {
    const bool is_loaded = LoadKernel(first) != nullptr;
    std::printf("loaded %d, programs left %d\\n", is_loaded, live_programs.load());
    return 0;
  }
  std::vector<std::thread> threads;
  std::atomic<int> loaded{0};
  for (int number = 0; number < 16; ++number) {
    threads.emplace_back([&, number] {
      current_device = number % 2;
      loaded += LoadKernel(first) != nullptr && LoadKernel(second) != nullptr && LoadKernel(first) == LoadKernel(first);
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  std::printf("loaded %d, compiled %d, programs left %d\\n", loaded.load(), compiled.load(), live_programs.load());
  current_device = 1;
  const KernelVariant third{"copy.asc", "other", "#define THIRD\\n#line 1 \\"copy.asc\\"\\n"};
  (void)LoadKernel(third);
  std::printf("%s\\n%s", last_option.c_str(), last_text.substr(0, 60).c_str());
}
"""


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory, toolkit_home: Path) -> Path:
    """A program with the generated loader in it, and a kernel beside it."""
    project = tmp_path_factory.mktemp("loader")
    varied_project(project)
    (project / "runtime.cpp").write_text(FAKE_RUNTIME + PROGRAM)
    (project / "copy.asc").write_bytes(b"\xef\xbb\xbf// the kernel\nint x;\n")
    include = toolkit_home / "include"
    includes: list[str | Path] = ["-I", project / "ge", "-isystem", include, "-isystem", include / "graph"]
    sources = [project / "runtime.cpp", project / "ge" / "utils" / "rtc_kernel_loader.cpp"]
    flags = ["-std=c++17", "-fsanitize=thread", "-pthread", "-rdynamic"]
    done = subprocess.run(
        ["g++", *flags, *includes, *sources, "-o", project / "loader", "-ldl"], capture_output=True, text=True, check=False
    )
    succeed(done)
    return project / "loader"


def run(loader: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return succeed(subprocess.run([loader], env={"PATH": "/usr/bin:/bin", **env}, capture_output=True, text=True, check=False))


def test_a_kernel_is_compiled_once_for_each_device_and_variant(loader: Path) -> None:
    lines = run(loader).stdout.splitlines()
    # Two devices, two variants, sixteen threads; ThreadSanitizer watches.
    assert lines[0] == "loaded 16, compiled 4, programs left 0"


def test_the_compiler_is_told_the_architecture_and_the_defines(loader: Path) -> None:
    # A byte order mark would be an error anywhere but at the start.
    assert run(loader).stdout.splitlines()[1:] == ["--npu-arch=dav-2202", "#define THIRD", '#line 1 "copy.asc"', "// the kernel", "int x;"]


def test_a_device_without_an_architecture_gets_no_kernel(loader: Path) -> None:
    done = run(loader, NO_ARCH="1")
    assert done.stdout == "loaded 0, programs left 0\n"
    assert "device 0 names no architecture to compile for" in done.stderr


def test_the_log_of_a_failed_compilation_is_shown(loader: Path) -> None:
    done = run(loader, FAIL="aclrtcCompileProg", CODE="176003")
    assert done.stdout == "loaded 0, programs left 0\n"
    assert (
        f"kernel source {loader.parent / 'copy.asc'} does not compile for --npu-arch=dav-2201: error 176003 (compilation failed)"
        in done.stderr
    )
    assert "\ncopy.asc:7: error: oh dear\n" in done.stderr


def test_a_log_that_the_runtime_has_told_is_not_told_again(loader: Path) -> None:
    done = run(loader, FAIL="aclrtcCompileProg", CODE="176003", SAID="does not compile: copy.asc:7: error: oh dear")
    assert done.stderr.count("oh dear") == 1


@pytest.mark.parametrize(
    ("call", "code", "meaning"),
    [
        ("aclrtGetDevice", 107002, "no device is set on this thread"),
        ("aclrtGetDeviceInfo", 107001, "no such device"),
        ("aclrtcCreateProg", 276000, "the program could not be created"),
        ("aclrtcGetBinDataSize", 176000, "invalid program"),
        ("aclrtcGetBinData", 999999, "see the runtime's log"),
        ("aclrtBinaryLoadFromData", 207018, "out of device memory"),
        ("aclrtBinaryGetFunction", 507027, "the binary has no such kernel"),
    ],
)
def test_every_call_that_fails_is_named_with_its_number_and_meaning(loader: Path, call: str, code: int, meaning: str) -> None:
    done = run(loader, FAIL=call, CODE=str(code))
    assert done.stdout.endswith("loaded 0, programs left 0\n")
    # A binary without the entry is no use to anyone.
    assert ("unloaded" in done.stdout) == (call == "aclrtBinaryGetFunction")
    assert f"error {code} ({meaning}): what the runtime said" in done.stderr
    assert (call if call != "aclrtBinaryGetFunction" else "no entry 'copy_elements'") in done.stderr
