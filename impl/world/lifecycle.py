"""Steps of a broker's life: processes crash and start, sessions expire and are replaced."""

from __future__ import annotations

from impl.sim.steps import StepKind
from impl.world.cluster import PartitionCluster
from impl.world.steps import (
    PROCESS_IS_UP,
    SESSION_IS_ALIVE,
    each_broker,
)


def _crash_refusal(world: PartitionCluster, broker: int) -> str | None:
    return None if world.brokers[broker].up else PROCESS_IS_UP


def broker_crashes(world: PartitionCluster, broker: int) -> None:
    """Memory is lost, connections break; the session stays until it expires."""
    world.brokers[broker].crash()
    world.network.discard_dead(broker)
    world.network.disconnect(broker)


def _expire_refusal(world: PartitionCluster, broker: int) -> str | None:
    return None if world.brokers[broker].session_alive else SESSION_IS_ALIVE


def session_expires(world: PartitionCluster, broker: int) -> None:
    """The ephemeral znodes vanish; a live process does not notice."""
    world.zookeeper.expire(world.brokers[broker].session)


def _start_refusal(world: PartitionCluster, broker: int) -> str | None:
    if world.brokers[broker].up:
        return "the broker's process is down"
    if world.brokers[broker].registered:
        return "no earlier registration of the broker is left in /brokers/ids"
    return None


def broker_starts(world: PartitionCluster, broker: int) -> None:
    """A new incarnation: the disk is read, a session opened, a registration made."""
    world.brokers[broker].start()
    world.network.discard_dead(broker)


def _reconnect_refusal(world: PartitionCluster, broker: int) -> str | None:
    if not world.brokers[broker].up:
        return PROCESS_IS_UP
    if world.brokers[broker].session_alive:
        return "the broker's ZooKeeper session has expired"
    return None


def broker_reconnects(world: PartitionCluster, broker: int) -> None:
    """A new session for a live process: it resigns and registers anew."""
    world.brokers[broker].reconnect()
    world.network.discard_dead(broker)


def _checkpoint_refusal(world: PartitionCluster, broker: int) -> str | None:
    if not world.brokers[broker].up:
        return PROCESS_IS_UP
    if world.brokers[broker].checkpoint.offset == world.brokers[broker].replicas.log.high_watermark:
        return "the high watermark differs from the checkpointed one"
    return None


def broker_checkpoints_hw(world: PartitionCluster, broker: int) -> None:
    """``checkpointHighWatermarks``, every 5 s in Kafka."""
    server = world.brokers[broker]
    server.checkpoint.write(server.replicas.log.high_watermark)


BROKER = ("broker",)

KINDS = (
    StepKind("broker_crashes", BROKER, each_broker, _crash_refusal, broker_crashes),
    StepKind("session_expires", BROKER, each_broker, _expire_refusal, session_expires),
    StepKind("broker_starts", BROKER, each_broker, _start_refusal, broker_starts),
    StepKind("broker_reconnects", BROKER, each_broker, _reconnect_refusal, broker_reconnects),
    StepKind(
        "broker_checkpoints_hw", BROKER, each_broker, _checkpoint_refusal, broker_checkpoints_hw
    ),
)
