"""Compares controllers' requests to brokers, and the responses, with the memory of both sides.

The expected request is computed from its sender's brokers, assignments and states when it is sent;
the expected response from the broker's state before and after it. The core is not consulted, so
that a claim can compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from impl.core.answers import NONE
from impl.core.cluster_context import ClusterContext
from impl.core.cluster_context import Replica as ReplicaOfBroker
from impl.core.fetcher_thread import FetchState, Phase, truncates_on_fetch
from impl.core.partition import RemoteReplica
from impl.core.replica_manager import STORAGE_ERROR, Answered, Replica
from impl.core.requests import (
    LeaderAndIsr,
    LeaderAndIsrPartitionState,
    PartitionMetadata,
    Request,
    StopReplica,
    UpdateMetadata,
)
from impl.core.states import ReplicaState
from impl.releases import Release
from impl.world.simulated_broker import BrokerWithDisk
from impl.world.whole_cluster.observations import stored
from impl.znodes import TopicPartition
from impl.znodes.states import LEADER_DURING_DELETE

Difference = tuple[str, Any, Any]
"""What it is about, what is said, and what it should be."""

BY_DELETION = -2
"""The leader epoch of a StopReplica for a topic that is being deleted (2.6)."""


def first_wrong(differences: Iterator[Difference]) -> str:
    """The first difference, as one line; empty if there is none."""
    for about, said, wanted in differences:
        if said != wanted:
            return f"{about} {said}, and it is {wanted}"
    return ""


# What is sent


def sent_request_mismatch(node: BrokerWithDisk, to: int, request: Request) -> Iterator[Difference]:
    """How a sent request differs from the memory of the controller on ``node``."""
    context, release = node.controller.core.context, node.release
    yield "itself as broker", request.controller, node.broker
    yield "itself in controller epoch", request.controller_epoch, context.epoch
    registered = context.broker_epochs.get(to, -1) if release.since("2.2") else -1
    yield f"broker {to} the broker epoch", request.broker_epoch, registered
    if release.since("2.2"):
        yield f"broker {to} a request with the brokers", to in context.broker_epochs, True
    match request:
        case LeaderAndIsr():
            yield from _orders(context, release, to, request)
        case UpdateMetadata():
            yield from _metadata(context, release, request)
        case StopReplica():
            yield from _stops(context, release, to, request)


def _orders(
    context: ClusterContext, release: Release, to: int, request: LeaderAndIsr
) -> Iterator[Difference]:
    """Up to 2.3 a move sends the state that it has just written, before it is known (KAFKA-9212).
    Who leaves the ISR is not sent what that writes, and may be sent what was noted before.
    """
    named = {entry.state.leader for entry in request.partitions.values()}
    leaders = sorted(named & {*context.broker_epochs})
    yield "the live leaders", list(request.live_leaders), leaders
    for one, entry in request.partitions.items():
        known = context.leadership.get(one)
        ahead = 0 if known is None else entry.state.zk_version - known.zk_version
        is_ahead = ahead > 0 and not release.since("2.4")
        is_behind = ahead < 0 and known is not None and (to not in known.isr or known.isr == (to,))
        if not (is_ahead or is_behind):
            yield f"the state of {one}", entry.state, known
        yield f"the replicas of {one}", entry.replicas, _replicas(context, one)
        if entry.is_new:
            yield (
                f"{one} as new, that the replica is new",
                True,
                _may_be_new(context, release, to, one),
            )


def _may_be_new(context: ClusterContext, release: Release, to: int, one: TopicPartition) -> bool:
    """It is about to be made, or its partition is, or (2.7, KAFKA-10314) a move adds it."""
    known = context.leadership.get(one)
    adds = to in context.assignment(one).adding and release.since("2.7")
    never_led = known is not None and known.zk_version == 0
    return adds or never_led or context.replica_state(ReplicaOfBroker(one, to)) is ReplicaState.NEW


def _replicas(context: ClusterContext, one: TopicPartition) -> tuple[int, ...]:
    known = context.assignments.get(one.topic, {}).get(one.partition)
    return () if known is None else known.replicas


def _metadata(
    context: ClusterContext, release: Release, request: UpdateMetadata
) -> Iterator[Difference]:
    """Since 1.0 it names the replicas that are offline: on a broker that is not registered, or in a
    log directory that has failed (KIP-112)."""
    yield "the live brokers", list(request.live_brokers), sorted(context.broker_epochs)
    for one, said in request.partitions.items():
        known, replicas = context.leadership.get(one), _replicas(context, one)
        if one.topic in context.queued_for_deletion:
            yield f"the leader of {one}", said.state.leader, LEADER_DURING_DELETE
        else:
            yield f"the state of {one}", said.state, known
        yield f"the replicas of {one}", said.replicas, replicas
        offline = [
            broker
            for broker in replicas
            if broker not in context.broker_epochs
            or one in context.offline_directories.get(broker, ())
        ]
        wanted = offline if release.since("1.0") else []
        yield f"the offline replicas of {one}", list(said.offline_replicas), wanted


def _stops(
    context: ClusterContext, release: Release, to: int, request: StopReplica
) -> Iterator[Difference]:
    """Only what is to be deleted, or is assigned no more, is deleted. Up to 2.5 what is deleted is
    sent by itself, and from 1.1 to 2.2 each replica is."""
    deletes = {stop.delete for stop in request.partitions.values()}
    if not release.since("2.6"):
        yield "at once stops and deletions", len(deletes) > 1, False
    if release.since("1.1") and not release.since("2.3"):
        yield "so many replicas at once", min(len(request.partitions), 2), len(deletes)
    for one, stop in request.partitions.items():
        is_going = one.topic in context.deletion_started
        if stop.delete:
            goes = one.topic in context.queued_for_deletion or to not in _replicas(context, one)
            yield f"that {one} is to be deleted where it", goes, True
        known, epoch = context.leadership.get(one), -1
        if release.since("2.6"):
            epoch = -1 if known is None else known.leader_epoch
            epoch = BY_DELETION if one.topic in context.queued_for_deletion else epoch
        behind, leaving = epoch - stop.leader_epoch, len(_replicas(context, one))
        if not stop.delete and stop.leader_epoch >= 0 and 0 < behind <= leaving:
            epoch -= behind  # it is noted before replicas leave the ISR: each raises the epoch
        yield f"the leader epoch of {one}", stop.leader_epoch, epoch
        raises = stop.delete and (is_going or not release.since("2.3"))
        yield f"whether it waits for {one}", one in request.raises_event, raises


# What is answered


class _Hosted(NamedTuple):
    """A replica before the request: its leader, its high watermark, and its remote replicas."""

    leader: int | None
    hw: int
    remotes: dict[int, RemoteReplica]


class Before:
    """A broker's state before a controller's request arrives."""

    def __init__(self, node: BrokerWithDisk, request: Request) -> None:
        replicas = node.replicas
        self.controller_epoch = replicas.controller_epoch
        self.alive = {*replicas.metadata.alive}
        self.hosted = {
            one: _Hosted(
                its.leader, its.hw, {broker: its.follower_state(broker) for broker in its.remotes}
            )
            for one in request.partitions
            if (its := replicas.partitions.get(one)) is not None
        }
        self.epochs = {one: replicas.partitions[one].leader_epoch for one in self.hosted}
        self.offline = {*node.logs.offline}
        failed = any(one.failure for one in node.logs.directories)
        self.may_be_offline = {
            one for one in request.partitions if failed and node.logs.home(one) is None
        }
        """Without a log in the directories that are left."""


def handled_request_mismatch(
    node: BrokerWithDisk, request: Request, before: Before, said: Answered
) -> Iterator[Difference]:
    """How a broker's response, and its state after it, differ from the expected ones."""
    error, errors = said
    wanted = _whole(node, request, before)
    yield "as a whole", error, wanted
    if wanted != NONE:
        yield "for its partitions", dict(errors), {}
        yield "with a controller epoch", node.replicas.controller_epoch, before.controller_epoch
        return
    yield "with a controller epoch", node.replicas.controller_epoch, request.controller_epoch
    match request:
        case UpdateMetadata():
            yield from _cached(node, request)
        case LeaderAndIsr():
            for one, entry in request.partitions.items():
                asked = entry.state.leader_epoch
                found, expected = errors.get(one), NONE
                if one in before.offline:
                    expected = STORAGE_ERROR
                elif asked <= before.epochs.get(one, -1):
                    expected = "STALE_CONTROLLER_EPOCH"
                elif node.broker not in entry.replicas:
                    expected = "UNKNOWN_TOPIC_OR_PARTITION"
                elif one in before.may_be_offline and not entry.is_new:
                    expected = STORAGE_ERROR if node.release.since("1.0") else NONE
                elif found == STORAGE_ERROR and (node.logs.offline or node.disk.failing):
                    expected = STORAGE_ERROR  # a log directory has failed just now
                yield f"of {one}", found, expected
                # Another partition of the request may have shown that its log directory has failed.
                if expected == NONE and one not in node.logs.offline:
                    yield from _obeys(node, one, entry, before)
        case StopReplica():
            for one, stop in request.partitions.items():
                yield f"of {one}", errors.get(one), _stopped(node, one, stop.leader_epoch, before)
                its = node.replicas.partitions.get(one)
                if its is not None and errors.get(one) == NONE:
                    state = its.leads, its.leader, its.isr, its.pending, followed_by(node, one)
                    yield f"and goes on with {one}:", state, (False, None, (), None, {})
                if stop.delete and errors.get(one) == NONE:
                    yield f"and still hosts {one}:", one in node.replicas.partitions, False
                    yield f"and still has {one}:", node.logs.home(one) is not None, False


