"""Processes and sessions: crash, restart, expiry while the process keeps running, reconnection."""

from model.language import (
    BLANK,
    NOBODY,
    all_of,
    any_of,
    every,
    implies,
    is_none,
    lam,
    not_,
    require,
    smaller,
    transition,
    version,
    when,
)
from model.protocol.processes import crash, reconnect, start
from model.protocol.state import BROKERS
from model.protocol.zookeeper import is_reached_no_longer
from model.replication.leader_and_isr import epoch_at
from model.replication.state import CONTROLLERS, ELECTED, ENDS


def discard_requests(now, new, broker):
    """Requests for an older registration of a broker are refused (KIP-380); before, they reached
    the broker with that id."""
    if not version.broker_epoch:
        return
    new.request = lam(ELECTED, lambda epoch: lam(CONTROLLERS, lambda controller: lam(BROKERS,
        lambda target: when(target == broker, BLANK, now.request[epoch][controller][target]))))


@transition(actor=NOBODY, ends="lost", fault=True, broker=BROKERS)
def broker_crashes(now, new, broker):
    """A process dies: its memory is gone; its log, epoch cache and checkpoint stay.

    Its session lasts until it expires. Requests to it, its own fetches, and fetches of other
    brokers from it are lost; its answers in flight may still arrive.
    """
    lose_memory(now, new, broker, now.replica[broker])


@transition(ends="lost", fault=True,
            only=lambda v: not v.log_survives_crash, broker=BROKERS, end=ENDS)
def broker_crashes_losing_unflushed_records(now, new, broker, end):
    """A process dies with its machine, and the disk lacks records that were not flushed.

    Why:   Kafka relies on replicas, not on fsync; KIP-101 scenario 2 and KIP-966 begin like this.
    """
    log = now.log[broker]
    require(end < log.end,                          "the rest of the log is shorter")

    lose_memory(now, new, broker, now.replica[broker].but(latest_epoch=epoch_at(log, end)))
    new.log[broker] = log.cut(end)


def lose_memory(now, new, broker, mine, asked=BLANK):
    """The process's memory, its requests in flight and its pending answers are lost.

    `asked`: what is left of its ISR write.
    """
    crash(now, new, broker)

    new.replica[broker] = mine.but(
        role="none", leader=None, epoch=None, isr=[], zk_version=0, controller_epoch=0,
        epoch_start=0, truncating=False, hw=0)
    new.known_end[broker] = lam(BROKERS, lambda other: None)
    new.isr_write[broker] = asked
    new.gave_up = now.gave_up.without(broker)
    discard_requests(now, new, broker)
    new.fetch = lam(BROKERS, lambda follower: lam(BROKERS, lambda leader: when(
        any_of(follower == broker, all_of(
            leader == broker, is_unanswered(now.fetch[follower][leader]))),
        BLANK,
        now.fetch[follower][leader])))


def is_unanswered(slot):
    """The request is in flight to the leader, or has arrived; there is no answer yet."""
    return any_of(slot.state == "asks_epoch", slot.state == "asks_records")


@transition(ends="lost", broker=BROKERS)
def broker_starts(now, new, broker):
    """A process starts: it loads its log, takes the checkpoint as high watermark, registers."""
    start(now, new, broker)
    is_reached_no_longer(now, new, broker)

    mine = now.replica[broker]
    new.replica[broker].hw = smaller(mine.checkpoint, now.log[broker].end)
    discard_requests(now, new, broker)


@transition(ends="lost", only=lambda v: v.disk_lost != "never", broker=BROKERS)
def broker_starts_empty(now, new, broker):
    """A process starts under its old id with a new disk: no log, no epoch cache, no checkpoint.

    Why:   nothing in ZooKeeper distinguishes it from the earlier broker. If it is still in the ISR
           (the controller did not notice, or keeps it as the last member), it may be elected, and
           committed records are lost. If it is not, a leader that remembers its old log end may add
           it to the ISR. Kafka does not lose records in that way, because its leader adds a
           follower while it handles a fetch. Once no leader remembers, no committed record is lost:
           the broker must catch up first (`model.assumptions`).
    Kafka: known limit of the era of ZooKeeper; KIP-966 (KRaft) compares broker epochs
    """
    if version.disk_lost != "by_any":
        require(not_(now.zk.isr.has(broker)),       "it is not in the registered ISR")
    if version.disk_lost == "when_forgotten":
        require(every(BROKERS, lambda leader: implies(
            now.replica[leader].role == "leader", is_none(now.known_end[leader][broker]))),
                                                    "no leader remembers how far it was")

    start(now, new, broker)
    is_reached_no_longer(now, new, broker)
    new.log[broker] = now.log[broker].cut(0)
    new.replica[broker].latest_epoch = None
    new.replica[broker].checkpoint   = 0
    discard_requests(now, new, broker)


@transition(ends="lost", broker=BROKERS)
def broker_reconnects(now, new, broker):
    """A live process whose session expired opens a new one, resigns and registers again."""
    reconnect(now, new, broker)
    is_reached_no_longer(now, new, broker)

    discard_requests(now, new, broker)


@transition(broker=BROKERS)
def broker_checkpoints_hw(now, new, broker):
    """The high watermark is written to replication-offset-checkpoint."""
    mine = now.replica[broker]
    require(now.up.has(broker),                     "the process runs")
    require(mine.hw != mine.checkpoint,             "the checkpoint is not up to date")

    new.replica[broker].checkpoint = mine.hw


@transition(only=lambda v: not v.checkpoint_complete, broker=BROKERS)
def broker_checkpoints_without_partition(now, new, broker):
    """The checkpoint is rewritten before the broker was notified of the partition, and lacks it.

    Why:   a broker skipped partitions whose leader is not alive; from 0.8.2 it creates the replica
           first.
    Kafka: KAFKA-1647
    """
    mine = now.replica[broker]
    require(now.up.has(broker),                     "the process runs")
    require(mine.role == "none",                    "it was notified of no partition yet")
    require(mine.checkpoint > 0,                    "the partition is in the checkpoint")

    new.replica[broker].checkpoint = 0
