"""Records and the high watermark: fetch requests and answers; a follower's HW is a round behind."""

from model.language import (
    BLANK,
    all_of,
    any_of,
    below,
    every,
    implies,
    lam,
    larger,
    least,
    not_,
    require,
    smaller,
    some,
    transition,
    version,
    when,
)
from model.protocol.state import BROKERS
from model.replication.state import ENDS, OFFSETS, is_unlocked
from model.replication.truncation import leads_as_asked, retry_after_refusal, still_follows


@transition(broker=BROKERS, leader=BROKERS)
def follower_sends_fetch(now, new, broker, leader):
    """A follower fetches from its log end."""
    mine = now.replica[broker]
    # redundant because a follower's leader is another: it spares the slots that stay empty.
    require(broker != leader,                             "a replica asks another, not itself")
    # redundant because who leads follows itself, and who has no role follows nobody.
    require(mine.role == "follower",                       "the broker follows")
    require(mine.leader == leader,                        "it follows this leader")
    require(not_(mine.truncating),                        "it knows that its log fits the leader's")
    require(now.fetch[broker][leader].state == "idle",     "it has no request under way to it")

    new.fetch[broker][leader].state  = "asks_records"
    new.fetch[broker][leader].epoch  = mine.epoch
    new.fetch[broker][leader].offset = now.log[broker].end


def can_serve(now, follower, leader):
    return all_of(
        leads_as_asked(now, follower, leader),
        now.fetch[follower][leader].offset <= now.log[leader].end)


@transition(leader=BROKERS, follower=BROKERS)
def leader_answers_fetch(now, new, leader, follower):
    """The leader learns the follower's log end, and answers with one record and its earlier HW.

    Why: the HW in the answer predates this fetch, so a follower's HW is one round behind.
    """
    slot = now.fetch[follower][leader]
    # redundant because a process that does not run leads nothing.
    require(now.up.has(leader),                           "the leader's process runs")
    require(slot.state == "asks_records",                  "the follower asked for records")
    if version.isr_write_locks:
        # redundant because to know an end earlier moves nothing: it waits as Kafka's does.
        require(is_unlocked(now, leader), "none of its ISR writes waits for an answer")
    require(leads_as_asked(now, follower, leader),        "it leads in the epoch of the request")
    require(slot.offset <= now.log[leader].end,           "the offset is not beyond its log")

    answer(now, new, leader, follower)


def answer(now, new, leader, follower):
    slot, log = now.fetch[follower][leader], now.log[leader]
    there = slot.offset < log.end
    new.fetch[follower][leader] = slot.but(
        state="records_are_answered", has_record=there,
        id=when(there, log[slot.offset].id, 0),
        record_epoch=when(there, log[slot.offset].epoch, 0),
        hw=now.replica[leader].hw)
    new.known_end[leader][follower] = slot.offset


@transition(only=lambda v: v.fetch_fencing and not v.fetch_session_caches_epoch,
            leader=BROKERS, follower=BROKERS)
def leader_answers_fetch_in_session(now, new, leader, follower):
    """A fetch within a session is answered in any leader epoch: the session cache has no epoch.

    Why:   a leader reads the fetches of a session from its cache, which had no leader epoch: only
           the first, full fetch was fenced. A session covers all partitions that a fetcher follows
           at a leader. So the state of this one partition does not determine whether its fetch is
           the first: a session outlives new leader epochs, and ends with a process, a connection,
           an idle fetcher, or when the cache is full.
    Kafka: KAFKA-9338 (2.5), CachedPartition.reqData in FetchSession.scala
    """
    slot, mine = now.fetch[follower][leader], now.replica[leader]
    # redundant because a process that does not run leads nothing.
    require(now.up.has(leader),                           "the leader's process runs")
    require(slot.state == "asks_records",                  "the follower asked for records")
    if version.isr_write_locks:
        # redundant because to know an end earlier moves nothing: it waits as Kafka's does.
        require(is_unlocked(now, leader), "none of its ISR writes waits for an answer")
    require(mine.role == "leader",                         "the broker believes it leads")
    # redundant because in one epoch the answer is the same.
    require(mine.epoch != slot.epoch,                      "it leads in another epoch")
    require(slot.offset <= now.log[leader].end,           "the offset is not beyond its log")

    answer(now, new, leader, follower)


@transition(ends="refused", leader=BROKERS, follower=BROKERS)
def leader_refuses_fetch(now, new, leader, follower):
    """The broker does not lead in that epoch, or does not have that offset."""
    require(now.up.has(leader),                           "the process that is asked runs")
    require(now.fetch[follower][leader].state == "asks_records",
                                                          "the follower asked for records")
    if version.isr_write_locks:
        # redundant because a refusal is the same later: it waits as Kafka's does.
        require(is_unlocked(now, leader), "none of its ISR writes waits for an answer")
    require(not_(can_serve(now, follower, leader)),       "it cannot serve the request")

    retry_after_refusal(now, new, follower, leader)


