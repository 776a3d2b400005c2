"""The Jinja environments of the template folders, and the user's cache of what the templates are compiled to, which takes longer than to
fill them in.
"""

from __future__ import annotations

import functools
import hashlib
import marshal
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType
from typing import Any

import jinja2
from jinja2.bccache import Bucket, bc_magic

from opkit import __version__
from opkit.files import make_folders, plain_file, write_whole
from opkit.toolkit import is_of_user, process_environment, user_cache

__all__ = ["opened"]

_FOLDER = Path("opkit", "templates")
# An unknown name is an error, and a file ends as its template does.
_OPTIONS: dict[str, Any] = {
    "undefined": jinja2.StrictUndefined,
    "autoescape": False,  # C++, CMake, shell and Python, not HTML
    "trim_blocks": True,
    "lstrip_blocks": True,
    "keep_trailing_newline": True,
}
_MOST = 16 << 20  # bytes that are read; all templates have a fiftieth of it
_DIGEST_SIZE = hashlib.sha256().digest_size


@contextmanager
def opened(folder: Path) -> Iterator[jinja2.Environment]:
    """The templates of one folder. What had to be compiled is in the user's cache afterwards, if there is one that can be written."""
    environment = _environment(folder, user_cache(process_environment()))
    yield environment
    if isinstance(environment.bytecode_cache, _Compiled):
        environment.bytecode_cache.keep()


@functools.cache
def _environment(folder: Path, cache: Path | None) -> jinja2.Environment:
    compiled = None
    if cache is not None and is_of_user(cache, _FOLDER):
        compiled = _Compiled(folder, cache / _FOLDER / f"{folder.name}-{__version__}-{sys.implementation.cache_tag}.bin")
    return jinja2.Environment(loader=jinja2.FileSystemLoader(folder), bytecode_cache=compiled, **_OPTIONS)  # noqa: S701 - `_OPTIONS` says it


class _Compiled(jinja2.BytecodeCache):
    """The code of all templates of a folder in one file: each by its name, with the checksum of the text that it was made from."""

    def __init__(self, folder: Path, file: Path) -> None:
        self._folder = folder
        self._file = file
        self._code = _read(file)
        self._is_kept = True

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002 - jinja2's names
        """The same wherever opkit is installed."""
        return name

    def load_bytecode(self, bucket: Bucket) -> None:
        checksum, code = self._code.get(bucket.key, ("", None))
        if code is not None and checksum == bucket.checksum:
            # An error names the template here, and not that of another installation.
            bucket.code = code.replace(co_filename=str(self._folder / bucket.key))

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code is not None, "it was compiled"  # noqa: S101 - tells the type checker
        self._code[bucket.key] = (bucket.checksum, bucket.code)
        self._is_kept = False

    def keep(self) -> None:
        if not self._is_kept:
            payload = marshal.dumps(self._code)
            # Only a memory: where it can't be kept, the next process compiles again.
            with suppress(OSError):
                make_folders(self._file.parent)
                write_whole(self._file, _digest(payload) + payload, mode=0o600)
            self._is_kept = True


def _read(file: Path) -> dict[str, tuple[str, CodeType]]:
    """Nothing for a file that isn't whole, or that another Python, jinja2 or user wrote."""
    try:
        with plain_file(file) as content:
            status = os.fstat(content.fileno())
            if status.st_uid != os.geteuid() or status.st_mode & 0o022:
                return {}
            digest, payload = content.read(_DIGEST_SIZE), content.read(_MOST)
    except OSError:
        return {}
    known: dict[str, tuple[str, CodeType]] = marshal.loads(payload) if digest == _digest(payload) else {}  # noqa: S302 - this user's own
    return known


def _digest(payload: bytes) -> bytes:
    # Without the options, jinja2 makes other code of the same text; it has a version of its code, but not a new one for each mend.
    stamp = repr((MAGIC_NUMBER, bc_magic, getattr(jinja2, "__version__", ""), _OPTIONS))
    return hashlib.sha256(stamp.encode() + payload).digest()
