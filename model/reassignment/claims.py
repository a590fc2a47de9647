"""Claims about reassignment, and its limits, each with its condition.

Kafka checks the ISR once, at step 4, and treats the old replicas as dispensable from then on. If a
target is dropped from the ISR between step 4 and step 9, the last copy may be deleted. Exploration
found this and the other limits of `is_excused`. The claims about copies and the ISR are about runs
that met none of these limits; other claims say that the limits are reachable.
"""

from model.language import (
    all_of,
    always,
    always_step,
    any_of,
    every,
    how_many,
    implies,
    not_,
    some,
    sometimes,
    version,
)
from model.protocol.controller_claims import leads_from_isr
from model.protocol.state import BROKERS
from model.reassignment.kip_455 import is_kip_455, is_twelve_steps
from model.reassignment.replica_lists import is_empty, is_same, listed
from model.reassignment.state import CONTROLLERS, RECORDS
from model.reassignment.writing import is_at


def is_safe(now, broker):
    """The broker has every committed record."""
    return now.committed.is_subset_of(now.log[broker])


def is_excused(now):
    """One of the limits was met, so that the claims do not apply.

    A target left the ISR while the old replicas were being removed. Or the response to a leader's
    ISR write was lost, and another write followed before the leader could read the state back. Or a
    controller read the cluster after it was deposed. Or, since KIP-455, a replica that a changed
    reassignment no longer needs joined the ISR just before it was deleted: it stays in the ISR
    until the leader removes it, and the next reassignment takes it for a replica that has caught
    up.
    """
    return any_of(now.slipped, now.overtaken, now.read_late, now.crossed)


def is_requested(now):
    """A reassignment was requested, and ZooKeeper still has the request."""
    return not_(all_of(
        is_empty(now.zk.requested), now.zk.adding.is_empty(), now.zk.removing.is_empty()))


@always("every member of the registered ISR that is assigned has every committed record, but for "
        "the limits",
        companion="a_move_is_done")
def isr_holds_committed(now):
    """Up to 2.3 every member is assigned (`isr_is_assigned`)."""
    return any_of(is_excused(now), every(BROKERS, lambda b: implies(
        all_of(now.zk.isr.has(b), is_counted(now, b)), is_safe(now, b))))


def is_counted(now, broker):
    if is_twelve_steps(version):
        return now.zk.isr.has(broker)
    return listed(now.zk.assignment, broker)


@always("the registered leader has every committed record, but for the limits",
        companion="a_move_is_done")
def no_message_loss(now):
    return any_of(is_excused(now), every(BROKERS, lambda b: implies(
        now.zk.leader == b, is_safe(now, b))))


@always("all original replicas or all target replicas have every committed record, except those "
        "that were outside the ISR when the reassignment was requested, or left it since, unless "
        "a request was withdrawn",
        companion="a_move_is_done")
def one_replica_set_has_all_commits(now):
    def are_safe(places):
        return every(BROKERS, lambda b: implies(
            all_of(listed(places, b), not_(now.dropped.has(b))), is_safe(now, b)))
    return any_of(
        is_excused(now), now.withdrawn, are_safe(now.origin), are_safe(now.wanted))


@always("the registered leader, if there is one, is in the registered ISR",
        companion="the_leader_is_moved")
def leader_in_isr(now):
    return leads_from_isr(now.zk)


@always("the registered ISR has replicas of the registered assignment only, but for "
        "the limits",
        companion="a_move_is_done", only=is_twelve_steps)
def isr_is_assigned(now):
    return any_of(is_excused(now), every(BROKERS, lambda b: implies(
        now.zk.isr.has(b), listed(now.zk.assignment, b))))


@always("a request is removed from ZooKeeper only when its reassignment is done or refused, "
        "unless a request was withdrawn",
        companion="a_move_is_done")
def request_is_removed_only_when_done(now):
    return any_of(
        now.withdrawn, is_requested(now), is_empty(now.wanted),
        is_same(now.zk.assignment, now.wanted))


@always("the entry of another partition stays in the request until its reassignment is done, "
        "unless a request was withdrawn",
        companion="two_moves_are_asked_for")
def other_request_is_kept(now):
    return any_of(now.withdrawn, not_(now.other_is_open), now.zk.other == "moving")


@always("without a request the assignment is a list that was requested, in its order, unless a "
        "request was withdrawn, or the topic is to be deleted",
        companion="a_move_is_done")
def assignment_is_original_or_requested(now):
    return any_of(
        now.withdrawn, now.zk.deleting, is_requested(now), is_same(now.zk.assignment, now.origin),
        is_same(now.zk.assignment, now.wanted))


@always("a controller that was elected after a request was withdrawn does not work on it",
        companion="a_request_is_withdrawn", only=is_twelve_steps)
def withdrawn_reassignments_do_not_start(now):
    return every(BROKERS, lambda b: any_of(
        is_empty(now.cache[b].target), now.belief[b] <= now.withdrawn_in,
        not_(now.withdrawn), now.belief[b] < now.zk.epoch,
        is_same(now.cache[b].target, now.zk.requested)))


@always("clients are notified of every leader epoch that a leader is notified of, unless a deposed "
        "controller notified the leader",
        companion="the_leader_is_moved")
def clients_know_the_leader_epoch(now):
    # A controller may be deposed at any time between what it reads or writes and what it sends.
    return every(BROKERS, lambda b: implies(
        all_of(now.replica[b].role == "leader", now.replica[b].controller_epoch == now.zk.epoch),
        now.replica[b].epoch <= now.metadata_epoch))


