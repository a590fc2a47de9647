"""Proves that once faults have ended and producers pause, every live replica rejoins the ISR.

The exception is a leader with an old zkVersion: if the answer to an ISR write was lost and the
leader gave up, every later write is refused until the next election. In Kafka up to 2.6 it logs
"Cached zkVersion not equal to that in zookeeper, skip updating ISR", and the ISR does not change
(KAFKA-2729). Without the exception the claim is broken.
"""

from model.language import all_of, always_eventually, any_of, every, implies, not_
from model.replication.history import SYSTEM as HISTORY
from model.replication.history.state import BROKERS
from specs.invariants import Proof
from specs.progress.after_faults import after_faults, always_a_fault
from specs.progress.ranking import AwaitedStep, Ranking
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.progress import catching_up, leaders
from specs.proofs.progress.catching_up import (
    ASSUMED,
    WRITES,
    WRITES_AWAITED,
    is_current,
    is_left_out,
    leader_replica,
    replicated_records_ranking,
)
from specs.proofs.progress.leaders import OF_THE_EXECUTABLE, has_live_member, is_led

FAULTS = {**catching_up.FAULTS, "leader_appends": always_a_fault}


def has_lost_the_version(now):
    """Its version is old, and no answer is to come that would bring a newer one."""
    return all_of(is_led(now), leader_replica(now).write == "none", not_(is_current(now)))


def isr_is_full(now):
    return every(BROKERS, lambda b: implies(now.live.has(b), now.zk.isr.has(b)))


FAIR = (
    *leaders.FAIR, "isr_write_is_executed", "isr_write_is_refused", "isr_write_response_arrives",
    "leader_gives_up_isr_write", "leader_sends_record", "follower_appends",
    "follower_sends_fetch", "leader_learns_end", "leader_expands_isr")


@always_eventually("once faults have ended and producers pause, every live replica is in the ISR "
                   "of a partition of which some ISR member is alive, unless its leader has lost "
                   "the zkVersion",
                   fair=FAIR)
def the_isr_recovers(now):
    return any_of(not_(now.faults_ended), not_(has_live_member(now)), all_of(
        is_led(now), any_of(isr_is_full(now), has_lost_the_version(now))))


CLAIMS = (the_isr_recovers,)
SYSTEM = after_faults(HISTORY, FAULTS, CLAIMS, leaders.CHOSEN)
EXPLORED = after_faults(HISTORY, FAULTS, CLAIMS, leaders.CHOSEN, leaders.LEFT_OVER)


def leader_log_end_offset(now):
    return now.log[now.zk.leader].end


RANKS, RECORDS_AWAITED = replicated_records_ranking(leader_log_end_offset)

AWAITED = (
    *leaders.AWAITED, *WRITES_AWAITED, *RECORDS_AWAITED,
    AwaitedStep("leader_expands_isr", lambda now, b: all_of(
        is_led(now), leader_replica(now).write == "none", is_current(now), is_left_out(now, b),
        leader_replica(now).known_end[b] >= leader_log_end_offset(now)),
        lambda now, b: {"broker": now.zk.leader, "follower": b}, (BROKERS,)),
)

RANKING = Ranking(
    (*leaders.RANKS, *WRITES, *RANKS), AWAITED, explored=EXPLORED,
    bounds={**leaders.RANKING.bounds, "versions": 4})

PROOF = Proof(
    claim="the_isr_recovers",
    system="replication_history",
    form=SYSTEM,
    invariants=leaders.PROOF.invariants,
    premises=(*leaders.PROOF.premises, *NO_MESSAGE_LOSS.groups["messages"]),
    ranking=RANKING,
    assumes=(*ASSUMED, "producers pause, so that a follower that is behind reaches the end",
             *NO_MESSAGE_LOSS.assumes),
    given="no_message_loss",
    about=("given the invariants of no_message_loss", *OF_THE_EXECUTABLE),
)
