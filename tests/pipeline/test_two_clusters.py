"""Two clusters in one folder are refused by name; one whose ZooKeeper was replaced is not."""

from __future__ import annotations

from pathlib import Path

from conformance.pipeline.mixed import AS_SHIPPED
from conformance.pipeline.places import Place, files_cover_interval
from tests.pipeline.written import SERVER, ZK, changed, checked, elected, line, starting, write

CONFIG = "kafka.server.KafkaConfig"
SHIPPED_IN = f"/{AS_SHIPPED}"


def identified(second: int, broker: int, name: str) -> list[str]:
    begin, end = starting(second, broker)
    return [begin, line(second, f"Cluster ID = {name * 22}", SERVER), end]


def hello(second: int, broker: int) -> str:
    return line(second, f"[KafkaServer id={broker}] hello", SERVER)


def test_two_clusters_in_one_folder_are_refused_by_name(tmp_path: Path):
    files = {
        "server1.log": [*identified(0, 1, "a"), hello(3000, 1)],
        "server2.log": [*identified(5, 2, "b"), hello(3000, 2)],
        "state-change1.log": [changed(n, (1, 4), 1, n, "1,2") for n in range(9)],
        "state-change2.log": [changed(n, (2, 4), 2, n, "1,2") for n in range(9)],
    }

    result = checked(write(tmp_path, files))

    (row,) = result["findings"]
    assert (row["kind"], row["rule"]) == ("not judged", "one_cluster_in_a_folder")
    assert "a" * 22 in row["why"]
    assert "b" * 22 in row["why"]
    assert "a folder of its own" in row["why"]
    assert result["verdict"] == "not checked"


def test_folders_of_two_clusters_are_distinguished_by_their_ids(tmp_path: Path):
    files = {
        "n1/server.log": [*identified(0, 1, "a"), hello(3000, 1)],
        "n2/server.log": [*identified(5, 2, "b"), hello(3000, 2)],
        "n1/state-change.log": [changed(n, (1, 4), 1, n, "1,2") for n in range(9)],
        "n2/state-change.log": [changed(n, (2, 4), 2, n, "1,2") for n in range(9)],
    }

    result = checked(write(tmp_path, files))

    assert [row["cluster"] for row in result["clusters"]] == ["n1", "n2"]
    assert (result["verdict"], result["findings"]) == ("holds", [])


def test_logs_rolled_in_turns_by_two_clusters_are_of_two(tmp_path: Path):
    files = {
        "server.log.2024-01-01-10": identified(0, 1, "a"),
        "server.log.2024-01-01-11": identified(3700, 1, "b"),
        "server.log": identified(7300, 1, "a"),
    }

    result = checked(write(tmp_path, files))

    assert [row["rule"] for row in result["findings"]] == ["one_cluster_in_a_folder"]


def test_a_broker_that_goes_from_one_zookeeper_to_another_and_back_is_judged(tmp_path: Path):
    """Each change of the id explains a fall of epochs; none explains an epoch that comes twice."""
    server = [*identified(0, 1, "a"), *identified(700, 1, "b"), *identified(1500, 1, "a")]
    controller = [elected(10, 1, 8), elected(710, 1, 1), elected(1510, 1, 9), elected(1600, 1, 9)]

    result = checked(write(tmp_path, {"server.log": server, "controller.log": controller}))

    assert [(row["kind"], Path(row["file"]).name, row["line"]) for row in result["findings"]] == [
        ("incomplete", "controller.log", 4),
        ("explained", "server.log", 5),
        ("explained", "server.log", 8),
    ]


def test_a_cluster_whose_zookeeper_was_replaced_is_one(tmp_path: Path):
    files = {
        f"b{broker}/server.log": [
            *identified(0, broker, "a"),
            *identified(1000 + 30 * broker, broker, "b"),
            hello(5000, broker),
        ]
        for broker in (1, 2)
    }
    files["b1/controller.log"] = [elected(1, 1, 9), elected(1040, 1, 1)]

    result = checked(write(tmp_path, files))

    assert {row["kind"] for row in result["findings"]} == {"explained"}


