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
    ORDERS,
    as_invariant,
    deletions_are_of_who_has_read,
    epochs_were_won,
    failures_and_starts_are_of_what_stays,
    is_at,
    is_newest,
    known_replica_lists_are_not_empty,
    one_winner_per_epoch,
    replicas_are_assigned,
    stops_are_of_who_has_begun,
    stops_are_to_who_goes_or_deletes,
    the_newest_knows_no_gap,
    the_newest_knows_the_lists,
    the_others_know_nothing,
    what_is_created_is_not_queued,
    what_is_followed_is_not_queued,
    what_is_queued_is_known,
    who_goes_is_not_live,
    who_has_not_read_has_queued_nothing,
    who_is_gone_is_not_live,
    who_is_gone_is_worked_on,
    who_removes_has_forgotten,
    who_removes_has_no_replica,
    who_returned_does_not_go,
    who_returned_is_not_live,
    who_waits_for_an_answer_has_queued,
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
def lists_begin(now, p, k):
    return implies(not_(has_partition(now.zk.assignment, p)), is_none(now.zk.assignment[p][k]))


@invariant("partitions are there without a gap",
           over=(PARTITIONS, PARTITIONS), why="without partition 0 there is none")
def partitions_have_no_gap(now, p, q):
    return implies(all_of(q < p, has_partition(now.zk.assignment, p)),
                   has_partition(now.zk.assignment, q))


@invariant("without a topic nobody has a replica",
           over=(PARTITIONS, PLACES), why="what is there when a topic is created is of none")
def without_a_topic_there_is_no_list(now, p, k):
    return any_of(topic_exists(now), is_none(now.zk.assignment[p][k]))


@invariant("whom the newest controller knows as replicas of a partition are its replicas",
           over=(BROKERS, PARTITIONS, BROKERS), why="when all whom it knows are done, all are")
def the_newest_knows_the_replicas(now, newest, p, b):
    known = now.cache[newest].known
    return implies(all_of(is_newest(now, newest), has_partition(known, p)),
                   in_list(known[p], b) == is_replica(now, b, p))


@invariant("a state is of a partition that is there",
           over=(PARTITIONS,), why="a topic's node goes after the states")
def states_are_of_partitions(now, p):
    return implies(now.zk.state[p].exists, has_partition(now.zk.assignment, p))


@invariant("what a controller knows to have a state it knows",
           over=(BROKERS, PARTITIONS), why="what it takes up has none yet, as far as it knows")
def what_is_led_is_known(now, controller, p):
    return implies(now.cache[controller].led[p], has_partition(now.cache[controller].known, p))


@invariant("what a broker that goes follows has a state",
           over=(BROKERS, PARTITIONS), why="only of such partitions LeaderAndIsr is sent")
def what_is_followed_is_led(now, controller, p):
    return implies(now.cache[controller].followed[p], now.cache[controller].led[p])


# -- what is of the topic that is there ------------------------------------------------------------


@invariant("nobody has seen an epoch that nobody won",
           over=(BROKERS,), why="a broker that starts has seen the newest")
def seen_epochs_were_won(now, b):
    return now.seen[b] <= now.zk.epoch


@invariant("a LeaderAndIsr is of an epoch that was won and heard of",
           over=(CONTROLLERS, BROKERS, BROKERS, PARTITIONS),
           why="a new controller has none under way")
def orders_are_of_won_epochs(now, c, b, replica, p):
    return implies(now.request[c][replica].order[p] != "none", all_of(
        c <= now.zk.epoch, now.campaign[b] != c))


@invariant("a LeaderAndIsr under way is about the topic that is there, or refused",
           over=(CONTROLLERS, BROKERS, PARTITIONS), why="what is obeyed makes a directory")
def orders_are_of_the_topic_or_refused(now, c, b, p):
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
def what_is_unknown_has_no_directory(now, newest, b, p):
    return implies(is_unknown(now, newest, p), now.replica[b][p].directory == "none")


