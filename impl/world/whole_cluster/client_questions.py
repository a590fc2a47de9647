"""Steps of clients that send any request to any broker, leader or not.

The expected answer is computed from the broker's memory and disk: leader, epoch, log start, high
watermark, log end. The core is not consulted, so a claim can compare the two (`ClientAnswered`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.core.fetcher_thread import EARLIEST, LATEST, EpochQuestion, FetchErrorCode, FetchQuestion
from impl.core.replica_events import RecordsAppended
from impl.core.replica_manager import CONSUMER, STORAGE_ERROR, Replica
from impl.log.record import StoredRecord
from impl.log.record_batch import batches_in, encode_batch, records_of
from impl.log.stored_log import StoredLog
from impl.sim.simulation import Arguments, offered
from impl.world.fetches import MOST_BYTES
from impl.world.whole_cluster.controller_requests import was_lately_caught_up
from impl.world.whole_cluster.fetch_rounds import refusal
from impl.world.whole_cluster.node import ClusterNode, WaitingProducer
from impl.world.whole_cluster.observations import ClientAnswered, stored, values_in
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait

AT = "broker topic partition"
UNASSIGNED = 99
"""A broker that is nobody's replica."""

NOT_GIVEN = (-1, -1)


def _anywhere(world: WholeCluster) -> Arguments:
    return [
        (number, topic, partition)
        for number, _ in world.running()
        for topic in range(world.topics)
        for partition in range(world.partitions)
    ]


def client_asks(world: WholeCluster, broker: int, topic: int, partition: int) -> None:
    """Send every request about one partition, with every leader epoch that may be named."""
    node, one = world.nodes[broker], TopicPartition(f"t{topic}", partition)
    asked = (_of_epochs, _of_offsets, _of_records, _of_metadata, _of_producers)
    for questions in asked:
        for done in questions(world, node, one):
            world.happened.append((broker, done))


def _epochs(node: ClusterNode, one: TopicPartition) -> tuple[int | None, ...]:
    replica = node.replicas.partitions.get(one)
    current = 0 if replica is None else replica.leader_epoch
    return None, current - 1, current, current + 1


def _leading(node: ClusterNode, one: TopicPartition) -> tuple[Replica, StoredLog]:
    replica = node.replicas.partitions[one]
    return replica, stored(replica.log)


def _of_epochs(
    world: WholeCluster, node: ClusterNode, one: TopicPartition
) -> Iterator[ClientAnswered]:
    """OffsetForLeaderEpoch."""
    for current in _epochs(node, one):
        error = refusal(node, one, current)
        for asked in range(4):
            reply = wait(node.replicas.epoch_ends({one: EpochQuestion(current, asked)}))[one]
            said = reply.error.value, reply.end.epoch, reply.end.end
            epoch, end = NOT_GIVEN
            if error == "NONE":
                epoch, end = node.replicas.partitions[one].log.end_offset_for(asked)
            wanted = error, epoch if world.release.since("2.0") else -1, end
            yield ClientAnswered(f"the end of epoch {asked} of {one}", said, wanted)


def _of_offsets(
    world: WholeCluster, node: ClusterNode, one: TopicPartition
) -> Iterator[ClientAnswered]:
    """ListOffsets."""
    now = world.now_ms()
    for current in _epochs(node, one):
        error = refusal(node, one, current)
        for timestamp in (EARLIEST, LATEST, now - 20_000, now - 2_000, now + 1):
            for is_consumer in (True, False):
                if timestamp >= 0 and not is_consumer:
                    continue
                found = wait(node.replicas.list_offset(one, timestamp, is_consumer, current))
                said = found.error, found.offset, found.timestamp
                failed = found.error == STORAGE_ERROR and one in node.logs.offline  # just now
                wanted = (STORAGE_ERROR if failed else error, -1, -1)
                if error == "NONE" and not failed:
                    replica, log = _leading(node, one)
                    try:
                        wanted = _offset(world, replica, log, timestamp, is_consumer)
                    except OSError:  # an index answered: nobody has noticed that the disk fails
                        return
                yield ClientAnswered(f"the offset of {timestamp} in {one}", said, wanted)
                if failed:
                    return


def _offset(
    world: WholeCluster, replica: Replica, log: StoredLog, timestamp: int, is_consumer: bool
) -> tuple[str, int, int]:
    """A new leader does not say how far consumers may read, until it has committed all that it
    began with (KIP-207, 2.2)."""
    late = world.release.since("2.2") and log.high_watermark < replica.epoch_start
    if timestamp == EARLIEST:
        return "NONE", log.log_start, -1
    if timestamp == LATEST:
        if not is_consumer:
            return "NONE", log.log_end, -1
        return ("OFFSET_NOT_AVAILABLE", -1, -1) if late else ("NONE", log.high_watermark, -1)
    for offset, at in _times(log):
        if at >= timestamp:
            if offset < log.high_watermark:
                return "NONE", offset, at
            return "OFFSET_NOT_AVAILABLE" if late else "NONE", -1, -1
    return "NONE", -1, -1


