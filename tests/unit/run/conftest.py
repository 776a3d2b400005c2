"""Fixtures of this folder."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable

import pytest
from package_support import package_of
from tiny_support import REGISTERED

__all__ = ["package_of"]


@pytest.fixture(scope="session")
def plain_library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """One that loads and registers nothing: a manifest says what is in it."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "x.c").write_text("int x;\n")
    subprocess.run(["gcc", "-shared", "-fPIC", folder / "x.c", "-o", folder / "x.so"], check=True)
    return (folder / "x.so").read_bytes()


@pytest.fixture(scope="session")
def library_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., bytes]:
    """Makes one that registers these ops, whatever a manifest says; it needs the function `lacking`, if that is named."""
    shared, own = REGISTERED.split("namespace op {")

    @functools.cache
    def make(*ops: str, lacking: str | None = None) -> bytes:
        folder = tmp_path_factory.mktemp("library")
        text = "".join(f"namespace of_{op} {{\n{_of(own, op)}}}\n" for op in ops)
        if lacking is not None:
            text += f"int {lacking}(); int call() {{ return {lacking}(); }}\n"
        (folder / "x.cc").write_text(f"{shared}}}\n{text}")
        subprocess.run(["g++", "-shared", "-fPIC", folder / "x.cc", "-o", folder / "x.so"], check=True)
        return (folder / "x.so").read_bytes()

    return make


def _of(own: str, op: str) -> str:
    return "namespace op {\nusing namespace ge;" + own.replace("}  // namespace ge\n", "").replace("Tiny", op)
