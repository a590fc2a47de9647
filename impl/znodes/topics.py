"""``/brokers/topics/T``: the replica assignment of a topic, versions 1 to 3 (a.3, j.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from impl.releases import Release
from impl.znodes import paths
from impl.znodes.text import ZnodeFields, write

VERSIONS = range(1, 4)


@dataclass(frozen=True, order=True, slots=True)
class ReplicaAssignment:
    """The replicas of a partition, the preferred one first, with its adding and removing replicas.

    Up to 2.3 ``adding`` and ``removing`` are always empty (KIP-455).
    """

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def origin(self) -> tuple[int, ...]:
        """The replicas before the reassignment in progress."""
        return tuple(replica for replica in self.replicas if replica not in self.adding)

    @property
    def target(self) -> tuple[int, ...]:
        """The target replicas of the reassignment in progress."""
        return tuple(replica for replica in self.replicas if replica not in self.removing)

    @property
    def is_being_reassigned(self) -> bool:
        """Whether replicas are being added or removed; a change of order does not count."""
        return bool(self.adding or self.removing)

    def reassign_to(self, target: Iterable[int]) -> ReplicaAssignment:
        """The assignment during a reassignment from ``origin`` to a new, changed or old target."""
        goal, origin = tuple(dict.fromkeys(target)), self.origin
        return ReplicaAssignment(
            replicas=(*goal, *(one for one in origin if one not in goal)),
            adding=tuple(replica for replica in goal if replica not in origin),
            removing=tuple(replica for replica in origin if replica not in goal),
        )


@dataclass(frozen=True, slots=True)
class TopicZnode:
    """The content of a topic's znode; ``topic_id`` is None before version 3."""

    partitions: Mapping[int, ReplicaAssignment]
    topic_id: str | None = None


def topic_version(release: Release) -> int:
    """The version that a release writes."""
    if release.since("2.8"):
        return 3
    return 2 if release.since("2.4") else 1


def encode_topic(topic: TopicZnode, version: int) -> str:
    """The text of a topic's znode, partitions in order.

    ValueError for an unknown version, or one that cannot represent the content.
    """
    if version not in VERSIONS:
        raise ValueError(f"no topic znode of version {version}; there are 1 to 3")
    if version == 1 and any(one.is_being_reassigned for one in topic.partitions.values()):
        raise ValueError("a topic znode of version 1 cannot say what is added and removed; write 2")
    ordered = dict(sorted(topic.partitions.items()))
    fields: dict[str, object] = {"version": version}
    if version >= 3:
        if topic.topic_id is None:
            raise ValueError("a topic znode of version 3 has a topic_id")
        fields["topic_id"] = topic.topic_id
    fields["partitions"] = {str(number): list(one.replicas) for number, one in ordered.items()}
    if version >= 2:
        fields["adding_replicas"] = {str(p): list(a.adding) for p, a in ordered.items() if a.adding}
        fields["removing_replicas"] = {
            str(p): list(a.removing) for p, a in ordered.items() if a.removing
        }
    return write(fields)


@lru_cache(maxsize=256)  # controllers read the same few again and again
def decode_topic(name: str, text: str) -> TopicZnode:
    """Decode a topic's znode of any version; MalformedZnode names the wrong part."""
    reader = ZnodeFields.of(paths.topic(name), text, VERSIONS)
    adding, removing = _changes(reader, "adding_replicas"), _changes(reader, "removing_replicas")
    return TopicZnode(
        {
            number: ReplicaAssignment(replicas, adding.get(number, ()), removing.get(number, ()))
            for number, replicas in _by_partition(reader.inner("partitions")).items()
        },
        reader.string("topic_id") if reader.has("topic_id") else None,
    )


def _changes(reader: ZnodeFields, name: str) -> dict[int, tuple[int, ...]]:
    return _by_partition(reader.inner(name)) if reader.has(name) else {}


def _by_partition(reader: ZnodeFields) -> dict[int, tuple[int, ...]]:
    found = {}
    for name in reader.fields:
        if not name.isdecimal():
            raise reader.wrong(name, "is not the number of a partition")
        found[int(name)] = reader.ids(name)
    return dict(sorted(found.items()))
