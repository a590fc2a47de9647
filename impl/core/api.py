"""Requests of brokers and administrators to the controller; older releases use ZooKeeper.

AlterIsr (KIP-497, 2.7), AlterPartitionReassignments and ListPartitionReassignments (KIP-455, 2.4),
ElectLeaders (KIP-183, 2.2: preferred ones; KIP-460, 2.4: unclean ones too). Each is one event of
the controller, and answered with Kafka's error codes. Source: KafkaController.processAlterIsr,
processApiPartitionReassignment, processReplicaLeaderElection; fact sheet g.5, j.2, k.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from impl.core.event_controller import EventController
from impl.core.partition_machine import PREFERRED, Strategy, StrategyKind
from impl.core.states import PartitionState
from impl.error_codes import (
    ELECTION_NOT_NEEDED,
    NONE,
    NOT_CONTROLLER,
    UNKNOWN_SERVER_ERROR,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from impl.znodes import LeaderIsrAndControllerEpoch, ReplicaAssignment, TopicPartition

PREFERRED_TYPE, UNCLEAN_TYPE = "PREFERRED", "UNCLEAN"
UNCLEAN = Strategy(StrategyKind.OFFLINE, unclean=True)

_State = LeaderIsrAndControllerEpoch


@dataclass(frozen=True, slots=True)
class AlteredIsr:
    """The response about one partition; ``state`` is the registered state, None after an error."""

    error: str
    state: LeaderIsrAndControllerEpoch | None = None


AlteredIsrs = dict[TopicPartition, AlteredIsr]
IsrAnswer = Callable[[str, AlteredIsrs], None]
"""Takes the error of the whole request, and an answer for each partition."""


class ControllerApi:
    """Handlers of requests to one broker's controller; each is one of its events."""

    def __init__(self, controller: EventController) -> None:
        self.controller = controller

    # AlterIsr

    async def alter_isr(
        self, broker: int, broker_epoch: int, wanted: Mapping[TopicPartition, _State],
        answer: IsrAnswer,
    ) -> None:  # fmt: skip
        """Handle a leader's request for other ISRs; ``wanted`` are its states, with its zkVersions.

        ``answer`` is called once, before reassignments that an ISR has completed go on.
        """
        controller, context = self.controller, self.controller.core.context
        if not controller.active:
            answer(NOT_CONTROLLER, {})
            return
        known = context.broker_epochs.get(broker)
        if known != broker_epoch:
            await controller.journal.alter_isr_ignored(broker, broker_epoch, known)
            answer("STALE_BROKER_EPOCH", {})
            return
        answered: list[AlteredIsrs] = []

        async def alter_isr() -> None:
            answered.append(await self._altered(wanted))

        await controller.guarded(alter_isr)
        if not answered:
            answer(UNKNOWN_SERVER_ERROR, {})
            return
        [found] = answered
        answer(NONE, found)
        done = [one for one, came in found.items() if came.error == NONE]

        async def isrs_altered() -> None:
            await controller.isrs_altered(done)

        await controller.guarded(isrs_altered)

    async def _altered(self, wanted: Mapping[TopicPartition, _State]) -> AlteredIsrs:
        core, found = self.controller.core, AlteredIsrs()
        writes: dict[TopicPartition, _State] = {}
        for partition, state in sorted(wanted.items()):
            known = core.context.leadership.get(partition)
            if known is None:
                found[partition] = AlteredIsr(UNKNOWN_TOPIC_OR_PARTITION)
            elif state.leader_epoch < known.leader_epoch:
                found[partition] = AlteredIsr("FENCED_LEADER_EPOCH")
            elif _says_the_same(state, known):
                found[partition] = AlteredIsr(NONE, known)  # the first answer was lost
            else:
                writes[partition] = _State(
                    state.leader, state.leader_epoch, state.isr, core.context.epoch,
                    state.zk_version,
                )  # fmt: skip
        updated = await core.client.update_states(writes, core.context.epoch_version)
        for partition, state in updated.done.items():
            core.context.leadership[partition] = state
            found[partition] = AlteredIsr(NONE, state)
        for partition in updated.retry:
            isr = ",".join(map(str, writes[partition].isr))
            await self.controller.journal.log_line(
                f"Failed to update ISR to {isr} for partition {partition}, bad ZK version."
            )
            found[partition] = AlteredIsr("INVALID_UPDATE_VERSION")
        for partition, error in updated.failed.items():
            await self.controller.journal.log_line(
                f"Failed to update ISR for partition {partition}: {error}", "ERROR"
            )
            found[partition] = AlteredIsr(UNKNOWN_SERVER_ERROR)
        await core.update_metadata_for(sorted(wanted))
        return found

    # Reassignments

    async def alter_reassignments(
        self, targets: Mapping[TopicPartition, Sequence[int] | None]
    ) -> tuple[str, dict[TopicPartition, str]]:
        """Start, change, or (None) cancel reassignments: the error of the request, and of each
        partition."""
        controller, errors = self.controller, dict[TopicPartition, str]()

        async def alter_reassignments() -> None:
            steps = controller.reassigner
            for partition, target in sorted(targets.items()):
                errors[partition] = steps.validate(partition, target)
            goals = {one: steps.goal(one, targets[one]) for one in errors if errors[one] == NONE}
            await steps.drop([*goals])
            for partition, goal in goals.items():
                work = partial(steps.reassign_recorded, partition, goal)
                if not await steps.attempt(partition, work):
                    errors[partition] = UNKNOWN_SERVER_ERROR

        await controller.guarded(alter_reassignments)
        whole = NONE if len(errors) == len(targets) and controller.active else NOT_CONTROLLER
        return whole, errors

    def list_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None
    ) -> tuple[str, dict[TopicPartition, ReplicaAssignment]]:
        """The reassignments in progress, of some partitions or of all."""
        if not self.controller.active:
            return NOT_CONTROLLER, {}
        moving = self.controller.core.context.being_reassigned()
        wanted = None if partitions is None else set(partitions)
        return NONE, {
            one: assignment
            for one, assignment in sorted(moving.items())
            if wanted is None or one in wanted
        }

    # Elections

    async def elect_leaders(
        self, kind: str, partitions: Iterable[TopicPartition] | None
    ) -> tuple[str, dict[TopicPartition, str]]:
        """Elect preferred or (2.4) unclean leaders: the error of the request, and of each
        partition.

        Without partitions it is all of them, and since 2.4 one that needs no election is left out
        of the answer. Up to 2.3 what needs none is answered as done.
        """
        controller, context = self.controller, self.controller.core.context
        release = controller.core.release
        if not controller.active:
            return NOT_CONTROLLER, {}
        asked = context.partitions() if partitions is None else sorted(set(partitions))
        errors: dict[TopicPartition, str] = {}
        for one in asked:
            if not context.replicas(one):
                errors[one] = UNKNOWN_TOPIC_OR_PARTITION
            elif one.topic in context.queued_for_deletion:
                errors[one] = "INVALID_TOPIC_EXCEPTION"
            elif not self._needs(kind, one):
                errors[one] = ELECTION_NOT_NEEDED if release.since("2.4") else NONE
        electable = [one for one in asked if one not in errors]

        async def elect_leaders() -> None:
            strategy = PREFERRED if kind == PREFERRED_TYPE else UNCLEAN
            await controller.journal.leaders_wanted(kind, electable, "AdminClientTriggered")
            failed = await controller.core.partitions.handle(
                electable, PartitionState.ONLINE, strategy
            )
            code = "PREFERRED_LEADER" if kind == PREFERRED_TYPE else "ELIGIBLE_LEADERS"
            for one in electable:
                errors[one] = f"{code}_NOT_AVAILABLE" if one in failed else NONE

        if electable:
            await controller.guarded(elect_leaders)
        if not controller.active:
            return NOT_CONTROLLER, {}
        if partitions is None:
            errors = {one: code for one, code in errors.items() if code != ELECTION_NOT_NEEDED}
        return NONE, dict(sorted(errors.items()))

    def _needs(self, kind: str, partition: TopicPartition) -> bool:
        context = self.controller.core.context
        known = context.leadership.get(partition)
        leader = -1 if known is None else known.leader
        if kind == PREFERRED_TYPE:
            return leader != context.replicas(partition)[0]
        return leader not in context.live


def _says_the_same(one: _State, other: _State) -> bool:
    """``equalsIgnoreZk``: versions and controller epochs aside."""
    mine = one.leader, one.leader_epoch, one.isr
    return mine == (other.leader, other.leader_epoch, other.isr)
