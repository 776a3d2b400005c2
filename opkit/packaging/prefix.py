"""Installing an OPP root: everything is copied and verified beside its destination first, then renamed into place, the manifest last."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path, PurePosixPath

from opkit.deliverable import MANIFEST, Manifest, ManifestFile, OppRoot, mode_of
from opkit.errors import DeliverableError, UsageError
from opkit.files import copy_whole, guard_writing, make_folders, remove_empty_folders

__all__ = ["install"]


def install(source: OppRoot, prefix: Path) -> OppRoot:
    """Installs to `prefix`, which becomes or already is the OPP root of this package.

    Raises DeliverableError for a source that isn't what was built, UsageError for a prefix that holds something else, UnwritableError.
    A failure leaves the prefix as it was.
    """
    target = Path(os.path.normpath(prefix.absolute()))
    _require_listable(target)
    _require_apart(source.path, target)
    violations = source.manifest.violations(source.path)
    if violations:
        msg = f"{source.path} isn't what was built"
        raise DeliverableError(msg, because="; ".join(violations), help="opkit build --force")
    previous = _previous(source.manifest, target)
    stage = target / f".opkit-install.{os.getpid()}"
    made: list[Path] = []
    is_done = False
    with guard_writing(target, help="name a folder that can be written with --prefix DIR"):
        try:
            made = make_folders(target)
            _stage(source, stage)
            made += _place(source.manifest, stage, target)
            for path in {file.path for file in previous} - {file.path for file in source.manifest.files}:
                (target / path).unlink(missing_ok=True)
                remove_empty_folders((target / path).parent, upto=target)
            is_done = True
        finally:
            shutil.rmtree(stage, ignore_errors=True)
            if not is_done:
                for folder in reversed(made):
                    with suppress(OSError):
                        folder.rmdir()
    return OppRoot(path=target, manifest=source.manifest)


def _stage(source: OppRoot, stage: Path) -> None:
    for file in source.manifest.files:
        make_folders((stage / file.path).parent)
        copy_whole(source.path / file.path, stage / file.path, mode=mode_of(file.path))
    source.manifest.write(stage)
    broken = source.manifest.violations(stage)
    if broken:
        msg = f"the copy in {stage} is damaged"
        raise DeliverableError(msg, because="; ".join(broken))


def _place(manifest: Manifest, stage: Path, target: Path) -> list[Path]:
    made = []
    for path in [*(file.path for file in manifest.files), PurePosixPath(MANIFEST)]:
        made += make_folders((target / path).parent)
        (stage / path).replace(target / path)
    return made


def _require_listable(target: Path) -> None:
    if os.pathsep in str(target):
        msg = f"--prefix {target} isn't one folder"
        because = "it holds a ':', which separates the folders of ASCEND_CUSTOM_OPP_PATH"
        raise UsageError(msg, because=because, help="name one folder")


def _require_apart(source: Path, target: Path) -> None:
    if target.resolve() == source.resolve():
        msg = f"--prefix {target} is the output folder itself"
        raise UsageError(msg, help="name another folder, or use the output folder as it is: opkit env")


def _previous(manifest: Manifest, target: Path) -> tuple[ManifestFile, ...]:
    """The files of an earlier installation of the same package. Raises UsageError for another package's and for files of nobody."""
    installed = Manifest.read(target)
    if installed is not None and installed.package != manifest.package:
        msg = f"--prefix {target} holds the package {installed.package}"
        raise UsageError(msg, because="an OPP root of opkit holds one package", help=f"name a folder for {manifest.package} alone")
    if installed is not None:
        return installed.files
    in_the_way = [str(file.path) for file in manifest.files if (target / file.path).exists()]
    if in_the_way:
        msg = f"--prefix {target} holds files that opkit didn't install"
        raise UsageError(msg, because=", ".join(in_the_way), help="remove them, or name another folder")
    return ()
