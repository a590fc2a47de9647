"""Checks claims of a simulated cluster: most after each step, those about records at the end.

Unclean elections are off, and no disk loses written data, so no acknowledged record may be missing.
With the faults ``power`` or ``disks`` it may, as in Kafka, which does not fsync writes.
"""

from __future__ import annotations

from typing import Any

from impl.core.answers import NONE
from impl.core.channels import Channel
from impl.core.event_controller import EventController
from impl.core.replica_events import IsrUpdated, IsrUpdateRefused, LogLoaded, LogTruncating
from impl.core.replica_manager import Replica
from impl.core.requests import kind_of
from impl.world.whole_cluster.at_rest import is_never_finished, leader_of
from impl.world.whole_cluster.controller_answers import (
    AlterIsrAnswered,
    AlterReassignmentsAnswered,
    ElectLeadersAnswered,
    ListReassignmentsAnswered,
    wrong_answer,
)
from impl.world.whole_cluster.known_state import known_state_mismatch
from impl.world.whole_cluster.node import ClusterNode
from impl.world.whole_cluster.observations import (
    AlterIsrResponseHandled,
    AlterIsrSent,
    ClientAnswered,
    ConsumerRead,
    EventHandled,
    FetchAnswered,
    FetchRoundAdvanced,
    IsrChangesPropagated,
    IsrsShrunk,
    LateResponseHandled,
    RequestAnswered,
    RequestSent,
    SessionOpened,
    ShutdownAnswered,
    records_in,
)
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.znodes import TopicPartition, paths
from impl.znodes.states import decode_state
from impl.znodes.text import MalformedZnode

MOST_REMEMBERED = 512
"""So many of the newest epochs, for claims about them."""


class ClusterClaimBroken(Exception):
    """A claim does not hold in the current state; the message says which, and where."""


