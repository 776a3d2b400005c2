"""Every error that opkit raises on purpose: one tree, so that a caller, a script and the reference page know each by exit code and number.

Ranges: OPK01xx usage, OPK02xx spec, OPK03xx environment, OPK04xx results and drift, OPK05xx build, OPK07xx busy.
A number is never used again for something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

__all__ = [
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
    "FolderNotEmptyError",
    "ForeignFileError",
    "LinkError",
    "MachineError",
    "NotAProjectError",
    "NotBuiltError",
    "OpkitError",
    "PrecisionError",
    "ResultError",
    "SessionError",
    "SpecError",
    "SpecErrors",
    "ToolMissingError",
    "ToolkitError",
    "UnwritableError",
    "UsageError",
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


class CommandNotFoundError(MachineError):
    """A program to start doesn't exist. ``opkit run`` exits 127 for it."""

    number = "OPK0306"


class CommandNotExecutableError(MachineError):
    """A program to start exists but can't be executed. ``opkit run`` exits 126 for it."""

    number = "OPK0307"


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
