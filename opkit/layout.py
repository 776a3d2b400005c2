"""Where things lie in an OPP root; the only place that knows.

GE searches `op_graph/lib/<os>/<cpu>/*.so` below each entry of ASCEND_CUSTOM_OPP_PATH.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

__all__ = [
    "HOME_VARIABLE",
    "LAYOUT_VERSION",
    "LIBRARY",
    "MANIFEST",
    "OPP_VARIABLE",
    "OS",
    "PREBUILD_PROGRAM",
    "PREBUILT_KERNELS",
    "include_folder",
    "is_of_the_system",
    "is_opp_root",
    "library_folder",
    "mode_of",
    "other_processors",
    "root_above",
]

# What a shell names the toolkit and the OPP roots with.
HOME_VARIABLE = "ASCEND_HOME_PATH"
OPP_VARIABLE = "ASCEND_CUSTOM_OPP_PATH"
OS = "linux"
LIBRARY = "libcust_opapi.so"
MANIFEST = "opkit-manifest.json"
# Of the manifest: it counts up when a reader of the one before would read it wrong.
LAYOUT_VERSION = 2
# In a project whose ops are prebuilt: the source of what compiles their kernels.
PREBUILD_PROGRAM = "prebuild/main.cc"
# Beside the library, which finds it there.
PREBUILT_KERNELS = "cust_opapi.kernels"
_SYSTEM = re.compile(r"lib(?:c|m|dl|pthread|rt)\.so\.\d+|libstdc\+\+\.so\.6|libgcc_s\.so\.1|ld-linux-[\w-]+\.so\.\d+")


def library_folder(arch: str) -> PurePosixPath:
    """The folder of the op library and its kernels, relative to the OPP root. `arch` is x86_64, aarch64, or a CMake variable."""
    return PurePosixPath("op_graph", "lib", OS, arch)


def is_of_the_system(soname: str) -> bool:
    """Whether each machine has this library on which a C++ program runs at all."""
    return _SYSTEM.fullmatch(soname) is not None


def is_opp_root(folder: Path) -> bool:
    """Whether GE would look for libraries in it."""
    return (folder / "op_graph").is_dir() or (folder / LIBRARY).is_file()


def include_folder() -> PurePosixPath:
    """The folder of the proto headers, relative to the OPP root."""
    return PurePosixPath("op_graph", "include")


def other_processors(root: Path, arch: str) -> list[str]:
    """The processors that an OPP root has libraries for, if GE on `arch` finds none in it; else nothing."""
    if (root / library_folder(arch)).is_dir() or (root / LIBRARY).exists():
        return []
    try:
        return sorted(entry.name for entry in (root / library_folder(arch).parent).iterdir() if entry.is_dir())
    except OSError:
        return []


def root_above(folder: Path) -> Path | None:
    """The OPP root that `folder` is a part of, or None; for those who put the library folder where the root belongs."""
    for parent in (folder, *folder.parents):
        if parent.name == "op_graph":
            return parent.parent
    return None


def mode_of(path: PurePosixPath) -> int:
    return 0o755 if path.suffix == ".so" else 0o644
