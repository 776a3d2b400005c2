"""Tools for another processor as programs that only say so: what opkit finds and calls is tested without a compiler's minute."""

from __future__ import annotations

from pathlib import Path

from archive_support import MACHINES, elf

from opkit.toolkit import host_arch

OTHER = "aarch64" if host_arch() == "x86_64" else "x86_64"
CROSS_COMPILER = f"{OTHER}-linux-gnu-g++"
# Writes what it is called with into `calls`, and on --install a toolkit. Files beside it make it slow or fail.
_CMAKE = """\
#!/bin/sh
here="@HERE@"
echo "$*" >> "$here/calls"
case "$1" in
  --version) echo "cmake version 3.30.1" ;;
  -S)
    env > "$here/environment"
    for word in "$@"; do case "$word" in -DCMAKE_INSTALL_PREFIX=*) echo "${word#*=}" > "$here/prefix" ;; esac; done ;;
  --build)
    echo "[1/2] Building CXX object one.o"
    if [ -e "$here/slow" ]; then touch "$here/started"; sleep "$(cat "$here/slow")"; fi
    if [ -e "$here/broken" ]; then echo "src/acl/copy.cpp:7: error: no such thing"; echo "ninja: build stopped"; exit 1; fi
    echo "[2/2] Linking CXX shared library libacl_rt.so" ;;
  --install)
    prefix="$(cat "$here/prefix")"
    mkdir -p "$prefix/include/acl" "$prefix/lib64"
    cp "$here/library" "$prefix/lib64/libacl_rt.so"
    echo '{"kind": "simulator", "version": "9.2.0"}' > "$prefix/opkit-simulator.json" ;;
esac
"""


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class CrossTools:
    """A folder with a cross compiler, a CMake and a Ninja in front of the system's own programs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder.parent / "cache"
        program(folder / CROSS_COMPILER, f'#!/bin/sh\n[ "$1" = -dumpmachine ] && echo {OTHER}-linux-gnu\nexit 0\n')
        program(folder / "ninja", "#!/bin/sh\necho 1.12.0\n")
        program(folder / "cmake", _CMAKE.replace("@HERE@", str(folder)))
        (folder / "library").write_bytes(elf(MACHINES[OTHER]))

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": f"{self.folder}:/usr/bin:/bin", "HOME": str(self.folder.parent), "XDG_CACHE_HOME": str(self.cache)}

    @property
    def toolkits(self) -> Path:
        return self.cache / "opkit" / "toolkits"

    def installs(self) -> int:
        return sum(line.startswith("--install") for line in self.calls())

    def calls(self) -> list[str]:
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def left(self) -> set[str]:
        """What lies where the variants are, by what is at the end of its name."""
        names = [path.name for path in self.toolkits.iterdir()] if self.toolkits.is_dir() else []
        return {name.rpartition(".")[2] if name.endswith((".log", ".lock")) else name for name in names}
