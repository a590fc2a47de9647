"""Compares the partition states that a controller writes with the states before.

In every election each write raises the leader epoch by one, names the controller epoch of its
writer, and chooses a live ISR member as leader. Only AlterIsr keeps the leader epoch, and lets a
replica join the ISR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from impl.core.api import AlteredIsr
from impl.core.cluster_context import ClusterContext
from impl.core.requests import LeaderAndIsr, UpdateMetadata
from impl.error_codes import NONE, UNKNOWN_SERVER_ERROR
from impl.world.simulated_broker import BrokerWithDisk
from impl.world.simulated_cluster import REBALANCE
from impl.world.whole_cluster.controller_answers import AlterIsrAnswered
from impl.world.whole_cluster.controller_requests import Difference
from impl.world.whole_cluster.observations import RequestSent
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.states import decode_state
from impl.zookeeper.port import wait

ASKED_BY_LEADERS, REFUSED = "AlterIsr", AlteredIsr(UNKNOWN_SERVER_ERROR)
ASKED_BY_ADMINISTRATORS = "ApiPartitionReassignment"
State = LeaderIsrAndControllerEpoch


class StatesBefore:
    """The registered state, and the controller's memory, before it handles an event."""

    def __init__(self, world: WholeCluster, node: BrokerWithDisk) -> None:
        self.name = node.events.waiting[0].name
        self.texts = _texts(world)
        self.may_be_refused = bool(node.session.faults)
        """ZooKeeper is about to refuse an operation of the event, if it has so many."""
        self.is_overtaken = any(map(callable, node.session.faults))
        """Another broker may write during the event."""
        wanted = None
        if self.name == paths.PREFERRED_ELECTION and node.controller.active:
            wanted = wait(world.admin.preferred_election())
        if self.name == REBALANCE and node.controller.active:
            wanted = _imbalanced(node)
        self.wanted = wanted
        context = node.controller.core.context
        self.leaders = {one: state.leader for one, state in context.leadership.items()}
        self.live = {*context.broker_epochs} - context.shutting_down
        self.failed = {broker: {*lost} for broker, lost in context.offline_directories.items()}
        self.epochs = dict(context.broker_epochs)
        self.asked = wait(world.admin.reassignments())
        moves = {one: its.target for one, its in context.being_reassigned().items()}
        self.targets = {**moves, **node.controller.reassigner.targets}


def _imbalanced(node: BrokerWithDisk) -> list[TopicPartition]:
    """The partitions that their preferred leaders are to lead again, by what the controller knows:
    of a broker that does not lead more than a tenth of those which it should. None while any
    moves."""
    context, targets = node.controller.core.context, node.controller.reassigner.targets
    preferred: dict[int, list[TopicPartition]] = {}
    for topic, numbers in sorted(context.assignments.items()):
        for number, assignment in sorted(numbers.items()):
            if targets or assignment.adding or assignment.removing:
                return []
            if assignment.replicas and topic not in context.queued_for_deletion:
                one = TopicPartition(topic, number)
                preferred.setdefault(assignment.replicas[0], []).append(one)
    found: list[TopicPartition] = []
    for broker, partitions in preferred.items():
        leaders = {
            one: context.leadership[one].leader for one in partitions if one in context.leadership
        }
        not_led = [one for one, leader in leaders.items() if leader != broker]
        if 10 * len(not_led) > len(partitions):
            found += [
                one
                for one in not_led
                if broker in context.leadership[one].isr or not node.release.since("2.6")
            ]
    return found


Texts = dict[TopicPartition, tuple[str, int]]


def _texts(world: WholeCluster) -> Texts:
    """The text and version of each state znode."""
    found: Texts = {}
    for topic in range(world.topics):
        for number in range(world.partitions):
            one = TopicPartition(f"t{topic}", number)
            node = world.zookeeper.nodes.get(paths.state(*one))
            if node is not None:
                found[one] = node.data, node.version
    return found


def written_state_mismatch(
    world: WholeCluster, node: BrokerWithDisk, before: StatesBefore
) -> Iterator[Difference]:
    """How the writes of the last event differ from the expected ones."""
    context, after = node.controller.core.context, _texts(world)
    acts = node.controller.active and node.alive and not before.may_be_refused
    for one, (text, version) in after.items():
        was = before.texts.get(one)
        if was == (text, version):
            continue
        state = decode_state(*one, text, version)
        members = state.leader in state.isr or state.leader < 0
        yield f"the leader of {one} as a member of its ISR", members, True
        if before.is_overtaken:  # another broker may have written it
            continue
        if node.controller.active:
            yield f"the controller epoch of {one}", state.controller_epoch, context.epoch
        if was is None:
            # Its creator may write it again: a new controller continues a reassignment.
            yield f"the leader epoch of {one}", state.leader_epoch, version
        elif version > was[1]:
            old = decode_state(*one, *was)
            is_deleted = one.topic in context.queued_for_deletion
            yield from _changed(world, before, one, old, state, is_deleted)
            if before.name == paths.BROKER_IDS and version == was[1] + 1 and not is_deleted:
                yield from _raised(context, before, one, old, state)
        if acts:
            yield from _sent_otherwise(world, node, before, one, state)
    if acts:  # whose session is over writes nothing, and up to 1.0 does not resign for that
        yield from _preferred(node, before, after)
        if world.release.since("2.4") and before.name != ASKED_BY_ADMINISTRATORS:
            yield from _dropped(world, node, before)


