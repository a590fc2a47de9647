"""Steps of a broker's process and session, and its high watermark checkpoint."""

from __future__ import annotations

from impl.sim.steps import refusable
from impl.world.cluster import PartitionCluster
from impl.world.processes import PROCESS_IS_UP, PROCESSES, each_broker


def _checkpoint_unmet(world: PartitionCluster, broker: int) -> str | None:
    if not world.brokers[broker].up:
        return PROCESS_IS_UP
    if world.brokers[broker].checkpoint.offset == world.brokers[broker].replicas.log.high_watermark:
        return "the high watermark differs from the checkpointed one"
    return None


def broker_checkpoints_hw(world: PartitionCluster, broker: int) -> None:
    """``checkpointHighWatermarks``, every 5 s in Kafka."""
    server = world.brokers[broker]
    server.checkpoint.write(server.replicas.log.high_watermark)


KINDS = (
    *PROCESSES.values(),
    refusable(broker_checkpoints_hw, each_broker, _checkpoint_unmet),
)
