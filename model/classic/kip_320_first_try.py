"""`kip_320_first_try`: truncate on fetch, comparing the epoch of the last record only.

It survives one leader change and breaks at the second: a record with the right epoch at the right
offset does not show that the answering leader is still the leader of that epoch.
"""

from model.classic.definitions import (
    caught_up_by_epoch,
    common_end,
    follows,
    has_record_at,
    is_true_leader,
    leads_an_epoch_that_reaches_the_hw,
    presumes_leadership,
    replicate,
    write_isr,
)
from model.classic.state import EPOCHS, REPLICAS
from model.language import all_of, any_of, every, implies, not_, require, smaller, transition


def is_first_try(v):
    return v.design == "kip_320_first_try"


@transition(only=is_first_try, leader=REPLICAS, follower=REPLICAS)
def first_try_leader_shrinks_isr(now, new, leader, follower):
    """The true leader drops a follower that is not caught up, by epoch, to the end of its log."""
    isr = now.view[leader].isr
    require(leader != follower,                "a leader never drops itself")
    require(isr.has(follower),                 "the follower is in the leader's ISR")
    require(is_true_leader(now, leader),       "the leader is the registered one")
    require(not_(caught_up_by_epoch(now, leader, follower, now.log[leader].end)),
                                               "the follower is not caught up to the log's end")

    write_isr(now, new, leader, isr.without(follower))


@transition(only=is_first_try, leader=REPLICAS, follower=REPLICAS)
def first_try_leader_expands_isr(now, new, leader, follower):
    """The true leader takes back a follower that is caught up, by epoch, to the high watermark."""
    isr = now.view[leader].isr
    require(not_(isr.has(follower)),           "the follower is not in the leader's ISR")
    require(is_true_leader(now, leader),       "the leader is the registered one")
    require(caught_up_by_epoch(now, leader, follower, now.view[leader].hw),
                                               "the follower is caught up to the high watermark")
    require(leads_an_epoch_that_reaches_the_hw(now, leader),
                                               "the high watermark is in the leader's own epoch")

    write_isr(now, new, leader, isr.including(follower))


@transition(only=is_first_try, leader=REPLICAS)
def first_try_leader_raises_hw(now, new, leader):
    """The leader raises its high watermark by one record that every ISR member has, by epoch."""
    hw = now.view[leader].hw
    require(presumes_leadership(now, leader),  "the replica presumes leadership")
    require(has_record_at(now, leader, hw),    "the leader has the record")
    require(every(REPLICAS, lambda member: implies(
        now.view[leader].isr.has(member), caught_up_by_epoch(now, leader, member, hw + 1))),
                                               "every ISR member is caught up to the record")

    new.view[leader].hw = hw + 1


@transition(shows="fetch", only=is_first_try, leader=REPLICAS, follower=REPLICAS)
def first_try_follower_fetches(now, new, leader, follower):
    """A follower whose last record has the leader's epoch at that offset appends the next one."""
    require(caught_up_by_epoch(now, leader, follower, now.log[follower].end),
                                               "the follower's log ends as the leader's does there")

    replicate(now, new, leader, follower)


@transition(only=is_first_try, leader=REPLICAS, follower=REPLICAS)
def first_try_follower_truncates(now, new, leader, follower):
    """A follower whose log diverges from the leader's cuts it to the end of what they share."""
    mine, theirs, view = now.log[follower], now.log[leader], now.view[follower]
    last = mine.end - 1
    require(leader != follower,                "the leader is another replica")
    require(presumes_leadership(now, leader),  "the leader presumes leadership")
    require(follows(now, leader, follower),    "the follower follows this leader")
    require(any_of(
        mine.end > theirs.end,
        all_of(mine.end > 0, has_record_at(now, leader, last),
               theirs[last].epoch != mine[last].epoch)),
                                               "the follower's log diverges or is longer")

    cut = common_end(now, follower, leader)
    new.log[follower]     = mine.cut(cut)
    new.view[follower].hw = smaller(cut, view.hw)


@transition(only=is_first_try, follower=REPLICAS, leader=REPLICAS, epoch=EPOCHS)
def first_try_becomes_follower(now, new, follower, leader, epoch):
    """A replica takes up a request for another leader; its log is left alone until it fetches."""
    require(leader != follower,                "the leader is another replica")
    require(epoch < now.next_epoch,            "a request of this epoch was sent")
    require(now.request[epoch].leader == leader,   "the request names this leader")
    require(now.view[follower].epoch < epoch,  "the request is newer than its own epoch")

    new.view[follower] = now.view[follower].but(
        epoch=epoch, leader=leader, isr=now.request[epoch].isr)


FIRST_TRY = (
    first_try_leader_shrinks_isr, first_try_leader_expands_isr, first_try_leader_raises_hw,
    first_try_follower_fetches, first_try_follower_truncates, first_try_becomes_follower)
