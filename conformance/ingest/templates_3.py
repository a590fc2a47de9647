"""Templates of lines whose form changed in 3.0 to 3.9, in releases with ZooKeeper.

The state of a partition has a recovery state and calls its version `partitionEpoch` (3.2), its ISR
has the broker epoch of each member (3.4), logs are `UnifiedLog`s (3.1), and a new leader or
follower logs its previous leader (3.3). Sources: LeaderAndIsr, LeaderAndIsrRequest, Partition,
UnifiedLog, LogManager.
"""

from __future__ import annotations

from conformance.ingest.notation import Template
from conformance.ingest.templates_broker import FETCHER, PARTITION
from conformance.ingest.templates_controller import STATE
from conformance.ingest.templates_requests import BY

UNIFIED = "kafka.log.UnifiedLog"
_FAILURES = "org.apache.kafka.storage.internals.log.LogDirFailureChannel"

# Members of an ISR with the broker epoch of each; only the first number of a pair is a broker.
_MEMBERS = (
    "{...=\\w*[(\\[]}{isr=(?:BrokerState\\(brokerId=\\d+, brokerEpoch=-?\\d+\\)(?:, )?)*}"
    "{...=[)\\]]}"
)
_NAMED = "{...=partitionEpoch|zkVersion}={version}"
_STATE = (
    "controllerEpoch={state_epoch}, leader={leader}, leaderEpoch={leader_epoch}, isr={isr}, "
    "partitionEpoch={version}, replicas={replicas}, {...}"
)
_BY = (
    "from controller {controller} with correlation id {correlation} epoch {controller_epoch}"
    "{...=(?: did not contain a topic ID)?}"
)
_WAS = (
    "Previous {...=(?:leader (?:None|Some\\(-?\\d+\\)) and previous )?}leader epoch was "
    "{previous_epoch}."
)
_ONE_STATE = (
    "LeaderAndIsrPartitionState(topicName='orders', partitionIndex=0, controllerEpoch=7, leader=4, "
    "leaderEpoch=1, isr=[4, 5], partitionEpoch=1, replicas=[4, 5], addingReplicas=[], "
    "removingReplicas=[], isNew=true, leaderRecoveryState=0)"
)

