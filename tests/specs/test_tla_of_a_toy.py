"""A system that uses every word of the notation, exported to TLA+."""

from __future__ import annotations

from typing import Any

import pytest

from model.language import (
    ALL,
    BOOL,
    Bound,
    Bounded,
    Enumeration,
    LogOf,
    Names,
    Numbers,
    ProtocolError,
    Record,
    RecordedSystem,
    Relation,
    SetOf,
    System,
    Version,
    always,
    always_eventually,
    always_step,
    any_of,
    below,
    budget,
    every,
    how_many,
    implies,
    lam,
    least,
    not_,
    per,
    require,
    sometimes,
    transition,
    when,
)
from model.systems import SYSTEMS
from specs.tla import exported
from tests.specs.exported_tla import code, errors_in


def test_a_budget_without_a_bound_is_no_part_of_the_state():
    recorded = _toy_system().recorded()

    without = exported(recorded, {"brokers": 2, "epoch": 2, "log": 1}).module
    with_it = exported(recorded, {"brokers": 2, "epoch": 2, "log": 1, "crashes": 1}).module

    assert "spent" not in code(without)
    assert "Within(spent + 1, MaxCrashes)" in code(with_it)


# -- a system that uses every word of the notation -------------------------------------------------

BROKERS = Enumeration("broker", "brokers")
EPOCHS = Numbers("epoch", 0, Bounded("epoch"))
OFFSETS = Numbers("offset", 0, Bounded("log", -1))
ENDS = Numbers("end", 0, Bounded("log"))
STATES = Names("state", ("idle", "busy"))


@transition(chosen=SetOf(BROKERS), by=BROKERS)
def broker_chooses(now, new, chosen, by):
    """A broker chooses some others, and all of them become busy."""
    require(chosen.has(by), "it chooses itself")
    require(how_many(BROKERS, lambda one: chosen.has(one)) >= 2, "it chooses two at least")
    require(not_(now.members == chosen), "the choice is new")
    require(every(BROKERS, lambda one: implies(chosen.has(one), now.state[one] == "idle")),
            "all of them are idle")  # fmt: skip

    new.members = chosen
    new.state = lam(BROKERS, lambda one: when(chosen.has(one), "busy", now.state[one]))
    new.seen = now.seen.including(by, now.epoch).without(by, 0)
    new.epoch = now.epoch + 1
    new.spent = now.spent + 1


@transition(one=BROKERS)
def broker_logs(now, new, one):
    """A busy broker writes the epoch to its log, unless the log has it."""
    log = now.log[one]
    first = least(below(OFFSETS, log.end), lambda o: log[o].epoch == now.epoch, otherwise=log.end)
    require(now.state[one] == "busy", "the broker is busy")
    require(any_of(log.end == 0, log[log.end - 1].epoch != now.epoch), "the log has it not")

    new.log[one] = when(first == log.end, log.append(epoch=now.epoch), log.cut(first))
    new.state[one] = "idle"


@transition(one=BROKERS, other=BROKERS)
def broker_copies(now, new, one, other):
    """A broker takes another's log for its own."""
    require(one != other, "the other is another")
    require(now.log[one].end < now.log[other].end, "the other's log is longer")

    new.log[one] = now.log[other]


@transition(one=BROKERS, other=BROKERS)
def broker_copies_and_adds(now, new, one, other):
    """A broker takes another's log for its own, with the epoch at its end."""
    require(one != other, "the other is another")
    require(now.epoch > 0, "it is not the first epoch")

    new.log[one] = now.log[other].append(epoch=now.epoch)


@always("no log is longer than the epochs that were", companion="a_log_grows")
def logs_are_short(now):
    return every(BROKERS, lambda one: now.log[one].end <= now.epoch)


@sometimes("a log has a record")
def a_log_grows(now):
    return not_(every(BROKERS, lambda one: now.log[one].end == 0))


@always_step("no epoch comes back", companion="a_log_grows")
def leader_epoch_never_falls(now, after):
    return after.epoch >= now.epoch


@always_eventually("somebody is chosen", fair=("broker_chooses",))
def somebody_is_chosen(now):
    return not_(now.members.is_empty())


def _initial(new):
    new.members = ALL


