"""`kip_320`: everything between a leader and a follower is fenced by the leader epoch."""

from model.classic.definitions import (
    common_end,
    follows_the_epoch,
    has_record_at,
    is_true_leader,
    leads_an_epoch_that_reaches_the_hw,
    presumes_leadership,
    replicate,
    write_isr,
)
from model.classic.state import EPOCHS, REPLICAS
from model.language import all_of, any_of, every, implies, not_, require, smaller, transition


def is_kip_320(v):
    return v.design == "kip_320"


@transition(only=is_kip_320, leader=REPLICAS, follower=REPLICAS)
def fenced_leader_shrinks_isr(now, new, leader, follower):
    """The true leader drops a follower of another epoch, or one that is behind."""
    isr = now.view[leader].isr
    # redundant because a leader follows itself in its own epoch, and is not behind itself.
    require(leader != follower,                "a leader never drops itself")
    # redundant because the step would change nothing.
    require(isr.has(follower),                 "the follower is in the leader's ISR")
    require(is_true_leader(now, leader),       "the leader is the registered one")
    # redundant because a smaller ISR is always safe: to drop who keeps up is only unkind.
    require(any_of(
        not_(follows_the_epoch(now, leader, follower)),
        now.log[follower].end < now.log[leader].end),
                                               "the follower is in another epoch, or behind")

    write_isr(now, new, leader, isr.without(follower))


@transition(only=is_kip_320, leader=REPLICAS, follower=REPLICAS)
def fenced_leader_expands_isr(now, new, leader, follower):
    """The true leader takes back a follower of its own epoch that reaches the high watermark."""
    isr, hw = now.view[leader].isr, now.view[leader].hw
    # redundant because the step would change nothing.
    require(not_(isr.has(follower)),           "the follower is not in the leader's ISR")
    require(is_true_leader(now, leader),       "the leader is the registered one")
    require(follows_the_epoch(now, leader, follower),
                                               "the follower follows in the leader's epoch")
    require(any_of(hw == 0, has_record_at(now, follower, hw - 1)),
                                               "the follower has all below the high watermark")
    require(leads_an_epoch_that_reaches_the_hw(now, leader),
                                               "the high watermark is in the leader's own epoch")

    write_isr(now, new, leader, isr.including(follower))


@transition(only=is_kip_320, leader=REPLICAS)
def fenced_leader_raises_hw(now, new, leader):
    """The leader raises its high watermark by one record that every ISR member of its epoch has."""
    hw = now.view[leader].hw
    require(has_record_at(now, leader, hw),    "the leader has the record")
    require(every(REPLICAS, lambda member: implies(
        now.view[leader].isr.has(member),
        all_of(follows_the_epoch(now, leader, member), has_record_at(now, member, hw)))),
                                               "every ISR member follows the epoch and has it")

    new.view[leader].hw = hw + 1


@transition(shows="fetch", only=is_kip_320, leader=REPLICAS, follower=REPLICAS)
def fenced_follower_fetches(now, new, leader, follower):
    """A follower appends the next record of a leader that leads in the follower's epoch."""
    require(follows_the_epoch(now, leader, follower),
                                               "the follower follows in the leader's epoch")

    replicate(now, new, leader, follower)


@transition(only=is_kip_320, follower=REPLICAS, leader=REPLICAS, epoch=EPOCHS)
def fenced_becomes_follower(now, new, follower, leader, epoch):
    """A replica follows a leader that has itself taken up the request, and cuts its log to fit.

    Why: KIP-320 fences the question "where does my last epoch end?" by the current leader epoch,
    so only a leader of that very epoch can answer it.
    """
    mine, view = now.log[follower], now.view[follower]
    # redundant because a replica that leads in this epoch knows the request already.
    require(leader != follower,                "the leader is another replica")
    # redundant because nobody leads in an epoch of which no request was sent.
    require(epoch < now.next_epoch,            "a request of this epoch was sent")
    # redundant because nobody leads in an epoch but the replica that its request names.
    require(now.request[epoch].leader == leader,   "the request names this leader")
    require(view.epoch < epoch,                "the request is newer than its own epoch")
    # redundant because whom the request names, and who has taken it up, presumes leadership.
    require(presumes_leadership(now, leader),  "the leader presumes leadership")
    require(now.view[leader].epoch == epoch,   "the leader leads in the request's epoch")

    cut = common_end(now, follower, leader)
    new.log[follower]  = mine.cut(cut)
    new.view[follower] = view.but(
        hw=smaller(cut, view.hw), epoch=epoch, leader=leader, isr=now.request[epoch].isr)


FENCED = (
    fenced_leader_shrinks_isr, fenced_leader_expands_isr, fenced_leader_raises_hw,
    fenced_follower_fetches, fenced_becomes_follower)
