"""Virtual environments with op packages as pip would leave them, made without pip and without a compiler."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

from install_support import library as library_of
from manifest_support import signed

from opkit.deliverable import LIBRARY, library_folder
from opkit.toolkit import host_arch

__all__ = ["environment", "installed_wheel", "site_packages"]


def environment(folder: Path) -> Path:
    """An empty virtual environment."""
    venv.create(folder, symlinks=True)
    return folder


def site_packages(folder: Path) -> Path:
    return folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"


def installed_wheel(site: Path, package: str, *, module: str | None = None, entry: str | None = None) -> Path:
    """An OPP root in `site`, with the metadata of a wheel; importing it would fail. Gives the root."""
    module = module or package
    root = site.joinpath(*module.split("."))
    library = str(library_folder(host_arch()) / LIBRARY)
    (root / library).parent.mkdir(parents=True)
    (root / library).write_bytes(library_of("library"))
    for folder in (root, *root.parents):
        if folder == site:
            break
        (folder / "__init__.py").write_text("raise ImportError('imported')\n")
    signed(root, [library], package=package)
    metadata = site / f"{package}-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text(f"[opkit.opp]\n{entry or package} = {module}\n")
    return root
