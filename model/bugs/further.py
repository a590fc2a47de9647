"""Bugs and limits beyond the list of 48."""

from model.bugs.entry import HistoricBug, Reproduction

_THREE_TERMS = {"records": 1, "epoch": 3, "versions": 3, "expiries": 0}

ENTRIES = (
    HistoricBug(
        49, "KAFKA-9338", "a leader forgets the leader epochs of a session's fetches",
        (), "2.5.0",
        "Only the first fetch of a session is fenced. Later ones are answered whatever epoch the "
        "leader is in, and what a follower of an older epoch has at an offset counts as the "
        "leader's record.",
        "isr_holds_committed", "",
        Reproduction(
            "replication", "2.5", "isr_holds_committed", _THREE_TERMS,
            {"fetch_session_caches_epoch": False}, quick=True,
        ),
        remark="With two brokers it takes a fetcher whose session is older than its first fetch of "
        "this partition. With three it does not: the story "
        "`zombie_fetcher_is_counted_in_its_session` is shown on Kafka 2.1.1, 2.3.1 and 2.4.1.",
    ),
    HistoricBug(
        50, "known-ends-outlive-an-epoch", "a leader uses a follower's log end from an earlier "
        "epoch of its own",
        (), "no fix known",
        "A leader that is elected again forgets the followers' log ends only if it knows of a "
        "leader in between. If it was not notified of one, and a follower has truncated its log "
        "under that leader, it commits records that the next leader lacks.",
        "no_message_loss", "",
        excuse="needs three brokers and three leader epochs, with which the fixed protocol is "
        "too large to explore completely; the story `known_ends_outlive_an_epoch`, with `--without "
        "follower_ends_reset_on_election`, shows it, also on Kafka 2.3.1, 2.8.2 and 3.9.1",
        remark="Found here; no JIRA is known to us. Every preset is taken as if leaders forgot: "
        "`insync versions` lists it among what is assumed.",
    ),
    HistoricBug(
        51, "acknowledged-without-isr", "near the end of a reassignment a leader acknowledges "
        "records that an ISR member lacks",
        (), "no fix known",
        "The controller sends the new leader only the target replicas, with the old ISR. The high "
        "watermark waits for replicas only, not for the ISR: acks=all is answered without an old "
        "replica that may still be elected.",
        "no_message_loss", "",
        Reproduction(
            "reassignment", "2.3", "no_message_loss", {"crashes": 0},
            {"high_watermark_waits_for_isr": False}, quick=True,
        ),
        remark="Found here, on the trace of a real 2.3.1; no JIRA is known to us. "
        "min.insync.replicas does not help: it counts the ISR. The story "
        "`reassign_acknowledged_without_isr` is this run, and Kafka 0.10.2.2, 2.3.1, 2.8.2 and "
        "3.9.1 lose the record in this way; every preset is taken as if leaders waited.",
    ),
)  # fmt: skip
