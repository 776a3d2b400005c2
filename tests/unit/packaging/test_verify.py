"""`verify`: everything that differs, at once; and a library is loaded where nothing but the toolkit is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from archive_support import ARCH, KERNEL, LIBRARY, MACHINES, elf, opp_root
from manifest_support import signed
from tiny_support import REGISTERED

from opkit.deliverable import OppRoot, Requires, Target
from opkit.errors import DeliverableError
from opkit.packaging import pack, require_package, verify
from opkit.toolkit import host_arch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HERE = f"op_graph/lib/linux/{host_arch()}"


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Real ones: that needs nothing, that needs a symbol which nobody has, and that finds another one in the folder of its build."""
    folder = tmp_path_factory.mktemp("libraries")
    (folder / "alone.c").write_text("int answer(void) { return 42; }\n")
    (folder / "lacking.c").write_text("int foo_missing(void);\nint answer(void) { return foo_missing(); }\n")
    (folder / "where.c").write_text(
        "#include <stdlib.h>\n#include <unistd.h>\n"
        "__attribute__((constructor)) static void look(void) {\n"
        '  if (getenv("OPKIT_STRANGER") || access("ops.py", F_OK) == 0) abort();\n}\n'
    )
    (folder / "telling.c").write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n"
        '__attribute__((constructor)) static void tell(void) { fclose(fopen(getenv("OPKIT_TOLD"), "w")); }\n'
    )
    builds = {
        "telling": ["telling.c"],
        "alone": ["alone.c"],
        "lacking": ["lacking.c"],
        "where": ["where.c"],
        "pathed": ["alone.c", f"-Wl,-rpath,{folder}"],
        "relative": ["alone.c", "-Wl,-rpath,$ORIGIN"],
    }
    for name, sources in builds.items():
        subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{name}.so", *sources], cwd=folder, check=True)
    return {name: (folder / f"{name}.so").read_bytes() for name in builds}


# By hand: an op, the class that it is made from, and a class that says its own name. Of the last two the reader can't know that nobody
# registers them, and of an op that is only described it knows that nobody runs it.
_BY_HAND = """
extern "C" int puts(const char *);
namespace ge {
namespace op {
struct FastAdd : Operator {};
struct Described : Operator {};
static const OperatorCreatorRegister fast("FastAdd", []() -> Operator * { return new FastAdd; });
static const OperatorCreatorRegister described("Described", []() -> Operator * { return new Described; });
}  // namespace op
}  // namespace ge
struct Add : ge::BaseCustomOp {};
struct Copying : ge::BaseCustomOp {
  Copying() { puts(__func__); }
};
struct FastAdd : Add {
  Copying copying;
};
static const ge::CustomOpCreatorRegister fast("FastAdd", []() -> ge::BaseCustomOp * { return new FastAdd; });
"""


def _registering(folder: Path) -> Path:
    (folder / _HERE).mkdir(parents=True)
    source = folder / "by_hand.cpp"
    source.write_text(REGISTERED + _BY_HAND)
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", "-o", folder / _HERE / "libcust_opapi.so", source], check=True)
    source.unlink()
    return folder


def test_an_op_that_the_manifest_does_not_name_is_one_violation_wherever_it_is_held(tmp_path: Path) -> None:
    """GE would run it, and drop that of another package for it."""
    root = _registering(tmp_path / "output")
    files = [f"{_HERE}/libcust_opapi.so"]
    told = "its libraries register FastAdd, which its manifest doesn't say"
    unnamed = signed(root, files, ops=("Tiny",), kind="cann")
    assert verify(unnamed, environ=None).violations == (told,)
    for held in (lambda: require_package(unnamed), lambda: pack(unnamed, tmp_path / "dist")):
        with pytest.raises(DeliverableError) as caught:
            held()
        assert caught.value.because == told
    named = signed(root, files, ops=("Tiny", "FastAdd"))
    assert verify(named, environ=None).violations == ()
    require_package(named)


