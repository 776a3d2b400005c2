"""From what a user named to what can be installed, for as long as that takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from opkit.files import digest_of
from opkit.packaging.installing import Source
from opkit.packaging.places import Place, PlaceKind, opened

if TYPE_CHECKING:
    from opkit.deliverable import OppRoot

__all__ = ["open_source"]


@contextmanager
def open_source(place: Place, *, build: Callable[[Path], AbstractContextManager[OppRoot]]) -> Iterator[Source]:
    """`build` brings a project up to date and keeps its deliverable as it is until the end: nothing stale is installed.

    Raises what `opened` and `build` raise.
    """
    origin = place.path.absolute()
    if place.kind is PlaceKind.PROJECT:
        with build(place.path) as root:
            yield Source.of(root, origin=origin)
        return
    with opened(place) as root:
        yield (
            Source(root=root, origin=origin, sha256=digest_of(origin))
            if place.kind is PlaceKind.ARCHIVE
            else Source.of(root, origin=origin)
        )
