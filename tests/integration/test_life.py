"""The life of a package as a user has it, once for each format: from `opkit new` to nothing left, all of it by the commands themselves."""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from command_support import opkit, opkit_json, replace_in
from tool_support import require_tool
from wheel_support import environment, site_packages

from opkit.layout import LIBRARY, library_folder
from opkit.run import Case, CaseWriter
from opkit.run.arrays import Tolerance
from opkit.run.case import OutputItem, TensorItem
from opkit.toolkit import host_arch

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("life"), pytest.mark.usefixtures("toolkit_home")]

_PREFIX = ".local/share/opkit/opp"  # below the user's home, without an option and a variable
_LIBRARY = library_folder(host_arch()) / LIBRARY
_OPS = {"0.1.0": ["LifeAdd", "LifeAddCopied"], "0.2.0": ["LifeAdd", "LifeAddCopied", "LifeSubtract"]}
_KERNELS = {"0.1.0": ["add_custom.asc"], "0.2.0": ["add_tiles.asc", "subtract.asc"]}
_SUBTRACT = """\
subtract = Op(
    "LifeSubtract",
    inputs=[Input("x", "float32", shape="..."), Input("y", "float32", shape="...")],
    outputs=[Output("z", "float32", shape="...")],
    kernel=Kernel(
        "kernels/subtract.asc",
        entry="subtract",
        args=["x", "y", "z", numel("x")],
        blocks=ceil_div(numel("x"), 1024),
        strides=True,
    ),
    reference=lambda x, y: x - y,
)

package = Package("""


