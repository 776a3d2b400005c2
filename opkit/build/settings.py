"""What a user asks of a build beside project, toolkit and environment. As with a variable of CMake's, what was asked before counts until
something else is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from opkit.layout import HOME_VARIABLE

__all__ = ["BUILD_TYPES", "RESERVED", "Settings"]

BUILD_TYPES = ("Release", "Debug", "RelWithDebInfo")
# Entries of CMake's cache that opkit sets itself, or that would contradict what it sets; and what to use in their place.
RESERVED = {
    HOME_VARIABLE: "--toolkit DIR",
    "CMAKE_BUILD_TYPE": "--build-type TYPE",
    "CMAKE_CXX_COMPILER": "the environment variable CXX",
    "CMAKE_CXX_COMPILER_LAUNCHER": "--launcher NAME",
    "CMAKE_EXPORT_COMPILE_COMMANDS": "build/compile_commands.json, which is always made",
    "CMAKE_GENERATOR": "the environment variable CMAKE_GENERATOR",
    "CMAKE_INSTALL_PREFIX": "--output DIR",
    "CMAKE_MAKE_PROGRAM": "the environment variable PATH",
    "CMAKE_TOOLCHAIN_FILE": "the environment variable CMAKE_TOOLCHAIN_FILE",
    "OPKIT_CXX11_ABI": "--abi 0 or --abi 1",
    "_GLIBCXX_USE_CXX11_ABI": "--abi 0 or --abi 1",
    "OPKIT_NPU_ARCH": "--npu-arch ARCH",
    "OPKIT_SESSION_RUN": "cmake by hand; opkit build always makes the program",
}


class Settings(NamedTuple):
    """None, or a definition that isn't there, is what an earlier build was asked for, else the default."""

    build_type: str | None = None
    abi: int | None = None
    npu_arch: str | None = None
    launcher: str | None = None
    definitions: Mapping[str, str] = {}

    def over(self, earlier: Settings) -> Settings:
        return Settings(
            build_type=self.build_type or earlier.build_type,
            abi=earlier.abi if self.abi is None else self.abi,
            npu_arch=self.npu_arch or earlier.npu_arch,
            launcher=self.launcher or earlier.launcher,
            definitions={**earlier.definitions, **self.definitions},
        )

    def beyond(self, asked: Settings) -> list[str]:
        """The options of earlier builds that count although `asked` doesn't name them, as a user would type them."""
        options = []
        if asked.build_type is None and self.build_type is not None and self.build_type != BUILD_TYPES[0]:
            options.append(f"--build-type {self.build_type}")
        if asked.abi is None and self.abi is not None:
            options.append(f"--abi {self.abi}")
        if asked.launcher is None and self.launcher is not None:
            options.append(f"--launcher {self.launcher}")
        options += [f"-D {name}={value}" for name, value in self.definitions.items() if name not in asked.definitions]
        return options
