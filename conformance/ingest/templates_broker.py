"""Templates of a broker's lines about its replicas and its process, releases 2.0 to 2.8.

Sources: Partition, Log, LogManager, ReplicaFetcherThread, KafkaServer and KafkaZkClient, in
server.log; Partition writes to state-change.log as well since 2.7.
"""

from __future__ import annotations

from conformance.ingest.notation import Template
from conformance.ingest.templates_controller import STATE

PARTITION = "kafka.cluster.Partition"
REPLICA = "kafka.cluster.Replica"
LOG = "kafka.log.Log"
LOG_MANAGER = "kafka.log.LogManager"
FETCHER = "kafka.server.ReplicaFetcherThread"
FETCHERS = "kafka.server.ReplicaFetcherManager"
FAILURES = "kafka.server.LogDirFailureChannel"
SERVER = "kafka.server.KafkaServer"
CONFIG = "kafka.server.KafkaConfig"
ZK = "kafka.zk.KafkaZkClient"
ZK_CLIENT = "kafka.zookeeper.ZooKeeperClient"
APP_INFO = "org.apache.kafka.common.utils.AppInfoParser"

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
        "{detail=\\d+} partitions",
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
    # Written under the lock without which neither of the two offsets changes.
    Template(
        "isr_shrinks",
        "isr_shrunk",
        PARTITION,
        "Shrinking ISR from {detail=[\\d,]*} to {isr=[\\d,]*}. Leader: (highWatermark: "
        "{high_watermark}, endOffset: {offset}). {...}",
        "[Partition orders-0 broker=5] Shrinking ISR from 5,4 to 5. Leader: (highWatermark: 16, "
        "endOffset: 17). Out of sync replicas: (brokerId: 4, endOffset: 16).",
    ),
    Template(
        "isr_shrinks_before_2_2",
        "isr_shrunk",
        PARTITION,
        "Shrinking ISR from {detail=[\\d,]*} to {isr=[\\d,]*}",
        "[Partition orders-0 broker=5] Shrinking ISR from 5,4 to 5",
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
        "ISR updated {...=|from AlterIsr }to {isr} and {detail=zkVersion|version} updated to "
        "[{version}]",
        "[Partition orders-0 broker=5] ISR updated to [5,4] and zkVersion updated to [3]",
    ),
    Template(
        "isr_updated_of_replicas",
        "isr_updated",
        PARTITION,
        "ISR updated to [{isr=(?:Replica\\(replicaId=|ReplicaId: )\\d+[,;] .*}] and "
        "{detail=zkVersion} updated to [{version}]",
        "[Partition orders-0 broker=5] ISR updated to [Replica(replicaId=5, topic=orders, "
        "partition=0, isLocal=true, lastCaughtUpTimeMs=0, highWatermark=(offset=16 segment=[0:83])"
        ", lastStableOffset=(offset=16 segment=[0:83])),Replica(replicaId=4, topic=orders, "
        "partition=0, isLocal=false, lastCaughtUpTimeMs=17)] and zkVersion updated to [3]",
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
    # Written of remote replicas as well, of which a broker knows none yet: they begin with 0.
    Template(
        "replica_loaded",
        "replica_loaded",
        REPLICA,
        "Replica loaded for partition {tp} with initial high watermark {high_watermark}",
        "Replica loaded for partition orders-0 with initial high watermark 16",
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
        "Truncating to {offset} has no effect as the largest offset in the log is {detail=-?\\d+}",
        "[Log partition=orders-0, dir=/data] Truncating to 16 has no effect as the largest offset "
        "in the log is 15",
    ),
    Template(
        "log_start_raised",
        "log_start_raised",
        LOG,
        "{...=Incrementing|Incremented} log start offset to {offset}{...=.*}",
        "[Log partition=orders-0, dir=/data] Incrementing log start offset to 16",
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
        "truncates_to_own_end",
        "truncation_chosen",
        FETCHER,
        "Based on {...=[\\w ]+}'s leader epoch, leader replied with an unknown offset in {tp}. "
        "{...=High watermark|The initial fetch offset} {offset} will be used for truncation.",
        "[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] Based on replica's leader epoch, "
        "leader replied with an unknown offset in orders-0. The initial fetch offset 16 will be "
        "used for truncation.",
    ),
    Template(
        "reset_to_leaders_end",
        "truncation_chosen",
        FETCHER,
        "Reset fetch offset for partition {tp} from {...=\\d+} to current leader's latest offset "
        "{offset}",
        "[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] Reset fetch offset for partition "
        "orders-0 from 16 to current leader's latest offset 12",
    ),
    Template(
        "reset_to_leaders_start",
        "fetch_offset_reset",
        FETCHER,
        "Reset fetch offset for partition {tp} from {...=\\d+} to current leader's start offset "
        "{offset}",
        "[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] Reset fetch offset for partition "
        "orders-0 from 12 to current leader's start offset 16",
    ),
    Template(
        "fetches_out_of_range",
        "fetch_offset_reset",
        FETCHER,
        "Current offset {...=\\d+} for partition {tp} is out of range, which typically implies a "
        "leader change. Reset fetch offset to {offset}",
        "[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] Current offset 12 for partition "
        "orders-0 is out of range, which typically implies a leader change. Reset fetch offset to "
        "16",
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
        "fetchers_added",
        "fetchers_added",
        FETCHERS,
        "Added fetcher to broker {detail}",
        "[ReplicaFetcherManager on broker 5] Added fetcher to broker 4 for partitions "
        "Map(orders-0 -> (offset=16, leaderEpoch=3))",
    ),
    Template(
        "producer_state_loaded",
        "log_loaded",
        LOG,
        "Loading producer state {...=till|from} offset {offset} with message format version {...}",
        "[Log partition=orders-0, dir=/data] Loading producer state till offset 16 with message "
        "format version 2",
    ),
    Template(
        "log_created",
        "log_created",
        LOG_MANAGER,
        "Created log for partition {tp} in {detail} with properties {...}",
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
    # Its partition is no column: such lines are few, and are judged with those of the whole topic.
    Template(
        "log_not_renamed",
        "log_not_renamed",
        FAILURES,
        "Error while renaming dir for {detail} in log dir {...}",
        "Error while renaming dir for orders-0 in log dir /data",
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
        "Registered broker {broker} at path {...=\\S*/}{replica}{detail}czxid (broker epoch): "
        "{offset}",
        "Registered broker 5 at path /brokers/ids/5 with addresses: PLAINTEXT://host5:9092, czxid "
        "(broker epoch): 48",
    ),
    Template(
        "session_begins",
        "session_begun",
        ZK_CLIENT,
        "Initializing a new session to {detail}.",
        "[ZooKeeperClient Kafka server] Initializing a new session to host5:2181.",
    ),
    Template(
        "session_expired",
        "session_expired",
        ZK_CLIENT,
        "Session expired.",
        "[ZooKeeperClient Kafka server] Session expired.",
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

TEMPLATES = REPLICAS + PROCESS
