"""Templates of lines whose form changed before 2.0: releases 0.9 to 1.1.

Up to 0.11 a line of state-change.log has no bracketed prefix and begins in lower case
(`Controller 0 epoch 1 changed partition [orders,0] ...`), and a partition is written
`[orders,0]`. The prefix is removed and the name converted before templates are matched, so that
one template serves both forms. Sources: the classes of `templates_controller` and its neighbours.
"""

from __future__ import annotations

from conformance.ingest.notation import Template
from conformance.ingest.templates_broker import FETCHER, LOG, PARTITION
from conformance.ingest.templates_controller import CONTROLLER, STATE
from conformance.ingest.templates_requests import BY, METADATA

ELECTOR = "kafka.server.ZookeeperLeaderElector"
PARTITIONS = "kafka.controller.PartitionStateMachine"
SELECTOR = "kafka.controller.OfflinePartitionLeaderSelector"
BROKERS = "kafka.controller.ReplicaStateMachine$BrokerChangeListener"
EXPIRY = "kafka.controller.KafkaController$SessionExpirationListener"
TOPICS = "kafka.controller.PartitionStateMachine$TopicChangeListener"
ADDITIONS = "kafka.controller.PartitionStateMachine$PartitionModificationsListener"

_SHORT = "(Leader:{leader},ISR:{isr},LeaderEpoch:{leader_epoch},ControllerEpoch:{state_epoch})"

CONTROLLERSHIP = (
    Template(
        "elected_before_0_11",
        "controller_won",
        ELECTOR,
        "{controller} successfully elected as leader",
        "4 successfully elected as leader",
    ),
    Template(
        "epoch_incremented_before_1_1",
        "controller_elected",
        CONTROLLER,
        "Controller {controller} incremented epoch to {controller_epoch}",
        "[Controller 4]: Controller 4 incremented epoch to 7",
    ),
    Template(
        "ready_before_1_0",
        "controller_ready",
        CONTROLLER,
        "Broker {controller} is ready to serve as the new controller with epoch {controller_epoch}",
        "[Controller 4]: Broker 4 is ready to serve as the new controller with epoch 7",
    ),
    Template(
        "resigned_before_1_0",
        "controller_resigned",
        CONTROLLER,
        "Broker {controller} resigned as the controller",
        "[Controller 4]: Broker 4 resigned as the controller",
    ),
    Template(
        "session_expired_before_0_11",
        "session_expired",
        EXPIRY,
        "ZK expired; shut down all controller components and try to re-elect",
        "[SessionExpirationListener on 4], ZK expired; shut down all controller components and try "
        "to re-elect",
    ),
    Template(
        "brokers_changed_before_0_11",
        "brokers_changed",
        BROKERS,
        "Newly added brokers: {detail}",
        "[BrokerChangeListener on Controller 4]: Newly added brokers: 5, deleted brokers: , all "
        "live brokers: 4,5",
    ),
    Template(
        "topics_changed_before_0_11",
        "topics_changed",
        TOPICS,
        "New topics: [{detail}]",
        "[TopicChangeListener on Controller 4]: New topics: [Set(orders)], deleted topics: [Set()]"
        ", new partition replica assignment [Map([orders,0] -> List(4, 5))]",
    ),
    Template(
        "partitions_added_before_0_11",
        "partitions_added",
        ADDITIONS,
        "New partitions to be added {detail}",
        "[AddPartitionsListener on Controller 4]: New partitions to be added Map([orders,2] -> "
        "List(4))",
    ),
)

