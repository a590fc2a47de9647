"""What a broker says of the controller's requests and of its replicas, releases 2.0 to 2.8.

Sources: ReplicaManager, MetadataCache and Partition (state-change.log), Partition, Log,
ReplicaFetcherThread, LeaderEpochFileCache, KafkaServer and KafkaZkClient (server.log).
"""

from __future__ import annotations

from conformance.ingest.notation import Template
from conformance.ingest.templates_controller import STATE

PARTITION = "kafka.cluster.Partition"
LOG = "kafka.log.Log"
LOG_MANAGER = "kafka.log.LogManager"
EPOCH_CACHE = "kafka.server.epoch.LeaderEpochFileCache"
FETCHER = "kafka.server.ReplicaFetcherThread"
SERVER = "kafka.server.KafkaServer"
CONFIG = "kafka.server.KafkaConfig"
ZK = "kafka.zk.KafkaZkClient"
APP_INFO = "org.apache.kafka.common.utils.AppInfoParser"

_BY = "from controller {controller} epoch {controller_epoch}"
_WITH = _BY + " with correlation id {correlation}"
_METADATA = (
    "in response to UpdateMetadata request sent by controller {controller} epoch "
    "{controller_epoch} with correlation id {correlation}"
)
_STATE = (
    "controllerEpoch={state_epoch}, leader={leader}, leaderEpoch={leader_epoch}, isr={isr}, "
    "zkVersion={version}, {...}"
)

