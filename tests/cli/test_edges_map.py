"""`insync edges`, where the model has gained a transition and the map has not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.election import SYSTEM as ELECTION
from model.election.state import BROKERS
from model.language import require, transition
from model.systems import SYSTEMS


@transition(broker=BROKERS)
def broker_takes_a_rest(now, new, broker):
    """A step that the implementation has no row for."""
    require(now.zk.epoch >= 0, "there is an epoch")

    new.zk.epoch = now.zk.epoch


def test_a_transition_without_a_row_is_named_with_the_line_to_write(
    insync, monkeypatch: pytest.MonkeyPatch
):
    steps = (*ELECTION.transitions, broker_takes_a_rest)
    monkeypatch.setitem(SYSTEMS, "election", replace(ELECTION, transitions=steps))

    result = insync("edges election")

    assert result.exit_code == 64
    assert result.stderr.count("\n") == 1
    assert (
        "conformance/mapping/election.py has no row for the transition broker_takes_a_rest; "
        'add row("broker_takes_a_rest", '
    ) in result.stderr
