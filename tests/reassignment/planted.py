"""For every claim of `reassignment` a bug that breaks it; see tests/specs/planted.py."""

from __future__ import annotations

from typing import Any

QUIET = {"crashes": 0, "faults": 0}
TWO_REPLICAS = {**QUIET, "replicas": 2}
ADOPTED_EARLY = ("controller_sets_target_in_memory", "every target was in the ISR")
SETTLED_EARLY = ("controller_writes_target_replicas", "the old replicas are deleted")
ANY_TARGET = ("controller_moves_leader_to_target", "the first live target of the ISR is chosen")
LATE = {**QUIET, "delays": 1}
CREATED_TWICE = ("topic_is_created", "there is no such topic")


def without(
    *steps: str, version: str | None = None, bounds: dict[str, int] = QUIET
) -> tuple[dict[str, Any], ...]:
    """A `sometimes` is never so where a step is missing that it takes."""
    return ({"depth": None, "missing": steps, "bounds": bounds, "version": version},)


REASSIGNMENT: dict[str, tuple[dict[str, Any], ...]] = {
    "isr_holds_committed": (
        {"depth": 4, "dropped": (CREATED_TWICE,), "bounds": QUIET, "plain": True},
        {"depth": 20, "version": "2.0", "without": ("leader_knows_replicas",),
         "bounds": TWO_REPLICAS},
    ),
    "no_message_loss": (
        {"depth": 4, "dropped": (CREATED_TWICE,), "bounds": QUIET, "plain": True},
        {"depth": 24, "without": ("high_watermark_waits_for_isr",), "bounds": {"crashes": 0}},
    ),
    "one_replica_set_has_all_commits": (
        {"depth": 5, "dropped": (CREATED_TWICE,), "bounds": QUIET, "plain": True},
    ),
    "leader_in_isr": (
        {"depth": 5, "dropped": (ADOPTED_EARLY, ANY_TARGET), "bounds": QUIET, "plain": True},
    ),
    "isr_is_assigned": (
        {"depth": 5, "dropped": (SETTLED_EARLY,), "bounds": QUIET, "plain": True},
    ),
    "request_is_removed_only_when_done": (
        {"depth": 6,
         "dropped": (("controller_removes_request_entry", "the target is the assignment"),),
         "bounds": QUIET, "plain": True},
        {"depth": 8, "without": ("request_znode_not_rewritten",), "bounds": {"crashes": 0}},
    ),
    "leader_epoch_never_falls": (
        {"depth": 18, "dropped": (("leader_shrinks_isr", "the cached version is current"),),
         "bounds": {"crashes": 0}},
    ),
    "moves_finish": (
        {"depth": 7, "unfair": ("controller_begins_move",), "bounds": QUIET, "plain": True},
    ),
    "other_request_is_kept": (
        {"depth": 7, "without": ("requests_loaded_whole",), "bounds": {"crashes": 0},
         "plain": True},
    ),
    "assignment_is_original_or_requested": (
        {"depth": 13, "without": ("waits_for_dead_targets",), "bounds": {"crashes": 0}},
    ),
    "withdrawn_reassignments_do_not_start": (
        {"depth": 13, "without": ("moves_forgotten_on_resign",),
         "bounds": {"crashes": 0, "faults": 2}},
    ),
    "clients_know_the_leader_epoch": (
        {"depth": 11, "without": ("raised_epoch_cached",), "bounds": QUIET, "plain": True},
    ),
    "only_controllers_have_tasks": (
        {"depth": 4, "bounds": QUIET, "plain": True,
         "dropped": (("controller_begins_move", "the broker believes it is the controller"),
                     ("controller_begins_move", "it waits for events, or has just begun"))},
    ),
    "controllers_without_session_do_nothing": (
        {"depth": 6, "dropped": (("controller_reads_context", "it has a ZooKeeper session"),),
         "bounds": {"crashes": 0}, "plain": True},
    ),
    "deposed_controllers_write_nothing": (
        {"depth": 10, "dropped": (("controller_writes_union_of_replicas",
                                   "the epoch that it won is the newest"),),
         "bounds": {"crashes": 0}, "plain": True},
    ),
    "a_controller_is_cut_off": ({"depth": None, "bounds": QUIET, "plain": True},),
    "a_deposed_controller_is_at_work": ({"depth": None, "bounds": QUIET, "plain": True},),
    "metadata_names_the_leader": (
        {"depth": 6, "dropped": (("broker_updates_metadata", "UpdateMetadata is in flight"),),
         "bounds": LATE, "plain": True},
    ),
    "metadata_catches_up_with_the_leader": (
        {"depth": 7, "unfair": ("broker_updates_metadata",), "bounds": LATE, "plain": True},
        {"depth": 4, "missing": ("controller_reads_context",), "bounds": LATE, "plain": True},
    ),
    "lagging_replicas_can_leave_the_isr": (
        {"depth": 12, "without": ("leader_drops_non_replicas",), "bounds": TWO_REPLICAS},
    ),
    "a_move_is_done": without("controller_writes_target_replicas"),
    "the_leader_is_moved": without("controller_moves_leader_to_target"),
    "isr_has_a_non_replica": without("leader_expands_isr"),
    "reassignment_survives_failover": without("broker_becomes_controller"),
    "two_moves_are_asked_for": without("admin_requests_two_reassignments"),
    "clients_are_sent_to_a_deleted_replica": without("broker_deletes_replica", bounds=LATE),
    "a_request_is_withdrawn": without("admin_withdraws_request"),
    "a_move_is_cancelled": without("controller_cancels_move", version="2.4"),
    "fewer_replicas_have_all_commits": without("leader_appends"),
    "the_last_copy_is_deleted": without("broker_deletes_replica"),
    "a_successful_isr_write_looks_failed": without("leader_finds_other_isr_write"),
    "a_deposed_controller_reads": without("controller_reads_context"),
    "a_replica_is_deleted_while_in_the_isr": without("broker_deletes_replica", version="2.4"),
}  # fmt: skip
