"""A broker handles LeaderAndIsr and StopReplica: it leads, follows, stops, deletes, or refuses.

Requests of one controller to one broker arrive in order; each controller has its own connection.

Source: ReplicaManager.becomeLeaderOrFollower, stopReplicas, Partition.makeLeader (2.3)
"""

from model.language import (
    BLANK,
    all_of,
    any_of,
    below,
    every,
    implies,
    not_,
    require,
    transition,
    version,
    when,
)
from model.protocol.leader_and_isr import (
    require_current_controller,
    require_known_epoch,
    require_leaderless,
    require_newer_epoch,
    require_older_controller,
    require_to_follow,
    require_to_lead,
)
from model.protocol.state import BROKERS, LEADER_EPOCHS
from model.reassignment.kip_455 import is_kip_455
from model.reassignment.replica_lists import brokers_where, listed
from model.reassignment.replicas import committed_by
from model.reassignment.state import CONTROLLERS


def is_next(now, broker, epoch, controller):
    """No older request of the same controller is in flight to the broker."""
    return all_of(
        every(below(LEADER_EPOCHS, epoch), lambda older: not_(
            now.request[older][controller].to.has(broker))),
        any_of(now.stop[controller][broker].what == "none",
               now.stop[controller][broker].epoch >= epoch))


def require_first_leader_and_isr(now, broker, epoch, controller):
    require(now.request[epoch][controller].to.has(broker),      "the request is in flight")
    require(now.up.has(broker),                                 "the process runs")
    require(not_(now.replica[broker].isr_write_unanswered),
            "none of its writes waits for a response")
    require(is_next(now, broker, epoch, controller),            "it is the next of its connection")


def require_newer(now, broker, epoch, controller):
    require_first_leader_and_isr(now, broker, epoch, controller)
    require_current_controller(controller, now.replica[broker].controller_epoch)
    require_newer_epoch(epoch, now.replica[broker].epoch)


def require_assigned(now, broker, epoch, controller):
    if version.leader_knows_replicas:                           # KAFKA-1097
        require(now.request[epoch][controller].replicas.has(broker),
                                               "the request lists the broker as a replica")


def consume(now, new, broker, epoch, controller):
    """The request is handled; its content is cleared when it was the last one of its epoch."""
    request = now.request[epoch][controller]
    nothing_left = request.to.is_only(broker)
    new.request[epoch][controller] = when(
        nothing_left, request.but(to=[], leader=None, isr=[], version=0, replicas=[]),
        request.but(to=request.to.without(broker)))


@transition(broker=BROKERS, epoch=LEADER_EPOCHS, controller=CONTROLLERS)
def broker_becomes_leader(now, new, broker, epoch, controller):
    """A broker becomes leader with the ISR, version and replicas of the request.

    If it led before, it keeps what it knows of its followers' log ends; otherwise it forgets that.
    Brokers that are neither replicas nor in the ISR are forgotten as well. Since 2.4 a broker that
    is no replica any more is forgotten even if it is in the ISR.
    Kafka: Partition.makeLeader, updateAssignmentAndIsr (2.4)
    """
    request, mine = now.request[epoch][controller], now.replica[broker]
    require_newer(now, broker, epoch, controller)
    require_assigned(now, broker, epoch, controller)
    require_to_lead(broker, request.leader)

    def is_known(b):
        if is_kip_455(version):
            return request.replicas.has(b)
        return any_of(request.replicas.has(b), request.isr.has(b))

    known = brokers_where(lambda b: all_of(mine.caught_up.has(b), is_known(b)))
    caught_up = when(mine.role == "leader", known, [])
    consume(now, new, broker, epoch, controller)
    new.replica[broker] = mine.but(
        role="leader", leader=broker, epoch=epoch, isr=request.isr, zk_version=request.version,
        controller_epoch=controller, replicas=request.replicas, caught_up=caught_up)
    new.committed = committed_by(
        now, broker, request.replicas, request.isr, caught_up, now.log[broker])


@transition(broker=BROKERS, epoch=LEADER_EPOCHS, controller=CONTROLLERS)
def broker_becomes_follower(now, new, broker, epoch, controller):
    """A broker becomes follower; a new replica begins with an empty log."""
    request = now.request[epoch][controller]
    require_newer(now, broker, epoch, controller)
    require_assigned(now, broker, epoch, controller)
    require_to_follow(broker, request.leader)

    consume(now, new, broker, epoch, controller)
    new.replica[broker] = now.replica[broker].but(
        role="follower", leader=request.leader, epoch=epoch, isr=[], zk_version=0,
        controller_epoch=controller, replicas=[], caught_up=[])


