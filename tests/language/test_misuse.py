"""What the notation refuses, and the line that it says to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from model.language import (
    Bound,
    Numbers,
    ProtocolError,
    Record,
    SetOf,
    System,
    Version,
    all_of,
    always,
    below,
    eventually,
    every,
    how_many,
    is_none,
    lam,
    least,
    limit,
    not_,
    some,
    transition,
    version,
    when,
)
from model.language import require as typed_require
from model.language.recording import record_condition
from tests.language.small import ANY_EPOCH, BROKERS, EPOCHS, STATE, nothing, system

require: Any = typed_require
"""Misuse is the subject: the types would refuse half of it before the notation can."""

Body = Callable[[Any, Any], object]


def refusal(body: Body) -> str:
    """The message with which a step of this body is refused."""

    def step(now: Any, new: Any) -> object:
        """It does what the test says."""
        return body(now, new)

    with pytest.raises(ProtocolError) as refused:
        system(step)
    return str(refused.value)


def says(message: str, *words: str) -> None:
    """The message has these words, and names this file and a line of it."""
    for word in words:
        assert word in message, message
    assert re.search(r"test_misuse\.py:\d+: `", message), message


def test_an_if_on_an_expression_is_refused():
    def body(now, new):
        if now.fine:
            new.epoch = 1

    says(refusal(body), "write require(condition, reason), or when(condition, then, otherwise)")


def test_a_while_on_an_expression_is_refused():
    def body(now, new):
        while now.epoch < 1:
            new.epoch = 1

    says(refusal(body), "write require(condition, reason)")


def test_a_conditional_expression_is_refused():
    def body(now, new):
        new.epoch = 1 if now.fine else 0

    says(refusal(body), "write when(condition, then, otherwise)")


def test_an_and_is_refused():
    def body(now, new):
        require(now.fine and now.epoch > 0, "both")

    says(refusal(body), "write all_of(a, b) instead of `a and b`")


def test_an_or_is_refused():
    def body(now, new):
        require(now.fine or now.epoch > 0, "either this and not that, or that")

    says(refusal(body), "write any_of(a, b) instead of `a or b`")


def test_a_not_is_refused():
    def body(now, new):
        require(not now.fine, "it is not fine")

    says(refusal(body), "write not_(a) instead of `not a`")


def test_an_in_is_refused():
    def body(now, new):
        require(now.owner in now.isr, "the owner is in the ISR")

    says(refusal(body), "write members.has(x) instead of `x in members`")


def test_a_not_in_is_refused():
    def body(now, new):
        require(now.owner not in now.isr, "the owner is not in the ISR")

    says(refusal(body), "write not_(members.has(x)) instead of `x not in members`")


def test_a_chained_comparison_is_refused():
    def body(now, new):
        require(0 < now.epoch < 2, "it is one")

    says(refusal(body), "write all_of(a < b, b < c) instead of `a < b < c`")


@pytest.mark.parametrize("word", ["min", "max"])
def test_min_and_max_of_python_are_refused(word):
    def with_min(now, new):
        new.epoch = min(now.epoch, now.seen[1])

    def with_max(now, new):
        new.epoch = max(now.epoch, now.seen[1])

    message = refusal({"min": with_min, "max": with_max}[word])

    says(message, "smaller / larger")


def test_any_and_all_of_python_are_refused():
    def body(now, new):
        require(any([now.fine, now.epoch > 0]), "either")

    says(refusal(body), "write some / every")


def test_looping_over_a_set_is_refused():
    def body(now, new):
        for _ in now.isr:
            pass

    says(refusal(body), "write every(sort, rule), some(sort, rule) or lam(sort, rule)")


def test_bit_operators_are_refused():
    def with_and(now, new):
        require(now.fine & now.fine, "both")

    def with_or(now, new):
        require(now.fine | now.fine, "either")

    def with_invert(now, new):
        require(~now.fine, "it is not fine")

    says(refusal(with_and), "write all_of(a, b) instead of `a & b`")
    says(refusal(with_or), "write any_of(a, b) instead of `a | b`")
    says(refusal(with_invert), "write not_(a) instead of `~a`")


def test_a_plain_bool_is_no_requirement():
    def body(now, new):
        require(1 < 2, "it is so")

    says(refusal(body), "plain Python value True", "compare fields or parameters")


def test_is_none_of_python_is_refused():
    def body(now, new):
        require(now.owner is None, "nobody owns it")

    says(refusal(body), "write is_none(x) instead of `x is None`")


def test_a_number_is_no_requirement():
    def body(now, new):
        require(now.epoch, "there is an epoch")

    says(refusal(body), "is not a condition")


def test_a_require_after_a_write_is_refused():
    def body(now, new):
        new.epoch = now.epoch + 1
        require(now.fine, "it is fine")

    says(refusal(body), "require before the first write")


def test_the_same_reason_twice_is_refused():
    def body(now, new):
        require(now.fine, "it is fine")
        require(now.epoch > 0, "it is fine")

    says(refusal(body), "this reason stands twice")


def test_a_require_without_a_reason_is_refused():
    def body(now, new):
        require(now.fine, " ")

    says(refusal(body), "a positive sentence")


def test_require_is_for_transitions_only():
    with pytest.raises(ProtocolError, match="for transitions only"):
        require(True, "it is so")


def test_writing_a_place_twice_is_refused():
    def body(now, new):
        new.epoch = now.epoch + 1
        new.epoch = 0

    says(refusal(body), "epoch is written twice")


def test_writing_a_record_and_then_its_part_is_refused():
    def body(now, new):
        new.log[1] = now.log[1].append(epoch=0)
        new.log[1] = now.log[1].append(epoch=1)

    says(refusal(body), "is written twice")


def test_an_unknown_field_is_refused_with_the_nearest():
    def reads(now, new):
        require(now.epok > 0, "there is an epoch")

    def writes(now, new):
        new.epok = 1

    says(refusal(reads), "unknown field 'epok'", "did you mean 'epoch'?")
    says(refusal(writes), "unknown field 'epok'", "did you mean 'epoch'?")


def test_an_unknown_part_of_a_record_is_refused():
    def body(now, new):
        require(now.log[1][0].epok == 0, "it is so")

    says(refusal(body), "unknown field 'epok'", "did you mean 'epoch'?")


def test_an_unknown_switch_is_refused():
    def body(now, new):
        if version.fenced:
            new.epoch = 1

    assert "unknown switch 'fenced'" in refusal(body)


def test_a_broker_is_not_compared_with_a_number():
    def body(now, new):
        require(now.owner == now.epoch, "they are the same")

    says(refusal(body), "a broker is compared with an epoch", "compare values of one kind")


def test_brokers_have_no_order():
    def body(now, new):
        require(now.owner < 2, "it is the first")

    says(refusal(body), "values of broker have no order", "== or !=")


def test_brokers_are_not_counted_up():
    def body(now, new):
        new.owner = now.owner + 1

    says(refusal(body), "values of broker have no order")


def test_a_broker_is_not_kept_where_a_number_is():
    def body(now, new):
        new.epoch = now.owner

    says(refusal(body), "a broker is written where an epoch is kept")


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


def test_a_place_per_broker_is_not_indexed_by_a_number():
    def body(now, new):
        require(is_none(now.seen[now.epoch]), "nothing is seen")

    says(refusal(body), "indexed by an epoch", "per broker")


def test_an_unknown_name_of_a_role_is_refused():
    def body(now, new):
        require(now.role[1] == "boss", "it leads")

    assert "write one of none, leader, follower" in refusal(body)


def test_only_literals_are_added():
    def body(now, new):
        new.epoch = now.epoch + now.epoch

    assert "write n + 1" in refusal(body)


def test_how_many_over_an_unbounded_sort_is_refused():
    def body(now, new):
        require(how_many(ANY_EPOCH, lambda e: e < now.epoch) > 1, "two are older")

    says(refusal(body), "how_many needs an enumerated sort", "every(...) and some(...)")


def test_least_over_an_unbounded_sort_is_refused():
    def over_a_sort(now, new):
        new.epoch = least(ANY_EPOCH, lambda e: e > now.epoch, otherwise=0)

    def over_a_range(now, new):
        new.epoch = least(below(ANY_EPOCH, 3), lambda e: e > now.epoch, otherwise=0)

    says(refusal(over_a_sort), "least needs an enumerated sort")
    says(refusal(over_a_range), "least needs an enumerated sort")


def test_a_require_never_reads_history():
    def body(now, new):
        require(now.history > 0, "it happened before")

    assert "reads the ghost field history" in refusal(body)


def test_a_step_returns_nothing():
    def body(now, new):
        return now.fine

    assert "a step only requires and writes" in refusal(body)


def test_the_parameters_of_a_step_are_those_declared():
    with pytest.raises(ProtocolError, match=r"write step\(now, new, leader\)"):

        @transition(leader=BROKERS)
        def step(now, new, broker):
            """It does nothing."""


def test_a_step_says_in_a_docstring_what_happens():
    with pytest.raises(ProtocolError, match="say in a docstring what happens"):

        @transition(leader=BROKERS)
        def step(now, new, leader):
            pass


def test_none_is_not_written_where_it_is_not_allowed():
    def body(now, new):
        new.epoch = None

    says(refusal(body), "an epoch is never none", "declare it .or_none")


def test_none_is_not_asked_of_a_number_that_never_is():
    def body(now, new):
        require(is_none(now.epoch), "there is no epoch yet")

    says(refusal(body), "an epoch is never none")


def test_none_is_asked_of_single_values_only():
    def body(now, new):
        require(is_none(now.isr), "there is no ISR")

    says(refusal(body), "is not one value")


def test_a_plain_number_is_no_bool():
    def body(now, new):
        new.fine = 1

    says(refusal(body), "1 is not a bool")


def test_a_bool_is_no_number():
    def body(now, new):
        new.epoch = True

    says(refusal(body), "True is not an epoch")


def test_the_end_of_a_log_is_not_written_by_itself():
    def body(now, new):
        new.log[1].end = 0

    says(refusal(body), "write the log by .append(...) or .cut(...)")


def test_a_whole_map_is_written_by_a_rule():
    def body(now, new):
        new.seen = 0

    says(refusal(body), "write lam(broker, rule) for a whole map")


def test_a_map_is_indexed_before_it_is_written():
    def body(now, new):
        new.log.epoch = 0

    says(refusal(body), "index it first")


def test_an_element_of_a_relation_has_all_its_parts():
    def body(now, new):
        require(now.sent.has(1), "it was sent")

    says(refusal(body), "an element has 2 parts, not 1")


def test_a_choice_is_between_values_of_one_shape():
    def body(now, new):
        new.epoch = when(now.fine, "a", "b")

    says(refusal(body), "two values of one shape")


def test_a_choice_between_places_without_one_none_is_refused():
    def body(now, new):
        new.owner = when(now.fine, None, now.epoch)

    says(refusal(body), "an epoch is written where a broker is kept")


def test_a_rule_gives_a_condition():
    def body(now, new):
        require(every(BROKERS, lambda b: now.seen[b]), "all have seen it")

    says(refusal(body), "is not a condition")


def test_a_set_is_written_where_a_set_is_kept():
    def body(now, new):
        new.isr = 3

    says(refusal(body), "3 is not a set")


def test_two_steps_of_one_name_are_refused():
    def step(now, new):
        """It does nothing."""

    with pytest.raises(ProtocolError, match="step is declared twice"):
        system(step, step)


def test_an_always_names_its_claim():
    with pytest.raises(ProtocolError, match="needs the claim as a sentence"):
        always(" ", companion="other")


def test_an_eventually_names_what_is_fair():
    with pytest.raises(ProtocolError, match="the steps that may not be ignored"):
        eventually("it ends", fair=())


def test_a_claim_is_a_condition():
    with pytest.raises(ProtocolError, match="is not a condition"):
        record_condition(lambda now: now.epoch, STATE, {})


def test_a_claim_that_is_a_plain_bool_is_refused():
    with pytest.raises(ProtocolError, match="plain Python value"):
        record_condition(lambda now: 1 < 2, STATE, {})  # type: ignore[arg-type, return-value]


def test_a_version_is_known_while_recording_only():
    with pytest.raises(ProtocolError, match="only while a system is recorded"):
        version.fenced  # noqa: B018


def test_a_switch_is_not_given_a_value_of_another_kind():
    small = System(
        name="small", about="", state=STATE, initial=nothing, transitions=(), claims=(),
        versions={"only": Version("only", {"fenced": True}, "")}, default_version="only",
        bounds={"brokers": Bound(2, 1, "brokers")},
    )  # fmt: skip

    with pytest.raises(ProtocolError, match=r"unknown value of fenced .yes.: one of: false, true"):
        small.recorded(None, {"fenced": "yes"})
    with pytest.raises(ProtocolError, match="did you mean 'fenced'"):
        small.recorded(None, {"fence": True})
    with pytest.raises(ProtocolError, match="one of: only"):
        small.version("2.3")
    with pytest.raises(ProtocolError, match="smallest that makes sense is brokers=1"):
        small.limits({"brokers": 0})
    with pytest.raises(ProtocolError, match="did you mean 'brokers'"):
        small.limits({"broker": 1})


def test_right_lines_are_taken():
    def body(now, new, members):
        """It writes what it may."""
        require(all_of(not_(now.fine), some(EPOCHS, lambda e: now.sent.has(1, e))), "it is so")
        require(members.is_subset_of(now.isr), "the members are in the ISR")
        require(limit("epoch") > now.epoch, "an epoch is left")

        new.seen = lam(BROKERS, lambda b: when(members.has(b), now.epoch, None))
        new.owner = when(now.fine, None, now.owner)

    recorded = system(body, members=SetOf(BROKERS))

    (step,) = recorded.steps
    assert [requirement.reason for requirement in step.requires] == [
        "it is so",
        "the members are in the ISR",
        "an epoch is left",
    ]
    assert [write.field for write in step.writes] == ["seen", "owner"]
