"""Invariants of controllers of one topic: one that passes the fence knows what it overwrites."""

from collections.abc import Mapping

from model.language import all_of, any_of, every, implies, is_none, not_, some, when
from model.protocol.state import BROKERS
from model.topics.creation import is_unknown
from model.topics.leadership import leader_in_isr
from model.topics.replicas import is_assigned
from model.topics.state import CONTROLLERS, PARTITIONS, PLACES
from model.topics.step_claims import replica_lists_are_valid, stopped_brokers_do_nothing
from model.topics.zookeeper import has_partition, topic_exists, watches
from specs.invariants import Invariant, invariant

BLANK_TASK = "reads_zookeeper"


def is_newest(now, b):
    """The broker believes that it is controller, under the epoch that ZooKeeper has."""
    return all_of(now.belief[b] > 0, now.belief[b] == now.zk.epoch)


def knows_nothing(now, b):
    return every(PARTITIONS, lambda p: every(PLACES, lambda k: is_none(
        now.cache[b].known[p][k])))


@invariant("nobody won an epoch that is not there yet",
           over=(BROKERS,), why="the next epoch that is won is nobody's")
def epochs_were_won(now, b):
    return all_of(now.belief[b] <= now.zk.epoch, now.campaign[b] <= now.zk.epoch)


@invariant("no two brokers won one epoch",
           over=(BROKERS, BROKERS), why="the newest controller is one, so nobody else passes the "
                                        "fence")
def one_winner_per_epoch(now, b, other):
    return all_of(
        implies(all_of(now.belief[b] > 0, now.belief[b] == now.belief[other]), b == other),
        implies(all_of(now.campaign[b] > 0, now.campaign[b] == now.campaign[other]), b == other),
        implies(now.belief[b] > 0, all_of(
            now.campaign[b] == 0, now.belief[b] != now.campaign[other])))


@invariant("who does not believe that it is the controller knows no topic and has no task",
           over=(BROKERS,), why="a new controller begins with what it reads")
def other_brokers_know_no_topic(now, b):
    return implies(now.belief[b] == 0, all_of(
        now.cache[b].task == BLANK_TASK, knows_nothing(now, b)))


@invariant("before it reads ZooKeeper a controller knows no topic",
           over=(BROKERS,), why="what it knows is what it read")
def controllers_know_nothing_before_they_read(now, b):
    return implies(now.cache[b].task == BLANK_TASK, knows_nothing(now, b))


@invariant("the newest controller knows a partition's replicas as ZooKeeper has them",
           over=(BROKERS, PARTITIONS, PLACES),
           why="what it writes over is what is there")
def newest_controller_knows_the_replica_lists(now, b, p, k):
    known = now.cache[b].known
    return implies(is_newest(now, b), when(
        has_partition(known, p), known[p][k] == now.zk.assignment[p][k], is_none(known[p][k])))


@invariant("who removes a topic's nodes has forgotten it",
           over=(BROKERS, PARTITIONS), why="they go one by one")
def controllers_removing_znodes_have_forgotten_the_topic(now, b, p):
    return implies(
        any_of(now.cache[b].task == "unregisters", now.cache[b].task == "removes_request"),
        not_(has_partition(now.cache[b].known, p)))


@invariant("and knows the partitions without a gap",
           over=(BROKERS, PARTITIONS, PARTITIONS),
           why="that is how it writes them, when it undoes an addition")
def newest_controller_knows_no_gap(now, b, p, q):
    known = now.cache[b].known
    return implies(all_of(is_newest(now, b), q < p, has_partition(known, p)),
                   has_partition(known, q))


DELETES = ("resumes", "stops", "deletes", "unregisters", "removes_request")
"""Tasks of a deletion, in their order."""

BEFORE_IT_WAITS = ("reads_zookeeper", "starts_replicas", "starts_partitions", "rewrites")
"""Tasks of a failover, in which a deletion may be queued of a topic that is gone already."""


def is_at(now, b, *tasks):
    return any_of(*(now.cache[b].task == one for one in tasks))


def is_deletion(stop):
    """A StopReplica with delete, or its answer."""
    return any_of(stop == "delete", stop == "deleted", stop == "failed")


@invariant("who deletes has queued the topic",
           over=(BROKERS,), why="what it removes from ZooKeeper at last was requested")
def deleting_controllers_have_queued_the_topic(now, b):
    return implies(is_at(now, b, *DELETES), now.cache[b].queued)


@invariant("before it reads ZooKeeper a controller has queued nothing",
           over=(BROKERS,), why="a winner of a new epoch has not, either")
def controllers_queue_nothing_before_they_read(now, b):
    return implies(is_at(now, b, BLANK_TASK), not_(now.cache[b].queued))


