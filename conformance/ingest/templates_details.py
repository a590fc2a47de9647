"""Templates of lines that tell more of what other lines tell, releases 0.10 to 3.9.

Of a log: what it is loaded with, and its segments. Of a broker: for which partitions it coordinates
groups, their generations, and its blocks of producer ids. Of a controller: the brokers that it
counts, and how far leaders are from the preferred replicas. Sources: Log, LogManager,
GroupMetadataManager, GroupCoordinator, ProducerIdManager, KafkaController.
"""

from __future__ import annotations

from conformance.ingest.notation import Template
from conformance.ingest.templates_broker import FETCHERS, LOG, LOG_MANAGER, PARTITION
from conformance.ingest.templates_controller import CONTROLLER

_GROUPS = "kafka.coordinator.group."
_OF_LOG = "[Log partition=orders-0, dir=/data] "
_OF_GROUPS = "[GroupMetadataManager brokerId=5] "
_OFFSETS = "__consumer_offsets-7"

LOGS = (
    Template(
        "load_completed",
        "log_completed",
        LOG,
        "Completed load of log {...=|\\S+ }with {count} {...=|log }segments, log start offset "
        "{detail=\\d+} and log end offset {offset}{...}",
        _OF_LOG + "Completed load of log with 1 segments, log start offset 3 and log end offset 16 "
        "in 14 ms",
    ),
    Template(
        "load_completed_before_0_11",
        "log_completed",
        LOG,
        "Completed load of log {tp} with {count} log segments and log end offset {offset}{...}",
        "Completed load of log orders-0 with 1 log segments and log end offset 16 in 1 ms",
    ),
    Template(
        "load_completed_since_2_8",
        "log_completed",
        LOG_MANAGER,
        "Completed load of {...=\\w+}(dir={...}, topic={topic}, partition={partition}, "
        "highWatermark={high_watermark}, lastStableOffset={...}, logStartOffset={detail=\\d+}, "
        "logEndOffset={offset}) with {count} segments{...}",
        "Completed load of UnifiedLog(dir=/data/orders-0, topicId=q8Xn2YpPQbOe7Xk1mG4dqA, topic="
        "orders, partition=0, highWatermark=16, lastStableOffset=16, logStartOffset=3, "
        "logEndOffset=16) with 1 segments in 14ms, local-log-start-offset 0 (1/3 completed in "
        "/data)",
    ),
    *(
        Template(
            f"segment_rolled{since}",
            "segment_rolled",
            logger,
            "Rolled new log segment at offset {offset} in {...}",
            _OF_LOG + "Rolled new log segment at offset 16 in 3 ms.",
        )
        for since, logger in (("", LOG), ("_3", "kafka.log.LocalLog"))
    ),
    Template(
        "segments_deletable",
        "segments_deletable",
        LOG,
        "Found deletable segments with base offsets [{detail}] due to {...}",
        _OF_LOG + "Found deletable segments with base offsets [3,9] due to retention time "
        "604800000ms breach",
    ),
    Template(
        "high_watermark_unknown",
        "high_watermark_unknown",
        PARTITION,
        "No checkpointed highwatermark is found for partition {tp}",
        "[Partition orders-0 broker=5] No checkpointed highwatermark is found for partition "
        "orders-0",
    ),
)

