"""A broker that comes back with an empty disk: what it can lose, and from when it loses nothing."""

from __future__ import annotations

import pytest

from model.replication import SYSTEM
from specs.explorer import explore, find
from specs.verdict import Verdict

ONE_CRASH = {"crashes": 1}
SAFE = ["no_message_loss", "isr_holds_committed", "log_matching"]


def test_in_the_isr_it_loses_what_was_committed():
    recorded = SYSTEM.recorded(None, {"disk_lost": "by_any"})

    _, run = find(recorded, SYSTEM.limits(ONE_CRASH), "no_message_loss")

    assert run is not None
    assert (run.depth, run.steps[-1].step) == (13, "broker_starts_empty")


@pytest.mark.deep
def test_outside_the_isr_it_is_taken_back_by_a_leader_that_remembers_how_far_it_was():
    # In Kafka only a fetch of the earlier process, handled late, can say so: this is the worst.
    recorded = SYSTEM.recorded(None, {"disk_lost": "outside_isr"})

    _, run = find(recorded, SYSTEM.limits({**ONE_CRASH, "versions": 3}), "isr_holds_committed")

    assert run is not None
    assert (run.depth, run.steps[-1].step) == (20, "leader_expands_isr")


def test_when_every_leader_has_forgotten_how_far_it_was_it_loses_nothing_committed():
    recorded = SYSTEM.recorded(None, {"disk_lost": "when_forgotten"})

    found = explore(recorded, SYSTEM.limits(ONE_CRASH), SAFE, symmetry=True)

    assert found.complete
    assert {found.claims[name].verdict for name in SAFE} == {Verdict.HOLDS}
    assert found.fired["broker_starts_empty"] > 0
