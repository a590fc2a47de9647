"""AlterIsr, since 2.7: a leader asks for an ISR change, and the controller writes it.

A leader sends the new ISR to the controller (AlterIsr, KIP-497), and continues meanwhile: it
appends, answers fetches, handles LeaderAndIsr, and commits what the members of both ISRs have. The
controller's write is conditional on the version that the leader named, and fenced by its own epoch.
A request that is lost, or that reaches a broker which is not the controller, is sent again. A
finally refused request is not: the high watermark waits for both ISRs until the next LeaderAndIsr.

Each broker has at most one request in flight. It outlives the process that sent it: the controller
may write it until it knows of the broker's next registration. A LeaderAndIsr voids the request: its
version is then old, and a later answer has an older epoch.

Abstractions: a leader that removes several replicas removes one after the other. Followers ask with
OffsetForLeaderEpoch where logs diverge, as they do up to 2.7; fetch responses do not say it
(KIP-595, 2.8). Up to 3.0 a late answer could remove the next request from the queue, so that it was
never sent (KAFKA-12686): in this model such a request is one that is not answered yet.

Source: Partition.expandIsr, shrinkIsr, sendAlterIsrRequest, handleAlterIsrResponse;
AlterIsrManagerImpl; KafkaController.processAlterIsr (2.7.2)
"""

from dataclasses import replace

from model.language import (
    BLANK,
    NOBODY,
    Names,
    Record,
    SetOf,
    all_of,
    per,
    require,
    transition,
    when,
)
from model.protocol.controllership import require_controllership, require_fence
from model.protocol.isr import require_cached_version, require_outdated_version
from model.protocol.state import BROKERS, CONTROLLER_EPOCHS, LEADER_EPOCHS, ZK_VERSIONS
from model.replication import SYSTEM as REPLICATION
from model.replication.isr import require_laggard, require_may_rejoin_isr
from model.replication.lifecycle import lose_memory
from model.replication.state import STATE as BEFORE

ISR_REQUESTS = Names("isr request", ("none", "applied", "refused", "asked"))

STATE = Record(**{**BEFORE.parts,
    # A leader's request for an ISR: asked for in which epoch, and by which version; or answered,
    # with the version that it is registered under
    "isr_write": per(BROKERS, Record(
        state=ISR_REQUESTS, epoch=LEADER_EPOCHS.or_none, isr=SetOf(BROKERS),
        state_epoch=CONTROLLER_EPOCHS, version=ZK_VERSIONS))})


def require_idle_leader(now, leader):
    require(now.replica[leader].role == "leader",         "the broker believes it leads")
    require(now.isr_write[leader].state == "none",        "no other ISR is asked for")


def ask(now, new, leader, isr):
    """isrState becomes PendingExpandIsr or PendingShrinkIsr, and AlterIsr is in flight."""
    mine = now.replica[leader]
    new.isr_write[leader] = {
        "state": "asked", "epoch": mine.epoch, "isr": isr, "state_epoch": 0,
        "version": mine.zk_version}


@transition(leader=BROKERS, replica=BROKERS)
def leader_asks_to_shrink_isr(now, new, leader, replica):
    """A leader asks the controller for an ISR without a replica that is not known to be caught up,
    but its high watermark still waits for that replica.

    Why:   the old ISR counts until the write: it may be refused, and then the replica must have all
           commits.
    Kafka: Partition.maybeShrinkIsr, PendingShrinkIsr
    """
    require_idle_leader(now, leader)
    require_laggard(now, leader, replica)

    ask(now, new, leader, now.replica[leader].isr.without(replica))


@transition(leader=BROKERS, replica=BROKERS)
def leader_asks_to_expand_isr(now, new, leader, replica):
    """A leader asks the controller to add a replica that reached its high watermark and its epoch's
    start offset; from now on the high watermark waits for that replica.

    Kafka: Partition.maybeExpandIsr, PendingExpandIsr
    """
    require_idle_leader(now, leader)
    require_may_rejoin_isr(now, leader, replica)

    ask(now, new, leader, now.replica[leader].isr.including(replica))


def require_asked(now, leader):
    require(now.isr_write[leader].state == "asked",       "its AlterIsr is in flight")


def leader_awaits_answer(now, leader):
    """The process that sent the request still runs and leads; otherwise the response is ignored."""
    return now.replica[leader].role == "leader"


@transition(controller=BROKERS, leader=BROKERS)
def controller_writes_isr(now, new, controller, leader):
    """The controller writes the ISR that a leader asked for: the leader epoch stays, only the
    version is raised.

    Why:   the write is fenced by the version that the leader named, and by the controller's epoch.
    Kafka: KafkaController.processAlterIsr, KafkaZkClient.updateLeaderAndIsr
    """
    asked = now.isr_write[leader]
    require_controllership(now, controller)
    require_asked(now, leader)
    require_fence(now, controller)
    require_cached_version(asked.version, now.zk.version)

    new.zk.leader         = leader
    new.zk.leader_epoch   = asked.epoch
    new.zk.isr            = asked.isr
    new.zk.state_epoch    = now.belief[controller]
    new.zk.version        = now.zk.version + 1
    new.isr_write[leader] = when(leader_awaits_answer(now, leader), asked.but(
        state="applied", state_epoch=now.belief[controller], version=now.zk.version + 1), BLANK)


