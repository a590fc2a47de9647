"""What must hold in a wide world: after every step what is cheap to see, at the end the records.

Unclean elections are off, and nobody's disk lies: so nothing that was acknowledged may be missing.
With ``power`` or ``disks`` among the faults it may, as in Kafka, where a write is not forced.
"""

from __future__ import annotations

from impl.log.record_batch import batches_in, records_of
from impl.world.wide.replicas import Replica
from impl.world.wide.world import WideWorld
from impl.znodes import TopicPartition, paths
from impl.znodes.text import MalformedZnode
from impl.zookeeper.port import wait

MOST_REMEMBERED = 512
"""So many of the newest epochs, for claims about them."""


class ClusterClaimBroken(Exception):
    """A claim does not hold in the world as it is now; the message says which, and where."""


class Claims:
    """Remembers who led and who was controller; looks at each new moment."""

    def __init__(self, world: WideWorld) -> None:
        self.world = world
        self.holders: dict[int, int] = {}
        self.leaders: dict[tuple[TopicPartition, int], tuple[int, int]] = {}
        self.heard: dict[int, tuple[int, int]] = {}

    def look(self) -> None:
        """One holder of each controller epoch, one leader of each leader epoch; none goes back."""
        for number, node in self.world.nodes.items():
            if not node.up:
                continue
            controller = node.controller
            if controller.active:
                epoch = controller.core.context.epoch
                holder = self.holders.setdefault(epoch, number)
                _claim(holder == number, f"two brokers hold controller epoch {epoch}")
            before = self.heard.get(number, (0, 0))
            known = node.replicas.controller_epoch
            same_process = before[0] == id(node.replicas)
            _claim(not same_process or known >= before[1], f"broker {number} obeys an older one")
            self.heard[number] = (id(node.replicas), known)
            for replica in node.replicas.hosted.values():
                if replica.leads:
                    self._leader(number, replica)
        self._forget()

    def _leader(self, number: int, replica: Replica) -> None:
        led = replica.partition, replica.leader_epoch
        leader, born = self.leaders.setdefault(led, (number, replica.born))
        if born != replica.born:
            self.leaders[led] = number, replica.born
        else:
            _claim(leader == number, f"two brokers lead {led[0]} in epoch {led[1]}")

    def _forget(self) -> None:
        """The newest of each, so that a long run remembers no more than a short one."""
        while len(self.holders) > MOST_REMEMBERED:
            del self.holders[next(iter(self.holders))]
        while len(self.leaders) > MOST_REMEMBERED:
            del self.leaders[next(iter(self.leaders))]

    def at_rest(self) -> None:
        """Everything is up and still: all acknowledged records are there, all replicas in sync."""
        world = self.world
        for one, told in sorted(world.told.at.items()):
            leader = leader_of(world, one)
            _claim(leader is not None, f"{one} has no leader, though every broker is up")
            assert leader is not None
            held = records_in(leader)
            for offset, record in told.items():
                if offset >= leader.log_start:
                    found = held.get(offset)
                    _claim(
                        found == record,
                        f"record {record} was acknowledged at offset {offset} of {one}, where "
                        f"{'nothing' if found is None else f'record {found}'} is",
                    )


def leader_of(world: WideWorld, partition: TopicPartition) -> Replica | None:
    """The replica that leads as ZooKeeper says, if it does."""
    try:
        state = wait(world.admin.state(partition))
    except MalformedZnode:
        return None
    node = None if state is None else world.nodes.get(state.leader)
    replica = None if node is None else node.replicas.hosted.get(partition)
    return replica if replica is not None and replica.leads else None


def records_in(replica: Replica) -> dict[int, int]:
    """The records of a log by offset."""
    log, found = replica.stored, dict[int, int]()
    offset = log.log_start
    while offset < log.log_end:
        data = log.read(offset, 1 << 16).region.read()
        if not data:
            break
        for at, batch in batches_in(data):
            for record in records_of(data[at : at + batch.size]):
                found[record.offset] = int.from_bytes(record.value or b"", "big")
            offset = batch.next_offset
    return found


def is_at_rest(world: WideWorld) -> bool:
    """Nothing is under way, every broker is up, every partition has all its replicas in sync."""
    pending = world.zookeeper.watches.pending
    for node in world.nodes.values():
        if not (node.running and node.alive) or pending.get(node.session.session):
            return False
        if node.channels.busy() or node.replicas.isr_changes:
            return False
    nodes = world.zookeeper.nodes
    if paths.REASSIGN_PARTITIONS in nodes or wait(world.admin.deletions()):
        return False
    for topic in range(world.topics):
        for number in range(world.partitions):
            leader = leader_of(world, TopicPartition(f"t{topic}", number))
            if leader is None or set(leader.isr) != set(leader.replicas):
                return False
            if leader.hw != leader.log_end:
                return False
    return True


def _claim(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ClusterClaimBroken(otherwise)
