"""For every claim of `topics` a bug that breaks it; see tests/specs/planted.py."""

from __future__ import annotations

from typing import Any

ONE_CONTROLLER = {"controllers": 1, "crashes": 0, "expiries": 0}
NO_CRASH = {"crashes": 0}
TWO_PARTITIONS = {**ONE_CONTROLLER, "partitions": 2}
UNDELETED = ("deletion_is_complete", "every replica is deleted")

TOPICS: dict[str, tuple[dict[str, Any], ...]] = {
    "deleted_data_is_never_served": (
        {"depth": 33, "without": ("dead_brokers_keep_their_replicas",), "bounds": {"moves": 1}},
        {"depth": 26, "dropped": (UNDELETED,), "bounds": ONE_CONTROLLER},
    ),
    "deleted_data_returns_only_after_reassignment": (
        {"depth": 26, "dropped": (UNDELETED,), "bounds": ONE_CONTROLLER},
    ),
    "deleted_topics_leave_no_data": (
        {"plain": True, "depth": 13, "dropped": (UNDELETED,), "bounds": ONE_CONTROLLER},
    ),
    "topics_are_deleted_only_on_request": (
        {"depth": 22, "without": ("zk_writes_fenced",), "bounds": NO_CRASH},
    ),
    "state_changes_are_valid": (
        {
            "plain": True,
            "depth": 6,
            "dropped": (("controller_reads_context", "it has not read ZooKeeper yet"),),
            "bounds": ONE_CONTROLLER,
        },
    ),
    "no_leader_and_isr_for_topics_being_deleted": (
        {
            "depth": 12,
            "dropped": (
                ("controller_sees_start", "it is dead, as far as the controller knows"),
                ("controller_sees_start", "it is not in the middle of another event"),
            ),
            "bounds": NO_CRASH,
        },
    ),
    "idle_controller_knows_zookeeper": (
        {"plain": True, "depth": 13, "without": ("additions_undone",), "bounds": TWO_PARTITIONS},
    ),
    "leader_in_isr": (
        {
            "plain": True,
            "depth": 12,
            "without": ("preferred_needs_isr",),
            "bounds": {**NO_CRASH, "controllers": 1, "elections": 1},
        },
    ),
    "state_writes_are_conditional": (
        {
            "plain": True,
            "depth": 18,
            "dropped": (("controller_stops_replicas", "the version that it read is current"),),
            "bounds": {**NO_CRASH, "controllers": 1, "conflicts": 1},
        },
    ),
    "brokers_shutting_down_are_not_elected": (
        {
            "plain": True,
            "depth": 15,
            "dropped": (("controller_sees_start", "it is dead, as far as the controller knows"),),
            "bounds": {**ONE_CONTROLLER, "shutdowns": 1, "elections": 1},
        },
    ),
    "leader_and_controller_are_to_write": (
        {"plain": True, "depth": None, "bounds": ONE_CONTROLLER},
    ),
    "replica_lists_are_valid": (
        {
            "plain": True,
            "depth": 2,
            "dropped": (("admin_creates_topic", "no broker is twice in the list"),),
            "bounds": ONE_CONTROLLER,
        },
    ),
    "stopped_brokers_do_nothing": (
        {
            "plain": True,
            "depth": 9,
            "dropped": (("broker_obeys_leader_and_isr", "the broker's process runs"),),
            "bounds": {**ONE_CONTROLLER, "crashes": 1},
        },
    ),
    "only_controllers_have_tasks": (
        {
            "plain": True,
            "depth": 2,
            "dropped": (("controller_reads_context", "the broker believes it is the controller"),),
            "bounds": ONE_CONTROLLER,
        },
    ),
    "controllers_without_session_do_nothing": (
        {
            "depth": 5,
            "dropped": (("controller_reads_context", "it has a ZooKeeper session"),),
            "bounds": NO_CRASH,
        },
    ),
    "deposed_controllers_write_nothing": (
        {
            "depth": 11,
            "dropped": (("controller_drops_request", "the epoch that it won is the newest"),),
            "bounds": NO_CRASH,
        },
    ),
    "a_process_is_down": ({"plain": True, "depth": None, "bounds": ONE_CONTROLLER},),
    "a_controller_is_cut_off": ({"plain": True, "depth": None, "bounds": ONE_CONTROLLER},),
    "requested_deletions_end": (
        {"plain": True, "depth": 8, "without": ("deletion_resumed",), "bounds": ONE_CONTROLLER},
        {
            "plain": True,
            "depth": 11,
            "unfair": ("broker_stops_replicas",),
            "bounds": ONE_CONTROLLER,
        },
    ),
    "topics_get_leaders": (
        {
            "plain": True,
            "depth": 10,
            "unfair": ("controller_brings_partitions_online",),
            "bounds": ONE_CONTROLLER,
        },
    ),
    "a_recreated_topic_is_led": (
        {"depth": None, "missing": ("topic_znode_is_deleted",), "bounds": ONE_CONTROLLER},
    ),
    "a_deletion_is_complete": (
        {"depth": None, "missing": ("deletion_is_complete",), "bounds": ONE_CONTROLLER},
    ),
    "a_replica_is_ineligible": ({"plain": True, "depth": None, "bounds": ONE_CONTROLLER},),
    "a_broker_starts_during_a_deletion": (
        {"depth": None, "missing": ("broker_starts", "broker_reconnects"), "bounds": NO_CRASH},
    ),
    "a_controller_is_idle": (
        {
            "plain": True,
            "depth": None,
            "missing": ("broker_learns_it_won",),
            "bounds": ONE_CONTROLLER,
        },
    ),
    "a_topic_is_led": (
        {
            "plain": True,
            "depth": None,
            "missing": ("broker_obeys_leader_and_isr",),
            "bounds": ONE_CONTROLLER,
        },
    ),
    "a_deposed_controller_deletes_a_topic": (
        {"depth": None, "bounds": {**NO_CRASH, "controllers": 1}},
    ),
}
"""Claim -> what each `Bug` is made of."""