@transition(ends="refused", shows="refused_write", controller=BROKERS, leader=BROKERS)
def controller_refuses_isr(now, new, controller, leader):
    """INVALID_UPDATE_VERSION or FENCED_LEADER_EPOCH: the leader does not ask again, and its high
    watermark waits for both ISRs.

    Why: it cannot tell whether an earlier attempt was written.
    """
    asked = now.isr_write[leader]
    require_controllership(now, controller)
    require_asked(now, leader)
    require_outdated_version(asked.version, now.zk.version)

    new.isr_write[leader] = when(
        leader_awaits_answer(now, leader), asked.but(state="refused", version=0), BLANK)


@transition(controller=BROKERS, leader=BROKERS)
def controller_finds_isr_written(now, new, controller, leader):
    """The partition is in the state that the leader asks for: an earlier attempt was written.

    Kafka: KafkaController.processAlterIsr, LeaderAndIsr.equalsIgnoreZk
    """
    asked, zk = now.isr_write[leader], now.zk
    require_controllership(now, controller)
    require_asked(now, leader)
    # redundant because nobody else hears the answer.
    require(leader_awaits_answer(now, leader),            "the leader that asked waits")
    # redundant because by a current version a leader asks for another ISR than the registered one.
    require_outdated_version(asked.version, zk.version)
    require(zk.leader == leader,                          "it is the registered leader")
    require(zk.leader_epoch == asked.epoch,               "in the epoch in which it asked")
    require(zk.isr == asked.isr,                          "the registered ISR is the requested one")

    new.isr_write[leader] = asked.but(
        state="applied", state_epoch=zk.state_epoch, version=zk.version)


@transition(ends="lost", fault=True, leader=BROKERS)
def isr_answer_is_lost(now, new, leader):
    """The controller's answer is lost, or it resigns before it answers: the leader asks again, with
    the version that it had.

    Kafka: AlterIsrManagerImpl.propagateIsrChanges; what was not answered stays to be sent
    """
    require(now.isr_write[leader].state == "applied",     "the ISR was written, and answered")

    new.isr_write[leader] = now.isr_write[leader].but(
        state="asked", state_epoch=0, version=now.replica[leader].zk_version)
    new.spent.losses = now.spent.losses + 1


# -- what a LeaderAndIsr and a crash do to a request ----------------------------------------------


def voids_request(now, new, given):
    """AlterIsrManager.clearPending; isrState becomes CommittedIsr."""
    new.isr_write[given["broker"]] = BLANK


def refuses_an_older_registration(now, new, given):
    """STALE_BROKER_EPOCH: a controller that sends a LeaderAndIsr to a new process knows its
    registration."""
    replica = given["replica"]
    is_new = all_of(now.up.has(replica), now.replica[replica].role == "none")
    new.isr_write[replica] = when(is_new, BLANK, now.isr_write[replica])


@transition(actor=NOBODY, ends="lost", fault=True, broker=BROKERS)
def broker_crashes(now, new, broker):
    """A process dies: its memory is gone; its log, epoch cache and checkpoint stay.

    Its AlterIsr may still reach the controller.
    """
    asked = now.isr_write[broker]
    lose_memory(now, new, broker, now.replica[broker],
         asked=when(asked.state == "asked", asked, BLANK))


ALSO = {
    "broker_becomes_leader": voids_request,
    "broker_becomes_follower": voids_request,
    "controller_issues_leader_and_isr": refuses_an_older_registration,
}

INSTEAD = {
    "broker_crashes": broker_crashes,
    "leader_shrinks_isr": leader_asks_to_shrink_isr,
    "leader_shrink_is_refused": controller_writes_isr,
    "leader_expands_isr": leader_asks_to_expand_isr,
    "leader_expand_is_refused": controller_refuses_isr,
    "isr_answer_is_lost": isr_answer_is_lost,
    "leader_finds_isr_written": controller_finds_isr_written,
    "leader_learns_isr_is_refused": None,
    "leader_gives_up_isr_write": None,
}
"""A step up to 2.6, and the one that stands in its place."""


def with_its_request(one):
    """The step itself, and its effect on a leader's request."""
    also = ALSO.get(one.name)
    if also is None:
        return one

    def function(now, new, **given):
        one.function(now, new, **given)
        also(now, new, given)

    function.__doc__ = one.function.__doc__
    return replace(one, function=function)


_RELEASE = REPLICATION.versions["2.7"]
SYSTEM = replace(
    REPLICATION,
    name="replication_since_2_7",
    about=f"{REPLICATION.about}; the controller writes the ISR that a leader asks for (KIP-497)",
    state=STATE,
    transitions=tuple(
        with_its_request(INSTEAD.get(one.name, one)) for one in REPLICATION.transitions
        if INSTEAD.get(one.name, one) is not None),
    claims=tuple(one for one in REPLICATION.claims if one.kind in ("always", "sometimes")),
    versions={"2.7": replace(
        _RELEASE, switches={**_RELEASE.switches, "isr_write_locks": False})},
    also={},
    default_version="2.7",
)
"""Fewer claims: in the end, and by whom a leader is current, is said of `replication` alone."""
