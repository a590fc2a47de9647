"""Which client asks for which API in which version: docs/clients.md is what this command prints.

    python -m tests.clients.table > docs/clients.md          # ten minutes

Each client sends, reads as member of a group and (where it can) administrates, and Kafka's own
scripts go through their scenarios, on a cluster of each release whose brokers write
kafka-request.log: what is there is in the table. The scripts' jars have to be there:
`insync kafka fetch 1.1.1`, `insync kafka fetch 3.9.1`.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from impl.releases import Release
from impl.server.apis.versions import offered
from impl.server.cluster import Cluster, new_state
from impl.wire import api_name
from tests.clients import test_kafka_scripts as kafkas
from tests.clients import test_real_clients as clients
from tests.clients.scripts import Scripts

RELEASES = ("0.10", "1.1", "2.3", "2.7")
ASKED = re.compile(r"(?:api_key=|apiKey=)(\w+),.*?(?:api_version=|apiVersion=)(\d+)")

HEAD = """# Clients

Brokers speak Kafka's own protocol, with clients and among themselves, in the versions that their
release offered. The tables are made from the brokers' request logs by
`python -m tests.clients.table`.
They list the requests

- of each client, while it produces with all kinds of acknowledgements, consumes in a group, and
  administers;
- of Kafka's own scripts, in the scenarios of `tests/clients/test_kafka_scripts.py`;
- of brokers to each other meanwhile.

Notes:

- Metadata is offered up to version 8: kio refuses tagged fields that it does not know, which Kafka
  skips, and librdkafka sends such a byte in version 9.
- Topics have no ids, so what names topics by them (2.8) is not offered.
- Transactions are refused by name (TRANSACTIONAL_ID_AUTHORIZATION_FAILED).
- Fetch sessions (KIP-227) are kept since 1.1, followers' too: 1000 of them, or
  `max.incremental.fetch.session.cache.slots`.
- Version 0 of OffsetCommit and OffsetFetch is ZooKeeper's (`/consumers/G/offsets/T/P`), and any
  broker answers it; the others are the coordinator's. Offsets of a topic that is deleted go with it
  (KAFKA-2000); `offsets.retention.minutes` has no effect.
- AlterReplicaLogDirs is sent by kafka-python and by kafka-reassign-partitions with `log_dirs`.
- kcat is the one of the system. A dash: the client does not send it.
- The scripts are those of Kafka 1.1.1 and 3.9.1: kafka-topics, kafka-configs,
  kafka-console-producer and -consumer, kafka-consumer-groups, kafka-verifiable-producer and
  -consumer, kafka-producer-perf-test and kafka-consumer-perf-test, kafka-reassign-partitions,
  kafka-preferred-replica-election or kafka-leader-election, kafka-log-dirs, GetOffsetShell and
  kafka-broker-api-versions.
- Where 1.1.1 takes `--zookeeper`, it changes ZooKeeper itself, and our controller follows. That
  needs a real ZooKeeper (`insync cluster start DIR --zookeeper real`): the embedded one has frames
  of its own.
- The scripts of 3.9.1 cannot use what a broker of an old release does not offer, which is so with
  Kafka's own brokers too. Before 2.4 they cannot move partitions, before 2.3 change settings,
  before 2.2 elect leaders, before 1.0 add partitions, and before 0.11 describe a topic or ask for
  the ends of logs. Their producers need `enable.idempotence=false` up to 0.10.
