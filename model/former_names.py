"""Former names of steps, switches and fields: stories and command lines may still use them.

Stories and noted commands have the names of steps, switches and parts of the state. When you rename
one of these, add the old name here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

SWITCHES: Mapping[str, str] = {
    "leaving_leader_is_told": "leaving_leader_is_notified",
    "leader_drops_strangers": "leader_drops_non_replicas",
    "winner_finds_itself": "winner_reads_controller_back",
    "isr_takes_the_living": "isr_expansion_checks_liveness",
    "known_ends_forgotten": "follower_ends_reset_on_election",
    "bounces_seen": "bounced_brokers_detected",
    "node_owner_checked": "znode_owner_checked",
    "partitions_leave_first": "partitions_removed_before_deletion",
    "epoch_noted_when_raised": "raised_epoch_cached",
    "requests_left_alone": "request_znode_not_rewritten",
    "dead_replicas_stay": "dead_brokers_keep_their_replicas",
    "metadata_first": "update_metadata_first",
}

STEPS: Mapping[str, str] = {
    "leader_shrink_is_unheard": "leader_loses_response_to_isr_shrink",
    "leader_expand_is_unheard": "leader_loses_response_to_isr_expand",
    "controller_begins_shutdown": "controller_begins_controlled_shutdown",
    "controller_refuses_shutdown": "controller_refuses_controlled_shutdown",
    "controller_is_still_in_office": "controller_is_still_active",
    "controller_welcomes_brokers": "controller_sends_update_metadata_for_new_brokers",
    "leader_fails_over_stranger": "leader_throws_on_non_replica_in_isr",
    "controller_restores_replicas": "controller_starts_replica_state_machine",
    "controller_reads_cluster": "controller_reads_context",
    "leader_raises_hw": "leader_advances_hw",
    "broker_finds_it_moved": "broker_loses_controller_election",
    "winner_takes_itself_for_another": "elected_broker_assumes_another_controller",
    "request_is_obeyed": "broker_handles_request",
    "partition_node_is_removed": "partition_znode_is_deleted",
    "topic_node_is_removed": "topic_znode_is_deleted",
    "broker_takes_its_old_node_for_its_own": "broker_keeps_registration_of_old_session",
    "controller_leaves_replica": "controller_skips_isr_removal",
    "controller_resigns_and_goes_on": "controller_resigns_and_keeps_its_queue",
    "controller_asks_for_log_dirs": "controller_sends_leader_and_isr_for_log_dirs",
    "controller_hears_no_news": "controller_finds_log_dirs_unchanged",
    "controller_tells_elections": "controller_sends_election_batch",
    "controller_tells_removals": "controller_sends_removal_batch",
    "controller_tells_preferred": "controller_sends_preferred_batch",
    "controller_tells_moves": "controller_sends_shutdown_batch",
    "controller_tells_of_move": "controller_sends_final_update_metadata",
    "controller_announces_brokers": "controller_sends_initial_update_metadata",
    "controller_announces_new_brokers": "controller_sends_update_metadata_for_new_brokers",
    "controller_notifies_brokers": "controller_sends_update_metadata_for_dead_brokers",
    "controller_instates_replicas": "controller_brings_replicas_online",
    "controller_overlooks_bounced_brokers": "controller_misses_bounced_brokers",
    "controller_finds_balance": "controller_finds_no_imbalance",
    "controller_finds_it_removed": "controller_finds_replica_not_in_isr",
    "controller_finds_no_successor": "controller_finds_no_other_isr_member",
    "broker_knows_no_such_leader": "broker_finds_leader_not_in_metadata_cache",
    "broker_cannot_reach_its_log": "broker_answers_kafka_storage_error",
    "controller_raise_is_unheard": "controller_loses_response_to_epoch_bump",
    "controller_move_is_unheard": "controller_loses_response_to_leader_change",
    "controller_removal_is_unheard": "controller_loses_response_to_isr_removal",
    "isr_write_is_heard": "isr_write_response_arrives",
    "controller_hears_deletion": "controller_receives_stop_replica_response",
    "administrator_asks_for_unknown_partition": "admin_requests_unknown_partition",
    "administrator_deletes_topic": "admin_deletes_topic",
    "administrator_withdraws_request": "admin_withdraws_request",
    "administrator_asks_for_move": "admin_requests_reassignment",
    "administrator_asks_for_two_moves": "admin_requests_two_reassignments",
    "controller_assigns_both": "controller_writes_union_of_replicas",
    "controller_adopts_target": "controller_sets_target_in_memory",
    "controller_settles_assignment": "controller_writes_target_replicas",
    "controller_closes_request": "controller_removes_request_entry",
    "controller_passes_over_old_replica": "controller_skips_old_replica_outside_isr",
    "controller_drops_what_is_so_already": "controller_drops_request_already_assigned",
    "controller_deletes_needless_replicas": "controller_deletes_cancelled_adding_replicas",
    "controller_moves_other_partition": "controller_completes_other_reassignment",
    "controller_notices_death": "controller_sees_broker_failure",
    "controller_notices_start": "controller_sees_broker_startup",
    "leader_reads_its_write_back": "leader_finds_own_isr_write",
    "leader_reads_another_write_back": "leader_finds_other_isr_write",
    "request_to_no_replica_is_refused": "request_to_non_replica_is_refused",
    "leader_has_too_few_in_sync": "leader_answers_not_enough_replicas",
    "leader_is_left_with_too_few": "leader_answers_not_enough_replicas_after_append",
    "broker_fails_half_way": "broker_fails_while_becoming_follower",
    "broker_checkpoints_what_it_hosts": "broker_checkpoints_without_partition",
    "controller_leaves_it_leaderless": "controller_writes_no_leader",
    "controller_repeats_the_state": "controller_resends_state",
    "leader_shows_the_cut": "leader_answers_truncation_offset",
    "leader_shows_an_older_epoch": "leader_answers_unknown_epoch",
    "controller_sees_no_other_topic": "controller_finds_no_new_topic",
    "controller_sees_no_other_partition": "controller_finds_no_new_partition",
    "controller_makes_partitions": "controller_creates_new_partitions",
    "controller_makes_replicas": "controller_creates_new_replicas",
    "controller_creates_states": "controller_brings_partitions_online",
    "controller_enlists_replicas": "controller_brings_new_replicas_online",
    "controller_starts_returned": "controller_starts_bounced_broker",
    "leader_expands_isr_first": "leader_expands_isr_before_controller_writes",
    "broker_asks_to_go": "broker_asks_for_controlled_shutdown",
    "broker_crashes_and_loses_its_tail": "broker_crashes_losing_unflushed_records",
    "broker_replaces_its_old_node": "broker_replaces_its_old_registration",
    "controller_informs": "controller_issues_leader_and_isr",
    "controller_is_asked_for_move": "controller_is_asked_to_reassign",
    "follower_asks_records": "follower_sends_fetch",
    "follower_asks_epoch": "follower_sends_epoch_request",
    "leader_acknowledges_for_isr": "leader_acknowledges_acks_all",
    "leader_appends_for_isr": "leader_appends_acks_all",
    "metadata_is_late": "metadata_is_delayed",
    "node_of_an_ended_session_goes": "node_of_expired_session_is_deleted",
    "reply_is_lost": "reply_to_registration_is_lost",
}

STEPS_OF: Mapping[str, Mapping[str, str]] = {
    "cluster": {"controller_is_fenced": "controller_write_is_fenced"},
    "election": {"controller_resigns": "controller_resigns_and_deletes_znode"},
    "reassignment": {"controller_moves_leader": "controller_moves_leader_to_target"},
    "replication": {"request_is_lost": "leader_and_isr_is_lost"},
}
"""By system: steps that had the name of another step of another system, or another name than it."""

CLAIMS: Mapping[str, str] = {
    "a_zombie_has_a_write_under_way": "a_deposed_controller_has_a_write_in_flight",
    "a_zombie_commits_beside_its_successor": "a_deposed_leader_commits_beside_its_successor",
    "a_zombie_deletes": "a_deposed_controller_deletes_a_topic",
    "a_node_outlives_its_session": "an_ephemeral_znode_outlives_its_session",
    "copies_are_fewer": "fewer_replicas_have_all_commits",
    "a_write_is_overtaken": "a_successful_isr_write_looks_failed",
    "a_stranger_is_deleted_in_the_isr": "a_replica_is_deleted_while_in_the_isr",
    "request_goes_only_when_done": "request_is_removed_only_when_done",
    "only_the_requested_is_deleted": "topics_are_deleted_only_on_request",
    "a_controller_rests": "a_controller_is_idle",
    "a_successor_is_served": "a_recreated_topic_is_led",
    "a_broker_returns_into_a_deletion": "a_broker_starts_during_a_deletion",
    "clients_know_the_epoch": "clients_know_the_leader_epoch",
    "a_zombie_is_at_work": "a_deposed_controller_is_at_work",
    "controller_is_in_office": "registered_controller_is_active",
    "nobody_takes_the_office_over": "nobody_takes_over_the_controllership",
    "what_is_told_is_committed": "visible_records_are_committed",
    "told_high_watermark_never_falls": "sent_high_watermark_never_falls",
    "clean_election": "leader_in_isr",
    "single_master": "no_older_controller_is_obeyed",
    "epochs_never_fall": "leader_epoch_never_falls",
    "converges": "idle_metadata_agrees_with_zookeeper",
    "registrations_last": "registered_brokers_stay_registered",
    "the_resigned_are_silent": "resigned_controllers_write_nothing",
    "the_deposed_write_nothing": "deposed_controllers_write_nothing",
    "the_cut_off_stand_still": "controllers_without_session_do_nothing",
    "the_dead_do_nothing": "stopped_brokers_do_nothing",
    "the_dead_stay_out": "dead_brokers_do_not_join_the_isr",
    "who_goes_is_not_elected": "brokers_shutting_down_are_not_elected",
    "belief_is_earned": "controllers_won_their_epoch",
    "a_controller_does_not_run_again": "controllers_have_no_pending_election",
    "the_state_is_of_a_controller": "written_controller_epoch_was_won",
    "what_is_obeyed_was_sent": "accepted_requests_were_sent",
    "newest_controller_is_heard": "newest_controller_becomes_known",
    "a_controller_is_heard_by_all": "all_brokers_know_the_controller",
    "what_is_sent_is_committed": "produced_records_are_committed",
    "copies_are_kept": "one_replica_set_has_all_commits",
    "assignment_is_whole": "assignment_is_original_or_requested",
    "moves_are_asked_for": "withdrawn_reassignments_do_not_start",
    "laggards_can_be_dropped": "lagging_replicas_can_leave_the_isr",
    "clients_are_led": "metadata_catches_up_with_the_leader",
    "clients_find_the_leader": "metadata_names_the_leader",
    "acknowledged_has_copies": "acknowledged_records_have_min_isr_copies",
    "machines_keep_to_tables": "state_changes_are_valid",
    "deleted_topics_get_no_orders": "no_leader_and_isr_for_topics_being_deleted",
    "zookeeper_is_known": "idle_controller_knows_zookeeper",
    "no_resurrection": "deleted_data_is_never_served",
    "deleted_is_gone": "deleted_topics_leave_no_data",
    "resurrection_takes_a_move": "deleted_data_returns_only_after_reassignment",
    "states_are_written_as_read": "state_writes_are_conditional",
    "lists_are_sound": "replica_lists_are_valid",
    "tasks_are_of_controllers": "only_controllers_have_tasks",
    "a_win_is_unheard": "winner_has_not_learned_it_won",
    "a_move_changes_hands": "reassignment_survives_failover",
    "clients_are_sent_astray": "clients_are_sent_to_a_deleted_replica",
    "a_stranger_is_in_the_isr": "isr_has_a_non_replica",
    "an_isr_write_is_unheard": "isr_write_response_is_pending",
    "cluster_clean_election": "cluster_leader_in_isr",
    "topics_clean_election": "topics_leader_in_isr",
}

CLAIMS_OF: Mapping[str, Mapping[str, str]] = {
    "classic": {"zombies_overlap": "two_brokers_believe_they_lead"},
    "cluster": {
        "no_wedge": "idle_partitions_have_leaders",
        "zombies_overlap": "two_brokers_believe_they_lead",
    },
    "election": {"zombies_overlap": "two_brokers_believe_they_are_controller"},
    "replication": {"zombies_overlap": "two_brokers_believe_they_lead"},
    "topics": {"no_wedge": "requested_deletions_end"},
}
"""By system: claims that had one name, and are two."""

VALUES: Mapping[str, Mapping[str, str]] = {
    "cluster": {"burying": "offlining", "welcoming": "announcing_new"},
}
"""By system: what a part of the state may hold, as stories show it."""

FIELDS: Mapping[str, Mapping[str, str]] = {
    "cluster": {"untold": "failure_unreported"},
    "reassignment": {
        "told": "metadata_epoch",
        "replica.unheard": "replica.isr_write_unanswered",
    },
    "replication_history": {"office": "leader", "told_hw": "sent_hw", "told_from": "sent_from"},
    "topics": {"cache.told": "cache.fired"},
}
"""By system: a part of the state, without indices."""

FAMILIES: Mapping[str, Mapping[str, str]] = {"reassignment": {"office": "deposed"}}
"""By system: a part of its graph that `insync edges --family` walks."""

EXERCISES: Mapping[str, str] = {"a-win-is-unheard": "elected-and-not-aware"}


_NOW = {**STEPS, **CLAIMS}
# A name of one word may be a word of a sentence: at the beginning of its line it is a claim.
_NAMES = re.compile(
    r"\b(" + "|".join(name if "_" in name else f"(?<!.){name}(?=:)" for name in _NOW) + r")\b"
)


def switch_now(name: str) -> str:
    """The current name of a switch that may be given by its former name."""
    return SWITCHES.get(name, name)


def step_now(name: str, system: str) -> str:
    """The current name of a step that may be given by its former name."""
    return STEPS_OF.get(system, {}).get(name, STEPS.get(name, name))


def claim_now(name: str, system: str = "") -> str:
    """The current name of a claim or a theorem that may be given by its former name."""
    return CLAIMS_OF.get(system, {}).get(name, CLAIMS.get(name, name))


def family_now(system: str, name: str) -> str:
    """The current name of a family of a system that may be given by its former name."""
    return FAMILIES.get(system, {}).get(name, name)


def exercise_now(name: str) -> str:
    """The current name of an exercise that may be given by its former name."""
    return EXERCISES.get(name, name)


def field_now(system: str, path: str) -> str:
    """The current path of a field, without indices: `cache.told.topics` becomes
    `cache.fired.topics`."""
    for old, new in FIELDS.get(system, {}).items():
        if path == old or path.startswith(f"{old}."):
            return new + path[len(old) :]
    return path


def line_now(system: str, line: str) -> str:
    """A line of a story's output with the current names of steps, claims and parts of the state."""
    line = _NAMES.sub(lambda found: _NOW[found[1]], line)
    for renamed in (STEPS_OF, CLAIMS_OF, VALUES):
        for old, new in renamed.get(system, {}).items():
            line = re.sub(rf"\b{old}\b", new, line)
    for old, new in FIELDS.get(system, {}).items():
        *above, last = old.split(".")
        path = "".join(rf"{part}(?:\[[^\]]*\])*\." for part in above)
        # A field stands at the beginning of its line, or in what a refusal shows of the state.
        field = rf"((?:^\s*|\(|, ){path}){last}(?=[.:\[]| (?:\d|none|true|false|\{{))"
        line = re.sub(field, rf"\g<1>{new.rpartition('.')[2]}", line)
    return line
