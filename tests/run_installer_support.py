"""What tests of installers share: two versions of a package as installers, and what changes the tools or the user that one is run with."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import install_support
from install_support import HEADER, KERNEL, LIBRARY

from opkit.deliverable import OppRoot, library_folder
from opkit.packaging import installed
from opkit.packaging.run_installer import pack_run
from opkit.toolkit import host_arch

__all__ = [
    "ENVIRON",
    "FOLDER",
    "NEW",
    "OLD",
    "TOOLS",
    "WAS_FOLDER",
    "Case",
    "Nobody",
    "Steps",
    "cann_root",
    "installer_of",
    "is_as_built",
    "run",
    "tree_with_modes",
]

FOLDER = str(library_folder(host_arch()))
WAS_FOLDER = "op_graph/include/sub"
OLD = {LIBRARY: "library 1", KERNEL: "kernel", HEADER: "header 1", f"{FOLDER}/加 法.asc": "old 昇腾 kernel", f"{WAS_FOLDER}/x.h": "x"}
NEW = {LIBRARY: "library 2", HEADER: "header 1", f"{FOLDER}/mul.asc": "kernel 2", WAS_FOLDER: "a file now"}
ENVIRON = {"PATH": os.environ["PATH"]}
# All of GNU coreutils that the script calls, and flock, which it does without.
TOOLS = [
    *("cat", "chmod", "chown", "cp", "date", "flock", "id", "ln", "mkdir"),
    *("mv", "readlink", "rm", "rmdir", "sha256sum", "sleep", "stat", "touch", "tr", "uname"),
]
_SHIM = """#!/bin/sh
# Counts the calls of all tools of this folder; before the one that is asked for, it does what is asked for.
read -r calls <"$CALLS"
calls=$((calls + 1))
echo $calls >"$CALLS"
if [ $calls -eq $AT ]; then eval "$THEN"; fi
exec "$REAL/${0##*/}" "$@"
"""


def cann_root(folder: Path, files: Mapping[str, str], **said: Any) -> OppRoot:  # noqa: ANN401 - what `signed` takes
    return install_support.opp_root(folder, files, **{"kind": "cann", **said})


def installer_of(root: OppRoot, folder: Path, environ: Mapping[str, str] = ENVIRON) -> Path:
    return pack_run(root, folder, epoch=0, environ=environ).path


class Case:
    """Two versions of a package: as OPP roots, as installers, and as what an installer unpacks to."""

    def __init__(self, folder: Path) -> None:
        self.roots = {
            "1.0": cann_root(folder / "old" / "root", OLD, version="1.0"),
            "2.0": cann_root(folder / "new" / "root", NEW, version="2.0"),
        }
        self.installers = {version: installer_of(root, folder / version) for version, root in self.roots.items()}
        self.unpacked = {}
        for version, installer in self.installers.items():
            self.unpacked[version] = folder / version / "unpacked"
            done = subprocess.run([installer, "--quiet", "--noexec", "--target", self.unpacked[version]], check=False)
            assert done.returncode == 0

    def script(self, version: str, *options: str | Path, shell: str = "dash", **how: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
        """What makeself starts, without the 0.2 s that makeself takes."""
        how = {"cwd": self.unpacked[version], "env": ENVIRON, **how}
        return subprocess.run([shell, "install.sh", *map(str, options)], capture_output=True, text=True, check=False, **how)


def run(installer: Path | str, *options: str | Path, env: Mapping[str, str] = ENVIRON, **how: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
    return subprocess.run([str(installer), *map(str, options)], env=env, capture_output=True, text=True, check=False, **how)


def tree_with_modes(folder: Path) -> dict[str, str]:
    """Each path below it, with its mode and what it is; a receipt's time and source aside."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = stat.filemode(path.lstat().st_mode)
        content = str(path.readlink()) if path.is_symlink() else path.read_text(errors="replace") if path.is_file() else ""
        if path.parent.name == ".opkit" and path.suffix == ".json":
            content = re.sub(r'"(source|sha256|installed)": "[^"]*",\n      "', r'"\1": …, "', content)
        if path.name == ".made":
            content = content.replace(str(folder), "…")
        found[str(path.relative_to(folder))] = f"{mode} {content}" if path.name != ".lock" else mode
    return found


def is_as_built(prefix: Path, version: str) -> bool:
    (package,) = installed(prefix)
    return package.version == version and package.problems() == []


class Nobody:
    """A user who isn't the one that runs the tests, if that is root; `how` are the options of a call."""

    def __init__(self, case: Case, public: Path) -> None:
        self._case = case
        self._unpacked = shutil.copytree(case.unpacked["1.0"], public / "unpacked")
        self._unpacked.chmod(0o755)
        self.how: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        self.uid = self.how.get("user", os.geteuid())

    def script(self, *options: str | Path) -> subprocess.CompletedProcess[str]:
        return self._case.script("1.0", *options, cwd=self._unpacked, **self.how)

    def own(self, folder: Path) -> Path:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, self.uid, -1, follow_symlinks=False)
        return folder


class Steps:
    """A PATH whose tools that change the disk do something at one call."""

    def __init__(self, folder: Path, tools: Iterable[str]) -> None:
        self._folder = folder
        self.calls = folder / "calls"
        folder.mkdir()
        (folder / "real").mkdir()
        (folder / "bin").mkdir()
        for tool in tools:
            (folder / "real" / tool).symlink_to(str(shutil.which(tool)))
            (folder / "bin" / tool).write_text(_SHIM)
            (folder / "bin" / tool).chmod(0o755)

    def environ(self, at: int, then: str) -> dict[str, str]:
        self.calls.write_text("0\n")
        path = f"{self._folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "CALLS": str(self.calls), "REAL": str(self._folder / "real"), "AT": str(at), "THEN": then}

    def count(self) -> int:
        return int(self.calls.read_text())
