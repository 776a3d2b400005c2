"""What `doctor` says, done: each finding that has a command is provoked, the command is run in a shell, and `doctor` looks again."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from install_support import install
from manifest_support import signed
from tiny_support import Tiny
from tool_support import require_tool

from opkit import resources
from opkit.build import Project
from opkit.build.state import FolderState
from opkit.deliverable import LIBRARY, MANIFEST, OppRoot, library_folder
from opkit.errors import NotAProjectError
from opkit.run import Finding, Status, examine
from opkit.run.doctor_findings import Check, exported
from opkit.toolkit import discover, discovery, find_cmake, find_compiler, find_ninja, host_arch, tools

Program = Callable[[Path, str], Path]
_FOLDER = library_folder(host_arch())
_GROUND = "bash sh dash env tee chmod rm mv cat mkdir ln uname readelf readlink as ld ar ranlib nm"
# It says its version and leaves no file: what compiles in earnest has the real one.
_COMPILER = "#!/bin/sh\ncase $* in *dumpfullversion*) echo 12.2.0;; *--version*) echo g++ 12.2.0;; esac\n"
_OPKIT = """\
#!/bin/sh
exec {python} -c 'import sys; sys.path.insert(0, "{tests}"); import tiny_support; tiny_support.stand_in()
from opkit.cli import main; sys.exit(main())' "$@"
"""
_INSTALLED = '#!/bin/sh\nfor name; do :; done\nexec ln -s {store}/"$name" {bin}/\n'


class Computer:
    """A person at a shell: `environ` and `cwd` are the shell's, `bin` has all programs that there are, `store` what can be installed."""

    def __init__(
        self,
        folder: Path,
        make_toolkit: Callable[..., Path],
        make_program: Program,
        library: bytes,
        library_of: Callable[..., bytes],
    ) -> None:
        self.folder, self.make_toolkit, self.make_program = folder, make_toolkit, make_program
        self.library, self.library_of = library, library_of
        self.bin, self.store, self.cwd = folder / "bin", folder / "store", folder / "here"
        for made in (self.bin, self.store, self.cwd, folder / "home", folder / "temporary"):
            made.mkdir()
        self.have(_GROUND)
        found = {"cmake": find_cmake(os.environ).path, "ninja": find_ninja(os.environ).path, "g++": find_compiler(os.environ).path}
        for name, path in found.items():
            (self.store / name).symlink_to(path)
        for name in ("cmake", "ninja"):
            (self.bin / name).symlink_to(found[name])
        make_program(self.bin / "g++", _COMPILER)
        make_program(self.bin / "sudo", '#!/bin/sh\nexec "$@"\n')
        for installer in ("pip", "apt"):
            make_program(self.bin / installer, _INSTALLED.format(store=self.store, bin=self.bin))
        make_program(self.bin / "opkit", _OPKIT.format(python=sys.executable, tests=Path(__file__).parents[2]))
        self.home = make_toolkit(folder / "toolkit", simulator="9.2.0")
        self.environ = {
            "PATH": str(self.bin),
            "HOME": f"{folder}/home",
            "ASCEND_HOME_PATH": str(self.home),
            "TMPDIR": f"{folder}/temporary",
        }

    def have(self, names: str) -> None:
        for name in names.split():
            found = shutil.which(name)
            if found is not None and not (self.bin / name).is_symlink():
                (self.bin / name).symlink_to(found)

    def have_compiler(self) -> None:
        """The real one, which takes its time."""
        (self.bin / "g++").unlink()
        (self.bin / "g++").symlink_to(self.store / "g++")

    def found(self, monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
        """What isn't in order."""
        monkeypatch.chdir(self.cwd)
        try:
            project = Project.find(".")
        except NotAProjectError:
            project = None
        return [finding for finding in examine(self.environ, project=project) if finding.status is not Status.OK]

    def obey(self, command: str, shell: str = "bash") -> None:
        status = "$status" if shell == "fish" else "$?"
        script = f"{command}\ntest {status} -eq 0 || exit 9\necho\npwd -P\nenv -0\n"
        argv = [str(self.bin / shell), "-c", script]
        done = subprocess.run(argv, cwd=self.cwd, env=self.environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        head, *rest = done.stdout.split("\0")
        *_, folder, first = head.split("\n")
        told = dict(each.partition("=")[::2] for each in [first, *rest] if each)
        self.cwd = Path(folder)
        self.environ = {name: value for name, value in told.items() if name not in {"PWD", "OLDPWD", "SHLVL", "_"}}

    def root(self, name: str, *ops: str, library: bytes | None = None, kind: str = "simulator") -> Path:
        """An OPP root of one library."""
        root = self.folder / name
        (root / _FOLDER).mkdir(parents=True)
        (root / _FOLDER / LIBRARY).write_bytes(self.library if library is None else library)
        signed(root, [str(_FOLDER / LIBRARY)], ops=ops or ("Add",), kind=kind, package=name.rpartition("/")[2])
        return root

    def broken(self, name: str, *ops: str) -> Path:
        return self.root(name, *ops, library=self.library[:1000])

    def name(self, *elements: Path | str) -> None:
        self.environ["ASCEND_CUSTOM_OPP_PATH"] = ":".join(map(str, elements))

    def install(self, **lacking: str | None) -> Path:
        """Packages of these names, with one op each, of which the library needs what nobody has."""
        prefix = self.folder / "prefix"
        self.environ["OPKIT_PREFIX"] = str(prefix)
        for name, symbol in lacking.items():
            root = self.root(name, library=self.library_of("Add", lacking=symbol))
            install(OppRoot(path=root, manifest=signed(root, [str(_FOLDER / LIBRARY)], package=name).manifest), prefix)
        return prefix

    def cann(self, name: str = "cann", **options: str | None) -> Path:
        home = self.make_toolkit(self.folder / name, **options)
        self.environ["ASCEND_HOME_PATH"] = str(home)
        return home

    def project(self) -> Path:
        """One that real tools can build, and in its output folder what opkit takes for built."""
        self.have_compiler()
        root = Tiny(self.folder / "my ops/tiny", discover(self.environ)).root
        self.cwd = root
        self.root("my ops/tiny/output")
        return root

    def built(self) -> Path:
        """One that was built with a wish."""
        root = self.project()
        shutil.rmtree(root / "output")
        self.obey(shlex.join(["opkit", "build", str(root), "-D", "CMAKE_CXX_FLAGS=-O1"]))
        return root

    def edit_unseen(self, path: Path) -> None:
        """To another content of the same size and time."""
        status, content = path.stat(), path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.fixture
def computer(
    *,
    tmp_path: Path,
    make_toolkit: Callable[..., Path],
    make_program: Program,
    plain_library: bytes,
    library_of: Callable[..., bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> Computer:
    bundled = make_toolkit(tmp_path / "bundled", simulator="9.2.0")
    monkeypatch.setattr(resources, "bundled_toolkit", lambda: bundled)
    monkeypatch.setattr(discovery, "_BASES", ())
    made = Computer(tmp_path, make_toolkit, make_program, plain_library, library_of)
    # Only now: where there is no other, its cmake and ninja are those of the wheels.
    monkeypatch.setattr(tools, "_wheel_folders", lambda _: [])
    return made


Provoked = Callable[[Computer], object]
_UNSEEN = "edited, and nothing but its content shows it"
_ROWS: list[tuple[str, str, Provoked]] = []


def _row(id: str, title: str) -> Callable[[Provoked], Provoked]:  # noqa: A002 - of the finding
    def add(provoke: Provoked) -> Provoked:
        _ROWS.append((id, title, provoke))
        return provoke

    return add


@_row("opp-path[1]", "missing")
def _(computer: Computer) -> None:
    computer.name(computer.root("ok"), computer.folder / "gone")


@_row("opp-path[0]", "the only one is missing")
def _(computer: Computer) -> None:
    computer.name(computer.folder / "gone")


@_row("opp-path[1]", "empty")
def _(computer: Computer) -> None:
    computer.name(computer.root("ok"), "", computer.root("also", "Mul"))


@_row("opp-path[0]", "a file")
def _(computer: Computer) -> None:
    computer.name(computer.root("ok") / MANIFEST)


@_row("opp-path[0]", "the folder above")
def _(computer: Computer) -> None:
    computer.name(computer.root("my project/ok").parent)


@_row("opp-path[0]", "the folder below")
def _(computer: Computer) -> None:
    computer.name(computer.root("ok") / _FOLDER)


@_row("opp-path[0]", "the folder above, of a library that doesn't load")
def _(computer: Computer) -> None:
    computer.name(computer.broken("project/output").parent, computer.root("ok", "Mul"))


@_row("opp-path[0]", "relative")
def _(computer: Computer) -> None:
    computer.root("here/ok")
    computer.name("ok")


@_row("library", "broken, before its sound twin")
def _(computer: Computer) -> None:
    computer.name(computer.broken("broken"), computer.root("ok"))


@_row("library", "broken, before others that it would hide")
def _(computer: Computer) -> None:
    computer.name(computer.broken("broken"), computer.root("mul", "Mul"), computer.root("ok"), computer.root("copy"))


@_row("library", "beside a package")
def _(computer: Computer) -> None:
    root = computer.root("ok")
    (root / _FOLDER / "readme.so").write_text("hello")
    computer.name(root)


@_row("library", "of an installed package")
def _(computer: Computer) -> None:
    computer.install(one="lacking", two=None)


@_row("library", "of a project")
def _(computer: Computer) -> None:
    output = computer.project() / "output"
    (output / _FOLDER / LIBRARY).write_text("x")
    signed(output, [str(_FOLDER / LIBRARY)])


@_row("shadowed", "all of it")
def _(computer: Computer) -> None:
    computer.name(computer.root("ok", "Add", "Mul"), computer.root("copy", "Add"))


@_row("shadowed", "of an installed package")
def _(computer: Computer) -> None:
    computer.install(one=None, two=None)


@_row("shadowed", "in one package")
def _(computer: Computer) -> None:
    root = computer.root("opp", library=computer.library_of("Add"))
    shutil.copy(root / _FOLDER / LIBRARY, root / _FOLDER / "zz.so")
    computer.name(root)


@_row("manifest[0]", "of a project")
def _(computer: Computer) -> None:
    output = computer.project() / "output"
    (output / MANIFEST).write_text("{")
    computer.cwd = computer.folder / "here"
    computer.name(output)


@_row("built-against[0]", "of a project")
def _(computer: Computer) -> None:
    output = computer.project() / "output"
    computer.cwd = computer.folder / "here"
    computer.name(output)
    computer.cann()
    computer.environ["ASCEND_OPP_PATH"] = computer.environ["HOME"]


@_row("deliverable", "not built")
def _(computer: Computer) -> None:
    shutil.rmtree(computer.project() / "output")


@_row("deliverable", "edited")
def _(computer: Computer) -> None:
    (computer.project() / "output" / _FOLDER / LIBRARY).write_bytes(computer.library + b"edited")


@_row("deliverable", "edited after a build")
def _(computer: Computer) -> None:
    library = computer.built() / "output" / _FOLDER / LIBRARY
    library.write_bytes(library.read_bytes() + b"edited")


@_row("deliverable", _UNSEEN)
def _(computer: Computer) -> None:
    computer.edit_unseen(computer.built() / "output" / _FOLDER / LIBRARY)


@_row("manifest[0]", _UNSEEN)
def _(computer: Computer) -> None:
    output = computer.built() / "output"
    computer.edit_unseen(output / MANIFEST)
    computer.cwd = computer.folder / "here"
    computer.name(output)


@_row("header", "left out")
def _(computer: Computer) -> None:
    computer.project()


@_row("toolkit", "named wrongly")
def _(computer: Computer) -> None:
    computer.environ["ASCEND_HOME_PATH"] = "/nope"


@_row("toolkit-version", "too old")
def _(computer: Computer) -> None:
    computer.cann(version="9.1.0")


@_row("headers", "of an older one")
def _(computer: Computer) -> None:
    (computer.home / "include/graph/custom_op.h").unlink()


@_row("toolkit-libraries", "missing")
def _(computer: Computer) -> None:
    (computer.home / "lib64/libgraph.so").unlink()


@_row("arch", "another")
def _(computer: Computer) -> None:
    other = bytearray(computer.library)
    other[18:20] = (183 if host_arch() == "x86_64" else 62).to_bytes(2, "little")
    (computer.home / "lib64/libacl_rt.so").write_bytes(other)


@_row("device", "none")
def _(computer: Computer) -> None:
    if list(Path("/dev").glob("davinci*")):
        pytest.skip("this computer has a device")
    computer.cann()


@_row("compiler", "CXX names none")
def _(computer: Computer) -> None:
    computer.environ["CXX"] = "gone-g++"


@_row("compiler", "CXX names one that is too old")
def _(computer: Computer) -> None:
    computer.environ["CXX"] = str(computer.make_program(computer.folder / "old/g++", "#!/bin/sh\necho 4.8.5\n"))


@_row("compiler", "CXX can't be read")
def _(computer: Computer) -> None:
    computer.environ["CXX"] = "g++ '"


@_row("compiler", "none")
def _(computer: Computer) -> None:
    (computer.bin / "g++").unlink()


@_row("cmake", "none")
def _(computer: Computer) -> None:
    (computer.bin / "cmake").unlink()


@_row("ninja", "none")
def _(computer: Computer) -> None:
    (computer.bin / "ninja").unlink()


@_row("ninja", "another generator is named")
def _(computer: Computer) -> None:
    computer.environ["CMAKE_GENERATOR"] = "Xcode"


@_row("ninja", "no make where that is named")
def _(computer: Computer) -> None:
    (computer.store / "make").symlink_to(require_tool("make", "make"))
    computer.environ["CMAKE_GENERATOR"] = "Unix Makefiles"


@_row("launcher", "CMAKE_CXX_COMPILER_LAUNCHER names none")
def _(computer: Computer) -> None:
    computer.environ["CMAKE_CXX_COMPILER_LAUNCHER"] = "gone"


@_row("launcher", "CMAKE_CXX_COMPILER_LAUNCHER names a broken one")
def _(computer: Computer) -> None:
    computer.environ["CMAKE_CXX_COMPILER_LAUNCHER"] = str(computer.make_program(computer.folder / "broken", "#!/bin/sh\nexit 1\n"))


@_row("launcher", "a broken one on PATH, in a project")
def _(computer: Computer) -> None:
    computer.project()
    computer.make_program(computer.bin / "ccache", "#!/bin/sh\necho no room >&2\nexit 1\n")


@_row("launcher", "one that a project remembers is gone")
def _(computer: Computer) -> None:
    computer.make_program(computer.bin / "mine", '#!/bin/sh\nexec "$@"\n')
    computer.project()
    computer.obey("opkit build --launcher mine --force")
    (computer.bin / "mine").unlink()


@_row("folder", "TMPDIR is gone")
def _(computer: Computer) -> None:
    computer.environ["TMPDIR"] = "/gone"


@_row("folder", "OPKIT_PREFIX is several folders")
def _(computer: Computer) -> None:
    computer.environ["OPKIT_PREFIX"] = "/a:/b"


@_row("folder", "OPKIT_PREFIX is relative")
def _(computer: Computer) -> None:
    computer.environ["OPKIT_PREFIX"] = "a"


@_row("folder", "XDG_DATA_HOME is several folders")
def _(computer: Computer) -> None:
    computer.environ["XDG_DATA_HOME"] = "/a:/b"


@_row("folder", "OPKIT_PREFIX is a file")
def _(computer: Computer) -> None:
    computer.environ["OPKIT_PREFIX"] = str(computer.home / "version.info")


@_row("folder", "OPKIT_SIM_CACHE_DIR is a file")
def _(computer: Computer) -> None:
    computer.environ["OPKIT_SIM_CACHE_DIR"] = str(computer.home / "version.info")


@_row("folder", "OPKIT_SIM_CACHE_DIR is relative")
def _(computer: Computer) -> None:
    computer.environ["OPKIT_SIM_CACHE_DIR"] = "my cache"


@_row("installed", "edited")
def _(computer: Computer) -> None:
    prefix = computer.install(package=None)
    (prefix / "package" / _FOLDER / LIBRARY).write_bytes(computer.library + b"edited")


@_row("installed", "edited, and what it came from is gone")
def _(computer: Computer) -> None:
    prefix = computer.install(package=None)
    shutil.rmtree(computer.folder / "package")
    (prefix / "package" / _FOLDER / LIBRARY).write_bytes(computer.library + b"edited")


@_row("installed", "edited, and used all the same")
def _(computer: Computer) -> None:
    prefix = computer.install(package=None)
    (prefix / "package" / _FOLDER / LIBRARY).write_bytes(computer.library_of("Add")[:-1] + b"x")


@_row("installed", "a library beside its own")
def _(computer: Computer) -> None:
    prefix = computer.install(package=None)
    (prefix / "package" / _FOLDER / "my own.so").write_bytes(computer.library)


@_row("opp", "of the simulator")
def _(computer: Computer) -> None:
    computer.environ["ASCEND_OPP_PATH"] = "/nope"


@_row("opp", "of CANN")
def _(computer: Computer) -> None:
    (computer.cann() / "opp/built-in").mkdir(parents=True)
    computer.environ["ASCEND_OPP_PATH"] = "/nope"


@_row("vendors", "a list that isn't read in the layout before it")
def _(computer: Computer) -> None:
    (computer.cann() / "opp/built-in").mkdir(parents=True)
    (computer.folder / "old/vendors").mkdir(parents=True)
    (computer.folder / "old/vendors/config.ini").write_text("load_priority=a\n")
    computer.environ["ASCEND_OPP_PATH"] = f"{computer.folder}/old"


@_row("library-path", "an empty element, a relative one, and another toolkit")
def _(computer: Computer) -> None:
    other = computer.make_toolkit(computer.folder / "other")
    computer.environ["LD_LIBRARY_PATH"] = f":lib:{other}/lib64"


@pytest.mark.parametrize(
    ("id_", "title", "provoke"),
    [pytest.param(id, title, provoke, id=f"{id} {title}") for id, title, provoke in _ROWS],  # noqa: A001
)
def test_what_a_command_mends_is_gone_after_it_and_nothing_else_is_worse(
    computer: Computer, monkeypatch: pytest.MonkeyPatch, id_: str, title: str, provoke: Provoked
) -> None:
    provoke(computer)
    before = computer.found(monkeypatch)
    assert all((finding.help is None) is not (finding.hint is None) for finding in before)
    command = next(finding.help for finding in before if finding.id == id_)
    assert command is not None
    # It forgets what earlier builds were asked for.
    assert ("--force" in command) == (title == _UNSEEN)
    computer.obey(command)
    after = computer.found(monkeypatch)
    assert id_ not in {finding.id for finding in after}, after
    assert {(finding.id, finding.status) for finding in after} <= {(finding.id, finding.status) for finding in before}, after


def test_what_a_build_was_asked_for_outlives_the_mending_of_its_output(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    root = computer.built()
    (root / "output" / _FOLDER / LIBRARY).write_text("edited")
    (command,) = (finding.help for finding in computer.found(monkeypatch) if finding.id == "deliverable")
    assert command is not None
    computer.obey(command)
    assert FolderState.read(root / "build").named.definitions == {"CMAKE_CXX_FLAGS": "-O1"}


# Those that are never anything but in order, and those that no command mends: they have words.
_WITHOUT = {"opkit", "other-toolkits", "abi", "host-folder", "opp-version"}


def test_no_id_is_forgotten() -> None:
    assert {id.partition("[")[0] for id, _, _ in _ROWS} == {check.id for check in Check} - _WITHOUT  # noqa: A001


_LISTS = {
    "a comment first": ("# my = comment\nload_priority=a,zz\n", "a"),
    "another vendor's": ("load_priority=zz\n", "a,b"),
    "one is gone": ("load_priority=b,zz,a\n", "b,a"),
    "not the first line": ("\n\nload_priority = b , a\n", "b,a"),
    "two signs": ("load_priority=b=a\n", "b,a"),
    "named twice": ("load_priority=b,a,b\n", "b,a"),
    "a byte order mark": ("\ufeffload_priority=b\n", "b"),
    "another key": ("priority=b\n", "b"),
    "a path": ("load_priority=../vendors/b,a\n", "a"),
    "blank": ("load_priority=a, ,b\n", "a,b"),
    "empty": ("\n", "a,b"),
    "bytes": ("load_priority=b\nx=\udcff\n", "b"),
}


@pytest.mark.case("F5")
@pytest.mark.parametrize("title", _LISTS)
def test_a_list_of_vendors_is_written_anew_with_those_that_are_meant_and_there(
    computer: Computer, monkeypatch: pytest.MonkeyPatch, title: str
) -> None:
    content, kept = _LISTS[title]
    opp = computer.cann() / "opp"
    for folder in ("built-in", "vendors/a/op_proto", "vendors/b/op_proto"):
        (opp / folder).mkdir(parents=True)
    computer.environ["ASCEND_OPP_PATH"] = str(opp)
    (opp / "vendors/config.ini").write_text(content, errors="surrogateescape")
    (finding,) = (each for each in computer.found(monkeypatch) if each.id == "vendors")
    assert finding.help is not None
    computer.obey(finding.help)
    assert (opp / "vendors/config.ini").read_text() == f"load_priority={kept}\n"
    assert "vendors" not in {each.id for each in computer.found(monkeypatch)}


@pytest.mark.parametrize("kind", ["a pipe", "a folder", "no vendor"])
def test_what_is_no_list_of_vendors_is_out_of_the_way(computer: Computer, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    opp = computer.cann() / "opp"
    config = opp / "vendors/config.ini"
    for folder in ("built-in", "vendors", "vendors/a b/op_proto"):
        (opp / folder).mkdir(parents=True)
    computer.environ["ASCEND_OPP_PATH"] = str(opp)
    if kind == "no vendor":
        shutil.rmtree(opp / "vendors/a b")
        config.write_text("load_priority=gone\n")
    elif kind == "a pipe":
        os.mkfifo(config)
    else:
        config.mkdir()
    (finding,) = (each for each in computer.found(monkeypatch) if each.id == "vendors")
    assert finding.help is not None
    computer.obey(finding.help)
    assert "vendors" not in {each.id for each in computer.found(monkeypatch)}
    assert not config.exists() if kind == "no vendor" else config.read_text() == "load_priority=a b\n"


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh", "fish"])
@pytest.mark.parametrize("value", ["", "/a b/$x:/it's", "/ä;b"])
def test_a_variable_is_mended_in_every_shell(computer: Computer, shell: str, value: str) -> None:
    require_tool(shell, shell)
    computer.have(shell)
    computer.name("/before")
    computer.obey(exported("ASCEND_CUSTOM_OPP_PATH", value), shell)
    assert computer.environ["ASCEND_CUSTOM_OPP_PATH"] == value