@invariant("and every LeaderAndIsr about it is refused",
           over=(BROKERS, BROKERS, PARTITIONS, CONTROLLERS), why="or there would be one again")
def what_is_unknown_has_no_orders(now, newest, b, p, c):
    return implies(
        all_of(is_unknown(now, newest, p), now.request[c][b].order[p] != "none"),
        refuses(now, b, c))


@invariant("and so is every one that a controller would send",
           over=(BROKERS, BROKERS, PARTITIONS, BROKERS), why="or it would be under way")
def orders_about_unknown_partitions_are_refused(now, newest, b, p, controller):
    return implies(
        all_of(is_unknown(now, newest, p), mentions(now, controller, p, b)),
        refuses(now, b, now.belief[controller]))


@invariant("and it has no state, but while the topic's nodes are removed",
           over=(BROKERS, PARTITIONS), why="a deposed controller that reads finds nothing to send")
def what_is_unknown_has_no_state(now, newest, p):
    return implies(
        all_of(is_unknown(now, newest, p), not_(is_at(now, newest, "unregisters"))),
        not_(now.zk.state[p].exists))


@invariant("while they are removed, the replicas of a state that is left have seen who does it",
           over=(BROKERS, BROKERS, PARTITIONS), why="they refuse a deposed one that reads it")
def whose_state_is_left_has_seen(now, newest, b, p):
    return implies(
        all_of(is_newest(now, newest), is_at(now, newest, "unregisters"), now.up.has(b),
               now.zk.state[p].exists, is_replica(now, b, p)),
        now.seen[b] == now.zk.epoch)


@invariant("a replica is deleted only of a queued topic",
           over=(BROKERS, BROKERS, PARTITIONS), why="nothing else is sent about it then")
def what_is_deleted_is_queued(now, controller, b, p):
    return implies(now.cache[controller].replica[p][b] == "ReplicaDeletionSuccessful",
                   now.cache[controller].queued)


@invariant("a StopReplica, or its answer, is of a broker that is live or asked to go",
           over=(CONTROLLERS, BROKERS, BROKERS, PARTITIONS),
           why="what was sent to one that starts is dropped before")
def stops_are_to_who_is_known(now, c, controller, b, p):
    cache = now.cache[controller]
    return implies(
        all_of(now.request[c][b].stop[p] != "none", now.belief[controller] == c),
        any_of(cache.live.has(b), cache.shutting.has(b)))


@invariant("who has deleted a replica for the newest controller has no directory of it, and has "
           "seen that one, which sends it no LeaderAndIsr about it",
           over=(BROKERS, CONTROLLERS, BROKERS, PARTITIONS), why="so it has none again")
def what_is_deleted_stays_deleted(now, newest, c, b, p):
    deleted = any_of(now.cache[newest].replica[p][b] == "ReplicaDeletionSuccessful",
                     now.request[c][b].stop[p] == "deleted")
    return implies(all_of(is_newest(now, newest), now.belief[newest] == c, deleted), all_of(
        now.replica[b][p].directory == "none", now.request[c][b].order[p] == "none",
        implies(now.up.has(b), now.seen[b] == now.zk.epoch)))


@invariant("and that one has heard of it",
           over=(BROKERS, BROKERS, PARTITIONS), why="it forgets the topic when it has, of all")
def what_was_heard_is_deleted(now, newest, b, p):
    state = now.cache[newest].replica[p][b]
    return implies(
        all_of(is_newest(now, newest), state == "ReplicaDeletionSuccessful"), all_of(
            now.replica[b][p].directory == "none",
            implies(now.up.has(b), now.seen[b] == now.zk.epoch)))


NOTHING_RISES = as_invariant(deleted_data_is_never_served)