REQUESTS = (
    Template(
        "received_by_name",
        "leader_and_isr_received",
        STATE,
        "Received LeaderAndIsr request {...}PartitionState(topicName='{topic}', partitionIndex="
        "{partition}, " + _STATE + "isNew={is_new}{...}) correlation id {correlation} " + _BY,
        "[Broker id=5] Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName='orders'"
        ", partitionIndex=0, controllerEpoch=7, leader=4, leaderEpoch=1, isr=[4, 5], zkVersion=1, "
        "replicas=[4, 5], addingReplicas=[], removingReplicas=[], isNew=true) correlation id 3 "
        "from controller 4 epoch 7",
    ),
    Template(
        "received",
        "leader_and_isr_received",
        STATE,
        "Received LeaderAndIsr request {...}PartitionState(" + _STATE + "isNew={is_new}{...}) "
        "correlation id {correlation} " + _BY + " for partition {tp}",
        "[Broker id=5] Received LeaderAndIsr request PartitionState(controllerEpoch=7, leader=4, "
        "leaderEpoch=1, isr=4,5, zkVersion=1, replicas=4,5, isNew=true) correlation id 3 from "
        "controller 4 epoch 7 for partition orders-0",
    ),
    Template(
        "handling",
        "leader_and_isr_handling",
        STATE,
        "Handling LeaderAndIsr request correlationId {correlation} " + _BY + " starting the "
        "become-{to_state} transition for partition {tp}{...=| with leader -?\\d+}",
        "[Broker id=5] Handling LeaderAndIsr request correlationId 3 from controller 4 epoch 7 "
        "starting the become-follower transition for partition orders-0 with leader 4",
    ),
    Template(
        "handling_batch",
        "leader_and_isr_batch_handled",
        STATE,
        "Handling LeaderAndIsr request correlationId {correlation} from controller {controller} "
        "for {count} partitions",
        "[Broker id=5] Handling LeaderAndIsr request correlationId 3 from controller 4 for 2 "
        "partitions",
    ),
    Template(
        "finished_batch",
        "leader_and_isr_batch_handled",
        STATE,
        "Finished LeaderAndIsr request in {count}ms correlationId {correlation} from controller "
        "{controller} for {count} partitions",
        "[Broker id=5] Finished LeaderAndIsr request in 68ms correlationId 3 from controller 4 for "
        "2 partitions",
    ),
    Template(
        "completed",
        "leader_and_isr_applied",
        STATE,
        "Completed LeaderAndIsr request correlationId {correlation} " + _BY + " for the "
        "become-{to_state} transition for partition {tp}{...=| with leader -?\\d+}",
        "[Broker id=5] Completed LeaderAndIsr request correlationId 3 from controller 4 epoch 7 "
        "for the become-leader transition for partition orders-0",
    ),
    Template(
        "fetchers_stopped",
        "obeyed",
        STATE,
        "Stopped fetchers as part of become-{to_state} request " + _WITH + " for {...}",
        "[Broker id=5] Stopped fetchers as part of become-follower request from controller 4 "
        "epoch 7 with correlation id 3 for 2 partitions",
    ),
    Template(
        "fetchers_stopped_for_leader",
        "obeyed",
        STATE,
        "Stopped fetchers as part of LeaderAndIsr request correlationId {correlation} "
        + _BY
        + " as part of the become-{to_state} transition for {...}",
        "[Broker id=5] Stopped fetchers as part of LeaderAndIsr request correlationId 3 from "
        "controller 4 epoch 7 as part of the become-leader transition for 1 partitions",
    ),
    Template(
        "truncated_to_follow",
        "obeyed",
        STATE,
        "Truncated logs and checkpointed recovery boundaries for partition {tp} as part of "
        "become-follower request with correlation id {correlation} "
        + _BY
        + "{...=| with leader -?\\d+}",
        "[Broker id=5] Truncated logs and checkpointed recovery boundaries for partition orders-0 "
        "as part of become-follower request with correlation id 3 from controller 4 epoch 7 with "
        "leader 4",
    ),
    Template(
        "fetcher_started",
        "obeyed",
        STATE,
        "Started fetcher to new leader as part of become-follower request "
        + _WITH
        + " for partition {tp}{...}",
        "[Broker id=5] Started fetcher to new leader as part of become-follower request from "
        "controller 4 epoch 7 with correlation id 3 for partition orders-0 with leader "
        "BrokerEndPoint(id=4, host=host4:9092)",
    ),
    Template(
        "step_skipped",
        "obeyed",
        STATE,
        "Skipped the {...} state change {...}with correlation id {correlation} "
        + _BY
        + " for partition {tp} {...}",
        "[Broker id=5] Skipped the become-leader state change after marking its partition as "
        "leader with correlation id 3 from controller 4 epoch 7 for partition orders-0 (last "
        "update controller epoch 7) since it is already the leader for the partition.",
    ),
    Template(
        "leader_unavailable",
        "obeyed",
        STATE,
        "Received LeaderAndIsrRequest with correlation id {correlation} " + _BY + " for partition "
        "{tp} (last update controller epoch {count}) but cannot become follower since the new "
        "leader {leader} is unavailable.",
        "[Broker id=5] Received LeaderAndIsrRequest with correlation id 3 from controller 4 epoch "
        "7 for partition orders-0 (last update controller epoch 7) but cannot become follower "
        "since the new leader -1 is unavailable.",
    ),
    Template(
        "metadata_cached",
        "metadata_cached",
        STATE,
        "Cached leader info {...}PartitionState({...}"
        + _STATE
        + ") for partition {tp} "
        + _METADATA,
        "[Broker id=5] Cached leader info UpdateMetadataPartitionState(topicName='orders', "
        "partitionIndex=0, controllerEpoch=7, leader=4, leaderEpoch=1, isr=[4, 5], zkVersion=1, "
        "replicas=[4, 5], offlineReplicas=[]) for partition orders-0 in response to UpdateMetadata "
        "request sent by controller 4 epoch 7 with correlation id 4",
    ),
    Template(
        "metadata_dropped",
        "obeyed",
        STATE,
        "Deleted partition {tp} from metadata cache " + _METADATA,
        "[Broker id=5] Deleted partition orders-0 from metadata cache in response to "
        "UpdateMetadata request sent by controller 4 epoch 7 with correlation id 4",
    ),
    Template(
        "metadata_batch_cached",
        "obeyed",
        STATE,
        "Add {count} partitions and deleted {count} partitions from metadata cache " + _METADATA,
        "[Broker id=5] Add 3 partitions and deleted 0 partitions from metadata cache in response "
        "to UpdateMetadata request sent by controller 4 epoch 7 with correlation id 4",
    ),
)

