"""What opkit notes of each install in a prefix: which files it put there, where they came from and when.

A receipt lies where anybody with the prefix can write, so one that isn't what opkit wrote counts as absent, and that is told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from opkit.deliverable import LARGEST_MANIFEST, path_inside, sha256_of
from opkit.files import content_of, write_whole

__all__ = ["LARGEST_RECEIPTS", "InstalledFile", "Receipt", "Receipts", "read_receipts", "write_receipts"]

LARGEST_RECEIPTS = 4 * LARGEST_MANIFEST  # two, and each file's is a little longer than in the manifest
_LAYOUT = 1


class InstalledFile(NamedTuple):
    """`path` is relative to the OPP root; `mode` are the permission bits that it was given."""

    path: PurePosixPath
    sha256: str
    mode: int


class Receipt(NamedTuple):
    """One install. `source` is what the user named, with the SHA-256 of that file, or of its manifest if it is a folder; `folder` is the
    name of the version's folder; `manifest` is the SHA-256 of its manifest; `installed` is the time in UTC, and `opkit` the version that
    installed it.
    """

    package: str
    version: str
    folder: str
    source: str
    sha256: str
    manifest: str
    installed: str
    opkit: str
    files: tuple[InstalledFile, ...]


class Receipts(NamedTuple):
    """Those of one package, by folder. With `fault`, a sentence, there are none: the file is damaged or absent."""

    by_folder: Mapping[str, Receipt]
    fault: str | None = None


def read_receipts(path: Path) -> Receipts:
    try:
        document = json.loads(content_of(path, most=LARGEST_RECEIPTS))
        if document["layout"] != _LAYOUT:
            return Receipts({}, f"its receipt {path} isn't one that this opkit can read")
        receipts = [_parsed(each) for each in document["installs"]]
    except FileNotFoundError:
        return Receipts({}, f"its receipt {path} is missing")
    except OSError as fault:
        return Receipts({}, f"its receipt {path} can't be read: {fault.strerror}")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return Receipts({}, f"its receipt {path} isn't one that this opkit can read")
    return Receipts({receipt.folder: receipt for receipt in receipts})


def write_receipts(path: Path, *receipts: Receipt) -> None:
    """Raises OSError. Two are written around the moment in which the second's version takes the place of the first's."""
    document = {"layout": _LAYOUT, "installs": [_document(receipt) for receipt in receipts]}
    write_whole(path, (json.dumps(document, indent=2) + "\n").encode())


def _document(receipt: Receipt) -> dict[str, Any]:
    files = {str(file.path): {"sha256": file.sha256, "mode": f"{file.mode:04o}"} for file in receipt.files}
    return {**receipt._asdict(), "files": files}


def _parsed(document: Mapping[str, Any]) -> Receipt:
    texts = {name: document[name] for name in Receipt._fields if name != "files"}
    if not all(isinstance(text, str) and text.isprintable() for text in texts.values()):
        msg = "a field is no text"
        raise TypeError(msg)
    files = tuple(
        InstalledFile(path=path_inside(path), sha256=sha256_of(file["sha256"]), mode=int(file["mode"], 8))
        for path, file in document["files"].items()
    )
    return Receipt(**texts, files=files)
