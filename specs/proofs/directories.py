"""Proves that brokers' directories belong to the existing topic: no deleted topic comes back.

This holds if a starting broker knows the newest controller epoch (`controller_epoch_kept`, which no
release has). Without it, a deposed controller makes a broker create a deleted directory again:
`specs/stories/deposed_controller_brings_a_topic_back.story`.

A broker *refuses* an epoch if it has seen a newer one, or will have when it starts. A LeaderAndIsr
under way, or a controller's memory, is about the existing topic, or has an epoch that all brokers
it names refuse. The reason is that a topic is removed only after each of its replicas has answered
the newest controller.
"""

from collections.abc import Mapping

from model.language import all_of, any_of, implies, is_none, not_, when
from model.protocol.state import BROKERS
from model.topics.claims import deleted_data_is_never_served
from model.topics.state import CONTROLLERS, PARTITIONS, PLACES
from model.topics.zookeeper import has_partition, in_list, topic_exists
from specs.invariants import Invariant, invariant
from specs.proofs.topics import (
    BLANK_TASK,
    CONTROLLERSHIP,
    OF_LEADER_AND_ISR,
    as_invariant,
    bounced_brokers_are_not_live_before_they_are_started,
    bounced_brokers_are_not_shutting_down,
    brokers_shutting_down_are_not_live,
    controllers_awaiting_deletions_have_queued_the_topic,
    controllers_queue_nothing_before_they_read,
    controllers_removing_znodes_have_forgotten_the_topic,
    controllers_removing_znodes_have_no_replica_left,
    created_topics_are_not_queued,
    delete_requests_are_of_controllers_that_read,
    epochs_were_won,
    failed_brokers_are_being_handled,
    failed_brokers_are_not_live,
    failures_and_starts_are_handled_for_topics_that_stay,
    followed_partitions_are_not_queued,
    is_at,
    is_newest,
    known_replica_lists_are_not_empty,
    newest_controller_knows_no_gap,
    newest_controller_knows_the_replica_lists,
    one_winner_per_epoch,
    other_brokers_know_no_topic,
    queued_topics_are_known,
    replicas_are_assigned,
    stop_replicas_are_of_controllers_past_failover,
    stop_replicas_go_to_brokers_shutting_down_or_deleting,
)


def refuses(now, b, c):
    """The broker has seen a newer controller than this epoch's, or will have when it starts."""
    return when(now.up.has(b), c < now.seen[b], c < now.zk.epoch)


def is_replica(now, b, p):
    """The broker has a replica of the partition as it is in ZooKeeper."""
    return in_list(now.zk.assignment[p], b)


def mentions(now, controller, p, b):
    """A controller may send LeaderAndIsr about a partition to a broker, as far as it knows."""
    return all_of(now.cache[controller].led[p], in_list(now.cache[controller].known[p], b))


def is_unknown(now, newest, p):
    """The newest controller has read ZooKeeper, and does not know the partition."""
    return all_of(is_newest(now, newest), not_(is_at(now, newest, BLANK_TASK)),
                  not_(has_partition(now.cache[newest].known, p)))


# -- lists -----------------------------------------------------------------------------------------


@invariant("a partition that is not there has no replica",
           over=(PARTITIONS, PLACES), why="a list begins with its first place")
def absent_partitions_have_no_replica(now, p, k):
    return implies(not_(has_partition(now.zk.assignment, p)), is_none(now.zk.assignment[p][k]))


@invariant("partitions are there without a gap",
           over=(PARTITIONS, PARTITIONS), why="without partition 0 there is none")
def partitions_have_no_gap(now, p, q):
    return implies(all_of(q < p, has_partition(now.zk.assignment, p)),
                   has_partition(now.zk.assignment, q))


@invariant("without a topic no broker has a replica",
           over=(PARTITIONS, PLACES),
           why="what is there when a topic is created belongs to no topic")
def without_a_topic_there_is_no_list(now, p, k):
    return any_of(topic_exists(now), is_none(now.zk.assignment[p][k]))


@invariant("the replicas that the newest controller knows of a partition are its replicas",
           over=(BROKERS, PARTITIONS, BROKERS), why="when all that it knows are done, all are")
