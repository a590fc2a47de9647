"""Templates of lines that only a cluster with KRaft writes: KRaft's processes, and the migration.

Three kinds are distinguished. `kraft_seen`: a KRaft component runs in this process; the ZooKeeper
brokers of a migration (KIP-866, 3.4 to 3.9) have some of them too. `kraft_broker`: a broker applies
metadata from KRaft's log, and no controller sends it requests any more. `kraft_takes_over`: a KRaft
controller becomes the controller of a former ZooKeeper cluster. Sources: KafkaRaftServer,
BrokerServer, ControllerServer, SharedServer, QuorumController, KafkaRaftClient, MetadataLoader,
ReplicaManager.applyDelta, KafkaZkClient.tryRegisterKRaftControllerAsActiveController,
KRaftMigrationDriver, NodeToControllerChannelManager.
"""

from __future__ import annotations

import re
from functools import lru_cache

from conformance.ingest.notation import Template
from conformance.ingest.templates_broker import ZK
from conformance.ingest.templates_controller import STATE

SEEN, BROKER, TAKES_OVER = "kraft_seen", "kraft_broker", "kraft_takes_over"
KINDS = (SEEN, BROKER, TAKES_OVER)

_MIGRATION = "org.apache.kafka.metadata.migration.KRaftMigrationDriver"
_LOGGERS = (
    (
        BROKER,
        re.compile(
            r"kafka\.server\.BrokerServer|kafka\.server\.metadata\.BrokerMetadataPublisher\$?"
            r"|kafka\.server\.RaftReplica(?:Manager|ChangeDelegate)"
        ),
    ),
    (
        SEEN,
        re.compile(
            r"kafka\.server\.(?:KafkaRaftServer|ControllerServer|SharedServer|BrokerLifecycleManager"
            r"|ControllerRegistrationManager)\$?"
            r"|kafka\.raft\.\w+|org\.apache\.kafka\.(?:controller|image|raft)\.[\w.$]+"
            r"|kafka\.server\.metadata\.(?:BrokerMetadataListener|KRaftMetadataCache\$?)"
            r"|org\.apache\.kafka\.metadata\.(?:KRaftMetadataCache|migration\.[\w.$]+)"
        ),
    ),
)


def _state(name: str, text: str, example: str) -> Template:
    return Template(name, BROKER, STATE, text, f"[Broker id=5] {example}")


TEMPLATES = (
    Template(
        "kraft_registered",
        TAKES_OVER,
        ZK,
        "Successfully registered KRaft controller {controller} with ZK epoch {controller_epoch}",
        "Successfully registered KRaft controller 3000 with ZK epoch 8",
    ),
    Template(
        "kraft_overwrites",
        TAKES_OVER,
        ZK,
        "KRaft controller {controller} {...=overwriting|creating} /controller to become the active "
        "controller with ZK epoch {controller_epoch}. {...}",
        "KRaft controller 3000 overwriting /controller to become the active controller with ZK "
        "epoch 8. The previous controller was 4.",
    ),
    Template(
        "kraft_migrates",
        TAKES_OVER,
        _MIGRATION,
        "{controller} transitioning from {from_state} to "
        "{to_state=ZK_MIGRATION|SYNC_KRAFT_TO_ZK|KRAFT_CONTROLLER_TO_BROKER_COMM|DUAL_WRITE} state",
        "[KRaftMigrationDriver id=3000] 3000 transitioning from BECOME_CONTROLLER to ZK_MIGRATION "
        "state",
    ),
    Template(
        "kraft_controller_recorded",
        TAKES_OVER,
        "kafka.server.NodeToControllerRequestThread",
        "Recorded new KRaft controller, from now on will use node {detail}",
        "[zk-broker-5-to-controller-forwarding-channel-manager]: Recorded new KRaft controller, "
        "from now on will use node host9:9093 (id: 3000 rack: null)",
    ),
    Template(
        "kraft_full_request",
        TAKES_OVER,
        STATE,
        "While handling full LeaderAndIsr request from KRaft controller {controller} with {...}",
        "[Broker id=5] While handling full LeaderAndIsr request from KRaft controller 3000 with "
        "correlation id 3, found 1 topic(s) that are not in it",
    ),
    _state(
        "kraft_transition",
        "Transitioning {count} partition(s) to local {to_state=leaders|followers}.",
        "Transitioning 4 partition(s) to local leaders.",
    ),
    _state(
        "kraft_new_partition",
        "Creating new partition {detail} with topic id {...}",
        "Creating new partition orders-0 with topic id q8Xn2YpPQbOe7Xk1mG4dqA.",
    ),
    _state("kraft_deletes", "Deleting {count} partition(s).", "Deleting 3 partition(s)."),
    _state(
        "kraft_fetchers",
        "{...=Stopped|Started} fetchers as part of become-{to_state=leader|follower} for {count} "
        "partitions",
        "Stopped fetchers as part of become-follower for 2 partitions",
    ),
    _state(
        "kraft_batch",
        "Metadata batch {offset}: {...}",
        "Metadata batch 52: applied 3 partitions: 2 leader(s) and 1 follower(s)",
    ),
    _state(
        "kraft_deferred",
        "Metadata changes are {...=now|no longer} being deferred",
        "Metadata changes are now being deferred",
    ),
)


@lru_cache(maxsize=4096)
def kind_of(logger: str) -> str | None:
    """The kind of a line without a template, from its logger alone; None if it is not KRaft's.

    KRaft is recognised by any line of its components, in future releases as well.
    """
    if "raft" not in logger and not logger.startswith(("kafka.server.", "org.apache.kafka.")):
        return None
    return next((kind for kind, pattern in _LOGGERS if pattern.fullmatch(logger)), None)