COORDINATORS = (
    Template(
        "coordinator_loads",
        "coordinator_loads",
        _GROUPS + "GroupMetadataManager",
        "Scheduling loading of offsets and group metadata from {tp}{detail=(?: for epoch \\d+)?}",
        _OF_GROUPS + f"Scheduling loading of offsets and group metadata from {_OFFSETS} for epoch "
        "2",
    ),
    Template(
        "coordinator_loaded",
        "coordinator_loaded",
        _GROUPS + "GroupMetadataManager",
        "Finished loading offsets and group metadata from {tp} in {count} milliseconds"
        "{detail=(?: for epoch \\d+)?}{...}",
        _OF_GROUPS + f"Finished loading offsets and group metadata from {_OFFSETS} in 4 "
        "milliseconds for epoch 2, of which 1 milliseconds was spent in the scheduler.",
    ),
    Template(
        "coordinator_unloads",
        "coordinator_unloads",
        _GROUPS + "GroupMetadataManager",
        "Scheduling unloading of offsets and group metadata from {tp}",
        _OF_GROUPS + f"Scheduling unloading of offsets and group metadata from {_OFFSETS}",
    ),
    Template(
        "coordinator_unloaded",
        "coordinator_unloaded",
        _GROUPS + "GroupMetadataManager",
        "Finished unloading {tp}{...=(?: for coordinator epoch \\S+)?}. Removed {...}",
        _OF_GROUPS + f"Finished unloading {_OFFSETS}. Removed 0 cached offsets and 0 cached "
        "groups.",
    ),
    Template(
        "coordinator_loads_before_0_11",
        "coordinator_loads",
        "kafka.coordinator.GroupMetadataManager",
        "Loading offsets and group metadata from {tp}",
        f"[Group Metadata Manager on Broker 5]: Loading offsets and group metadata from {_OFFSETS}",
    ),
    Template(
        "coordinator_loaded_before_0_11",
        "coordinator_loaded",
        "kafka.coordinator.GroupMetadataManager",
        "Finished loading offsets from {tp} in {...}",
        f"[Group Metadata Manager on Broker 5]: Finished loading offsets from {_OFFSETS} in 4 "
        "milliseconds.",
    ),
    *(
        Template(
            f"transactions_{name}",
            f"coordinator_{kind}",
            "kafka.coordinator.transaction.TransactionStateManager",
            text,
            f"[Transaction State Manager 5]: {example}",
        )
        for name, kind, text, example in (
            (
                "load",
                "loads",
                "Loading transaction metadata from {tp}{...=(?: at epoch \\d+)?}",
                "Loading transaction metadata from __transaction_state-7 at epoch 2",
            ),
            (
                "loaded",
                "loaded",
                "Finished loading {count} transaction metadata from {tp} in {...}",
                "Finished loading 3 transaction metadata from __transaction_state-7 in 4 "
                "milliseconds, of which 1 milliseconds was spent in the scheduler.",
            ),
        )
    ),
    *(
        Template(
            f"coordinator_{change}{since}",
            f"coordinator_{change}",
            _GROUPS + "GroupCoordinator",
            f"{word} as the group coordinator for partition {{partition}}{text}",
            f"[GroupCoordinator 5]: {word} as the group coordinator for partition 7{example}",
        )
        for change, word in (("elected", "Elected"), ("resigned", "Resigned"))
        for since, text, example in (
            ("", "{detail=(?: in epoch \\d+)?}", " in epoch 2"),
            (
                "_perhaps_in_an_epoch",
                " in epoch {...=\\w+\\(?}{detail=\\d*}{...=\\)?}",
                " in epoch Some(2)",
            ),
        )
    ),
    *(
        Template(
            f"group_{change}",
            "group_generation",
            _GROUPS + "GroupCoordinator",
            text,
            f"[GroupCoordinator 5]: {example}",
        )
        for change, text, example in (
            (
                "prepares",
                "Preparing to rebalance group {detail=\\S+} {...=(?:in state \\w+ )?}with old "
                "generation {offset} ({tp}){...}",
                "Preparing to rebalance group shop in state PreparingRebalance with old generation "
                f"2 ({_OFFSETS}) (reason: a new member)",
            ),
            (
                "stabilized",
                "Stabilized group {detail=\\S+} generation {offset} ({tp}){...}",
                f"Stabilized group shop generation 3 ({_OFFSETS}) with 1 members",
            ),
            (
                "empty",
                "Group {detail=\\S+} with generation {offset} is now empty ({tp})",
                f"Group shop with generation 4 is now empty ({_OFFSETS})",
            ),
        )
    ),
    Template(
        "producer_ids",
        "producer_ids",
        "kafka.coordinator.transaction.ProducerIdManager",
        "Acquired new producerId block (brokerId:{replica},blockStartProducerId:{offset},"
        "blockEndProducerId:{detail=\\d+}) by writing to Zk with path version {version}",
        "[ProducerId Manager 5]: Acquired new producerId block (brokerId:5,blockStartProducerId:"
        "1000,blockEndProducerId:1999) by writing to Zk with path version 2",
    ),
)

CONTROLLERS = (
    *(
        Template(name, "brokers_counted", CONTROLLER, text, f"[Controller id=4] {example}")
        for name, text, example in (
            (
                "brokers_active",
                "Currently active brokers in the cluster: {collection}({replicas})",
                "Currently active brokers in the cluster: Set(4, 5)",
            ),
            ("broker_leaves", "Shutting down broker {replica}", "Shutting down broker 5"),
            (
                "brokers_leaving",
                "All shutting down brokers: {replicas=[\\d,]*}",
                "All shutting down brokers: 5",
            ),
            ("brokers_left", "Live brokers: {replicas=[\\d,]*}", "Live brokers: 4,6"),
        )
    ),
    *(
        Template(name, "imbalance", CONTROLLER, text, f"[Controller id=4] {example}")
        for name, text, example in (
            (
                "not_preferred",
                "Topics not in preferred replica for broker {replica} {detail}",
                "Topics not in preferred replica for broker 5 Map(orders-0 -> List(5, 4))",
            ),
            (
                "preferred_by_broker",
                "Preferred replicas by broker {collection}({replica} -> {collection}({tp} -> "
                "{collection}({replicas}{...}",
                "Preferred replicas by broker Map(5 -> Map(orders-0 -> List(5, 4)))",
            ),
            (
                "imbalance_ratio",
                "Leader imbalance ratio for broker {replica} is {detail=\\S+}",
                "Leader imbalance ratio for broker 5 is 0.25",
            ),
        )
    ),
)

OTHERS = (
    Template(
        "topic_creation",
        "topic_creation",
        "kafka.zk.AdminZkClient",
        "Creating topic {topic} with configuration {...} and initial partition assignment "
        "{collection}({detail})",
        "Creating topic orders with configuration {} and initial partition assignment HashMap(0 -> "
        "ArrayBuffer(4, 5), 1 -> ArrayBuffer(5, 4))",
    ),
    Template(
        "fetchers_removed",
        "fetchers_removed",
        FETCHERS,
        "Removed fetcher for partitions {detail}",
        "[ReplicaFetcherManager on broker 5] Removed fetcher for partitions Set(orders-0)",
    ),
)

TEMPLATES = LOGS + COORDINATORS + CONTROLLERS + OTHERS
