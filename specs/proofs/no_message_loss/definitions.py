"""Definitions that the invariants use."""

from model.language import all_of, any_of, implies, not_
from model.replication.history.state import BROKERS, ENDS, EPOCHS
from specs.invariants import Definition


def at(log, offset):
    """The record of a log at an offset."""
    return log[offset].id


def leads(now, broker):
    return now.replica[broker].role == "leading"


def follows(now, broker):
    return now.replica[broker].role == "following"


def truncates(now, broker):
    return now.replica[broker].role == "truncating"


def is_elected_in_its_epoch(now, broker):
    """The LeaderAndIsr of the broker's own epoch names it the leader."""
    request = now.request[now.replica[broker].epoch]
    return all_of(request.sent, request.named, request.leader == broker)


def has_died_leading(now, broker):
    """Its process died while it led, and was sent nothing since."""
    return all_of(now.replica[broker].role == "down", is_elected_in_its_epoch(now, broker))


def is_reached_without(now, broker, epoch):
    """The broker does not know the epoch yet, or no epoch as new has been led."""
    return any_of(now.replica[broker].epoch < epoch, now.newest < epoch)


def is_safe_with(now, member, epoch, end):
    """This member does not keep the epoch's leader from committing that much."""
    return implies(now.leader[epoch].isr.has(member), any_of(
        member == now.request[epoch].leader,
        now.replica[member].epoch <= epoch,
        now.asked[member][epoch] >= end))


may_be_committed = Definition(
    "may_be_committed",
    "the leader of the epoch has committed up to that end, or may yet: each member of its ISR "
    "asked for that end in the epoch, or has not left for a newer one, so that it may yet ask",
    over=(EPOCHS, ENDS),
    plain=lambda now, epoch, end: all_of(now.began[epoch], end <= now.history[epoch].end),
    each=(BROKERS,),
    member=lambda now, epoch, end, member: is_safe_with(now, member, epoch, end),
    triggers=lambda now, epoch, end, member: [
        now.leader[epoch].isr.has(member), now.request[epoch].isr.has(member)],
)


def commits_with_the_log_of(now, broker, epoch, end):
    """Whatever the epoch's leader commits up to that end, it commits with this broker's log."""
    return any_of(
        not_(now.leader[epoch].isr.has(broker)),
        broker == now.request[epoch].leader,
        now.asked[broker][epoch] >= end)
