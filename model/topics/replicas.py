"""Batches of the replica state machine: to Online by a LeaderAndIsr, to Offline out of the ISR.

Source: kafka.controller.ZkReplicaStateMachine.doHandleStateChanges, removeReplicasFromIsr (2.4)
"""

from model.language import all_of, any_of, every, implies, lam, not_, some, version, when
from model.protocol.state import BROKERS
from model.topics.elections import state_writer
from model.topics.state import PARTITIONS
from model.topics.tables import may_become, replica_table
from model.topics.zookeeper import in_list


def is_assigned(now, broker, partition, replica):
    """The replica is in the list that the controller knows."""
    return in_list(now.cache[broker].known[partition], replica)


def is_live_replica(now, broker, partition, replica):
    return all_of(is_assigned(now, broker, partition, replica), now.cache[broker].live.has(replica))


def is_dead_replica(now, broker, partition, replica):
    return all_of(is_assigned(now, broker, partition, replica),
                  not_(now.cache[broker].live.has(replica)))


def is_ineligible(now, broker, partition, replica):
    return now.cache[broker].replica[partition][replica] == "ReplicaDeletionIneligible"


def table_allows(now, broker, partition, replica, target):
    return may_become(replica_table(), now.cache[broker].replica[partition][replica], target)


def may_be_new(now, broker, partition, replica):
    return table_allows(now, broker, partition, replica, "NewReplica")


def may_go_online(now, broker, partition, replica):
    return table_allows(now, broker, partition, replica, "OnlineReplica")


def may_be_stopped(now, broker, partition, replica):
    """The table has the transition to OfflineReplica: StopReplica is sent in any case."""
    return table_allows(now, broker, partition, replica, "OfflineReplica")


def may_go_offline(now, broker, partition, replica):
    """The table has the transition; up to 1.1 the partition must have a state, too."""
    tabled = may_be_stopped(now, broker, partition, replica)
    if version.leaderless_replicas_stop:                        # KAFKA-6650
        return tabled
    return all_of(tabled, now.cache[broker].led[partition])


def deletion_may_start(now, broker, partition, replica):
    return table_allows(now, broker, partition, replica, "ReplicaDeletionStarted")


def deletion_may_succeed(now, broker, partition, replica):
    return table_allows(now, broker, partition, replica, "ReplicaDeletionSuccessful")


def may_be_ineligible(now, broker, partition, replica):
    return table_allows(now, broker, partition, replica, "ReplicaDeletionIneligible")


def may_leave(now, broker, partition, replica):
    return table_allows(now, broker, partition, replica, "NonExistentReplica")


MAY = {
    "NewReplica": may_be_new, "OnlineReplica": may_go_online, "OfflineReplica": may_go_offline,
    "ReplicaDeletionStarted": deletion_may_start,
    "ReplicaDeletionSuccessful": deletion_may_succeed,
    "ReplicaDeletionIneligible": may_be_ineligible, "NonExistentReplica": may_leave,
}


def moved_to(now, broker, target, chosen):
    """All replica states after a batch to the target, for the replicas with `chosen(p, b)`."""
    may, states = MAY[target], now.cache[broker].replica
    return lam(PARTITIONS, lambda p: lam(BROKERS, lambda b: when(
        all_of(chosen(p, b), may(now, broker, p, b)), target, states[p][b])))


def going_offline(now, broker, chosen):
    """The chosen replicas that go offline and leave the ISR, except if the state is deleted by then
    or a newer controller wrote it."""
    may_write, _ = state_writer(now, broker)
    led = now.cache[broker].led
    return lambda p, b: all_of(
        chosen(p, b), may_go_offline(now, broker, p, b),
        any_of(not_(led[p]), all_of(now.zk.state[p].exists, may_write(p))))


def removes(now, broker, chosen):
    """A batch in which the chosen replicas go offline writes a state."""
    gone = going_offline(now, broker, chosen)
    return some(PARTITIONS, lambda p: all_of(
        now.cache[broker].led[p], is_touched(now, p, gone)))


def named(now, p, goes):
    """The leader in the state after these replicas have left, or none."""
    leader = now.zk.state[p].leader
    return when(some(BROKERS, lambda b: all_of(leader == b, goes(p, b))), None, leader)


def is_touched(now, p, goes):
    """A replica that leaves is in the ISR of the partition's state."""
    state = now.zk.state[p]
    return all_of(state.exists, some(BROKERS, lambda b: all_of(state.isr.has(b), goes(p, b))))


def states_without(now, broker, goes):
    """The partitions' states after the replicas that go are taken out of the ISR.

    The last member of an ISR is kept; if all go, it is the one that led.
    """
    may_write, written = state_writer(now, broker)

    def state(p):
        was = now.zk.state[p]
        all_go  = every(BROKERS, lambda b: implies(was.isr.has(b), goes(p, b)))
        no_leader = not_(some(BROKERS, lambda b: was.leader == b))
        isr = was.isr.such_that(lambda b: when(
            all_go, any_of(no_leader, was.leader == b), not_(goes(p, b))))
        return when(
            all_of(now.cache[broker].led[p], is_touched(now, p, goes), may_write(p)),
            written(p, leader=named(now, p, goes), isr=isr), was)

    return lam(PARTITIONS, state)


def leaders_after_leaving(now, broker, goes):
    """The known leaders after the replicas in `goes` have left."""
    cache = now.cache[broker]
    return lam(PARTITIONS, lambda p: when(
        all_of(cache.led[p], some(BROKERS, lambda b: goes(p, b))),
        named(now, p, goes), cache.leader[p]))


def any_in(cache, *states):
    """Some replica is in one of these states."""
    return some(PARTITIONS, lambda p: some(BROKERS, lambda b: any_of(
        *(cache.replica[p][b] == state for state in states))))