CHANGES = (
    Template(
        "partition_elected_before_1_1",
        "partition_changed",
        STATE,
        "Changed partition {tp} from {from_state} to {to_state} with leader {leader}",
        "[Controller id=4 epoch=7] Changed partition orders-0 from OfflinePartition to "
        "OnlinePartition with leader 5",
    ),
    Template(
        "leader_cached_before_1_1",
        "leadership_cached",
        PARTITIONS,
        "After leader election, leader cache for {tp} is updated to " + _SHORT,
        "[PartitionStateMachine controllerId=4] After leader election, leader cache for orders-0 "
        "is updated to (Leader:5,ISR:5,LeaderEpoch:3,ControllerEpoch:7)",
    ),
    Template(
        "leader_initialised",
        "leadership_cached",
        PARTITIONS,
        "Initializing leader and isr for partition {tp} to " + _SHORT,
        "[PartitionStateMachine controllerId=4] Initializing leader and isr for partition orders-0 "
        "to (Leader:4,ISR:4,5,LeaderEpoch:0,ControllerEpoch:7)",
    ),
    Template(
        "offline_leader_chosen",
        "leader_chosen",
        SELECTOR,
        'Selected new leader and ISR {"leader":{leader},"leader_epoch":{leader_epoch},"isr":{isr}} '
        "for offline partition {tp}",
        "[OfflinePartitionLeaderSelector]: Selected new leader and ISR "
        '{"leader":5,"leader_epoch":3,"isr":[5]} for offline partition [orders,0]',
    ),
    Template(
        "change_refused_1",
        "change_failed",
        STATE,
        "Initiated state change {...} failed",
        "[Controller id=4 epoch=7] Initiated state change for partition orders-0 from "
        "OfflinePartition to OnlinePartition failed",
    ),
)

REQUESTS = (
    Template(
        "leader_and_isr_sent_before_1_0",
        "leader_and_isr_sent",
        STATE,
        "Sending become-{detail=leader|follower} LeaderAndIsr request " + _SHORT + " to broker "
        "{replica} for partition {tp}",
        "Controller 4 epoch 7 sending become-leader LeaderAndIsr request (Leader:4,ISR:4,5,"
        "LeaderEpoch:1,ControllerEpoch:7) to broker 4 for partition [orders,0]",
    ),
    Template(
        "metadata_sent_before_1_0",
        "metadata_sent",
        STATE,
        "Sending UpdateMetadata request " + _SHORT + " to brokers {detail} for partition {tp}",
        "Controller 4 epoch 7 sending UpdateMetadata request (Leader:4,ISR:4,5,LeaderEpoch:1,"
        "ControllerEpoch:7) to brokers Set(4, 5) for partition orders-0",
    ),
    Template(
        "metadata_sent_0_9",
        "metadata_sent",
        STATE,
        "Sending UpdateMetadata request " + _SHORT + " to broker {replica} for partition {tp}",
        "Controller 4 epoch 7 sending UpdateMetadata request (Leader:4,ISR:4,5,LeaderEpoch:1,"
        "ControllerEpoch:7) to broker 5 for partition orders-0",
    ),
    Template(
        "received_0_9",
        "leader_and_isr_received",
        STATE,
        "Received LeaderAndIsr request (LeaderAndIsrInfo:" + _SHORT + ",ReplicationFactor:{count})"
        ",AllReplicas:{...}) correlation id {correlation} " + BY + " for partition {tp}",
        "Broker 5 received LeaderAndIsr request (LeaderAndIsrInfo:(Leader:4,ISR:4,5,LeaderEpoch:1,"
        "ControllerEpoch:7),ReplicationFactor:2),AllReplicas:4,5) correlation id 3 from controller "
        "4 epoch 7 for partition [orders,0]",
    ),
    Template(
        "received_before_1_0",
        "leader_and_isr_received",
        STATE,
        "Received LeaderAndIsr request PartitionState(controllerEpoch={state_epoch}, leader="
        "{leader}, leaderEpoch={leader_epoch}, isr={isr}, zkVersion={version}, "
        "replicas={replicas}) "
        "correlation id {correlation} " + BY + " for partition {tp}",
        "Broker 5 received LeaderAndIsr request PartitionState(controllerEpoch=7, leader=4, "
        "leaderEpoch=1, isr=[4, 5], zkVersion=1, replicas=[4, 5]) correlation id 3 from controller "
        "4 epoch 7 for partition [orders,0]",
    ),
    # 0.10.0.0 prints the object: PartitionState has no toString yet, and the line has no state.
    Template(
        "received_0_10_0",
        "leader_and_isr_received",
        STATE,
        "Received LeaderAndIsr request {...=\\S+\\$PartitionState@[0-9a-f]+} correlation id "
        "{correlation} " + BY + " for partition {tp}",
        "Broker 5 received LeaderAndIsr request org.apache.kafka.common.requests."
        "LeaderAndIsrRequest$PartitionState@604896a2 correlation id 3 from controller 4 epoch 7 "
        "for partition [orders,0]",
    ),
    # These two name the controller epoch of the state, not of the request that brought it.
    Template(
        "leader_unavailable_before_2_0",
        "obeyed",
        STATE,
        "Received LeaderAndIsrRequest with correlation id {correlation} from controller "
        "{controller} epoch {state_epoch} for partition {tp} but cannot become follower since the "
        "new leader {leader} is unavailable.",
        "Broker 5 received LeaderAndIsrRequest with correlation id 3 from controller 4 epoch 6 for "
        "partition orders-0 but cannot become follower since the new leader -1 is unavailable.",
    ),
    Template(
        "follower_skipped_before_2_0",
        "obeyed",
        STATE,
        "Skipped the become-follower state change after marking its partition as follower with "
        "correlation id {correlation} from controller {controller} epoch {state_epoch} for "
        "partition {tp} since the new leader {leader} is the same as the old leader",
        "Broker 5 skipped the become-follower state change after marking its partition as follower "
        "with correlation id 3 from controller 4 epoch 6 for partition orders-0 since the new "
        "leader 4 is the same as the old leader",
    ),
    Template(
        "metadata_cached_before_1_0",
        "metadata_cached",
        STATE,
        "Cached leader info (LeaderAndIsrInfo:" + _SHORT + ",ReplicationFactor:{count})"
        ",AllReplicas:{...}) for partition {tp} " + METADATA,
        "Broker 5 cached leader info (LeaderAndIsrInfo:(Leader:4,ISR:4,5,LeaderEpoch:1,"
        "ControllerEpoch:7),ReplicationFactor:2),AllReplicas:4,5) for partition orders-0 in "
        "response to UpdateMetadata request sent by controller 4 epoch 7 with correlation id 4",
    ),
)

