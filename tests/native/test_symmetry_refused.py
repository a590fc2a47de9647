"""A system that tells brokers apart is refused symmetry, with the place that does it."""

from __future__ import annotations

import pytest

from model.language import (
    BOOL,
    Enumeration,
    ProtocolError,
    Record,
    always,
    how_many,
    least,
    per,
    require,
    some,
    sometimes,
)
from specs.explorer import explore
from specs.verdict import Verdict
from tests.language.small import BROKERS, EPOCHS, system
from tests.native.test_symmetry import BOUNDS

# -- what tells brokers apart -----------------------------------------------------------------


def takes_over(now, new, broker):
    """A broker takes what nobody has."""
    new.owner = broker


def refused(recorded, **bounds) -> str:
    with pytest.raises(ProtocolError) as error:
        explore(recorded, {**BOUNDS, **bounds}, symmetry=True)
    message = str(error.value)
    assert message.startswith("small only is not symmetric over brokers: ")
    assert message.endswith("; leave --symmetry out")
    return message.split(": ", 1)[1].removesuffix("; leave --symmetry out")


def test_a_system_that_names_no_broker_is_symmetric():
    found = explore(system(takes_over, broker=BROKERS), BOUNDS, symmetry=True)

    assert found.distinct == 2


def test_a_requirement_that_names_a_broker_is_refused_with_its_reason():
    def favours(now, new, broker):
        """Only the first may take it."""
        require(now.owner == 1, "the first broker owns it")
        new.owner = broker

    why = refused(system(favours, broker=BROKERS))

    assert why == "favours requires that the first broker owns it: it names the broker 1"


def test_a_write_of_a_named_broker_is_refused_with_its_field():
    def favours(now, new, broker):
        """The second one takes it."""
        new.owner = 2

    assert refused(system(favours, broker=BROKERS)) == "favours writes owner: it names the broker 2"


def test_a_write_at_a_named_broker_is_refused_with_its_field():
    def favours(now, new, broker):
        """The second one leads."""
        new.role[2] = "leader"

    assert refused(system(favours, broker=BROKERS)) == "favours writes role: it names the broker 2"


def test_a_read_of_a_named_broker_is_refused():
    def favours(now, new, broker):
        """Only while the first one leads."""
        require(now.role[1] == "leader", "the first broker leads")
        new.owner = broker

    why = refused(system(favours, broker=BROKERS))

    assert why == "favours requires that the first broker leads: it names the broker 1"


@pytest.mark.parametrize("member", ["is in it", "is added"])
def test_a_named_member_of_a_set_is_refused(member):
    def favours(now, new, broker):
        """Sets name brokers as well."""
        if member == "is in it":
            require(now.isr.has(1), "the first one is in it")
            new.owner = broker
        else:
            new.isr = now.isr.including(1)

    assert "it names the broker 1" in refused(system(favours, broker=BROKERS))


def test_a_claim_that_names_a_broker_is_refused_and_another_is_not():
    @sometimes("the second broker owns it")
    def second_owns(now):
        return now.owner == 2

    @sometimes("somebody owns it")
    def somebody_owns(now):
        return some(BROKERS, lambda broker: now.owner == broker)

    recorded = system(takes_over, broker=BROKERS, claims=(second_owns, somebody_owns))

    assert refused(recorded) == "the claim second_owns: it names the broker 2"
    alone = explore(recorded, BOUNDS, ["somebody_owns"], symmetry=True)
    assert alone.claims["somebody_owns"].verdict is Verdict.HOLDS


def test_taking_the_least_broker_is_refused():
    def elects(now, new, broker):
        """Whoever is not the least in the ISR takes it."""
        require(least(BROKERS, now.isr.has, otherwise=0) == 2, "the least in the ISR is the second")
        new.owner = broker

    why = refused(system(elects, broker=BROKERS))

    assert why.endswith("the least in the ISR is the second: it takes the least broker")


def test_counting_brokers_is_no_order_among_them():
    @always("not all are in the ISR", companion="some_are")
    def not_all_are(now):
        return how_many(BROKERS, now.isr.has) < 3

    @sometimes("some are in the ISR")
    def some_are(now):
        return how_many(BROKERS, now.isr.has) > 0

    def joins(now, new, broker):
        """A broker joins the ISR."""
        new.isr = now.isr.including(broker)

    recorded = system(joins, broker=BROKERS, claims=(not_all_are, some_are))

    with_it, plain = (explore(recorded, BOUNDS, symmetry=chosen) for chosen in (True, False))

    assert (with_it.distinct, plain.distinct) == (4, 8)
    assert with_it.claims == plain.claims
    assert with_it.claims["not_all_are"].depth == 4


def test_an_initial_state_that_tells_brokers_apart_is_refused():
    def first_owns(new):
        """The first broker owns it."""
        new.owner = 1

    why = refused(system(takes_over, broker=BROKERS, initial=first_owns))

    assert why == "the initial state has owner: it names the broker 1"


def test_too_many_brokers_to_try_all_orders_are_refused():
    why = refused(system(takes_over, broker=BROKERS), brokers=5)

    assert why == "5 brokers have too many orders; 4 are the most"


def test_two_kinds_of_brokers_are_refused():
    other = Enumeration("observer", "brokers")
    both = Record(owner=BROKERS.or_none, watches=per(other, BOOL), epoch=EPOCHS)

    why = refused(system(takes_over, broker=BROKERS, state=both))

    assert why == "there are several kinds of brokers: broker, observer"


def test_a_system_without_brokers_has_nothing_to_rename():
    def grows(now, new):
        """The epoch grows."""
        new.epoch = now.epoch + 1

    why = refused(system(grows, state=Record(epoch=EPOCHS)))

    assert why == "no field mentions brokers"
