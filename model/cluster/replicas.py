"""The replica state machine: replicas of dead brokers become Offline and leave the ISR.

The other replicas are notified even if nothing is written; they ignore an unchanged leader epoch.

Source: ReplicaStateMachine.removeReplicasFromIsr (2.3)
"""

from model.cluster.batch import batch
from model.cluster.elections import (
    as_read,
    require_current,
    require_read,
    some_replica_is_gone,
    write_state,
)
from model.cluster.thread import (
    at,
    context_of,
    done,
    require_acting,
    require_writing,
    states_by,
    write_contexts,
)
from model.language import all_of, any_of, not_, require, transition, when
from model.protocol.state import BROKERS


def takes_offline(stage):
    return any_of(stage == "offlining", stage == "removing", stage == "removing_followers",
                  stage == "retiring")


def require_removal(now, broker, replica):
    require(takes_offline(now.cache[broker].stage), "it takes replicas offline")
    require(now.context[broker].gone.has(replica),  "the replica is to go offline")
    require_read(now, broker)


@transition(broker=BROKERS, replica=BROKERS)
def controller_removes_replica(now, new, broker, replica):
    """An offline replica loses its leadership and leaves the ISR; the last ISR member is kept."""
    current = as_read(now, broker)
    require_writing(now, broker)
    require_removal(now, broker, replica)
    require_current(now, broker)
    require(current.isr.has(replica),               "the replica is in the ISR")

    new.context[broker].gone = now.context[broker].gone.without(replica)
    write_state(now, new, broker,
        leader=when(current.leader == replica, None, current.leader),
        isr=when(current.isr.is_only(replica), current.isr, current.isr.without(replica)))


@transition(broker=BROKERS, replica=BROKERS)
def controller_finds_replica_not_in_isr(now, new, broker, replica):
    """The replica is no longer in the ISR: nothing is written, but the other replicas are notified.

    The state that was read is cached.
    """
    require_acting(now, broker)
    require_removal(now, broker, replica)
    require(as_read(now, broker).controller <= now.belief[broker],
                                                    "no newer controller has written the state")
    require(not_(as_read(now, broker).isr.has(replica)), "the replica is not in the ISR")

    new.context[broker] = now.context[broker].but(
        version=now.context[broker].read, read=None, batched=True,
        gone=now.context[broker].gone.without(replica))


@transition(broker=BROKERS)
def controller_sends_removal_batch(now, new, broker):
    """The batch of the removals: LeaderAndIsr to the other replicas, UpdateMetadata to all.

    A broker that shuts down, or that has a failed log directory, is alive, so it is sent
    StopReplica. At a failover, elections follow. After a failure, bounced brokers are handled; if
    no partition lost its leader, all brokers are sent the live brokers again.
    """
    cache = now.cache[broker]
    require_acting(now, broker)
    require(takes_offline(cache.stage),             "it takes replicas offline")
    require(not_(some_replica_is_gone(now, broker)), "no replica waits for it")

    new.cache[broker] = cache.but(
        subject=when(cache.stage == "retiring", cache.subject, None),
        stage=when(cache.stage == "offlining", at("onlining"),
              when(cache.stage == "removing_followers", at("notifying"),
              when(cache.stage == "retiring", at("answering"),
              when(cache.started.is_empty(), done(cache), at("announcing_new"))))),
        queue=batch(now, broker,
            goes=lambda partition, target: all_of(
                context_of(now, broker, partition).batched, cache.subject != target),
            tells=lambda partition: context_of(now, broker, partition).batched,
            stops=lambda partition, target: all_of(cache.subject == target, any_of(
                context_of(now, broker, partition).batched,
                context_of(now, broker, partition).stops))))
    write_contexts(now, new, broker, lambda partition: when(
        cache.stage == "offlining", states_by(now, broker, cache.live)(partition),
        context_of(now, broker, partition).but(batched=False, stops=False)))