class ClusterClaims:
    """Checks the claims after each step; remembers earlier leaders and controllers."""

    def __init__(self, world: WholeCluster) -> None:
        self.world = world
        self.holders: dict[int, int] = {}
        self.leaders: dict[tuple[TopicPartition, int], tuple[int, int]] = {}
        self.obeyed: dict[int, tuple[int, int]] = {}
        self.read: dict[tuple[TopicPartition, int], dict[int, int]] = {}
        self.unannounced: dict[int, tuple[int, set[TopicPartition]]] = {}
        self._states: dict[str, tuple[int, int, tuple[int, ...]]] = {}
        self.under_way: dict[int, tuple[object, dict[int, Channel[Any]]]] = {}

    def look(self) -> None:
        """Check the cheap claims after a step; ClusterClaimBroken names a broken one."""
        for number, node in self.world.nodes.items():
            if not node.up:
                continue
            controller = node.controller
            if controller.active:
                epoch = controller.core.context.epoch
                holder = self.holders.setdefault(epoch, number)
                _claim(holder == number, f"two brokers hold controller epoch {epoch}")
            kept = "" if controller.active else _in_mind(controller)
            _claim(not kept, f"broker {number} is no controller, and has {kept} in mind")
            self._channels(number, node)
            self._fetchers(number, node)
            for replica in node.replicas.partitions.values():
                if replica.leads:
                    self._leader(number, replica, node.incarnations[replica.partition])
                    self._registered(number, replica, node.incarnations[replica.partition])
        if self.world.release.since("2.7"):  # leaders ask a controller for other ISRs (KIP-497)
            for waiting in self.world.zookeeper.watches.pending.values():
                states = [one.path for one in waiting if one.path.endswith("/state")]
                _claim(not states, f"somebody watches {', '.join(states)}")
        for broker, happened in self.world.happened:
            match happened:
                case RequestSent(to, request, wrong):
                    _claim(not wrong, f"the controller on broker {broker} sends broker {to} "
                           f"{kind_of(request)}: it names {wrong}")  # fmt: skip
                case RequestAnswered():
                    self._answered(broker, happened)
                case LateResponseHandled(request):
                    _claim(False, f"the controller on broker {broker} takes an answer to a request "
                           f"of controller epoch {request.controller_epoch}")  # fmt: skip
                case EventHandled(name, wrong, unsettled):
                    _claim(not wrong, f"the controller on broker {broker} handles {name}: it "
                           f"writes {wrong}")  # fmt: skip
                    _claim(not unsettled, f"the controller on broker {broker} handles {name}, and "
                           f"does not say {unsettled}")  # fmt: skip
                case IsrUpdated():
                    self._isr_updated(broker, happened)
                case IsrUpdateRefused(one, version):
                    there = self.world.zookeeper.nodes.get(paths.state(*one))
                    _claim(there is None or there.version != version, f"broker {broker} takes "
                           f"version {version} of the state of {one} for outdated, and it is "
                           "registered")  # fmt: skip
                case IsrChangesPropagated(wanted, left):
                    self.unannounced[broker] = self.world.nodes[broker].started, {*wanted}
                    _claim(wanted == left, f"broker {broker} has {sorted(left)} to announce of "
                           f"changed ISRs, and it is {sorted(wanted)}")  # fmt: skip
                case SessionOpened(left):
                    _claim(left == 0, f"the controller on broker {broker} has {left} events of its "
                           "last session to handle")  # fmt: skip
                case FetchAnswered(follower, wrong):
                    _claim(not wrong, f"broker {broker} answers broker {follower} {wrong}")
                case FetchRoundAdvanced(leader, wrong):
                    _claim(
                        not wrong, f"broker {broker}, which follows broker {leader}, has {wrong}"
                    )
                case ConsumerRead():
                    self._consumed(happened)
                case LogTruncating():
                    self._truncating(broker, happened)
                case LogLoaded(one):
                    was_made = any(one == made for made, _ in self.world.nodes[broker].made)
                    _claim(was_made, f"broker {broker} has found the log of {one}, which it never "
                           "made")  # fmt: skip
                case AlterIsrSent(epochs):
                    for one, (asked, own) in epochs.items():
                        _claim(asked == own, f"broker {broker} asks in leader epoch {asked} for "
                               f"another ISR of {one}, and leads in {own}")  # fmt: skip
                case AlterIsrResponseHandled(wrong):
                    _claim(not wrong, f"broker {broker}, which its controller answers, has {wrong}")
                case IsrsShrunk(late, dropped):
                    _claim(late == dropped, f"broker {broker} drops from its ISRs {dropped}, and "
                           f"those that lag are {late}")  # fmt: skip
                case ShutdownAnswered(remaining):
                    for one, replicas in remaining.items():
                        _claim(len(replicas) > 1, f"the controller on broker {broker} keeps back a "
                               f"broker that goes, for {one}, which nobody else has")  # fmt: skip
                case ClientAnswered(question, answer, wanted):
                    _claim(answer == wanted, f"broker {broker} answers {answer} to whoever asks "
                           f"for {question}, and it is {wanted}")  # fmt: skip
                case (
                    AlterIsrAnswered()
                    | AlterReassignmentsAnswered()
                    | ListReassignmentsAnswered()
                    | ElectLeadersAnswered()
                ):
                    wrong = wrong_answer(self.world, self.world.nodes[broker], happened)
                    _claim(not wrong, f"the controller on broker {broker} answers {wrong}")
        self._announcements()
        self._forget()

    def _channels(self, number: int, node: ClusterNode) -> None:
        """A controller has channels to brokers that are registered as it knows them, and whoever
        is none has no channel open; what is under way on one that it closes is not forgotten."""
        controller = node.controller
        known = controller.core.context.broker_epochs if controller.active else {}
        for broker, channel in node.channels.open.items():
            epoch = known.get(broker)
            _claim(channel.epoch == epoch, f"broker {number} has a channel to broker {broker} of "
                   f"epoch {channel.epoch}, and knows it as {epoch}")  # fmt: skip
        orphans = node.channels.orphans  # one a broker: of two that are closed at once the last
        of, busy = self.under_way.get(number, (None, {}))
        for broker, one in busy.items() if of is node.channels else ():
            kept = node.channels.open.get(broker) is one or broker in orphans
            _claim(kept or one.under_way is None,
                   f"broker {number} has forgotten what is under way: {one.under_way}")  # fmt: skip
        carrying = {to: one for to, one in node.channels.open.items() if one.under_way is not None}
        self.under_way[number] = node.channels, carrying

    def _fetchers(self, number: int, node: ClusterNode) -> None:
        """What a fetcher cannot go on with is followed no more, nor what follows somebody else."""
        for leader, connection in node.connections.items():
            rounds = connection.rounds
            for one in rounds.failed:
                _claim(one not in rounds.states, f"broker {number} goes on following broker "
                       f"{leader} in {one}, which has failed")  # fmt: skip
            for one in rounds.states:
                replica = node.replicas.partitions.get(one)
                follows = None if replica is None or replica.leads else replica.leader
                _claim(follows == leader, f"broker {number} fetches {one} from broker {leader}, "
                       f"and follows {follows}")  # fmt: skip

    def _isr_updated(self, broker: int, done: IsrUpdated) -> None:
        """Who has written another ISR is to announce it; a controller that was asked knows."""
        process, changed = self.unannounced.get(broker, (0, set()))
        if process != self.world.nodes[broker].started:
            changed = set()
        if not self.world.release.since("2.7"):
            changed.add(done.partition)
        self.unannounced[broker] = self.world.nodes[broker].started, changed

    def _announcements(self) -> None:
        for broker, (process, changed) in self.unannounced.items():
            node = self.world.nodes[broker]
            known = node.replicas.isr_changes if node.started == process else changed
            _claim(known == changed, f"broker {broker} has {sorted(known)} to announce of changed "
                   f"ISRs, and it changed {sorted(changed)}")  # fmt: skip

    # Requests of controllers

    def _answered(self, broker: int, done: RequestAnswered) -> None:
        """A broker carries out nothing of an older controller, nor for an earlier registration."""
        request = done.request
        _claim(not done.wrong, f"broker {broker} answers {kind_of(request)} of controller epoch "
               f"{request.controller_epoch} {done.wrong}")  # fmt: skip
        if done.error != NONE:
            return
        process, epoch = self.obeyed.get(broker, (0, 0))
        _claim(
            process != done.process or request.controller_epoch >= epoch,
            f"broker {broker} obeys a controller of epoch {request.controller_epoch}, though it "
            f"obeyed one of epoch {epoch}",
        )
        self.obeyed[broker] = done.process, request.controller_epoch
        _claim(
            not self.world.release.since("2.2") or request.broker_epoch >= done.broker_epoch,
            f"broker {broker} obeys a request for its registration {request.broker_epoch}, though "
            f"it is registered as {done.broker_epoch}",
        )

    # Followers

    def _truncating(self, broker: int, done: LogTruncating) -> None:
        """Without unclean elections a follower keeps what it knows to be committed (2.2).

        Before KIP-380 a broker that bounced might obey a LeaderAndIsr of its last life, and lead
        with an ISR that was no longer registered; before KIP-101 logs were cut to high watermarks.
        What is left of an earlier topic of that name was committed to nobody who asks now.
        """
        known = min(done.high_watermark, done.log_end)
        keeps = self.keeps_committed and self.world.release.since("2.2")
        is_left = (done.partition, broker) in self.world.leftover_replicas
        is_left = is_left or self.world.nodes[broker].holds_another_topics(done.partition)
        incarnation = self.world.incarnation_of(done.partition.topic)
        is_misled = (done.partition, incarnation) in self.world.misled
        _claim(
            done.offset >= known or not keeps or is_left or is_misled,
            f"broker {broker} cuts {done.partition} to offset {done.offset}, below its high "
            f"watermark {done.high_watermark}",
        )

    keeps_committed = True
    """False where disks lose what was written: then logs are cut below what is committed."""

    @property
    def keeps_records(self) -> bool:
        """Whether committed records stay. Before KIP-101 (0.11) a restarted follower truncates its
        log to its high watermark, and may lead then."""
        return self.keeps_committed and self.world.release.since("0.11")

    # Consumers

    def _consumed(self, done: ConsumerRead) -> None:
        """Nobody reads two different records at one offset."""
        known = self.read.setdefault((done.partition, done.incarnation), {})
        for offset, record in done.records.items():
            before = known.setdefault(offset, record)
            _claim(
                before == record or self._may_differ(done.partition, done.incarnation, offset),
                f"consumers read records {before} and {record} at offset {offset} of "
                f"{done.partition}",
            )
        while len(known) > MOST_REMEMBERED:
            del known[next(iter(known))]

    def _may_differ(self, one: TopicPartition, incarnation: int, offset: int) -> bool:
        """Kafka of the release may have lost the record at an offset, or a disk may."""
        known = self.world.diverged.get((one, incarnation), ())
        is_misled = (one, incarnation) in self.world.misled
        return not self.keeps_committed or is_misled or offset in known

    # Leaders

    def _registered(self, number: int, replica: Replica, incarnation: int) -> None:
        """Who knows the version of the registered state knows the state."""
        node = self.world.zookeeper.nodes.get(paths.state(*replica.partition))
        if node is None or node.version != replica.zk_version or replica.writes_isr:
            return
        if self.world.incarnation_of(replica.partition.topic) != incarnation:
            return
        state = self._state(replica.partition, node.data, node.version)
        known = (replica.broker, replica.leader_epoch, replica.isr)
        _claim(
            state is None or known == state,
            f"broker {number} knows version {node.version} of the state of {replica.partition} as "
            f"leader, leader epoch and ISR {known}, but {state} is registered",
        )

    def _state(
        self, partition: TopicPartition, text: str, version: int
    ) -> tuple[int, int, tuple[int, ...]] | None:
        """What a state znode says; texts that were seen before are not read again."""
        if text not in self._states:
            if len(self._states) > MOST_REMEMBERED:
                self._states.clear()
            try:
                state = decode_state(*partition, text, version)
            except MalformedZnode:
                return None
            self._states[text] = state.leader, state.leader_epoch, state.isr
        return self._states[text]

    def _leader(self, number: int, replica: Replica, incarnation: int) -> None:
        led = replica.partition, replica.leader_epoch
        leader, first = self.leaders.setdefault(led, (number, incarnation))
        if first != incarnation:
            self.leaders[led] = number, incarnation
        else:
            _claim(leader == number, f"two brokers lead {led[0]} in epoch {led[1]}")

    def _forget(self) -> None:
        """The newest of each, so that a long run remembers no more than a short one."""
        while len(self.holders) > MOST_REMEMBERED:
            del self.holders[next(iter(self.holders))]
        while len(self.leaders) > MOST_REMEMBERED:
            del self.leaders[next(iter(self.leaders))]

    def at_rest(self) -> None:
        """Check a world at rest: all acknowledged records are on all replicas, and every broker
        knows the registered state.
        """
        if self.keeps_records:
            self._records_are_there()
            self._replicas_agree()
        if self.world.keeps_requests:
            for topic in sorted(self.world.to_be_deleted):
                there = paths.deletion(topic) in self.world.zookeeper.nodes
                _claim(there, f"nobody carries out that {topic} is to be deleted, and the request "
                       "is gone (up to 0.10.1)")  # fmt: skip
        unknown = known_state_mismatch(self.world)
        _claim(not unknown, f"nothing is left to happen, and of {unknown}")

    def _records_are_there(self) -> None:
        world = self.world
        for one, reported in sorted(world.client_view.at.items()):
            if is_never_finished(world, one):
                continue
            leader = leader_of(world, one)
            _claim(leader is not None, f"{one} has no leader, though every broker is up")
            assert leader is not None
            held = records_in(leader)
            for offset, record in reported.items():
                self._is_there(held, offset, record, leader, "acknowledged")
        for (one, incarnation), read in sorted(self.read.items()):
            leader = leader_of(world, one)
            is_owed = world.incarnation_of(one.topic) == incarnation and not is_never_finished(
                world, one
            )
            if leader is not None and is_owed:
                held = records_in(leader)
                for offset, record in read.items():
                    self._is_there(held, offset, record, leader, "read")

    def _is_there(
        self, held: dict[int, int], offset: int, record: int, leader: Replica, what: str
    ) -> None:
        incarnation = self.world.incarnation_of(leader.partition.topic)
        if offset >= leader.log_start:
            found = held.get(offset)
            _claim(
                found == record or self._may_differ(leader.partition, incarnation, offset),
                f"record {record} was {what} at offset {offset} of {leader.partition}, where "
                f"{'nothing' if found is None else f'record {found}'} is",
            )

    def _replicas_agree(self) -> None:
        """Since 2.0 (KIP-279): all replicas hold the same records."""
        world = self.world
        for leader in [one for node in world.nodes.values() for one in node.replicas.leading()]:
            one = leader.partition
            if leader_of(world, one) is not leader or is_never_finished(world, one):
                continue
            held = records_in(leader)
            for number in leader.replicas:
                other = world.nodes[number].replicas.partitions.get(leader.partition)
                if other is None or not world.release.since("2.0.1"):
                    continue
                start = max(leader.log_start, other.log_start)
                theirs = {at: one for at, one in records_in(other).items() if at >= start}
                ours = {at: one for at, one in held.items() if at >= start}
                _claim(theirs == ours, f"brokers {leader.broker} and {number} hold different "
                       f"records of {leader.partition}")  # fmt: skip


def _in_mind(controller: EventController) -> str:
    """What it still knows of a cluster that it is not the controller of: nothing, but for moves up
    to 0.10 (KAFKA-5310)."""
    known = {name: one for name, one in vars(controller.core.context).items() if name != "journal"}
    if controller.release.since("0.11"):
        known["targets"] = controller.reassigner.targets
    return ", ".join(name for name, one in known.items() if one)


def _claim(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ClusterClaimBroken(otherwise)
