"""A broker handles LeaderAndIsr partition by partition, in the order of its queue.

Source: ReplicaManager.becomeLeaderOrFollower, makeLeaders, makeFollowers (2.3)
"""

from model.cluster.events import with_event
from model.cluster.state import PARTITIONS
from model.cluster.thread import context_of
from model.language import (
    BLANK,
    all_of,
    any_of,
    every,
    is_none,
    lam,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.protocol.leader_and_isr import (
    require_current_controller,
    require_older_controller,
    require_to_lead,
)
from model.protocol.state import BROKERS


def first(now, sender, broker):
    """The next request of a controller to a broker."""
    return now.cache[sender].queue[broker][0]


def require_arrival(now, broker, sender):
    require(now.cache[sender].queue[broker].end > 0, "a request of the controller is next")
    require(now.up.has(broker),                      "the process runs")


def require_current(now, broker, sender):
    require_current_controller(now.belief[sender], now.seen[broker])


def require_state(now, broker, sender, partition):
    request = first(now, sender, broker)
    require_arrival(now, broker, sender)
    require(request.kind == "leader_and_isr",        "it is a LeaderAndIsr")
    require_current(now, broker, sender)
    require(not_(is_none(request.about[partition])), "it names the partition")


def require_log(now, broker):
    require(not_(now.failed.has(broker)),            "the partition's log directory works")


def is_newer(now, broker, sent):
    """The leader epoch is above that of the broker's own Partition, if it has one."""
    mine = now.replica[broker].version
    return any_of(is_none(mine), now.state[sent].epoch > now.state[mine].epoch)


NONE, STORAGE_ERROR, EPOCH_ERROR = "NONE", "KAFKA_STORAGE_ERROR", "STALE_CONTROLLER_EPOCH"


def finish_partition(now, new, broker, sender, partition, error=NONE):
    """The broker is done with the partition; after the last one it responds, and the next request
    may arrive."""
    queue = now.cache[sender].queue[broker]
    about = queue[0].about
    rest = lam(PARTITIONS, lambda other: when(other == partition, None, about[other]))
    last = every(PARTITIONS, lambda other: any_of(other == partition, is_none(about[other])))
    new.seen[broker] = now.belief[sender]
    new.cache[sender].queue[broker] = when(last, queue.rest(), queue.but_first(about=rest))
    if version.log_dirs_fail_alone:
        respond(now, new, broker, sender, last, error)


def respond(now, new, broker, sender, last, error):
    """A response matters only if it reports a failed log directory, or concerns one that is
    believed to have failed. Of several waiting responses the last error counts, and whether a
    success follows it."""
    mine = now.context[sender]
    held_for_failed = any_of(mine.lost.has(broker), mine.refusing.has(broker))
    if error == STORAGE_ERROR:
        new.context[sender].refusing = mine.refusing.including(broker)
        new.context[sender].obeying  = mine.obeying.without(broker)
    elif error == NONE:
        new.context[sender].obeying  = when(
            held_for_failed, mine.obeying.including(broker), mine.obeying)
    matters = some(PARTITIONS, lambda other: any_of(
        context_of(now, sender, other).refusing.has(broker),
        context_of(now, sender, other).obeying.has(broker)))
    if error == STORAGE_ERROR:
        matters = any_of(matters, now.failed.has(broker))
    elif error == NONE:
        matters = any_of(matters, held_for_failed)
    new.cache[sender].events = when(
        all_of(last, matters),
        with_event(now.cache[sender], "leader_and_isr_response", broker).events,
        now.cache[sender].events)


@transition(broker=BROKERS, sender=BROKERS, partition=PARTITIONS)
def broker_becomes_leader(now, new, broker, sender, partition):
    """A broker becomes leader with the ISR and zkVersion of its LeaderAndIsr."""
    sent = first(now, sender, broker).about[partition]
    require_state(now, broker, sender, partition)
    require_log(now, broker)
    require(is_newer(now, broker, sent),             "the leader epoch is newer than the broker's")
    require_to_lead(broker, now.state[sent].leader)

    new.replica[broker].version  = sent
    new.replica[broker].fetching = False
    finish_partition(now, new, broker, sender, partition)


def knows_leader(now, broker, sent):
    """The leader is among the live brokers in the metadata cache."""
    return some(BROKERS, lambda one: all_of(
        now.state[sent].leader == one, now.alive[broker].has(one)))


@transition(broker=BROKERS, sender=BROKERS, partition=PARTITIONS)
def broker_becomes_follower(now, new, broker, sender, partition):
    """A broker follows, and its fetcher starts again."""
    sent = first(now, sender, broker).about[partition]
    require_state(now, broker, sender, partition)
    require_log(now, broker)
    require(is_newer(now, broker, sent),             "the leader epoch is newer than the broker's")
    require(now.state[sent].leader != broker,        "it names another the leader, or none")
    require(knows_leader(now, broker, sent),         "the broker knows the leader to be alive")

    new.replica[broker].version  = sent
    new.replica[broker].fetching = True
    finish_partition(now, new, broker, sender, partition)


@transition(broker=BROKERS, sender=BROKERS, partition=PARTITIONS)
def broker_finds_leader_not_in_metadata_cache(now, new, broker, sender, partition):
    """The leader is not in the metadata cache: the broker stays as it is, and answers no error.

    Kafka: "cannot become follower since the new leader is unavailable"; the epoch does not advance
    """
    sent = first(now, sender, broker).about[partition]
    require_state(now, broker, sender, partition)
    require_log(now, broker)
    require(is_newer(now, broker, sent),             "the leader epoch is newer than the broker's")
    require(now.state[sent].leader != broker,        "it names another the leader, or none")
    require(not_(knows_leader(now, broker, sent)),   "the broker does not know the leader")

    finish_partition(now, new, broker, sender, partition)


@transition(ends="refused", broker=BROKERS, sender=BROKERS, partition=PARTITIONS)
def older_epoch_is_refused(now, new, broker, sender, partition):
    """The broker has this leader epoch already, or a newer one."""
    sent = first(now, sender, broker).about[partition]
    require_state(now, broker, sender, partition)
    require_log(now, broker)
    require(not_(is_newer(now, broker, sent)),       "the leader epoch is not newer")

    finish_partition(now, new, broker, sender, partition, EPOCH_ERROR)


@transition(only=lambda v: v.log_dirs_fail_alone,
            broker=BROKERS, sender=BROKERS, partition=PARTITIONS)
def broker_answers_kafka_storage_error(now, new, broker, sender, partition):
    """KAFKA_STORAGE_ERROR, before any other check of the partition.

    By this a controller learns which replicas are offline.
    """
    require_state(now, broker, sender, partition)
    require(now.failed.has(broker),                  "the partition's log directory has failed")

    finish_partition(now, new, broker, sender, partition, STORAGE_ERROR)


@transition(ends="refused", broker=BROKERS, sender=BROKERS)
def older_controller_is_refused(now, new, broker, sender):
    """STALE_CONTROLLER_EPOCH: every request of an older controller is refused as a whole."""
    require_arrival(now, broker, sender)
    require_older_controller(now.belief[sender], now.seen[broker])

    new.cache[sender].queue[broker] = now.cache[sender].queue[broker].rest()


@transition(broker=BROKERS, sender=BROKERS)
def broker_updates_metadata(now, new, broker, sender):
    """UpdateMetadata replaces the live brokers and their endpoints, and adds partition states.

    Kafka: MetadataCache.updateMetadata
    """
    request = first(now, sender, broker)
    require_arrival(now, broker, sender)
    require(request.kind == "update_metadata",       "it is an UpdateMetadata")
    require_current(now, broker, sender)

    new.seen[broker]  = now.belief[sender]
    new.alive[broker] = request.alive
    new.addresses[broker] = lam(BROKERS, lambda one: when(
        request.alive.has(one), request.endpoints[one], 0))
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(
        known=lam(BROKERS, lambda one: when(
            all_of(one == broker, not_(is_none(request.about[partition]))),
            request.about[partition],
            now.partition[partition].known[one]))))
    new.cache[sender].queue[broker] = now.cache[sender].queue[broker].rest()