REFUSALS = (
    Template(
        "old_controller_epoch",
        "old_controller_refused",
        STATE,
        "Ignoring {...=LeaderAndIsr|StopReplica|UpdateMetadata} request from controller "
        "{controller} with correlation id {correlation} since its controller epoch "
        "{controller_epoch} is old. Latest known controller epoch is {known_epoch}",
        "[Broker id=5] Ignoring LeaderAndIsr request from controller 4 with correlation id 3 since "
        "its controller epoch 6 is old. Latest known controller epoch is 7",
    ),
    Template(
        "old_metadata",
        "old_controller_refused",
        STATE,
        "Received update metadata request with correlation id {correlation} from an old controller "
        "{controller} with epoch {controller_epoch}. Latest known controller epoch is "
        "{known_epoch}",
        "[Broker id=5] Received update metadata request with correlation id 3 from an old "
        "controller 4 with epoch 6. Latest known controller epoch is 7",
    ),
    Template(
        "same_leader_epoch",
        "same_epoch_refused",
        STATE,
        "Ignoring {...=LeaderAndIsr|StopReplica} request {...}from controller {controller} with "
        "correlation id {correlation} epoch {controller_epoch} for partition {tp} since its "
        "associated leader epoch {leader_epoch} matches the current leader epoch",
        "[Broker id=5] Ignoring LeaderAndIsr request from controller 4 with correlation id 3 epoch "
        "7 for partition orders-0 since its associated leader epoch 1 matches the current leader "
        "epoch",
    ),
    Template(
        "old_leader_epoch",
        "old_epoch_refused",
        STATE,
        "Ignoring {...=LeaderAndIsr|StopReplica} request {...}from controller {controller} with "
        "correlation id {correlation} epoch {controller_epoch} for partition {tp} since its "
        "associated leader epoch {leader_epoch} is {...=smaller|not higher} than the current "
        "leader epoch {previous_epoch}",
        "[Broker id=5] Ignoring LeaderAndIsr request from controller 4 with correlation id 3 epoch "
        "7 for partition orders-0 since its associated leader epoch 0 is smaller than the current "
        "leader epoch 1",
    ),
    Template(
        "not_assigned",
        "request_refused",
        STATE,
        "Ignoring LeaderAndIsr request from controller {controller} with correlation id "
        "{correlation} epoch {controller_epoch} for partition {tp} {detail}",
        "[Broker id=5] Ignoring LeaderAndIsr request from controller 4 with correlation id 3 epoch "
        "7 for partition orders-0 as itself is not in assigned replica list 4,6",
    ),
)

REPLICAS = (
    Template(
        "leader_starts",
        "leader_started",
        STATE,
        "Leader {tp} starts at leader epoch {leader_epoch} from offset {offset} with high "
        "watermark {high_watermark} ISR [{isr}] {...}Previous leader epoch was {previous_epoch}.",
        "[Broker id=5] Leader orders-0 starts at leader epoch 2 from offset 17 with high watermark "
        "16 ISR [5,4] addingReplicas [] removingReplicas []. Previous leader epoch was 1.",
    ),
    Template(
        "follower_starts",
        "follower_started",
        STATE,
        "Follower {tp} starts at leader epoch {leader_epoch} from offset {offset} with high "
        "watermark {high_watermark}. Previous leader epoch was {previous_epoch}.",
        "[Broker id=5] Follower orders-0 starts at leader epoch 2 from offset 17 with high "
        "watermark 16. Previous leader epoch was 1.",
    ),
    Template(
        "starts",
        "leader_started",
        PARTITION,
        "{tp} starts at leader epoch {leader_epoch} from offset {offset} with high watermark "
        "{high_watermark}. Previous leader epoch was {previous_epoch}.",
        "[Partition orders-0 broker=5] orders-0 starts at leader epoch 2 from offset 17 with high "
        "watermark 16. Previous leader epoch was 1.",
    ),
    Template(
        "starts_before_2_4",
        "leader_started",
        PARTITION,
        "{tp} starts at Leader Epoch {leader_epoch} from offset {offset}. Previous Leader Epoch "
        "was: {previous_epoch}",
        "[Partition orders-0 broker=5] orders-0 starts at Leader Epoch 2 from offset 17. Previous "
        "Leader Epoch was: 1",
    ),
    Template(
        "stop_replica_batch",
        "stop_replica_handled",
        STATE,
        "Handling StopReplica request correlationId {correlation} from controller {controller} for "
        "{count} partitions",
        "[Broker id=5] Handling StopReplica request correlationId 6 from controller 4 for 2 "
        "partitions",
    ),
    Template(
        "stop_replica",
        "stop_replica_handled",
        STATE,
        "{...=Handling|Finished handling|Ignoring} stop replica (delete={detail=true|false}) for "
        "partition {tp}{...}",
        "[Broker id=5] Handling stop replica (delete=true) for partition orders-0",
    ),
    Template(
        "isr_shrinks",
        "isr_shrunk",
        PARTITION,
        "Shrinking ISR from {detail=[\\d,]*} to {isr=[\\d,]*}{...=|\\. .*}",
        "[Partition orders-0 broker=5] Shrinking ISR from 5,4 to 5. Leader: (highWatermark: 16, "
        "endOffset: 17). Out of sync replicas: (brokerId: 4, endOffset: 16).",
    ),
    Template(
        "isr_expands",
        "isr_expanded",
        PARTITION,
        "Expanding ISR from {detail=[\\d,]*} to {isr=[\\d,]*}",
        "[Partition orders-0 broker=5] Expanding ISR from 5 to 5,4",
    ),
    Template(
        "isr_updated",
        "isr_updated",
        PARTITION,
        "ISR updated {...=|from AlterIsr }to {isr} and {...=zkVersion|version} updated to "
        "[{version}]",
        "[Partition orders-0 broker=5] ISR updated to [5,4] and zkVersion updated to [3]",
    ),
    Template(
        "isr_write_refused",
        "isr_refused",
        PARTITION,
        "Cached zkVersion {...=\\[?}{version}{...=\\]?} not equal to that in zookeeper, skip "
        "updating ISR",
        "[Partition orders-0 broker=5] Cached zkVersion 3 not equal to that in zookeeper, skip "
        "updating ISR",
    ),
    Template(
        "high_watermark_loaded",
        "high_watermark_loaded",
        PARTITION,
        "Log loaded for partition {tp} with initial high watermark {high_watermark}",
        "[Partition orders-0 broker=5] Log loaded for partition orders-0 with initial high "
        "watermark 16",
    ),
    Template(
        "truncated",
        "log_truncated",
        LOG,
        "Truncating to offset {offset}",
        "[Log partition=orders-0, dir=/data] Truncating to offset 16",
    ),
    Template(
        "nothing_to_truncate",
        "truncation_without_effect",
        LOG,
        "Truncating to {offset} has no effect as the largest offset in the log is {count=-?\\d+}",
        "[Log partition=orders-0, dir=/data] Truncating to 16 has no effect as the largest offset "
        "in the log is 15",
    ),
    Template(
        "truncates_to_high_watermark",
        "truncation_chosen",
        FETCHER,
        "Truncating partition {tp} to local high watermark {offset}",
        "[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] Truncating partition orders-0 to "
        "local high watermark 16",
    ),
    Template(
        "truncates_below_high_watermark",
        "truncation_below_high_watermark",
        FETCHER,
        "Truncating {tp} to offset {offset} below high watermark {high_watermark}",
        "[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] Truncating orders-0 to offset 12 "
        "below high watermark 16",
    ),
    Template(
        "follower_is_fenced",
        "fetcher_fenced",
        FETCHER,
        "Partition {tp} has an older epoch ({leader_epoch}) than the current leader. {...}",
        "[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] Partition orders-0 has an older "
        "epoch (1) than the current leader. Will await the new LeaderAndIsr state before resuming "
        "fetching.",
    ),
    Template(
        "log_created",
        "log_created",
        LOG_MANAGER,
        "Created log for partition {tp} in {...}",
        "Created log for partition orders-0 in /data/orders-0 with properties {}",
    ),
    Template(
        "log_removed",
        "log_removed",
        LOG_MANAGER,
        "Log for partition {tp} is renamed to {detail} and is scheduled for deletion",
        "Log for partition orders-0 is renamed to /data/orders-0.8f3d-delete and is scheduled for "
        "deletion",
    ),
)

