"""Where templates, shipped kernels, the simulator's sources and the built simulator are, in a wheel and in an editable checkout.

A wheel carries all four below ``opkit/_data``. An editable install keeps the Python package in the checkout, where the first three lie
beside it; CMake then installs the built simulator into the environment's ``share/opkit``.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["bundled_toolkit", "kernels", "simulator_source", "templates"]

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent


def templates() -> Path:
    return _resource("templates")


def kernels() -> Path:
    return _resource("kernels")


def simulator_source() -> Path:
    return _resource("simulator")


def bundled_toolkit() -> Path | None:
    """Gives the toolkit folder of the host simulator, or None in a checkout that was never installed."""
    bundled = _PACKAGE / "_data" / "toolkit"
    if (bundled / "lib64").is_dir():
        return bundled
    # Only here: what a wheel's every command would pay 5 ms for.
    import sysconfig

    # An editable install's; then a wheel's, for a checkout's package that runs in an environment with the wheel.
    candidates = [Path(sysconfig.get_path("data")) / "share" / "opkit" / "toolkit"]
    candidates += [Path(sysconfig.get_path(name)) / "opkit" / "_data" / "toolkit" for name in ("platlib", "purelib")]
    return next((folder for folder in candidates if (folder / "lib64").is_dir()), None)


def _resource(name: str) -> Path:
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _CHECKOUT / name
