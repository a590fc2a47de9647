"""What the notation refuses, and the line that it says to write instead."""

from __future__ import annotations

import pytest

from model.language import (
    Bound,
    ProtocolError,
    SetOf,
    System,
    Version,
    all_of,
    always,
    always_eventually,
    lam,
    limit,
    not_,
    some,
    transition,
    version,
    when,
)
from model.language.recording import record_condition
from tests.language.refusing import refusal, refused, require
from tests.language.small import BROKERS, EPOCHS, STATE, nothing, system


@refused("is not a condition")
def test_a_number_is_no_requirement(now, new):
    require(now.epoch, "there is an epoch")


@refused("require before the first write")
def test_a_require_after_a_write_is_refused(now, new):
    new.epoch = now.epoch + 1
    require(now.fine, "it is fine")


@refused("this reason stands twice")
def test_the_same_reason_twice_is_refused(now, new):
    require(now.fine, "it is fine")
    require(now.epoch > 0, "it is fine")


@refused("a positive sentence")
def test_a_require_without_a_reason_is_refused(now, new):
    require(now.fine, " ")


def test_require_is_for_transitions_only():
    with pytest.raises(ProtocolError, match="for transitions only"):
        require(True, "it is so")


@refused("epoch is written twice")
def test_writing_a_place_twice_is_refused(now, new):
    new.epoch = now.epoch + 1
    new.epoch = 0


@refused("is written twice")
def test_writing_a_record_and_then_its_part_is_refused(now, new):
    new.log[1] = now.log[1].append(epoch=0)
    new.log[1] = now.log[1].append(epoch=1)


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
        always_eventually("it ends", fair=())


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
