"""What is compared, indexed, or written against its sort is refused, with what to write instead."""

from __future__ import annotations

import pytest

from model.language import (
    Numbers,
    ProtocolError,
    Record,
    below,
    every,
    how_many,
    is_none,
    least,
    version,
    when,
)
from tests.language.refusing import refusal, refused, require, says
from tests.language.small import ANY_EPOCH, BROKERS, EPOCHS, system


def test_an_unknown_field_is_refused_with_the_nearest():
    def reads(now, new):
        require(now.epok > 0, "there is an epoch")

    def writes(now, new):
        new.epok = 1

    says(refusal(reads), "unknown field 'epok'", "did you mean 'epoch'?")
    says(refusal(writes), "unknown field 'epok'", "did you mean 'epoch'?")


@refused("unknown field 'epok'", "did you mean 'epoch'?")
def test_an_unknown_part_of_a_record_is_refused(now, new):
    require(now.log[1][0].epok == 0, "it is so")


def test_an_unknown_switch_is_refused():
    def body(now, new):
        if version.fenced:
            new.epoch = 1

    assert "unknown switch 'fenced'" in refusal(body)


@refused("a broker is compared with an epoch", "compare values of one kind")
def test_a_broker_is_not_compared_with_a_number(now, new):
    require(now.owner == now.epoch, "they are the same")


@refused("values of broker have no order", "== or !=")
def test_brokers_have_no_order(now, new):
    require(now.owner < 2, "it is the first")


@refused("values of broker have no order")
def test_brokers_are_not_counted_up(now, new):
    new.owner = now.owner + 1


@refused("a broker is written where an epoch is kept")
def test_a_broker_is_not_kept_where_a_number_is(now, new):
    new.epoch = now.owner


def test_numbers_with_a_none_start_alike():
    from_one = Numbers("elected epoch", 1, 3).or_none
    state = Record(elected=from_one, seen=EPOCHS.or_none, epoch=EPOCHS)

    def compares(now, new):
        """It compares two nones that are two numbers."""
        require(now.elected == now.epoch, "they are the same")

    def writes(now, new):
        """It writes the one none as the other."""
        new.seen = now.elected

    for step in (compares, writes):
        with pytest.raises(ProtocolError, match="let both start alike"):
            system(step, state=state)


@refused("indexed by an epoch", "per broker")
def test_a_place_per_broker_is_not_indexed_by_a_number(now, new):
    require(is_none(now.seen[now.epoch]), "nothing is seen")


def test_an_unknown_name_of_a_role_is_refused():
    def body(now, new):
        require(now.role[1] == "boss", "it leads")

    assert "write one of none, leader, follower" in refusal(body)


def test_only_literals_are_added():
    def body(now, new):
        new.epoch = now.epoch + now.epoch

    assert "write n + 1" in refusal(body)


@refused("how_many needs an enumerated sort", "every(...) and some(...)")
def test_how_many_over_an_unbounded_sort_is_refused(now, new):
    require(how_many(ANY_EPOCH, lambda e: e < now.epoch) > 1, "two are older")


def test_least_over_an_unbounded_sort_is_refused():
    def over_a_sort(now, new):
        new.epoch = least(ANY_EPOCH, lambda e: e > now.epoch, otherwise=0)

    def over_a_range(now, new):
        new.epoch = least(below(ANY_EPOCH, 3), lambda e: e > now.epoch, otherwise=0)

    says(refusal(over_a_sort), "least needs an enumerated sort")
    says(refusal(over_a_range), "least needs an enumerated sort")


@refused("an epoch is never none", "declare it .or_none")
def test_none_is_not_written_where_it_is_not_allowed(now, new):
    new.epoch = None


@refused("an epoch is never none")
def test_none_is_not_asked_of_a_number_that_never_is(now, new):
    require(is_none(now.epoch), "there is no epoch yet")


@refused("is not one value")
def test_none_is_asked_of_single_values_only(now, new):
    require(is_none(now.isr), "there is no ISR")


@refused("1 is not a bool")
def test_a_plain_number_is_no_bool(now, new):
    new.fine = 1


@refused("True is not an epoch")
def test_a_bool_is_no_number(now, new):
    new.epoch = True


@refused("write the log by .append(...) or .cut(...)")
def test_the_end_of_a_log_is_not_written_by_itself(now, new):
    new.log[1].end = 0


@refused("write lam(broker, rule) for a whole map")
def test_a_whole_map_is_written_by_a_rule(now, new):
    new.seen = 0


@refused("index it first")
def test_a_map_is_indexed_before_it_is_written(now, new):
    new.log.epoch = 0


@refused("an element has 2 parts, not 1")
def test_an_element_of_a_relation_has_all_its_parts(now, new):
    require(now.sent.has(1), "it was sent")


@refused("two values of one shape")
def test_a_choice_is_between_values_of_one_shape(now, new):
    new.epoch = when(now.fine, "a", "b")


@refused("an epoch is written where a broker is kept")
def test_a_choice_between_places_without_one_none_is_refused(now, new):
    new.owner = when(now.fine, None, now.epoch)


@refused("is not a condition")
def test_a_rule_gives_a_condition(now, new):
    require(every(BROKERS, lambda b: now.seen[b]), "all have seen it")


@refused("3 is not a set")
def test_a_set_is_written_where_a_set_is_kept(now, new):
    new.isr = 3