REPLICAS = (
    Template(
        "isr_shrinks_before_0_11",
        "isr_shrunk",
        PARTITION,
        "Shrinking ISR for partition {tp} from {detail=[\\d,]*} to {isr=[\\d,]*}",
        "Partition [orders,0] on broker 5: Shrinking ISR for partition [orders,0] from 5,4 to 5",
    ),
    Template(
        "isr_expands_before_0_11",
        "isr_expanded",
        PARTITION,
        "Expanding ISR for partition {tp} from {detail=[\\d,]*} to {isr=[\\d,]*}",
        "Partition [orders,0] on broker 5: Expanding ISR for partition orders-0 from 5 to 5,4",
    ),
    Template(
        "truncated_before_1_1",
        "log_truncated",
        LOG,
        "Truncating log {tp} to offset {offset}.",
        "Truncating log orders-0 to offset 16.",
    ),
    Template(
        "log_start_raised_before_1_1",
        "log_start_raised",
        LOG,
        "Incrementing log start offset of partition {tp} to {offset} in dir {...}",
        "Incrementing log start offset of partition orders-0 to 16 in dir /data",
    ),
    Template(
        "nothing_to_truncate_before_1_1",
        "truncation_without_effect",
        LOG,
        "Truncating {tp} to {offset} has no effect as the largest offset in the log is "
        "{detail=-?\\d+}.",
        "Truncating orders-0 to 16 has no effect as the largest offset in the log is 15.",
    ),
    Template(
        "reset_to_leaders_start_before_1_0",
        "fetch_offset_reset",
        FETCHER,
        "Replica {...=\\d+} for partition {tp} reset its fetch offset from {...=\\d+} to current "
        "leader {leader}'s start offset {offset}",
        "[ReplicaFetcherThread-0-4], Replica 5 for partition [orders,0] reset its fetch offset "
        "from 12 to current leader 4's start offset 16",
    ),
    Template(
        "reset_to_leaders_end_before_1_0",
        "truncation_chosen",
        FETCHER,
        "Replica {...=\\d+} for partition {tp} reset its fetch offset from {...=\\d+} to current "
        "leader {leader}'s latest offset {offset}",
        "[ReplicaFetcherThread-0-4], Replica 5 for partition [orders,0] reset its fetch offset "
        "from 16 to current leader 4's latest offset 12",
    ),
)

TEMPLATES = CONTROLLERSHIP + CHANGES + REQUESTS + REPLICAS
