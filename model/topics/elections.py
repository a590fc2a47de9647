"""The partition state machine's way to Online: a first state is created, or a leader elected.

Reading a state and the conditional write of it are one step, but where a leader's write comes
between them: that is what `outdated` says, and the controller then reads again (`conflicts`).

Source: kafka.controller.ZkPartitionStateMachine.doHandleStateChanges (2.4)
"""

from model.language import (
    BLANK,
    all_of,
    any_of,
    lam,
    literal,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.protocol.office import fence_is_passed, is_fenced, require_fence, require_office
from model.protocol.state import BROKERS
from model.protocol.strategies import offline_partition
from model.topics.requests import send_orders
from model.topics.state import PARTITIONS, PLACES
from model.topics.tables import PARTITION_TABLE, moved
from model.topics.zookeeper import has_partition, in_list, in_order

WRITING = ("starts_replicas", "starts_partitions", "elects_new", "elects_for_failed",
           "takes_offline", "elects_for_started", "moves_leaders", "stops_followers",
           "resumes", "stops", "unregisters", "removes_request")
"""The tasks that write into ZooKeeper."""


def task(cache, condition, yes, no):
    """One task if the condition holds, another if it does not."""
    return when(condition, yes, when(not_(condition), no, cache.task))


def require_current(now, broker):
    require_fence(now, broker)
    require(not_(now.cache[broker].outdated),       "the version that it read is current")


def state_writer(now, broker):
    """How a controller writes a partition's state: may it, and what becomes of it.

    Up to 2.0 nothing but the controller epoch in the state keeps an older controller off it.
    """
    fenced = version.zk_writes_fenced

    def may_write(p):
        exists = has_partition(now.zk.assignment, 0)
        return exists if fenced else all_of(
            exists, not_(now.zk.state[p].epoch > now.belief[broker]))

    def written(p, **parts):
        state = now.zk.state[p]
        return state.but(**parts) if fenced else state.but(epoch=now.belief[broker], **parts)

    return may_write, written


def is_new(now, broker, partition):
    return now.cache[broker].partition[partition] == "NewPartition"


def choice(now, broker, partition):
    """OfflinePartition: the first in the list who lives and is in the ISR. Of a new partition,
    which has no ISR yet, whoever lives is taken for a member."""
    cache, isr = now.cache[broker], now.zk.state[partition].isr
    listed = cache.live.such_that(lambda b: in_list(cache.known[partition], b))
    return offline_partition(
        in_order(cache.known[partition]), when(is_new(now, broker, partition), listed, isr),
        cache.live)


def leader_of(replicas, choice):
    """Who is elected, or none: a value, for partitions that are written together."""
    def leads(at):
        return some(BROKERS, lambda b: all_of(replicas[at] == b, choice.leads(b)))

    first, second, third = (literal(PLACES, at) for at in range(3))     # no list is longer
    return when(leads(first), replicas[first], when(leads(second), replicas[second], when(
        leads(third), replicas[third], None)))


def can_be_led(now, broker, partition):
    """Somebody may lead it, and ZooKeeper has a state of it if, and only if, it is not new."""
    return all_of(
        not_(now.cache[broker].queued), choice(now, broker, partition).exists,
        now.zk.state[partition].exists == not_(is_new(now, broker, partition)))


def waits_for_leader(now, broker, partition):
    return all_of(
        any_of(is_new(now, broker, partition),
               now.cache[broker].partition[partition] == "OfflinePartition"),
        can_be_led(now, broker, partition))


def elect(now, new, broker, then, only_new=False):
    """New and offline partitions get a leader, where somebody may lead; the others stay as they
    are. The ISR is who lives of it; of a new one, who lives."""
    def gets_leader(p):
        if only_new:
            return all_of(is_new(now, broker, p), can_be_led(now, broker, p))
        return waits_for_leader(now, broker, p)

    write_leaders(now, new, broker, then, gets_leader, lambda p: choice(now, broker, p),
                  told=now.cache[broker].live)


def write_leaders(now, new, broker, then, chosen, choice, told):
    """The partitions p of `chosen(p)` get the leader and the ISR of `choice(p)`, and of their
    replicas those of `told` a LeaderAndIsr."""
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
        partition=lam(PARTITIONS, lambda p: moved(
            PARTITION_TABLE, cache.partition[p], "OnlinePartition", gets_leader(p))))
    send_orders(now, new, now.belief[broker],
                to=lambda p, b: all_of(gets_leader(p), in_list(cache.known[p], b), told.has(b)),
                leader=leader)


@transition(only=is_fenced, broker=BROKERS)
def controller_write_is_fenced(now, new, broker):
    """Whatever a deposed controller is about to write fails at the check of /controller_epoch, and
    it resigns in the middle of what it does.

    Kafka: ControllerMovedException, KAFKA-6082
    """
    require_office(now, broker)
    require(any_of(*(now.cache[broker].task == task for task in WRITING)),
                                                    "it is about to write")
    require(not_(fence_is_passed(now, broker)),     "a newer controller epoch was won")

    new.belief[broker] = 0
    new.cache[broker]  = BLANK
