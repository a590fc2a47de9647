"""Definitions that the five designs share; `l` and `f` of the published rules are spelled out."""

from model.classic.state import OFFSETS
from model.language import (
    all_of,
    any_of,
    below,
    least,
    limit,
    not_,
    require,
    smaller,
    some,
)

LOG_SIZE   = limit("log")
ALL_RECORDS = limit("records")
LAST_EPOCH = limit("epoch")


def presumes_leadership(now, replica):
    """The replica believes that it leads."""
    return now.view[replica].leader == replica


def follows(now, leader, follower):
    """The follower believes that this replica leads (it may be the leader itself)."""
    return now.view[follower].leader == leader


def follows_the_epoch(now, leader, follower):
    """KIP-320: the follower follows this leader in the leader's own epoch."""
    return all_of(
        presumes_leadership(now, leader),
        follows(now, leader, follower),
        now.view[follower].epoch == now.view[leader].epoch)


def is_true_leader(now, replica):
    """The broker believes that it leads, and ZooKeeper agrees."""
    return all_of(
        now.quorum.leader == replica,
        presumes_leadership(now, replica),
        now.view[replica].epoch == now.quorum.epoch)


def has_record_at(now, replica, offset):
    """The replica's log has a record at this offset."""
    return offset < now.log[replica].end


def caught_up(now, leader, follower, end):
    """The follower follows, and both logs reach `end`."""
    return all_of(
        follows(now, leader, follower),
        any_of(end == 0, all_of(
            has_record_at(now, leader, end - 1), has_record_at(now, follower, end - 1))))


def caught_up_by_epoch(now, leader, follower, end):
    """The same, and the last records below `end` carry the same epoch."""
    last = end - 1
    return all_of(
        presumes_leadership(now, leader),
        follows(now, leader, follower),
        any_of(end == 0, all_of(
            has_record_at(now, leader, last),
            has_record_at(now, follower, last),
            now.log[leader][last].epoch == now.log[follower][last].epoch)))


def same_record(now, one, other, offset):
    """Both logs hold the same record (id and epoch) at this offset."""
    return all_of(
        has_record_at(now, one, offset), has_record_at(now, other, offset),
        now.log[one][offset] == now.log[other][offset])


def common_end(now, follower, leader):
    """KIP-279: 1 + the greatest offset at which both logs hold the same record; 0 without one."""
    def nothing_shared_from(end):
        return not_(some(
            below(OFFSETS, now.log[follower].end, low=end),
            lambda offset: same_record(now, follower, leader, offset)))

    return least(OFFSETS, nothing_shared_from, otherwise=LOG_SIZE)


def leads_an_epoch_that_reaches_the_hw(now, leader):
    """The HW is the log's end, or the record at it was written in the leader's epoch."""
    mine, log = now.view[leader], now.log[leader]
    return any_of(
        mine.hw == log.end,
        all_of(has_record_at(now, leader, mine.hw), log[mine.hw].epoch == mine.epoch))


def replicate(now, new, leader, follower):
    """The follower appends the leader's record at its own end, and learns the leader's HW."""
    mine, at = now.log[follower], now.log[follower].end
    # redundant because the leader's log is no larger: there is no next record at that offset.
    require(at < LOG_SIZE,             "the follower's log is not full")
    require(has_record_at(now, leader, at),  "the leader has the follower's next record")

    record = now.log[leader][at]
    new.log[follower]     = mine.append(id=record.id, epoch=record.epoch)
    new.view[follower].hw = smaller(now.view[leader].hw, at + 1)


def write_isr(now, new, leader, isr):
    """A registered update: no new epoch, no request, seen at once (ZooKeeper is elided here)."""
    new.quorum.isr       = isr
    new.view[leader].isr = isr
