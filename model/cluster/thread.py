"""The controller's event thread: one event at a time, in stages with other steps in between.

The states of the replica state machine are derived: a replica is Online if its broker is live.

Source: KafkaController, PartitionStateMachine, ReplicaStateMachine (2.3)
"""

from model.cluster.state import PARTITIONS, STAGES
from model.language import (
    BLANK,
    all_of,
    lam,
    literal,
    not_,
    require,
    some,
    when,
)
from model.protocol.controllership import require_controllership, require_fence
from model.protocol.state import BROKERS


def require_acting(now, broker):
    """The step changes only the controller's memory, so a deposed controller without a session may
    still take it."""
    require(now.belief[broker] > 0,                 "the broker believes it is the controller")


def require_writing(now, broker):
    require_controllership(now, broker)
    require_fence(now, broker)


def require_idle(now, broker):
    require(now.cache[broker].stage == "idle",      "its event thread is done with the last event")


def at(stage):
    return literal(STAGES, stage)


def done(cache):
    """The thread is done with the event, or continues with the rest of its BrokerChange."""
    return when(all_of(cache.bounced.is_empty(), cache.dead.is_empty()),
                at("idle"), at("comparing"))


def context_of(now, broker, partition):
    """The controller's memory of a partition."""
    return now.partition[partition].context[broker]


def online(now, broker):
    """Live brokers, less those that are shutting down."""
    cache = now.cache[broker]
    return cache.live.such_that(lambda one: not_(cache.shutting.has(one)))


def with_their_log(brokers, mine):
    """The brokers whose log directory of a partition is not known to have failed; `mine` is the
    controller's memory of the partition."""
    return brokers.such_that(lambda one: not_(mine.lost.has(one)))


def leader_is_among(now, broker, partition, brokers):
    """The partition's leader, as far as the controller knows, is one of these."""
    leader = now.partition[partition].state[context_of(now, broker, partition).version].leader
    return some(BROKERS, lambda one: all_of(leader == one, brokers.has(one)))


def states_by(now, broker, brokers):
    """The partition state machine starts: partitions with a leader among these brokers are Online.
    Then elections are tried for all that are Offline."""
    def context(partition):
        offline = not_(leader_is_among(now, broker, partition, brokers))
        return context_of(now, broker, partition).but(batched=False, offline=offline, due=offline)

    return context


def offline_again(now, broker):
    """triggerOnlinePartitionStateChange: an election is tried for every Offline partition."""
    return lambda partition: context_of(now, broker, partition).but(
        batched=False, due=context_of(now, broker, partition).offline)


def write_contexts(now, new, broker, context):
    """Writes the controller's memory of every partition: `context(partition)`."""
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(
        context=with_one(now.partition[partition].context, broker, context(partition))))


def with_one(context, broker, mine):
    return lam(BROKERS, lambda one: when(one == broker, mine, context[one]))


def clear_context(now, new, broker):
    """The broker's memory as a controller is cleared, with its queues."""
    new.cache[broker] = BLANK
    write_contexts(now, new, broker, lambda partition: BLANK)
