"""Progress claims under fairness: partitions get leaders, and the cluster comes to rest.

Fair steps are those that controllers and brokers take by themselves, and the arrival of requests.
Faults, changed listeners, and steps of administrators and timers need not happen. A run that
reaches a bound of the instance (no epoch, version or place in a queue is left) has no verdict.
"""

from model.cluster.claims import current, everywhere, has_its_log, is_settled, remains_available
from model.cluster.data import leads
from model.language import all_of, always_eventually, any_of, every, implies, limit, not_, some
from model.protocol.state import BROKERS

CONTROLLERSHIP_STEPS = (
    "broker_becomes_controller", "broker_learns_it_won", "broker_loses_controller_election",
    "controller_resigns", "controller_is_still_active", "controller_write_is_fenced")
SESSION_STEPS = (
    "broker_starts", "broker_reconnects", "node_of_expired_session_is_deleted")
THREAD_STEPS = (
    "controller_reads_context", "controller_sends_initial_update_metadata",
    "controller_starts_replica_state_machine", "controller_reads_state",
    "controller_write_conflicts", "controller_finds_a_newer_controller",
    "controller_skips_isr_removal", "controller_elects_leader", "controller_finds_no_leader",
    "controller_sends_election_batch", "controller_removes_replica",
    "controller_finds_replica_not_in_isr", "controller_sends_removal_batch",
    "controller_sees_new_brokers", "controller_sees_dead_brokers",
    "controller_sees_bounced_brokers", "controller_finds_brokers_unchanged",
    "controller_sends_update_metadata_for_dead_brokers",
    "controller_sends_update_metadata_for_new_brokers", "controller_brings_replicas_online",
    "broker_reports_isr_change", "controller_reads_isr_changes", "controller_finds_no_isr_change",
    "broker_reports_log_dir_failure", "controller_sends_leader_and_isr_for_log_dirs",
    "controller_finds_no_log_dir_event", "controller_marks_replicas_offline",
    "controller_finds_log_dirs_unchanged", "controller_reads_endpoints",
    "controller_finds_endpoints_unchanged", "shutdown_request_arrives",
    "controller_begins_controlled_shutdown", "controller_refuses_controlled_shutdown",
    "controller_moves_leader", "controller_finds_no_other_isr_member",
    "controller_sends_shutdown_batch", "controller_stops_follower", "controller_answers_shutdown",
    "broker_stops",
    "controller_begins_preferred_election", "controller_finds_no_request",
    "controller_begins_rebalance", "controller_finds_no_imbalance", "controller_elects_preferred",
    "controller_cannot_elect_preferred", "controller_sends_preferred_batch",
    "controller_deletes_preferred_request")
BROKER_STEPS = (
    "broker_becomes_leader", "broker_becomes_follower", "broker_finds_leader_not_in_metadata_cache",
    "older_epoch_is_refused", "broker_answers_kafka_storage_error",
    "older_controller_is_refused", "broker_updates_metadata",
    "broker_stops_fetching", "late_stop_replica_arrives")

FAIR = (*CONTROLLERSHIP_STEPS, *SESSION_STEPS, *THREAD_STEPS, *BROKER_STEPS)


def faults_are_over(now):
    """Registered brokers run and keep their sessions; running brokers are not stopped."""
    return all_of(
        now.up == now.zk.registered, now.zk.outlived.is_empty(),
        every(BROKERS, lambda one: now.leaving[one] == "stays"))


def meets_a_limit(now):
    return any_of(
        now.zk.epoch == limit("controllers"),
        not_(everywhere(now, lambda own: all_of(
            own.version < limit("versions"), current(own).epoch < limit("epoch")))),
        some(BROKERS, lambda one: some(BROKERS, lambda other:
            now.cache[one].queue[other].end == limit("queue"))),
        some(BROKERS, lambda one: now.cache[one].events.end == limit("events")))


@always_eventually("once faults are over, a partition with a live ISR member has a live leader "
                   "that knows that it leads",
                   fair=FAIR)
def partitions_get_leaders(now):
    return any_of(
        not_(faults_are_over(now)), meets_a_limit(now),
        everywhere(now, lambda own: implies(
            some(BROKERS, lambda member: all_of(
                current(own).isr.has(member), remains_available(own, member))),
            some(BROKERS, lambda leader: all_of(
                current(own).leader == leader, has_its_log(own, leader), leads(own, leader))))))


@always_eventually("once faults are over, nothing is left to be done or to arrive", fair=FAIR)
def the_cluster_comes_to_rest(now):
    return any_of(not_(faults_are_over(now)), meets_a_limit(now), is_settled(now))


PROGRESS = (partitions_get_leaders, the_cluster_comes_to_rest)
