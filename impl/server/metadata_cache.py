"""What a broker knows of the cluster: as its controller told it (fact sheet f.4)."""

from __future__ import annotations

from impl.core.requests import PartitionMetadata, UpdateMetadata
from impl.server.codec import Endpoints
from impl.server.log4j_files import Log4jFiles
from impl.server.state_texts import metadata, short
from impl.znodes import TopicPartition
from impl.znodes.states import LEADER_DURING_DELETE


class MetadataCache:
    """Brokers are replaced by each request; partitions are kept until they are told anew."""

    def __init__(self) -> None:
        self.controller: int | None = None
        self.brokers: Endpoints = {}
        self.partitions: dict[TopicPartition, PartitionMetadata] = {}

    @property
    def alive(self) -> set[int]:
        """The brokers that live, as far as is known."""
        return set(self.brokers)

    def leader(self, partition: TopicPartition) -> int | None:
        """Who leads, None if nothing is known of the partition; -1 is nobody."""
        told = self.partitions.get(partition)
        return None if told is None else told.state.leader

    def update(
        self, request: UpdateMetadata, endpoints: Endpoints, files: Log4jFiles, words: str
    ) -> None:
        """Take what a controller tells; leader -2 means that the topic goes."""
        self.controller = request.controller
        self.brokers = dict(endpoints)
        for partition, told in request.partitions.items():
            name = files.name(partition)
            if told.state.leader == LEADER_DURING_DELETE:
                self.partitions.pop(partition, None)
                files.change(f"Deleted partition {name} from metadata cache {words}")
                continue
            self.partitions[partition] = told
            if files.old:
                listed = ",".join(map(str, told.replicas))
                shown = (
                    f"(LeaderAndIsrInfo:{short(told.state)},ReplicationFactor:"
                    f"{len(told.replicas)}),AllReplicas:{listed})"
                )
            else:
                shown = metadata(partition, told, files.release)
            files.change(f"Cached leader info {shown} for partition {name} {words}")

    def partitions_of(self, topic: str) -> dict[int, PartitionMetadata]:
        """A topic's partitions by number."""
        found = {one.partition: told for one, told in self.partitions.items() if one.topic == topic}
        return dict(sorted(found.items()))
