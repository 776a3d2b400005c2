"""Stand-ins for what only a machine with CANN has: folders that look like toolkits to discovery, and programs that look like tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from install_support import library as library_of
from manifest_support import signed

from opkit.deliverable import LIBRARY, library_folder
from opkit.toolkit import Kind, Origin, Toolkit, host_arch

_LIBRARIES = ("acl_rt", "acl_rtc", "ge_runner", "graph", "graph_base", "lowering", "metadef")
_HEADERS = ("acl/acl_rt.h", "acl/acl_rt_compile.h", "graph/custom_op.h", "graph/operator_reg.h", "ge/ge_api.h")


@pytest.fixture
def make_toolkit() -> Callable[..., Path]:
    """Makes a folder with the outline of a toolkit: of CANN, or with `simulator` of the simulator in that version."""

    def make(home: Path, *, version: str | None = "9.2.0", simulator: str | None = None) -> Path:
        for header in _HEADERS:
            (home / "include" / header).parent.mkdir(parents=True, exist_ok=True)
            (home / "include" / header).write_text("")
        (home / "lib64").mkdir()
        for library in _LIBRARIES:
            (home / f"lib64/lib{library}.so").write_text("")
        if version is not None:
            (home / "version.info").write_text(f"Version={version}\nversion_dir={version}\n")
        if simulator is not None:
            (home / "opkit-simulator.json").write_text(json.dumps({"kind": "simulator", "version": simulator}))
        return home

    return make


@pytest.fixture
def toolkit(tmp_path: Path, make_toolkit: Callable[..., Path]) -> Toolkit:
    home = make_toolkit(tmp_path / "a toolkit", simulator="9.2.0")
    return Toolkit(
        home=home,
        kind=Kind.SIMULATOR,
        version="9.2.0",
        abi=0,
        arch=host_arch(),
        origin=Origin.NAMED,
        reason="made for a test",
        stamp="1",
    )


@pytest.fixture
def make_program() -> Callable[[Path, str], Path]:
    """Makes an executable script."""

    def make(path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def built_project(tmp_path: Path) -> Path:
    """A project folder with ops.py and an OPP root in output/ as a build leaves it, with text in place of the library."""
    root = tmp_path / "my ops 算子"
    files = {str(library_folder(host_arch()) / LIBRARY): "library", "op_graph/include/add.h": "header"}
    for name, text in files.items():
        (root / "output" / name).parent.mkdir(parents=True)
        (root / "output" / name).write_bytes(library_of(text) if name.endswith(".so") else text.encode())
    (root / "ops.py").write_text("")
    signed(root / "output", files)
    return root
