"""A broker handles LeaderAndIsr: it becomes leader, becomes follower, or refuses.

Source: ReplicaManager.becomeLeaderOrFollower, Partition.makeLeader, Partition.makeFollower (2.3).
"""

from model.language import (
    BLANK,
    all_of,
    is_none,
    lam,
    not_,
    require,
    smaller,
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
from model.protocol.state import BROKERS
from model.replication.state import CONTROLLERS, ELECTED, is_unlocked


def require_arrival(now, broker, epoch, controller):
    require(now.request[epoch][controller][broker].in_flight,   "the request is in flight")
    require(now.up.has(broker),                                 "the process runs")


def require_newer(now, broker, epoch, controller):
    require_current_controller(controller, now.replica[broker].controller_epoch)
    if version.leader_epoch_checked:                        # KAFKA-1188
        require_newer_epoch(epoch, now.replica[broker].epoch)


@transition(broker=BROKERS, epoch=ELECTED, controller=CONTROLLERS)
def broker_becomes_leader(now, new, broker, epoch, controller):
    """A broker becomes leader: it adopts ISR and version, and knows no other replica's log end."""
    request, mine = now.request[epoch][controller][broker], now.replica[broker]
    require_arrival(now, broker, epoch, controller)
    require_newer(now, broker, epoch, controller)
    require_to_lead(broker, now.elected[epoch])
    if version.isr_write_locks:
        require(is_unlocked(now, broker),      "none of its ISR writes waits for an answer")

    end = now.log[broker].end
    new.request[epoch][controller][broker] = BLANK
    on_election = version.epoch_recorded == "on_election"   # KAFKA-7415
    new.replica[broker] = mine.but(
        role="leader", leader=broker, epoch=epoch, isr=request.isr, zk_version=request.version,
        controller_epoch=controller, epoch_start=end, truncating=False,
        latest_epoch=epoch if on_election else mine.latest_epoch)
    if version.follower_ends_reset_on_election:
        new.known_end[broker] = lam(BROKERS, lambda other: None)
    else:                                                   # only if another led before
        new.known_end[broker] = lam(BROKERS, lambda other: when(
            mine.role == "leader", now.known_end[broker][other], None))
    new.gave_up = now.gave_up.without(broker)


@transition(broker=BROKERS, epoch=ELECTED, controller=CONTROLLERS)
def broker_becomes_follower(now, new, broker, epoch, controller):
    """A broker becomes follower: before it fetches it must find where its log diverges.

    Up to 0.10 it truncates its log to its high watermark. Up to 2.0 it may continue to fetch as
    before.
    """
    request, mine = now.request[epoch][controller][broker], now.replica[broker]
    log = now.log[broker]
    require_arrival(now, broker, epoch, controller)
    require_newer(now, broker, epoch, controller)
    require_to_follow(broker, now.elected[epoch])
    if version.isr_write_locks:
        require(is_unlocked(now, broker),      "none of its ISR writes waits for an answer")

    new.request[epoch][controller][broker] = BLANK
    follower = mine.but(
        role="follower", leader=now.elected[epoch], epoch=epoch, isr=[], epoch_start=0,
        zk_version=request.version, controller_epoch=controller,
        truncating=log.end > 0 if version.empty_logs_fetch else not_(is_none(mine.latest_epoch)))
    cut = log
    if version.truncation == "hw":
        cut = log.cut(smaller(mine.hw, log.end))
        follower = follower.but(truncating=False, latest_epoch=epoch_at(log, mine.hw))
    if version.truncates_again != "every_epoch":            # KAFKA-7164, KIP-320
        as_before = fetcher_continues(now, broker, epoch)
        cut = when(as_before, log, cut)
        follower = follower.but(
            truncating=when(as_before, mine.truncating, follower.truncating),
            latest_epoch=when(as_before, mine.latest_epoch, follower.latest_epoch))
    new.replica[broker]   = follower
    new.log[broker]       = cut
    new.known_end[broker] = lam(BROKERS, lambda other: None)
    new.gave_up           = now.gave_up.without(broker)
    if not (version.late_answers_ignored and version.fenced_fetchers_go_on):
        # its fetcher starts again
        slot = now.fetch[broker][now.elected[epoch]]
        new.fetch[broker][now.elected[epoch]] = when(slot.state == "given_up", BLANK, slot)


def fetcher_continues(now, broker, epoch):
    """The fetcher continues: up to 1.1 if the leader's id is the same, in 2.0 only if no epoch was
    missed between."""
    mine = now.replica[broker]
    same = all_of(mine.role == "follower", mine.leader == now.elected[epoch])
    if version.truncates_again == "new_leader":
        return same
    return all_of(same, mine.epoch == epoch - 1)


def epoch_at(log, end):
    """The epoch of the last record below `end`: the last entry of the epoch cache after a
    truncation."""
    return when(end == 0, None, log[end - 1].epoch)


@transition(fault=True, only=lambda v: not v.epoch_taken_with_role,
            broker=BROKERS, epoch=ELECTED, controller=CONTROLLERS)
def broker_fails_while_becoming_follower(now, new, broker, epoch, controller):
    """Becoming a follower fails in the middle: the epoch is stored already, the role is not.

    Why:   a read of the topic's configuration from ZooKeeper may throw between the two.
    Kafka: Partition.makeFollower before KAFKA-9307 (2.4.1) and KAFKA-9769 (2.7)
    """
    request = now.request[epoch][controller][broker]
    require_arrival(now, broker, epoch, controller)
    require_newer(now, broker, epoch, controller)
    require_to_follow(broker, now.elected[epoch])
    if version.isr_write_locks:
        require(is_unlocked(now, broker),      "none of its ISR writes waits for an answer")

    new.request[epoch][controller][broker] = BLANK
    new.replica[broker] = now.replica[broker].but(
        epoch=epoch, isr=[], zk_version=request.version, controller_epoch=controller)


@transition(ends="refused", broker=BROKERS, epoch=ELECTED, controller=CONTROLLERS)
def leaderless_request_is_ignored(now, new, broker, epoch, controller):
    """A request without a leader changes nothing: there is no leader to follow.

    Kafka: "cannot become follower since the new leader is unavailable"; the epoch does not advance
    """
    require_arrival(now, broker, epoch, controller)
    require_newer(now, broker, epoch, controller)
    require_leaderless(now.elected[epoch])

    new.request[epoch][controller][broker]  = BLANK
    new.replica[broker].controller_epoch    = controller


@transition(ends="refused", broker=BROKERS, epoch=ELECTED, controller=CONTROLLERS)
def older_controller_is_refused(now, new, broker, epoch, controller):
    """STALE_CONTROLLER_EPOCH: a request of an older controller than one that the broker knows."""
    # redundant "the process runs", because a process that died knows no controller.
    require_arrival(now, broker, epoch, controller)
    require_older_controller(controller, now.replica[broker].controller_epoch)

    new.request[epoch][controller][broker] = BLANK


@transition(ends="refused", only=lambda v: v.leader_epoch_checked,
            broker=BROKERS, epoch=ELECTED, controller=CONTROLLERS)
def older_epoch_is_refused(now, new, broker, epoch, controller):
    """The controller is current, but the broker already knows this leader epoch or a newer one."""
    # redundant "the process runs", because a process that died knows no leader epoch.
    require_arrival(now, broker, epoch, controller)
    require_current_controller(controller, now.replica[broker].controller_epoch)
    require_known_epoch(epoch, now.replica[broker].epoch)

    new.request[epoch][controller][broker]  = BLANK
    new.replica[broker].controller_epoch    = controller
