"""Records and the high watermark: append, fetch in four steps, the HW in a separate message."""

from model.language import (
    all_of,
    any_of,
    below,
    every,
    implies,
    lam,
    larger,
    require,
    smaller,
    some,
    transition,
    version,
    when,
)
from model.replication.history.isr import require_no_isr_write_in_flight
from model.replication.history.state import BROKERS, ENDS, EPOCHS, OFFSETS, RECORDS


def require_leads(now, broker):
    require(now.replica[broker].role == "leading",          "the broker believes it leads")


def require_follows(now, broker):
    require(now.replica[broker].role == "following",
                                                "the broker follows, and its log fits the leader's")


@transition(shows="produce", broker=BROKERS, record=RECORDS)
def leader_appends(now, new, broker, record):
    """A new record is appended by a broker that believes it leads, under its leader epoch."""
    epoch, log = now.replica[broker].epoch, now.log[broker]
    require_leads(now, broker)
    require(now.written_in[record] == 0,                    "the record is new")

    new.log[broker]        = log.append(id=record)
    new.written_in[record] = epoch
    new.history[epoch]     = now.history[epoch].append(id=record)


@transition(broker=BROKERS)
def follower_sends_fetch(now, new, broker):
    """A follower fetches from its log end, and so reports how far it is."""
    epoch = now.replica[broker].epoch
    require_follows(now, broker)

    new.asked[broker][epoch] = larger(now.asked[broker][epoch], now.log[broker].end)


@transition(broker=BROKERS, follower=BROKERS, epoch=EPOCHS, end=ENDS)
def leader_learns_end(now, new, broker, follower, epoch, end):
    """A fetch request arrives at the leader, which learns how far the follower is.

    Kafka: KIP-320 fences requests of another epoch; up to 2.4 none within a session (KAFKA-9338)
    """
    mine = now.replica[broker]
    # redundant because nobody but a leader uses what it learns.
    require_leads(now, broker)
    if version.fetch_fencing and version.fetch_session_caches_epoch:
        require(epoch == mine.epoch,                        "the request is of the leader's epoch")
    require(end <= now.asked[follower][epoch],              "the follower asked at this offset")

    new.leader[mine.epoch].known_end[follower] = end


@transition(broker=BROKERS, offset=OFFSETS)
def leader_sends_record(now, new, broker, offset):
    """The leader sends one record of its log to its followers in its epoch."""
    require_leads(now, broker)
    require(offset < now.log[broker].end,                   "the log has the offset")

    new.answered = now.answered.including(
        now.replica[broker].epoch, offset, now.log[broker][offset].id)


@transition(broker=BROKERS)
def leader_sends_hw(now, new, broker):
    """The leader sends its followers its high watermark, which may be outdated when it arrives."""
    mine = now.replica[broker]
    require_leads(now, broker)

    new.sent_hw[mine.epoch]   = larger(now.sent_hw[mine.epoch], mine.hw)
    new.sent_from[mine.epoch] = when(
        now.sent_hw[mine.epoch] < mine.hw, now.hw_from[broker], now.sent_from[mine.epoch])


def leader_of_both(now, one, other):
    """One broker was elected in both epochs: it may answer a fetch of the one in the other."""
    first, second = now.request[one], now.request[other]
    return all_of(first.named, second.named, first.leader == second.leader)


@transition(broker=BROKERS, record=RECORDS)
def follower_appends(now, new, broker, record):
    """Data of the follower's epoch arrives that fits the end of its log."""
    epoch, log = now.replica[broker].epoch, now.log[broker]
    sent = now.answered.has(epoch, log.end, record)
    if not version.fetch_session_caches_epoch:
        sent = some(EPOCHS, lambda e: all_of(
            leader_of_both(now, epoch, e), now.answered.has(e, log.end, record)))
    require_follows(now, broker)
    require(sent,                                           "the record was sent for that offset")

    new.log[broker] = log.append(id=record)


@transition(broker=BROKERS, hw=ENDS)
def follower_takes_hw(now, new, broker, hw):
    """The leader's high watermark arrives; the follower adopts it, up to its own log end."""
    require_follows(now, broker)
    require(hw <= now.sent_hw[now.replica[broker].epoch],   "the leader sent this HW, or a higher")

    new.replica[broker].hw = smaller(hw, now.log[broker].end)
    new.hw_from[broker]    = now.sent_from[now.replica[broker].epoch]


def is_known_to_have(leader, member, end):
    """A fetch of the member in this epoch has reported that offset.

    Kafka: Partition.makeLeader forgets what was known before only if it knows that another led. It
           was known of a log that this leader had by then, and so of what is before this epoch's
           start.
    """
    known = leader.known_end[member] >= end
    return known if version.follower_ends_reset_on_election else any_of(known, end <= leader.start)


@transition(broker=BROKERS, end=ENDS)
def leader_advances_hw(now, new, broker, end):
    """The high watermark moves to what every member of the leader's own ISR is known to have.

    The leader never reads ZooKeeper for this: a zombie may commit, and must not lose by it.
    Kafka: Partition.maybeIncrementLeaderHW
    """
    mine, log = now.replica[broker], now.log[broker]
    leader = now.leader[mine.epoch]
    require_no_isr_write_in_flight(now, broker)
    require(end > mine.hw,                                  "the HW rises")
    require(end <= log.end,                                 "the leader has the records")
    require(every(BROKERS, lambda member: implies(
        all_of(leader.isr.has(member), member != broker), is_known_to_have(leader, member, end))),
                                                "every other ISR member is known to have them")

    commit(now, new, broker, end)


def commit(now, new, broker, end):
    """A leader's high watermark rises: what is below it is committed."""
    mine, log, was = now.replica[broker], now.log[broker], now.committed
    new.replica[broker].hw           = end
    new.hw_from[broker]              = mine.epoch
    new.committed_in[mine.epoch]     = larger(now.committed_in[mine.epoch], end)
    new.committed.end                = larger(was.end, end)
    new.committed.epoch              = when(was.end < end, mine.epoch, was.epoch)
    new.committed.at                 = lam(OFFSETS, lambda o: when(
        all_of(was.end <= o, o < end), log[o], was.at[o]))
    new.committed_twice              = any_of(now.committed_twice,
        some(below(OFFSETS, end), lambda o: all_of(o < was.end, log[o] != was.at[o])))
