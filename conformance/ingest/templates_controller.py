"""Templates of a controller's lines about itself and its decisions, releases 2.0 to 2.8.

Sources: KafkaController, TopicDeletionManager, PartitionStateMachine, ReplicaStateMachine and
ControllerChannelManager, which log to controller.log and state-change.log.
"""

from __future__ import annotations

from conformance.ingest.notation import Template

CONTROLLER = "kafka.controller.KafkaController"
DELETION = "kafka.controller.TopicDeletionManager"
EVENT_THREAD = "kafka.controller.ControllerEventManager$ControllerEventThread"
STATE = "state.change.logger"

_STATE = (
    "{...}PartitionState({again}controllerEpoch={state_epoch}, leader={leader}, "
    "leaderEpoch={leader_epoch}, isr={isr}, zkVersion={version}, replicas={replicas}, {...}"
)

CONTROLLERSHIP = (
    Template(
        "elected",
        "controller_elected",
        CONTROLLER,
        "{controller} successfully elected as the controller. Epoch incremented to "
        "{controller_epoch} and epoch zk version is now {version}",
        "[Controller id=4] 4 successfully elected as the controller. Epoch incremented to 7 and "
        "epoch zk version is now 7",
    ),
    Template(
        "elected_without_epoch",
        "controller_won",
        CONTROLLER,
        "{controller} successfully elected as the controller",
        "[Controller id=4] 4 successfully elected as the controller",
    ),
    Template(
        "epoch_incremented",
        "controller_elected",
        CONTROLLER,
        "{...=Incremented epoch|Epoch incremented} to {controller_epoch}",
        "[Controller id=4] Epoch incremented to 7",
    ),
    Template(
        "epoch_initialized",
        "controller_epoch_read",
        CONTROLLER,
        "Initialized controller epoch to {controller_epoch} and zk version {version}",
        "[Controller id=4] Initialized controller epoch to 6 and zk version 5",
    ),
    Template(
        "ready",
        "controller_ready",
        CONTROLLER,
        "Ready to serve as the new controller with epoch {controller_epoch}",
        "[Controller id=4] Ready to serve as the new controller with epoch 7",
    ),
    Template(
        "resigned", "controller_resigned", CONTROLLER, "Resigned", "[Controller id=4] Resigned"
    ),
    Template(
        "other_is_controller",
        "controller_lost",
        CONTROLLER,
        "Broker {controller} has been elected as the controller, so stopping the election process.",
        "[Controller id=4] Broker 5 has been elected as the controller, so stopping the election "
        "process.",
    ),
    Template(
        "other_was_elected",
        "controller_lost",
        CONTROLLER,
        "Broker {controller} was elected as controller instead of broker {replica}",
        "[Controller id=4] Broker 5 was elected as controller instead of broker 4",
    ),
    Template(
        "moved",
        "controller_moved",
        CONTROLLER,
        "Controller moved to another broker when processing {detail}.",
        "[Controller id=4] Controller moved to another broker when processing BrokerChange.",
    ),
    Template(
        "event_thread",
        "process_controller_thread",
        EVENT_THREAD,
        "{to_state=Starting|Stopped}",
        "[ControllerEventThread controllerId=4] Starting",
    ),
    Template(
        "feature_znode",
        "zookeeper_is_new",
        CONTROLLER,
        "Creating FeatureZNode at path: {detail}",
        "[Controller id=4] Creating FeatureZNode at path: /feature with contents: "
        "FeatureZNode(Enabled,Features{})",
    ),
    Template(
        "broker_epochs",
        "broker_epochs",
        CONTROLLER,
        "{...=Initialized|Updated} broker epochs cache: {collection}({detail})",
        "[Controller id=4] Initialized broker epochs cache: HashMap(4 -> 31, 5 -> 48)",
    ),
    Template(
        "brokers_changed",
        "brokers_changed",
        CONTROLLER,
        "Newly added brokers: {detail}",
        "[Controller id=4] Newly added brokers: 5, deleted brokers: , bounced brokers: , "
        "all live brokers: 4,5",
    ),
    Template(
        "broker_startup",
        "brokers_changed",
        CONTROLLER,
        "New broker startup callback for {detail}",
        "[Controller id=4] New broker startup callback for 5",
    ),
    Template(
        "broker_failure",
        "brokers_changed",
        CONTROLLER,
        "Broker failure callback for {detail}",
        "[Controller id=4] Broker failure callback for 5",
    ),
)

CHANNELS = (
    Template(
        "channel_connected",
        "channel_connected",
        "kafka.controller.RequestSendThread",
        "Controller {controller} connected to {detail} for sending state change requests",
        "[RequestSendThread controllerId=4] Controller 4 connected to h5:9092 (id: 5 rack: null) "
        "for sending state change requests",
    ),
)