- `insync produce`, `consume`, `topics` and the others are clients as well, of our own.
"""


def administrate_librdkafka(servers: str, topic: str) -> None:
    confluent: Any = import_module("confluent_kafka")
    admin: Any = import_module("confluent_kafka.admin")
    client = admin.AdminClient({"bootstrap.servers": servers, "log_level": 0})
    preferred = confluent.ElectionType.PREFERRED
    resource = admin.ConfigResource("topic", topic)
    change = admin.ConfigEntry(
        "retention.ms", "7000", incremental_operation=admin.AlterConfigOpType.SET
    )
    changed = admin.ConfigResource("topic", topic, incremental_configs=[change])
    acts: list[Callable[[], Any]] = [
        lambda: client.create_topics([admin.NewTopic(topic, 1, 2)])[topic].result(15),
        lambda: client.create_partitions([admin.NewPartitions(topic, 2)])[topic].result(15),
        lambda: [one.result(15) for one in client.describe_configs([resource]).values()],
        lambda: [one.result(15) for one in client.incremental_alter_configs([changed]).values()],
        lambda: client.elect_leaders(preferred, [confluent.TopicPartition(topic, 0)]).result(15),
        lambda: client.list_consumer_groups().result(15),
        lambda: client.describe_consumer_groups([topic])[topic].result(15),
        lambda: client.describe_cluster().result(15),
        lambda: client.delete_topics([topic])[topic].result(15),
        lambda: client.delete_consumer_groups([topic])[topic].result(15),
    ]
    _each(acts)


def administrate_kafka_python(servers: str, topic: str) -> None:
    kafka: Any = import_module("kafka")
    admin: Any = import_module("kafka.admin")
    client = admin.KafkaAdminClient(bootstrap_servers=servers.split(","))
    partition = kafka.TopicPartition(topic, 0)
    resource = admin.ConfigResource(admin.ConfigResourceType.TOPIC, topic)
    _each(
        [
            lambda: client.create_topics([admin.NewTopic(topic, 1, 2)]),
            lambda: client.create_partitions({topic: admin.NewPartitions(2)}),
            lambda: client.describe_configs([resource]),
            lambda: client.alter_partition_reassignments({partition: [1, 2]}),
            lambda: client.list_partition_reassignments(),
            lambda: client.describe_log_dirs(),
            lambda: client.alter_replica_log_dirs({(topic, 0, 1): "/nowhere"}),
            lambda: client.alter_configs([resource]),
            lambda: client.elect_leaders(0, {topic: [0]}),
            lambda: client.describe_cluster(),
            lambda: client.list_groups(),
            lambda: client.describe_groups([topic]),
            lambda: client.delete_topics([topic]),
            lambda: client.delete_groups([topic]),
        ]
    )
    client.close()


def administrate_aiokafka(servers: str, topic: str) -> None:
    admin: Any = import_module("aiokafka.admin")

    async def run() -> None:
        client = admin.AIOKafkaAdminClient(bootstrap_servers=servers)
        await client.start()
        for act in (
            lambda: client.create_topics([admin.NewTopic(topic, 1, 2)]),
            lambda: client.create_partitions({topic: admin.NewPartitions(2)}),
            lambda: client.list_consumer_groups(),
            lambda: client.describe_consumer_groups([topic]),
            lambda: client.delete_topics([topic]),
        ):
            with contextlib.suppress(Exception):  # not in this release: it is not in the log
                await act()
        await client.close()

    asyncio.run(asyncio.wait_for(run(), 60))


def _each(acts: list[Callable[[], Any]]) -> None:
    for act in acts:
        with contextlib.suppress(Exception):  # not in this release: it is not in the log
            act()


CLIENTS: dict[str, tuple[Callable[..., None], Callable[..., Any], Callable[..., None] | None]] = {
    "librdkafka": (clients.send_librdkafka, clients.read_librdkafka, administrate_librdkafka),
    "kafka-python": (
        clients.send_kafka_python,
        clients.read_kafka_python,
        administrate_kafka_python,
    ),
    "aiokafka": (clients.send_aiokafka, clients.read_aiokafka, administrate_aiokafka),
    "kcat": (clients.send_kcat, clients.read_kcat, None),
}


BROKERS = "brokers"
OF_BROKERS = re.compile(r"client_?id=(?:broker-|\d+[,}) ])", re.IGNORECASE)
"""A fetcher's client id, or that of a controller, a leader, a broker that ends."""
OURS = re.compile(r"client_?id=insync-", re.IGNORECASE)
"""Of whoever starts a broker anew, and waits until it knows the cluster."""


