"""Which CANN: the toolkit that everything downstream builds and runs with, and the host tools that build it."""

from __future__ import annotations

from opkit.toolkit.discovery import Candidate, Kind, Origin, Toolkit, candidates, discover, host_arch, process_environment
from opkit.toolkit.tools import Compiler, Tool, find_cmake, find_compiler, find_ninja

__all__ = [
    "Candidate",
    "Compiler",
    "Kind",
    "Origin",
    "Tool",
    "Toolkit",
    "candidates",
    "discover",
    "find_cmake",
    "find_compiler",
    "find_ninja",
    "host_arch",
    "process_environment",
]