def _whole(node: BrokerWithDisk, request: Request, before: Before) -> str:
    if node.release.since("2.2") and -1 < request.broker_epoch < node.epoch:
        return "STALE_BROKER_EPOCH"
    older = request.controller_epoch < before.controller_epoch
    return "STALE_CONTROLLER_EPOCH" if older else NONE


def _cached(node: BrokerWithDisk, request: UpdateMetadata) -> Iterator[Difference]:
    cache = node.replicas.metadata
    yield "and knows the controller", cache.controller, request.controller
    yield "and knows the brokers", sorted(cache.brokers), sorted(request.live_brokers)
    for one, metadata in request.partitions.items():
        gone = metadata.state.leader == LEADER_DURING_DELETE
        wanted: PartitionMetadata | None = None if gone else metadata
        yield f"and knows of {one}", cache.partitions.get(one), wanted


def _obeys(
    node: BrokerWithDisk, one: TopicPartition, entry: LeaderAndIsrPartitionState, before: Before
) -> Iterator[Difference]:
    """Who is to follow a broker that it does not know of waits for another request."""
    hosted, state = node.replicas.partitions.get(one), entry.state
    leader, epoch = state.leader, state.leader_epoch
    is_in = None if hosted is None else (hosted.leader_epoch, hosted.leads)
    if leader != node.broker and leader not in before.alive:
        epoch = before.epochs.get(one, epoch if hosted is None else hosted.leader_epoch)
        yield f"and is in the leader epoch of {one}", is_in and is_in[0], epoch
        return
    yield f"and leads, in its leader epoch, {one}:", is_in, (epoch, leader == node.broker)
    assert hosted is not None, "it is in a leader epoch"
    said = hosted.leader, hosted.replicas, hosted.controller_epoch, hosted.zk_version
    wanted = leader, entry.replicas, state.controller_epoch, state.zk_version
    yield f"and knows the leader, replicas and versions of {one}", said, wanted
    isr = state.isr if hosted.leads else ()
    yield f"and has as ISR of {one}", (hosted.isr, hosted.pending), (isr, None)
    if hosted.leads:
        yield from _leads(hosted, node.now_ms(), before.hosted.get(one))
        yield f"and still follows in {one}", followed_by(node, one), {}
    else:
        yield from _follows(node, hosted, before.hosted.get(one))