def newest_controller_knows_the_replicas(now, newest, p, b):
    known = now.cache[newest].known
    return implies(all_of(is_newest(now, newest), has_partition(known, p)),
                   in_list(known[p], b) == is_replica(now, b, p))


@invariant("a state is of a partition that is there",
           over=(PARTITIONS,), why="a topic's node goes after the states")
def states_are_of_partitions(now, p):
    return implies(now.zk.state[p].exists, has_partition(now.zk.assignment, p))


@invariant("a controller knows each partition that it knows to have a state",
           over=(BROKERS, PARTITIONS), why="what it takes up has none yet, as far as it knows")
def partitions_with_a_known_state_are_known(now, controller, p):
    return implies(now.cache[controller].led[p], has_partition(now.cache[controller].known, p))


@invariant("what a broker that goes follows has a state",
           over=(BROKERS, PARTITIONS), why="only of such partitions LeaderAndIsr is sent")
def followed_partitions_have_a_state(now, controller, p):
    return implies(now.cache[controller].followed[p], now.cache[controller].led[p])


# -- what is of the topic that is there ------------------------------------------------------------


@invariant("nobody has seen an epoch that nobody won",
           over=(BROKERS,), why="a broker that starts has seen the newest")
def seen_epochs_were_won(now, b):
    return now.seen[b] <= now.zk.epoch


@invariant("a LeaderAndIsr is of an epoch that was won and heard of",
           over=(CONTROLLERS, BROKERS, BROKERS, PARTITIONS),
           why="a new controller has none under way")
def leader_and_isr_is_of_won_epochs(now, c, b, replica, p):
    return implies(now.request[c][replica].order[p] != "none", all_of(
        c <= now.zk.epoch, now.campaign[b] != c))


@invariant("a LeaderAndIsr under way is about the topic that is there, or refused",
           over=(CONTROLLERS, BROKERS, PARTITIONS), why="what is obeyed makes a directory")
def leader_and_isr_is_about_the_topic_or_refused(now, c, b, p):
    request = now.request[c][b]
    return implies(request.order[p] != "none", any_of(
        refuses(now, b, c), all_of(not_(request.outdated[p]), is_replica(now, b, p))))


@invariant("a directory is of the topic that is there, and its broker has a replica of it",
           over=(BROKERS, PARTITIONS), why="what is there is not of a topic that was deleted")
def directories_are_of_the_topic(now, b, p):
    directory = now.replica[b][p].directory
    return implies(directory != "none", all_of(directory == "current", is_replica(now, b, p)))


@invariant("what a controller would send is about the topic that is there, or refused",
           over=(BROKERS, BROKERS, PARTITIONS), why="a deposed one sends what it remembers")
def memories_are_of_the_topic_or_refused(now, controller, b, p):
    return implies(mentions(now, controller, p, b), any_of(
        refuses(now, b, now.belief[controller]), is_replica(now, b, p)))


# -- what the newest controller is done with -------------------------------------------------------


@invariant("of a partition that the newest controller does not know nobody has a directory",
           over=(BROKERS, BROKERS, PARTITIONS), why="what it forgets is deleted everywhere")
def unknown_partitions_have_no_directory(now, newest, b, p):
    return implies(is_unknown(now, newest, p), now.replica[b][p].directory == "none")


@invariant("and every LeaderAndIsr about it is refused",
           over=(BROKERS, BROKERS, PARTITIONS, CONTROLLERS), why="or there would be one again")
def leader_and_isr_about_unknown_partitions_is_refused(now, newest, b, p, c):
    return implies(
        all_of(is_unknown(now, newest, p), now.request[c][b].order[p] != "none"),
        refuses(now, b, c))


@invariant("and so is every one that a controller would send",
           over=(BROKERS, BROKERS, PARTITIONS, BROKERS), why="or it would be under way")
def future_leader_and_isr_about_unknown_partitions_is_refused(now, newest, b, p, controller):
    return implies(
        all_of(is_unknown(now, newest, p), mentions(now, controller, p, b)),
        refuses(now, b, now.belief[controller]))


