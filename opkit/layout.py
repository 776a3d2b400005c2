"""Where things lie in an OPP root; the only place that knows.

GE searches `op_graph/lib/<os>/<cpu>/*.so` below each entry of ASCEND_CUSTOM_OPP_PATH.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from opkit.files import FILE_MODE, PROGRAM_MODE

__all__ = [
    "BUILT_IN_VARIABLE",
    "ENTRY_POINTS",
    "HOME_VARIABLE",
    "LAYOUT_VERSION",
    "LIBRARY",
    "MANIFEST",
    "MOST_OPS",
    "OPP_VARIABLE",
    "OS",
    "PREBUILD_PROGRAM",
    "PREBUILT_KERNELS",
    "include_folder",
    "is_of_the_system",
    "is_opp_root",
    "libraries_of",
    "library_folder",
    "mode_of",
    "other_processors",
    "root_above",
    "roots_below",
    "searched_folder",
]

# What a shell names the toolkit and the OPP roots with.
HOME_VARIABLE = "ASCEND_HOME_PATH"
OPP_VARIABLE = "ASCEND_CUSTOM_OPP_PATH"
# And the operators that come with the toolkit.
BUILT_IN_VARIABLE = "ASCEND_OPP_PATH"
# The group by which a Python's wheels name the modules that are OPP roots.
ENTRY_POINTS = "opkit.opp"
OS = "linux"
_GRAPH = "op_graph"
LIBRARY = "libcust_opapi.so"
MANIFEST = "opkit-manifest.json"
# Of the manifest: it counts up when a reader of the one before would read it wrong.
LAYOUT_VERSION = 2
MOST_OPS = 10_000  # of a package, ten times those of a large one: who lists, compares and prints them all must come to an end
# In a project whose ops are prebuilt: the source of what compiles their kernels.
PREBUILD_PROGRAM = "prebuild/main.cc"
# Beside the library, which finds it there.
PREBUILT_KERNELS = "cust_opapi.kernels"
_SYSTEM = r"lib(?:c|m|dl|pthread|rt)\.so\.\d+|libstdc\+\+\.so\.6|libgcc_s\.so\.1|ld-linux-[\w-]+\.so\.\d+"


def library_folder(arch: str) -> PurePosixPath:
    """The folder of the op library and its kernels, relative to the OPP root. `arch` is x86_64, aarch64, or a CMake variable."""
    return searched_folder(OS, arch)


def searched_folder(os: str, arch: str) -> PurePosixPath:
    """The folder that a GE for this system and processor searches, relative to the OPP root."""
    return PurePosixPath(_GRAPH, "lib", os, arch)


def libraries_of(root: Path) -> list[Path]:
    """Each .so where a GE for some system and processor finds it."""
    return sorted(root.glob(f"{searched_folder('*', '*')}/*.so"))


def is_of_the_system(soname: str) -> bool:
    """Whether each machine has this library on which a C++ program runs at all."""
    return re.fullmatch(_SYSTEM, soname) is not None


def is_opp_root(folder: Path) -> bool:
    """Whether GE would look for libraries in it."""
    return (folder / _GRAPH).is_dir() or (folder / LIBRARY).is_file()


def include_folder() -> PurePosixPath:
    """The folder of the proto headers, relative to the OPP root."""
    return PurePosixPath(_GRAPH, "include")


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
        if parent.name == _GRAPH:
            return parent.parent
    return None


def roots_below(folder: Path) -> list[Path]:
    """The OPP roots right below `folder`; for those who name the folder in which they lie."""
    return sorted(graph.parent for graph in folder.glob(f"*/{_GRAPH}"))


def mode_of(path: PurePosixPath) -> int:
    return PROGRAM_MODE if path.suffix == ".so" else FILE_MODE