TOPICS = (
    Template(
        "topics_changed",
        "topics_changed",
        CONTROLLER,
        "New topics: [{detail}]",
        "[Controller id=4] New topics: [Set(orders)], deleted topics: [Set()], new partition "
        "replica assignment [Map(orders-0 -> Vector(4, 5))]",
    ),
    Template(
        "partitions_created",
        "partitions_created",
        CONTROLLER,
        "New partition creation callback for {detail}",
        "[Controller id=4] New partition creation callback for orders-0,orders-1",
    ),
    Template(
        "partitions_added",
        "partitions_added",
        CONTROLLER,
        "New partitions to be added {detail}",
        "[Controller id=4] New partitions to be added Map(orders-2 -> Vector(4))",
    ),
    Template(
        "deletion_starting",
        "topic_deletion",
        CONTROLLER,
        "Starting topic deletion for topics {detail}",
        "[Controller id=4] Starting topic deletion for topics orders",
    ),
    Template(
        "deletion_handled",
        "topic_deletion",
        DELETION,
        "Handling deletion for topics {detail}",
        "[Topic Deletion Manager 4] Handling deletion for topics orders",
    ),
    Template(
        "deletion_started",
        "topic_deletion",
        DELETION,
        "Deletion of topic {topic} (re)started",
        "[Topic Deletion Manager 4] Deletion of topic orders (re)started",
    ),
    Template(
        "deleted",
        "topic_deleted",
        DELETION,
        "Deletion of topic {topic} successfully completed",
        "[Topic Deletion Manager 4] Deletion of topic orders successfully completed",
    ),
    Template(
        "isr_accepted",
        "isr_accepted",
        CONTROLLER,
        "ISR for partition {tp} updated to {isr} and zkVersion updated to [{version}]",
        "[Controller id=4] ISR for partition orders-0 updated to [4,5] and zkVersion updated to "
        "[9]",
    ),
    Template(
        "isr_written",
        "isr_written",
        CONTROLLER,
        'New leader and ISR for partition {tp} is {"leader":{leader},"leader_epoch":{leader_epoch},'
        '"isr":{isr}}',
        "[Controller id=4] New leader and ISR for partition orders-0 is "
        '{"leader":4,"leader_epoch":1,"isr":[4]}',
    ),
    Template(
        "preferred_done",
        "preferred_election",
        CONTROLLER,
        "Partition {tp} completed preferred replica leader election. New leader is {leader}",
        "[Controller id=4] Partition orders-0 completed preferred replica leader election. "
        "New leader is 5",
    ),
)

CHANGES = (
    Template(
        "partition_new",
        "partition_changed",
        STATE,
        "Changed partition {tp} state from {from_state} to {to_state=NewPartition} with assigned "
        "replicas {replicas}",
        "[Controller id=4 epoch=7] Changed partition orders-0 state from NonExistentPartition to "
        "NewPartition with assigned replicas 4,5",
    ),
    Template(
        "partition_elected",
        "partition_changed",
        STATE,
        "Changed partition {tp} from {from_state} to {to_state} with state LeaderAndIsr(leader="
        "{leader}, leaderEpoch={leader_epoch}, isr={collection}({isr}), zkVersion={version})",
        "[Controller id=4 epoch=7] Changed partition orders-0 from NewPartition to OnlinePartition "
        "with state LeaderAndIsr(leader=4, leaderEpoch=0, isr=List(4, 5), zkVersion=0)",
    ),
    Template(
        "partition_moved",
        "partition_changed",
        STATE,
        "Changed partition {tp} state from {from_state} to {to_state}",
        "[Controller id=4 epoch=7] Changed partition orders-0 state from OnlinePartition to "
        "OfflinePartition",
    ),
    Template(
        "isr_removed",
        "isr_removed",
        STATE,
        "Partition {tp} state changed to (Leader:{leader},ISR:{isr},LeaderEpoch:{leader_epoch},"
        "ControllerEpoch:{state_epoch}) after removing replica {replica} from the ISR as part of "
        "transition to OfflineReplica",
        "[Controller id=4 epoch=7] Partition orders-0 state changed to (Leader:4,ISR:4,LeaderEpoch"
        ":1,ControllerEpoch:7) after removing replica 5 from the ISR as part of transition to "
        "OfflineReplica",
    ),
    Template(
        "isr_removed_2_7",
        "isr_removed",
        STATE,
        "Partition {tp} state changed to (Leader:{leader},ISR:{isr},LeaderEpoch:{leader_epoch},"
        "ZkVersion:{version},ControllerEpoch:{state_epoch}) after removing replica {replica} from "
        "the ISR as part of transition to OfflineReplica",
        "[Controller id=4 epoch=7] Partition orders-0 state changed to (Leader:4,ISR:4,LeaderEpoch"
        ":1,ZkVersion:2,ControllerEpoch:7) after removing replica 5 from the ISR as part of "
        "transition to OfflineReplica",
    ),
    Template(
        "replica_moved",
        "replica_changed",
        STATE,
        "Changed state of replica {replica} for partition {tp} from {from_state} to {to_state}",
        "[Controller id=4 epoch=7] Changed state of replica 5 for partition orders-0 from "
        "NewReplica to OnlineReplica",
    ),
    Template(
        "change_failed",
        "change_failed",
        STATE,
        "Controller {controller} epoch {known_epoch} failed to change state for partition "
        "{tp} from {from_state} to {to_state}",
        "[Controller id=4 epoch=7] Controller 4 epoch 7 failed to change state for partition "
        "orders-0 from OfflinePartition to OnlinePartition",
    ),
    Template(
        "change_refused",
        "change_failed",
        STATE,
        "Controller {controller} epoch {known_epoch} initiated state change {...} failed",
        "[Controller id=4 epoch=7] Controller 4 epoch 7 initiated state change for partition "
        "orders-0 from NewPartition to OfflinePartition failed",
    ),
)