class _Shipped(NamedTuple):
    """What leaves the computer that built it: archives by format and version, and the programs of the versions."""

    archives: dict[tuple[str, str], Path]
    programs: dict[str, Path]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory, toolkit_home: Path) -> _Shipped:
    """Two versions of one package, and another package with the op type of the first that subtracts; the projects are gone afterwards."""
    require_tool("makeself", "makeself")
    folder = tmp_path_factory.mktemp("their projects") / "算子"
    out = tmp_path_factory.mktemp("shipped")
    env = {"ASCEND_HOME_PATH": str(toolkit_home)}
    life, rival = folder / "life", folder / "a_rival"
    made = _Shipped({}, {})

    def ship(project: Path, version: str, *kinds: str) -> None:
        for kind in kinds:
            document = opkit_json("package", project, "--format", kind, "--allow-simulator", "--dest", out / kind, env=env)
            made.archives[kind, version] = Path(document["path"])
        program = f"{project.name}_session_run"
        made.programs[version] = Path(shutil.copy(project / "build" / program, out / f"{program}-{version}"))

    for project in (life, rival):
        assert _verbs(opkit("new", project.name, "--dir", project, env=env)) == ["Created"]
    assert _verbs(opkit("build", cwd=life, env=env)) == ["Configuring", "Compiling", "Installed", "Finished"]
    tested = opkit("test", cwd=life, env=env)
    assert re.search(r"^LifeAdd +float32 .* 9 passed\nLifeAddCopied +float32 .* 9 passed\n18 passed$", tested.stdout, re.MULTILINE)
    refused = opkit("package", cwd=life, env=env, exit_code=2)
    assert re.search(r"error\[OPK0110\]: .* is the host simulator", refused.stderr)
    assert not (life / "dist").exists()
    ship(life, "0.1.0", "tar", "wheel", "run")

    kernels = life / "kernels"
    shutil.copy(kernels / "add_custom.asc", kernels / "subtract.asc")
    (kernels / "add_custom.asc").rename(kernels / "add_tiles.asc")
    for old, new in (("AscendC::Add(", "AscendC::Sub("), ("void add_custom(", "void subtract(")):
        replace_in(kernels / "subtract.asc", old, new)
    for old, new in (("add_custom.asc", "add_tiles.asc"), ("package = Package(", _SUBTRACT), ("[add, copied]", "[add, copied, subtract]")):
        replace_in(life / "ops.py", old, new)
    replace_in(life / "pyproject.toml", 'version = "0.1.0"', 'version = "0.2.0"')
    ship(life, "0.2.0", "tar", "wheel", "run")

    replace_in(rival / "kernels" / "add_custom.asc", "AscendC::Add(", "AscendC::Sub(")
    replace_in(rival / "ops.py", '"ARivalAdd"', '"LifeAdd"')
    ship(rival, "rival", "tar")
    shutil.rmtree(folder)
    names = {kind: made.archives[kind, "0.2.0"].name for kind in ("tar", "wheel", "run")}
    assert names == {
        "tar": f"life-0.2.0+sim-linux_{host_arch()}.tar.gz",
        "wheel": f"life-0.2.0+sim-py3-none-linux_{host_arch()}.whl",
        "run": f"life-0.2.0+sim-linux_{host_arch()}.run",
    }
    return made


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user on a computer that has opkit and no project."""
    folder = tmp_path / "their home"
    folder.mkdir()
    for name in ("OPKIT_PREFIX", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    return folder


class _Way(NamedTuple):
    """How packages come to a computer and leave it in one format. The options make `opkit run` and `opkit list` see them."""

    root: Path
    prefix: Path
    options: list[str | Path]
    install: Callable[[Path], str]
    uninstall: Callable[[Path], str]
    installed: str
    upgraded: str


def _tar(home: Path) -> _Way:
    prefix = home / _PREFIX
    return _Way(
        root=prefix / "life",
        prefix=prefix,
        options=[],
        install=lambda archive: opkit("install", archive).stderr,
        uninstall=lambda _: opkit("uninstall", "life").stderr,
        installed=f"   Installed life 0.1.0+sim in {prefix}/life\n",
        upgraded=f"    Upgraded life 0.1.0+sim -> 0.2.0+sim in {prefix}/life\n",
    )


def _run(home: Path) -> _Way:
    prefix = home / "their ops"

    def installer(archive: Path, *options: str) -> str:
        # No variable and no Python of opkit's.
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
        return _said(
            subprocess.run(["sh", archive, "--install-path", prefix, *options], env=environ, capture_output=True, text=True, check=False)
        )

    return _Way(
        root=prefix / "life",
        prefix=prefix,
        options=["--prefix", prefix],
        install=installer,
        uninstall=lambda archive: installer(archive, "--uninstall"),
        installed=f"installed life 0.1.0 -> {prefix}/life\n",
        upgraded=f"installed life 0.2.0 -> {prefix}/life\n",
    )


def _wheel(home: Path) -> _Way:
    python = environment(home / "venv")

    def pip(*arguments: str | Path) -> str:
        command = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "--no-cache-dir", *arguments]
        # Not all of PATH: pip asks a rustc for its version, and rustup's makes a folder in the home then.
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
        return _said(subprocess.run(command, env=environ, capture_output=True, text=True, check=False))

    return _Way(
        root=site_packages(python) / "life",
        prefix=home / _PREFIX,
        options=["--python", python],
        install=lambda archive: pip("install", "--no-index", "--no-deps", archive),
        uninstall=lambda _: pip("uninstall", "--yes", "life"),
        installed="Successfully installed life-0.1.0+sim\n",
        upgraded="Successfully installed life-0.2.0+sim\n",
    )


@pytest.mark.case("F3", "K6")
@pytest.mark.parametrize(("kind", "way_of"), [("tar", _tar), ("wheel", _wheel), ("run", _run)])
def test_the_life_of_a_package(kind: str, way_of: Callable[[Path], _Way], shipped: _Shipped, home: Path, tmp_path: Path) -> None:
    way = way_of(home)
    old, new, rival = shipped.archives[kind, "0.1.0"], shipped.archives[kind, "0.2.0"], shipped.archives["tar", "rival"]
    is_sum, is_difference = _cases(tmp_path, "LifeAdd")
    before = _state(home, way)

    def ran(program: str, *options: str | Path, exit_code: int = 0) -> str:
        """What a version's program says in an environment that opkit made of what is installed."""
        return opkit("run", *way.options, "--", shipped.programs[program], *options, exit_code=exit_code).stdout

    assert way.installed in way.install(old)
    _hold(way, "0.1.0")
    _measure(way, shipped.programs["0.1.0"], tmp_path)

    assert way.upgraded in way.install(new)
    _hold(way, "0.2.0")
    _measure(way, shipped.programs["0.2.0"], tmp_path)
    assert "Precision check passed: LifeSubtract" in ran("0.2.0", "--check-only", "--case", _cases(tmp_path, "LifeSubtract")[1])

    for case, exit_code in ((is_sum, 0), (is_difference, 4)):
        ran("0.2.0", "--check-only", "--case", case, exit_code=exit_code)
    told = opkit("install", rival, "--prefix", way.prefix).stderr
    winner, loser = way.prefix / "a_rival", way.root
    # pip's environment is none that an install into a prefix knows of.
    assert (f"warning: LifeAdd of {loser} is shadowed by that of {winner}: GE keeps the first" in told) == (kind != "wheel")
    listed = opkit("list", *way.options).stdout
    assert re.findall(r"^(\w+) 0|^  shadowed: (.*)$", listed, re.MULTILINE) == [
        ("a_rival", ""),
        ("life", ""),
        ("", f"LifeAdd of {_LIBRARY}, by that of {winner / _LIBRARY}"),
    ]
    doctor = [*way.options, "--", sys.executable, "-m", "opkit", "doctor"]
    assert f"LifeAdd of {loser} is shadowed by {winner}: the first registration wins\n" in opkit("run", *doctor).stdout
    assert f"LifeAdd is registered by {winner / _LIBRARY}\n" in opkit("run", *doctor, "--explain", "LifeAdd").stdout
    # GE runs the op of the package that won.
    for case, exit_code in ((is_sum, 4), (is_difference, 0)):
        ran("0.2.0", "--check-only", "--case", case, exit_code=exit_code)
    opkit("uninstall", "a_rival", "--prefix", way.prefix)
    ran("0.2.0", "--check-only", "--case", is_sum)

    way.uninstall(new)
    assert _state(home, way) == before


