"""From what CMake installed to the output folder: each file whole, only if it differs, the manifest last."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from opkit.deliverable import (
    MANIFEST,
    BuiltAgainst,
    Manifest,
    ManifestFile,
    OppRoot,
    library_folder,
    mode_of,
    require_free,
    require_own,
)
from opkit.errors import BuildError, DeliverableError
from opkit.files import copy_whole, digest_of, guard_writing, make_folders, remove_empty_folders, write_whole

if TYPE_CHECKING:
    from opkit.build.project import Project
    from opkit.build.state import Rendered
    from opkit.toolkit import Toolkit

__all__ = ["probe", "publish", "require_output", "require_unclaimed", "withdraw"]

_OPTION = "--output"
_HELP = f"name a folder that can be written with {_OPTION} DIR"


def probe(output: Path) -> None:
    """Raises UnwritableError before a compiler runs in vain."""
    with guard_writing(output, help=_HELP):
        made = make_folders(output)
        try:
            write_whole(output / f".{MANIFEST}.probe", b"")
            (output / f".{MANIFEST}.probe").unlink()
        finally:
            for folder in reversed(made):
                with suppress(OSError):
                    folder.rmdir()


def require_output(project: Project, package: str) -> None:
    """Raises UsageError for an output folder that holds another package. The project's own folder is its own, also under a new name."""
    if not project.has_own_output:
        with suppress(DeliverableError):
            require_own(project.output, package, option=_OPTION)


def require_unclaimed(project: Project, stage: Path, *, is_known: bool) -> None:
    """Raises UsageError if a staged file would take the place of one that no readable manifest names.

    `is_known` is a folder that the last build of this project installed into: without a manifest it holds what that build left when it was
    interrupted.
    """
    if project.has_own_output:
        return
    owned = {file.path for file in _previous(project.output)}
    if owned or not is_known:
        require_free(project.output, [path for path in _staged(stage) if path not in owned], option=_OPTION)


def publish(stage: Path, project: Project, rendered: Rendered, toolkit: Toolkit) -> OppRoot:
    """Raises BuildError if the project installs no op library, UnwritableError if the disk refuses."""
    from opkit import __version__

    staged = _staged(stage)
    folder = library_folder(toolkit.arch)
    if not any(path.suffix == ".so" and path.parent == folder for path in staged):
        msg = "the project installs no op library"
        raise BuildError(msg, because=f"nothing ends in .so in {folder}, where GE looks for one", help=f"the full log is {project.log}")
    output = project.output
    manifest = Manifest(
        opkit=__version__,
        package=rendered.package,
        ops=rendered.ops,
        files=tuple(ManifestFile(path=path, sha256=digest_of(stage / path), size=(stage / path).stat().st_size) for path in staged),
        built_against=BuiltAgainst(kind=toolkit.kind.value, version=toolkit.version, abi=toolkit.abi, arch=toolkit.arch),
    )
    with guard_writing(output, help=_HELP):
        previous = _previous(output)
        make_folders(output)
        for file in manifest.files:
            target = output / file.path
            if not target.is_file() or digest_of(target) != file.sha256:
                make_folders(target.parent)
                copy_whole(stage / file.path, target, mode=mode_of(file.path))
        _remove(output, {file.path for file in previous} - {file.path for file in manifest.files})
        manifest.write(output)
    return OppRoot(path=output, manifest=manifest)


def withdraw(output: Path) -> bool:
    """Removes what opkit put into the output folder, and the folder if nothing else is in it. False if opkit has nothing there."""
    with guard_writing(output):
        if not (output / MANIFEST).is_file():
            return False
        _remove(output, {file.path for file in _previous(output)})
        (output / MANIFEST).unlink()
        remove_empty_folders(output, upto=output.parent)
    return True


def _staged(stage: Path) -> list[PurePosixPath]:
    return sorted(PurePosixPath(path.relative_to(stage)) for path in stage.rglob("*") if path.is_file())


def _previous(output: Path) -> tuple[ManifestFile, ...]:
    # A manifest that can't be read claims no files; the next one takes its place.
    try:
        manifest = Manifest.read(output)
    except DeliverableError:
        return ()
    return () if manifest is None else manifest.files


def _remove(output: Path, paths: set[PurePosixPath]) -> None:
    for path in sorted(paths):
        (output / path).unlink(missing_ok=True)
        remove_empty_folders((output / path).parent, upto=output)