PROCESS = (
    Template("starting", "process_starting", SERVER, "starting", "starting"),
    Template("started", "process_started", SERVER, "started", "[KafkaServer id=5] started"),
    Template(
        "shutting_down",
        "process_stopping",
        SERVER,
        "shutting down",
        "[KafkaServer id=5] shutting down",
    ),
    Template(
        "shut_down",
        "process_stopped",
        SERVER,
        "shut down completed",
        "[KafkaServer id=5] shut down completed",
    ),
    Template(
        "cluster_id",
        "cluster_id",
        SERVER,
        "Cluster ID = {detail}",
        "Cluster ID = q8Xn2YpPQbOe7Xk1mG4d-w",
    ),
    Template("configuration", "configuration", CONFIG, "KafkaConfig values: {...}", ""),
    Template(
        "broker_registered",
        "broker_registered",
        ZK,
        "Registered broker {broker} at path {...}czxid (broker epoch): {offset}",
        "Registered broker 5 at path /brokers/ids/5 with addresses: PLAINTEXT://host5:9092, czxid "
        "(broker epoch): 48",
    ),
    Template(
        "controller_epoch_created",
        "zookeeper_is_new",
        ZK,
        "Successfully created /controller_epoch with initial epoch {detail}",
        "Successfully created /controller_epoch with initial epoch 0",
    ),
    Template("release", "release", APP_INFO, "Kafka version: {detail}", "Kafka version: 2.7.0"),
    Template("release_1", "release", APP_INFO, "Kafka version : {detail}", "Kafka version : 2.0.0"),
    Template(
        "logger_registered",
        "process_logger",
        STATE,
        "preRegister called. {...}",
        "preRegister called. Server=com.sun.jmx.mbeanserver.JmxMBeanServer@1, name=log4j:logger="
        "state.change.logger",
    ),
)

TEMPLATES = REQUESTS + REFUSALS + REPLICAS + PROCESS
