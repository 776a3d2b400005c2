"""Where GE looks for custom ops, in its order: what `doctor` and the shadow report are told by, without a GE.

The rules are those of GE's own sources (op_lib_register.cc, plugin_manager.cc, opsproto_manager.cc), oddities included: a rule that is
nicer than GE's would call a machine in order that isn't.
"""

from __future__ import annotations

from opkit.lookup.host import HostFolder, host_folder
from opkit.lookup.looking import is_folder, is_there
from opkit.lookup.places import Library, Lookup, Origin, Place, Shadow, State, lookup, opened, place_of, shadows
from opkit.lookup.vendors import Vendors, read_vendors, vendors_meant

__all__ = [
    "HostFolder",
    "Library",
    "Lookup",
    "Origin",
    "Place",
    "Shadow",
    "State",
    "Vendors",
    "host_folder",
    "is_folder",
    "is_there",
    "lookup",
    "opened",
    "place_of",
    "read_vendors",
    "shadows",
    "vendors_meant",
]
