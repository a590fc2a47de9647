"""Progress claims under fairness: a reassignment ends, and metadata names the leader.

The steps of controllers, leaders and followers, and the arrival of requests are fair. Faults, and
steps of administrators and producers, need not happen.
"""

from model.language import all_of, always_eventually, any_of, every, implies, not_, some
from model.protocol.controllership import CONTROLLERSHIP_STEPS
from model.protocol.state import BROKERS
from model.reassignment.claims import is_excused, is_requested
from model.reassignment.replica_lists import listed

WORK = (
    *CONTROLLERSHIP_STEPS, "controller_reads_context", "controller_sees_broker_failure",
    "controller_sees_broker_startup", "controller_elects_leader", "controller_removes_dead_replica",
    "controller_begins_move", "controller_begins_with_targets_in_sync",
    "controller_drops_request_already_assigned", "controller_drops_move_of_deleted_topic",
    "controller_drops_move_to_dead_broker", "controller_writes_union_of_replicas",
    "controller_bumps_epoch", "controller_sees_targets_in_sync", "controller_sets_target_in_memory",
    "controller_keeps_leader", "controller_moves_leader_to_target",
    "controller_finds_no_target_to_lead",
    "controller_takes_old_replica_offline", "controller_skips_old_replica_outside_isr",
    "controller_deletes_old_replicas", "controller_writes_target_replicas",
    "controller_removes_request_entry", "controller_sends_final_update_metadata",
    "controller_write_conflicts", "controller_write_is_fenced",
    "controller_deletes_cancelled_adding_replicas", "broker_becomes_leader",
    "broker_becomes_follower", "leaderless_request_is_ignored", "request_to_non_replica_is_refused",
    "older_controller_is_refused", "older_epoch_is_refused", "broker_stops_replica",
    "broker_deletes_replica", "stop_of_older_controller_is_refused", "broker_updates_metadata",
    "update_of_older_controller_is_refused", "follower_catches_up", "leader_expands_isr",
    "leader_finds_own_isr_write", "leader_finds_other_isr_write",
    "broker_starts", "broker_reconnects")
"""Transitions that happen without a fault or an administrator."""


def is_well(now, broker):
    return all_of(now.up.has(broker), now.zk.registered.has(broker))


@always_eventually("a reassignment whose targets live is done or refused, after a failover too, "
                   "as long as an ISR member is alive, the topic is not to be deleted, and none "
                   "of the limits was met",
                   fair=WORK)
def moves_finish(now):
    return any_of(
        not_(is_requested(now)), is_excused(now), now.zk.deleting,
        some(BROKERS, lambda b: all_of(listed(now.wanted, b), not_(is_well(now, b)))),
        # a dead broker whose session has not ended is taken for alive
        some(BROKERS, lambda b: all_of(now.zk.registered.has(b), not_(now.up.has(b)))),
        every(BROKERS, lambda b: implies(now.zk.isr.has(b), not_(is_well(now, b)))))


@always_eventually("with every broker alive each sends clients to the registered leader, unless "
                   "the topic is to be deleted, or one of the limits was met",
                   fair=WORK)
def metadata_catches_up_with_the_leader(now):
    return any_of(
        is_excused(now), now.zk.deleting, not_(every(BROKERS, lambda b: is_well(now, b))),
        every(BROKERS, lambda b: now.metadata[b].leader == now.zk.leader))


PROGRESS = (moves_finish, metadata_catches_up_with_the_leader)