def _changed(
    world: WholeCluster,
    before: StatesBefore,
    one: TopicPartition,
    old: State,
    new: State,
    is_deleted: bool,
) -> Iterator[Difference]:
    writes, epochs = new.zk_version - old.zk_version, new.leader_epoch - old.leader_epoch
    if before.name == ASKED_BY_LEADERS:
        granted = [
            its.answers.get(one, REFUSED).error == NONE
            for _, its in world.happened
            if isinstance(its, AlterIsrAnswered)
        ]  # a move that is done with lets the deletion of its topic go on
        is_asked = is_deleted or any(granted) or before.may_be_refused
        yield f"the state of {one} for its leader", is_asked, True
        yield f"the leader epoch of {one}", 0 <= epochs <= writes, True
        return
    yield f"the leader epoch of {one}", epochs, writes
    if world.release.since("0.11"):  # unclean elections were allowed up to 0.10
        failed = {broker for broker, lost in before.failed.items() if one in lost}
        is_clean = {*new.isr} <= {*old.isr} or not before.live & {*old.isr} - failed
        yield f"the ISR of {one} as one of members of {old.isr}", is_clean, True


def _dropped(
    world: WholeCluster, node: BrokerWithDisk, before: StatesBefore
) -> Iterator[Difference]:
    """What is asked for by the znode leaves it when it is reached, refused, or has failed."""
    context, left = node.controller.core.context, wait(world.admin.reassignments())
    changes = world.nodes[node.broker].state_changes
    if node.controller.journal is not changes:  # another journal has what failed
        return
    failed = changes.failed_moves
    for one in sorted({*before.asked} - {*left} - failed):
        known = context.assignments.get(one.topic, {}).get(one.partition)
        if known is not None and one.topic not in context.queued_for_deletion:
            yield f"that {one} need not move, whose replicas", known.replicas, before.asked[one]


def _raised(
    context: ClusterContext, before: StatesBefore, one: TopicPartition, old: State, new: State
) -> Iterator[Difference]:
    """When brokers start, leader epochs are raised of moves to them, and of no other moves.

    The last member of an ISR stays when it fails, under a new leader epoch.
    """
    failed = before.epochs.items() - context.broker_epochs.items()
    has_failed = any(broker in old.isr for broker, _ in failed)
    if one in before.targets and (old.leader, old.isr) == (new.leader, new.isr) and not has_failed:
        epochs = context.broker_epochs.items()
        started = {broker for broker, epoch in epochs if before.epochs.get(broker) != epoch}
        is_target = bool(started.intersection(before.targets[one]))
        yield f"another leader epoch of {one} for a broker that started", is_target, True


def _sent_otherwise(
    world: WholeCluster, node: BrokerWithDisk, before: StatesBefore, one: TopicPartition, new: State
) -> Iterator[Difference]:
    """What was written is sent: to the ISR, unless its leader asked for it, and to everybody.

    A member that is no replica any more, since it could not be taken out of the ISR, gets no order:
    these go to replicas.
    """
    context = node.controller.core.context
    if one.topic in context.queued_for_deletion:
        return
    live, notified, ordered = {*context.broker_epochs}, set[int](), set[int]()
    for broker, its in world.happened:
        if broker == node.broker and isinstance(its, RequestSent) and one in its.request.partitions:
            match its.request:
                case UpdateMetadata():
                    notified.add(its.to)
                case LeaderAndIsr():
                    if its.request.partitions[one].state.leader_epoch == new.leader_epoch:
                        ordered.add(its.to)
    yield f"a state of {one} and does not send it to brokers", live - notified, set()
    if before.name != ASKED_BY_LEADERS:
        gone = {broker for broker, lost in context.offline_directories.items() if one in lost}
        members = live.intersection(new.isr, context.replicas(one)) - gone
        yield f"a state of {one} and sends it not to brokers", members - ordered, set()


def _preferred(
    node: BrokerWithDisk, before: StatesBefore, after: Mapping[TopicPartition, tuple[str, int]]
) -> Iterator[Difference]:
    """An election of preferred leaders: whoever can lead does. Where the controller knows that the
    preferred replica leads, nothing is written, up to 1.0 and since 2.2."""
    context, release = node.controller.core.context, node.release
    if before.wanted is None:
        return
    for one, (_, version) in after.items():
        if one not in before.wanted and one in before.texts:
            yield (
                f"the version of {one}, of which no election was due,",
                version,
                before.texts[one][1],
            )
    for one in before.wanted:
        assignment = context.assignments.get(one.topic, {}).get(one.partition)
        was, now = before.texts.get(one), after.get(one)
        if assignment is None or was is None or now is None or not assignment.replicas:
            continue
        if one.topic in context.queued_for_deletion:
            yield f"the version of {one}, which is to be deleted,", now[1], was[1]
            continue
        if one not in context.leadership:
            continue
        first, old = assignment.replicas[0], decode_state(*one, *was)
        if old.controller_epoch > context.epoch:  # a newer controller has elected: it gives up
            continue
        offline = one in context.offline_directories.get(first, ())
        known = before.leaders.get(one)
        if first in before.live and first in old.isr and not offline and known != first:
            yield f"the leader of {one}", decode_state(*one, *now).leader, first
        if old.leader == known == first and (release.since("2.2") or not release.since("1.1")):
            yield f"the version of {one}, which is led as preferred,", now[1], was[1]
