"""What a controller does when it takes office, and when brokers come and go.

It is one thread: an event is handled when no other is. A leader that died is replaced by any live
member of the ISR, which covers every order of the assignment.

Source: KafkaController.onControllerFailover, onBrokerStartup, onReplicasBecomeOffline (2.3)
"""

from model.language import (
    BLANK,
    all_of,
    any_of,
    is_none,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.protocol.controllership import require_controllership, require_task
from model.protocol.state import BROKERS
from model.reassignment.controller import without
from model.reassignment.kip_455 import is_kip_455, moves, next_phase, target_of
from model.reassignment.lists import all_within, listed, members, those
from model.reassignment.writing import read_state, require_current, send, task, tell, write_state


def next_task(leader, isr, live):
    """What is to be done first about the brokers that are dead."""
    alive = some(BROKERS, lambda b: all_of(leader == b, live.has(b)))
    return when(
        not_(alive), task("electing"),
        when(some(BROKERS, lambda b: all_of(isr.has(b), not_(live.has(b)))), task("removing"),
             task("idle")))


def first_task(zk):
    """Since 2.4 a move that stands in the topic's znode is gone on with at once."""
    about_dead = next_task(zk.leader, zk.isr, zk.registered)
    if not is_kip_455(version):
        return about_dead
    return when(all_of(about_dead == "idle", moves(zk)), next_phase(zk), about_dead)


@transition(shows="read", broker=BROKERS)
def controller_reads_cluster(now, new, broker):
    """A broker in office reads ZooKeeper, and tells every live replica what it found.

    A running reassignment is not among it: that is in the request, or, since 2.4, in the topic.
    Nothing fences a read. Who is deposed by now sends, under the leader epoch of its successor, a
    list of replicas that the successor is about to shorten; a leader takes the first that comes.
    """
    zk = now.zk
    require_controllership(now, broker)
    require(now.cache[broker].task == "none",       "it has not read the cluster")
    require(some(BROKERS, lambda b: listed(zk.assignment, b)), "the partition exists")

    if is_kip_455(version):
        target = target_of(zk)
    else:
        target = BLANK if version.moves_forgotten_on_resign else now.kept[broker]
    new.cache[broker] = now.cache[broker].but(
        task=first_task(zk),
        live=zk.registered, reached=zk.registered, assignment=zk.assignment, target=target,
        **read_state(now))
    send(now, new, broker, zk.leader_epoch,
         those(lambda b: all_of(
             listed(zk.assignment, b), zk.registered.has(b), not_(is_none(zk.leader)))), {
             "leader": zk.leader, "isr": zk.isr, "version": zk.version,
             "replicas": members(zk.assignment)})
    tell(now, new, broker, zk.leader_epoch, zk.leader, to=zk.registered)
    new.read_late = any_of(now.read_late, now.belief[broker] < zk.epoch)


@transition(broker=BROKERS, dead=BROKERS)
def controller_notices_death(now, new, broker, dead):
    """The watch on /brokers/ids fires: a broker that was alive is not registered."""
    cache = now.cache[broker]
    require_task(now, broker, "idle",               "it waits for events")
    require(cache.live.has(dead),                   "the broker was alive")
    require(not_(now.zk.registered.has(dead)),      "the broker is not registered")

    live = cache.live.without(dead)
    new.cache[broker] = cache.but(
        live=live, reached=cache.reached.without(dead),
        task=when(any_of(now.zk.leader == dead, now.zk.isr.has(dead)),
                  next_task(now.zk.leader, now.zk.isr, live), task("idle")),
        **read_state(now))


@transition(broker=BROKERS, started=BROKERS)
def controller_notices_start(now, new, broker, started):
    """A broker is registered that the controller does not reach: it is told what it hosts.

    A partition without a leader is tried again. A move to that broker is resumed: if it has not
    caught up, from step 1. KIP-380 makes a bounce between two looks visible.
    """
    cache, zk = now.cache[broker], now.zk
    require_task(now, broker, "idle",               "it waits for events")
    require(zk.registered.has(started),             "the broker is registered")
    require(not_(cache.reached.has(started)),       "the controller does not reach the broker")

    live, reached = cache.live.including(started), cache.reached.including(started)
    lags = all_of(listed(cache.target, started), not_(all_within(cache.target, zk.isr)))
    new.cache[broker] = cache.but(
        live=live, reached=reached,
        task=when(is_none(zk.leader), task("electing"),
                  when(lags, task("bumping" if is_kip_455(version) else "assigning"),
                       task("idle"))),
        **read_state(now))
    send(now, new, broker, zk.leader_epoch,
         those(lambda b: all_of(
             b == started, listed(cache.assignment, b), not_(is_none(zk.leader)))), {
             "leader": zk.leader, "isr": zk.isr, "version": zk.version,
             "replicas": members(cache.assignment)})
    tell(now, new, broker, zk.leader_epoch, zk.leader, to=reached)


def is_eligible(cache, broker):
    return all_of(
        cache.isr.has(broker), cache.live.has(broker), listed(cache.assignment, broker))


@transition(broker=BROKERS, leader=BROKERS)
def controller_elects_leader(now, new, broker, leader):
    """A live member of the ISR leads, and the live part of the ISR is kept.

    Kafka: leaderForOffline
    """
    cache = now.cache[broker]
    require_task(now, broker, "electing",           "the partition has no live leader")
    require(is_eligible(cache, leader),             "the candidate is alive, assigned, in the ISR")
    require_current(now, broker)

    isr = cache.isr.within(cache.live)
    write_state(
        now, new, broker, leader, isr, to=members(cache.assignment),
        replicas=members(cache.assignment), task="idle")
    new.dropped = those(lambda b: any_of(
        now.dropped.has(b), all_of(cache.isr.has(b), not_(isr.has(b)))))


@transition(broker=BROKERS)
def controller_finds_nobody_to_lead(now, new, broker):
    """No member of the ISR is alive: the election fails, and the dead are looked after."""
    cache = now.cache[broker]
    require_task(now, broker, "electing",           "the partition has no live leader")
    require(not_(some(BROKERS, lambda b: is_eligible(cache, b))),
                                                    "no assigned member of the ISR is alive")
    require_current(now, broker)

    new.cache[broker] = cache.but(task=when(
        is_none(cache.leader), task("idle"), task("removing")))


@transition(broker=BROKERS, dead=BROKERS)
def controller_removes_dead_replica(now, new, broker, dead):
    """A dead replica leaves the ISR, and a dead leader its place; the last of the ISR is kept."""
    cache = now.cache[broker]
    require_task(now, broker, "removing",           "a member of the ISR or the leader is dead")
    require(any_of(cache.isr.has(dead), cache.leader == dead),
                                                    "the replica leads or is in the ISR")
    require(not_(cache.live.has(dead)),             "the replica is dead")
    require_current(now, broker)

    leader, isr = without(cache, dead)
    write_state(
        now, new, broker, leader, isr,
        to=those(lambda b: all_of(listed(cache.assignment, b), b != dead)),
        replicas=members(cache.assignment), task="idle")
    new.dropped = when(isr.has(dead), now.dropped, now.dropped.including(dead))