def test_a_clock_that_is_set_back_puts_no_two_ids_in_turns(tmp_path: Path):
    """A new ZooKeeper, and an hour later the same one again, by a clock that went back."""
    ids = ((4000, "a"), (4300, "b"), (1400, "b"))
    files = {"server.log": [each for second, name in ids for each in identified(second, 1, name)]}

    result = checked(write(tmp_path, files))

    assert "not judged" not in {row["kind"] for row in result["findings"]}


def test_two_ids_one_after_the_other_that_no_broker_has_both_of_are_doubted(tmp_path: Path):
    def day(second: int, name: str, *brokers: int) -> list[str]:
        return [each for broker in brokers for each in identified(second + broker, broker, name)]

    rolled = {"server.log.2024-03-01-10": day(0, "a", 1, 2)}
    two = rolled | {"server.log": day(7300, "b", 3, 4)}
    one = rolled | {"server.log": day(7300, "b", 1, 2)}

    (row,) = checked(write(tmp_path / "two", two))["findings"]
    assert (row["kind"], row["rule"], row["line"]) == ("incomplete", "one_cluster_in_a_folder", 2)
    assert {row["kind"] for row in checked(write(tmp_path / "one", one))["findings"]} == {
        "explained"
    }


def test_two_ids_of_a_broker_whose_directory_release_or_files_do_not_go_together_are_doubted(
    tmp_path: Path,
):
    def day(second: int, name: str, directory: str, release: str, host: str = "one") -> list[str]:
        begin, cluster, end = identified(second, 1, name)
        app = "org.apache.kafka.common.utils.AppInfoParser"
        head, logger = line(second, "KafkaConfig values: ", CONFIG).rsplit(" (", 1)
        dump = [head, "\tbroker.id = 1", "\tlog.dir = /logs", f"\tlog.dirs = {directory}"]
        version = line(second, f"Kafka version: {release}", app)
        at = line(second, "Registered broker 1 at path /brokers/ids/1 with addresses: PLAINTEXT://"
                  f"{host}:9092, czxid (broker epoch): {20 + second}", ZK)  # fmt: skip
        return [*dump, f" ({logger}", begin, cluster, version, at, end]

    same = "/data", "2.7.0"
    shipped = SHIPPED_IN, "2.7.0"

    def verdict(name: str, *later: str, first: tuple[str, str] = same) -> str:
        rolled = {"server.log.2024-03-01-10": day(0, "a", *first)}
        files = rolled | {"server.log": day(7300, "b", *later)}
        return str(checked(write(tmp_path / name, files))["verdict"])

    assert verdict("directory", "/other", "2.7.0") == "unknown"
    assert verdict("release", "/data", "2.6.0") == "unknown"
    assert verdict("upgraded", "/data", "2.8.0") == "holds"
    assert verdict("renamed", "/data", "2.8.0", "two") == "holds"
    assert verdict("moved", SHIPPED_IN, "2.7.0", "two", first=shipped) == "holds"
    assert verdict("another", SHIPPED_IN, "2.8.0", "two", first=shipped) == "unknown"

    two = {"server.log": day(0, "a", *same), "server.log.2024-03-01-12": day(7300, "b", *same)}
    findings = checked(write(tmp_path / "older", two))["findings"]
    assert any("server.log is older than" in row["why"] for row in findings)


def test_an_older_live_file_is_not_where_a_log_ends_whose_files_overlap():
    rolled = Place("server", "", 0, since=100, until=300, live=False, tangled=True)
    live = Place("server", "", 1, since=0, until=50, tangled=True)

    assert not files_cover_interval([rolled, live], 60, 90)
    assert files_cover_interval([live, rolled], 120, 150)