@invariant("what the newest controller has queued is requested",
           over=(BROKERS,), why="nobody else can take the request away")
def queued_deletions_are_requested(now, b):
    return implies(all_of(is_newest(now, b), now.cache[b].queued), now.zk.requested)


@invariant("and known, until it is deleted",
           over=(BROKERS,), why="the request is not dropped for want of a topic")
def queued_topics_are_known(now, b):
    return implies(
        all_of(is_newest(now, b), now.cache[b].queued,
               not_(is_at(now, b, *BEFORE_IT_WAITS, "resumes", "unregisters", "removes_request"))),
        has_partition(now.cache[b].known, 0))


@invariant("a StopReplica with delete, or its answer, is of an epoch that was won and heard of, "
           "and of a controller that has read ZooKeeper since",
           over=(CONTROLLERS, BROKERS, BROKERS, PARTITIONS),
           why="a new controller has no answer to wait for")
def delete_requests_are_of_controllers_that_read(now, c, b, replica, p):
    return implies(is_deletion(now.request[c][replica].stop[p]), all_of(
        c <= now.zk.epoch, now.campaign[b] != c,
        implies(now.belief[b] == c, not_(is_at(now, b, BLANK_TASK)))))


@invariant("who waits for the answer to one has queued the topic, and, if it is the newest, not "
           "done with that replica",
           over=(CONTROLLERS, BROKERS, BROKERS, PARTITIONS),
           why="an answer is heard while the topic is queued: after it the deletion is resumed")
def controllers_awaiting_deletions_have_queued_the_topic(now, c, b, replica, p):
    state = now.cache[b].replica[p][replica]
    return implies(
        all_of(is_deletion(now.request[c][replica].stop[p]), now.belief[b] == c),
        all_of(now.cache[b].queued, implies(is_newest(now, b), all_of(
            state != "ReplicaDeletionSuccessful", state != "NonExistentReplica"))))


@invariant("who removes a topic's nodes has no replica of it left",
           over=(BROKERS, PARTITIONS, BROKERS), why="so no answer is under way")
def controllers_removing_znodes_have_no_replica_left(now, b, p, replica):
    return implies(is_at(now, b, "unregisters", "removes_request"),
                   now.cache[b].replica[p][replica] == "NonExistentReplica")


@invariant("a replica that the controller has is in the list that it knows",
           over=(BROKERS, PARTITIONS, BROKERS), why="when all in the lists are deleted, all are")
def replicas_are_assigned(now, b, p, replica):
    return implies(now.cache[b].replica[p][replica] != "NonExistentReplica",
                   is_assigned(now, b, p, replica))


@invariant("a known replica list is not empty",
           over=(BROKERS, PARTITIONS, PLACES),
           why="a partition without one is unknown, and read from ZooKeeper")
def known_replica_lists_are_not_empty(now, b, p, k):
    known = now.cache[b].known
    return implies(not_(has_partition(known, p)), is_none(known[p][k]))


@invariant("who asked to go does not count as live",
           over=(BROKERS, BROKERS), why="leaders are chosen among the live")
def brokers_shutting_down_are_not_live(now, b, subject):
    return not_(all_of(now.cache[b].shutting.has(subject), now.cache[b].live.has(subject)))


@invariant("a broker that had registered again is started before the controller waits",
           over=(BROKERS,), why="in the meantime nobody asks it to let a broker go")
def bounced_brokers_are_started_before_the_controller_waits(now, b):
    return any_of(is_none(now.cache[b].returns),
                  is_at(now, b, "elects_for_failed", "takes_offline", "starts_returned", *DELETES))


@invariant("and has not asked to go",
           over=(BROKERS, BROKERS), why="it will be live")
def bounced_brokers_are_not_shutting_down(now, b, subject):
    return not_(all_of(
        now.cache[b].returns == subject, now.cache[b].shutting.has(subject)))


def is_notified(now, b):
    """The newest controller, once it has read ZooKeeper, while its session lasts."""
    return all_of(is_newest(now, b), watches(now, b))


@invariant("a topic that the newest controller does not know fired its watch, or is being removed "
           "by it",
           over=(BROKERS,), why="a controller that waits would not look")
def unknown_topics_have_fired_their_watch(now, b):
    return implies(
        all_of(is_notified(now, b), topic_exists(now), not_(has_partition(now.cache[b].known, 0))),
        any_of(now.cache[b].fired.topics, is_at(now, b, "unregisters")))


@invariant("so did a partition of a topic that it knows",
           over=(BROKERS, PARTITIONS), why="it watches the topic's node as well")
def unknown_partitions_have_fired_their_watch(now, b, p):
    return implies(
        all_of(is_notified(now, b), has_partition(now.cache[b].known, 0), is_unknown(now, b, p)),
        now.cache[b].fired.partitions)


