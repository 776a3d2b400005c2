"""From what CMake installed to the output folder: each file whole, only if it differs, the manifest last."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from opkit.build.linked import require_sound
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
from opkit.errors import BuildError, DeliverableError, FalseManifestError
from opkit.files import copy_whole, digest_of, draft_stem, guard_writing, make_folders, remove_empty_folders, write_whole
from opkit.layout import LIBRARY

if TYPE_CHECKING:
    from opkit.build.project import Project
    from opkit.build.state import Rendered
    from opkit.deliverable.elf import ElfLibrary
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
        # A manifest without files of opkit's is one that can't be read: the new one takes its place.
        owned.add(PurePosixPath(MANIFEST))
        require_free(project.output, [path for path in _staged(stage) if path not in owned], option=_OPTION)


def publish(stage: Path, project: Project, rendered: Rendered, toolkit: Toolkit, *, log: Path) -> OppRoot:
    """Raises BuildError for an op library or a manifest that isn't what it must be, UnwritableError if the disk refuses."""
    folder = library_folder(toolkit.arch)
    libraries = [path for path in _staged(stage) if path.suffix == ".so" and path.parent == folder]
    if not libraries:
        msg = "the project installs no op library"
        raise BuildError(msg, because=f"nothing ends in .so in {folder}, where GE looks for one", help=f"the full log is {log}")
    manifest = _true_manifest(stage, rendered, toolkit)
    found = require_sound([stage / path for path in libraries], rendered.ops, project, toolkit)
    manifest = _with_all_needs(manifest, stage, found.get(stage / folder / LIBRARY))
    output = project.output
    with guard_writing(output, help=_HELP):
        previous = _previous(output)
        make_folders(output)
        for file in manifest.files:
            target = output / file.path
            if not target.is_file() or digest_of(target) != file.sha256:
                make_folders(target.parent)
                copy_whole(stage / file.path, target, mode=mode_of(file.path))
        _remove(output, {file.path for file in previous} - {file.path for file in manifest.files})
        copy_whole(stage / MANIFEST, output / MANIFEST, mode=mode_of(PurePosixPath(MANIFEST)))
        _sweep(output, manifest.files)
    return OppRoot(path=output, manifest=manifest)


def _true_manifest(stage: Path, rendered: Rendered, toolkit: Toolkit) -> Manifest:
    """What CMake wrote, held against what it installed. Raises FalseManifestError."""
    try:
        manifest = Manifest.read(stage)
    except DeliverableError as fault:
        msg = "the manifest that CMake wrote can't be read"
        raise FalseManifestError(msg, because=fault.because, help="opkit build --force") from fault
    if manifest is None:
        msg = "the project installs no manifest"
        raise FalseManifestError(msg, because=f"CMakeLists.txt writes no {MANIFEST}", help="opkit generate, and opkit build")
    unlisted = set(_staged(stage)) - {file.path for file in manifest.files} - {PurePosixPath(MANIFEST)}
    found = [*manifest.violations(stage), *(f"it doesn't name {path}" for path in sorted(unlisted))]
    built = BuiltAgainst(kind=toolkit.kind.value, version=toolkit.version, abi=toolkit.abi)
    for what, said, expected in (
        ("package", manifest.package, rendered.package),
        ("list of ops", ", ".join(manifest.op_types), ", ".join(rendered.ops)),
        ("arch", manifest.target.arch, toolkit.arch),
        ("toolkit", _in_words(manifest.built_against), _in_words(built)),
    ):
        if said != expected:
            found.append(f"its {what} is {said}, not {expected}")
    _require_none(found)
    return manifest


def _require_none(untrue: list[str]) -> None:
    if untrue:
        msg = "the manifest that CMake wrote isn't about what it installed"
        raise FalseManifestError(msg, because="; ".join(untrue), help="opkit build --force")


def _in_words(built: BuiltAgainst) -> str:
    return f"{built.kind} {built.version} with the string ABI {built.abi}"


def _with_all_needs(manifest: Manifest, stage: Path, library: ElfLibrary | None) -> Manifest:
    """With what CMake had no tool to find out about the library. Raises FalseManifestError for what it found out and isn't so."""
    if library is None:
        return manifest
    requires, untrue = manifest.requires, []
    for what, said, found in (
        ("glibc", requires.glibc, library.glibc),
        ("glibcxx", requires.glibcxx, library.glibcxx),
        ("libraries", ", ".join(requires.libraries), ", ".join(library.needed)),
    ):
        if said and said != found:
            untrue.append(f"it says of {what} that {LIBRARY} needs {said}, which needs {found or 'none'}")
    _require_none(untrue)
    needed = requires._replace(glibc=library.glibc, glibcxx=library.glibcxx, libraries=library.needed)
    if needed != requires:
        manifest = manifest._replace(requires=needed)
        manifest.write(stage)
    return manifest


def withdraw(output: Path) -> bool:
    """Removes what opkit put into the output folder, and the folder if nothing else is in it. False if opkit has nothing there."""
    with guard_writing(output):
        if not (output / MANIFEST).is_file():
            return False
        _sweep(output, _previous(output))
        _remove(output, {file.path for file in _previous(output)})
        (output / MANIFEST).unlink()
        remove_empty_folders(output, upto=output.parent)
    return True


def _sweep(output: Path, files: tuple[ManifestFile, ...]) -> None:
    """Removes what builds that were killed left beside their files: `write_whole` puts it there under a name with a number."""
    names: dict[Path, set[str]] = {}
    for path in (output / MANIFEST, *(output / file.path for file in files)):
        names.setdefault(path.parent, set()).add(draft_stem(path.name))
    for folder, own in names.items():
        for left in folder.glob(".*.*") if folder.is_dir() else ():
            if left.suffix[1:].isdigit() and left.stem.removeprefix(".") in own:
                left.unlink(missing_ok=True)


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
