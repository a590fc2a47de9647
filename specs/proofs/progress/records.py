"""Proves that once faults have ended, a record in the leader's log is committed if the ISR lives.

Only then does a producer with acks=all get its acknowledgement. The record is arbitrary: `watched`
is an offset that is chosen when faults end and never changes.
"""

from model.language import all_of, always_eventually, any_of, not_
from model.replication.history import SYSTEM as HISTORY
from model.replication.history.state import OFFSETS
from specs.invariants import Proof
from specs.progress.after_faults import after_faults
from specs.progress.ranking import AwaitedStep, Ranking
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.progress import leaders
from specs.proofs.progress.catching_up import (
    ASSUMED,
    FAULTS,
    WRITES,
    WRITES_AWAITED,
    leader_replica,
    replicated_records_ranking,
)
from specs.proofs.progress.leaders import OF_THE_EXECUTABLE, has_live_member, is_led


def has_the_record(now):
    return now.watched < now.log[now.zk.leader].end


def isr_lives(now):
    return leader_replica(now).isr.is_subset_of(now.live)


def is_committed(now):
    return now.watched < now.replica[now.zk.leader].hw


FAIR = (
    *leaders.FAIR, "isr_write_is_executed", "isr_write_is_refused", "isr_write_response_arrives",
    "leader_gives_up_isr_write", "leader_sends_record", "follower_appends",
    "follower_sends_fetch", "leader_learns_end", "leader_advances_hw")


@always_eventually("once faults have ended, a partition of which some ISR member is alive has a "
                   "leader, and a record of its log is committed if all live on which the leader "
                   "counts",
                   fair=FAIR)
def produced_records_are_committed(now):
    return any_of(not_(now.faults_ended), not_(has_live_member(now)), all_of(
        is_led(now), any_of(not_(isr_lives(now)), not_(has_the_record(now)), is_committed(now))))


CLAIMS = (produced_records_are_committed,)
CHOSEN = {**leaders.CHOSEN, "watched": (OFFSETS, OFFSETS)}
SYSTEM = after_faults(HISTORY, FAULTS, CLAIMS, CHOSEN)
EXPLORED = after_faults(HISTORY, FAULTS, CLAIMS, CHOSEN, leaders.LEFT_OVER)


def end_after_watched_record(now):
    return now.watched + 1


RANKS, RECORDS_AWAITED = replicated_records_ranking(end_after_watched_record)

AWAITED = (
    *leaders.AWAITED, *WRITES_AWAITED, *RECORDS_AWAITED,
    AwaitedStep("leader_advances_hw", lambda now: all_of(
        is_led(now), leader_replica(now).write == "none", leaders.every_other_member(
            now, lambda b: leader_replica(now).known_end[b] >= end_after_watched_record(now))),
        lambda now: {"broker": now.zk.leader, "end": end_after_watched_record(now)}),
)

RANKING = Ranking(
    (*leaders.RANKS, *WRITES, *RANKS), AWAITED, explored=EXPLORED,
    bounds={**leaders.RANKING.bounds, "versions": 4})

PROOF = Proof(
    claim="produced_records_are_committed",
    system="replication_history",
    form=SYSTEM,
    invariants=leaders.PROOF.invariants,
    premises=(*leaders.PROOF.premises, *NO_MESSAGE_LOSS.groups["messages"]),
    ranking=RANKING,
    assumes=(*ASSUMED, *NO_MESSAGE_LOSS.assumes),
    given="no_message_loss",
    about=("given the invariants of no_message_loss", *OF_THE_EXECUTABLE),
)