def is_notified_of_all(now, controller, broker):
    """The newest controller waits for events, and all its requests to a running broker have
    arrived."""
    return all_of(
        now.belief[controller] == now.zk.epoch, is_at(now, controller, "idle"),
        now.cache[controller].reached.has(broker), now.up.has(broker),
        every(CONTROLLERS, lambda c: implies(
            c == now.belief[controller], not_(now.update[c].to.has(broker)))))


@always("a broker sends clients to the registered leader whenever the newest controller waits for "
        "events, and all that it sent the broker has arrived, unless the topic is to be deleted",
        companion="clients_are_sent_to_a_deleted_replica")
def metadata_names_the_leader(now):
    return every(BROKERS, lambda b: every(BROKERS, lambda notified: implies(
        all_of(is_notified_of_all(now, b, notified), not_(now.cache[b].deleting)),
        now.metadata[notified].leader == now.zk.leader)))


@always("a leader can remove a lagging broker from its ISR, whether it is a replica or not",
        companion="isr_has_a_non_replica")
def lagging_replicas_can_leave_the_isr(now):
    return not_(now.stuck)


@always_step("the registered leader epoch never goes back",
             companion="the_leader_is_moved")
def leader_epoch_never_falls(now, after):
    return after.zk.leader_epoch >= now.zk.leader_epoch


@sometimes("a move is done: the target is the assignment, it was not before, and no request is "
           "there")
def a_move_is_done(now):
    return all_of(
        not_(is_empty(now.wanted)), not_(is_requested(now)), is_same(now.zk.assignment, now.wanted),
        not_(is_same(now.wanted, now.origin)))


@sometimes("the leader of the partition is none of its original replicas")
def the_leader_is_moved(now):
    return some(BROKERS, lambda b: all_of(
        now.replica[b].role == "leader", not_(listed(now.origin, b)), now.zk.leader == b))


@sometimes("a leader has a lagging broker in its ISR that is not one of its replicas")
def isr_has_a_non_replica(now):
    return some(BROKERS, lambda leader: some(BROKERS, lambda b: all_of(
        now.replica[leader].role == "leader", leader != b, now.replica[leader].isr.has(b),
        not_(now.replica[leader].replicas.has(b)), not_(now.replica[leader].caught_up.has(b)))))


@sometimes("a controller resumes a move that another one began")
def reassignment_survives_failover(now):
    return some(BROKERS, lambda b: all_of(
        now.belief[b] > 1, now.belief[b] == now.zk.epoch, is_at(now, b, "leaving"),
        not_(is_empty(now.cache[b].target))))


@sometimes("a move is cancelled, and done with: the partition is where it was", only=is_kip_455)
def a_move_is_cancelled(now):
    return all_of(
        not_(is_requested(now)), not_(is_empty(now.wanted)), is_same(now.wanted, now.origin),
        is_same(now.zk.assignment, now.wanted), now.zk.leader_epoch > 1)


@sometimes("a broker sends clients to one whose replica is deleted: UpdateMetadata is on its way")
def clients_are_sent_to_a_deleted_replica(now):
    return some(BROKERS, lambda b: some(BROKERS, lambda gone: all_of(
        now.metadata[b].leader == gone, now.up.has(gone), now.replica[gone].role == "none",
        not_(listed(now.zk.assignment, gone)))))


@sometimes("a request has an entry for another partition")
def two_moves_are_asked_for(now):
    return now.zk.other == "moving"


@sometimes("a request is withdrawn while a controller works on it", only=is_twelve_steps)
def a_request_is_withdrawn(now):
    return all_of(now.withdrawn, some(BROKERS, lambda b: not_(is_empty(now.cache[b].target))))


@sometimes("during a reassignment, fewer replicas have every committed record than the original "
           "list has members, or than the target has")
def fewer_replicas_have_all_commits(now):
    safe = how_many(BROKERS, lambda b: is_safe(now, b))
    return all_of(
        is_requested(now), safe < how_many(BROKERS, lambda b: listed(now.origin, b)),
        safe < how_many(BROKERS, lambda b: listed(now.wanted, b)))


@sometimes("a leader took its own ISR write for a failure, because another write followed it")
def a_successful_isr_write_looks_failed(now):
    return now.overtaken


@sometimes("a controller read the cluster after it was deposed")
def a_deposed_controller_reads(now):
    return now.read_late


@sometimes("a replica that a changed move left out was in the ISR when it was deleted",
           only=is_kip_455)
def a_replica_is_deleted_while_in_the_isr(now):
    return now.crossed


@sometimes("the last copy of a committed record is deleted by a move, in the gap")
def the_last_copy_is_deleted(now):
    return not_(every(RECORDS, lambda record: implies(
        now.committed.has(record), some(BROKERS, lambda b: now.log[b].has(record)))))


CLAIMS = (
    isr_holds_committed, no_message_loss, one_replica_set_has_all_commits, leader_in_isr,
    isr_is_assigned, request_is_removed_only_when_done, other_request_is_kept,
    assignment_is_original_or_requested, withdrawn_reassignments_do_not_start,
    clients_know_the_leader_epoch, metadata_names_the_leader, lagging_replicas_can_leave_the_isr,
    leader_epoch_never_falls, a_move_is_done, the_leader_is_moved, isr_has_a_non_replica,
    reassignment_survives_failover, two_moves_are_asked_for, clients_are_sent_to_a_deleted_replica,
    a_request_is_withdrawn, a_move_is_cancelled, fewer_replicas_have_all_commits,
    the_last_copy_is_deleted, a_successful_isr_write_looks_failed, a_deposed_controller_reads,
    a_replica_is_deleted_while_in_the_isr)
