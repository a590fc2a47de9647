"""What each guard of `replication` is for: a claim breaks without it, a story tells how it refuses,
or the code says why another guard implies it."""

from __future__ import annotations

import pytest

from model.language import ImpossibleValue
from model.replication import SYSTEM
from specs.explorer import explore
from specs.redundant_guards import marks_of
from specs.surgery import ANY, Guard, guards_of, remove_guard, with_any_claim
from tests.story.shown import refused_in

BOUNDS = {"expiries": 1, "crashes": 1, "losses": 1}

CLAIMED = {
    Guard("controller_resigns", "/controller is not its own any more"): 3,
    Guard("controller_issues_leader_and_isr", "the broker believes it is the controller"): None,
    Guard("controller_issues_leader_and_isr", "the partition has a leader"): None,
    Guard("broker_starts", "the old registration is gone"): 3,
    Guard("broker_reconnects", "its session has expired"): 2,
    Guard("broker_becomes_controller", "the broker has a session"): 3,
    Guard("broker_learns_it_won", "the broker won and has not learned that yet"): 3,
    Guard("controller_election_is_fenced", "a newer controller epoch was won"): 4,
    Guard("controller_removal_is_fenced", "a newer controller epoch was won"): 5,
    Guard("controller_elects_leader", "the candidate was alive when it read"): 5,
    Guard("broker_becomes_leader", "the request is in flight"): 6,
    Guard("broker_becomes_leader", "the request names the broker the leader"): 6,
    Guard("broker_becomes_leader", "the leader epoch is newer than the broker's"): 9,
    Guard("broker_starts", "the process does not run"): 11,
    Guard("broker_becomes_leader", "the process runs"): 12,
}
"""Guards that no story and no mark mentions, and after how many steps a claim breaks without one;
None where a step would write what does not exist. Within two brokers and one fault of a kind."""

SOON = 5


def broken_after(guard: Guard) -> int | None:
    """Steps to the first claim that breaks without the guard; None if a step cannot be taken."""
    cut = remove_guard(SYSTEM.recorded(), guard)
    assert cut is not None
    alike = [claim.name for claim in SYSTEM.claims if claim.kind in ("always", "always_step")]
    # The plain engine needs no machine code made for a run of a few steps.
    engine = "python" if (CLAIMED[guard] or 0) <= SOON else "native"
    try:
        found = explore(
            with_any_claim(cut), SYSTEM.limits(BOUNDS), [*alike, ANY], stop_at=ANY, engine=engine,
            max_states=400_000, symmetry=engine == "native")  # fmt: skip
    except ImpossibleValue:
        return None
    return found.tally.settled[ANY] - 1


def test_each_guard_is_covered_by_a_story_or_marked_or_a_claim_breaks_without_it():
    reported = refused_in("replication")
    recorded = SYSTEM.recorded()
    marks = marks_of(recorded)

    left = {
        guard for guard in guards_of(recorded)
        if (guard.step, guard.reason) not in reported
        and marks.get(guard.step, guard.reason)[0] is None
    }  # fmt: skip

    assert len(reported) > 100
    assert left == set(CLAIMED)


@pytest.mark.parametrize(
    "guard",
    [
        guard if (after or 0) <= SOON else pytest.param(guard, marks=pytest.mark.deep)
        for guard, after in CLAIMED.items()
    ],
    ids=str,
)
def test_a_claim_breaks_without_the_guard(guard):
    assert broken_after(guard) == CLAIMED[guard]
