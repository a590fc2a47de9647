"""The dumb twin on sparse states: real numbers, pointwise rules, and why a step is refused."""

from __future__ import annotations

import pytest

from model.language import (
    ProtocolError,
    Record,
    SetOf,
    below,
    every,
    how_many,
    lam,
    least,
    not_,
    per,
    require,
    some,
    when,
)
from model.language.evaluate import Evaluator, SparseState
from tests.language.small import ANY_EPOCH, BROKERS, ENDS, EPOCHS, OFFSETS, STATE, system

MILLIONS = 3_000_000


def twin_of(*steps, state=STATE, **parameters):
    recorded = system(*steps, state=state, **parameters)
    return Evaluator(recorded, {"brokers": 3}), recorded.steps


def test_a_log_of_millions_is_appended_to_and_cut():
    def appends(now, new, broker):
        """A broker appends a record."""
        new.log[broker] = now.log[broker].append(epoch=7)

    def cuts(now, new, broker):
        """A broker cuts its last two records."""
        new.log[broker] = now.log[broker].cut(now.log[broker].end - 2)

    twin, (append, cut) = twin_of(appends, cuts, broker=BROKERS)
    log = {"log.end": {(1,): MILLIONS}, "log.at.epoch": {(1, MILLIONS - 1): 5}}

    longer = twin.successor(append, log, {"broker": 1})
    shorter = twin.successor(cut, longer, {"broker": 1})

    assert longer["log.at.epoch"] == {(1, MILLIONS - 1): 5, (1, MILLIONS): 7}
    assert shorter == {"log.end": {(1,): MILLIONS - 1}}


def test_a_quantifier_over_a_range_of_any_size_is_answered():
    def moves(now, new, broker):
        """It moves if no record is newer than the third epoch."""
        log = now.log[broker]
        require(every(below(OFFSETS, log.end), lambda o: log[o].epoch <= 3), "no record is newer")

        new.epoch = least(below(OFFSETS, log.end), lambda o: log[o].epoch == 3, otherwise=0)

    twin, (step,) = twin_of(moves, broker=BROKERS)
    log = {"log.end": {(1,): 100_000}, "log.at.epoch": {(1, 99_998): 3}}

    assert twin.possible(step, log, {"broker": 1}) is None
    assert twin.successor(step, log, {"broker": 1})["epoch"] == {(): 99_998}


def test_a_quantifier_over_all_numbers_needs_a_limit():
    def moves(now, new):
        """It moves if some epoch was sent."""
        require(some(ANY_EPOCH, lambda e: e > now.epoch), "an epoch is newer")

    def counts(now, new):
        """It counts the epochs that were sent."""
        new.epoch = how_many(EPOCHS, lambda e: now.sent.has(1, e))

    twin, (move, count) = twin_of(moves, counts)
    bounded = Evaluator(twin.recorded, {"brokers": 3, "epoch": 9})

    with pytest.raises(ProtocolError, match=r"no upper limit here: quantify over below"):
        twin.possible(move, {}, {})
    with pytest.raises(ProtocolError, match=r"no upper limit here: quantify over below"):
        twin.successor(count, {}, {})
    sent: SparseState = {"sent": {(1, 4): True, (1, 8): True, (2, 5): True}}
    assert bounded.successor(count, sent, {}) == {**sent, "epoch": {(): 2}}


def test_a_relation_over_unbounded_numbers_grows_and_is_emptied():
    def sends(now, new, broker):
        """A broker sends under its epoch."""
        new.sent = now.sent.including(broker, now.epoch)

    def forgets(now, new, broker):
        """What a broker sent is forgotten."""
        new.sent = now.sent.such_that(lambda b, e: b != broker)

    twin, (send, forget) = twin_of(sends, forgets, broker=BROKERS)
    state: SparseState = {"epoch": {(): 70}, "sent": {(1, 12): True, (2, 69): True}}

    more = twin.successor(send, state, {"broker": 1})
    less = twin.successor(forget, more, {"broker": 1})

    assert more["sent"] == {(1, 12): True, (2, 69): True, (1, 70): True}
    assert less["sent"] == {(2, 69): True}


def test_a_rule_for_every_number_is_kept_where_it_says_something():
    state = Record(end=ENDS, copy=per(OFFSETS, EPOCHS), given=per(OFFSETS, EPOCHS))

    def copies(now, new):
        """What was given is copied from the second offset on, one to the left."""
        new.copy = lam(OFFSETS, lambda o: when(o >= 2, now.given[o + 1], now.copy[o]))

    def fills(now, new):
        """Every place below the end gets a five."""
        new.copy = lam(OFFSETS, lambda o: when(o < now.end, 5, 0))

    def floods(now, new):
        """Every place from the end on gets a five."""
        new.copy = lam(OFFSETS, lambda o: when(o < now.end, 0, 5))

    def counts_up(now, new):
        """Every place gets its own number."""
        new.copy = lam(OFFSETS, lambda o: o)

    twin, (copy, fill, flood, count_up) = twin_of(copies, fills, floods, counts_up, state=state)
    before = {"end": {(): 4}, "given": {(1,): 1, (90,): 9}, "copy": {(0,): 3, (7,): 8}}

    assert twin.successor(copy, before, {})["copy"] == {(0,): 3, (89,): 9}
    assert twin.successor(fill, before, {})["copy"] == {(0,): 5, (1,): 5, (2,): 5, (3,): 5}
    for endless in (flood, count_up):
        with pytest.raises(ProtocolError, match="infinitely many indices"):
            twin.successor(endless, before, {})


