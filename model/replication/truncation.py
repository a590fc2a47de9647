"""OffsetForLeaderEpoch and truncation (KIP-101, KIP-279).

Source: LeaderEpochFileCache.endOffsetFor, AbstractFetcherThread.getOffsetTruncationState.
"""

from model.language import (
    BLANK,
    all_of,
    any_of,
    below,
    is_none,
    least,
    not_,
    require,
    smaller,
    transition,
    version,
    when,
)
from model.protocol.state import BROKERS
from model.replication.leader_and_isr import epoch_at
from model.replication.state import OFFSETS, is_unlocked


def truncates_by_epoch(v):
    return v.truncation != "hw"


def end_of_epoch(log, epoch):
    """The end of the records of this epoch or older ones: where the next newer epoch starts."""
    return least(below(OFFSETS, log.end), lambda o: log[o].epoch > epoch, otherwise=log.end)


def end_offset_for(log, latest_epoch, epoch):
    """The largest epoch of the log that is no newer than this one, and its end offset."""
    end   = end_of_epoch(log, epoch)
    older = when(end == 0, epoch, log[end - 1].epoch)
    return (when(epoch == latest_epoch, epoch, older),
            when(epoch == latest_epoch, log.end, end))


def still_follows(now, follower, leader):
    """The follower still follows this leader, and is in the leader epoch of its request."""
    mine, slot = now.replica[follower], now.fetch[follower][leader]
    same_leader = all_of(mine.role == "follower", mine.leader == leader)
    return all_of(same_leader, mine.epoch == slot.epoch) if version.fetch_fencing else same_leader


def leads_as_asked(now, follower, leader):
    """KIP-320: the request names the leader's own epoch. Before KIP-320 a leader answered in any
    epoch."""
    mine, slot = now.replica[leader], now.fetch[follower][leader]
    leads = mine.role == "leader"
    return all_of(leads, mine.epoch == slot.epoch) if version.fetch_fencing else leads


@transition(only=truncates_by_epoch, broker=BROKERS, leader=BROKERS)
def follower_sends_epoch_request(now, new, broker, leader):
    """A new follower asks its leader where the last epoch of its own log ends."""
    mine = now.replica[broker]
    # redundant because a follower's leader is another: it spares the slots that stay empty.
    require(broker != leader,                             "a replica asks another, not itself")
    # redundant because who leads follows itself, and who has no role follows nobody.
    require(mine.role == "follower",                       "the broker follows")
    require(mine.leader == leader,                        "it follows this leader")
    require(mine.truncating,                              "it does not know where to cut yet")
    require(now.fetch[broker][leader].state == "idle",     "it has no request under way to it")

    new.fetch[broker][leader].state      = "asks_epoch"
    new.fetch[broker][leader].epoch      = mine.epoch
    new.fetch[broker][leader].last_epoch = mine.latest_epoch


@transition(only=truncates_by_epoch, leader=BROKERS, follower=BROKERS)
def leader_answers_epoch(now, new, leader, follower):
    """The leader answers with its largest epoch up to the requested one, and its end offset."""
    slot, mine, log = now.fetch[follower][leader], now.replica[leader], now.log[leader]
    # redundant because a process that does not run leads nothing.
    require(now.up.has(leader),                           "the leader's process runs")
    require(slot.state == "asks_epoch",                    "the follower asked for an epoch's end")
    if version.isr_write_locks:
        # redundant because the answer is the same later: it waits as Kafka's does.
        require(is_unlocked(now, leader), "none of its ISR writes waits for an answer")
    require(leads_as_asked(now, follower, leader),        "it leads in the epoch of the request")

    asked   = slot.last_epoch
    unknown = any_of(is_none(mine.latest_epoch), asked > mine.latest_epoch)
    if version.truncation == "kip_101":                    # up to 1.1: older than all is unknown
        unknown = any_of(
            unknown, all_of(asked < mine.latest_epoch, end_of_epoch(log, asked) == 0))
    epoch, end = end_offset_for(log, mine.latest_epoch, asked)
    new.fetch[follower][leader] = slot.but(
        state="epoch_is_answered", last_epoch=None,
        # up to 1.1 an answer names no epoch
        answer_epoch=None if version.truncation == "kip_101" else when(unknown, None, epoch),
        answer_end=when(unknown, None, end))


def is_failed(slot):
    """The partition has failed in the follower's fetcher: the fetcher sends nothing for it until
    the next LeaderAndIsr."""
    return slot.but(state="given_up", epoch=None, last_epoch=None, offset=0)


