"""The cluster at its smallest: exact counts, both engines alike, and every step taken."""

from __future__ import annotations

import pytest

from model.language import ImpossibleValue
from model.systems import SYSTEMS
from specs.explorer import Exploration, explore
from specs.verdict import Verdict

CLUSTER = SYSTEMS["cluster"]
ONE_FAILOVER = {"expiries": 1, "controllers": 1, "versions": 2, "lingering": 0}


def explored(bounds: dict[str, int], engine: str = "python") -> Exploration:
    return explore(CLUSTER.recorded(), CLUSTER.limits(bounds), engine=engine)


def test_both_engines_find_the_same_states_and_the_same_verdicts():
    plain, native = explored(ONE_FAILOVER), explored(ONE_FAILOVER, "native")

    assert plain.tally.levels == native.tally.levels
    assert (plain.distinct, plain.generated, plain.depth) == (11_262, 34_830, 39)
    assert plain.tally.pruned == native.tally.pruned
    assert plain.tally.fired == native.tally.fired
    assert {n: c.verdict for n, c in plain.claims.items()} == {
        n: c.verdict for n, c in native.claims.items()
    }


def test_a_failover_without_any_fault_tells_everybody_what_they_know_and_changes_nothing():
    found = explored({**ONE_FAILOVER, "expiries": 0, "crashes": 0})

    assert found.distinct == 111
    assert "versions" not in found.tally.pruned


def test_no_claim_is_broken_at_the_smallest_bounds():
    found = explored(ONE_FAILOVER)

    broken = [n for n, c in found.claims.items() if c.verdict is Verdict.BROKEN]
    assert [n for n in broken if found.claims[n].kind != "sometimes"] == []


@pytest.mark.deep  # lowering seven brokers takes half a minute, before the refusal
def test_more_brokers_than_assignments_are_written_out_for_are_refused():
    limits = CLUSTER.limits({"brokers": 7})

    with pytest.raises(ImpossibleValue, match="initially partition"):
        explore(CLUSTER.recorded(), limits, ["leader_in_isr"], engine="python")
