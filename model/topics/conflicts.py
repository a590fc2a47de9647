"""Conflicts: a leader writes the ISR between a controller's read of a state and its write.

The controller's write names the zkVersion that it read, and fails; the controller reads again, and
acts on the new state. A creation names no version, and two controllers cannot both pass the fence,
so that only a leader's write can conflict.

Source: ZkPartitionStateMachine.doElectLeaderForPartitions, ZkReplicaStateMachine
.doRemoveReplicasFromIsr (2.4): BADVERSION, retried
"""

from model.language import all_of, any_of, not_, require, some, transition, version
from model.protocol.controllership import (
    is_fenced,
    require_controllership,
    require_deposed,
    require_fence,
    resign,
)
from model.protocol.state import BROKERS
from model.topics.broker import require_may_rejoin_isr
from model.topics.changes import is_of_failed
from model.topics.deletion import is_retried, is_to_be_deleted
from model.topics.elections import is_to_create, is_to_elect
from model.topics.leaders import is_followed, is_to_move
from model.topics.replicas import going_offline, is_ineligible, is_touched
from model.topics.state import PARTITIONS


def is_electing(now, broker):
    return any_of(*(now.cache[broker].task == task for task in (
        "starts_partitions", "elects_for_failed", "elects_for_started")))


def is_to_remove(now, broker, partition):
    """The controller is about to take a replica out of the partition's ISR."""
    cache = now.cache[broker]

    def touches(chosen):
        return all_of(cache.led[partition], is_touched(now, partition, going_offline(
            now, broker, lambda p, b: chosen(now, broker, p, b))))

    removals = [
        all_of(cache.task == "takes_offline",   touches(is_of_failed)),
        all_of(cache.task == "stops_followers", touches(is_followed)),
        all_of(cache.task == "stops",           touches(is_to_be_deleted)),
        all_of(is_retried(now, broker),         touches(is_ineligible))]
    if version.dead_replicas_taken_offline:
        removals.append(all_of(cache.task == "starts_replicas", touches(is_ineligible)))
    return any_of(*removals)


def is_to_write(now, broker, partition):
    """The controller is about to write the partition's state over another."""
    cache = now.cache[broker]
    elects = all_of(is_electing(now, broker), not_(cache.queued),
                    is_to_elect(now, broker, partition))
    moves = all_of(cache.task == "moves_leaders", is_to_move(now, broker, partition))
    return any_of(elects, moves, is_to_remove(now, broker, partition))


def is_to_create_state(now, broker, partition):
    cache = now.cache[broker]
    return all_of(is_to_create(now, broker, partition), any_of(
        cache.task == "elects_new", all_of(is_electing(now, broker), not_(cache.queued))))


@transition(leader=BROKERS, replica=BROKERS, partition=PARTITIONS, broker=BROKERS)
def leader_expands_isr_before_controller_writes(now, new, leader, replica, partition, broker):
    """A leader adds a follower to the ISR after a controller has read the state to overwrite it.

    Story: specs/stories/leader_writes_before_the_controller.story
    """
    require_may_rejoin_isr(now, leader, replica, partition)
    require(is_to_write(now, broker, partition),    "the controller has read the state to write it")

    new.zk.state[partition].isr = now.zk.state[partition].isr.including(replica)
    new.cache[broker].outdated  = True
    new.spent.conflicts         = now.spent.conflicts + 1


@transition(shows="refused_write", broker=BROKERS)
def controller_write_conflicts(now, new, broker):
    """BADVERSION: the controller reads the state again, and elects and removes by the new state."""
    require_controllership(now, broker)
    # Here nobody knows versions: the leader who wrote first has left this note.
    require(now.cache[broker].outdated,             "the version that it read is out of date")
    require_fence(now, broker)

    new.cache[broker].outdated = False


@transition(shows="refused_write", only=is_fenced, broker=BROKERS)
def controller_write_is_fenced(now, new, broker):
    """A deposed controller's write fails at the check of /controller_epoch, and it resigns.

    It may write anything, and resigns in the middle of an event.

    Kafka: ControllerMovedException, KAFKA-6082
    """
    require_controllership(now, broker)
    cache = now.cache[broker]
    require(any_of(
        cache.outdated, cache.task == "unregisters", cache.task == "removes_request",
        cache.task == "rewrites",
        some(PARTITIONS, lambda p: any_of(
            is_to_write(now, broker, p), is_to_create_state(now, broker, p)))),
                                                    "it is about to write")
    require_deposed(now, broker)

    resign(new, broker)
