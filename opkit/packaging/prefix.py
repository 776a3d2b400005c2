"""Installing an OPP root: everything is copied and verified beside its destination first, then renamed into place, the manifest last."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from opkit.deliverable import MANIFEST, OppRoot, mode_of, require_free, require_own
from opkit.errors import DeliverableError, UsageError
from opkit.files import copy_whole, digest_of, guard_writing, make_folders, remove_empty_folders

__all__ = ["install"]

_OPTION = "--prefix"
_KEPT = ".opkit-kept"


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
    paths = [file.path for file in source.manifest.files]
    previous = require_own(target, source.manifest.package, option=_OPTION)
    owned = {file.path for file in previous or ()}
    # A file that is the new one already may be all that a killed installation left; one of another content is somebody's.
    added = [file for file in source.manifest.files if file.path not in owned]
    require_free(target, [file.path for file in added if not _is_same(target / file.path, file.sha256)], option=_OPTION)
    stale = owned - {*paths}
    stage = target / f".opkit-install.{os.getpid()}"
    made: list[Path] = []
    is_done = False
    with guard_writing(target, help=f"name a folder that can be written with {_OPTION} DIR"):
        try:
            made = make_folders(target)
            _stage(source, stage)
            for path in paths:
                made += make_folders((target / path).parent)
            _exchange(stage, target, new=[*paths, PurePosixPath(MANIFEST)], stale=sorted(stale))
            is_done = True
        finally:
            shutil.rmtree(stage, ignore_errors=True)
            for folder in reversed([] if is_done else made):
                with suppress(OSError):
                    folder.rmdir()
        for path in stale:
            remove_empty_folders((target / path).parent, upto=target)
    return OppRoot(path=target, manifest=source.manifest)


def _is_same(path: Path, sha256: str) -> bool:
    return path.is_file() and not path.is_symlink() and digest_of(path) == sha256


def _stage(source: OppRoot, stage: Path) -> None:
    for file in source.manifest.files:
        make_folders((stage / file.path).parent)
        copy_whole(source.path / file.path, stage / file.path, mode=mode_of(file.path))
    source.manifest.write(stage)
    broken = source.manifest.violations(stage)
    if broken:
        msg = f"the copy in {stage} is damaged"
        raise DeliverableError(msg, because="; ".join(broken))


def _exchange(stage: Path, target: Path, *, new: Sequence[PurePosixPath], stale: Sequence[PurePosixPath]) -> None:
    """Puts the `new` files in the place of the old and takes the `stale` away; if that fails at one, the others are put back.

    Each file is whole at every moment. A kill between two renames can't be undone: the manifest is the last of `new`, so that
    `Manifest.violations` then names what doesn't belong together, and installing again mends it.
    """
    kept = stage / _KEPT
    replaced: list[PurePosixPath] = []
    added: list[PurePosixPath] = []
    for path in (*new, *stale):
        if (target / path).is_dir() and not (target / path).is_symlink():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target / path))
    try:
        for path in stale:
            if (target / path).exists():
                make_folders((kept / path).parent)
                replaced.append(path)
                (target / path).replace(kept / path)
        for path in new:
            if (target / path).exists():
                make_folders((kept / path).parent)
                # A copy, not a rename: there is no moment without the file.
                shutil.copy2(target / path, kept / path)
                replaced.append(path)
            else:
                added.append(path)
            (stage / path).replace(target / path)
    except BaseException:
        for path in replaced:
            with suppress(OSError):
                (kept / path).replace(target / path)
        for path in added:
            with suppress(OSError):
                (target / path).unlink(missing_ok=True)
        raise


def _require_listable(target: Path) -> None:
    if os.pathsep in str(target):
        msg = f"{_OPTION} {target} isn't one folder"
        because = "it holds a ':', which separates the folders of ASCEND_CUSTOM_OPP_PATH"
        raise UsageError(msg, because=because, help="name one folder")


def _require_apart(source: Path, target: Path) -> None:
    if target.resolve() == source.resolve():
        msg = f"{_OPTION} {target} is the output folder itself"
        raise UsageError(msg, help="name another folder, or use the output folder as it is: opkit env")
