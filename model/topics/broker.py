"""A broker's side: it leads, follows, stops and deletes replicas in its directories.

A directory is found by its name. Data in it from an earlier topic of that name is treated as the
topic's own: epochs and offsets start again with each topic, so that they do not show a difference.

Source: kafka.server.ReplicaManager.becomeLeaderOrFollower, stopReplicas
"""

from model.language import (
    all_of,
    any_of,
    implies,
    lam,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.protocol.isr import require_leadership
from model.protocol.state import BROKERS
from model.topics.requests import is_leader_and_isr, is_stop_replica
from model.topics.state import CONTROLLERS, PARTITIONS


def require_process(now, broker):
    require(now.up.has(broker),                     "the broker's process runs")


def accepts(now, broker, request):
    """The partitions of a request that are not refused for another topic's directory."""
    if not version.topics_have_ids:
        return lambda p: request.order[p] != "none"
    mine = now.replica[broker]
    return lambda p: all_of(                        # INCONSISTENT_TOPIC_ID, KIP-516
        request.order[p] != "none",
        implies(mine[p].directory == "current", not_(request.outdated[p])),
        implies(mine[p].directory == "stale", request.outdated[p]))


@transition(broker=BROKERS, controller=CONTROLLERS)
def broker_obeys_leader_and_isr(now, new, broker, controller):
    """A broker leads, follows, or only opens the log if there is no leader.

    A missing log directory is created.
    """
    request = now.request[controller][broker]
    require_process(now, broker)
    require(is_leader_and_isr(request),                      "a LeaderAndIsr is under way to it")
    require(controller >= now.seen[broker],         "it has seen no newer controller")

    is_accepted = accepts(now, broker, request)

    def replica(p):
        mine, order, accepted = now.replica[broker][p], request.order[p], is_accepted(p)
        empty = all_of(accepted, mine.directory == "none")
        return mine.but(
            role=when(all_of(accepted, order == "lead"), "leader",
                      when(all_of(accepted, order == "follow"), "follower", mine.role)),
            directory=when(all_of(empty, request.outdated[p]), "stale",
                           when(empty, "current", mine.directory)))

    new.replica[broker] = lam(PARTITIONS, replica)
    new.seen[broker]    = controller
    new.risen           = any_of(now.risen, some(PARTITIONS, lambda p: all_of(
        is_accepted(p), request.order[p] == "lead",
        not_(request.outdated[p]), now.replica[broker][p].directory == "stale")))
    new.request[controller][broker] = request.but(
        order=lam(PARTITIONS, lambda p: "none"), outdated=lam(PARTITIONS, lambda p: False))


@transition(ends="refused", broker=BROKERS, controller=CONTROLLERS)
def broker_refuses_older_controller(now, new, broker, controller):
    """STALE_CONTROLLER_EPOCH: a request of a controller older than one that the broker knows."""
    request = now.request[controller][broker]
    require_process(now, broker)
    require(any_of(is_leader_and_isr(request), is_stop_replica(request)),
                                                    "a request is under way to it")
    require(controller < now.seen[broker],          "it has seen a newer controller")

    new.request[controller][broker] = request.but(
        order=lam(PARTITIONS, lambda p: "none"), outdated=lam(PARTITIONS, lambda p: False),
        stop=lam(PARTITIONS, lambda p: when(any_of(
            request.stop[p] == "stop", request.stop[p] == "delete", request.stop[p] == "fenced"),
            "none", request.stop[p])))


def require_stop_replica(now, broker, controller):
    request = now.request[controller][broker]
    require_process(now, broker)
    require(is_stop_replica(request),                       "a StopReplica is under way to it")
    require(not_(is_leader_and_isr(request)),                "nothing was sent to it before that")
    require(controller >= now.seen[broker],         "it has seen no newer controller")


@transition(broker=BROKERS, controller=CONTROLLERS)
def broker_stops_replicas(now, new, broker, controller):
    """A broker stops fetching; with delete it also deletes the log directory, and responds.

    A request that is fenced changes nothing.

    Kafka: its name changes at once, and it is removed a minute later
    """
    request = now.request[controller][broker]
    require_stop_replica(now, broker, controller)

    new.replica[broker] = lam(PARTITIONS, lambda p: now.replica[broker][p].but(
        role=when(any_of(request.stop[p] == "stop", request.stop[p] == "delete"),
                  "none", now.replica[broker][p].role),
        directory=when(request.stop[p] == "delete", "none", now.replica[broker][p].directory)))
    new.seen[broker] = controller
    new.request[controller][broker].stop = lam(PARTITIONS, lambda p: when(
        request.stop[p] == "delete", "deleted",
        when(any_of(request.stop[p] == "stop", request.stop[p] == "fenced"),
             "none", request.stop[p])))


@transition(broker=BROKERS, controller=CONTROLLERS)
def broker_cannot_delete(now, new, broker, controller):
    """KAFKA_STORAGE_ERROR: the directory cannot be renamed; the replica is gone, its data stays."""
    request = now.request[controller][broker]
    require_stop_replica(now, broker, controller)
    require(some(PARTITIONS, lambda p: request.stop[p] == "delete"),
                                                    "the request is to delete")

    new.replica[broker] = lam(PARTITIONS, lambda p: now.replica[broker][p].but(
        role=when(any_of(request.stop[p] == "stop", request.stop[p] == "delete"),
                  "none", now.replica[broker][p].role)))
    new.seen[broker] = controller
    new.request[controller][broker].stop = lam(PARTITIONS, lambda p: when(
        request.stop[p] == "delete", "failed",
        when(any_of(request.stop[p] == "stop", request.stop[p] == "fenced"),
             "none", request.stop[p])))
    new.disk_failed = True
    new.spent.failures = now.spent.failures + 1


def require_may_rejoin_isr(now, leader, replica, partition):
    state = now.zk.state[partition]
    # redundant "it has a ZooKeeper session", because the state still names it: the write would have
    # passed a moment earlier.
    require_leadership(now, leader, now.replica[leader][partition].role == "leader")
    require(state.leader == leader,                             "the state names it")
    require(now.replica[replica][partition].role == "follower", "the replica follows")
    require(not_(state.isr.has(replica)),                       "it is not in the ISR")


@transition(leader=BROKERS, replica=BROKERS, partition=PARTITIONS)
def leader_expands_isr(now, new, leader, replica, partition):
    """A follower has caught up: the leader takes it into the ISR, if it still is the leader.

    Why:   that the state names it stands for the zkVersion that the write checks: in
           `replication` it is that.
    """
    require_may_rejoin_isr(now, leader, replica, partition)

    new.zk.state[partition].isr = now.zk.state[partition].isr.including(replica)
