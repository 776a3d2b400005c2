"""For what must never wait: a test of it ends, though the code under test doesn't."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["never_waiting"]


@contextmanager
def never_waiting(seconds: int = 20) -> Iterator[None]:
    """Raises AssertionError in what still runs by then."""

    def give_up(*_: object) -> None:
        msg = f"it still waits after {seconds} seconds"
        raise AssertionError(msg)

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
