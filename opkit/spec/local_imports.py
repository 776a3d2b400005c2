"""The import of modules that lie beside ops.py: fresh at each load, noted for the digest, and without a trace in the user's folder."""

from __future__ import annotations

import contextlib
import importlib.machinery
import linecache
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator

_OPKIT = str(Path(__file__).parents[1])
_OF_PYTHON = (_OPKIT + os.sep, os.path.dirname(os.__file__) + os.sep)  # noqa: PTH120 - as a text that others start with
_INSTALLED = {"site-packages", "dist-packages"}


@attrs.frozen(kw_only=True)
class SpecFolder:
    """The folder of an ops.py, and the folders below it whose modules aren't the spec's own: an environment, an interpreter, opkit itself,
    and whatever else is importable without the spec. In a home folder that may be all of Python.
    """

    root: str
    foreign: tuple[str, ...]

    @classmethod
    def of(cls, root: Path) -> SpecFolder:
        folder = str(root)
        candidates = {_OPKIT, sys.prefix, sys.base_prefix, *(_absolute(entry) for entry in sys.path)}
        return cls(root=folder, foreign=tuple(sorted(entry for entry in candidates if entry.startswith(folder + os.sep))))

    def holds(self, path: str) -> bool:
        """Whether a path, as a text of `sys.path` or a traceback, belongs to the spec."""
        path = path if path.startswith("<") else _absolute(path)
        if path != self.root and not path.startswith(self.root + os.sep):
            return False
        if any(path == folder or path.startswith(folder + os.sep) for folder in self.foreign):
            return False
        return _INSTALLED.isdisjoint(Path(path).parts)

    def holds_module(self, name: str, module: types.ModuleType) -> bool:
        """Whether a module of `sys.modules` is what `import name` would find in the folder."""
        top = f"{self.root}{os.sep}{name.partition('.')[0]}"
        file = getattr(module, "__file__", None)
        places = [file] if isinstance(file, str) else list(getattr(module, "__path__", ()))
        return any((place in {top, f"{top}.py"} or place.startswith(top + os.sep)) and self.holds(place) for place in places)

    @contextlib.contextmanager
    def importable(self) -> Iterator[list[Path]]:
        """Makes the folder the first of `sys.path` and gives the list that the path of each module imported from it is noted in.

        In the end the list has those of other folders too that are neither Python's nor installed. Leaves `sys.path`, `sys.modules` and the
        import caches as they were; there, too, nothing is written.
        """
        imported: list[Path] = []
        loader = type("_NotingLoader", (_FreshLoader,), {"imported": imported})

        def hook(entry: str) -> importlib.machinery.FileFinder:
            if not self.holds(entry):
                raise ImportError(entry)
            return importlib.machinery.FileFinder(entry, (loader, importlib.machinery.SOURCE_SUFFIXES))

        known = set(sys.modules)
        before = {name: module for name, module in sys.modules.items() if self.holds_module(name, module)}
        for name in before:
            del sys.modules[name]
        writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        self._forget()
        sys.path.insert(0, self.root)
        sys.path_hooks.insert(0, hook)
        try:
            yield imported
        finally:
            sys.path_hooks.remove(hook)
            if self.root in sys.path:
                sys.path.remove(self.root)
            for name in [name for name, module in sys.modules.items() if self.holds_module(name, module)]:
                del sys.modules[name]
            sys.modules.update(before)
            for name, path in _of_other_folders(known).items():
                imported.append(path)
                del sys.modules[name]
            sys.dont_write_bytecode = writes_bytecode
            self._forget()

    def _forget(self) -> None:
        for entry in [entry for entry in sys.path_importer_cache if self.holds(entry)]:
            del sys.path_importer_cache[entry]
        # The lines too: they are kept by time stamp, which an edit within a second doesn't change on every file system.
        for name in [name for name in linecache.cache if self.holds(name)]:
            del linecache.cache[name]


def _of_other_folders(known: set[str]) -> dict[str, Path]:
    """The modules in Python that aren't in `known`, have a source, and may be edited as a spec is, each with its path.

    Those that come with compiled ones stay out: they can't be loaded twice.
    """
    found = {}
    for name in sys.modules.keys() - known:
        path = getattr(sys.modules[name], "__file__", None)
        if isinstance(path, str) and not path.startswith(_OF_PYTHON) and _INSTALLED.isdisjoint(Path(path).parts) and Path(path).is_file():
            found[name] = Path(_absolute(path))
    compiled = {name.partition(".")[0] for name, path in found.items() if path.suffix != ".py"}
    return {name: path for name, path in found.items() if name.partition(".")[0] not in compiled}


def _absolute(path: str) -> str:
    return os.path.abspath(path)  # noqa: PTH100 - sys.path and tracebacks hold texts, and resolve() would follow links


class _FreshLoader(importlib.machinery.SourceFileLoader):
    """Compiles a module from its source each time: no __pycache__ is written or believed."""

    imported: list[Path]

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        self.imported.append(Path(path))
        return self.source_to_code(self.get_data(path), path)
