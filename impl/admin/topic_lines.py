"""The output of ``kafka-topics`` through ZooKeeper, by release (fact sheet i.5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from impl.admin.errors import AdminOperation, IllegalArgument
from impl.admin.port import DescribedPartition
from impl.admin.topic_names import is_internal
from impl.releases import Release

DELETION_NOTE = "Note: This will have no impact if delete.topic.enable is not set to true."


def is_under_replicated(
    isr: Collection[int], replicas: Collection[int], adding: Collection[int], release: Release
) -> bool:
    """Whether the ISR is smaller than the assignment; since 2.4 adding replicas do not count."""
    expected = [one for one in replicas if not (release.since("2.4") and one in adding)]
    return len(isr) < len(expected)


def created(topic: str, release: Release) -> str:
    """``--create`` succeeded."""
    return f"Created topic {topic}." if release.since("2.2") else f'Created topic "{topic}".'


def delete(topic: str, marked: bool, release: Release) -> list[str]:
    """``--delete``: marked now, or already marked. AdminOperation for internal topics."""
    if is_internal(topic, release.since("0.11")):
        raise AdminOperation(
            f"Topic {topic} is a kafka internal topic and is not allowed to be marked for deletion."
        )
    if marked:
        return [f"Topic {topic} is already marked for deletion."]
    return [f"Topic {topic} is marked for deletion.", DELETION_NOTE]


def missing(topic: str, zookeeper: str, release: Release) -> IllegalArgument:
    """The message of ``--delete`` and ``--alter`` about a topic that does not exist."""
    if release.since("2.2"):
        return IllegalArgument(f"Topic '{topic}' does not exist as expected")
    return IllegalArgument(f"Topic {topic} does not exist on ZK path {zookeeper}")


def check_alter(topic: str, release: Release) -> None:
    """Refuse to add partitions to internal topics by ``--alter``; IllegalArgument."""
    if not is_internal(topic, release.since("0.11")):
        return
    if release.since("2.2"):
        raise IllegalArgument(
            f"The number of partitions for the internal topic {topic} cannot be changed."
        )
    raise IllegalArgument("The number of partitions for the offsets topic cannot be changed.")


def listed(
    topics: Collection[str], marked: Collection[str], exclude_internal: bool = False
) -> list[str]:
    """``--list``: the names in order, marking those that are to be deleted."""
    return [
        f"{topic} - marked for deletion" if topic in marked else topic
        for topic in sorted(topics)
        if not (exclude_internal and is_internal(topic))
    ]


def header(
    topic: str,
    partitions: Sequence[DescribedPartition],
    configs: Mapping[str, str],
    release: Release,
    marked: bool = False,
    topic_id: str | None = None,
) -> str:
    """The topic's own line; a space follows each colon since 2.4."""
    ordered = sorted(partitions, key=lambda one: one.number)
    factor = len(ordered[0].replicas) if ordered else 0
    overrides = ",".join(f"{key}={value}" for key, value in configs.items())
    columns = [("Topic", topic)]
    if release.since("2.8") and topic_id is not None:
        columns.append(("TopicId", topic_id))
    columns += [("PartitionCount", str(len(partitions))), ("ReplicationFactor", str(factor))]
    columns.append(("Configs", overrides))
    if marked:
        columns.append(("MarkedForDeletion", "true"))
    space = " " if release.since("2.4") else ""
    return "\t".join(f"{name}:{space}{value}" for name, value in columns)


def row(topic: str, one: DescribedPartition, release: Release, marked: bool = False) -> str:
    """A partition's line; its leader is "none" where there is no state znode."""
    columns = [
        ("Topic", topic),
        ("Partition", str(one.number)),
        ("Leader", "none" if one.leader is None else str(one.leader)),
        ("Replicas", _ids(one.replicas)),
        ("Isr", _ids(one.isr)),
    ]
    if release.since("3.0"):
        columns += [
            ("Adding Replicas", _ids(one.adding)),
            ("Removing Replicas", _ids(one.removing)),
        ]
    if marked:
        columns.append(("MarkedForDeletion", "true"))
    return "\t" + "\t".join(f"{name}: {value}" for name, value in columns)


def _ids(replicas: Sequence[int]) -> str:
    return ",".join(map(str, replicas))
