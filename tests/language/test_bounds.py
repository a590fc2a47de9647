"""Bounds stand beside the system: beyond one is pruned and counted, impossible raises at once."""

from __future__ import annotations

import pytest

from model.language import ImpossibleValue, ProtocolError, limit, require, smaller, when
from model.language.evaluate import BeyondBound, Evaluator, SparseState
from specs.explorer import explore
from specs.lowering.grounding import Grounded
from specs.lowering.python_code import PythonCode
from tests.language.small import BROKERS, EPOCHS, epoch_grows, heat_rises, system

ALL_BOUNDS = {"brokers": 2, "epoch": 2, "log": 2, "hottest": 2}


def epoch_falls(now, new):
    """The epoch falls by one."""
    new.epoch = now.epoch - 1


def next_epoch_is_sent(now, new):
    """Broker 1 is sent the next epoch."""
    new.sent = now.sent.including(1, now.epoch + 1)
    new.epoch = when(now.epoch < 1, now.epoch + 1, now.epoch)


def last_epoch_is_sent(now, new):
    """Broker 1 is sent the epoch of before."""
    new.sent = now.sent.including(1, now.epoch - 1)


def next_epoch_is_sent_to_the_fine(now, new):
    """Where all is fine, broker 1 is sent the third epoch; it never is."""
    new.sent = when(now.fine, now.sent.including(1, now.epoch + 3), now.sent)
    new.heat = smaller(now.heat + 1, 2)


def test_an_element_beyond_a_bound_is_not_lost_but_pruned_and_counted():
    recorded = system(next_epoch_is_sent)
    twin = Evaluator(recorded, {"brokers": 2, "epoch": 1, "log": 2, "hottest": 2})

    found = explore(recorded, {**ALL_BOUNDS, "epoch": 1})

    assert (found.distinct, found.pruned) == (2, {"epoch": 1})
    after = twin.successor(recorded.steps[0], twin.initial(), {})
    with pytest.raises(BeyondBound):
        twin.successor(recorded.steps[0], after, {})


def test_an_element_below_the_least_raises():
    recorded = system(last_epoch_is_sent)
    twin = Evaluator(recorded, {"brokers": 2})

    with pytest.raises(ImpossibleValue, match="sent is written at an epoch that does not exist"):
        explore(recorded, ALL_BOUNDS)
    with pytest.raises(ImpossibleValue, match="sent is written at an epoch that is"):
        twin.successor(recorded.steps[0], twin.initial(), {})


def test_an_element_that_is_not_added_after_all_does_no_harm():
    recorded = system(next_epoch_is_sent_to_the_fine)
    twin = Evaluator(recorded, ALL_BOUNDS)

    found = explore(recorded, ALL_BOUNDS)

    assert (found.distinct, found.pruned) == (3, {})
    assert twin.successor(recorded.steps[0], twin.initial(), {}) == {"heat": {(): 1}}


def test_a_successor_beyond_a_bound_is_left_out_and_counted():
    recorded = system(epoch_grows)

    found = explore(recorded, ALL_BOUNDS)

    assert found.distinct == 3
    assert found.pruned == {"epoch": 1}
    assert found.complete


def test_a_value_above_a_structural_limit_raises():
    recorded = system(heat_rises)

    with pytest.raises(ImpossibleValue, match=r"heat_rises\(\): heat would leave 0..2"):
        explore(recorded, ALL_BOUNDS)


def test_a_value_below_the_least_raises_however_the_sort_is_bounded():
    recorded = system(epoch_falls)

    with pytest.raises(ImpossibleValue, match=r"epoch would leave 0..2"):
        explore(recorded, ALL_BOUNDS)


def test_one_instance_alone_is_pruned_and_raises_as_all_of_them_do():
    grows, rises = system(epoch_grows), system(heat_rises)
    code = PythonCode(Grounded(grows, ALL_BOUNDS))
    hot = PythonCode(Grounded(rises, ALL_BOUNDS))
    last = code.encode([2 if c.name in ("epoch", "heat") else c.domain[0] for c in _cells(code)])

    assert code.attempt(code.grounded.instances[0], last) is None
    with pytest.raises(ImpossibleValue, match="heat would leave"):
        hot.attempt(hot.grounded.instances[0], last)