def _times(log: StoredLog) -> Iterator[tuple[int, int]]:
    """Offset and time (ms) of each record."""
    offset = log.log_start
    while offset < log.log_end:
        data = log.log.read(offset, MOST_BYTES).region.read()
        if not data:
            return
        for at, batch in batches_in(data):
            for record in records_of(data[at : at + batch.size]):
                if record.offset >= offset:
                    yield record.offset, record.timestamp
                    offset = record.offset + 1


def _of_records(
    world: WholeCluster, node: ClusterNode, one: TopicPartition
) -> Iterator[ClientAnswered]:
    """Fetches that nobody is the further for: of consumers, and of who is no replica."""
    for current in _epochs(node, one):
        error = refusal(node, one, current)
        held = node.replicas.partitions.get(one)
        places = (-1, 0) if held is None else (
            held.log_start - 1, held.log_start, held.hw - 1, held.hw, held.log_end,
            held.log_end + 1,
        )  # fmt: skip
        for offset in places:
            for reader, is_held_back in ((CONSUMER, True), (UNASSIGNED, False)):
                said = _read(node, reader, one, FetchQuestion(current, offset, None), is_held_back)
                failed = said[0] == STORAGE_ERROR and one in node.logs.offline  # it has just now
                wanted: Any = (STORAGE_ERROR if failed else error, NOT_GIVEN, False)
                if error == "NONE" and not failed:
                    _, log = _leading(node, one)
                    marks = log.high_watermark, log.log_start
                    is_there = reader == UNASSIGNED or log.log_start <= offset <= log.log_end
                    wanted = (
                        "NONE" if is_there else FetchErrorCode.OFFSET_OUT_OF_RANGE.value,
                        marks,
                        reader == CONSUMER and is_there and offset < log.high_watermark,
                    )
                yield ClientAnswered(f"records of {one} from {offset} on", said, wanted)
                if failed:
                    return
    yield from _of_several(node)


def _read(
    node: ClusterNode, reader: int, one: TopicPartition, asked: FetchQuestion, is_held_back: bool
) -> tuple[str, tuple[int, int], bool]:
    reply = wait(node.replicas.fetch(
        reader, {one: asked}, MOST_BYTES, node.now_ms(), lambda replica, follower: is_held_back
    ))[one]  # fmt: skip
    return reply.error.value, (reply.high_watermark, reply.log_start), reply.batch is not None


def _of_several(node: ClusterNode) -> Iterator[ClientAnswered]:
    """One fetch from all that it leads: no more bytes than asked for, but one batch at least, and
    nothing that is not committed."""
    asked = {
        replica.partition: FetchQuestion(None, replica.log_start, None)
        for replica in node.replicas.leading()
    }
    some = sum(node.replicas.partitions[one].hw > its.offset for one, its in asked.items())
    for most in (1, 100, 250, MOST_BYTES):
        for limits in (None, dict.fromkeys(list(asked)[::2], 120)):
            replies = wait(node.replicas.fetch(CONSUMER, asked, most, node.now_ms(), limits=limits))
            if any(one in node.logs.offline for one in asked):
                return  # a log directory has failed just now
            try:
                found = {
                    one: its.batch.read() for one, its in replies.items() if its.batch is not None
                }
            except OSError:  # a batch was found in an index, and nobody has noticed the failure
                return
            whole = sum(1 for data in found.values() for _ in values_in(data))
            sizes = [len(data) for data in found.values()]
            limited = [
                len(data) > limits.get(one, most)
                for one, data in list(found.items())[1:]
            ] if limits is not None else []  # fmt: skip
            uncommitted = [
                one for one, data in found.items()
                for offset, _ in values_in(data) if offset >= node.replicas.partitions[one].hw
            ]  # fmt: skip
            said = (
                len(found) if most == MOST_BYTES else min(whole, 1),
                sum(sizes) <= most or len(sizes) == 1,
                any(limited),
                uncommitted,
            )
            wanted: Any = (some if most == MOST_BYTES else min(some, 1), True, False, [])
            yield ClientAnswered(f"{most} bytes of all that is led", said, wanted)


def _of_metadata(
    world: WholeCluster, node: ClusterNode, one: TopicPartition
) -> Iterator[ClientAnswered]:
    """Metadata: the leader that the controller named last, -1 where there is none."""
    known = node.replicas.metadata
    there = {each.partition: its for each, its in known.partitions.items() if each[0] == one.topic}
    said = list(known.partitions_of(one.topic).items())
    yield ClientAnswered(f"the partitions of {one.topic}", said, sorted(there.items()))
    leader = there[one.partition].state.leader if one.partition in there else None
    yield ClientAnswered(f"the leader of {one}", known.leader(one), leader)