_RESTS_ON: tuple[tuple[Invariant, tuple[Invariant, ...]], ...] = (
    (lists_begin, (known_replica_lists_are_not_empty,)),
    (partitions_have_no_gap, (the_newest_knows_no_gap, what_is_queued_is_known, lists_begin)),
    (without_a_topic_there_is_no_list, (
        lists_begin, partitions_have_no_gap, the_newest_knows_the_lists,
        known_replica_lists_are_not_empty,
        what_is_queued_is_known)),
    (the_newest_knows_the_replicas, (
        *CONTROLLERSHIP, partitions_have_no_gap, the_newest_knows_the_lists, lists_begin,
        known_replica_lists_are_not_empty, who_removes_has_forgotten)),
    (states_are_of_partitions, (
        *CONTROLLERSHIP, partitions_have_no_gap, lists_begin, the_newest_knows_the_replicas,
        what_is_unknown_has_no_state, what_is_queued_is_known, known_replica_lists_are_not_empty,
        what_is_led_is_known)),
    (what_is_led_is_known, (
        *CONTROLLERSHIP, known_replica_lists_are_not_empty, states_are_of_partitions)),
    (what_is_followed_is_led, (what_is_followed_is_not_queued,)),
    (seen_epochs_were_won, (
        epochs_were_won, orders_are_of_won_epochs, stops_are_of_who_has_begun)),
    (orders_are_of_won_epochs, CONTROLLERSHIP),
    (orders_are_of_the_topic_or_refused, (
        *CONTROLLERSHIP, seen_epochs_were_won, orders_are_of_won_epochs,
        memories_are_of_the_topic_or_refused, the_newest_knows_the_replicas,
        replicas_are_assigned, known_replica_lists_are_not_empty, what_is_unknown_has_no_orders,
        what_is_queued_is_known, what_is_led_is_known, what_is_followed_is_led, lists_begin,
        who_removes_has_forgotten, without_a_topic_there_is_no_list)),
    (directories_are_of_the_topic, (
        lists_begin, partitions_have_no_gap, orders_are_of_the_topic_or_refused,
        what_is_unknown_has_no_directory, the_newest_knows_the_replicas, what_is_queued_is_known,
        who_removes_has_forgotten, seen_epochs_were_won, without_a_topic_there_is_no_list)),
    (memories_are_of_the_topic_or_refused, (
        *CONTROLLERSHIP, seen_epochs_were_won, the_newest_knows_the_replicas,
        what_is_led_is_known, lists_begin, known_replica_lists_are_not_empty,
        orders_about_unknown_partitions_are_refused,
        what_is_queued_is_known, who_removes_has_forgotten, without_a_topic_there_is_no_list)),
    (what_is_unknown_has_no_directory, (
        *CONTROLLERSHIP, directories_are_of_the_topic, what_is_unknown_has_no_orders,
        the_newest_knows_the_replicas, lists_begin, without_a_topic_there_is_no_list)),
    (what_is_unknown_has_no_orders, (
        *CONTROLLERSHIP, seen_epochs_were_won, orders_are_of_won_epochs,
        orders_about_unknown_partitions_are_refused, orders_are_of_the_topic_or_refused,
        the_newest_knows_the_replicas, replicas_are_assigned, what_is_led_is_known,
        what_is_followed_is_led, known_replica_lists_are_not_empty, lists_begin,
        without_a_topic_there_is_no_list)),
    (orders_about_unknown_partitions_are_refused, (
        *CONTROLLERSHIP, seen_epochs_were_won, memories_are_of_the_topic_or_refused,
        what_is_unknown_has_no_state, whose_state_is_left_has_seen, what_was_heard_is_deleted,
        the_newest_knows_the_replicas, what_is_led_is_known, known_replica_lists_are_not_empty,
        states_are_of_partitions, lists_begin, without_a_topic_there_is_no_list)),
    (what_is_unknown_has_no_state, (
        *CONTROLLERSHIP, states_are_of_partitions, the_newest_knows_the_replicas,
        known_replica_lists_are_not_empty, lists_begin, without_a_topic_there_is_no_list)),
    (whose_state_is_left_has_seen, (
        one_winner_per_epoch, epochs_were_won, the_others_know_nothing, seen_epochs_were_won,
        partitions_have_no_gap, lists_begin, states_are_of_partitions, orders_are_of_won_epochs,
        stops_are_of_who_has_begun, what_was_heard_is_deleted, the_newest_knows_the_replicas,
        what_is_unknown_has_no_state, without_a_topic_there_is_no_list)),
    (what_is_deleted_is_queued, (
        *CONTROLLERSHIP, who_removes_has_no_replica, who_waits_for_an_answer_has_queued,
        who_has_not_read_has_queued_nothing)),
    (stops_are_to_who_is_known, (
        *CONTROLLERSHIP, stops_are_of_who_has_begun, who_goes_is_not_live,
        who_is_gone_is_not_live, who_is_gone_is_worked_on, what_is_followed_is_not_queued)),
    (what_is_deleted_stays_deleted, (
        *CONTROLLERSHIP, seen_epochs_were_won, orders_are_of_won_epochs,
        orders_are_of_the_topic_or_refused, what_is_deleted_is_queued, stops_are_to_who_is_known,
        stops_are_of_who_has_begun, who_waits_for_an_answer_has_queued,
        failures_and_starts_are_of_what_stays, what_is_created_is_not_queued,
        what_is_followed_is_not_queued, deletions_are_of_who_has_read, replicas_are_assigned,
        who_returned_is_not_live, stops_are_to_who_goes_or_deletes, who_removes_has_no_replica,
        who_returned_does_not_go)),
    (NOTHING_RISES, (directories_are_of_the_topic,)),
    (what_was_heard_is_deleted, (
        *CONTROLLERSHIP, seen_epochs_were_won, orders_are_of_won_epochs,
        stops_are_of_who_has_begun, what_is_deleted_stays_deleted, replicas_are_assigned)),
)