def is_fenced(now, follower, leader):
    """The leader is in a newer epoch than the follower that asks."""
    newer = now.fetch[follower][leader].epoch < now.replica[leader].epoch
    return all_of(newer, still_follows(now, follower, leader))


def retry_after_refusal(now, new, follower, leader):
    """The follower retries; or marks the partition as failed, if the leader is in a newer epoch.
    """
    slot, mine = now.fetch[follower][leader], now.replica[follower]
    if version.fenced_fetchers_go_on or not version.fetch_fencing:
        new.fetch[follower][leader] = BLANK
        return
    fenced = is_fenced(now, follower, leader)
    new.fetch[follower][leader] = when(fenced, is_failed(slot), BLANK)
    new.replica[follower].truncating = all_of(mine.truncating, not_(fenced))


@transition(ends="refused", only=truncates_by_epoch, leader=BROKERS, follower=BROKERS)
def leader_refuses_epoch(now, new, leader, follower):
    """The broker does not lead, or not in that epoch; the follower will ask again."""
    slot = now.fetch[follower][leader]
    require(now.up.has(leader),                           "the process that is asked runs")
    require(slot.state == "asks_epoch",                    "the follower asked for an epoch's end")
    if version.isr_write_locks:
        # redundant because a refusal is the same later: it waits as Kafka's does.
        require(is_unlocked(now, leader), "none of its ISR writes waits for an answer")
    require(not_(leads_as_asked(now, follower, leader)),  "it does not lead in the request's epoch")

    if version.late_answers_ignored:
        retry_after_refusal(now, new, follower, leader)
        return
    mine = now.replica[follower]
    failed = all_of(                                       # KAFKA-7786: fenced, but long moved on
        mine.role == "follower", mine.leader == leader,
        slot.epoch < now.replica[leader].epoch, slot.epoch < mine.epoch)
    if not version.fenced_fetchers_go_on:
        failed = any_of(failed, is_fenced(now, follower, leader))
    new.fetch[follower][leader] = when(failed, is_failed(slot), BLANK)
    new.replica[follower].truncating = all_of(mine.truncating, not_(failed))


@transition(only=truncates_by_epoch, follower=BROKERS, leader=BROKERS)
def follower_truncates(now, new, follower, leader):
    """The follower truncates by the answer; it asks again if it lacks the answered epoch.

    Why: KIP-279, after two fast elections one answer is not enough.
    """
    slot, mine, log = now.fetch[follower][leader], now.replica[follower], now.log[follower]
    require(slot.state == "epoch_is_answered",             "the leader answered")
    require(still_follows(now, follower, leader),         "it still follows that leader and epoch")
    # redundant because it asks where to cut only then, and cuts by nothing but the answer.
    require(mine.truncating,                              "it does not know where to cut yet")

    epoch, end = slot.answer_epoch, slot.answer_end
    if version.truncation == "kip_279":
        known_epoch, known_end = end_offset_for(log, mine.latest_epoch, epoch)
        foreign = all_of(epoch <= mine.latest_epoch, known_epoch != epoch)
        agreed  = when(epoch > mine.latest_epoch, end, smaller(known_end, end))
        cut     = smaller(log.end, when(is_none(end), mine.hw,
                                   when(foreign, known_end, agreed)))
        again   = not_(any_of(is_none(end), not_(foreign), cut == 0))
    else:
        cut     = smaller(log.end, when(is_none(end), mine.hw, end))
        again   = False                                    # KIP-101: one answer decides
    new.log[follower]     = log.cut(cut)
    new.replica[follower] = mine.but(
        hw=smaller(mine.hw, cut), truncating=again, latest_epoch=epoch_at(log, cut))
    new.fetch[follower][leader] = BLANK


@transition(ends="refused", only=truncates_by_epoch, follower=BROKERS, leader=BROKERS)
def epoch_answer_is_ignored(now, new, follower, leader):
    """The answer is late: the follower has another leader or leader epoch by now."""
    slot, mine = now.fetch[follower][leader], now.replica[follower]
    require(slot.state == "epoch_is_answered",             "the leader answered")
    # redundant because a process that dies takes its questions with it, and their answers.
    require(now.up.has(follower),                         "the follower's process runs")
    require(not_(all_of(still_follows(now, follower, leader), mine.truncating)),
                                                          "it no longer waits for this answer")

    new.fetch[follower][leader] = BLANK
