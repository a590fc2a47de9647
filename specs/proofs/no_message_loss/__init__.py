"""Proves no message loss: invariants for any number of brokers, epochs, records and messages."""

from model.replication.history.state import ENDS, EPOCHS
from specs.invariants import Invariant, Proof, SolverHint
from specs.proofs.no_message_loss import (
    ancestry,
    bookkeeping,
    commits,
    fencing,
    logs,
    messages,
    possible_commits,
    truncations,
    writes,
)
from specs.proofs.no_message_loss.definitions import at, may_be_committed
from specs.proofs.no_message_loss.kip_279 import LEMMAS

GROUPS: dict[str, tuple[Invariant, ...]] = {
    "bookkeeping": bookkeeping.INVARIANTS,
    "ZooKeeper fencing": fencing.INVARIANTS,
    "ISR writes under way": writes.INVARIANTS,
    "logs": logs.INVARIANTS,
    "messages": messages.INVARIANTS,
    "ISR ancestry": ancestry.INVARIANTS,
    "what may yet be committed": possible_commits.INVARIANTS,
    "commits": commits.INVARIANTS,
}

CUT = (
    SolverHint(lambda now, end, follower: [at(now.log[follower], end - 1)], over=ENDS),
    SolverHint(lambda now, e, follower: [at(now.log[follower], now.asked[follower][e] - 1)],
         over=EPOCHS),
)
"""Is a log still long enough after a cut? The last record that it must have is what to look at."""

PROOF = Proof(
    claim="no_message_loss",
    system="replication_history",
    also=("isr_holds_committed", "log_matching", "leader_unique"),
    invariants=tuple(one for group in GROUPS.values() for one in group),
    groups=GROUPS,
    lemmas=(*LEMMAS, *truncations.LEMMAS),
    definitions=(may_be_committed,),
    hints={
        "follower_truncates": CUT,
        "follower_truncates_and_asks_again": CUT,
        "leader_advances_hw": (SolverHint(lambda now, broker, end: [
            may_be_committed(now, now.replica[broker].epoch, end)]),),
    },
    assumes=(
        "an election is what its conditional write leaves behind: the next leader epoch and a part "
        "of the registered ISR; that only the newest controller writes is single_controller, of "
        "election",
        "a log survives the crash of its broker; its high watermark may fall to any older value",
        "KIP-380 appears as its effect: a restarted broker obeys no request of an older epoch; one "
        "that led its epoch leads it again only by the state as it is, with all that it had in its "
        "log, and knows nothing of the others",
        "messages are lost, late, repeated and out of order at will; data goes to any follower of "
        "the epoch, one record at a time, and the high watermark travels apart from it",
        "a leader moves neither ISR nor high watermark while an ISR write of it is under way "
        "(leaderIsrUpdateLock); if it cannot tell whether a write was executed it counts on the "
        "larger of the two ISRs, as from 2.7: up to 2.6 it goes on with its old one, and can lose "
        "by it (--without lost_isr_answer_blocks)",
        "every fetch names the follower's leader epoch, and is answered in that one alone, as from "
        "2.5: 2.1 to 2.4 fence but the first fetch of a session (KAFKA-9338), and can lose by it "
        "(--version 2.3, or --without fetch_session_caches_epoch; story "
        "zombie_fetcher_is_counted_in_its_session)",
        "a leader that is elected again forgets what it knew of the others' log ends; Kafka's does "
        "so only if it knows that another led before, and can lose by it (story "
        "known_ends_outlive_an_epoch)",
        "an answer about truncation is what the exchange of KIP-279 leads to (five lemmas): it "
        "cuts nothing that both logs have, and the last one leaves nothing else",
        "no retention, no compaction, no transactions; a producer's retry is another record",
    ),
)
