"""The four verdicts that any check can give, how they combine, and findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum

from specs.rendering import picked, rounded


class Verdict(Enum):
    """The verdict on a claim. The value is the word that is printed and written to JSON."""

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

    Without parts the verdict is NOT_CHECKED, never HOLDS: an empty check has seen nothing.
    """
    return min(verdicts, key=_WORST_FIRST.index, default=Verdict.NOT_CHECKED)


class FindingKind(StrEnum):
    """How certain a finding is, the most certain first."""

    VIOLATION = "violation"  # no run of the protocol writes these lines
    IMPOSSIBLE = "impossible"  # the model cannot take the step that a log or a trace shows
    KNOWN_BUG = "known bug"  # it can, with a historic bug's switch reverted
    UNREADABLE = "unreadable"  # a trace that is not whole
    NOT_JUDGED = "not judged"  # lines of another protocol than the one that is specified
    INCOMPLETE = "incomplete"  # a line that shows why may be missing
    EXPLAINED = "explained"  # strange, and other lines show why it is right


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of a log or a trace that broke a rule, cannot be judged, or only looks wrong.

    `positions` are all lines that it is about, as FILE:LINE; `cluster` is empty for a trace.
    """

    kind: str
    cluster: str = ""
    file: str
    line: int
    rule: str
    why: str
    allowed: str
    positions: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[object, ...]:
        """The sort key: the most certain first, then by position."""
        surest = list(FindingKind).index(FindingKind(self.kind))
        return surest, self.cluster, self.file, self.line, self.rule, self.why


@dataclass(frozen=True, kw_only=True)
class ClaimReport:
    """The result of a proof, or of an attempt, for one claim of a system: an entry of `claims`.

    `open` are the obligations that are not proved. `label` is the kind of theorem;
    `contradictory` means that the assumptions contradict each other, so that nothing is proved.
    """

    claim: str
    sentence: str
    label: str | None = None
    system: str | None
    version: str | None
    without: Mapping[str, object]
    verdict: Verdict
    brokers: int | str = "any"
    obligations: int
    solver_calls: int
    seconds: float = field(metadata=rounded(3))
    open: Sequence[object] = field(metadata=picked("step", "invariant"))
    contradictory: bool = False
    assumes: Sequence[str]
    counterexample: object = None