_AT_A_STEP: dict[tuple[str, Invariant], tuple[Invariant, ...]] = {
    ("deletion_is_complete", what_is_unknown_has_no_directory): (
        directories_are_of_the_topic, what_was_heard_is_deleted, the_newest_knows_the_replicas),
    ("deletion_is_complete", what_is_unknown_has_no_orders): (
        orders_are_of_the_topic_or_refused, what_is_deleted_stays_deleted,
        what_was_heard_is_deleted, the_newest_knows_the_replicas, orders_are_of_won_epochs),
    **{("controller_undoes_addition", kept): (unknown, the_newest_knows_the_lists)
       for kept, unknown in (
           (orders_are_of_the_topic_or_refused, what_is_unknown_has_no_orders),
           (directories_are_of_the_topic, what_is_unknown_has_no_directory),
           (memories_are_of_the_topic_or_refused, orders_about_unknown_partitions_are_refused))},
    **{(step, orders_are_of_the_topic_or_refused): (
        the_newest_knows_the_lists, known_replica_lists_are_not_empty)
       for step in ("partition_state_machine_starts", "controller_elects_for_failed",
                    "controller_elects_for_started", "controller_brings_partitions_online",
                    "controller_moves_leaders", "controller_elects_preferred")},
}

GONE = (what_is_unknown_has_no_directory, who_removes_has_forgotten, what_is_queued_is_known,
        the_newest_knows_no_gap)
"""From these a topic that leaves ZooKeeper has no directory left."""
RISEN = (NOTHING_RISES,)

DIRECTORIES = (*ORDERS, *(one for one, _ in _RESTS_ON))
RESTS_ON: Mapping[str | tuple[str, str], tuple[Invariant, ...]] = {
    **{one.name: given for one, given in _RESTS_ON},
    **{(step, one.name): given for (step, one), given in _AT_A_STEP.items()},
}
"""What each is asked from, beside itself, at any step or at one: with all of them at once solvers
lose their way."""
