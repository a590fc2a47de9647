"""Findings, and the rules behind them, with their sources."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from specs.verdict import Finding as Finding
from specs.verdict import FindingKind as FindingKind

BREAKS = frozenset((FindingKind.VIOLATION, FindingKind.IMPOSSIBLE, FindingKind.KNOWN_BUG))
"""The kinds that say that the protocol was broken."""


@dataclass(frozen=True)
class Rule:
    """One rule of the control plane: `says` is its sentence, `allowed` goes into the finding.

    `needs` are the lines that it compares; without them it has compared nothing.
    """

    name: str
    says: str
    source: str
    allowed: str
    needs: str = ""


LEADER_EPOCHS_NEVER_GO_BACK = Rule(
    "leader_epochs_never_go_back",
    "every election of a partition's leader, and every removal from its ISR by a controller, "
    "raises its leader epoch; nothing lowers it while the topic lives",
    "KIP-101; PartitionStateMachine, ReplicaStateMachine",
    "a leader epoch above the last one written, or the creation of the topic anew",
    "states that controllers write or send (state-change.log)",
)
LEADER_IN_ISR = Rule(
    "leader_is_in_its_isr",
    "a leader is in the in-sync set that it is elected with, and never drops itself from it",
    "KAFKA-1211; Election.scala, Partition.maybeShrinkIsr",
    "a leader from the ISR, or -1 where nobody leads",
    "states with leader and ISR (state-change.log), ISR changes (server.log)",
)
CONTROLLER_EPOCHS_STRICTLY_GROW = Rule(
    "controller_epochs_strictly_grow",
    "each election of a controller takes the next controller epoch, and its holder writes with it",
    "KAFKA-6082; KafkaController.elect",
    "an epoch above the one before, or a new ZooKeeper",
    "elections (controller.log), what controllers write (state-change.log)",
)
ONE_OWNER = Rule(
    "one_owner_per_controller_epoch",
    "a controller epoch belongs to one broker",
    "KAFKA-6082; KafkaZkClient.registerControllerAndIncrementControllerEpoch",
    "the one broker that took this epoch",
    "lines that name a controller and its epoch (any of the three logs)",
)
NO_OLDER_CONTROLLER = Rule(
    "no_older_controller_is_obeyed",
    "a broker that has seen a controller epoch obeys no older one while its process lives",
    "ReplicaManager.becomeLeaderOrFollower, maybeUpdateMetadataCache, stopReplicas",
    "a request of the same or a newer controller epoch, or a refusal of the older one",
    "requests that brokers handle (state-change.log)",
)
NO_OLDER_LEADER_EPOCH = Rule(
    "no_older_leader_epoch_is_applied",
    "a replica that has applied a leader epoch applies no older one while the topic lives",
    "KIP-320, KIP-380; ReplicaManager.becomeLeaderOrFollower",
    "a leader epoch above the one held, or a refusal of the older one",
    "replicas that become leader or follower (state-change.log; server.log before 2.8)",
)
WRITERS_EPOCH = Rule(
    "state_carries_its_writers_epoch",
    "a partition's state is written with the controller epoch of its writer",
    "KAFKA-6082; KafkaZkClient.updateLeaderAndIsr",
    "the writer's own controller epoch; an older one in a state that it only passes on",
    "states with a controller epoch of their own (state-change.log)",
)
ONE_LEADER = Rule(
    "one_leader_per_leader_epoch",
    "a partition has one leader in each leader epoch",
    "KIP-101; PartitionStateMachine.doElectLeaderForPartitions",
    "the one leader of this epoch, or a higher epoch",
    "states of one leader epoch, or leaders that start in it (state-change.log)",
)
REFUSAL_JUSTIFIED = Rule(
    "only_older_epochs_are_refused",
    "a broker refuses a request as old only when the epoch it knows is not older",
    "ReplicaManager.becomeLeaderOrFollower",
    "to accept a request whose epoch is newer than the one known",
    "refusals of requests (state-change.log)",
)
ONE_STATE = Rule(
    "one_state_per_version",
    "all lines about a partition's state under one zkVersion agree",
    "conditional writes of ZooKeeper; ReplicationUtils.updateLeaderAndIsr",
    "the state that was written under this version",
    "states with a zkVersion (state-change.log, server.log)",
)
WRITE_FITS = Rule(
    "each_state_write_is_a_step_of_the_model",
    "from each version of a partition's state to the next there is a write that the model has",
    "replication: controller_elects_leader, controller_removes_replica, leader_shrinks_isr, "
    "leader_expands_isr",
    "a leader that drops or takes back replicas in its epoch, or a controller that elects an ISR "
    "member, or takes a replica out, under the next epoch",
    "states of neighbouring zkVersions (state-change.log, server.log)",
)
CONTROLLERSHIP_FITS = Rule(
    "controller_lines_are_a_run_of_the_model",
    "what brokers do to become controller, as controller, and at the orders of whoever is "
    "it, is a run that the model has",
    "election: all its steps; KAFKA-6082, KAFKA-532, KIP-380",
    "an election after a resignation, under the next epoch; acts and orders of who won it",
    "elections (controller.log), acts of controllers and brokers that obey (state-change.log)",
)
NO_TRUNCATION_BELOW_HIGH_WATERMARK = Rule(
    "no_truncation_below_the_high_watermark",
    "while its process lives, a replica neither truncates nor starts without a record that it, or "
    "its leader while the replica was in the ISR, knew to be committed",
    "KIP-101, KIP-279; AbstractFetcherThread.truncateToHighWatermark, Log.truncateTo, "
    "Partition.maybeShrinkIsr",
    "an offset that is not below its high watermark",
    "high watermarks and truncations of one replica (server.log, state-change.log)",
)
TRUNCATED_TO_EPOCH_END = Rule(
    "follower_truncates_to_the_end_of_its_epoch",
    "a follower truncates to where the leader's answer ends the follower's last epoch, which is "
    "not above the leader's log end at the start of the leader's epoch",
    "KIP-101, KIP-279; LeaderEpochFileCache.endOffsetFor, ReplicaFetcherThread.truncate",
    "an offset up to the log end with which the leader began its epoch",
    "truncations of followers, and log ends with which leaders start (1.1 and newer)",
)
WATERMARK_IN_LOG = Rule(
    "no_high_watermark_above_the_log",
    "a replica's high watermark is not above its log end, also after a truncation",
    "Partition.makeLeader, makeFollower; Log.truncateTo lowers the high watermark with the log",
    "a high watermark up to the log end",
    "lines with a log end and a high watermark (2.4 and newer)",
)
STARTS_FROM_LOG = Rule(
    "replica_starts_at_its_log_end",
    "a replica starts where its log ended, unless it was truncated since; a new log is empty; a "
    "follower first truncates to an offset below its end, which is the high watermark with which "
    "it started if no epoch decides",
    "Partition.makeLeader, makeFollower, maybeShrinkIsr; Log.truncateTo; "
    "AbstractFetcherThread.truncateToHighWatermark",
    "where the log ended last, or to where it was truncated since",
    "starts and shrunk ISRs with their offsets (state-change.log since 2.5, server.log) beside "
    "logs made and truncations (server.log)",
)
RENAMED = Rule(
    "a_deleted_log_is_renamed",
    "a log that is deleted has a new name, under which its files are removed later, before a log "
    "of its partition is made again; where it cannot be renamed, its directory is offline and "
    "nothing was deleted",
    "LogManager.asyncDelete, getOrCreateLog",
    "another name than the partition's own",
    "logs that are made or renamed (server.log, 0.10 and newer)",
)
DELETED_IN_FULL = Rule(
    "topic_deletion_ends_after_all_logs_are_deleted",
    "the deletion of a topic ends when every replica has answered that its log is deleted; one "
    "whose log cannot be renamed answers KAFKA_STORAGE_ERROR, and the deletion waits",
    "KIP-112; LogManager.asyncDelete, TopicDeletionManager.failReplicaDeletion",
    "a topic that stays until the broker begins anew with its log directory",
    "logs that could not be renamed (server.log), topics whose deletion ends (controller.log)",
)
FOLLOWS_AS_ANSWERED = Rule(
    "follower_takes_the_answered_high_watermark",
    "a follower's high watermark is its leader's, up to its own log's end: `follower_appends`",
    "ReplicaFetcherThread.processPartitionData",
    "the lesser of the leader's high watermark and the log's end",
    "what followers are answered (ReplicaFetcherThread at TRACE)",
)
FETCHES_FROM_ITS_END = Rule(
    "follower_fetches_from_its_log_end",
    "between two fetches a follower's log changes by what it appends or truncates",
    "ReplicaFetcherThread.processPartitionData, AbstractFetcherThread.truncateToHighWatermark",
    "a log that ends where the fetch before left it",
    "what followers are answered (ReplicaFetcherThread at TRACE)",
)
WATERMARK_NEVER_FALLS = Rule(
    "a_leaders_high_watermark_never_falls",
    "while a broker leads in an epoch its high watermark never falls: `hw_never_falls`",
    "Partition.maybeIncrementLeaderHW",
    "a high watermark no lower than the last",
    "high watermarks of leaders (Partition at DEBUG)",
)
TRUNCATED_AS_ANSWERED = Rule(
    "follower_truncates_to_the_answered_offset",
    "a follower truncates to no lower offset than its leader answered: `follower_truncates`",
    "ReplicaFetcherThread.truncate, KIP-101, KIP-279; answers of OffsetForLeaderEpoch",
    "an offset up to the end that was answered in that leader epoch",
    "truncations, and answers about epochs (kafka.request.logger at DEBUG or TRACE)",
)
LEADER_REFUSES_OTHER_EPOCHS = Rule(
    "leader_refuses_other_epochs",
    "a leader serves requests that name its leader epoch, and refuses an older or a newer one; "
    "its own epoch only rises",
    "KIP-320, KAFKA-9338; Partition.checkCurrentLeaderEpoch",
    "FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH for any other",
    "fetches and questions with a leader epoch (kafka.request.logger at DEBUG, 2.1 and newer)",
)
WITHIN_THE_LOG = Rule(
    "nothing_is_fetched_above_the_leaders_log_end",
    "while a broker leads in an epoch its log only grows; nobody is answered a fetch from above "
    "its end, and no high watermark is above it",
    "Log.read, Partition.maybeIncrementLeaderHW; OFFSET_OUT_OF_RANGE",
    "offsets up to the leader's log end",
    "fetches in a leader epoch, and log ends that its leader tells (kafka.request.logger at DEBUG)",
)
ENDS_AS_BEGAN = Rule(
    "leader_answers_where_epochs_ended",
    "a leader answers that an epoch ends where the next one of its log begins, which is not above "
    "where its own began; while it leads, no end falls, and a later epoch ends no earlier",
    "KIP-101, KIP-279; LeaderEpochFileCache.endOffsetFor",
    "the start of the next epoch in the leader's log",
    "answers about epochs (kafka.request.logger at DEBUG, 2.1 and newer)",
)
DATA_PLANE = (
    FOLLOWS_AS_ANSWERED,
    FETCHES_FROM_ITS_END,
    WATERMARK_NEVER_FALLS,
    TRUNCATED_AS_ANSWERED,
    LEADER_REFUSES_OTHER_EPOCHS,
    WITHIN_THE_LOG,
    ENDS_AS_BEGAN,
)
"""Rules that compare what brokers tell of their logs at DEBUG and TRACE alone."""
ISR_OF_REPLICAS = Rule(
    "isr_members_are_replicas",
    "the ISR holds brokers that the partition is assigned to",
    "Partition.maybeExpandIsr, ZkPartitionStateMachine.initializeLeaderAndIsrForPartitions",
    "an ISR out of the brokers that the partition is, or was, assigned to",
    "states with their replicas (state-change.log)",
)
VERSIONS_STRICTLY_GROW = Rule(
    "versions_strictly_grow",
    "each write of a partition's state raises its zkVersion, while the topic lives",
    "conditional writes of ZooKeeper; KafkaZkClient.updateLeaderAndIsr",
    "a zkVersion above the one before",
    "writes with their zkVersion (state-change.log since 1.1, ISR updates in server.log)",
)
LEADER_WRITES_ISR = Rule(
    "only_the_leader_changes_its_isr",
    "a broker that was made a follower changes no ISR of that partition",
    "Partition.maybeShrinkIsr, maybeExpandIsr: leaderReplicaIfLocal",
    "a change by the broker that leads the partition",
    "ISR changes (server.log) of brokers whose roles are logged (state-change.log)",
)
STARTS_ONCE = Rule(
    "a_replica_starts_once_in_a_leader_epoch",
    "a replica starts in a leader epoch once, as leader or as follower, while its process lives",
    "Partition.makeLeader, makeFollower; ReplicaManager.becomeLeaderOrFollower ignores the same "
    "leader epoch",
    "a higher leader epoch, or no start",
    "replicas that start (state-change.log since 2.6; leaders in server.log before)",
)
STATES_FOLLOW = Rule(
    "partition_state_changes_are_valid",
    "a controller moves a partition out of the state that it moved it into; what was deleted is "
    "created before it is online",
    "PartitionStateMachine; ControllerContext.putPartitionState",
    "a change from the state logged last, or the creation of the topic",
    "changes of partitions' states (state-change.log)",
)
STEPS_FOLLOW = Rule(
    "steps_are_logged_in_their_order",
    "a process logs each step after the one that it takes before: a request is received before it "
    "is handled, completed or refused; a replica changes from the state that it was moved into; a "
    "controller's callback is for what it has just found",
    "ReplicaManager.becomeLeaderOrFollower; ReplicaStateMachine.doHandleStateChanges; "
    "KafkaController.processBrokerChange, processTopicChange",
    "the line of the step before",
    "requests that are received and handled, changes of replicas' states (state-change.log at "
    "TRACE), callbacks of controllers (controller.log)",
)
BEGINS_AS_ASSIGNED = Rule(
    "new_partition_is_led_by_its_first_live_replica",
    "a new partition is led by the first of its replicas that are alive, which are its ISR, under "
    "leader epoch 0 and zkVersion 0",
    "ZkPartitionStateMachine.initializeLeaderAndIsrForPartitions; LeaderAndIsr.initialLeaderEpoch",
    "leader epoch 0, zkVersion 0, and the first member of the ISR as leader",
    "partitions that go online for the first time (state-change.log since 1.1)",
)
LINE_AGREES = Rule(
    "a_line_agrees_with_itself",
    "what a line shows twice it shows alike, and a change that it shows is one that there is",
    "PartitionState, ReplicaState (validPreviousStates); Partition.maybeShrinkIsr, Log.truncateTo",
    "one value in both places",
    "lines that name their writer, a partition or a state twice (any of the three logs)",
)
LOGGED_TWICE = Rule(
    "what_is_logged_twice_agrees",
    "what a thread logs in two lines, one after another, or from a queue, agrees: the log that is "
    "loaded and made, the partitions that a coordinator loads, numbers that rise one by one",
    "LogManager.getOrCreateLog, GroupMetadataManager, KafkaController, RequestSendThread",
    "the same in both lines",
    "lines of one process that tell the same (server.log, controller.log, state-change.log)",
)
REPLICAS_KEPT = Rule(
    "replicas_change_with_the_leader_epoch",
    "while a controller keeps a partition's leader epoch it keeps its replicas",
    "KafkaController.onPartitionReassignment, updateLeaderEpochAndSendRequest",
    "the replicas of the other lines in this leader epoch",
    "states with their replicas (state-change.log)",
)
OWN_LOG = Rule(
    "a_process_writes_its_own_log",
    "the lines of one logger of a process are in one log, its own",
    "log4j.properties: an appender a logger",
    "a line of the process whose log it is",
    "lines that name their writer (any of the three logs)",
)
REQUEST_AS_SENT = Rule(
    "a_request_is_handled_as_it_was_sent",
    "a broker receives what the controller sent to it, and becomes of it what it says",
    "ControllerChannelManager, RequestSendThread; ReplicaManager.becomeLeaderOrFollower",
    "the request as it was sent",
    "requests that are sent, received and handled (state-change.log at TRACE)",
)
HOLDS_AS_RECEIVED = Rule(
    "replica_has_the_epoch_of_its_last_request",
    "the leader epoch in which a replica starts, and that it says it holds, is one that a request "
    "had, the last that it took",
    "ReplicaManager.becomeLeaderOrFollower; Partition.makeLeader, makeFollower",
    "the leader epoch of the last request that was taken",
    "starts beside each other since 2.6; starts and refusals beside requests (state-change.log at "
    "TRACE; at INFO since 2.8)",
)
EPOCH_AS_REGISTERED = Rule(
    "a_broker_has_the_epoch_of_its_registration",
    "the epoch that a controller knows of a broker is the czxid under which that broker "
    "registered, which it does once in a session",
    "KIP-380; KafkaZkClient.registerBroker, ControllerContext.liveBrokerIdAndEpochs",
    "the czxid of the registration",
    "registrations (server.log) and caches of broker epochs (controller.log), since 2.2",
)
ISR_AS_ANNOUNCED = Rule(
    "written_isr_is_the_logged_one",
    "the ISR that a leader says it shrinks or expands to is the one that it then writes",
    "Partition.maybeShrinkIsr, maybeExpandIsr, updateIsr",
    "the ISR that was announced",
    "ISR changes and what was written of them (server.log)",
)
EPOCH_VERSION = Rule(
    "controller_epoch_and_its_version_rise_together",
    "each write of /controller_epoch raises the epoch and the zkVersion by one",
    "KafkaZkClient.registerControllerAndIncrementControllerEpoch",
    "an epoch as far from its zkVersion as the others",
    "elections that tell both (controller.log, 0.10 and newer)",
)
REQUEST_SEEN = Rule(
    "reassignment_request_is_handled",
    "a request that is written while a controller is elected is taken up, or refused, before "
    "what came after it",
    "KafkaController.processPartitionReassignment; watches of ZooKeeper, in the order of zxids",
    "a write of the controller for it: the topic's assignment, a partition's state, or the request",
    "requests in ZooKeeper's transaction log (version-2/log.*), made under a controller of it",
)
LINES_TOGETHER = Rule(
    "paired_lines_are_complete",
    "of lines that one thread always logs together, each is there, and in that order",
    "ReplicaManager, Partition, KafkaController, ControllerBrokerRequestBatch, KafkaServer",
    "both lines",
    "lines that are logged in pairs (any of the three logs)",
)
NO_LEADER_FROM_OUTSIDE_ISR = Rule(
    "no_leader_from_outside_the_isr",
    "a leader that was not in the ISR may lack what was committed: allowed where it is configured",
    "unclean.leader.election.enable; OfflinePartitionLeaderSelector (1.1+: Election)",
    "a leader from the ISR",
)
UNREAD = Rule(
    "protocol_lines_are_understood",
    "a judgement rests on lines that were understood",
    "the templates of this release",
    "at most one line in ten unknown",
)
FILE_ORDER = Rule(
    "files_are_in_the_order_of_their_names",
    "rolled files are older the higher their number, or the earlier their date, is",
    "log4j's DailyRollingFileAppender and RollingFileAppender",
    "names that ascend or descend with the stamps in the files",
)
ONE_CLUSTER = Rule(
    "one_cluster_in_a_folder",
    "the logs that are judged together are of one cluster",
    "KIP-78",
    "a folder a cluster",
)
KRAFT = Rule(
    "zookeeper_is_the_controllers_store",
    "lines are judged by the protocol of clusters with a ZooKeeper",
    "KIP-500, KIP-866",
    "logs of a cluster with a ZooKeeper, 0.9 to 3.9",
)

RULES: tuple[Rule, ...] = (
    LEADER_EPOCHS_NEVER_GO_BACK,
    LEADER_IN_ISR,
    CONTROLLER_EPOCHS_STRICTLY_GROW,
    ONE_OWNER,
    NO_OLDER_CONTROLLER,
    NO_OLDER_LEADER_EPOCH,
    WRITERS_EPOCH,
    ONE_LEADER,
    REFUSAL_JUSTIFIED,
    ONE_STATE,
    WRITE_FITS,
    CONTROLLERSHIP_FITS,
    NO_TRUNCATION_BELOW_HIGH_WATERMARK,
    TRUNCATED_TO_EPOCH_END,
    WATERMARK_IN_LOG,
    STARTS_FROM_LOG,
    RENAMED,
    DELETED_IN_FULL,
    *DATA_PLANE,
    ISR_OF_REPLICAS,
    VERSIONS_STRICTLY_GROW,
    LEADER_WRITES_ISR,
    STARTS_ONCE,
    STATES_FOLLOW,
    STEPS_FOLLOW,
    BEGINS_AS_ASSIGNED,
    LINE_AGREES,
    LOGGED_TWICE,
    REPLICAS_KEPT,
    OWN_LOG,
    REQUEST_AS_SENT,
    HOLDS_AS_RECEIVED,
    EPOCH_AS_REGISTERED,
    ISR_AS_ANNOUNCED,
    EPOCH_VERSION,
    REQUEST_SEEN,
    LINES_TOGETHER,
    NO_LEADER_FROM_OUTSIDE_ISR,
    UNREAD,
    FILE_ORDER,
    KRAFT,
    ONE_CLUSTER,
)

OF_CLUSTERS = frozenset(
    (
        CONTROLLER_EPOCHS_STRICTLY_GROW.name,
        ONE_OWNER.name,
        NO_OLDER_CONTROLLER.name,
        CONTROLLERSHIP_FITS.name,
        DELETED_IN_FULL.name,
        EPOCH_VERSION.name,
        EPOCH_AS_REGISTERED.name,
        REQUEST_SEEN.name,
        LINES_TOGETHER.name,
        LOGGED_TWICE.name,
    )
)
"""Rules that one partition's lines do not decide."""

JUDGING = tuple(rule for rule in RULES if rule.needs)
"""The rules that compare lines."""


FINDINGS = pa.schema(
    {
        "what": pa.string(),  # "finding", "clock", or what a count is of
        "cluster": pa.string(),
        "kind": pa.string(),
        "file": pa.string(),
        "line": pa.int64(),
        "rule": pa.string(),
        "why": pa.string(),
        "allowed": pa.string(),
        "positions": pa.list_(pa.string()),
        "count": pa.int64(),
        "broker": pa.int64(),  # of a clock, as in `Clock`
        "against": pa.int64(),
        "least": pa.int64(),
        "most": pa.int64(),
    }
)