@invariant("and a request for a deletion that it has not queued",
           over=(BROKERS,), why="it watches those, too")
def unqueued_deletions_have_fired_their_watch(now, b):
    return implies(
        all_of(is_notified(now, b), now.zk.requested, not_(now.cache[b].queued)),
        now.cache[b].fired.deletions)


WRITES = ("starts_replicas", "starts_partitions", "elects_for_failed", "elects_for_started",
          "moves_leaders", "takes_offline", "stops_followers", "stops")
"""Tasks that write states over others, and so do not go on before they read again."""


@invariant("a state counts as changed only for a controller that is about to write over it",
           over=(BROKERS,), why="no other task waits for it to be read again")
def only_what_is_to_be_written_is_outdated(now, b):
    return implies(now.cache[b].outdated, is_at(now, b, *WRITES, "resumes"))


def retries(now, b):
    """The controller is about to retry a deletion, or has to read a state again."""
    return all_of(now.cache[b].outdated, is_at(now, b, "resumes"))


@invariant("if it is about to retry a deletion, no replica's deletion is under way",
           over=(BROKERS, PARTITIONS, BROKERS), why="or it would wait, and not write")
def retrying_controllers_have_no_deletion_in_flight(now, b, p, replica):
    return implies(retries(now, b), now.cache[b].replica[p][replica] != "ReplicaDeletionStarted")


@invariant("some replica could not be deleted",
           over=(BROKERS,), why="or it would start the deletion, and not write")
def retrying_controllers_have_a_failed_deletion(now, b):
    return implies(retries(now, b), some(PARTITIONS, lambda p: some(BROKERS, lambda r:
        now.cache[b].replica[p][r] == "ReplicaDeletionIneligible")))


@invariant("and some replica is not deleted",
           over=(BROKERS,), why="or it would complete the deletion, and not write")
def retrying_controllers_have_a_replica_left(now, b):
    return implies(retries(now, b), some(PARTITIONS, lambda p: some(BROKERS, lambda r: all_of(
        is_assigned(now, b, p, r),
        now.cache[b].replica[p][r] != "ReplicaDeletionSuccessful"))))


@invariant("a broker that fails or starts is worked on where the topic stays",
           over=(BROKERS,), why="the batches that follow send LeaderAndIsr")
def failures_and_starts_are_handled_for_topics_that_stay(now, b):
    return implies(is_at(now, b, "elects_for_failed", "takes_offline", "elects_for_started"),
                   not_(now.cache[b].queued))


@invariant("the newest controller creates nothing of a topic that it has queued",
           over=(BROKERS,), why="a creation sends LeaderAndIsr, and nobody else can write one")
def created_topics_are_not_queued(now, b):
    return implies(
        all_of(is_newest(now, b),
               is_at(now, b, "makes_partitions", "makes_replicas", "elects_new", "enlists")),
        not_(now.cache[b].queued))


@invariant("a deletion that has started is of a queued topic, and of a controller that has begun",
           over=(BROKERS,), why="a failover sends LeaderAndIsr to all")
def started_deletions_are_queued(now, b):
    return implies(now.cache[b].started, all_of(
        now.cache[b].queued, not_(is_at(now, b, BLANK_TASK, "starts_replicas"))))


@invariant("what a broker that goes follows is of a topic that stays, and noted while it is worked "
           "on",
           over=(BROKERS, PARTITIONS), why="its followers are notified of another ISR")
def followed_partitions_are_not_queued(now, b, p):
    return implies(now.cache[b].followed[p], all_of(
        not_(now.cache[b].queued), is_at(now, b, "moves_leaders", "stops_followers")))


@invariant("a broker that had registered again is not live before it is started",
           over=(BROKERS, BROKERS), why="a broker that starts is nobody who has a StopReplica")
def bounced_brokers_are_not_live_before_they_are_started(now, b, subject):
    return implies(now.cache[b].returns == subject, not_(now.cache[b].live.has(subject)))


@invariant("a broker is noted as gone while it is worked on",
           over=(BROKERS,), why="in the meantime nobody else goes")
def failed_brokers_are_being_handled(now, b):
    return any_of(is_none(now.cache[b].gone), is_at(
        now, b, "elects_for_failed", "takes_offline", "moves_leaders", "stops_followers"))


@invariant("who is gone is not live, and, if it lives, has asked to go",
           over=(BROKERS, BROKERS), why="it is sent its StopReplica last")
def failed_brokers_are_not_live(now, b, subject):
    return implies(now.cache[b].gone == subject, all_of(
        not_(now.cache[b].live.has(subject)),
        any_of(is_at(now, b, "elects_for_failed", "takes_offline"),
               now.cache[b].shutting.has(subject))))