def _cells(code):
    return code.grounded.cells


def test_a_full_log_prunes_the_append():
    def appends(now, new, broker):
        """A broker appends a record."""
        new.log[broker] = now.log[broker].append(epoch=now.epoch)

    found = explore(system(appends, broker=BROKERS), ALL_BOUNDS)

    assert found.distinct == 9
    assert found.pruned == {"log": 6}


def test_a_write_at_an_index_beyond_a_bound_is_pruned():
    def sends_next(now, new, broker):
        """A broker sends under the next epoch, which may be one too many."""
        new.sent = now.sent.including(broker, now.epoch)
        new.epoch = now.epoch + 1

    found = explore(system(sends_next, broker=BROKERS), ALL_BOUNDS)

    assert found.distinct == 1 + 2 + 4
    assert set(found.pruned) == {"epoch"}


def test_the_initial_state_is_within_the_bounds_too():
    def starts_late(new):
        new.epoch = 7

    recorded = system(epoch_grows, initial=starts_late)

    with pytest.raises(ImpossibleValue, match="initially epoch would be 7"):
        explore(recorded, ALL_BOUNDS)


def test_the_twin_knows_no_bound_that_it_is_not_given():
    recorded = system(epoch_grows, heat_rises)
    grows, rises = recorded.steps
    free, bounded = Evaluator(recorded, {"brokers": 2}), Evaluator(recorded, ALL_BOUNDS)

    assert free.successor(grows, {"epoch": {(): 41}}, {}) == {"epoch": {(): 42}}
    with pytest.raises(BeyondBound) as beyond:
        bounded.successor(grows, {"epoch": {(): 2}}, {})
    assert beyond.value.bound == "epoch"
    with pytest.raises(ImpossibleValue, match=r"outside 0..2"):
        bounded.successor(rises, {"heat": {(): 2}}, {})


def test_a_number_that_does_not_fit_in_64_bits_raises_by_name():
    (step,) = (recorded := system(epoch_grows)).steps
    twin = Evaluator(recorded, {"brokers": 2})

    largest: SparseState = {"epoch": {(): 2**63 - 2}}
    too_large: SparseState = {"epoch": {(): 2**63 - 1}}

    assert twin.successor(step, largest, {}) == {"epoch": {(): 2**63 - 1}}
    with pytest.raises(ImpossibleValue, match="does not fit in 64 bits"):
        twin.successor(step, too_large, {})


def test_an_argument_outside_its_sort_raises_by_name():
    def appends(now, new, broker, epoch):
        """A broker appends a record."""
        require(epoch > now.epoch, "the epoch is newer")

        new.log[broker] = now.log[broker].append(epoch=epoch)

    recorded = system(appends, broker=BROKERS, epoch=EPOCHS)
    (step,) = recorded.steps
    twin = Evaluator(recorded, {"brokers": 2})

    with pytest.raises(ImpossibleValue, match=r"appends: broker would be 3, outside 1..2"):
        twin.possible(step, {}, {"broker": 3, "epoch": 1})
    with pytest.raises(ImpossibleValue, match="appends: epoch is 9223372036854775808"):
        twin.possible(step, {}, {"broker": 1, "epoch": 2**63})
    with pytest.raises(ProtocolError, match="appends takes broker, epoch; given: broker"):
        twin.possible(step, {}, {"broker": 1})


def test_a_system_with_guards_needs_their_values():
    def grows_to_its_limit(now, new):
        """The epoch grows while the guard allows it."""
        require(now.epoch < limit("epoch"), "an epoch is left")

        new.epoch = now.epoch + 1

    recorded = system(grows_to_its_limit)

    with pytest.raises(ProtocolError, match="give the bound 'epoch'"):
        Evaluator(recorded, {"brokers": 2}).possible(recorded.steps[0], {}, {})
