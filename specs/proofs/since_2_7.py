"""Proves no message loss from 2.7 on, where a leader goes on while its ISR write is under way.

Up to 2.6 a leader does not move its high watermark from the sending of an ISR write until it knows
the outcome. From 2.7 on (KIP-497) it sends the write to the controller and goes on, but it commits
only records that all members of both its current and its requested ISR have. So AlterIsr is the
proof's form with one more step allowed, and it keeps the same invariants.

The rest of AlterIsr is stricter than the form: `specs.refinement.since_2_7` proves that
`replication` of 2.7 (`model.replication.alter_isr`) refines it. The controller writes with the
version that the leader named, by the same conditional write of ZooKeeper; before that it refuses
requests of another leader or epoch. A finally refused write stays pending, so that both ISRs count,
until the next LeaderAndIsr; in the form a leader may also try again.

Source: Partition.isrState, maximalIsr; AlterIsrManager; KafkaController.alterIsrs (2.7).
"""

from dataclasses import replace

from model.language import all_of, always, any_of, every, implies, require, transition
from model.replication.history import SYSTEM as HISTORY
from model.replication.history.claims import CLAIMS, no_message_loss
from model.replication.history.records import commit, require_leads
from model.replication.history.state import BROKERS, ENDS
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS


def may_be_counted_on(leader, broker):
    """The replica is in the leader's ISR, or in the ISR of a write under way.

    Kafka: PendingExpandIsr.maximalIsr, PendingShrinkIsr.maximalIsr
    """
    return any_of(
        leader.isr.has(broker),
        all_of(leader.write == "sent", leader.written_isr.has(broker)),
        all_of(leader.write != "sent", leader.write != "none", leader.isr_before.has(broker)))


@transition(broker=BROKERS, end=ENDS)
def leader_advances_hw(now, new, broker, end):
    """The high watermark moves, an ISR write under way or not, to what both ISRs have.

    Kafka: Partition.maybeIncrementLeaderHW (2.7)
    """
    mine = now.replica[broker]
    leader = now.leader[mine.epoch]
    require_leads(now, broker)
    require(end > mine.hw,                                  "the HW rises")
    require(end <= now.log[broker].end,                     "the leader has the records")
    require(every(BROKERS, lambda member: implies(
        all_of(may_be_counted_on(leader, member), member != broker),
        leader.known_end[member] >= end)),
                                    "every other member of either ISR is known to have them")

    commit(now, new, broker, end)


@always(no_message_loss.sentence, companion="a_deposed_leader_commits_beside_its_successor")
def no_message_loss_since_2_7(now):
    return no_message_loss.function(now)


_RELEASE = HISTORY.versions["2.5"]
SYSTEM = replace(
    HISTORY,
    name="replication_history_since_2_7",
    about=f"{HISTORY.about}; leaders go on while an ISR write is under way",
    transitions=tuple(leader_advances_hw if one.name == "leader_advances_hw" else one
                      for one in HISTORY.transitions),
    claims=(no_message_loss_since_2_7, *CLAIMS),
    versions={"2.7": replace(_RELEASE, name="2.7", about="the controller writes ISRs (KIP-497)")},
    default_version="2.7")

PROOF = replace(
    NO_MESSAGE_LOSS,
    claim="no_message_loss_since_2_7",
    form=SYSTEM,
    assumes=(
        *(words for words in NO_MESSAGE_LOSS.assumes if "leaderIsrUpdateLock" not in words),
        "while an ISR write is under way a leader counts on the members of both ISRs, and if it "
        "cannot tell what became of it, from then on (KIP-497)",
        "an answer that comes late changes nothing of a later epoch (KAFKA-12686: up to 3.0 it "
        "could)"),
    about=("AlterIsr of 2.7: the form in which a leader commits while its ISR write is under way",))

__all__ = ["PROOF", "SYSTEM"]
