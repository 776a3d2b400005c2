"""From a built OPP root to where it is used.

Names load on first use: `opkit env` and `opkit run` need to know what is installed, and none of what makes or opens an archive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opkit.packaging.archive import Packed, open_archive, pack, simulator_refused, source_date_epoch
    from opkit.packaging.installing import Change, Removal, Source, install_all, uninstall
    from opkit.packaging.keeping import Kept
    from opkit.packaging.places import Place, PlaceKind, find_packages, find_place, nearby, opened
    from opkit.packaging.prefix import Installed, checked_prefix, default_prefix, installed, is_prefix
    from opkit.packaging.requirements import ThisMachine, require_met, this_machine
    from opkit.packaging.run_installer import pack_run, require_makeself
    from opkit.packaging.soundness import WHEEL_AGAIN, is_of_wheel, mended, require_package
    from opkit.packaging.sources import open_source
    from opkit.packaging.tar import Compression
    from opkit.packaging.verifying import Verified, strays, verify, verify_installed
    from opkit.packaging.wheel import make_wheel, require_wheel_entries

_MODULES = {
    "archive": ("Packed", "open_archive", "pack", "simulator_refused", "source_date_epoch"),
    "installing": ("Change", "Removal", "Source", "install_all", "uninstall"),
    "keeping": ("Kept",),
    "places": ("Place", "PlaceKind", "find_packages", "find_place", "nearby", "opened"),
    "prefix": ("Installed", "checked_prefix", "default_prefix", "installed", "is_prefix"),
    "requirements": ("ThisMachine", "require_met", "this_machine"),
    "run_installer": ("pack_run", "require_makeself"),
    "soundness": ("WHEEL_AGAIN", "is_of_wheel", "mended", "require_package"),
    "sources": ("open_source",),
    "tar": ("Compression",),
    "verifying": ("Verified", "strays", "verify", "verify_installed"),
    "wheel": ("make_wheel", "require_wheel_entries"),
}

__all__ = [
    "WHEEL_AGAIN",
    "Change",
    "Compression",
    "Installed",
    "Kept",
    "Packed",
    "Place",
    "PlaceKind",
    "Removal",
    "Source",
    "ThisMachine",
    "Verified",
    "checked_prefix",
    "default_prefix",
    "find_packages",
    "find_place",
    "install_all",
    "installed",
    "is_of_wheel",
    "is_prefix",
    "make_wheel",
    "mended",
    "nearby",
    "open_archive",
    "open_source",
    "opened",
    "pack",
    "pack_run",
    "require_makeself",
    "require_met",
    "require_package",
    "require_wheel_entries",
    "simulator_refused",
    "source_date_epoch",
    "strays",
    "this_machine",
    "uninstall",
    "verify",
    "verify_installed",
]


if not TYPE_CHECKING:  # a type checker would take any name for known

    def __getattr__(name: str) -> object:
        from opkit.lazy import load

        return load(name, __name__, _MODULES)


def __dir__() -> list[str]:
    return sorted(__all__)