@invariant("and it has no state, but while the topic's nodes are removed",
           over=(BROKERS, PARTITIONS), why="a deposed controller that reads finds nothing to send")
def unknown_partitions_have_no_state(now, newest, p):
    return implies(
        all_of(is_unknown(now, newest, p), not_(is_at(now, newest, "unregisters"))),
        not_(now.zk.state[p].exists))


@invariant("while they are removed, the replicas of a state that is left have seen who does it",
           over=(BROKERS, BROKERS, PARTITIONS), why="they refuse a deposed one that reads it")
def replicas_of_a_state_left_have_seen_the_deleting_controller(now, newest, b, p):
    return implies(
        all_of(is_newest(now, newest), is_at(now, newest, "unregisters"), now.up.has(b),
               now.zk.state[p].exists, is_replica(now, b, p)),
        now.seen[b] == now.zk.epoch)


@invariant("a replica is deleted only of a queued topic",
           over=(BROKERS, BROKERS, PARTITIONS), why="nothing else is sent about it then")
def deleted_replicas_are_of_queued_topics(now, controller, b, p):
    return implies(now.cache[controller].replica[p][b] == "ReplicaDeletionSuccessful",
                   now.cache[controller].queued)


@invariant("a StopReplica, or its answer, is of a broker that is live or asked to go",
           over=(CONTROLLERS, BROKERS, BROKERS, PARTITIONS),
           why="what was sent to one that starts is dropped before")
def stop_replicas_go_to_known_brokers(now, c, controller, b, p):
    cache = now.cache[controller]
    return implies(
        all_of(now.request[c][b].stop[p] != "none", now.belief[controller] == c),
        any_of(cache.live.has(b), cache.shutting.has(b)))


@invariant("who has deleted a replica for the newest controller has no directory of it, and has "
           "seen that one, which sends it no LeaderAndIsr about it",
           over=(BROKERS, CONTROLLERS, BROKERS, PARTITIONS), why="so it has none again")
def deleted_replicas_stay_deleted(now, newest, c, b, p):
    deleted = any_of(now.cache[newest].replica[p][b] == "ReplicaDeletionSuccessful",
                     now.request[c][b].stop[p] == "deleted")
    return implies(all_of(is_newest(now, newest), now.belief[newest] == c, deleted), all_of(
        now.replica[b][p].directory == "none", now.request[c][b].order[p] == "none",
        implies(now.up.has(b), now.seen[b] == now.zk.epoch)))


@invariant("and that one has heard of it",
           over=(BROKERS, BROKERS, PARTITIONS), why="it forgets the topic when it has, of all")
def confirmed_deletions_are_done(now, newest, b, p):
    state = now.cache[newest].replica[p][b]
    return implies(
        all_of(is_newest(now, newest), state == "ReplicaDeletionSuccessful"), all_of(
            now.replica[b][p].directory == "none",
            implies(now.up.has(b), now.seen[b] == now.zk.epoch)))


DELETED_DATA_IS_NEVER_SERVED = as_invariant(deleted_data_is_never_served)

