"""`hw_truncation`, `kip_101`, `kip_279`: a follower truncates when it learns of a new leader.

They differ only in the truncation offset (`truncation_offset`). None of them fences fetches, so a
follower may replicate from a leader of another epoch; this is how each of them loses data.
"""

from model.classic.definitions import (
    LOG_SIZE,
    caught_up,
    common_end,
    follows,
    has_record_at,
    is_true_leader,
    presumes_leadership,
    replicate,
    write_isr,
)
from model.classic.state import EPOCHS, OFFSETS, REPLICAS
from model.language import (
    all_of,
    below,
    every,
    implies,
    least,
    not_,
    require,
    smaller,
    transition,
    version,
    when,
)


def is_one_of_the_first_three(v):
    return v.design in ("hw_truncation", "kip_101", "kip_279")


@transition(only=is_one_of_the_first_three, leader=REPLICAS, follower=REPLICAS)
def leader_shrinks_isr(now, new, leader, follower):
    """The true leader drops a follower that is not caught up to the end of its log."""
    isr = now.view[leader].isr
    require(leader != follower,                "a leader never drops itself")
    require(isr.has(follower),                 "the follower is in the leader's ISR")
    require(is_true_leader(now, leader),       "the leader is the registered one")
    require(not_(caught_up(now, leader, follower, now.log[leader].end)),
                                               "the follower is not caught up to the log's end")

    write_isr(now, new, leader, isr.without(follower))


@transition(only=is_one_of_the_first_three, leader=REPLICAS, follower=REPLICAS)
def leader_expands_isr(now, new, leader, follower):
    """The true leader takes back a follower that is caught up to the high watermark."""
    isr = now.view[leader].isr
    require(not_(isr.has(follower)),           "the follower is not in the leader's ISR")
    require(is_true_leader(now, leader),       "the leader is the registered one")
    require(caught_up(now, leader, follower, now.view[leader].hw),
                                               "the follower is caught up to the high watermark")

    write_isr(now, new, leader, isr.including(follower))


@transition(only=is_one_of_the_first_three, leader=REPLICAS)
def leader_advances_hw(now, new, leader):
    """The leader raises its high watermark by one record that every ISR member has."""
    hw = now.view[leader].hw
    require(presumes_leadership(now, leader),  "the replica presumes leadership")
    require(hw < LOG_SIZE,                     "the high watermark is within the log's size")
    require(every(REPLICAS, lambda member: implies(
        now.view[leader].isr.has(member),
        all_of(follows(now, leader, member), has_record_at(now, member, hw)))),
                                               "every ISR member follows and has the record")

    new.view[leader].hw = hw + 1


@transition(shows="fetch", only=is_one_of_the_first_three, leader=REPLICAS, follower=REPLICAS)
def follower_replicates(now, new, leader, follower):
    """A follower appends the next record of the leader that it follows, whatever their epochs."""
    require(presumes_leadership(now, leader),  "the leader presumes leadership")
    require(follows(now, leader, follower),    "the follower follows this leader")

    replicate(now, new, leader, follower)


def truncation_offset(now, follower, leader):
    """Where a follower cuts its log: the one thing in which the three designs differ."""
    mine, theirs, hw = now.log[follower], now.log[leader], now.view[follower].hw
    if version.design == "hw_truncation":
        return hw
    if version.design == "kip_279":
        return common_end(now, follower, leader)
    last_epoch = mine[mine.end - 1].epoch
    next_epoch_starts = least(
        below(OFFSETS, theirs.end), lambda o: theirs[o].epoch > last_epoch, otherwise=LOG_SIZE)
    return when(mine.end == 0, 0,
           when(theirs.end == 0, hw,
           when(theirs[theirs.end - 1].epoch == last_epoch, theirs.end,
           when(next_epoch_starts < theirs.end, next_epoch_starts, hw))))


@transition(only=is_one_of_the_first_three, follower=REPLICAS, leader=REPLICAS, epoch=EPOCHS)
def becomes_follower(now, new, follower, leader, epoch):
    """A replica takes up a request for another leader and cuts its log at once.

    Why: what it holds above the cut may differ from what the new leader holds.
    """
    mine, view = now.log[follower], now.view[follower]
    cut = truncation_offset(now, follower, leader)
    require(leader != follower,                "the leader is another replica")
    require(epoch < now.next_epoch,            "a request of this epoch was sent")
    require(now.request[epoch].leader == leader,   "the request names this leader")
    require(view.epoch < epoch,                "the request is newer than its own epoch")
    require(cut <= mine.end,                   "the cut is within the follower's log")

    new.log[follower]  = mine.cut(cut)
    new.view[follower] = view.but(
        hw=smaller(cut, view.hw), epoch=epoch, leader=leader, isr=now.request[epoch].isr)


FIRST_THREE = (
    leader_shrinks_isr, leader_expands_isr, leader_advances_hw, follower_replicates,
    becomes_follower)
