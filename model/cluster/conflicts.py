"""Conditional writes of partition states: version conflicts, and fenced controllers.

After a conflict the controller reads the state again. No write of a deposed controller is executed.

Source: PartitionStateMachine.doElectLeaderForPartitions, KafkaZkClient.updateLeaderAndIsr,
ReplicaStateMachine.doRemoveReplicasFromIsr (2.3); ControllerMovedException (2.1)
"""

from model.cluster.elections import OFFLINE, as_read, require_read
from model.cluster.events import is_next
from model.cluster.failover import has_notifications
from model.cluster.notifications import is_noted
from model.cluster.preferred import PREFERRED, is_wanted
from model.cluster.replicas import require_removal, takes_offline
from model.cluster.shutdown import MOVES
from model.cluster.state import PARTITIONS
from model.cluster.thread import clear_context, require_acting, require_writing
from model.language import all_of, any_of, focus, is_none, not_, require, some, transition
from model.protocol.controllership import require_controllership, require_deposed
from model.protocol.state import BROKERS

KINDS = (OFFLINE, MOVES, PREFERRED)


def is_to_elect(now, broker):
    """The event thread elects, and is not done with the partition."""
    stage = now.cache[broker].stage
    return all_of(now.context[broker].due, any_of(*(kind.is_on(stage) for kind in KINDS)))


def has_pending_state_write(now, broker):
    """The event thread elects or removes, and is not done with the partition."""
    stage, mine = now.cache[broker].stage, now.context[broker]
    return any_of(
        is_to_elect(now, broker),
        all_of(not_(mine.gone.is_empty()), takes_offline(stage)))


def would_write(now, broker):
    """By the state that it read, there is a leader to write, or a replica to remove from the
    ISR."""
    stage, mine = now.cache[broker].stage, now.context[broker]
    return any_of(
        *(all_of(mine.due, kind.is_on(stage), kind.choice(now, broker).exists) for kind in KINDS),
        all_of(takes_offline(stage), some(BROKERS, lambda one: all_of(
            mine.gone.has(one), as_read(now, broker).isr.has(one)))))


@transition(shows="read", broker=BROKERS)
def controller_reads_state(now, new, broker):
    """The controller reads the partition's state and its zkVersion."""
    require_controllership(now, broker)
    require(has_pending_state_write(now, broker),               "it is about to write the state")
    require(is_none(now.context[broker].read),      "it has not read the state yet")

    new.context[broker].read = now.version


@transition(shows="refused_write", broker=BROKERS)
def controller_write_conflicts(now, new, broker):
    """BADVERSION: the leader changed the ISR, or a controller the leader; the state is read again.

    The controller then elects and writes again.
    """
    require_writing(now, broker)
    require(has_pending_state_write(now, broker),               "it is about to write the state")
    require_read(now, broker)
    require(now.context[broker].read != now.version, "the state is not as it was read")
    require(as_read(now, broker).controller <= now.belief[broker],
                                                    "no newer controller has written the state")
    require(would_write(now, broker),               "there is something to write")

    new.context[broker].read = None


@transition(broker=BROKERS)
def controller_finds_a_newer_controller(now, new, broker):
    """The state names a newer controller epoch: the partition is left as it is.

    Kafka: StateChangeFailedException, "aborted ... another controller"
    """
    require_acting(now, broker)
    require(is_to_elect(now, broker),               "it is about to elect a leader")
    require_read(now, broker)
    require(as_read(now, broker).controller > now.belief[broker],
                                                    "a newer controller has written the state")

    new.context[broker].due  = False
    new.context[broker].read = None


@transition(broker=BROKERS, replica=BROKERS)
def controller_skips_isr_removal(now, new, broker, replica):
    """The state names a newer controller epoch: the replica stays in the ISR.

    A broker that shuts down is sent StopReplica all the same.

    Kafka: StateChangeFailedException, "... the leader and isr path was already written by another
    controller"
    """
    require_acting(now, broker)
    require_removal(now, broker, replica)
    require(as_read(now, broker).controller > now.belief[broker],
                                                    "a newer controller has written the state")

    new.context[broker].gone  = now.context[broker].gone.without(replica)
    new.context[broker].read  = None
    new.context[broker].stops = now.cache[broker].subject == replica


def is_to_delete(now, broker):
    """The controller deletes a znode: handled notifications, or the request for preferred leaders
    (at the end of a failover even if there is none)."""
    cache, noted, named = now.cache[broker], is_noted(now), not_(now.zk.log_dir_events.is_empty())
    idle = cache.stage == "idle"
    return any_of(
        cache.stage == "cleaning", cache.stage == "rewriting",
        all_of(cache.stage == "starting", has_notifications(now)),
        all_of(cache.stage == "looking", not_(is_wanted(now))),
        all_of(idle, is_next(now, broker, "isr_change"), noted),
        all_of(idle, is_next(now, broker, "log_dir_event"), named))


def has_a_write(now, broker):
    """By the state that it has read, the controller has something to write."""
    return all_of(
        has_pending_state_write(now, broker), not_(is_none(now.context[broker].read)),
        as_read(now, broker).controller <= now.belief[broker], would_write(now, broker))


@transition(shows="refused_write", only=lambda v: v.zk_writes_fenced, broker=BROKERS)
def controller_write_is_fenced(now, new, broker):
    """A deposed controller writes, the check of /controller_epoch fails, and it resigns.

    Kafka: ControllerMovedException, KAFKA-6082
    """
    require_controllership(now, broker)
    require_deposed(now, broker)
    require(any_of(is_to_delete(now, broker), some(PARTITIONS, lambda partition: has_a_write(
        focus(now, "partition", partition), broker))),
                                                    "it is about to write")

    new.belief[broker] = 0
    clear_context(now, new, broker)
