"""Shows how live followers catch up with a leader once faults have ended, for two claims.

Once faults have ended, in addition to `leaders`: the leader drops no replica from its ISR, adds
only live followers, and only with the current version; no answer to an ISR write is lost; a fetch
request that a later one has overtaken is not handled. In the last the form is coarser than Kafka's
connections, which keep the order.
"""

from model.language import all_of, any_of, not_
from model.replication.history.state import BROKERS, OFFSETS
from specs.progress.after_faults import always_a_fault
from specs.progress.ranking import AwaitedStep, Rank
from specs.proofs.no_message_loss.definitions import at
from specs.proofs.progress import leaders
from specs.proofs.progress.leaders import follows_now, is_dead, is_led, is_to_follow, nothing


def leader_replica(now):
    """What the leader of the registered epoch knows."""
    return now.leader[now.zk.epoch]


def is_current(now):
    return leader_replica(now).zk_version == now.zk.version


FAULTS = {
    **leaders.FAULTS,
    "isr_answer_is_lost": always_a_fault,
    "leader_shrinks_isr": always_a_fault,
    "leader_expands_isr": lambda now, broker, follower: any_of(
        is_dead(now, broker), is_dead(now, follower),
        now.leader[now.replica[broker].epoch].isr.has(follower),
        now.leader[now.replica[broker].epoch].zk_version != now.zk.version),
    "leader_learns_end": lambda now, broker, follower, epoch, end: any_of(
        is_dead(now, broker),
        end < now.leader[now.replica[broker].epoch].known_end[follower]),
}


# -- ISR writes -----------------------------------------------------------------------------------


def is_executed_but_unknown(now):
    return all_of(is_led(now), any_of(
        leader_replica(now).write == "executed", leader_replica(now).write == "unanswered"))


def is_sent(now):
    return all_of(is_led(now), leader_replica(now).write == "sent")


def is_left_out(now, b):
    """A live replica that is neither in the leader's ISR nor in the one on its way."""
    return all_of(is_led(now), now.live.has(b), not_(leader_replica(now).isr.has(b)),
                  not_(all_of(is_sent(now), leader_replica(now).written_isr.has(b))))


ANSWERED = {"isr_write_response_arrives": nothing, "leader_reads_its_isr_back": nothing,
            "leader_gives_up_isr_write": nothing}
DECIDED = {"isr_write_is_executed": nothing, "isr_write_is_refused": nothing,
           "leader_finds_isr_registered": nothing}

WRITES = (
    Rank("dropping_writes", "an ISR write that drops somebody is on its way from before", (),
         lambda now: all_of(is_sent(now), not_(
             leader_replica(now).isr.is_subset_of(leader_replica(now).written_isr))), DECIDED),
    Rank("left_out", "live replicas that are neither in the ISR nor being taken in", (BROKERS,),
         is_left_out, {"leader_expands_isr": lambda now, broker, follower: (follower,)}),
    Rank("sent_writes", "an ISR write is on its way", (), is_sent, DECIDED),
    Rank("unknown_writes", "an ISR write is executed, and not heard of", (),
         is_executed_but_unknown, ANSWERED),
)


def the_epoch(now):
    return {"epoch": now.zk.epoch}


WRITES_AWAITED = (
    AwaitedStep("isr_write_is_executed", lambda now: all_of(is_sent(now), is_current(now)),
                the_epoch),
    AwaitedStep("isr_write_is_refused", lambda now: all_of(is_sent(now), not_(is_current(now))),
            the_epoch),
    AwaitedStep("isr_write_response_arrives", lambda now: all_of(
        is_led(now), leader_replica(now).write == "executed"), the_epoch),
    AwaitedStep("leader_gives_up_isr_write", lambda now: all_of(
        is_led(now), leader_replica(now).write == "unanswered"), the_epoch),
)


# -- records --------------------------------------------------------------------------------------


def fetches(now, b):
    return all_of(is_led(now), is_to_follow(now, b), follows_now(now, b))


def replicated_records_ranking(end):
    """The ranking until every live follower has all records below an end, and the leader knows it.
    The end is a function of the state that does not change."""

    def is_unsent(now, o):
        log = now.log[now.zk.leader]
        return all_of(is_led(now), o < end(now),
                      not_(now.answered.has(now.zk.epoch, o, at(log, o))))

    def is_missing(now, b, o):
        return all_of(fetches(now, b), now.log[b].end <= o, o < end(now))

    def is_unasked(now, b):
        return all_of(is_led(now), is_to_follow(now, b),
                      now.asked[b][now.zk.epoch] < end(now))

    def is_unknown(now, b):
        return all_of(
            is_led(now), is_to_follow(now, b), leader_replica(now).known_end[b] < end(now))

    ranks = (
        Rank("unsent", "records that the leader has not sent", (OFFSETS,), is_unsent,
             {"leader_sends_record": lambda now, broker, offset: (offset,)},
             limits={0: lambda now: end(now)}),
        Rank("missing", "records that a live follower does not have", (BROKERS, OFFSETS),
             is_missing, {"follower_appends": lambda now, broker, record: (
                 broker, now.log[broker].end)},
             limits={1: lambda now, b: end(now)}),
        Rank("unasked", "live followers that have not asked for what comes then", (BROKERS,),
             is_unasked, {"follower_sends_fetch": lambda now, broker: (broker,)}),
        Rank("unknown", "live followers of which the leader does not know that they have it",
             (BROKERS,), is_unknown,
             {"leader_learns_end": lambda now, broker, follower, epoch, end: (follower,)}),
    )
    awaited = (
        AwaitedStep("leader_sends_record", lambda now, o: all_of(
            is_unsent(now, o), o < now.log[now.zk.leader].end),
            lambda now, o: {"broker": now.zk.leader, "offset": o}, (OFFSETS,)),
        AwaitedStep("follower_appends", lambda now, b: all_of(
            fetches(now, b), now.log[b].end < end(now), now.answered.has(
                now.zk.epoch, now.log[b].end, at(now.log[now.zk.leader], now.log[b].end))),
            lambda now, b: {"broker": b, "record": at(now.log[now.zk.leader], now.log[b].end)},
            (BROKERS,)),
        AwaitedStep("follower_sends_fetch", lambda now, b: all_of(
            fetches(now, b), end(now) <= now.log[b].end, now.asked[b][now.zk.epoch] < end(now)),
            lambda now, b: {"broker": b}, (BROKERS,)),
        AwaitedStep("leader_learns_end", lambda now, b: all_of(
            fetches(now, b), end(now) <= now.asked[b][now.zk.epoch],
            leader_replica(now).known_end[b] < end(now)),
            lambda now, b: {"broker": now.zk.leader, "follower": b, "epoch": now.zk.epoch,
                            "end": end(now)}, (BROKERS,)),
    )
    return ranks, awaited


ASSUMED = (
    "faults end: from some moment on the same brokers live and no process crashes; no answer is "
    "lost; the controller elects only where the registered leader is dead; a leader drops nobody "
    "from its ISR, and writes it only by a version that is current; no fetch request arrives "
    "after a later one",
)