_RESTS_ON: tuple[tuple[Invariant, tuple[Invariant, ...]], ...] = (
    (absent_partitions_have_no_replica, (known_replica_lists_are_not_empty,)),
    (partitions_have_no_gap, (newest_controller_knows_no_gap, queued_topics_are_known,
                              absent_partitions_have_no_replica)),
    (without_a_topic_there_is_no_list, (
        absent_partitions_have_no_replica, partitions_have_no_gap,
        newest_controller_knows_the_replica_lists, known_replica_lists_are_not_empty,
        queued_topics_are_known)),
    (newest_controller_knows_the_replicas, (
        *CONTROLLERSHIP, partitions_have_no_gap, newest_controller_knows_the_replica_lists,
        absent_partitions_have_no_replica, known_replica_lists_are_not_empty,
        controllers_removing_znodes_have_forgotten_the_topic)),
    (states_are_of_partitions, (
        *CONTROLLERSHIP, partitions_have_no_gap, absent_partitions_have_no_replica,
        newest_controller_knows_the_replicas, unknown_partitions_have_no_state,
        queued_topics_are_known, known_replica_lists_are_not_empty,
        partitions_with_a_known_state_are_known)),
    (partitions_with_a_known_state_are_known, (
        *CONTROLLERSHIP, known_replica_lists_are_not_empty, states_are_of_partitions)),
    (followed_partitions_have_a_state, (followed_partitions_are_not_queued,)),
    (seen_epochs_were_won, (
        epochs_were_won, leader_and_isr_is_of_won_epochs,
        stop_replicas_are_of_controllers_past_failover)),
    (leader_and_isr_is_of_won_epochs, CONTROLLERSHIP),
    (leader_and_isr_is_about_the_topic_or_refused, (
        *CONTROLLERSHIP, seen_epochs_were_won, leader_and_isr_is_of_won_epochs,
        memories_are_of_the_topic_or_refused, newest_controller_knows_the_replicas,
        replicas_are_assigned, known_replica_lists_are_not_empty,
        leader_and_isr_about_unknown_partitions_is_refused,
        queued_topics_are_known, partitions_with_a_known_state_are_known,
        followed_partitions_have_a_state, absent_partitions_have_no_replica,
        controllers_removing_znodes_have_forgotten_the_topic, without_a_topic_there_is_no_list)),
    (directories_are_of_the_topic, (
        absent_partitions_have_no_replica, partitions_have_no_gap,
        leader_and_isr_is_about_the_topic_or_refused, unknown_partitions_have_no_directory,
        newest_controller_knows_the_replicas, queued_topics_are_known,
        controllers_removing_znodes_have_forgotten_the_topic, seen_epochs_were_won,
        without_a_topic_there_is_no_list)),
    (memories_are_of_the_topic_or_refused, (
        *CONTROLLERSHIP, seen_epochs_were_won, newest_controller_knows_the_replicas,
        partitions_with_a_known_state_are_known, absent_partitions_have_no_replica,
        known_replica_lists_are_not_empty,
        future_leader_and_isr_about_unknown_partitions_is_refused, queued_topics_are_known,
        controllers_removing_znodes_have_forgotten_the_topic, without_a_topic_there_is_no_list)),
    (unknown_partitions_have_no_directory, (
        *CONTROLLERSHIP, directories_are_of_the_topic,
        leader_and_isr_about_unknown_partitions_is_refused, newest_controller_knows_the_replicas,
        absent_partitions_have_no_replica, without_a_topic_there_is_no_list)),
    (leader_and_isr_about_unknown_partitions_is_refused, (
        *CONTROLLERSHIP, seen_epochs_were_won, leader_and_isr_is_of_won_epochs,
        future_leader_and_isr_about_unknown_partitions_is_refused,
        leader_and_isr_is_about_the_topic_or_refused, newest_controller_knows_the_replicas,
        replicas_are_assigned, partitions_with_a_known_state_are_known,
        followed_partitions_have_a_state, known_replica_lists_are_not_empty,
        absent_partitions_have_no_replica, without_a_topic_there_is_no_list)),
    (future_leader_and_isr_about_unknown_partitions_is_refused, (
        *CONTROLLERSHIP, seen_epochs_were_won, memories_are_of_the_topic_or_refused,
        unknown_partitions_have_no_state,
        replicas_of_a_state_left_have_seen_the_deleting_controller, confirmed_deletions_are_done,
        newest_controller_knows_the_replicas, partitions_with_a_known_state_are_known,
        known_replica_lists_are_not_empty, states_are_of_partitions,
        absent_partitions_have_no_replica, without_a_topic_there_is_no_list)),
    (unknown_partitions_have_no_state, (
        *CONTROLLERSHIP, states_are_of_partitions, newest_controller_knows_the_replicas,
        known_replica_lists_are_not_empty, absent_partitions_have_no_replica,
        without_a_topic_there_is_no_list)),
    (replicas_of_a_state_left_have_seen_the_deleting_controller, (
        one_winner_per_epoch, epochs_were_won, other_brokers_know_no_topic, seen_epochs_were_won,
        partitions_have_no_gap, absent_partitions_have_no_replica, states_are_of_partitions,
        leader_and_isr_is_of_won_epochs, stop_replicas_are_of_controllers_past_failover,
        confirmed_deletions_are_done, newest_controller_knows_the_replicas,
        unknown_partitions_have_no_state, without_a_topic_there_is_no_list)),
    (deleted_replicas_are_of_queued_topics, (
        *CONTROLLERSHIP, controllers_removing_znodes_have_no_replica_left,
        controllers_awaiting_deletions_have_queued_the_topic,
        controllers_queue_nothing_before_they_read)),
    (stop_replicas_go_to_known_brokers, (
        *CONTROLLERSHIP, stop_replicas_are_of_controllers_past_failover,
        brokers_shutting_down_are_not_live, failed_brokers_are_not_live,
        failed_brokers_are_being_handled, followed_partitions_are_not_queued)),
    (deleted_replicas_stay_deleted, (
        *CONTROLLERSHIP, seen_epochs_were_won, leader_and_isr_is_of_won_epochs,
        leader_and_isr_is_about_the_topic_or_refused, deleted_replicas_are_of_queued_topics,
        stop_replicas_go_to_known_brokers, stop_replicas_are_of_controllers_past_failover,
        controllers_awaiting_deletions_have_queued_the_topic,
        failures_and_starts_are_handled_for_topics_that_stay, created_topics_are_not_queued,
        followed_partitions_are_not_queued, delete_requests_are_of_controllers_that_read,
        replicas_are_assigned, bounced_brokers_are_not_live_before_they_are_started,
        stop_replicas_go_to_brokers_shutting_down_or_deleting,
        controllers_removing_znodes_have_no_replica_left, bounced_brokers_are_not_shutting_down)),
    (DELETED_DATA_IS_NEVER_SERVED, (directories_are_of_the_topic,)),
    (confirmed_deletions_are_done, (
        *CONTROLLERSHIP, seen_epochs_were_won, leader_and_isr_is_of_won_epochs,
        stop_replicas_are_of_controllers_past_failover, deleted_replicas_stay_deleted,
        replicas_are_assigned)),
)

