"""Checks that every broker knows the registered state once a simulated whole cluster is at rest.

A controller without events to handle knows what a new controller would read: brokers, assignments,
states and requests. A broker without requests to handle knows what its controller knows. States
that Kafka itself never resolves (``rest``) are excepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from impl.core.event_controller import EventController
from impl.core.fetcher_thread import Phase
from impl.core.partition import UNKNOWN_END
from impl.core.replica_manager import Replica
from impl.core.states import PartitionState, ReplicaState
from impl.world.whole_cluster.at_rest import is_never_finished
from impl.world.whole_cluster.controller_requests import followed_by
from impl.world.whole_cluster.node import ClusterNode
from impl.world.whole_cluster.observations import batches_of, log_of
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.znodes import LeaderIsrAndControllerEpoch, ReplicaAssignment, TopicPartition, paths
from impl.zookeeper.port import wait

Difference = tuple[str, Any, Any]
"""What it is about, what is known of it, and what is registered."""


def known_state_mismatch(world: WholeCluster) -> str:
    """The first difference between known and registered state; empty if there is none.

    The world has to be at rest.
    """
    active = [node for node in world.nodes.values() if node.controller.active]
    if len(active) != 1:
        return f"{len(active)} brokers believe that they are the controller"
    registered = _Registered(world, active[0])
    for about, known, there in (
        *_of_controller(active[0].controller, registered),
        *_of_watches(world, active[0], registered),
        *(one for node in world.nodes.values() for one in _of_broker(node, active[0], registered)),
    ):
        if known != there:
            return f"{about}: {known} is known, and {there} is registered"
    return ""


class _Registered:
    """The registered state, except partitions for which ``is_never_finished`` holds.

    ``overlooked``: brokers that bounced unnoticed by the controller (up to 2.1): it sends them
    nothing, and still assumes their state before the bounce (KIP-380).
    """

    def __init__(self, world: WholeCluster, controller: ClusterNode) -> None:
        admin = world.admin
        self.release = world.release
        self.numbers = [*range(world.partitions)]
        registered = wait(admin.brokers())
        self.brokers = {broker: epoch for broker, (_, epoch) in registered.items()}
        self.endpoints = {broker: info.endpoints for broker, (info, _) in registered.items()}
        known = controller.controller.core.context.broker_epochs
        self.overlooked = {
            one
            for one, epoch in self.brokers.items()
            if known.get(one) != epoch and not self.release.since("2.2")
        }
        self.queued = set(wait(admin.deletions()))
        self.asked = set(wait(admin.reassignments()))
        self.assigned: dict[str, dict[int, ReplicaAssignment]] = {}
        self.states: dict[TopicPartition, LeaderIsrAndControllerEpoch] = {}
        for topic in wait(admin.topics()):
            there = wait(admin.topic(topic))
            assert there is not None, "a topic that is listed is there"
            self.assigned[topic] = dict(there.partitions)
            for number in there.partitions:
                one = TopicPartition(topic, number)
                state = wait(admin.state(one))
                if state is not None and not is_never_finished(world, one):
                    self.states[one] = state
        counted = wait(admin.controller_epoch())
        assert counted is not None, "there was a controller"
        self.controller_epoch, self.epoch_version = counted.epoch, counted.epoch_version

    def reported(
        self, known: LeaderIsrAndControllerEpoch | None, state: LeaderIsrAndControllerEpoch
    ) -> object:
        """A controller's cached state, for the comparison with the registered ``state``.

        Up to 2.3 its leader epoch may be the one before a reassignment raised it (KAFKA-9212).
        """
        if known is None or self.release.since("2.4") or known.leader_epoch > state.leader_epoch:
            return _state(known)
        return _state(replace(known, leader_epoch=state.leader_epoch))

    def replicas(self, one: TopicPartition) -> tuple[int, ...]:
        """The brokers to which a partition is assigned."""
        return self.assigned[one.topic][one.partition].replicas


def _of_controller(controller: EventController, there: _Registered) -> Iterator[Difference]:
    context = controller.core.context
    yield "the controller's epoch", context.epoch, there.controller_epoch
    yield "the brokers", sorted(context.broker_epochs), sorted(there.brokers)
    if there.release.since("2.2"):  # before KIP-380 a broker that bounced is not noticed
        yield "the brokers' epochs", context.broker_epochs, there.brokers
        yield "the replicas on failed log directories", context.offline_directories, {}
    yield "the brokers that are about to go", context.shutting_down - there.overlooked, set()
    if controller.core.deletion.enabled or there.release.since("0.10.2"):
        yield "the topics to be deleted", context.queued_for_deletion, there.queued
    yield "the topics that must wait", context.ineligible_for_deletion - there.queued, set()
    yield "the topics", sorted(context.assignments), sorted(there.assigned)
    for topic in sorted({*there.assigned} - there.queued):
        yield f"what was created of {topic}", there.numbers, sorted(there.assigned[topic])
    yield from _of_whole_memory(controller, there)
    moving = controller.reassigner.in_progress()
    for one, state in sorted(there.states.items()):
        if one in moving or one.topic in there.queued:
            continue
        yield f"the replicas of {one}", context.replicas(one), there.replicas(one)
        known = context.leadership.get(one)
        yield f"the state of {one}", there.reported(known, state), _state(state)
        yield f"{one}", context.partition_state(one).value, PartitionState.ONLINE.value
        for replica in context.replicas_of(one.topic):
            if replica.partition == one and replica.broker not in there.overlooked:
                yield (
                    f"the replica of {one} on broker {replica.broker}",
                    context.replica_state(replica).value, ReplicaState.ONLINE.value,
                )  # fmt: skip
    if there.release.since("2.2"):  # before, topics that went while they were offline still count
        offline = context.partitions_in(PartitionState.OFFLINE)
        counted = [one for one in offline if one.topic not in context.deletion_started]
        yield "how many partitions are offline", context.offline_partitions, len(counted)


def _of_watches(world: WholeCluster, node: ClusterNode, there: _Registered) -> Iterator[Difference]:
    """Of what may change a controller is notified."""
    watches, session = world.zookeeper.watches, node.session.session
    data = {path for path, sessions in watches.data.items() if session in sessions}
    children = {path for path, sessions in watches.children.items() if session in sessions}
    wanted = {paths.CONTROLLER, paths.PREFERRED_ELECTION}
    if not there.asked:  # a change of what is left of it uses up the watch, until all is done
        wanted.add(paths.REASSIGN_PARTITIONS)
    wanted |= {paths.topic(one) for one in there.assigned}
    parents = {paths.BROKER_IDS, paths.TOPICS, paths.ISR_CHANGES}
    if there.release.since("1.0"):
        parents.add(paths.LOG_DIR_EVENTS)
    if there.release.since("1.1"):
        wanted |= {paths.broker(one) for one in there.brokers}
    if node.controller.core.deletion.enabled:
        parents.add(paths.DELETE_TOPICS)
    yield "the znodes that the controller does not watch", sorted(wanted - data), []
    yield "the znodes whose children it does not watch", sorted(parents - children), []


def _of_whole_memory(controller: EventController, there: _Registered) -> Iterator[Difference]:
    """Nothing is known of what is not there, and nothing is left over from what it did."""
    context, core = controller.core.context, controller.core
    if there.release.since("2.1"):  # the first controller had a constant for it
        known_version = context.epoch_version
        yield "the version of the controller's epoch", known_version, there.epoch_version
    batch = (
        core.batch.leader_and_isrs,
        core.batch.stops,
        core.batch.metadata_to,
        core.batch.metadata,
    )
    yield "requests that were not sent", batch, ({}, {}, set(), {})
    yield "the topics whose deletion has begun", context.deletion_started - there.queued, set()
    infos = {
        one: its.endpoints for one, its in context.broker_infos.items() if one in there.brokers
    }
    if not there.overlooked:
        yield "what brokers say of themselves", infos, there.endpoints
    assigned = {
        TopicPartition(topic, number): assignment
        for topic, numbers in there.assigned.items()
        for number, assignment in numbers.items()
        if topic not in there.queued
    }
    moving = controller.reassigner.in_progress()
    for one, assignment in sorted(assigned.items()):
        if one not in moving and one in there.states:
            yield f"the assignment of {one}", context.assignment(one), assignment
    for known, about in (
        (context.leadership, "have a leader"), (context.partition_states, "have a state"),
    ):  # fmt: skip
        stale = [one for one in sorted(known) if one.topic not in there.queued | {*there.assigned}]
        yield f"the partitions that {about} and are not there", stale, []
    still = {*assigned} - moving
    replicas = {
        (one, broker) for one in still & {*there.states} for broker in there.replicas(one)
    }  # fmt: skip
    states = {
        (one.partition, one.broker)
        for one in context.replica_states
        if one.partition in still & {*there.states}
    }
    yield "the replicas that have a state", sorted(states), sorted(replicas)


def _of_broker(
    node: ClusterNode, controller: ClusterNode, there: _Registered
) -> Iterator[Difference]:
    broker, replicas = node.broker, node.replicas
    if broker in there.overlooked:
        return
    cache = replicas.metadata
    yield f"broker {broker}'s controller", cache.controller, controller.broker
    yield f"broker {broker}'s controller epoch", replicas.controller_epoch, there.controller_epoch
    yield f"the brokers that broker {broker} knows", cache.alive, set(there.brokers)
    unanswered = [
        one
        for one, waiting in sorted(node.waiting.items())
        if one in there.states and broker in there.replicas(one)  # else it may be left over
        and any(each.awaited.outcome(replicas, expired=False) is None for each in waiting)
    ]  # fmt: skip
    yield f"the partitions whose producers broker {broker} never answers", unanswered, []
    for one, state in sorted(there.states.items()):
        if one.topic in there.queued:
            continue
        reported = cache.partitions.get(one)
        known = (
            None
            if reported is None
            else (
                there.reported(reported.state, state), reported.replicas, reported.offline_replicas
            )
        )  # fmt: skip
        yield (
            f"what broker {broker} tells clients of {one}",
            known, (_state(state), there.replicas(one), ()),
        )  # fmt: skip
        hosted = replicas.partitions.get(one)
        if broker not in there.replicas(one):
            continue
        mine = None if hosted is None else (hosted.leader, hosted.leader_epoch, hosted.leads)
        yield (
            f"whom broker {broker} follows in {one}",
            mine, (state.leader, state.leader_epoch, state.leader == broker),
        )  # fmt: skip
        if hosted is not None:
            yield from _of_fetcher(node, hosted)
            yield from _of_epochs(hosted)
        if hosted is not None and hosted.leads:
            yield from _of_leader(hosted, state, there, one)


def _of_fetcher(node: ClusterNode, hosted: Replica) -> Iterator[Difference]:
    """Who follows fetches from its leader, in its leader epoch, what comes after its log."""
    one, followed = hosted.partition, followed_by(node, hosted.partition)
    about = f"whose records of {one} broker {node.broker} fetches"
    yield about, [*followed], [] if hosted.leads else [hosted.leader]
    for leader, state in followed.items():
        failed = one in node.connections[leader].rounds.failed
        yield f"whether broker {node.broker} has given up to follow in {one}", failed, False
        if node.release.since("2.1"):  # before, one that follows the same leader goes on as it is
            epoch = state.leader_epoch
            yield f"in which epoch broker {node.broker} fetches {one}", epoch, hosted.leader_epoch
        if state.phase is Phase.FETCHING:
            yield f"where broker {node.broker} fetches {one}", state.offset, hosted.log_end


def _of_epochs(hosted: Replica) -> Iterator[Difference]:
    """Where the leader epochs of its records begin (KIP-279): as its batches say.

    They go back where a leader has lost its log with the power, and writes on in its epoch: as a
    follower it keeps that record, and appends older ones to it. Then the epochs that the older ones
    contradict are dropped (LeaderEpochFileCache.assign).
    """
    log, wanted = log_of(hosted), list[tuple[int, int]]()
    if not hosted.release.since("2.0"):
        return
    for batch in batches_of(log):
        if not wanted or wanted[-1][0] != batch.leader_epoch:
            wanted = [entry for entry in wanted if entry[0] < batch.leader_epoch]
            wanted.append((batch.leader_epoch, max(batch.base_offset, log.log_start)))
    known = [(epoch, start) for epoch, start in log.epochs.entries if start < log.log_end]
    about = f"where the leader epochs of {hosted.partition} begin on broker {hosted.broker}"
    yield about, known, wanted


def _of_leader(
    leader: Replica, state: LeaderIsrAndControllerEpoch, there: _Registered, one: TopicPartition
) -> Iterator[Difference]:
    yield (
        f"the replicas that the leader of {one} knows",
        set(leader.replicas),
        {*there.replicas(one)},
    )
    yield f"the version that the leader of {one} knows", leader.zk_version, state.zk_version
    for follower in there.replicas(one):
        end = leader.follower_state(follower).end
        if follower != leader.broker and end != UNKNOWN_END:  # it has not fetched in this epoch
            yield f"where the leader of {one} knows broker {follower} to be", end, leader.log_end


def _state(state: LeaderIsrAndControllerEpoch | None) -> object:
    return None if state is None else (state.leader, state.leader_epoch, {*state.isr})