def test_what_a_library_of_nobody_registers_is_not_told_twice(tmp_path: Path) -> None:
    root = _registering(tmp_path / "output")
    shutil.copy(root / _HERE / "libcust_opapi.so", root / _HERE / "libmine.so")
    (root / _HERE / "libcust_opapi.so").write_bytes(elf(MACHINES[host_arch()], ops=["Tiny"]))
    stray = verify(signed(root, [f"{_HERE}/libcust_opapi.so"], ops=("Tiny",)), environ=None).violations
    assert stray == (f"{_HERE}/libmine.so isn't in the manifest, and GE loads it with the others",)


@pytest.fixture
def root_of(tmp_path: Path, libraries: dict[str, bytes]) -> Callable[..., OppRoot]:
    def make(library: str, requires: Requires | None = None) -> OppRoot:
        (tmp_path / "output" / _HERE).mkdir(parents=True)
        (tmp_path / "output" / _HERE / "libcust_opapi.so").write_bytes(libraries[library])
        (tmp_path / "output" / _HERE / "add.asc").write_text("kernel")
        files = [f"{_HERE}/libcust_opapi.so", f"{_HERE}/add.asc"]
        return signed(tmp_path / "output", files, ops=(), requires=requires or Requires())

    return make


def test_what_agrees_has_no_violation_and_says_what_was_held(root_of: Callable[..., OppRoot]) -> None:
    verified = verify(root_of("relative"), environ={})
    assert verified.violations == verified.skipped == ()
    assert [sentence.partition(":")[0] for sentence in verified.held] == ["2 files", "1 library", "1 library"]
    assert "in an empty folder with the toolkit and nothing else" in verified.held[2]


def test_all_violations_are_told_at_once(root_of: Callable[..., OppRoot]) -> None:
    root = root_of("alone")
    (root.path / _HERE / "add.asc").unlink()
    (root.path / _HERE / "libcust_opapi.so").write_text("a text\n")
    (root.path / _HERE / "libextra.so").write_text("not a library\n")
    violations = verify(root, environ={}).violations
    assert f"{_HERE}/add.asc is missing" in violations
    assert f"{_HERE}/libcust_opapi.so isn't the file that was built" in violations
    assert f"{_HERE}/libextra.so isn't in the manifest, and GE loads it with the others" in violations
    assert f"{_HERE}/libextra.so is no library that can be read: it doesn't begin as an ELF file" in violations


def test_nothing_is_run_of_what_is_not_what_was_built(root_of: Callable[..., OppRoot], libraries: dict[str, bytes], tmp_path: Path) -> None:
    """Loading a library runs code of it: one that the manifest doesn't name, or that it has another hash of, is whoever's."""
    root = root_of("alone")
    environ = {"OPKIT_TOLD": str(tmp_path / "told")}
    for name in ("libextra.so", "libcust_opapi.so"):
        (root.path / _HERE / name).write_bytes(libraries["telling"])
        verified = verify(root, environ=environ)
        assert verified.violations
        assert verified.skipped == ("not loaded: what isn't what its manifest says runs nothing here",)
        assert not any("loaded in a process of its own" in sentence for sentence in verified.held)
        assert not (tmp_path / "told").exists()
    # As it would have.
    (root.path / _HERE / "libextra.so").unlink()
    verify(signed(root.path, [f"{_HERE}/libcust_opapi.so"], ops=()), environ=environ)
    assert (tmp_path / "told").exists()


@pytest.mark.case("F1")
def test_a_text_beside_the_library_is_told_though_the_manifest_names_it(root_of: Callable[..., OppRoot]) -> None:
    root = root_of("alone")
    (root.path / _HERE / "libextra.so").write_text("not a library\n")
    root = signed(root.path, [*(str(file.path) for file in root.manifest.files), f"{_HERE}/libextra.so"])
    assert verify(root, environ=None).violations == (
        f"{_HERE}/libextra.so is no library that can be read: it doesn't begin as an ELF file",
    )


def test_a_library_that_does_not_load_is_a_violation_with_the_loader_s_words(root_of: Callable[..., OppRoot]) -> None:
    root = root_of("lacking")
    (violation,) = verify(root, environ={}).violations
    assert violation.startswith(f"{_HERE}/libcust_opapi.so doesn't load: ")
    assert "foo_missing" in violation
    unloaded = verify(root, environ=None)
    assert unloaded.violations == ()
    assert unloaded.skipped == ("not loaded, as you wished",)