_AT_A_STEP: dict[tuple[str, Invariant], tuple[Invariant, ...]] = {
    ("deletion_is_complete", unknown_partitions_have_no_directory): (
        directories_are_of_the_topic, confirmed_deletions_are_done,
        newest_controller_knows_the_replicas),
    ("deletion_is_complete", leader_and_isr_about_unknown_partitions_is_refused): (
        leader_and_isr_is_about_the_topic_or_refused, deleted_replicas_stay_deleted,
        confirmed_deletions_are_done, newest_controller_knows_the_replicas,
        leader_and_isr_is_of_won_epochs),
    **{("controller_undoes_addition", kept): (unknown, newest_controller_knows_the_replica_lists)
       for kept, unknown in (
           (leader_and_isr_is_about_the_topic_or_refused,
            leader_and_isr_about_unknown_partitions_is_refused),
           (directories_are_of_the_topic, unknown_partitions_have_no_directory),
           (memories_are_of_the_topic_or_refused,
            future_leader_and_isr_about_unknown_partitions_is_refused))},
    **{(step, leader_and_isr_is_about_the_topic_or_refused): (
        newest_controller_knows_the_replica_lists, known_replica_lists_are_not_empty)
       for step in ("partition_state_machine_starts", "controller_elects_for_failed",
                    "controller_elects_for_started", "controller_brings_partitions_online",
                    "controller_moves_leaders", "controller_elects_preferred")},
}

NO_DIRECTORY_IS_LEFT = (unknown_partitions_have_no_directory,
                        controllers_removing_znodes_have_forgotten_the_topic,
                        queued_topics_are_known, newest_controller_knows_no_gap)
"""From these a topic that leaves ZooKeeper has no directory left."""
NEVER_SERVED = (DELETED_DATA_IS_NEVER_SERVED,)

DIRECTORIES = (*OF_LEADER_AND_ISR, *(one for one, _ in _RESTS_ON))
RESTS_ON: Mapping[str | tuple[str, str], tuple[Invariant, ...]] = {
    **{one.name: given for one, given in _RESTS_ON},
    **{(step, one.name): given for (step, one), given in _AT_A_STEP.items()},
}
"""What each is asked from, beside itself, at any step or at one: with all of them at once solvers
lose their way."""
