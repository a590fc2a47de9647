"""A Hypothesis machine that moves both sides: bundles of brokers and of requests in flight, another
swarm of rules each time, and targets that pull towards rare states."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, settings, target
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from conformance.lockstep import Lockstep
from impl.sim.simulation import Step
from impl.world.candidates import each_controller, each_leader_and_isr
from impl.world.faults import LEFT_OUT

LOOKS = 8
"""So many steps between two looks at everything that is possible on both sides."""

MAY_BE_MISSING = (*LEFT_OUT, "broker_crashes", "session_expires", "controller_node_is_deleted",
                  "controller_reply_to_registration_is_lost", "isr_answer_is_lost", "fetch_is_lost",
                  "leader_appends_acks_all", "consumer_reads")  # fmt: skip
"""Steps that a run may do without. What always strikes hides what comes late."""

LED: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("controller_reads_epoch", (1,)), ("controller_registers", (1,)),
    ("controller_learns_outcome", (1,)), ("controller_reads_partition", (1,)),
    ("controller_elects_leader", (1, 2)),
    *(("leader_and_isr_arrives", (broker, 1, 1)) for broker in (1, 2, 3)),
)  # fmt: skip
"""The way to a partition with a leader, which a walk of equal chances seldom finds."""

Request = tuple[int, int, int]
"""A LeaderAndIsr in flight: target, leader epoch, controller epoch."""


class InStep(RuleBasedStateMachine):
    """Either side moves first; the other must be able to follow, to the same full state."""

    brokers: Bundle[int] = Bundle("brokers")
    requests: Bundle[Request] = Bundle("requests")
    taken = 0
    """Steps of all runs, for whoever measures."""

    def __init__(self) -> None:
        super().__init__()
        self.pair = Lockstep()
        self.missing: frozenset[str] = frozenset()
        self.most_believing = 0

    @initialize(
        target=brokers,
        missing=st.frozensets(st.sampled_from(MAY_BE_MISSING)),
        led=st.booleans(),
    )
    def a_swarm(self, missing: frozenset[str], led: bool) -> MultipleResults[int]:
        """The brokers, which steps this run does without, and whether it begins with a leader."""
        self.missing = missing
        if led:
            for name, arguments in LED:
                self._take(Step(name, arguments))
        return multiple(*self.pair.world.brokers)

    def _of(self, broker: int) -> list[Step]:
        return [
            step for step in self.pair.choices()
            if step.args[:1] == (broker,) and step.name not in self.missing
        ]  # fmt: skip

    def _take(self, step: Step) -> MultipleResults[Request]:
        before = set(each_leader_and_isr(self.pair.world))
        self.pair.take(step)
        self._count()
        return multiple(*sorted(set(each_leader_and_isr(self.pair.world)) - before))

    def _count(self) -> None:
        InStep.taken += 1
        believing = sum(1 for _ in each_controller(self.pair.world))
        self.most_believing = max(self.most_believing, believing)

    @rule(target=requests, broker=brokers, data=st.data())
    def a_broker_acts(self, broker: int, data: st.DataObject) -> Any:
        """Anything that begins at one broker; what it sends is in flight from then on."""
        steps = self._of(broker)
        return self._take(data.draw(st.sampled_from(steps))) if steps else multiple()

    @rule(request=consumes(requests), lost=st.booleans())
    def a_request_ends(self, request: Request, lost: bool) -> None:
        """One that is in flight arrives or is lost; one that is not any more is passed over."""
        step = Step("leader_and_isr_is_lost" if lost else "leader_and_isr_arrives", request)
        if step in self.pair.choices():
            self._take(step)

    @rule(data=st.data())
    @precondition(lambda self: self.pair.model.enabled(self.pair.state))
    def the_model_moves(self, data: st.DataObject) -> None:
        """A transition that the model allows is driven in the implementation."""
        allowed = sorted(self.pair.model.enabled(self.pair.state))
        self.pair.drive(data.draw(st.sampled_from(allowed)))
        self._count()

    @invariant()
    def the_same_steps_are_possible(self) -> None:
        """Both sides offer the same, looked at now and then."""
        if self.pair.progress.steps % LOOKS == 0:
            self.pair.compare_enabledness()

    def teardown(self) -> None:
        """Pull towards runs in which much happens: zombies, many epochs, many transitions."""
        world = self.pair.world
        target(float(len(self.pair.progress.fired)), label="transitions fired")
        target(float(self.most_believing), label="brokers that believe they are the controller")
        target(float(world.registered_controller_epoch.epoch), label="controller epochs")
        target(float(len(list(each_leader_and_isr(world)))), label="requests in flight")


def run(examples: int, steps: int, derandomize: bool = False) -> int:
    """Run the machine; how many steps it took. Whatever it finds is raised as it was found."""
    InStep.taken = 0
    run_state_machine_as_test(
        InStep,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, database=None,
            derandomize=derandomize, suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.target),
        ),
    )  # fmt: skip
    return InStep.taken