@pytest.mark.case("K6")
def test_it_is_loaded_in_an_empty_folder_without_the_caller_s_environment(
    root_of: Callable[..., OppRoot], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ops.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPKIT_STRANGER", "1")
    assert verify(root_of("where"), environ={}).violations == ()


@pytest.mark.case("K6")
def test_a_search_path_of_the_machine_that_built_it_is_a_violation(root_of: Callable[..., OppRoot]) -> None:
    (violation,) = verify(root_of("pathed"), environ=None).violations
    assert "which is a folder of the machine that built it" in violation


def test_a_library_that_needs_more_than_the_manifest_says_is_told(root_of: Callable[..., OppRoot]) -> None:
    (violation,) = verify(root_of("where", Requires(glibc="2.0")), environ=None).violations
    assert "needs glibc 2." in violation
    assert violation.endswith("the manifest says 2.0")


def test_a_library_for_another_machine_is_not_loaded(tmp_path: Path) -> None:
    other = "aarch64" if host_arch() == "x86_64" else "x86_64"
    path = f"op_graph/lib/linux/{other}/libcust_opapi.so"
    root = opp_root(tmp_path, {path: elf(MACHINES[other])}, target=Target(os="linux", arch=other))
    assert verify(root, environ={}).skipped == (f"not loaded: it is for {other}, this computer is {host_arch()}",)


@pytest.fixture
def no_programs(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, from which nothing may be executed."""
    mount = tmp_path / "noexec"
    mount.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec,size=8m", "tmpfs", mount], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield mount
    subprocess.run(["umount", mount], check=True)


@pytest.mark.case("I9")
def test_an_archive_that_is_unpacked_where_nothing_may_be_executed_is_verified_but_for_the_loading(
    root_of: Callable[..., OppRoot], no_programs: Path, tmp_path: Path
) -> None:
    """A real mount, and a process of its own with TMPDIR on it; the packages are installed from there to elsewhere."""
    packed = pack(root_of("alone"), tmp_path / "dist", is_simulator_allowed=True).path

    def opkit(*words: str | Path) -> dict[str, Any]:
        environ = {**os.environ, "TMPDIR": str(no_programs)}
        argv = [sys.executable, "-m", "opkit", *map(str, words), "--json"]
        done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    (verified,) = opkit("verify", packed)["packages"]
    assert verified["violations"] == []
    (skipped,) = verified["skipped"]
    assert f"not loaded: {no_programs}/" in skipped
    assert "lies where nothing may be executed; an archive is unpacked below TMPDIR, which can be another" in skipped
    opkit("install", packed, "--prefix", tmp_path / "prefix")
    (installed,) = opkit("verify", tmp_path / "prefix")["packages"]
    assert (installed["violations"], installed["skipped"]) == ([], [])
    assert list(no_programs.iterdir()) == []


@pytest.mark.case("I9")
def test_a_library_is_not_blamed_for_a_file_system_that_executes_nothing(
    root_of: Callable[..., OppRoot], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = root_of("alone")
    monkeypatch.setattr("os.statvfs", lambda _: SimpleNamespace(f_flag=os.ST_NOEXEC))
    verified = verify(root, environ={})
    assert verified.violations == ()
    assert "TMPDIR" in verified.skipped[0]


def test_a_package_without_a_library_is_told(tmp_path: Path) -> None:
    root = opp_root(tmp_path, {KERNEL: b""}, target=Target(os="linux", arch=ARCH))
    assert f"no library in op_graph/lib/linux/{ARCH}, where GE looks for one on linux {ARCH}" in verify(root, environ=None).violations
    shutil.rmtree(tmp_path / "op_graph")
    (violation, *_) = verify(opp_root(tmp_path, {LIBRARY: b"x"}), environ=None).violations
    assert violation == f"{LIBRARY} is no library that can be read: it doesn't begin as an ELF file"
