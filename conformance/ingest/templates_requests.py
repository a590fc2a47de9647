"""Templates of a broker's lines about the controller's requests, releases 2.0 to 2.8.

Sources: ReplicaManager and MetadataCache, which log to state-change.log.
"""

from __future__ import annotations

from conformance.ingest.notation import Template
from conformance.ingest.templates_controller import STATE

BY = "from controller {controller} epoch {controller_epoch}"
_WITH = BY + " with correlation id {correlation}"
METADATA = (
    "in response to UpdateMetadata request sent by controller {controller} epoch "
    "{controller_epoch} with correlation id {correlation}"
)
_STATE = (
    "controllerEpoch={state_epoch}, leader={leader}, leaderEpoch={leader_epoch}, isr={isr}, "
    "zkVersion={version}, replicas={replicas}, {...}"
)

REQUESTS = (
    Template(
        "received_by_name",
        "leader_and_isr_received",
        STATE,
        "Received LeaderAndIsr request {...}PartitionState(topicName='{topic}', partitionIndex="
        "{partition}, " + _STATE + "isNew={is_new}{...}) correlation id {correlation} " + BY,
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
        "correlation id {correlation} " + BY + " for partition {tp}",
        "[Broker id=5] Received LeaderAndIsr request PartitionState(controllerEpoch=7, leader=4, "
        "leaderEpoch=1, isr=4,5, zkVersion=1, replicas=4,5, isNew=true) correlation id 3 from "
        "controller 4 epoch 7 for partition orders-0",
    ),
    Template(
        "handling",
        "leader_and_isr_handling",
        STATE,
        "Handling LeaderAndIsr request correlationId {correlation} " + BY + " starting the "
        "become-{to_state} transition for partition {tp}{detail=| with leader -?\\d+}",
        "[Broker id=5] Handling LeaderAndIsr request correlationId 3 from controller 4 epoch 7 "
        "starting the become-follower transition for partition orders-0 with leader 4",
    ),
    Template(
        "handling_batch",
        "leader_and_isr_batch_handled",
        STATE,
        "Handling LeaderAndIsr request correlationId {correlation} from controller {controller} "
        "for {detail=\\d+} partitions",
        "[Broker id=5] Handling LeaderAndIsr request correlationId 3 from controller 4 for 2 "
        "partitions",
    ),
    Template(
        "finished_batch",
        "leader_and_isr_batch_handled",
        STATE,
        "Finished LeaderAndIsr request in {count}ms correlationId {correlation} from controller "
        "{controller} for {detail=\\d+} partitions",
        "[Broker id=5] Finished LeaderAndIsr request in 68ms correlationId 3 from controller 4 for "
        "2 partitions",
    ),
    Template(
        "completed",
        "leader_and_isr_applied",
        STATE,
        "Completed LeaderAndIsr request correlationId {correlation} " + BY + " for the "
        "become-{to_state} transition for partition {tp}{detail=| with leader -?\\d+}",
        "[Broker id=5] Completed LeaderAndIsr request correlationId 3 from controller 4 epoch 7 "
        "for the become-leader transition for partition orders-0",
    ),
    Template(
        "fetchers_stopped",
        "obeyed",
        STATE,
        "Stopped fetchers as part of become-{to_state} request " + _WITH + " for {detail}",
        "[Broker id=5] Stopped fetchers as part of become-follower request from controller 4 "
        "epoch 7 with correlation id 3 for 2 partitions",
    ),
    Template(
        "fetchers_stopped_for_leader",
        "obeyed",
        STATE,
        "Stopped fetchers as part of LeaderAndIsr request correlationId {correlation} "
        + BY
        + " as part of the become-{to_state} transition for {detail}",
        "[Broker id=5] Stopped fetchers as part of LeaderAndIsr request correlationId 3 from "
        "controller 4 epoch 7 as part of the become-leader transition for 1 partitions",
    ),
    Template(
        "truncated_to_follow",
        "obeyed",
        STATE,
        "Truncated logs and checkpointed recovery boundaries for partition {tp} as part of "
        "become-follower request with correlation id {correlation} "
        + BY
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
        + BY
        + " for partition {tp} {...}",
        "[Broker id=5] Skipped the become-leader state change after marking its partition as "
        "leader with correlation id 3 from controller 4 epoch 7 for partition orders-0 (last "
        "update controller epoch 7) since it is already the leader for the partition.",
    ),
    Template(
        "leader_unavailable",
        "obeyed",
        STATE,
        "Received LeaderAndIsrRequest with correlation id {correlation} " + BY + " for partition "
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
        "Cached leader info {...}PartitionState({again}"
        + _STATE.removesuffix("{...}")
        + "offlineReplicas={offline}{...}) for partition {tp} "
        + METADATA,
        "[Broker id=5] Cached leader info UpdateMetadataPartitionState(topicName='orders', "
        "partitionIndex=0, controllerEpoch=7, leader=4, leaderEpoch=1, isr=[4, 5], zkVersion=1, "
        "replicas=[4, 5], offlineReplicas=[]) for partition orders-0 in response to UpdateMetadata "
        "request sent by controller 4 epoch 7 with correlation id 4",
    ),
    Template(
        "metadata_dropped",
        "obeyed",
        STATE,
        "Deleted partition {tp} from metadata cache " + METADATA,
        "[Broker id=5] Deleted partition orders-0 from metadata cache in response to "
        "UpdateMetadata request sent by controller 4 epoch 7 with correlation id 4",
    ),
    Template(
        "metadata_batch_cached",
        "obeyed",
        STATE,
        "Add {detail=\\d+ partitions and deleted \\d+} partitions from metadata cache " + METADATA,
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

TEMPLATES = REQUESTS + REFUSALS
