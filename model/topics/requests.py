"""The requests of a controller: LeaderAndIsr and StopReplica, on one connection to each broker.

If several LeaderAndIsr about a partition wait for one broker, only the newest is kept: no step of a
broker depends on a request that is followed by a newer one on the same connection.

Source: kafka.controller.ControllerBrokerRequestBatch, RequestSendThread
"""

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
from model.protocol.state import BROKERS
from model.topics.state import CONTROLLERS, PARTITIONS


def is_answered(now, broker, to, returned=False):
    """A controller's request names the registration that it knows: a broker that has registered
    since refuses it (KIP-380: STALE_BROKER_EPOCH). `returned`: the new registration is about to
    be known."""
    if returned or not version.broker_epoch:
        return to
    return lambda p, b: all_of(to(p, b), now.cache[broker].reached.has(b))


def send_leader_and_isr(now, new, broker, to, leader, returned=False):
    """LeaderAndIsr about each partition p to each broker b of `to(p, b)`, with leader
    `leader(p)`."""
    sender, heard = now.belief[broker], is_answered(now, broker, to, returned)

    def order(b, p):
        was = now.request[sender][b].order[p]
        return when(not_(heard(p, b)), was, when(
            is_none(leader(p)), "leaderless", when(
                leader(p) == b, "lead", when(leader(p) != b, "follow", was))))

    new.request[sender] = lam(BROKERS, lambda b: now.request[sender][b].but(
        order=lam(PARTITIONS, lambda p: order(b, p)),
        outdated=lam(PARTITIONS, lambda p: all_of(
            now.request[sender][b].outdated[p], not_(heard(p, b))))))


def send_stop_replica(now, new, broker, to, kind, fenced=None):
    """StopReplica of a controller about each partition p to each broker b of `to(p, b)`.

    Where it is `fenced(p)`, the broker will refuse it.
    """
    sender, heard = now.belief[broker], is_answered(now, broker, to)

    def stop(p, b):
        sent = when(heard(p, b), kind, now.request[sender][b].stop[p])
        return sent if fenced is None else when(all_of(heard(p, b), fenced(p)), "fenced", sent)

    new.request[sender] = lam(BROKERS, lambda b: now.request[sender][b].but(
        stop=lam(PARTITIONS, lambda p: stop(p, b))))


def is_leader_and_isr(request):
    """A LeaderAndIsr is under way, about some partition."""
    return some(PARTITIONS, lambda p: request.order[p] != "none")


def is_stop_replica(request):
    """A StopReplica is under way, about some partition."""
    return some(PARTITIONS, lambda p: any_of(
        request.stop[p] == "stop", request.stop[p] == "delete", request.stop[p] == "fenced"))


def is_stop_replica_answer(request):
    """An answer to a StopReplica with delete is on its way back."""
    return some(PARTITIONS, lambda p: any_of(
        request.stop[p] == "deleted", request.stop[p] == "failed"))


@transition(ends="lost", fault=True, controller=CONTROLLERS, broker=BROKERS)
def request_is_lost(now, new, controller, broker):
    """The unsent requests of a controller that resigned are dropped, and it gets no responses.

    Why:   an active one repeats a request until it is answered, or the broker is gone.
    Kafka: ControllerChannelManager.shutdown
    """
    request = now.request[controller][broker]
    require(any_of(is_leader_and_isr(request), is_stop_replica(request),
                   is_stop_replica_answer(request)),
                                                "something is under way to the broker")
    require(every(BROKERS, lambda b: now.belief[b] != controller),
                                                "the sender is not the controller any more")

    new.request[controller][broker] = BLANK
