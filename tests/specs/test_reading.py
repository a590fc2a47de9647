"""States as a person reads them: paths of leaves, sets, logs, none; and what changed."""

from __future__ import annotations

import pytest

from model.language import ALL, Enumeration, Names, Numbers
from model.language.sorts import BOOL
from specs.lowering.grounding import Grounded
from specs.lowering.python_code import PythonCode
from specs.state_text import StateText, named, plain, text
from tests.language.small import BROKERS, system
from tests.specs.following import code_of, sparse

BOUNDS = {"brokers": 2, "epoch": 2, "log": 2, "hottest": 1}


def everything_moves(now, new, broker):
    """A broker does a little of everything."""
    new.owner = broker
    new.role[broker] = "leader"
    new.seen[broker] = 0
    new.isr = ALL
    new.sent = now.sent.including(broker, 2)
    new.log[broker] = now.log[broker].append(epoch=1)
    new.fine = True


@pytest.fixture
def moved():
    recorded = system(everything_moves, broker=BROKERS)
    grounded = Grounded(recorded, BOUNDS, also=[])
    code = PythonCode(grounded)
    second = grounded.instances[1]
    after = code.attempt(second, code.initial)
    assert after is not None
    return recorded, StateText(grounded), code.decode(code.initial), code.decode(after)


def test_a_state_is_its_leaves_by_path(moved):
    _, reading, _, after = moved

    leaves = reading.leaves(after)

    assert leaves == {
        "owner": 2, "epoch": 0, "heat": 0,
        "role[1]": "none", "role[2]": "leader", "seen[1]": None, "seen[2]": 0,
        "isr": [1, 2], "sent": [[2, 2]], "log[1]": [], "log[2]": [{"epoch": 1}], "fine": True,
    }  # fmt: skip


def test_only_what_differs_is_a_change_in_the_order_of_the_schema(moved):
    _, reading, before, after = moved

    changes = reading.changes(before, after)

    assert [reading.change_text(path, pair) for path, pair in changes.items()] == [
        "owner: none → 2",
        "role[2]: none → leader",
        "seen[2]: none → 0",
        "isr: {} → {1,2}",
        "sent: {} → {[2,2]}",
        "log[2]: [] → [epoch 1]",
        "fine: false → true",
    ]
    assert reading.changes(after, after) == {}


def test_the_leaves_say_all_that_the_state_holds(moved):
    recorded, reading, before, after = moved

    assert sparse(recorded, reading.leaves(before)) == {}
    assert sparse(recorded, reading.leaves(after)) == {
        "owner": {(): 2},
        "role": {(2,): 1},
        "seen": {(2,): 0},
        "isr": {(1,): True, (2,): True},
        "sent": {(2, 2): True},
        "log.end": {(2,): 1},
        "log.at.epoch": {(2, 0): 1},
        "fine": {(): True},
    }


SORTS = [
    (BOOL, 1, True),
    (Names("role", ("none", "leader")), 1, "leader"),
    (Enumeration("broker", "brokers"), 2, 2),
    (Enumeration("broker", "brokers").or_none, 0, None),
    (Numbers("epoch"), 0, 0),
    (Numbers("epoch").or_none, -1, None),
    (Numbers("epoch", 1).or_none, 0, None),
]


@pytest.mark.parametrize(("sort", "code", "value"), SORTS)
def test_a_code_is_plain_data_and_back(sort, code, value):
    assert plain(sort, code) == value
    assert code_of(sort, plain(sort, code)) == code


@pytest.mark.parametrize(
    ("value", "is_set", "expected"),
    [
        (None, False, "none"),
        (True, False, "true"),
        (7, False, "7"),
        ("leader", False, "leader"),
        ([1, 2], True, "{1,2}"),
        ([], True, "{}"),
        ([], False, "[]"),
        (
            [{"id": 0, "epoch": None}, {"id": 1, "epoch": 2}],
            False,
            "[id 0 epoch none, id 1 epoch 2]",
        ),
    ],
)
def test_plain_data_as_text(value, is_set, expected):
    assert text(value, is_set=is_set) == expected


def test_arguments_are_reported_by_name():
    assert named({"leader": 1, "isr": [1, 3]}) == "leader=1, isr={1,3}"
    assert named({}) == ""
