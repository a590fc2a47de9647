"""Replication in the form of its proof: any number of brokers, epochs, records and messages.

Coarser than `replication` where this does not affect safety: the controller is reduced to its
conditional writes, messages are never removed, and the requests of KIP-279 are reduced to their
answers. The abstractions are listed with the proof, in `specs/proofs/no_message_loss`.
"""

from model.language import ALL, Bound, System, Version
from model.replication.history.claims import CLAIMS
from model.replication.history.isr import (
    isr_answer_is_lost,
    isr_write_is_executed,
    isr_write_is_refused,
    isr_write_response_arrives,
    leader_expands_isr,
    leader_finds_isr_registered,
    leader_gives_up_isr_write,
    leader_reads_its_isr_back,
    leader_shrinks_isr,
)
from model.replication.history.leader_and_isr import (
    broker_becomes_follower,
    broker_becomes_leader,
    broker_crashes,
    broker_leads_again,
    controller_elects_leader,
    controller_resends_state,
    controller_writes_no_leader,
)
from model.replication.history.records import (
    follower_appends,
    follower_sends_fetch,
    follower_takes_hw,
    leader_advances_hw,
    leader_appends,
    leader_learns_end,
    leader_sends_hw,
    leader_sends_record,
)
from model.replication.history.state import STATE
from model.replication.history.truncation import (
    epoch_answer_is_lost,
    follower_truncates,
    follower_truncates_and_asks_again,
    follower_truncates_to_hw,
    leader_answers_truncation_offset,
    leader_answers_unknown_epoch,
)
from model.versions import SWITCHES, presets


def initial(new):
    """Every broker is in the ISR and notified of nothing yet; there is no leader."""
    new.zk.isr = ALL


_SHARED = (
    "broker_epoch", "leader_epoch_checked", "truncation", "fetch_fencing",
    "fetch_session_caches_epoch", "isr_join_needs_epoch_start", "unclean_leader_election",
    "isr_write_conditional", "lost_isr_answer_blocks", "follower_ends_reset_on_election")

SYSTEM = System(
    name="replication_history",
    about="one partition as its proof sees it: growing messages, a history for every epoch",
    state=STATE,
    initial=initial,
    transitions=(
        controller_elects_leader, controller_writes_no_leader,
        broker_becomes_leader, broker_becomes_follower, broker_crashes,
        controller_resends_state, broker_leads_again,
        leader_answers_truncation_offset, leader_answers_unknown_epoch, follower_truncates,
        follower_truncates_and_asks_again, epoch_answer_is_lost, follower_truncates_to_hw,
        leader_appends, follower_sends_fetch, leader_learns_end, leader_sends_record,
        leader_sends_hw, follower_appends, follower_takes_hw, leader_advances_hw,
        leader_shrinks_isr, leader_expands_isr, isr_write_is_executed, isr_write_is_refused,
        isr_write_response_arrives, isr_answer_is_lost, leader_reads_its_isr_back,
        leader_finds_isr_registered, leader_gives_up_isr_write),
    claims=CLAIMS,
    versions={name: Version(
        name, presets(_SHARED)[name].switches, presets(_SHARED)[name].about,
        values={"truncation": ("hw", "kip_279")}) for name in ("2.3", "2.5")},
    default_version="2.5",
    bounds={
        "brokers": Bound(2, 1, "replicas of the partition"),
        "epoch": Bound(2, 1, "greatest leader epoch"),
        "log": Bound(1, 1, "records a log can hold"),
        "records": Bound(1, 1, "records that producers write"),
        "versions": Bound(2, 1, "writes of the partition's state"),
    },
    switches={name: SWITCHES[name].about for name in _SHARED},
)