def _leads(hosted: Replica, now_ms: int, was: _Hosted | None) -> Iterator[Difference]:
    """A leader epoch begins where its log ends. Where its followers are is not known, unless it led
    before; those in the ISR count as caught up."""
    one, end, release = hosted.partition, hosted.log_end, hosted.release
    yield f"and begins its leader epoch in {one} at", hosted.epoch_start, end
    if release.since("2.0.1"):
        asked = hosted.log.end_offset_for(hosted.leader_epoch)
        yield f"and has the end of its leader epoch in {one} at", asked, (hosted.leader_epoch, end)
    wanted = {}
    led = was is not None and was.leader == hosted.broker
    for broker in {*hosted.replicas} - {hosted.broker}:
        known = (
            was.remotes.get(broker, RemoteReplica()) if was is not None and led else RemoteReplica()
        )
        caught_up, shown = now_ms if broker in hosted.isr else 0, (end, now_ms) if led else (-1, 0)
        wanted[broker] = RemoteReplica(known.end, known.log_start, caught_up, *shown)
    known_of = {broker: its for broker, its in hosted.remotes.items() if broker in hosted.replicas}
    yield f"and knows of the followers in {one}", known_of, wanted
    ends = [
        its.end
        for broker, its in wanted.items()
        if broker in hosted.isr or was_lately_caught_up(hosted, its, now_ms)
    ]
    old = hosted.log_start if was is None else was.hw
    reached = max(old, hosted.log_start, min([end, *ends]))
    if was is not None:  # else what was checkpointed counts
        yield f"and has as high watermark of {one}", hosted.hw, reached


