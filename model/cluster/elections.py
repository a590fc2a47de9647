"""Leader elections: what all kinds share, and the election of Offline partitions.

Each kind has three steps: for each partition in turn, a leader is written or no replica can lead;
at the end, the batch is sent. A strategy elects the first replica of the assignment that can lead,
so each election has only one outcome.

Source: PartitionStateMachine.doElectLeaderForPartitions (2.3)
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from model.cluster.batch import batch
from model.cluster.state import PARTITIONS
from model.cluster.thread import (
    at,
    context_of,
    done,
    online,
    require_acting,
    require_writing,
    with_their_log,
    write_contexts,
)
from model.language import (
    all_of,
    any_of,
    every,
    is_none,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.protocol.controllership import fence_is_passed
from model.protocol.state import BROKERS
from model.protocol.strategies import offline_partition, placed


class Election(NamedTuple):
    """One kind of election: the thread's stages that use it, the strategy, and the reasons of
    refusals."""

    stages: tuple[str, ...]
    choice: Callable[[Any, Any], Any]           # of a state and the controller
    at_it: str
    due: str
    may: str
    first: str
    nobody: str
    all_done: str

    def is_on(self, stage):
        return any_of(*(stage == one for one in self.stages))


def write_state(now, new, broker, leader, isr):
    """The fenced, conditional write of the state under the next leader epoch; what was written is
    cached, and waits for the batch."""
    after = now.version + 1
    new.version = after
    new.state[after] = {
        "leader": leader, "epoch": now.state[now.version].epoch + 1, "isr": isr,
        "controller": now.belief[broker]}
    new.context[broker].version = after
    new.context[broker].batched = True
    new.context[broker].read    = None


def as_read(now, broker):
    """The state that it read, to write the next one."""
    return now.state[now.context[broker].read]


def require_read(now, broker):
    require(not_(is_none(now.context[broker].read)), "it has read the state")


def require_current(now, broker):
    """The write is conditional on the zkVersion, and a newer controller's state is not overwritten.
    """
    require(as_read(now, broker).controller <= now.belief[broker],
                                                    "no newer controller has written the state")
    require(now.context[broker].read == now.version, "the state is as it was read")


def elect(now, new, broker, leader, kind):
    """The partition has a leader, and is Online."""
    choice = kind.choice(now, broker)
    require_writing(now, broker)
    require(kind.is_on(now.cache[broker].stage),    kind.at_it)
    require(now.context[broker].due,                kind.due)
    require_read(now, broker)
    require_current(now, broker)
    require(choice.may(leader),                     kind.may)
    require(choice.first(leader),                   kind.first)

    new.context[broker].due     = False
    new.context[broker].offline = False
    write_state(now, new, broker, leader, choice.isr(leader))


def find_no_leader(now, new, broker, kind):
    """No replica can lead: nothing is written, and the partition's state stays."""
    require_acting(now, broker)
    require(kind.is_on(now.cache[broker].stage),    kind.at_it)
    require(now.context[broker].due,                kind.due)
    require_read(now, broker)
    require(not_(kind.choice(now, broker).exists),  kind.nobody)

    new.context[broker].due  = False
    new.context[broker].read = None


def send_batch(now, new, broker, kind, stage, is_notified=None, unbalanced=None, due=None):
    """Sends the batch: LeaderAndIsr to the replicas with `is_notified(context, target)`,
    UpdateMetadata to all.

    By default LeaderAndIsr goes to all replicas. If the event continues with other partitions,
    `due(partition)` selects them, and `unbalanced` are the brokers left after them.
    """
    require_acting(now, broker)
    require(kind.is_on(now.cache[broker].stage),    kind.at_it)
    require(every(PARTITIONS, lambda partition: not_(context_of(now, broker, partition).due)),
                                                    kind.all_done)

    def batched(partition):
        return context_of(now, broker, partition).batched

    def goes(partition, target):
        if is_notified is None:
            return batched(partition)
        return all_of(batched(partition), is_notified(context_of(now, broker, partition), target))

    ends = any_of(stage == "idle", stage == "comparing")
    new.cache[broker] = now.cache[broker].but(
        stage=stage, subject=when(ends, None, now.cache[broker].subject),
        queue=batch(now, broker, goes, batched))
    if unbalanced is not None:
        new.cache[broker].unbalanced = unbalanced
    write_contexts(now, new, broker, lambda partition: context_of(now, broker, partition).but(
        batched=False, due=due(partition) if due else False))


def replica_order_of(now):
    """The partition's assignment."""
    return placed(now.replicas, now.place)


OFFLINE = Election(
    ("onlining", "electing", "retrying"),
    lambda now, broker: offline_partition(
        replica_order_of(now), as_read(now, broker).isr,
        with_their_log(online(now, broker), now.context[broker]),
        version.unclean_leader_election),
    at_it="it brings offline partitions online",
    due="the partition is offline",
    may="the replica is live, and in the ISR",
    first="no such replica stands before it",
    nobody="no replica is live and in the ISR",
    all_done="no partition waits for an election")


@transition(broker=BROKERS, leader=BROKERS)
def controller_elects_leader(now, new, broker, leader):
    """The first live ISR member of the assignment becomes leader; the ISR keeps its live members.

    Kafka: OfflinePartitionLeaderElectionStrategy
    """
    elect(now, new, broker, leader, OFFLINE)


@transition(broker=BROKERS)
def controller_finds_no_leader(now, new, broker):
    """No replica can lead: the partition stays offline, and nothing is written."""
    find_no_leader(now, new, broker, OFFLINE)


@transition(broker=BROKERS)
def controller_sends_election_batch(now, new, broker):
    """The batch of the elections: LeaderAndIsr to the live replicas, UpdateMetadata to all.

    At a failover the request for preferred leaders is read next. Before that, from 2.0 to 2.3, the
    controller deletes the reassignment request even if there is none: without a session it waits
    there, and if it is deposed it is fenced (2.1). After a broker's failure its replicas are
    handled next, if it has any; otherwise the event is done.
    """
    cache = now.cache[broker]
    looks = at("looking")
    if not version.request_znode_not_rewritten:     # 2.0 to 2.3
        heard = now.zk.registered.has(broker)
        if version.zk_writes_fenced:
            heard = all_of(heard, fence_is_passed(now, broker))
        looks = when(heard, looks, at("rewriting"))
    send_batch(now, new, broker, OFFLINE,
         when(cache.stage == "onlining", looks,
         when(cache.stage == "retrying", at("removing_followers"),
         when(some_replica_is_gone(now, broker), at("removing"),
         when(cache.started.is_empty(), done(cache), at("announcing_new"))))),
         is_notified=lambda mine, target: all_of(
             not_(cache.shutting.has(target)), not_(mine.lost.has(target))))


def some_replica_is_gone(now, broker):
    return some(
        PARTITIONS, lambda partition: not_(context_of(now, broker, partition).gone.is_empty()))