@transition(ends="refused", broker=BROKERS, epoch=LEADER_EPOCHS, controller=CONTROLLERS)
def leaderless_request_is_ignored(now, new, broker, epoch, controller):
    """A request without a leader changes no role: "cannot become follower"."""
    require_newer(now, broker, epoch, controller)
    require_assigned(now, broker, epoch, controller)
    require_leaderless(now.request[epoch][controller].leader)

    consume(now, new, broker, epoch, controller)
    new.replica[broker].controller_epoch = controller


@transition(ends="refused", only=lambda v: v.leader_knows_replicas,
            broker=BROKERS, epoch=LEADER_EPOCHS, controller=CONTROLLERS)
def request_to_non_replica_is_refused(now, new, broker, epoch, controller):
    """UNKNOWN_TOPIC_OR_PARTITION: the request does not list the broker as a replica.

    Step 7 sends LeaderAndIsr to the old replicas too, and lists only the target.
    """
    require_newer(now, broker, epoch, controller)
    require(not_(now.request[epoch][controller].replicas.has(broker)),
                                               "the request does not list the broker")

    consume(now, new, broker, epoch, controller)
    new.replica[broker].controller_epoch = controller


@transition(ends="refused", broker=BROKERS, epoch=LEADER_EPOCHS, controller=CONTROLLERS)
def older_controller_is_refused(now, new, broker, epoch, controller):
    """STALE_CONTROLLER_EPOCH: the broker has seen a newer controller."""
    require_first_leader_and_isr(now, broker, epoch, controller)
    require_older_controller(controller, now.replica[broker].controller_epoch)

    consume(now, new, broker, epoch, controller)


@transition(ends="refused", broker=BROKERS, epoch=LEADER_EPOCHS, controller=CONTROLLERS)
def older_epoch_is_refused(now, new, broker, epoch, controller):
    """The controller is current, and the broker knows this leader epoch or a newer one."""
    require_first_leader_and_isr(now, broker, epoch, controller)
    require_current_controller(controller, now.replica[broker].controller_epoch)
    require_known_epoch(epoch, now.replica[broker].epoch)

    consume(now, new, broker, epoch, controller)
    new.replica[broker].controller_epoch = controller


def has_all_leader_and_isr(now, broker, controller, epoch):
    """No LeaderAndIsr of the controller up to a leader epoch is in flight to the broker."""
    return every(LEADER_EPOCHS, lambda e: implies(
        e <= epoch, not_(now.request[e][controller].to.has(broker))))


def require_stop_replica(now, broker, controller):
    sent, update = now.stop[controller][broker], now.update[controller]
    require(now.up.has(broker),                "the process runs")
    require(not_(now.replica[broker].isr_write_unanswered),
            "none of its writes waits for a response")
    require(has_all_leader_and_isr(now, broker, controller, sent.epoch),
                                               "all earlier requests have arrived")
    require(not_(all_of(update.to.has(broker), update.epoch <= sent.epoch)),
                                               "and the UpdateMetadata that was")


@transition(broker=BROKERS, controller=CONTROLLERS)
def broker_stops_replica(now, new, broker, controller):
    """StopReplica: a follower stops fetching; a leader continues without followers."""
    mine = now.replica[broker]
    require(now.stop[controller][broker].what == "stop", "StopReplica is in flight")
    require_stop_replica(now, broker, controller)
    require_current_controller(controller, mine.controller_epoch)

    new.stop[controller][broker] = BLANK
    stopped = mine.but(role="stopped", controller_epoch=controller)
    new.replica[broker] = when(
        mine.role == "follower", stopped, mine.but(controller_epoch=controller))


@transition(broker=BROKERS, controller=CONTROLLERS)
def broker_deletes_replica(now, new, broker, controller):
    """StopReplica with delete: the broker no longer hosts the partition, and its log is deleted.

    Up to 2.5 the request has no leader epoch: the broker deletes its replica whatever it was sent
    since.
    """
    require(now.stop[controller][broker].what == "delete", "StopReplica with delete is in flight")
    require_stop_replica(now, broker, controller)
    require_current_controller(controller, now.replica[broker].controller_epoch)

    new.stop[controller][broker] = BLANK
    new.replica[broker] = {"controller_epoch": controller}
    new.log[broker] = BLANK
    if is_kip_455(version):
        new.crossed = any_of(now.crossed, all_of(
            now.zk.isr.has(broker), not_(listed(now.zk.assignment, broker))))


@transition(ends="refused", broker=BROKERS, controller=CONTROLLERS)
def stop_of_older_controller_is_refused(now, new, broker, controller):
    """STALE_CONTROLLER_EPOCH: a StopReplica of an older controller."""
    require(now.stop[controller][broker].what != "none", "StopReplica is in flight")
    require_stop_replica(now, broker, controller)
    require_older_controller(controller, now.replica[broker].controller_epoch)

    new.stop[controller][broker] = BLANK
