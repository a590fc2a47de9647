"""The result of a search for invariants."""

from __future__ import annotations

from dataclasses import dataclass, field

from model.language import RecordedSystem
from specs.finding.candidates import InvariantCandidate
from specs.induction_counterexamples import InductionCounterexample
from specs.invariants import Invariant, Proof
from specs.prover import ProofResult
from specs.verdict import Verdict


@dataclass
class InvariantSearchResult:
    """The result of a search: `proof` has the given invariants and those that were found."""

    proof: Proof
    recorded: RecordedSystem
    found: list[Invariant]
    candidates: list[InvariantCandidate]
    """Of `found`, in their order."""
    needed_by: dict[str, set[str]]
    """By invariant found: whom some step would not keep without it."""
    counts: dict[str, int] = field(default_factory=dict)
    result: ProofResult | None = None
    hinted: list[str] = field(default_factory=list)
    """Steps whose obligations are proved with what definitions say of fields in mind
    (`Definitions.of_fields`)."""
    lost: list[str] = field(default_factory=list)
    """What no set of candidates keeps: parts of the claim, or invariants that were given."""
    false: list[str] = field(default_factory=list)
    """Parts of the claim that a state breaks that was reached: there is nothing to prove."""
    counterexample: InductionCounterexample | None = None
    reached: str = ""
    """Whether the state of the counterexample was among those that were reached."""
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """`holds` if the proof for any number of brokers succeeded, else `unknown`."""
        return Verdict.UNKNOWN if self.result is None else self.result.verdict
