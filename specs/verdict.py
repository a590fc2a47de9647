"""The four answers that any check of the project can give, and how answers combine."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Verdict(Enum):
    """What is known about a claim. The value is the word that is printed and written to JSON."""

    HOLDS = "holds"
    BROKEN = "broken"
    UNKNOWN = "unknown"
    NOT_CHECKED = "not checked"

    @property
    def exit_code(self) -> int:
        """The process exit code that says the same: 0 holds, 1 broken, 2 unknown, 3 not checked."""
        return _EXIT_CODES[self]

    def __str__(self) -> str:
        return self.value


_EXIT_CODES = {
    Verdict.HOLDS: 0,
    Verdict.BROKEN: 1,
    Verdict.UNKNOWN: 2,
    Verdict.NOT_CHECKED: 3,
}

# One counterexample settles the matter, whatever else is still unknown. "Unknown" outweighs "not
# checked" because somebody tried and failed to answer, which a reader must not overlook.
_WORST_FIRST = (Verdict.BROKEN, Verdict.UNKNOWN, Verdict.NOT_CHECKED, Verdict.HOLDS)


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a whole from the verdicts of its parts: the worst one wins.

    No parts at all is NOT_CHECKED, never HOLDS: an empty check has seen nothing.
    """
    return min(verdicts, key=_WORST_FIRST.index, default=Verdict.NOT_CHECKED)
