"""Which CANN: the toolkit that everything downstream builds and runs with, and the host tools that build it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opkit.toolkit.abi import served_abis, string_abi_of
    from opkit.toolkit.cache import is_of_user, user_cache
    from opkit.toolkit.discovery import (
        ARCHITECTURES,
        OLDEST_CANN,
        Candidate,
        Kind,
        Origin,
        Toolkit,
        candidates,
        discover,
        elf_arch,
        elf_arch_of,
        host_arch,
        process_environment,
    )
    from opkit.toolkit.launchers import LAUNCHER_VARIABLE, NO_LAUNCHER, Launcher, find_launcher
    from opkit.toolkit.tools import (
        Compiler,
        Tool,
        cross_definitions,
        find_cmake,
        find_compiler,
        find_cross_compiler,
        find_emulator,
        find_make,
        find_ninja,
        require_target,
    )

_MODULES = {
    "abi": ("served_abis", "string_abi_of"),
    "cache": ("is_of_user", "user_cache"),
    "discovery": (
        "ARCHITECTURES",
        "OLDEST_CANN",
        "Candidate",
        "Kind",
        "Origin",
        "Toolkit",
        "candidates",
        "discover",
        "elf_arch",
        "elf_arch_of",
        "host_arch",
        "process_environment",
    ),
    "launchers": ("LAUNCHER_VARIABLE", "NO_LAUNCHER", "Launcher", "find_launcher"),
    "tools": (
        "Compiler",
        "Tool",
        "cross_definitions",
        "find_cmake",
        "find_compiler",
        "find_cross_compiler",
        "find_emulator",
        "find_make",
        "find_ninja",
        "require_target",
    ),
}

__all__ = [
    "ARCHITECTURES",
    "LAUNCHER_VARIABLE",
    "NO_LAUNCHER",
    "OLDEST_CANN",
    "Candidate",
    "Compiler",
    "Kind",
    "Launcher",
    "Origin",
    "Tool",
    "Toolkit",
    "candidates",
    "cross_definitions",
    "discover",
    "elf_arch",
    "elf_arch_of",
    "find_cmake",
    "find_compiler",
    "find_cross_compiler",
    "find_emulator",
    "find_launcher",
    "find_make",
    "find_ninja",
    "host_arch",
    "is_of_user",
    "process_environment",
    "require_target",
    "served_abis",
    "string_abi_of",
    "user_cache",
]


if not TYPE_CHECKING:  # a type checker would take any name for known

    def __getattr__(name: str) -> object:
        from opkit.lazy import load

        return load(name, __name__, _MODULES)


def __dir__() -> list[str]:
    return sorted(__all__)