def still_fits(now, follower, leader):
    return all_of(
        still_follows(now, follower, leader),
        not_(now.replica[follower].truncating),
        now.fetch[follower][leader].offset == now.log[follower].end)


@transition(follower=BROKERS, leader=BROKERS)
def follower_appends(now, new, follower, leader):
    """The follower appends the record as it is, and takes the leader's HW up to its log's end."""
    slot, mine, log = now.fetch[follower][leader], now.replica[follower], now.log[follower]
    require(slot.state == "records_are_answered",          "the leader answered")
    require(still_follows(now, follower, leader),         "it still follows that leader and epoch")
    require(not_(mine.truncating),                        "it knows that its log fits the leader's")
    require(slot.offset == log.end,                       "the answer is for the end of its log")

    longer = log.append(id=slot.id, epoch=slot.record_epoch)
    new.log[follower] = when(slot.has_record, longer, log)
    new.replica[follower] = mine.but(
        latest_epoch=when(slot.has_record, slot.record_epoch, mine.latest_epoch),
        hw=smaller(slot.hw, when(slot.has_record, longer.end, log.end)))
    new.fetch[follower][leader] = BLANK


@transition(ends="refused", follower=BROKERS, leader=BROKERS)
def fetch_answer_is_ignored(now, new, follower, leader):
    """The answer is for a leader or leader epoch that the follower no longer follows."""
    require(now.fetch[follower][leader].state == "records_are_answered",
                                                          "the leader answered")
    # redundant because a process that dies takes its requests with it, and their answers.
    require(now.up.has(follower),                         "the follower's process runs")
    require(not_(still_fits(now, follower, leader)),      "it no longer waits for this answer")

    new.fetch[follower][leader] = BLANK


@transition(ends="lost", fault=True, follower=BROKERS, leader=BROKERS)
def fetch_is_lost(now, new, follower, leader):
    """A fetch request, or its answer, is lost with its connection."""
    require(now.fetch[follower][leader].state != "idle",   "a request is under way")
    if not version.fenced_fetchers_go_on:
        require(now.fetch[follower][leader].state != "given_up",
                                                          "its fetcher was not fenced")

    new.fetch[follower][leader] = BLANK
    new.spent.losses = now.spent.losses + 1


def known_end(now, leader, replica):
    """The log end offset of a replica as the leader knows it; its own is exact."""
    return when(replica == leader, now.log[leader].end, now.known_end[leader][replica])


def counts(now, leader, member):
    """The leader commits only records that this member is known to have."""
    isr, write = now.replica[leader].isr, now.isr_write[leader]
    if not version.isr_adopted_when_written:               # KIP-497: the ISR that it asked for
        return when(write.state == "none", isr, write.isr).has(member)
    if not version.isr_write_locks:                        # 2.7: the ISR with either outcome
        return any_of(isr.has(member), write.isr.has(member))
    return isr.has(member)


@transition(broker=BROKERS)
def leader_advances_hw(now, new, broker):
    """The high watermark advances to the lowest log end in the leader's own ISR.

    The leader never reads ZooKeeper for this: a zombie may commit, and what it commits must not be
    lost.
    Kafka: Partition.maybeIncrementLeaderHW
    """
    mine, log = now.replica[broker], now.log[broker]
    slowest = least(below(ENDS, log.end + 1), lambda end: some(BROKERS, lambda member: all_of(
        counts(now, broker, member), known_end(now, broker, member) == end)), otherwise=0)
    # redundant because only who leads has an ISR.
    require(mine.role == "leader",                         "the broker believes it leads")
    if version.isr_write_locks and version.isr_adopted_when_written:
        require(is_unlocked(now, broker), "none of its ISR writes waits for an answer")
    require(every(BROKERS, lambda member: implies(
        counts(now, broker, member), known_end(now, broker, member) >= 0)),
                                                          "it knows the end of every ISR member")
    require(slowest > mine.hw,                            "every ISR member is beyond the HW")

    was = now.committed
    new.replica[broker].hw = slowest
    new.committed.end      = larger(was.end, slowest)
    new.committed.at       = lam(OFFSETS, lambda o: when(
        all_of(o >= was.end, o < slowest), log[o], was.at[o]))
    new.committed_twice    = any_of(now.committed_twice,
        some(below(OFFSETS, slowest), lambda o: all_of(o < was.end, log[o] != was.at[o])))