def is_under_way(stop):
    """A StopReplica, and no answer to one."""
    return any_of(stop == "stop", stop == "delete", stop == "fenced")


@invariant("a StopReplica, or its answer, is of an epoch that was won and heard of, and of a "
           "controller whose failover is over",
           over=(CONTROLLERS, BROKERS, BROKERS, PARTITIONS),
           why="a failover sends LeaderAndIsr to all")
def stop_replicas_are_of_controllers_past_failover(now, c, b, replica, p):
    return implies(now.request[c][replica].stop[p] != "none", all_of(
        c <= now.zk.epoch, now.campaign[b] != c,
        implies(now.belief[b] == c, not_(is_at(now, b, BLANK_TASK, "starts_replicas")))))


@invariant("a StopReplica is under way to a broker that has asked to go, and whose leaders are "
           "moved; or to a live one, of a queued topic, of which the newest controller is not done "
           "with that replica",
           over=(CONTROLLERS, BROKERS, BROKERS, PARTITIONS),
           why="neither is sent a LeaderAndIsr")
def stop_replicas_go_to_brokers_shutting_down_or_deleting(now, c, b, replica, p):
    cache, state = now.cache[b], now.cache[b].replica[p][replica]
    goes = all_of(cache.shutting.has(replica), implies(
        all_of(cache.gone == replica, is_at(now, b, "moves_leaders")), cache.queued))
    deletes = all_of(cache.live.has(replica), cache.queued, implies(is_newest(now, b), all_of(
        state != "ReplicaDeletionSuccessful", state != "NonExistentReplica")))
    return implies(
        all_of(is_under_way(now.request[c][replica].stop[p]), now.belief[b] == c),
        any_of(goes, deletes))


def as_invariant(claim) -> Invariant:
    """The claim as an invariant, inductive by itself or with others."""
    return Invariant(f"{claim.name}_is_kept", claim.sentence, "the claim", claim.function)


CONTROLLERSHIP = (epochs_were_won, one_winner_per_epoch, other_brokers_know_no_topic,
          controllers_know_nothing_before_they_read)
LISTS = (*CONTROLLERSHIP, newest_controller_knows_the_replica_lists, newest_controller_knows_no_gap,
         controllers_removing_znodes_have_forgotten_the_topic,
         as_invariant(replica_lists_are_valid))
DELETIONS = (*LISTS, deleting_controllers_have_queued_the_topic,
             controllers_queue_nothing_before_they_read,
             queued_deletions_are_requested, queued_topics_are_known,
             delete_requests_are_of_controllers_that_read,
             controllers_awaiting_deletions_have_queued_the_topic,
             controllers_removing_znodes_have_no_replica_left, replicas_are_assigned,
             known_replica_lists_are_not_empty)
KNOWN = (*DELETIONS, as_invariant(stopped_brokers_do_nothing),
         unknown_topics_have_fired_their_watch,
         unknown_partitions_have_fired_their_watch, unqueued_deletions_have_fired_their_watch)
KNOWN_RESTS_ON: Mapping[str | tuple[str, str], tuple[Invariant, ...]] = {
    one.name: (*LISTS, deleting_controllers_have_queued_the_topic, queued_deletions_are_requested,
               *KNOWN[-4:])
    for one in (unknown_topics_have_fired_their_watch, unknown_partitions_have_fired_their_watch,
                unqueued_deletions_have_fired_their_watch)}
"""What these are asked from: from all at once it takes nine times as long."""
DEPARTURES = (epochs_were_won, one_winner_per_epoch, brokers_shutting_down_are_not_live,
              bounced_brokers_are_started_before_the_controller_waits,
              bounced_brokers_are_not_shutting_down)
READ_AGAIN = (
    *CONTROLLERSHIP, only_what_is_to_be_written_is_outdated,
    retrying_controllers_have_no_deletion_in_flight, retrying_controllers_have_a_failed_deletion,
    retrying_controllers_have_a_replica_left)
OF_LEADER_AND_ISR = (
    *DELETIONS, brokers_shutting_down_are_not_live,
    bounced_brokers_are_started_before_the_controller_waits, bounced_brokers_are_not_shutting_down,
    failures_and_starts_are_handled_for_topics_that_stay, created_topics_are_not_queued,
    started_deletions_are_queued, followed_partitions_are_not_queued,
    bounced_brokers_are_not_live_before_they_are_started, failed_brokers_are_being_handled,
    failed_brokers_are_not_live, stop_replicas_are_of_controllers_past_failover,
    stop_replicas_go_to_brokers_shutting_down_or_deleting)
DEAD = (as_invariant(stopped_brokers_do_nothing),)
ELECTIONS = (as_invariant(leader_in_isr),)