def test_a_rule_that_compares_its_index_with_what_varies_needs_a_bound():
    state = Record(copy=per(OFFSETS, EPOCHS), given=per(BROKERS, EPOCHS))

    def marks(now, new):
        """Every number that a broker was given is marked."""
        new.copy = lam(OFFSETS, lambda o: when(some(BROKERS, lambda b: now.given[b] == o), 1, 0))

    twin, (step,) = twin_of(marks, state=state)
    bounded = Evaluator(twin.recorded, {"brokers": 3, "log": 9})

    with pytest.raises(ProtocolError, match="give the bound of its index"):
        twin.successor(step, {"given": {(1,): 4}}, {})
    assert bounded.successor(step, {"given": {(1,): 4}}, {})["copy"] == {(0,): 1, (4,): 1}


def test_equal_states_are_equal_dicts():
    def resets(now, new, broker):
        """A broker starts afresh."""
        new.seen[broker] = None
        new.log[broker] = now.log[broker].cut(0)
        new.isr = now.isr.without(broker)

    twin, (step,) = twin_of(resets, broker=BROKERS)

    after = twin.successor(
        step,
        {"seen": {(1,): 0}, "isr": {(1,): True}, "log.end": {(1,): 1}, "log.at.epoch": {(1, 0): 4}},
        {"broker": 1},
    )

    assert after == twin.initial() == {}


def test_a_set_is_a_parameter_too():
    def shrinks(now, new, members):
        """The ISR becomes the members."""
        require(members.is_subset_of(now.isr), "the members are in the ISR")

        new.isr = members

    twin, (step,) = twin_of(shrinks, members=SetOf(BROKERS))
    state = {"isr": {(1,): True, (2,): True}}

    assert twin.successor(step, state, {"members": frozenset({2})}) == {"isr": {(2,): True}}
    refused = twin.possible(step, state, {"members": frozenset({2, 3})})
    assert refused is not None
    assert "(isr {1,2})" in twin.explain(refused, state, {"members": frozenset({2, 3})})


def test_a_refusal_tells_the_values_that_decided_it():
    def leads(now, new, broker):
        """A broker becomes controller."""
        log = now.log[broker]
        require(now.isr.has(broker), "the broker is in the ISR")
        require(now.seen[broker] == now.epoch, "the broker has seen the epoch")
        require(every(BROKERS, lambda b: now.log[b].end >= log.end), "nobody has a shorter log")
        require(not_(some(BROKERS, lambda b: now.role[b] == "leader")), "nobody leads")
        require(
            every(below(OFFSETS, log.end), lambda o: log[o].epoch <= now.epoch),
            "no record is newer",
        )
        require(some(BROKERS, lambda b: now.seen[b] > now.epoch), "somebody has seen more")

    twin, (step,) = twin_of(leads, broker=BROKERS)

    def why(**changed):
        state = {
            "isr": {(1,): True, (2,): True},
            "epoch": {(): 4},
            "seen": {(1,): 4},
            "log.end": {(1,): 2, (2,): 2, (3,): 2},
            **{name.replace("__", "."): cells for name, cells in changed.items()},
        }
        refused = twin.possible(step, state, {"broker": 1})
        assert refused is not None
        return twin.explain(refused, state, {"broker": 1})

    assert why(isr={(2,): True}) == ("not possible: the broker is in the ISR — false (isr {2})")
    assert why(seen={}) == (
        "not possible: the broker has seen the epoch — false (epoch 4, seen[1] none)"
    )
    assert why(log__end={(1,): 2, (2,): 2}) == (
        "not possible: nobody has a shorter log — false (log[1].end 2, log[3].end 0)"
    )
    assert why(role={(3,): 1}) == "not possible: nobody leads — false (role[3] leader)"
    assert why(log__at__epoch={(1, 1): 9}) == (
        "not possible: no record is newer — false (epoch 4, log[1][1].epoch 9)"
    )
    assert why() == "not possible: somebody has seen more — false (epoch 4)"


def test_a_step_that_is_not_possible_has_no_successor():
    def moves(now, new):
        """It moves."""
        require(now.fine, "all is fine")

    twin, (step,) = twin_of(moves)

    with pytest.raises(ProtocolError, match=r"moves: not possible: all is fine — false \(fine fal"):
        twin.successor(step, {}, {})