def asked(cluster: Cluster, sent: dict[Path, int], brokers: bool = False) -> dict[str, set[int]]:
    """What was asked for since the last time, by API; ``sent``: how far each file was read.

    By ``brokers``, or by whoever else.
    """
    found: dict[str, set[int]] = {}
    for path in sorted(cluster.folder.glob("logs/*/kafka-request.log")):
        text = path.read_text(encoding="utf-8")
        for line in text[sent.get(path, 0) :].splitlines():
            match = None if OURS.search(line) else ASKED.search(line)
            if match and bool(OF_BROKERS.search(line)) == brokers:
                name = match.group(1).title().replace("_", "")
                found.setdefault(name, set()).add(int(match.group(2)))
        sent[path] = len(text)
    return found


def of_release(version: str, folder: Path) -> dict[str, dict[str, set[int]]]:
    """By client, what it asked for; a client that is not installed is left out."""
    state = new_state((1, 2, 3), version, "real", settings=kafkas.DELETING)
    state.request_log = True
    cluster = Cluster.create(folder / version, state)
    cluster.start()
    found: dict[str, dict[str, set[int]]] = {}
    try:
        for name, (send, read, administrate) in CLIENTS.items():
            if name == "kcat" and shutil.which("kcat") is None:
                continue
            servers, sent = cluster.bootstrap_servers, dict[Path, int]()
            asked(cluster, sent)
            topic = f"{name}-{version}"
            kinds = [("0", False), ("1", False), ("all", False)]
            if Release.of(version).since("0.11"):
                kinds.append(("all", True))
            for acks, idempotent in kinds:
                send(servers, topic, acks, idempotent)
            read(servers, topic, len(kinds) * len(clients.MANY))
            if administrate is not None:  # librdkafka aborts its process where an API is missing
                command = [sys.executable, "-m", "tests.clients.table", name, servers, topic]
                subprocess.run(command, timeout=120, capture_output=True, check=False)
            time.sleep(0.5)
            found[name] = asked(cluster, sent)
            print(f"{version}: {name}", file=sys.stderr)
        for release in (kafkas.OLD, kafkas.NEW):
            desk, sent = kafkas.Desk(Scripts(release), cluster), dict[Path, int]()
            asked(cluster, sent)
            for scenario in kafkas.SCENARIOS:
                scenario(desk, f"{scenario.__name__}-{release}", folder)
            found[f"scripts {release}"] = asked(cluster, sent)
            print(f"{version}: scripts of {release}", file=sys.stderr)
    finally:
        cluster.stop(10)
    found[BROKERS] = asked(cluster, {}, brokers=True)
    return found


def page() -> str:
    """The page as it is to be."""
    parts = [HEAD]
    with tempfile.TemporaryDirectory(prefix="insync-clients-") as folder:
        for version in RELEASES:
            found = of_release(version, Path(folder))
            names = list(found)
            parts.append(f"\n## Brokers of {version}\n")
            parts.append(f"| API | offered | {' | '.join(names)} |")
            parts.append(f"|---|---|{'---|' * len(names)}")
            for key, oldest, latest in offered(Release.of(version)):
                api = api_name(key)
                cells = [_cell(found[name].get(api, set())) for name in names]
                parts.append(f"| {api} | {oldest} to {latest} | {' | '.join(cells)} |")
    return "\n".join(parts).replace("\n\n\n", "\n\n") + "\n"


def _cell(versions: set[int]) -> str:
    return ", ".join(map(str, sorted(versions))) or "–"


def main(arguments: list[str]) -> None:
    """Print the page; with a client's name, servers and a topic: have it administrate."""
    if not arguments:
        print(page(), end="")
        return
    name, servers, topic = arguments
    administrate = CLIENTS[name][2]
    assert administrate is not None, f"{name} has no administration"
    administrate(servers, f"{topic}-made")


if __name__ == "__main__":
    main(sys.argv[1:])