def stopped(now, broker, named):
    """The fetchers of the named partitions are removed; logs and partition states stay."""
    return lam(PARTITIONS, lambda partition: now.partition[partition].but(
        replica=lam(BROKERS, lambda one: now.partition[partition].replica[one].but(
            fetching=all_of(
                now.partition[partition].replica[one].fetching,
                not_(all_of(one == broker, named(partition))))))))


@transition(broker=BROKERS, sender=BROKERS)
def broker_stops_fetching(now, new, broker, sender):
    """StopReplica: up to 2.5 it names no leader epoch, and is always carried out.

    Since 2.6 it is refused if the broker knows that leader epoch or a newer one (KIP-570): `topics`
    has that.
    """
    request = first(now, sender, broker)
    require_arrival(now, broker, sender)
    require(request.kind == "stop_replica",          "it is a StopReplica")
    require_current(now, broker, sender)

    new.seen[broker] = now.belief[sender]
    new.partition    = stopped(
        now, broker, lambda partition: not_(is_none(request.about[partition])))
    new.cache[sender].queue[broker] = now.cache[sender].queue[broker].rest()


@transition(broker=BROKERS, sender=BROKERS)
def stop_replica_is_sent_again(now, new, broker, sender):
    """The connection breaks under a StopReplica: it is sent again, and the first copy comes late.

    The leader epoch protects LeaderAndIsr against this; UpdateMetadata is not protected in any
    release.
    """
    request = first(now, sender, broker)
    require_arrival(now, broker, sender)
    require(request.kind == "stop_replica",          "it is a StopReplica")
    require(not_(now.late[broker].held),             "no other copy is on its way")

    new.spent.losses = now.spent.losses + 1
    new.late[broker] = {
        "held": True, "controller": now.belief[sender],
        "about": lam(PARTITIONS, lambda partition: not_(is_none(request.about[partition])))}


@transition(broker=BROKERS)
def late_stop_replica_arrives(now, new, broker):
    """The first copy arrives after all, later than requests that were sent since."""
    request = now.late[broker]
    require(request.held,                            "a copy is on its way")
    require(now.up.has(broker),                      "the process runs")
    require_current_controller(request.controller, now.seen[broker])

    new.seen[broker] = request.controller
    new.partition    = stopped(now, broker, lambda partition: request.about[partition])
    new.late[broker] = BLANK