def _toy_system(initial: Any = _initial) -> System:
    state = Record(
        members=SetOf(BROKERS), state=per(BROKERS, STATES), epoch=EPOCHS,
        seen=Relation(BROKERS, EPOCHS),
        log=per(BROKERS, LogOf(OFFSETS, ENDS, Record(epoch=EPOCHS))),
        spent=budget("crashes"))  # fmt: skip
    return System(
        name="toy", about="every word", state=state, initial=initial,
        transitions=(broker_chooses, broker_logs, broker_copies, broker_copies_and_adds),
        claims=(logs_are_short, a_log_grows, leader_epoch_never_falls, somebody_is_chosen),
        versions={"1": Version("1", {}, "the only one")}, default_version="1",
        bounds={"brokers": Bound(2, 1, "brokers"), "epoch": Bound(2, 1, "epochs"),
                "log": Bound(1, 1, "records"), "crashes": Bound(None, 0, "faults")})  # fmt: skip


def toy_module(**changed: Any) -> str:
    system = _toy_system(**changed)
    return exported(system.recorded(), system.limits({"crashes": 1})).module


@pytest.mark.filterwarnings("ignore:int argument support is deprecated:DeprecationWarning")
def test_every_word_of_the_notation_has_a_grammatical_form():
    assert errors_in(toy_module()) == []


def test_sets_logs_and_quantifiers_stay_what_they_are():
    module = code(toy_module())

    assert r"\E chosen \in SUBSET Brokers, by \in Brokers : broker_chooses(chosen, by)" in module
    assert r"/\ by \in chosen" in module
    assert "Cardinality(chosen) > 1" in module
    assert "chosen # members" in module
    assert r"\A one \in Brokers : one \in chosen => state[one]" in module
    assert "members' = chosen" in module
    assert r"(seen \cup {<<by, epoch>>}) \ {<<by, 0>>}" in module
    assert "Within(epoch + 1, MaxEpoch)" in module
    assert "IF Len(@) = first THEN Append(@, [epoch |-> epoch]) ELSE Cut(@, first)" in module
    assert "log' = [log EXCEPT ![one] = log[other]]" in module
    assert r"![one] = [position \in 1..(Len(log[other]) + 1) |->" in module
    assert "members = Brokers" in module.split("Init ==")[1].split("==")[0]
    assert "WF_vars(" in module
    assert "=> []<>(members # {})" in module


def test_a_claim_about_steps_is_a_property_and_one_about_the_end_waits_to_be_asked_for():
    system = _toy_system()

    made = exported(system.recorded(), system.limits({}))

    assert "leader_epoch_never_falls == [][epoch <= epoch']_vars" in made.module
    assert "PROPERTIES\n    leader_epoch_never_falls\n" in made.configuration
    assert "\n\\* PROPERTY somebody_is_chosen\n" in made.configuration


def test_what_cannot_be_said_in_tla_is_refused_by_name():
    reserved, only = Record(LET=BOOL), {"1": Version("1", {}, "the only one")}
    system = System(
        name="odd", about="odd", state=reserved, initial=lambda new: None, transitions=(),
        claims=(), versions=only, default_version="1", bounds={})  # fmt: skip

    with pytest.raises(ProtocolError, match="LET is no name in TLA"):
        exported(system.recorded(), {})


# -- symmetry --------------------------------------------------------------------------------------


@transition()
def first_broker_is_chosen(now, new):
    """The first broker is chosen, by its number."""
    require(not_(now.members.has(1)), "it is not chosen yet")

    new.members = now.members.including(1)


def _recorded_with(step: Any) -> RecordedSystem:
    system = System(
        name="small", about="small", state=Record(members=SetOf(BROKERS)),
        initial=lambda new: None, transitions=(step,), claims=(),
        versions={"1": Version("1", {}, "one")}, default_version="1",
        bounds={"brokers": Bound(2, 1, "brokers")})  # fmt: skip
    return system.recorded()


def test_symmetry_makes_brokers_model_values_and_changes_the_configuration_only():
    recorded, limits = SYSTEMS["classic"].recorded(), SYSTEMS["classic"].limits({})

    plain, symmetric = exported(recorded, limits), exported(recorded, limits, symmetry=True)

    assert "Brokers = {b1, b2, b3}" in symmetric.configuration
    assert "SYMMETRY Symmetry" in symmetric.configuration
    assert "SYMMETRY" not in plain.configuration
    assert code(plain.module) == code(symmetric.module)
    assert "Symmetry == Permutations(Brokers)" in plain.module


def test_symmetry_is_refused_where_a_broker_is_named():
    recorded = _recorded_with(first_broker_is_chosen)

    with pytest.raises(ProtocolError, match="names a broker"):
        exported(recorded, {"brokers": 2}, symmetry=True)
    assert "Permutations" not in exported(recorded, {"brokers": 2}).module