REQUESTS = (
    Template(
        "leader_and_isr_sent",
        "leader_and_isr_sent",
        STATE,
        "Sending become-{detail=leader|follower} LeaderAndIsr request "
        + _STATE
        + "isNew={is_new}{...}) to broker {replica} for partition {tp}",
        "[Controller id=4 epoch=7] Sending become-leader LeaderAndIsr request "
        "LeaderAndIsrPartitionState(topicName='orders', partitionIndex=0, controllerEpoch=7, "
        "leader=4, leaderEpoch=1, isr=[4, 5], zkVersion=1, replicas=[4, 5], addingReplicas=[], "
        "removingReplicas=[], isNew=true) to broker 4 for partition orders-0",
    ),
    Template(
        "leader_and_isr_batch",
        "leader_and_isr_batch",
        STATE,
        "Sending LeaderAndIsr request to broker {replica} with "
        "{detail=\\d+ become-leader and \\d+} become-follower partitions",
        "[Controller id=4 epoch=7] Sending LeaderAndIsr request to broker 5 with 1 become-leader "
        "and 2 become-follower partitions",
    ),
    Template(
        "metadata_sent",
        "metadata_sent",
        STATE,
        "Sending UpdateMetadata request "
        + _STATE.removesuffix("{...}")
        + "offlineReplicas={offline}{...}) to brokers {detail} for partition {tp}",
        "[Controller id=4 epoch=7] Sending UpdateMetadata request UpdateMetadataPartitionState("
        "topicName='orders', partitionIndex=0, controllerEpoch=7, leader=4, leaderEpoch=1, "
        "isr=[4, 5], zkVersion=1, replicas=[4, 5], offlineReplicas=[]) to brokers Set(4, 5) for "
        "partition orders-0",
    ),
    Template(
        "metadata_batch",
        "metadata_batch",
        STATE,
        "Sending UpdateMetadata request to brokers {detail=.* for \\d+} partitions",
        "[Controller id=4 epoch=7] Sending UpdateMetadata request to brokers Set(4, 5) for 3 "
        "partitions",
    ),
    Template(
        "stop_replica_sent",
        "stop_replica_sent",
        STATE,
        "Sending StopReplica request {detail} to broker {replica}",
        "[Controller id=4 epoch=7] Sending StopReplica request for 2 replicas to broker 5",
    ),
    Template(
        "stop_replica_sent_2_6",
        "stop_replica_sent",
        STATE,
        "Sending StopReplica request {detail} to broker {replica} for partition {tp}",
        "[Controller id=4 epoch=7] Sending StopReplica request StopReplicaPartitionState("
        "partitionIndex=0, leaderEpoch=1, deletePartition=true) to broker 5 for partition orders-0",
    ),
    Template(
        "response_before_1_0",
        "response_received",
        STATE,
        "Received response {detail} for {...=request [A-Z_]+|a request} sent to broker {...}",
        "Controller 4 epoch 7 received response {error_code=0} for a request sent to broker "
        "host4:9092 (id: 4 rack: null)",
    ),
    Template(
        "response",
        "response_received",
        STATE,
        "Received response {detail} for request {...=[A-Z_]+} with correlation id {correlation} "
        "sent to broker {...=\\S+ \\(id: }{replica} rack: {...})",
        "[Controller id=4 epoch=7] Received response {error_code=0,_tagged_fields={}} for request "
        "UPDATE_METADATA with correlation id 0 sent to broker host4:9092 (id: 4 rack: null)",
    ),
)

TEMPLATES = CONTROLLERSHIP + CHANNELS + TOPICS + CHANGES + REQUESTS
