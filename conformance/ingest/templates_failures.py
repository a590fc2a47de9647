"""Templates of lines after which a thread has stopped its task, and of raised leader epochs.

If a thread failed between two lines that belong together, the second is not logged
(`pipeline.rules_missing`). Sources: KafkaController, ControllerEventManager, ReplicaManager; in
0.9 and 0.10 the listeners of PartitionStateMachine and ReplicaStateMachine.
"""

from __future__ import annotations

from conformance.ingest.notation import Template
from conformance.ingest.templates_before_2 import BROKERS
from conformance.ingest.templates_controller import CONTROLLER, EVENT_THREAD, STATE

_FAILED = "Error processing event {detail}"
_TASK_FAILED = "Uncaught exception in scheduled task '{detail}'"

TEMPLATES = (
    Template(
        "event_failed",
        "step_failed",
        CONTROLLER,
        _FAILED,
        "[Controller id=4] Error processing event BrokerChange",
    ),
    Template(
        "event_failed_before_2_3",
        "step_failed",
        EVENT_THREAD,
        _FAILED,
        "[ControllerEventThread controllerId=4] Error processing event BrokerChange",
    ),
    Template(
        "election_failed",
        "step_failed",
        CONTROLLER,
        "Error while electing or becoming controller on broker {detail}",
        "[Controller id=4] Error while electing or becoming controller on broker 4",
    ),
    Template(
        "broker_change_failed",
        "step_failed",
        BROKERS,
        "Error while handling broker changes",
        "[BrokerChangeListener on Controller 4]: Error while handling broker changes",
    ),
    Template(
        "topic_change_failed",
        "step_failed",
        "kafka.controller.PartitionStateMachine$TopicChangeListener",
        "Error while handling new topic",
        "[TopicChangeListener on Controller 4]: Error while handling new topic",
    ),
    Template(
        "request_failed",
        "step_failed",
        STATE,
        "Error while processing LeaderAndIsr request {detail}",
        "[Broker id=5] Error while processing LeaderAndIsr request correlationId 3 received from "
        "controller 4 epoch 7 for partition orders-0",
    ),
    Template(
        "request_failed_before_1_0",
        "step_failed",
        STATE,
        "Error on broker {broker} while processing LeaderAndIsr request {detail}",
        "Error on broker 5 while processing LeaderAndIsr request correlationId 3 received from "
        "controller 4 epoch 7 for partition [orders,0]",
    ),
    Template(
        "task_failed",
        "step_failed",
        "kafka.utils.KafkaScheduler",
        _TASK_FAILED,
        "Uncaught exception in scheduled task 'isr-expiration'",
    ),
    Template(
        "task_failed_3",
        "step_failed",
        "org.apache.kafka.server.util.KafkaScheduler",
        _TASK_FAILED,
        "Uncaught exception in scheduled task 'isr-expiration'",
    ),
    Template(
        "leader_epoch_raised",
        "leader_epoch_raised",
        CONTROLLER,
        "Updated leader epoch for partition {tp} to {leader_epoch}{...}",
        "[Controller id=4] Updated leader epoch for partition orders-0 to 3",
    ),
    Template(
        "moved_replicas_sent",
        "leader_epoch_raised",
        STATE,
        "Sent LeaderAndIsr request (Leader:{leader},ISR:{isr},LeaderEpoch:{leader_epoch},"
        "ControllerEpoch:{state_epoch}) with new {...} for partition being reassigned {tp}",
        "[Controller id=4 epoch=7] Sent LeaderAndIsr request (Leader:4,ISR:4,5,LeaderEpoch:3,"
        "ControllerEpoch:7) with new replica assignment ReplicaAssignment(replicas=4,5,6, "
        "addingReplicas=6, removingReplicas=) to leader 4 for partition being reassigned orders-0",
    ),
    Template(
        "moved_replicas_sent_2_7",
        "leader_epoch_raised",
        STATE,
        "Sent LeaderAndIsr request (Leader:{leader},ISR:{isr},{...}LeaderEpoch:{leader_epoch},"
        "ZkVersion:{version},ControllerEpoch:{state_epoch}) with new {...} for partition "
        "being reassigned {tp}",
        "[Controller id=4 epoch=7] Sent LeaderAndIsr request (Leader:4,ISR:4,5,LeaderEpoch:3,"
        "ZkVersion:4,ControllerEpoch:7) with new replica assignment ReplicaAssignment(replicas=4,"
        "5,6, addingReplicas=6, removingReplicas=) to leader 4 for partition being reassigned "
        "orders-0",
    ),
)