def _of_producers(
    world: WholeCluster, node: ClusterNode, one: TopicPartition
) -> Iterator[ClientAnswered]:
    """What those that wait for the ISR are answered when their time is up."""
    for waiting in node.waiting.get(one, ()):
        awaited = waiting.awaited
        replica = node.replicas.partitions.get(one)
        if replica is not awaited.replica or awaited.generation != replica.generation:
            newer = world.release.since("2.6")
            wanted = "NOT_LEADER_OR_FOLLOWER" if newer else "NOT_LEADER_FOR_PARTITION"
        elif replica.hw < awaited.end:
            wanted = "REQUEST_TIMED_OUT"
        elif len(replica.isr) < awaited.min_isr:
            wanted = "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
        else:
            wanted = "NONE"
        question = f"whether {one} is committed up to {awaited.end}"
        for expired in (True, False):
            said = awaited.outcome(node.replicas, expired)
            is_late = wanted == "REQUEST_TIMED_OUT" and not expired
            yield ClientAnswered(question, said, None if is_late else wanted)


def producer_asks(world: WholeCluster, broker: int, topic: int, partition: int) -> None:
    """A produce request to any broker, with other acks, too few replicas, or a corrupt record.

    Since 0.11 the producer is idempotent: an appended batch is sent again, and not appended again.
    """
    node, one = world.nodes[broker], TopicPartition(f"t{topic}", partition)
    record, world.next_record = world.next_record, world.next_record + 1
    value = record.to_bytes(8, "big")
    producer = (record >> 15, record & 0x7FFF, 0) if world.release.since("0.11") else (-1, -1, -1)
    batch = encode_batch([StoredRecord(0, world.now_ms(), None, value)], producer=producer)
    refused = refusal(node, one, None)
    held = node.replicas.partitions.get(one)
    members, end = (0, 0) if held is None else (len(held.isr), held.log_end)
    epoch = -1 if held is None else held.leader_epoch
    acks, min_isr, error = (
        (1, members + 1, "NONE"), (0, members, "NONE"), (2, 0, "INVALID_REQUIRED_ACKS"),
        (-1, members + 1, "NOT_ENOUGH_REPLICAS"), (-1, members, "NONE"), (1, 0, "CORRUPT_MESSAGE"),
        (1, 0, "CORRUPT_MESSAGE"),
    )[record % 7]  # fmt: skip
    if error == "CORRUPT_MESSAGE":
        batch = batch[:-1] if record % 7 == 6 else batch[:-1] + bytes([batch[-1] ^ 1])
    error = error if refused == "NONE" else refused
    before = len(world.happened)
    done = wait(node.replicas.append(one, batch, acks, min_isr, world.now_ms()))
    if error == "NONE" and done.error == STORAGE_ERROR and one in node.logs.offline:
        return  # its log directory has failed just now
    noted = [its for _, its in world.happened[before:] if isinstance(its, RecordsAppended)]
    said = (
        done.error, done.first_offset, done.leader_epoch, done.end_offset,
        done.awaited is not None, 0 if held is None else held.log_end, noted,
        held is None or error != "NONE" or held.hw == held.log_end or not _is_alone(held, world),
    )  # fmt: skip
    its = RecordsAppended(one, epoch, end, end + 1)
    taken = (end, epoch, end + 1, acks == -1, end + 1, [its], True)
    wanted: Any = (error, *(taken if error == "NONE" else (-1, -1, -1, False, end, [], True)))
    question = f"a record for {one} with acks={acks} and min.insync.replicas={min_isr}"
    world.happened.append((broker, ClientAnswered(question, said, wanted)))
    if producer[0] >= 0 and done.error == "NONE" and held is not None:
        before = len(world.happened)
        again = wait(node.replicas.append(one, batch, acks, 0, world.now_ms()))
        noted = [its for _, its in world.happened[before:] if isinstance(its, RecordsAppended)]
        found: Any = (again.error, again.first_offset, again.end_offset, held.log_end, noted)
        wanted = "NONE", end, end + 1, end + 1, []
        world.happened.append((broker, ClientAnswered(f"{question} again", found, wanted)))
    if done.awaited is not None:
        node.waiting.setdefault(one, []).append(WaitingProducer(done.awaited, record))


def _is_alone(leader: Replica, world: WholeCluster) -> bool:
    """Nobody else is in the ISR, nor was caught up so lately that the high watermark waits."""
    now_ms = world.now_ms()
    others = [its for one, its in leader.remotes.items() if one in leader.replicas]
    return leader.maximal_isr == (leader.broker,) and not any(
        was_lately_caught_up(leader, its, now_ms) for its in others
    )


KINDS = (
    offered("client_asks", AT, _anywhere, client_asks, 0, "clients"),
    offered("producer_asks", AT, _anywhere, producer_asks, 0, "clients"),
)
