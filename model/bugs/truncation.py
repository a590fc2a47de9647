"""Truncation, leader epochs and the high watermark (bugs 1 to 13 of the list)."""

from model.bugs.entry import HistoricBug, Reproduction

_THREE_TERMS = {"epoch": 3, "versions": 3, "expiries": 0}
_TWO_RECORDS = {"log": 2, "records": 2, **_THREE_TERMS}

ENTRIES = (
    HistoricBug(
        1, "KIP-101", "a follower truncates its log to its own high watermark",
        ("KAFKA-1211",), "0.11.0.0",
        "A follower learns of a commit one fetch late. If it receives a LeaderAndIsr as follower "
        "meanwhile, it truncates a committed record, and may then be elected.",
        "no_message_loss", "truncate_to_hw",
        Reproduction(
            "replication", "0.11", "no_message_loss", {"crashes": 1}, {"truncation": "hw"},
            quick=True,
        ),
        remark="Found with a restart only: 0.10 does not truncate again while the leader's id "
        "stays the same, whatever its epoch.",
    ),
    HistoricBug(
        2, "KIP-101-power", "both replicas lose power, and the one with the shorter log leads",
        (), "0.11.0.0",
        "The new leader writes other records at the same offsets. The longer log truncates "
        "nothing, because its high watermark is above them.",
        "log_matching", "truncate_to_hw + fsync_loss",
        excuse="needs an election at every restart: here a leader that lost the end of its log "
        "resumes its own epoch, and then logs part under every truncation",
    ),
    HistoricBug(
        3, "KIP-279", "after two elections in a row a follower keeps records of the epoch between",
        ("KAFKA-6361",), "2.0.0",
        "Asked for an epoch that it never had, a leader answers with an offset only. The follower "
        "keeps its records of that epoch, and the logs differ.",
        "log_matching", "ofle_no_epoch_in_reply",
        Reproduction("replication", "2.5", "log_matching", _TWO_RECORDS, {"truncation": "kip_101"}),
        remark="Shown on 2.5: in earlier releases, KIP-320 and KAFKA-9338 break the claim within "
        "these bounds.",
    ),
    HistoricBug(
        4, "KIP-320", "a leader counts fetches of followers in another leader epoch",
        ("KAFKA-6880", "KAFKA-7395"), "2.1.0",
        "A leader that was not notified of newer epochs answers a follower that was, and counts "
        "the log that the follower had before.",
        "isr_holds_committed", "unfenced_fetch",
        Reproduction(
            "replication", "2.5", "isr_holds_committed", {"records": 1, **_THREE_TERMS},
            {"fetch_fencing": False}, quick=True,
        ),
        remark="Two brokers and one record are enough: a leader two epochs behind answers that it "
        "does not know the follower's epoch, and the follower truncates to its high watermark.",
    ),
    HistoricBug(
        5, "KAFKA-7164", "no truncation while the leader's id stays the same",
        (), "2.0.1",
        "A follower that missed the epochs of another leader continues to fetch when the first one "
        "leads again, and keeps records that this leader has truncated.",
        "fetchers_match_their_leader", "skip_truncate_same_leader",
        excuse="needs three brokers, with which the fixed protocol is too large to be explored "
        "whole: `insync find fetchers_match_their_leader replication --version 2.5 "
        "--set truncates_again=new_leader --brokers 3 --bound records=2 --bound epoch=3 "
        "--bound versions=3 --bound expiries=0 --symmetry` finds a run of 19 steps in minutes",
    ),
    HistoricBug(
        6, "KAFKA-7415", "an epoch is recorded on the first append, not on election",
        (), "2.0.1",
        "A leader without a record of its own epoch does not know that epoch when a follower asks "
        "about it, and the follower falls back to its high watermark.",
        "isr_holds_committed", "epoch_cache_on_append_only",
        Reproduction(
            "replication", "2.5", "isr_holds_committed", _TWO_RECORDS,
            {"epoch_recorded": "on_append"},
        ),
        remark="KIP-279 does not hide this: after the answer 'unknown' a follower still truncates "
        "to its high watermark, which is one fetch behind.",
    ),
    HistoricBug(
        7, "KAFKA-7128", "a replica joins the ISR at a high watermark that lags",
        (), "2.0.1",
        "A new leader's high watermark is behind what its predecessor committed. A replica that "
        "has reached it lacks committed records, and is added to the ISR.",
        "isr_holds_committed", "isr_join_at_hw_only",
        Reproduction(
            "replication", "2.5", "isr_holds_committed",
            {"versions": 3, "crashes": 1}, {"isr_join_needs_epoch_start": False},
        ),
        remark="With two brokers it takes a restart: a leader that is alone in the ISR adds a "
        "replica before it has advanced its high watermark again, which Kafka does at once. "
        "Without that it takes three (21 steps, 25 million orbits).",
    ),
    HistoricBug(
        8, "KAFKA-7786", "a late fencing error stops a follower's fetching",
        (), "2.1.1",
        "The error response to a request of the last epoch arrives in the next one. The fetcher "
        "marks the partition as failed, and nothing starts it again.",
        "followers_catch_up", "accept_late_ofle_resp",
        Reproduction(
            "replication", "2.5", "followers_catch_up", _THREE_TERMS,
            {"late_answers_ignored": False},
        ),
    ),
    HistoricBug(
        9, "KAFKA-13141", "a fetch from a diverging log counts as progress",
        ("KAFKA-10554",), "2.7.2",
        "The leader records the follower's log end before it sees that the follower's log diverges "
        "from its own.",
        "isr_holds_committed", "count_diverging_fetch",
        excuse="needs followers that truncate by fetch responses, as since 2.8",
    ),
    HistoricBug(
        10, "KIP-320-first-try", "only the epoch of the last record is compared",
        (), "design only",
        "A record with the right epoch at the right offset does not prove that the leader which "
        "counts it still leads.",
        "strong_isr", "hw_ignores_follower_epoch",
        Reproduction(
            "classic", "kip_320_first_try", "strong_isr", {"epoch": 2}, fixed="kip_320", quick=True,
        ),
    ),
    HistoricBug(
        11, "KAFKA-1647", "the checkpoint of high watermarks forgets a partition",
        ("KAFKA-851", "KAFKA-858", "KAFKA-8333"), "0.8.2.0 (KAFKA-8333: 2.4.0)",
        "The checkpoint is rewritten while a partition is not hosted yet; at the next start its "
        "high watermark is 0.",
        "checkpoint_survives_start", "hw_ckpt_forgets_partition",
        Reproduction(
            "replication", "2.5", "checkpoint_survives_start", {"crashes": 1},
            {"checkpoint_complete": False}, quick=True,
        ),
        remark="The claim is only that the checkpoint survives. Loss does not depend on this bug: "
        "before KIP-101 records are lost anyway, and since then they are not.",
    ),
    HistoricBug(
        12, "KAFKA-9491", "a log that restarts at a higher offset keeps its old high watermark",
        (), "2.4.1",
        "A follower whose log ends before the leader's log start empties its log and starts at "
        "that offset. Its high watermark stays below the log.",
        "hw_never_falls", "full_truncate_keeps_hw",
        excuse="needs logs that lose their beginning: retention, or DeleteRecords",
    ),
    HistoricBug(
        13, "KAFKA-2143", "after OFFSET_OUT_OF_RANGE a follower deletes its whole log",
        (), "0.9.0.1",
        "The leader's log grows past the follower's end between two requests. The follower "
        "mistakes the answer for another case, and starts from an empty log.",
        "no_message_loss", "oor_truncates_all",
        excuse="needs an offset beyond the leader's log, which only an unclean election makes, and "
        "that alone breaks every claim about loss: a claim about the additional loss is missing",
    ),
)  # fmt: skip
