"""The store of compiled kernels in generated code: what is saved comes back, and what isn't a saved thing is refused whole."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from compile_support import compiled_project
from generated_support import succeed
from loader_support import FAKE_RUNTIME

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kernel_store")]

STORE_PROGRAM = """\
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>
#include "utils/kernel_store.h"

using namespace compiled_ops;
using Bytes = std::vector<uint8_t>;

const KernelVariant kGraphVariant{"scale.asc", "scaling::scale<float, 3>", true, CompiledAt::kGraph, "#define DTYPE_X float\\n"};
const KernelVariant kBuiltVariant{"add.asc", "add", false, CompiledAt::kBuild, ""};

Bytes Read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

void Write(const std::string &path, const Bytes &bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void Show(const KernelVariant &variant, const char *architecture) {
  const KernelBinary *const binary = FindBinary(variant, architecture);
  if (binary != nullptr) {
    std::printf("%s %s %zu:", binary->architecture.c_str(), binary->entry.c_str(), binary->code.size());
    for (const char byte : binary->code) {
      std::printf(" %d", byte);
    }
    std::printf("\\n");
  }
}

uint64_t DigestOf(const Bytes &bytes) {
  uint64_t digest = 14695981039346656037U;
  for (size_t at = 24; at < bytes.size(); ++at) {
    digest = (digest ^ bytes[at]) * 1099511628211U;
  }
  return digest;
}

// With the digest made right again, so that what is behind it is reached.
bool RestoreForged(Bytes bytes) {
  const uint64_t digest = DigestOf(bytes);
  for (size_t byte = 0; byte < 8 && 16 + byte < bytes.size(); ++byte) {
    bytes[16 + byte] = static_cast<uint8_t>(digest >> (8 * byte));
  }
  return RestoreKernels("forged kernels", bytes);
}

int main(int, char **argv) {
  const std::string what = argv[1];
  const std::string path = argv[2];
  if (what == "save") {
    KeepBinary(kGraphVariant, {"dav-2201", "_Z5scale", {'c', '\\0', -1}});
    KeepBinary(kGraphVariant, {"dav-3510", "_Z5scale", {'d'}});
    KeepBinary(kBuiltVariant, {"dav-2201", "add", {}});
    Bytes bytes;
    const bool is_saved = SaveKernels({kGraphVariant, kBuiltVariant}, bytes);
    Write(path, bytes);
    return is_saved ? 0 : 1;
  }
  if (what == "save_none") {
    Bytes bytes;
    return SaveKernels({kGraphVariant}, bytes) ? 0 : 1;
  }
  if (what == "restore") {
    const bool is_restored = RestoreKernels("the kernels of a saved model", Read(path));
    Show(kGraphVariant, "dav-2201");
    Show(kGraphVariant, "dav-3510");
    Show(kBuiltVariant, "dav-2201");
    return is_restored ? 0 : 1;
  }
  if (what == "newest") {
    KeepBinary(kGraphVariant, {"dav-2201", "_Z5scale", {'1'}});
    const KernelBinary *const first = FindBinary(kGraphVariant, "dav-2201");
    KeepBinary(kGraphVariant, {"dav-2201", "_Z5scale", {'2'}});
    Show(kGraphVariant, "dav-2201");
    KeepBinary(kGraphVariant, {"dav-2201", "_Z5scale", {'1'}});
    std::printf("%s\\n", FindBinary(kGraphVariant, "dav-2201") == first ? "same" : "other");
    std::printf("%s\\n", FindBinary(kGraphVariant, "") == nullptr ? "none" : "a guess");
    return 0;
  }
  if (what == "hostile") {
    const Bytes whole = Read(path);
    int refused = 0;
    for (size_t length = 0; length < whole.size(); ++length) {
      refused += !RestoreKernels("cut kernels", Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    }
    for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      Bytes flipped = whole;
      flipped[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
      refused += !RestoreKernels("flipped kernels", flipped);
    }
    std::printf("%zu %d %d\\n", 9 * whole.size(), refused, HasBinary(kGraphVariant, "dav-2201"));
    for (size_t at = 24; at < whole.size(); ++at) {
      (void)RestoreForged(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at)));
      for (const uint8_t value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
        Bytes forged = whole;
        forged[at] = value;
        (void)RestoreForged(forged);
        std::memset(&forged[at], value, std::min<size_t>(8, forged.size() - at));
        (void)RestoreForged(forged);
      }
    }
    Bytes longer = whole;
    longer.push_back(0);
    std::printf("%d\\n", RestoreForged(longer));
    return 0;
  }
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&good, number] {
      for (int round = 0; round < 50; ++round) {
        KeepBinary(kGraphVariant, {"dav-2201", "_Z5scale", {static_cast<char>(number)}});
        Bytes bytes;
        good += FindBinary(kGraphVariant, "dav-2201") != nullptr && SaveKernels({kGraphVariant}, bytes) && RestoreKernels("own", bytes);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  std::printf("%d\\n", good.load());
}
"""

LOADER_PROGRAM = """\
#include "utils/kernel_compiler.h"
#include "utils/kernel_store.h"

using namespace compiled_ops;
int main() {
  const KernelVariant load{"add.asc", "add", false, CompiledAt::kLoad, ""};
  const KernelVariant graph{"add.asc", "add", false, CompiledAt::kGraph, "// of the graph\\n"};
  const KernelVariant never{"add.asc", "add", false, CompiledAt::kGraph, "// of no graph\\n"};
  std::string folder;
  const bool is_compiled = FindOwnFolder(folder) && CompileKernel(graph, folder, "dav-2201");
  std::printf("%d %s\\n", is_compiled, last_option.c_str());
  std::vector<std::thread> threads;
  std::atomic<int> loaded{0};
  for (int number = 0; number < 16; ++number) {
    threads.emplace_back([&, number] {
      current_device = number % 2;
      loaded += LoadKernel(load) != nullptr && LoadKernel(load) == LoadKernel(load);
      loaded += (LoadKernel(graph) != nullptr) == (current_device == 0);
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  std::printf("loaded %d, compiled %d, programs left %d\\n", loaded.load(), compiled.load(), live_programs.load());
  std::printf("%d\\n", LoadKernel(never) != nullptr);
}
"""


def compiled(project: Path, toolkit: Path, name: str, text: str, *sources: str, sanitizer: str) -> Path:
    include = toolkit / "include"
    (project / f"{name}.cpp").write_text(text)
    flags = ["-std=c++17", "-g", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all", "-pthread", "-rdynamic"]
    includes: list[str | Path] = ["-I", project / "ge", "-isystem", include, "-isystem", include / "graph"]
    files = [project / f"{name}.cpp", *(project / "ge" / "utils" / source for source in sources)]
    succeed(subprocess.run(["g++", *flags, *includes, *files, "-o", project / name, "-ldl"], capture_output=True, text=True, check=False))
    return project / name


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated code of ops that are compiled at each time."""
    root = tmp_path_factory.mktemp("store")
    compiled_project(root, ops='add, scale, add.replace(type="AddInBuild", compile="prebuilt")')
    return root


@pytest.fixture(scope="module")
def store(project: Path, toolkit_home: Path) -> Path:
    return compiled(project, toolkit_home, "store", STORE_PROGRAM, "kernel_store.cpp", sanitizer="address,undefined")


def run(program: Path, *arguments: str | Path, exit_code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == exit_code, done.stdout + done.stderr
    return done


@pytest.fixture
def saved(store: Path, tmp_path: Path) -> Path:
    run(store, "save", tmp_path / "saved")
    return tmp_path / "saved"


def test_what_is_saved_in_one_process_is_there_in_another(store: Path, saved: Path) -> None:
    shown = run(store, "restore", saved).stdout.splitlines()

    assert shown == ["dav-2201 _Z5scale 3: 99 0 -1", "dav-3510 _Z5scale 1: 100", "dav-2201 add 0:"]


def test_nothing_compiled_is_nothing_to_save(store: Path, tmp_path: Path) -> None:
    assert "none of the op's kernels is compiled" in run(store, "save_none", tmp_path, exit_code=1).stderr


def test_of_one_architecture_the_newest_binary_counts_and_the_same_one_is_kept_once(store: Path, tmp_path: Path) -> None:
    assert run(store, "newest", tmp_path).stdout.splitlines() == ["dav-2201 _Z5scale 1: 50", "same", "none"]


def test_a_cut_or_changed_text_is_refused_whole_and_with_one_message(store: Path, saved: Path) -> None:
    """AddressSanitizer and UndefinedBehaviorSanitizer watch; with a right digest too, anything may be in there."""
    done = run(store, "hostile", saved)

    tried, refused, has_any = map(int, done.stdout.splitlines()[0].split())
    assert tried == 9 * saved.stat().st_size
    assert (refused, has_any) == (tried, 0)
    lines = [line for line in done.stderr.splitlines() if "cut kernels" in line or "flipped kernels" in line]
    assert len(lines) == tried
    assert done.stdout.splitlines()[1] == "0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[:0], "end before any kernel"),
        (lambda content: b"\x7fELF" + content[4:], "are not what an op of opkit's saves"),
        (
            lambda content: content[:8] + b"\x02" + content[9:],
            "are of form 2, and this library reads form 1: both must be generated by one",
        ),
        (lambda content: content[:-1], "are damaged or cut off"),
    ],
)
def test_what_else_it_is_is_said(store: Path, saved: Path, change: object, message: str) -> None:
    assert callable(change)
    saved.write_bytes(change(saved.read_bytes()))

    done = run(store, "restore", saved, exit_code=1)

    # The kernels that aren't there are asked for all the same, and each tells its own reason.
    assert f"the kernels of a saved model {message}" in done.stderr.splitlines()[0]


def test_a_kernel_that_is_missing_says_where_it_should_have_come_from(store: Path, saved: Path) -> None:
    saved.write_bytes(b"")

    errors = run(store, "restore", saved, exit_code=1).stderr.splitlines()

    assert "kernel scaling::scale<float, 3> of scale.asc is compiled with a graph, and neither was a graph" in errors[1]
    assert f"the prebuilt kernels {store.parent / 'cust_opapi.kernels'} are missing: No such file or directory" in errors[3]


def test_the_file_beside_the_library_is_read_and_its_faults_are_named(store: Path, saved: Path, tmp_path: Path) -> None:
    beside = store.parent / "cust_opapi.kernels"
    try:
        beside.write_bytes(saved.read_bytes())
        empty = tmp_path / "empty"
        empty.write_bytes(b"")
        assert "dav-2201 add 0:" in run(store, "restore", empty, exit_code=1).stdout
        beside.write_bytes(saved.read_bytes()[:-1])
        assert f"the prebuilt kernels {beside} are damaged or cut off" in run(store, "restore", empty, exit_code=1).stderr
    finally:
        beside.unlink()


def test_threads_may_use_the_store_at_once(project: Path, toolkit_home: Path, tmp_path: Path) -> None:
    program = compiled(project, toolkit_home, "threads", STORE_PROGRAM, "kernel_store.cpp", sanitizer="thread")

    assert run(program, "threads", tmp_path).stdout == "400\n"


def test_a_kernel_is_loaded_where_its_architecture_is(project: Path, toolkit_home: Path) -> None:
    """Two devices of different architectures, sixteen threads; ThreadSanitizer watches."""
    (project / "add.asc").write_text("// the kernel\n")
    sources = ("kernel_store.cpp", "kernel_compiler.cpp", "rtc_kernel_loader.cpp")
    program = compiled(project, toolkit_home, "loader", FAKE_RUNTIME + LOADER_PROGRAM, *sources, sanitizer="thread")

    done = run(program)

    # One for the graph, and for the loaded kernel one of each device.
    assert done.stdout.splitlines() == ["1 --npu-arch=dav-2201", "loaded 32, compiled 3, programs left 0", "0"]
    assert "kernel add of add.asc is compiled for dav-2201, and the device is a dav-2202" in done.stderr
    assert "kernel add of add.asc is compiled with a graph, and neither was a graph with it compiled in this process" in done.stderr
