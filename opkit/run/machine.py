"""On what something ran: the label that keeps a simulator's times from being taken for a device's."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Literal

import attrs

from opkit import process
from opkit.run.environment import activate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from opkit.spec import Op
    from opkit.toolkit import Toolkit

__all__ = ["Host", "Machine", "host_memory", "machine_of", "simulator_threads", "soc_for"]

_MOST_THREADS = 256  # the simulator's own limit


@attrs.frozen(kw_only=True)
class Host:
    """Where a child runs: the toolkit that it is given, and the environment that opkit itself was started in."""

    toolkit: Toolkit
    environ: Mapping[str, str]


@attrs.frozen(kw_only=True)
class Machine:
    """``threads`` is how many host threads run blocks, None on a device."""

    kind: Literal["simulator", "device"]
    name: str
    threads: int | None

    @property
    def label(self) -> str:
        if self.kind == "device":
            return f"on: {self.name}"
        plural = "" if self.threads == 1 else "s"
        return (
            f"on: {self.name}, {self.threads} thread{plural}: times and ratio are this computer's; "
            "a device differs, the vendor's sample shows about 1.17x"
        )

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "threads": self.threads}


def machine_of(host: Host, *, device: int | None) -> Machine:
    toolkit = host.toolkit
    if not toolkit.is_simulator:
        return Machine(kind="device", name=f"Ascend device {device or 0}, CANN {toolkit.version}, {toolkit.arch}", threads=None)
    return Machine(kind="simulator", name=f"host simulator, {toolkit.arch}", threads=simulator_threads(host.environ))


# Through a child: a runtime that is loaded stays loaded, with the variables that it found.
_ASKS_FOR_SOC = """\
import ctypes
soc = ctypes.CDLL("libascendcl.so").aclrtGetSocName
soc.restype = ctypes.c_char_p
print((soc() or b"").decode())
"""


def soc_for(ops: Iterable[Op], host: Host) -> str | None:
    """What the toolkit's runtime calls the SoC; None if it can't be asked here or knows none, and where no op differs by SoC."""
    if not any(op.soc_rows for op in ops):
        return None
    asked = process.run([sys.executable, "-c", _ASKS_FOR_SOC], env=activate(host.toolkit, [], host.environ), timeout=30)
    return asked.stdout.strip() or None if asked.ok else None


def host_memory() -> int:
    """Bytes of this computer's memory, in use or not."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def simulator_threads(environ: Mapping[str, str]) -> int:
    """As the simulator counts them: its variable, else the cores that this process may use."""
    named = environ.get("OPKIT_SIM_THREADS", "")
    return min(int(named), _MOST_THREADS) if named.isdecimal() and int(named) > 0 else len(os.sched_getaffinity(0))
