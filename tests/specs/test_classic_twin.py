"""The classic designs in the notation have, level by level, the states of the published rules.

The rules are written a second time, in plain Python, in published.py: two texts by two ways of
writing agree on every state, so the system in the notation says what the rules say.
"""

from __future__ import annotations

from itertools import chain

import pytest

from model.classic import SYSTEM as CLASSIC
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Cell
from specs.lowering.python_code import PythonCode
from tests.specs.published import (
    LAST_EPOCH,
    LOG,
    RECORDS,
    START,
    Quorum,
    State,
    kip_101,
    kip_320,
    shared,
    strong_isr,
)


def as_code(state: State, cell: Cell) -> int:
    """The value of one cell of the system in the notation; junk and none as that has them."""
    at = list(cell.index)
    name, _, part = cell.field.name.partition(".")
    if name == "log":
        log = state.log(at[0])
        if part == "end":
            return len(log)
        return log[at[1]][("at.id", "at.epoch").index(part)] if at[1] < len(log) else 0
    if name in ("next_record", "next_epoch"):
        return int(getattr(state, name))
    owner: object = state.quorum
    if name == "view":
        owner, at = state.view(at[0]), at[1:]
    elif name == "request":
        sent = [reported for reported in state.requests if reported.epoch == at[0]]
        owner, at = sent[0] if sent else Quorum(at[0], None, frozenset()), at[1:]
    value = getattr(owner, part)
    if isinstance(value, frozenset):
        return int(at[0] in value)
    return 0 if value is None else int(value)


@pytest.mark.parametrize(
    ("design", "distinct", "broken"),
    [(kip_101, 59788, 12), pytest.param(kip_320, 39619, None, marks=pytest.mark.deep)],
    ids=["kip_101", "kip_320"],
)
def test_every_level_has_the_states_that_the_published_rules_give(design, distinct, broken):
    bounds = {"brokers": 3, "log": LOG, "records": RECORDS, "epoch": LAST_EPOCH}
    grounded = Grounded(CLASSIC.recorded(design.__name__), bounds)
    code = PythonCode(grounded)
    fired, refused = [0] * len(grounded.instances), bytearray(len(grounded.reasons))
    plain, seen = {START}, {START}
    packed, known = {code.initial}, {code.initial}
    depth, broken_at = 0, None

    while plain or packed:
        mapped = {code.encode([as_code(state, cell) for cell in grounded.cells]) for state in plain}
        assert mapped == packed
        depth += 1
        if broken_at is None and not all(map(strong_isr, plain)):
            broken_at = depth
        plain = {after for state in plain for after in chain(shared(state), design(state))} - seen
        seen |= plain
        nexts = (code.successors(state, fired, refused, {}) for state in packed)
        packed = {after for found in nexts for _, after in found} - known
        known |= packed

    assert len(seen) == len(known) == distinct
    assert broken_at == broken
