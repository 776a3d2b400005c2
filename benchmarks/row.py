"""One row of the result: a budget, what it came to, and against what."""

from __future__ import annotations

import attrs

__all__ = ["Row"]


@attrs.frozen(kw_only=True)
class Row:
    """``ratio`` is ours over the peer's; ``limit`` is the budget for it, None for a row that only informs."""

    what: str
    ours: str
    peer: str
    ratio: float
    limit: float | None = None

    @property
    def is_met(self) -> bool | None:
        if self.limit is None:
            return None
        return self.ratio <= self.limit

    @property
    def budget(self) -> str:
        return "information" if self.limit is None else f"at most {self.limit:.3g}"