def was_lately_caught_up(leader: Replica, its: RemoteReplica, now_ms: int) -> bool:
    """Whether the high watermark waits for this follower outside the ISR too, since 0.10.2."""
    return leader.release.since("0.10.2") and now_ms - its.last_caught_up <= leader.lag_ms


def _follows(node: BrokerWithDisk, hosted: Replica, was: _Hosted | None) -> Iterator[Difference]:
    """Its fetcher begins to compare its log with that of the leader; up to 2.0 one that follows the
    same leader may go on as it is. Where truncation comes with fetches it fetches at once (2.8)."""
    one, release, leader = hosted.partition, hosted.release, hosted.leader
    found = followed_by(node, one)
    yield f"and follows in {one} brokers", [*found], [leader]
    goes_on = was is not None and was.leader == leader and not release.since("2.1")
    state = found.get(leader or 0)
    if goes_on or state is None:
        return
    newest = stored(hosted.log).log.epochs.latest_epoch
    fetches = newest >= 0 and truncates_on_fetch(release, release)
    wanted = FetchState(
        hosted.log_end if fetches else hosted.hw,
        hosted.leader_epoch,
        Phase.FETCHING if fetches else Phase.TRUNCATING,
        newest if fetches else None,
    )
    yield f"and begins to follow in {one} with", state, wanted


def followed_by(node: BrokerWithDisk, one: TopicPartition) -> dict[int, FetchState]:
    """The leader that a broker's fetchers follow in a partition, and their positions."""
    return {
        leader: connection.rounds.states[one]
        for leader, connection in sorted(node.connections.items())
        if one in connection.rounds.states
    }


def _stopped(node: BrokerWithDisk, one: TopicPartition, asked: int, before: Before) -> str:
    if one in before.offline:
        return STORAGE_ERROR
    own = before.epochs.get(one)
    if own is not None and node.release.since("2.6") and asked >= 0 and asked <= own:
        return "FENCED_LEADER_EPOCH"
    return STORAGE_ERROR if one in node.logs.offline else NONE
