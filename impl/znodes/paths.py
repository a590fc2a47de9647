"""The paths of Kafka's znodes (fact sheet a.1)."""

from __future__ import annotations

from impl.releases import Release

CONSUMERS = "/consumers"
CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
BROKER_IDS = "/brokers/ids"
BROKER_SEQUENCE = "/brokers/seqid"
TOPICS = "/brokers/topics"
CONFIG = "/config"
CONFIG_CHANGES = "/config/changes"
CONFIG_CHANGE_PREFIX = f"{CONFIG_CHANGES}/config_change_"
DELETE_TOPICS = "/admin/delete_topics"
REASSIGN_PARTITIONS = "/admin/reassign_partitions"
PREFERRED_ELECTION = "/admin/preferred_replica_election"
ISR_CHANGES = "/isr_change_notification"
ISR_CHANGE_PREFIX = f"{ISR_CHANGES}/isr_change_"
LOG_DIR_EVENTS = "/log_dir_event_notification"
LOG_DIR_EVENT_PREFIX = f"{LOG_DIR_EVENTS}/log_dir_event_"
CLUSTER_ID = "/cluster/id"
PRODUCER_ID_BLOCK = "/latest_producer_id_block"

ENTITY_TYPES = ("topics", "clients", "users", "brokers")


def broker(broker_id: int) -> str:
    """``/brokers/ids/N``."""
    return f"{BROKER_IDS}/{broker_id}"


def topic(name: str) -> str:
    """``/brokers/topics/T``."""
    return f"{TOPICS}/{name}"


def partitions(name: str) -> str:
    """``/brokers/topics/T/partitions``."""
    return f"{topic(name)}/partitions"


def partition(name: str, number: int) -> str:
    """``/brokers/topics/T/partitions/P``."""
    return f"{partitions(name)}/{number}"


def state(name: str, number: int) -> str:
    """``/brokers/topics/T/partitions/P/state``."""
    return f"{partition(name, number)}/state"


def config(entity_type: str, name: str) -> str:
    """``/config/topics/T`` and its like; ValueError lists the entity types."""
    if entity_type not in ENTITY_TYPES:
        raise ValueError(f"no entity type {entity_type!r}; there are {', '.join(ENTITY_TYPES)}")
    return f"{CONFIG}/{entity_type}/{name}"


def deletion(name: str) -> str:
    """``/admin/delete_topics/T``."""
    return f"{DELETE_TOPICS}/{name}"


def consumer_offset(group: str, topic_name: str, number: int) -> str:
    """``/consumers/G/offsets/T/P``: the committed offsets of groups of 0.8.1."""
    return f"{CONSUMERS}/{group}/offsets/{topic_name}/{number}"


def persistent(release: Release) -> list[str]:
    """The znodes that a broker creates at startup if they are missing, in Kafka's order."""
    paths = [CONSUMERS, BROKER_IDS, TOPICS, CONFIG_CHANGES, DELETE_TOPICS, BROKER_SEQUENCE]
    paths.append(ISR_CHANGES)
    if release.since("0.11"):
        paths.append(PRODUCER_ID_BLOCK)
    if release.since("1.0"):
        paths.append(LOG_DIR_EVENTS)
    return [*paths, *(f"{CONFIG}/{entity}" for entity in ENTITY_TYPES)]
