"""What `opkit.lookup` says GE opens, held against what a GE opens: the simulator's, which walks the path list with code of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from opkit.lookup import lookup
from opkit.run import activate
from opkit.toolkit import discover, host_arch

# Each copy of it says which one it is when it is loaded.
_LIBRARY = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
__attribute__((constructor)) static void say(void) {
  static int here;
  Dl_info info;
  if (dladdr(&here, &info) != 0) puts(info.dli_fname);
  fflush(stdout);
}
"""
_PROGRAM = """\
#include "ge/ge_api.h"
int main() {
  return ge::GEInitialize(std::map<ge::AscendString, ge::AscendString>{}) == ge::SUCCESS ? 0 : 1;
}
"""
_NESTED = f"op_graph/lib/linux/{host_arch()}"
_FLAT = "libcust_opapi.so"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, toolkit_home: Path) -> Path:
    """A library that tells when it is loaded, and a program that initializes GE."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "say.c").write_text(_LIBRARY)
    (folder / "main.cc").write_text(_PROGRAM)
    libraries = toolkit_home / "lib64"
    subprocess.run(["gcc", "-shared", "-fPIC", folder / "say.c", "-o", folder / "say.so"], check=True)
    include = [f"-I{toolkit_home}/include", f"-I{toolkit_home}/include/external"]
    link = [f"-L{libraries}", "-Wl,--no-as-needed", "-lge_runner", "-lgraph", "-lgraph_base", "-lmetadef", f"-Wl,-rpath,{libraries}"]
    subprocess.run(["g++", "-std=c++17", folder / "main.cc", *include, *link, "-o", folder / "main"], check=True)
    return folder


@pytest.mark.slow
@pytest.mark.case("F1")
def test_what_is_looked_up_is_what_is_opened_in_that_order(built: Path, toolkit_home: Path, tmp_path: Path) -> None:
    files = [
        f"z/{_NESTED}/libb.so",
        f"z/{_NESTED}/libB.so",
        f"z/{_NESTED}/lib_a.so",
        f"z/{_NESTED}/{_FLAT}",
        f"z/{_NESTED}/notes.so.txt",
        f"z/{_NESTED}/deeper/libc.so",
        f"z/{_FLAT}",
        f"a/{_FLAT}",
        f"flat in nested/{_NESTED}/{_FLAT}",
        "other/op_graph/lib/linux/riscv64/libcust_opapi.so",
    ]
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(built / "say.so", tmp_path / name)
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("a")
    elements = ["z", "", "gone", "a", "file", "other", f"flat in nested/{_NESTED}", "link", ""]
    value = ":".join(str(tmp_path / element) if element else "" for element in elements)
    environ = {**os.environ, "ASCEND_CUSTOM_OPP_PATH": value}
    done = subprocess.run([built / "main"], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    opened = [os.path.realpath(line) for line in done.stdout.splitlines()]
    found = lookup(environ, discover({"ASCEND_HOME_PATH": str(toolkit_home)}))
    # A library that was opened already says nothing the second time.
    assert opened == list(dict.fromkeys(library.real for place in found.custom for library in place.libraries))
    assert len(opened) == 7


@pytest.mark.slow
@pytest.mark.case("E3")
def test_a_child_finds_wherever_it_is_started_what_ge_would_have_found_here(
    built: Path, toolkit_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GE takes a relative element from the folder in which it starts; `opkit run` and `opkit env` from theirs."""
    for name in (f"z/{_NESTED}/libb.so", f"here/$x/{_NESTED}/libc.so", f"here/a/{_FLAT}", f"here/~/{_NESTED}/libd.so"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(built / "say.so", tmp_path / name)
    environ = {**os.environ, "ASCEND_CUSTOM_OPP_PATH": "a:../z::$x:gone:~", "HOME": str(tmp_path)}

    def opened(environ: Mapping[str, str], folder: Path) -> list[str]:
        done = subprocess.run([built / "main"], env=environ, cwd=folder, capture_output=True, text=True, check=True)
        # What is linked to a relative path says that.
        return [os.path.realpath(folder / line) for line in done.stdout.splitlines()]

    monkeypatch.chdir(tmp_path / "here")
    child = activate(discover({"ASCEND_HOME_PATH": str(toolkit_home)}), [], environ)
    here = opened(environ, tmp_path / "here")
    assert [os.path.relpath(path, tmp_path).split("/")[:2] for path in here] == [
        ["here", "a"],
        ["z", "op_graph"],
        ["here", "$x"],
        ["here", "~"],
    ]
    assert opened(child, tmp_path) == here
    assert opened(environ, tmp_path) == []


@pytest.mark.slow
@pytest.mark.case("F1")
def test_one_library_that_does_not_load_fails_them_all(built: Path, tmp_path: Path) -> None:
    (tmp_path / _NESTED).mkdir(parents=True)
    shutil.copy(built / "say.so", tmp_path / _NESTED / "a.so")
    (tmp_path / _NESTED / "b.so").write_text("text")
    done = subprocess.run([built / "main"], env={**os.environ, "ASCEND_CUSTOM_OPP_PATH": str(tmp_path)}, capture_output=True, check=False)
    assert done.returncode == 1