TEMPLATES = (
    Template(
        "log_not_renamed_3",
        "log_not_renamed",
        _FAILURES,
        "Error while renaming dir for {detail} in log dir {...}",
        "Error while renaming dir for orders-0 in log dir /data",
    ),
    Template(
        "partition_online_3",
        "partition_changed",
        STATE,
        "Changed partition {tp} from {from_state} to {to_state} with state LeaderAndIsr(leader="
        "{leader}, leaderEpoch={leader_epoch}, isr={...=\\w*[(\\[]}{isr=[\\d, ]*}"
        "{...=[)\\]]}, leaderRecoveryState={detail=\\w+}, " + _NAMED + ")",
        "[Controller id=4 epoch=7] Changed partition orders-0 from NewPartition to OnlinePartition "
        "with state LeaderAndIsr(leader=4, leaderEpoch=0, isr=List(4, 5), "
        "leaderRecoveryState=RECOVERED, partitionEpoch=0)",
    ),
    Template(
        "partition_online_3_4",
        "partition_changed",
        STATE,
        "Changed partition {tp} from {from_state} to {to_state} with state LeaderAndIsr(leader="
        "{leader}, leaderEpoch={leader_epoch}, isrWithBrokerEpoch=" + _MEMBERS + ", "
        "leaderRecoveryState={detail=\\w+}, " + _NAMED + ")",
        "[Controller id=4 epoch=7] Changed partition orders-0 from NewPartition to OnlinePartition "
        "with state LeaderAndIsr(leader=4, leaderEpoch=0, isrWithBrokerEpoch=List(BrokerState("
        "brokerId=4, brokerEpoch=31), BrokerState(brokerId=5, brokerEpoch=-1)), "
        "leaderRecoveryState=RECOVERED, partitionEpoch=0)",
    ),
    Template(
        "leader_and_isr_sent_3",
        "leader_and_isr_sent",
        STATE,
        "Sending become-{detail=leader|follower} LeaderAndIsr request {...}PartitionState({again}"
        + _STATE
        + "isNew={is_new}{...}) to broker {replica} for partition {tp}",
        f"[Controller id=4 epoch=7] Sending become-leader LeaderAndIsr request {_ONE_STATE} to "
        "broker 4 for partition orders-0",
    ),
    Template(
        "received_by_name_3",
        "leader_and_isr_received",
        STATE,
        "Received LeaderAndIsr request {...}PartitionState(topicName='{topic}', partitionIndex="
        "{partition}, " + _STATE + "isNew={is_new}{...}) correlation id {correlation} " + BY,
        f"[Broker id=5] Received LeaderAndIsr request {_ONE_STATE} correlation id 3 from "
        "controller 4 epoch 7",
    ),
    Template(
        "leader_starts_3",
        "leader_started",
        STATE,
        "Leader {tp} with topic id {...} starts at leader epoch {leader_epoch} from offset "
        "{offset} with partition epoch {version}, high watermark {high_watermark}, ISR [{isr}], "
        "adding replicas [{...}] and removing replicas [{...}]{...= ?(?:\\(under-min-isr\\))?\\.?} "
        + _WAS,
        "[Broker id=5] Leader orders-0 with topic id Some(q8Xn2YpPQbOe7Xk1mG4dqA) starts at leader "
        "epoch 2 from offset 17 with partition epoch 3, high watermark 16, ISR [5,4], adding "
        "replicas [] and removing replicas [] . Previous leader Some(4) and previous leader epoch "
        "was 1.",
    ),
    Template(
        "leader_starts_3_0",
        "leader_started",
        STATE,
        "Leader {tp} starts at leader epoch {leader_epoch} from offset {offset} with partition "
        "epoch {version}, high watermark {high_watermark}, ISR [{isr}], adding replicas [{...}] "
        "and removing replicas [{...}].{...}Previous leader {...}epoch was {previous_epoch}.",
        "[Broker id=5] Leader orders-0 starts at leader epoch 2 from offset 17 with partition "
        "epoch 3, high watermark 16, ISR [5,4], adding replicas [] and removing replicas []. "
        "Previous leader epoch was 1.",
    ),
    Template(
        "follower_starts_3",
        "follower_started",
        STATE,
        "Follower {tp} starts at leader epoch {leader_epoch} from offset {offset} with partition "
        "epoch {version} and high watermark {high_watermark}. "
        "{...=(?:Current leader is -?\\d+\\. )?}Previous leader epoch was {previous_epoch}.",
        "[Broker id=5] Follower orders-0 starts at leader epoch 2 from offset 17 with partition "
        "epoch 3 and high watermark 16. Current leader is 4. Previous leader epoch was 1.",
    ),
    # From 3.6 a follower takes the new leader and epoch before it logs them as the previous ones
    # (Partition.makeFollower): what it held is not in the line.
    Template(
        "follower_starts_3_6",
        "follower_started",
        STATE,
        "Follower {tp} starts at leader epoch {leader_epoch} from offset {offset} with partition "
        "epoch {version} and high watermark {high_watermark}. Current leader is {...=-?\\d+}. "
        "Previous leader {...=None|Some\\(-?\\d+\\)} and previous leader epoch was {...=-?\\d+}.",
        "[Broker id=5] Follower orders-0 starts at leader epoch 2 from offset 17 with partition "
        "epoch 3 and high watermark 16. Current leader is 4. Previous leader Some(4) and previous "
        "leader epoch was 2.",
    ),
    Template(
        "become_skipped_3",
        "obeyed",
        STATE,
        "Skipped the become-{to_state=leader|follower} state change for {tp} with topic id {...} "
        "since it is already {...} with leader epoch {leader_epoch}.{...}",
        "[Broker id=5] Skipped the become-leader state change for orders-0 with topic id None and "
        "partition state LeaderAndIsrPartitionState(topicName='orders') since it is already the "
        "leader with leader epoch 2.",
    ),
    # What becomes of a partition whose leader epoch stays, and of one whose topic is another.
    Template(
        "step_skipped_for_topic_id",
        "obeyed",
        STATE,
        "{...=Updating (?:log|PartitionFetchState) for} {tp} to {...=assign|remove log} topic ID "
        "{...} LeaderAndIsr request " + _BY,
        "[Broker id=5] Updating log for orders-0 to assign topic ID q8Xn2YpPQbOe7Xk1mG4dqA from "
        "LeaderAndIsr request from controller 4 with correlation id 3 epoch 7",
    ),
    Template(
        "other_topic_id",
        "request_refused",
        STATE,
        "Topic ID in memory: {...} does not match the topic ID for partition {tp} received: "
        "{detail}.",
        "[Broker id=5] Topic ID in memory: q8Xn2YpPQbOe7Xk1mG4dqA does not match the topic ID for "
        "partition orders-0 received: aP2JrbQPOYRUUoHz7CgxXw.",
    ),
    Template(
        "isr_removed_3",
        "isr_removed",
        STATE,
        "Partition {tp} state changed to (Leader:{leader},ISR:{isr},LeaderRecoveryState:{...=\\w+},"
        "LeaderEpoch:{leader_epoch},ZkVersion:{version},ControllerEpoch:{state_epoch}) after "
        "removing replica {replica} from the ISR as part of transition to OfflineReplica",
        "[Controller id=4 epoch=7] Partition orders-0 state changed to (Leader:4,ISR:4,"
        "LeaderRecoveryState:RECOVERED,LeaderEpoch:1,ZkVersion:2,ControllerEpoch:7) after removing "
        "replica 5 from the ISR as part of transition to OfflineReplica",
    ),
    Template(
        "truncates_to_state",
        "truncation_chosen",
        FETCHER,
        "Truncating partition {tp} with TruncationState({...=offset=}{offset}, {...}) due to "
        "{...=local high watermark|leader epoch and offset} {...}",
        "[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] Truncating partition orders-0 with "
        "TruncationState(offset=16, completed=true) due to local high watermark 16",
    ),
    Template(
        "isr_updated_3",
        "isr_updated",
        PARTITION,
        "ISR updated to {isr=[\\d,]*} {...=(?:\\(under-min-isr\\))? ?}and version updated to "
        "{...=\\[?}{version}{...=\\]?}",
        "[Partition orders-0 broker=5] ISR updated to 5,4  and version updated to 3",
    ),
    Template(
        "truncated_3",
        "log_truncated",
        UNIFIED,
        "Truncating to offset {offset}",
        "[UnifiedLog partition=orders-0, dir=/data] Truncating to offset 16",
    ),
    Template(
        "producer_state_loaded_3",
        "log_loaded",
        UNIFIED,
        "Loading producer state till offset {offset} with message format version {...}",
        "[LogLoader partition=orders-0, dir=/data] Loading producer state till offset 16 with "
        "message format version 2",
    ),
    Template(
        "log_start_raised_3",
        "log_start_raised",
        UNIFIED,
        "Incremented log start offset to {offset}{...=.*}",
        "[UnifiedLog partition=orders-0, dir=/data] Incremented log start offset to 16 due to "
        "segment deletion",
    ),
    Template(
        "nothing_to_truncate_3",
        "truncation_without_effect",
        UNIFIED,
        "Truncating to {offset} has no effect as the largest offset in the log is {detail=-?\\d+}",
        "[UnifiedLog partition=orders-0, dir=/data] Truncating to 16 has no effect as the largest "
        "offset in the log is 15",
    ),
)
