"""Where things lie in an OPP root; the only place that knows.

GE searches `op_graph/lib/<os>/<cpu>/*.so` below each entry of ASCEND_CUSTOM_OPP_PATH.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

__all__ = ["LIBRARY", "MANIFEST", "OS", "PREBUILD_PROGRAM", "PREBUILT_KERNELS", "include_folder", "library_folder", "mode_of", "root_above"]

OS = "linux"
LIBRARY = "libcust_opapi.so"
MANIFEST = "opkit-manifest.json"
# In a project whose ops are prebuilt: the source of what compiles their kernels.
PREBUILD_PROGRAM = "prebuild/main.cc"
# Beside the library, which finds it there.
PREBUILT_KERNELS = "cust_opapi.kernels"


def library_folder(arch: str) -> PurePosixPath:
    """The folder of the op library and its kernels, relative to the OPP root. `arch` is x86_64, aarch64, or a CMake variable."""
    return PurePosixPath("op_graph", "lib", OS, arch)


def include_folder() -> PurePosixPath:
    """The folder of the proto headers, relative to the OPP root."""
    return PurePosixPath("op_graph", "include")


def root_above(folder: Path) -> Path | None:
    """The OPP root that `folder` is a part of, or None; for those who put the library folder where the root belongs."""
    for parent in (folder, *folder.parents):
        if parent.name == "op_graph":
            return parent.parent
    return None


def mode_of(path: PurePosixPath) -> int:
    return 0o755 if path.suffix == ".so" else 0o644
