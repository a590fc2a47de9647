"""The partition state machine's transition to Online: the first state, or an election.

Reading a state and its conditional write are one step, unless a leader's write comes between them:
then `outdated` is true, and the controller reads again (`conflicts`).

Source: kafka.controller.ZkPartitionStateMachine.doHandleStateChanges (2.4)
"""

from model.language import (
    all_of,
    any_of,
    is_none,
    lam,
    literal,
    not_,
    require,
    some,
    version,
    when,
)
from model.protocol.controllership import fence_is_passed
from model.protocol.state import BROKERS
from model.protocol.strategies import offline_partition
from model.topics.requests import send_leader_and_isr
from model.topics.state import PARTITIONS, PLACES
from model.topics.tables import PARTITION_TABLE, state_after
from model.topics.zookeeper import has_partition, in_list, replica_order


def task(cache, condition, yes, no):
    """One task if the condition holds, another if it does not."""
    return when(condition, yes, when(not_(condition), no, cache.task))


def task_after_event(cache):
    """The task after the last that is done for a broker that failed: a broker that has registered
    again meanwhile is handled as started in the same event."""
    return task(cache, is_none(cache.returns), "waits", "starts_returned")


def require_writer(now, broker, writes):
    """The fence refuses only writes: a batch without writes passes it."""
    if version.zk_writes_fenced:                    # KAFKA-6082
        require(any_of(not_(writes), fence_is_passed(now, broker)),
                                                    "the epoch that it won is the newest")


def require_current(now, broker, writes):
    require_writer(now, broker, writes)
    require(not_(now.cache[broker].outdated),       "the version that it read is current")


def state_writer(now, broker):
    """Two functions of a partition: may the controller write its state, and the written state.

    A controller does not overwrite a newer controller's state. Up to 2.0 this is the only check
    against older controllers.
    """
    def may_write(p):
        return all_of(has_partition(now.zk.assignment, 0),
                      not_(now.zk.state[p].epoch > now.belief[broker]))

    def written(p, **parts):
        return now.zk.state[p].but(epoch=now.belief[broker], **parts)

    return may_write, written


def is_new(now, broker, partition):
    return now.cache[broker].partition[partition] == "NewPartition"


def choice(now, broker, partition):
    """OfflinePartition: the first replica of the list that is alive and in the ISR. A new partition
    has no ISR yet: its live replicas count as members."""
    cache, isr = now.cache[broker], now.zk.state[partition].isr
    listed = cache.live.such_that(lambda b: in_list(cache.known[partition], b))
    return offline_partition(
        replica_order(cache.known[partition]), when(is_new(now, broker, partition), listed, isr),
        cache.live)


def leader_of(replicas, choice):
    """The elected leader, or none: a value, for partitions that are written together."""
    def leads(at):
        return some(BROKERS, lambda b: all_of(replicas[at] == b, choice.leads(b)))

    first, second, third = (literal(PLACES, at) for at in range(3))     # no list is longer
    return when(leads(first), replicas[first], when(leads(second), replicas[second], when(
        leads(third), replicas[third], None)))


def is_to_create(now, broker, partition):
    """The partition is new and has an eligible leader: its state znode is created, if missing."""
    return all_of(is_new(now, broker, partition), choice(now, broker, partition).exists)


def is_to_elect(now, broker, partition):
    """The partition is offline and has an eligible leader: its state is written."""
    may_write, _ = state_writer(now, broker)
    return all_of(
        now.cache[broker].partition[partition] == "OfflinePartition",
        choice(now, broker, partition).exists, now.zk.state[partition].exists,
        may_write(partition))


def waits_for_leader(now, broker, partition):
    return all_of(not_(now.cache[broker].queued), any_of(
        is_to_create(now, broker, partition), is_to_elect(now, broker, partition)))


def elect(now, new, broker, then, only_new=False):
    """New and offline partitions get a leader, if a replica can lead; the others stay as they are.
    The ISR keeps its live members; that of a new partition is its live replicas."""
    def gets_leader(p):
        created = all_of(is_to_create(now, broker, p), not_(now.zk.state[p].exists))
        if only_new:
            return created
        return all_of(not_(now.cache[broker].queued), any_of(
            created, is_to_elect(now, broker, p)))

    write_leaders(now, new, broker, then, gets_leader, lambda p: choice(now, broker, p),
                  recipients=now.cache[broker].live)


def write_leaders(now, new, broker, then, chosen, choice, recipients):
    """The partitions p of `chosen(p)` get the leader and the ISR of `choice(p)`, and of their
    replicas those of `recipients` a LeaderAndIsr."""
    cache = now.cache[broker]
    may_write, written = state_writer(now, broker)

    def gets_leader(p):
        return all_of(chosen(p), may_write(p))

    def leader(p):
        return leader_of(cache.known[p], choice(p))

    new.zk.state      = lam(PARTITIONS, lambda p: when(
        gets_leader(p), written(p, exists=True, leader=leader(p), isr=choice(p).isr(leader(p))),
        now.zk.state[p]))
    new.cache[broker] = cache.but(
        task=then,
        led=lam(PARTITIONS, lambda p: any_of(cache.led[p], gets_leader(p))),
        leader=lam(PARTITIONS, lambda p: when(gets_leader(p), leader(p), cache.leader[p])),
        partition=lam(PARTITIONS, lambda p: state_after(
            PARTITION_TABLE, cache.partition[p], "OnlinePartition", gets_leader(p))))
    send_leader_and_isr(now, new, broker,
                to=lambda p, b: all_of(
                    gets_leader(p), in_list(cache.known[p], b), recipients.has(b)),
                leader=leader)
