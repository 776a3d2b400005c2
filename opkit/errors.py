"""Every error that opkit raises on purpose: one tree, so that a caller, a script and the reference page know each by exit code and number.

Ranges: OPK01xx usage, OPK02xx spec, OPK03xx environment, OPK04xx results and drift, OPK05xx build, OPK07xx busy.
A number is never used again for something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

__all__ = [
    "AmbiguousSourceError",
    "ArchiveContentError",
    "ArchiveEntryError",
    "ArchiveError",
    "ArchiveLimitError",
    "BackendMissingError",
    "BuildError",
    "BusyError",
    "CommandNotExecutableError",
    "CommandNotFoundError",
    "CompileError",
    "CompilerMissingError",
    "ConfigureError",
    "DeliverableError",
    "DeviceError",
    "DriftError",
    "EditedFileError",
    "ElfError",
    "EmulatorMissingError",
    "FalseManifestError",
    "FolderNotEmptyError",
    "ForeignFileError",
    "ForeignLibraryError",
    "IncompatibleError",
    "InstallerFileError",
    "LinkError",
    "LostBuildError",
    "MachineError",
    "MakeselfError",
    "NoCacheError",
    "NoSpaceError",
    "NotAProjectError",
    "NotBuiltError",
    "NotInstalledError",
    "NotManylinuxError",
    "NotRelocatableError",
    "OpkitError",
    "PrecisionError",
    "PythonError",
    "ResultError",
    "SessionError",
    "SimulatorBuildError",
    "SpecError",
    "SpecErrors",
    "StringAbiError",
    "ToolMissingError",
    "ToolkitArchError",
    "ToolkitError",
    "UndeclaredOpError",
    "UnreadableError",
    "UnregisteredOpError",
    "UnwritableError",
    "UsageError",
    "VariantBuildError",
    "VerifyError",
    "VersionError",
    "WorkspaceError",
    "WrongMachineError",
    "catalogue",
    "rendered",
]


class OpkitError(Exception):
    """A fault of the user's input or machine: what, where (``ops.py:18   the line``), because (the observed value), help (a command)."""

    exit_code: ClassVar[int] = 1
    number: str = "OPK0000"

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        because: str | None = None,
        help: str | None = None,  # noqa: A002 - the word that is printed
        number: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.because = because
        self.help = help
        if number is not None:
            if number[:5] != type(self).number[:5]:
                msg = f"{number} is outside the range of {type(self).__name__} ({type(self).number[:5]}xx)"
                raise ValueError(msg)
            self.number = number

    def render(self) -> str:
        return rendered(f"error[{self.number}]", self.message, where=self.where, because=self.because, advice=self.help)

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "kind": type(self).__name__,
            "message": self.message,
            "where": self.where,
            "because": self.because,
            "help": self.help,
            "exit": self.exit_code,
        }

    def __str__(self) -> str:
        return self.message


class UsageError(OpkitError):
    """The command line asks for something that can't be."""

    exit_code = 2
    number = "OPK0100"


class NotAProjectError(UsageError):
    """The folder holds no ops.py."""

    number = "OPK0101"


class FolderNotEmptyError(UsageError):
    """A new project would be written over existing files."""

    number = "OPK0102"


class NotBuiltError(UsageError):
    """A command needs the built deliverable of a project that was never built."""

    number = "OPK0103"


class SimulatorBuildError(UsageError):
    """What was built against the simulator would be shipped as if it were for a device."""

    number = "OPK0110"


class AmbiguousSourceError(UsageError):
    """A folder holds several packages, and which one is meant isn't said."""

    number = "OPK0111"


class NotInstalledError(UsageError):
    """No package of the name that was given is installed."""

    number = "OPK0130"


class NotManylinuxError(UsageError):
    """A manylinux wheel is asked for of a library that needs more than such a platform has."""

    number = "OPK0131"


class VersionError(UsageError):
    """The version of a project is none that a package can have, or isn't written down."""

    number = "OPK0132"


class SpecError(OpkitError):
    """One mistake in ops.py or in the kernel that it names; the number tells which rule."""

    exit_code = 2
    number = "OPK0200"


class SpecErrors(SpecError):  # noqa: N818 - it holds many
    """All mistakes of one spec, in the order of the file."""

    number = "OPK0201"

    def __init__(self, errors: Sequence[SpecError]) -> None:
        self.errors = tuple(errors)
        count = len(self.errors)
        super().__init__(f"{count} mistakes in the spec" if count != 1 else self.errors[0].message)

    def render(self) -> str:
        parts = [error.render() for error in self.errors]
        if len(parts) > 1:
            parts.append(f"{len(parts)} errors")
        return "\n".join(parts)

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "errors": [error.to_json() for error in self.errors]}


class ForeignFileError(SpecError):
    """A file that `opkit new --from` can't read a prototype from."""

    number = "OPK0296"


class MachineError(OpkitError):
    """The computer lacks something."""

    exit_code = 3
    number = "OPK0300"


class ToolkitError(MachineError):
    """The named toolkit is none, or can't serve."""

    number = "OPK0301"


class CompilerMissingError(MachineError):
    """No C++ compiler."""

    number = "OPK0302"


class ToolMissingError(MachineError):
    """CMake or Ninja is absent or too old."""

    number = "OPK0303"


class UnwritableError(MachineError):
    """A file or folder can't be written."""

    number = "OPK0304"


class DeviceError(MachineError):
    """No such device."""

    number = "OPK0305"


class NoSpaceError(MachineError):
    """The disk has no room for what is to be written."""

    number = "OPK0310"


