"""The strategies in the notation choose as those over plain lists do, in every small case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import pytest

from conformance.plain_rules import elections
from conformance.plain_rules.elections import Brokers, ElectedLeader
from model.language import Record, SetOf, System, Version, per, require, transition
from model.language.evaluate import Evaluator
from model.language.sorts import Bounded, Numbers
from model.protocol import strategies
from model.protocol.state import BROKERS

ALL = (1, 2, 3)
SUBSETS = [tuple(b for b in ALL if keep >> b & 1) for keep in range(0, 16, 2)]
ORDERS = [order for size in range(4) for order in permutations(ALL, size)]
STATE = Record(
    replicas=SetOf(BROKERS), place=per(BROKERS, Numbers("place", 0, Bounded("brokers"))),
    isr=SetOf(BROKERS), live=SetOf(BROKERS), going=SetOf(BROKERS), chosen=SetOf(BROKERS),
)  # fmt: skip


def choice(name: str, now: Any) -> Any:
    order = strategies.placed(now.replicas, now.place)
    if name == "clean":
        return strategies.offline_partition(order, now.isr, now.live)
    if name == "unclean":
        return strategies.offline_partition(order, now.isr, now.live, unclean=True)
    if name == "reassign":
        return strategies.reassigned_partition(order, now.isr, now.live)
    if name == "preferred":
        return strategies.preferred_replica(order, now.isr, now.live)
    return strategies.controlled_shutdown(order, now.isr, now.live, now.going)


def plain(
    name: str, order: Brokers, isr: Brokers, live: Brokers, going: Brokers
) -> ElectedLeader | None:
    if name in ("clean", "unclean"):
        return elections.for_offline(order, isr, live, unclean=name == "unclean")
    if name == "reassign":
        return elections.for_reassignment(order, isr, live)
    if name == "preferred":
        return elections.for_preferred(order, isr, live)
    return elections.for_controlled_shutdown(order, isr, live, going)


@dataclass
class ElectionSystem:
    """A system of one step, an election, and its twin that answers on any state."""

    name: str

    def __post_init__(self) -> None:
        @transition(leader=BROKERS)
        def elects(now: Any, new: Any, leader: Any) -> None:
            """The strategy's choice leads."""
            made = choice(self.name, now)
            require(made.exists, "somebody may lead")
            require(made.leads(leader), "it is the strategy's choice")

            new.chosen = made.isr(leader)

        def initial(new: Any) -> None:
            """Nothing is there."""

        system = System(
            "elections", "one election", STATE, initial, (elects,), (),
            {"any": Version("any", {}, "any")}, "any", {},
        )  # fmt: skip
        self.recorded = system.recorded()
        self.twin = Evaluator(self.recorded, {"brokers": len(ALL)})

    def __call__(self, order: Brokers, isr: Brokers, live: Brokers, going: Brokers) -> Any:
        step = self.recorded.steps[0]
        state: Any = {
            "replicas": {(one,): 1 for one in order},
            "place": {(one,): at for at, one in enumerate(order) if at},
            "isr": {(one,): 1 for one in isr},
            "live": {(one,): 1 for one in live},
            "going": {(one,): 1 for one in going},
        }
        found = []
        for leader in ALL:
            if self.twin.possible(step, state, {"leader": leader}) is None:
                after = self.twin.successor(step, state, {"leader": leader})
                found.append((leader, sorted(index[0] for index in after.get("chosen", {}))))
        return found


def cases() -> Iterator[tuple[Brokers, Brokers, Brokers, Brokers]]:
    """Every order with every ISR, live set, and one or no broker that goes."""
    return product(ORDERS, SUBSETS, SUBSETS, [(), (1,)])


@pytest.mark.parametrize("name", ["clean", "unclean", "reassign", "preferred", "shutdown"])
def test_a_strategy_in_the_notation_chooses_as_the_one_over_lists(name: str):
    asked = ElectionSystem(name)

    for order, isr, live, going in cases():
        expected = plain(name, order, isr, live, going)

        found = asked(order, isr, live, going)

        assert found == ([] if expected is None else [(expected.leader, sorted(expected.isr))])