# Stands before the runtime: the first time that an op's library is there and asks for a device, the package is upgraded.
_UPGRADE = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
int aclrtGetDevice(int32_t *device) {
  void *const library = dlopen(getenv("LIBRARY"), RTLD_LAZY | RTLD_NOLOAD);
  if (library != NULL && getenv("LD_PRELOAD") != NULL) {
    unsetenv("LD_PRELOAD");
    if (system(getenv("UPGRADE")) != 0) abort();
  }
  return ((int (*)(int32_t *))dlsym(RTLD_NEXT, "aclrtGetDevice"))(device);
}
"""


def test_a_program_whose_package_is_upgraded_before_its_first_kernel_says_so(shipped: _Shipped, home: Path, tmp_path: Path) -> None:
    way = _run(home)
    way.install(shipped.archives["run", "0.1.0"])
    root = way.root
    folder = (root / _LIBRARY).resolve().parent
    (tmp_path / "shim.c").write_text(_UPGRADE)
    compiled = subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "shim.so", tmp_path / "shim.c", "-ldl"], check=False)
    assert compiled.returncode == 0
    upgrade = shlex.join(["sh", str(shipped.archives["run", "0.2.0"]), "--quiet", "--install-path", str(root.parent)]) + " 2>/dev/null"
    environ = [f"LD_PRELOAD={tmp_path / 'shim.so'}", f"LIBRARY={root / _LIBRARY}", f"UPGRADE={upgrade}"]
    program: list[str | Path] = [shipped.programs["0.1.0"], "--check-only", "--case", _cases(tmp_path, "LifeAdd")[0]]

    done = subprocess.run(
        [sys.executable, "-m", "opkit", "run", *way.options, "--", "env", *environ, *program], capture_output=True, text=True, check=False
    )

    # Never with the kernel of the new version.
    _hold(way, "0.2.0")
    assert done.returncode not in (0, 134)
    assert f"{folder}, from which this library was loaded, is gone (No such file or directory): its package was upgraded" in done.stderr


def _hold(way: _Way, version: str) -> None:
    """What is installed is the version, whole, for every command that is asked."""
    root = way.root
    (verified,) = opkit_json("verify", root)["packages"]
    assert verified["violations"] == verified["skipped"] == []
    # The library, the header and the kernels, and what a wheel is imported by.
    files = 2 + len(_KERNELS[version]) + (root / "__init__.py").is_file()
    assert f"{files} files: size and SHA-256, against the manifest" in verified["held"]
    assert verified["held"][-1].startswith("1 library: loaded in a process of its own, ")
    (listed,) = opkit_json("list", *way.options)["packages"]
    assert (listed["package"], listed["version"], listed["ops"], listed["opp_root"]) == ("life", version, _OPS[version], str(root))
    assert listed["problems"] == listed["shadowed"] == []
    inspected = opkit("inspect", root).stdout
    assert inspected.startswith(f"life: package life {version}+sim\n\nregisters {len(_OPS[version])} ops\n")
    assert re.findall(r"^    (Life\w+) ", inspected, re.MULTILINE) == _OPS[version]
    assert "the host simulator" in inspected
    assert sorted(path.name for path in root.rglob("*.asc")) == _KERNELS[version]


def _measure(way: _Way, program: Path, folder: Path) -> None:
    """The benchmark of the program, with the library of the installed package and no other, as the loader of the system tells."""
    log = folder / "loaded"
    options = ["--shape", "x=8,8", "--shape", "y=8,8", "--iters", "3"]
    loader = ["env", "LD_DEBUG=files", f"LD_DEBUG_OUTPUT={log}"]
    done = opkit("run", *way.options, "--", *loader, program, *options)
    assert re.findall(r"^Precision check passed: (\w+) set (\d)", done.stdout, re.MULTILINE) == [
        (op, memory) for op in _OPS["0.1.0"] for memory in "01"
    ]
    assert "[Perf] Speedup: " in done.stdout
    loaded = set()
    for part in folder.glob("loaded.*"):
        loaded.update(re.findall(r"calling init: (.*libcust_opapi\.so)$", part.read_text(), re.MULTILINE))
        part.unlink()
    assert loaded == {str(way.root / _LIBRARY)}


def _cases(folder: Path, op: str) -> tuple[Path, Path]:
    """The sum and the difference of the same inputs as what the op must give."""
    x, y = np.arange(40, dtype=np.float32), np.full(40, 3, dtype=np.float32)
    inputs = (TensorItem(port="x", dtype="float32", array=x), TensorItem(port="y", dtype="float32", array=y))
    cases = []
    for name, z in (("sum", x + y), ("difference", x - y)):
        output = OutputItem(port="z", dtype="float32", array=z, tolerance=Tolerance(rtol=0.0, atol=0.0))
        cases.append(CaseWriter(folder).write(f"{name} of {op}", Case(op=op, inputs=inputs, outputs=(output,))))
    return cases[0], cases[1]


def _state(home: Path, way: _Way) -> tuple[object, ...]:
    """All files of the user, what opkit would activate, and what it finds on this computer."""
    activated = opkit("env", *way.options, exit_code=2)
    return sorted(_files(home)), activated.stdout, activated.stderr, opkit_json("doctor")


def _files(folder: Path) -> Iterator[tuple[str, int, str]]:
    for path in folder.rglob("*"):
        is_file = path.is_file() and not path.is_symlink()
        content = str(path.readlink()) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest() if is_file else ""
        yield str(path), path.lstat().st_mode, content


def _verbs(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The first words of the lines that tell what was done."""
    return re.findall(r"^ {1,11}([A-Z]\w+) ", done.stderr, re.MULTILINE)


def _said(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
