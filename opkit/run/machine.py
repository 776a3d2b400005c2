"""On what something runs: what a package meets here, and the label that keeps a simulator's times from being taken for a device's."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Literal

import attrs

from opkit import process, resources
from opkit.errors import ToolkitError
from opkit.run.environment import activate
from opkit.toolkit import discover, host_arch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from opkit.deliverable import Manifest
    from opkit.packaging import ThisMachine
    from opkit.spec import Op
    from opkit.toolkit import Toolkit

__all__ = ["Host", "Machine", "host_memory", "machine_of", "npu_arch_for", "simulator_threads", "soc_for", "this_machine_for"]

_MOST_THREADS = 256  # the simulator's own limit


@attrs.frozen(kw_only=True)
class Host:
    """Where a child runs: the toolkit that it is given, and the environment that opkit itself was started in."""

    toolkit: Toolkit
    environ: Mapping[str, str]


@attrs.frozen(kw_only=True)
class Machine:
    """``threads`` is how many host threads run blocks, None on a device; ``is_emulated`` if they are threads of another processor's."""

    kind: Literal["simulator", "device"]
    name: str
    threads: int | None
    is_emulated: bool = False

    @property
    def label(self) -> str:
        if self.kind == "device":
            return f"on: {self.name}"
        plural = "" if self.threads == 1 else "s"
        if self.is_emulated:
            return f"on: {self.name}, {self.threads} thread{plural}: times and ratio say nothing about any computer, nor about a device"
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
    is_emulated = toolkit.arch != host_arch()
    name = f"host simulator, {toolkit.arch}" + (f" under qemu on {host_arch()}" if is_emulated else "")
    return Machine(kind="simulator", name=name, threads=simulator_threads(host.environ), is_emulated=is_emulated)


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
    asked = process.run([sys.executable, "-c", _ASKS_FOR_SOC], env=activate(_loadable(host.toolkit), [], host.environ), timeout=30)
    return asked.stdout.strip() or None if asked.ok else None


def _loadable(toolkit: Toolkit) -> Toolkit:
    """The one whose libraries this Python can load: a simulator for another processor is the bundled one in all else."""
    bundled = resources.bundled_toolkit() if toolkit.is_simulator and toolkit.arch != host_arch() else None
    return toolkit if bundled is None else toolkit._replace(home=bundled)


_ASKS_FOR_ARCH = """\
import ctypes
acl, found = ctypes.CDLL("libascendcl.so"), ctypes.c_int64()
acl.aclInit(None), acl.aclrtSetDevice(0)
error = acl.aclrtGetDeviceInfo(ctypes.c_uint32(0), 601, ctypes.byref(found))  # ACL_DEV_ATTR_NPU_ARCH
print(f"dav-{found.value}" if error == 0 and found.value > 0 else "")
"""


def npu_arch_for(toolkit: Toolkit, environ: Mapping[str, str]) -> str | None:
    """The architecture of the device, as the kernel compiler's --npu-arch names it; None if there is none to ask."""
    if toolkit.arch != host_arch():
        return None
    asked = process.run([sys.executable, "-c", _ASKS_FOR_ARCH], env=activate(toolkit, [], environ), timeout=30)
    return asked.stdout.strip() or None if asked.ok else None


def this_machine_for(manifests: Iterable[Manifest], environ: Mapping[str, str], *, option: str | None = None) -> ThisMachine:
    """What is known of this machine where these packages are installed; `option` is the value of --toolkit.

    Packages are installed without a toolkit too, and the device is asked only for kernels that are compiled for one: it takes a child.
    Raises ToolkitError if `option` names no toolkit.
    """
    from opkit.packaging import this_machine

    try:
        toolkit = discover(environ, option=option)
    except ToolkitError:
        if option is not None:
            raise
        return this_machine(None)
    has_kernels = any(manifest.target.npu_arch is not None for manifest in manifests)
    return this_machine(toolkit, npu_arch=npu_arch_for(toolkit, environ) if has_kernels else None)


def host_memory() -> int:
    """Bytes of this computer's memory, in use or not."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def simulator_threads(environ: Mapping[str, str]) -> int:
    """As the simulator counts them: its variable, else the cores that this process may use."""
    named = environ.get("OPKIT_SIM_THREADS", "")
    return min(int(named), _MOST_THREADS) if named.isdecimal() and int(named) > 0 else len(os.sched_getaffinity(0))