class UnreadableError(MachineError):
    """A file or folder can't be read."""

    number = "OPK0311"


class IncompatibleError(MachineError):
    """A package needs a machine other than this one."""

    number = "OPK0312"


class CommandNotFoundError(MachineError):
    """A program to start doesn't exist. ``opkit run`` exits 127 for it."""

    number = "OPK0306"


class MakeselfError(MachineError):
    """makeself, which makes the self-extracting installer, is absent or fails."""

    number = "OPK0350"


class CommandNotExecutableError(MachineError):
    """A program to start exists but can't be executed. ``opkit run`` exits 126 for it."""

    number = "OPK0307"


class PythonError(MachineError):
    """A Python that was named can't be asked for its packages."""

    number = "OPK0320"


class BackendMissingError(MachineError):
    """The build backend that makes wheels isn't installed."""

    number = "OPK0321"


class EmulatorMissingError(MachineError):
    """A program for another processor is to run, and nothing here emulates that."""

    number = "OPK0360"


class ToolkitArchError(MachineError):
    """The toolkit is for another processor than the one that a deliverable is asked for."""

    number = "OPK0361"


class NoCacheError(MachineError):
    """The user has no folder for what is kept between commands."""

    number = "OPK0362"


class ResultError(OpkitError):
    """Something ran, and its result is wrong."""

    exit_code = 4
    number = "OPK0400"


class DriftError(ResultError):
    """Generated files differ from what the spec renders to."""

    number = "OPK0401"


class EditedFileError(ResultError):
    """A generated file was edited by hand; it is never overwritten."""

    number = "OPK0402"


class PrecisionError(ResultError):
    """An output differs from its reference."""

    number = "OPK0403"


class SessionError(ResultError):
    """The session program stopped before it had a result."""

    number = "OPK0404"


class DeliverableError(ResultError):
    """A deliverable lacks a file, or holds one that isn't what its manifest says."""

    number = "OPK0405"


class ElfError(DeliverableError):
    """A file isn't the shared library that it should be."""

    number = "OPK0410"


class ArchiveError(ResultError):
    """A file is no archive of opkit's, or isn't whole."""

    number = "OPK0420"


class ArchiveEntryError(ArchiveError):
    """An archive has an entry that is no plain file or folder below its top folder."""

    number = "OPK0421"


class ArchiveContentError(ArchiveError):
    """What is in an archive isn't what its manifest says."""

    number = "OPK0422"


class ArchiveLimitError(ArchiveError):
    """An archive would unpack to more than opkit takes."""

    number = "OPK0423"


class InstallerFileError(ArchiveError):
    """A self-extracting installer is given where opkit takes an archive."""

    number = "OPK0450"


class VerifyError(ResultError):
    """A package isn't what its manifest says, or its library doesn't load."""

    number = "OPK0425"


class BuildError(OpkitError):
    """A build step failed."""

    exit_code = 5
    number = "OPK0500"


class ConfigureError(BuildError):
    """CMake couldn't configure the project."""

    number = "OPK0501"


class CompileError(BuildError):
    """The compiler refused a source file."""

    number = "OPK0502"


class LinkError(BuildError):
    """The linker couldn't resolve a symbol or library."""

    number = "OPK0503"


class StringAbiError(BuildError):
    """Code with strings of two ABIs would meet: `_GLIBCXX_USE_CXX11_ABI` differs between the toolkit, the flags and the sources."""

    number = "OPK0510"


class UnregisteredOpError(BuildError):
    """The op library that was linked doesn't register an op of the spec."""

    number = "OPK0511"


class ForeignLibraryError(BuildError):
    """The op library needs a library that neither the toolkit nor the C++ runtime brings."""

    number = "OPK0512"


class NotRelocatableError(BuildError):
    """The op library has the path of a folder in it, where it looks for libraries or because it was built there."""

    number = "OPK0513"


class WrongMachineError(BuildError):
    """The op library is for another processor than the toolkit."""

    number = "OPK0514"


class FalseManifestError(BuildError):
    """The manifest that the project installed isn't about what it installed."""

    number = "OPK0515"


class UndeclaredOpError(BuildError):
    """The op library that was linked registers an op that isn't in the spec, so that its manifest wouldn't say it."""

    number = "OPK0516"


class WorkspaceError(BuildError):
    """Packages of a workspace weren't built. The exit is theirs if they failed alike."""

    number = "OPK0570"


class LostBuildError(BuildError):
    """The build of one package of a workspace ended without a word, as one does that the system stops for want of memory."""

    number = "OPK0571"


class VariantBuildError(BuildError):
    """The simulator doesn't build for another processor."""

    number = "OPK0560"


class BusyError(OpkitError):
    """Another opkit works in the same folder."""

    exit_code = 75
    number = "OPK0700"


def catalogue() -> Iterator[type[OpkitError]]:
    """Gives every class of the tree once, by number: the source of the reference page."""
    found: list[type[OpkitError]] = []
    pending: list[type[OpkitError]] = [OpkitError]
    while pending:
        kind = pending.pop()
        found.append(kind)
        pending += [child for child in kind.__subclasses__() if child.__module__ == __name__]
    yield from sorted(found, key=lambda kind: kind.number)


def rendered(label: str, message: str, *, where: str | None, because: str | None, advice: str | None) -> str:
    """An error or a warning as people read it."""
    parts = (("-->", where), ("because:", because), ("help:", advice))
    return "\n".join([f"{label}: {message}", *(f"  {mark} {_indented(text)}" for mark, text in parts if text)])


def _indented(text: str) -> str:
    return text.rstrip("\n").replace("\n", "\n    ")
