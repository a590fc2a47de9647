"""Progress claims with all brokers alive: a topic is created, a topic is deleted.

A disk that fails to delete is left out: such a deletion waits for the start of a broker, or for the
next controller.
"""

from model.language import all_of, always_eventually, any_of, every, implies, is_none, not_
from model.protocol.controllership import CONTROLLERSHIP_STEPS
from model.protocol.state import BROKERS
from model.topics.state import PARTITIONS
from model.topics.zookeeper import has_partition

FAILOVER_STEPS = (
    "controller_reads_context", "replica_state_machine_starts", "partition_state_machine_starts")
CREATION_STEPS = (
    "controller_sees_topic", "controller_sees_topic_gone", "controller_finds_no_new_topic",
    "controller_sees_partitions", "controller_undoes_addition", "controller_skips_addition",
    "controller_finds_no_new_partition", "controller_creates_new_partitions",
    "controller_creates_new_replicas", "controller_brings_partitions_online",
    "controller_brings_new_replicas_online")
CHANGE_STEPS = (
    "controller_sees_failure", "controller_elects_for_failed", "controller_takes_replicas_offline",
    "controller_sees_start", "controller_starts_bounced_broker", "controller_elects_for_started",
    "controller_moves_leaders", "controller_stops_followers", "controller_write_conflicts")
DELETION_STEPS = (
    "controller_queues_deletion", "controller_drops_request", "controller_sees_no_request",
    "deletion_is_retried", "deletion_starts", "deletion_waits", "controller_stops_replicas",
    "controller_deletes_replicas", "controller_receives_stop_replica_response",
    "deletion_is_complete", "partition_znode_is_deleted", "topic_znode_is_deleted",
    "request_is_removed")
BROKER_STEPS = (
    "broker_obeys_leader_and_isr", "broker_refuses_older_controller", "broker_stops_replicas")

FAIR = (*CONTROLLERSHIP_STEPS, "controller_write_is_fenced", *FAILOVER_STEPS, *CREATION_STEPS,
        *CHANGE_STEPS, *DELETION_STEPS, *BROKER_STEPS)
"""What controllers and brokers do of themselves; no fault, and nothing that people do."""


def all_are_well(now):
    return all_of(
        every(BROKERS, lambda b: all_of(now.up.has(b), now.zk.registered.has(b))),
        every(BROKERS, lambda b: now.cache[b].shutting.is_empty()),     # who asks to go, goes
        not_(now.disk_failed))


@always_eventually("with all brokers alive a deletion that was requested comes to an end",
                   fair=FAIR)
def requested_deletions_end(now):
    return implies(all_are_well(now), not_(now.zk.requested))


@always_eventually("with all brokers alive each partition of a topic that is to stay gets a leader",
                   fair=FAIR)
def topics_get_leaders(now):
    return any_of(
        not_(all_are_well(now)), now.zk.requested,
        every(PARTITIONS, lambda p: implies(
            has_partition(now.zk.assignment, p), not_(is_none(now.zk.state[p].leader)))))


PROGRESS = (requested_deletions_end, topics_get_leaders)
