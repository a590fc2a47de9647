"""Traces of real Kafka: runs that were recorded, taken apart and judged like those of our own."""

from __future__ import annotations

import json
import struct
import tarfile
import zlib
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from conformance.chaos.clients import OURS
from conformance.chaos.history import ClientHistory, ProduceAttempt, ReadRecords
from conformance.kafka.broker_trace import BrokerTraceReader, Registrations
from conformance.kafka.lab import Lab
from conformance.kafka.protocol_log import lines_in
from conformance.kafka.proxied_requests import ProxiedRequests
from conformance.kafka.random_faults import KINDS, faults
from conformance.kafka.releases import release_of
from conformance.kafka.schedule import parse_line
from conformance.kafka.soak import (
    OtherSoak,
    SoakPlan,
    SoakRound,
    rounds_in,
    seen_by_clients,
    summary,
    verdict_of,
)
from conformance.kafka.trace import write_trace
from conformance.kafka.transactions import WrongLog, Znodes, transactions_in
from conformance.running.running_report import RunningReport, judge_running
from impl.server.processes import ClusterError
from specs.verdict import Verdict

RECORDED = Path("tests/data/kafka")


def unpacked(version: str, folder: Path) -> Lab:
    with tarfile.open(RECORDED / f"run-{version}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return Lab(folder)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return unpacked("2.8.2", tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def files(lab: Lab) -> list[Path]:
    return write_trace(lab)


def judged(files: list[Path]) -> RunningReport:
    return judge_running(files, "recorded")


def test_every_line_of_a_run_of_real_kafka_is_a_step_of_the_model(files: list[Path]) -> None:
    report = judged(files)

    assert report.verdict is Verdict.HOLDS, report.findings
    rows = {str(one["partition"]): one for one in report.partitions()}
    assert sorted(rows) == ["/controller", "cluster", "t-0"]
    assert rows["cluster"]["explained"] == rows["cluster"]["lines"] == 232
    assert report.fired["controller_sees_dead_brokers"] > 0
    assert report.fired["broker_updates_metadata"] > 20
    assert rows["t-0"]["explained"] == rows["t-0"]["lines"] == 472
    assert report.fired["follower_truncates"] > 0
    assert report.fired["broker_crashes"] > 0


Args = dict[str, Any]


def changed(
    files: list[Path], folder: Path, step: str, fits: Callable[[Args], object],
    change: Callable[[Args], object],
) -> list[Path]:  # fmt: skip
    """The files with the first line of that step changed whose arguments fit."""
    found, done = [], False
    for file in files:
        lines = []
        for raw in file.read_text().splitlines():
            line = json.loads(raw)
            if not done and line.get("step") == step and fits(line["args"]):
                change(line["args"])
                done = True
            lines.append(json.dumps(line))
        target = folder / file.name
        target.write_text("\n".join(lines) + "\n")
        found.append(target)
    assert done
    return found


def _answered(args: Args) -> bool:
    return bool(args["reply"]["error"] == "NONE")


def _anything(_: Args) -> bool:
    return True


def _add(args: Args, name: str, number: int) -> None:
    args[name] += number


CHANGES: dict[str, tuple[str, Callable[[Args], object], Callable[[Args], object]]] = {
    "a controller sends another state": (
        "request_sent", lambda args: args["partitions"],
        lambda args: args["partitions"].update(
            {name: [epoch, version + 1] for name, (epoch, version) in args["partitions"].items()}),
    ),
    "a controller says that a dead broker lives": (
        "request_sent", lambda args: args.get("live") in ([1, 2], [2, 3], [1, 3]),
        lambda args: args.update(live=[1, 2, 3]),
    ),
    "a controller sends something else": (
        "request_sent", lambda args: args["kind"] == "LeaderAndIsr" and not args["new"],
        lambda args: args.update(kind="UpdateMetadata"),
    ),
    "a controller overlooks a broker": (
        "registrations_read", lambda args: len(args["registrations"]) == 3,
        lambda args: args["registrations"].pop("1"),
    ),
    "a controller takes up what nobody wrote": (
        "event_begun", lambda args: args["event"] == "/isr_change_notification",
        lambda args: args.update(event="/admin/preferred_replica_election"),
    ),
    "a broker may go that still leads": (
        "shutdown_answered", lambda args: not args["remaining"],
        lambda args: args.update(remaining=["t-0"]),
    ),
    "a request comes that nobody sent": (
        "request_received", lambda args: args["kind"] == "LeaderAndIsr",
        lambda args: args["sender"].update(correlation=99),
    ),
    "a lower log end": (
        "records_replicated", lambda args: args["log_end"] > 1,
        lambda args: _add(args, "log_end", -1),
    ),
    "a higher high watermark": (
        "high_watermark_raised", _anything, lambda args: _add(args, "now", 1)
    ),
    "another ISR": ("isr_updated", _anything, lambda args: args.update(isr=args["isr"][:1])),
    "another leader epoch": (
        "became_leader", _anything, lambda args: _add(args, "leader_epoch", 1)
    ),
    "an answer has what the log has not": (
        "fetch_served", lambda args: _answered(args) and args["reply"]["end"] > 1,
        lambda args: _add(args["reply"], "end", 100),
    ),
    "an answer shows what is not committed": (
        "fetch_served", lambda args: args["reply"]["end"] > args["reply"]["high_watermark"] > 0,
        lambda args: args["reply"].update(high_watermark=args["reply"]["end"]),
    ),
    "another offset is asked for": (
        "fetch_served", lambda args: _answered(args) and args["asked"]["offset"] > 1,
        lambda args: _add(args["asked"], "offset", -1),
    ),
    "an epoch ends elsewhere": (
        "epoch_served", lambda args: args["reply"]["end"]["end"] > 0,
        lambda args: _add(args["reply"]["end"], "end", -1),
    ),
    "an answer that was taken had failed": (
        "fetch_served", lambda args: args["reply"]["end"] > args["asked"]["offset"],
        lambda args: args.update(
            counted=True, reply={**args["reply"], "error": "UNKNOWN_SERVER_ERROR"}),
    ),
    "a refused write was done": (
        "isr_updated", _anything, lambda args: _add(args, "zk_version", 1)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_line_that_real_kafka_did_not_write_is_noticed(
    files: list[Path], tmp_path: Path, name: str
) -> None:
    report = judged(changed(files, tmp_path, *CHANGES[name]))

    assert report.verdict is Verdict.BROKEN


def test_lines_that_wait_for_each_other_are_named(files: list[Path], tmp_path: Path) -> None:
    place = ""
    for file in files:
        lines = [json.loads(raw) for raw in file.read_text().splitlines()]
        for at, (one, other) in enumerate(pairwise(lines), 1):
            two = one.get("step"), other.get("step")
            if two == ("records_asked", "answer_received") and not place:
                place = f"{file.name}:{at}"
                for name in ("step", "args"):
                    one[name], other[name] = other[name], one[name]
        (tmp_path / file.name).write_text("\n".join(json.dumps(one) for one in lines) + "\n")
    found = judged(sorted(tmp_path.iterdir()))

    assert found.verdict is Verdict.BROKEN
    why = found.findings[0].why
    assert f"{place} (answer_received) comes before" in why
    assert why.endswith("comes before the first")


def test_who_follows_without_a_fetcher_asks_nobody(files: list[Path], tmp_path: Path) -> None:
    report = judged(
        changed(files, tmp_path, "became_follower", _anything,
                lambda args: args.update(fetching=False))
    )  # fmt: skip

    assert report.verdict is Verdict.UNKNOWN
    assert any("KAFKA-9769" in one.why for one in report.findings)


def test_a_trace_says_whose_it_is_and_what_it_does_not_show(files: list[Path]) -> None:
    header = json.loads(files[0].read_text().splitlines()[0])

    assert header["of"] == "Apache Kafka 2.8.2"
    assert header["version"] == "2.6"  # what its brokers speak
    assert header["partial"] is True
    assert any("live" in one or "alive" in one for one in header["not_seen"])


def test_without_a_brokers_log_nothing_is_claimed_of_what_it_did(
    lab: Lab, files: list[Path]
) -> None:
    report = judged([one for one in files if not one.name.startswith("broker2")])

    assert report.verdict is Verdict.UNKNOWN
    assert any("broker 2" in one.why for one in report.findings)


def test_a_lab_of_which_nothing_was_recorded_has_no_trace(tmp_path: Path) -> None:
    lab = unpacked("2.8.2", tmp_path)
    (lab.folder / "trace" / "messages.jsonl").unlink()

    with pytest.raises(ClusterError, match=r"messages\.jsonl"):
        write_trace(lab)


def test_a_fetch_that_waited_is_traced_where_it_was_read_and_where_it_was_read_again(
    lab: Lab, files: list[Path]
) -> None:
    leader = next(one for one in files if one.name == "broker2-1.ndjson")
    steps = [json.loads(raw) for raw in leader.read_text().splitlines()[1:-1]]
    served = [one["args"] for one in steps if one["step"] == "fetch_served"]
    again = [one for one in served if one["waited"]]

    assert again
    for one in again:
        first = next(other for other in served if other["correlation"] == one["correlation"])
        assert not first["waited"]
        assert first["reply"]["end"] == first["asked"]["offset"]  # nothing was there yet


# ZooKeeper's transaction log


def record(session: int, xid: int, zxid: int, kind: int, body: bytes = b"") -> bytes:
    entry = struct.pack(">qiqqi", session, xid, zxid, 0, kind) + body
    return struct.pack(">qi", zlib.adler32(entry), len(entry)) + entry + b"B"


def text(value: str) -> bytes:
    return struct.pack(">i", len(value)) + value.encode()


def created(path: str, data: str, ephemeral: bool) -> bytes:
    acl = struct.pack(">ii", 1, 31) + text("world") + text("anyone")
    return text(path) + text(data) + acl + struct.pack(">?i", ephemeral, 1)


def kept(folder: Path, *records: bytes) -> Path:
    place = folder / "version-2"
    place.mkdir(parents=True)
    (place / "log.1").write_bytes(
        b"ZKLG" + struct.pack(">iq", 2, 0) + b"".join(records) + bytes(64)
    )
    return folder


def test_an_ended_session_takes_its_ephemeral_znodes_with_it(tmp_path: Path) -> None:
    folder = kept(
        tmp_path, record(7, 1, 2, 1, created("/brokers/ids/1", "", True)),
        record(7, 2, 3, 1, created("/kept", "x", False)), record(7, 0, 4, -11),
    )  # fmt: skip
    znodes = Znodes()
    lines = [znodes.line(one) for one in transactions_in(folder)]

    assert lines[0][1]["ops"][0]["owner"] == 7
    assert lines[2] == (
        "session_ended", {"zxid": 4, "session": 7, "gone": ["/brokers/ids/1"], "closed": False}
    )  # fmt: skip


def test_a_transaction_that_is_cut_is_left_out_and_one_that_was_changed_is_refused(
    tmp_path: Path,
) -> None:
    whole = record(7, 1, 2, 2, text("/a"))
    cut = kept(tmp_path / "cut", whole, whole[: len(whole) // 2])
    assert len(list(transactions_in(cut))) == 1

    other = kept(tmp_path / "other", whole[:20] + b"\x01" + whole[21:])
    with pytest.raises(WrongLog, match="checksum"):
        list(transactions_in(other))


def test_a_file_that_is_no_transaction_log_is_named(tmp_path: Path) -> None:
    place = tmp_path / "version-2"
    place.mkdir()
    (place / "log.1").write_text("hello")

    with pytest.raises(WrongLog, match=r"log\.1 is no transaction log"):
        list(transactions_in(tmp_path))


# Lines of releases


Events = list[tuple[str, dict[str, Any]]]


def events_of(
    folder: Path, *texts: str | tuple[str, str], messages: Any = (),
    registrations: Registrations | None = None,
) -> Events:  # fmt: skip
    """What lines come to, of thread-1 or the one that is named, with these questions."""
    log, frames = folder / "protocol-1.log", folder / "messages.jsonl"
    reported = [one if isinstance(one, tuple) else ("thread-1", one) for one in texts]
    log.write_text(
        "".join(f"[2026-01-01 00:00:00,{at:03}] [{thread}] {text} (kafka.Logger)\n"
                for at, (thread, text) in enumerate(reported))
        + "[2026-01-01 00:00:09,000] [thread-1] a line that is cu"
    )  # fmt: skip
    frames.write_text("".join(json.dumps(one) + "\n" for one in messages))
    known = registrations or Registrations()
    return BrokerTraceReader(1, ProxiedRequests(frames), known).run(lines_in(log))


FROM = "from connection 127.0.0.1:9092-127.0.0.1:{}-0"


def fetch(port: int, follower: int, answer: dict[str, Any], **offsets: int) -> list[dict[str, Any]]:
    """A fetch of broker 1's partitions in leader epoch 3, and its answer."""
    at = {
        "port": port,
        "connection": port,
        "correlation": 7,
        "from": str(follower),
        "to": "1",
        "api": "Fetch",
        "at": 0.0,
        "session_epoch": int(offsets.pop("session_epoch", 0)),
    }
    parts = {one.replace("_", "-"): {"offset": end, "leader_epoch": 3}
             for one, end in offsets.items()}  # fmt: skip
    return [{**at, "number": port, "kind": "request", "parts": parts},
            {**at, "number": port + 1, "kind": "answer", "parts": answer}]  # fmt: skip


def handles(port: int) -> str:
    return (
        "[KafkaApi-1] Handling request:RequestHeader(apiKey=FETCH, apiVersion=11, "
        f"clientId=broker-2-fetcher-0, correlationId=7) -- sessionId={port} {FROM.format(port)}"
    )


def reads(partition: str, offset: int) -> str:
    return (
        f"[ReplicaManager broker=1] Fetching log segment for partition {partition}, offset "
        f"{offset}, partition fetch size 1"
    )


def sends(port: int) -> str:
    return f"[KafkaApi-1] Sending Fetch response with partitions.size=1, metadata={port}"


def records(partition: str, follower: int, offset: int) -> str:
    return (
        f"[Partition {partition} broker=1] Recorded replica {follower} log end offset (LEO) "
        f"position {offset}."
    )


def leads(partition: str, epoch: int, offset: int = 5) -> str:
    return (
        f"[Broker id=1] Leader {partition} starts at leader epoch {epoch} from offset {offset} "
        f"with high watermark {offset} ISR [1,2]. Previous leader epoch was {epoch - 1}."
    )


def receives(partition: str, leader: int, epoch: int) -> str:
    return (
        "[Broker id=1] Received LeaderAndIsr request PartitionState(controllerEpoch=1, leader="
        f"{leader}, leaderEpoch={epoch}, isr=2, zkVersion=4, replicas=1,2, isNew=false) "
        f"correlation id 5 from controller 2 epoch 1 for partition {partition}"
    )


def done(port: int) -> tuple[str, str]:
    header = f"RequestHeader(apiKey=FETCH, correlationId=7) {FROM.format(port)}"
    return "network", f"Completed request:{header}"


def by_another(*texts: str) -> list[tuple[str, str]]:
    return [("thread-2", one) for one in texts]


APPENDS = (
    "[Log partition=t-0, dir=/data] Appended message set with last offset: 4, first offset: 0, "
    "next offset: 5, and messages"
)


def test_a_read_that_is_counted_in_the_next_leader_epoch_was_made_in_its_own(
    tmp_path: Path,
) -> None:
    found = events_of(
        tmp_path, APPENDS, leads("t-0", 3), *by_another(handles(50), reads("t-0", 5)),
        leads("t-0", 4), *by_another(records("t-0", 2, 5), sends(50)),
        messages=fetch(50, 2, {}, t_0=5),
    )  # fmt: skip
    steps = [(step, args.get("leader_epoch")) for step, args in found]

    assert steps[-3:] == [("became_leader", 3), ("fetch_served", None), ("became_leader", 4)]


def test_what_a_consumer_read_was_read_in_the_leader_epoch_before_though_it_is_answered_later(
    tmp_path: Path,
) -> None:
    answer = {"t-0": {"error": "NONE", "high_watermark": 0, "log_start": 0, "end": 5}}
    found = events_of(
        tmp_path, APPENDS, leads("t-0", 3), *by_another(handles(50), reads("t-0", 4)),
        leads("t-0", 4), *by_another(sends(50)), done(50),
        messages=fetch(50, -1, answer, t_0=4),
    )  # fmt: skip

    assert [step for step, _ in found][1:] == ["became_leader", "fetch_served", "became_leader"]


def test_a_read_that_is_counted_when_its_broker_is_no_replica_any_more_was_made_as_its_leader(
    tmp_path: Path,
) -> None:
    stops = "[Broker id=1] Finished handling stop replica (delete=false) for partition t-0"
    found = events_of(
        tmp_path, APPENDS, leads("t-0", 3), *by_another(handles(50), reads("t-0", 5)), stops,
        *by_another(records("t-0", 2, 5), sends(50)), done(50),
        messages=fetch(50, 2, {}, t_0=5, session_epoch=1),
    )  # fmt: skip

    assert [step for step, _ in found][2:] == ["fetch_served", "stop_replica_completed"]


def test_a_thread_that_answers_a_fetch_which_waited_goes_on_with_its_own(tmp_path: Path) -> None:
    mine = {"t-1": {"error": "NONE", "high_watermark": 0, "log_start": 0}}
    found = events_of(
        tmp_path, *by_another(handles(50), reads("t-0", 0), records("t-0", 2, 0)),
        *by_another("[KafkaApi-1] Handling request:another"),
        handles(60), reads("t-1", 0), reads("t-0", 0),  # of its own
        records("t-1", 3, 0), reads("t-0", 0), sends(50), records("t-0", 3, 0), done(50),
        messages=[*fetch(50, 2, {}, t_0=0), *fetch(60, 3, mine, t_0=0, t_1=0)],
    )  # fmt: skip
    served = [(args["partition"], args["reader"], args["waited"]) for _, args in found]

    assert served == [("t-0", 2, False), ("t-1", 3, False), ("t-0", 2, True), ("t-0", 3, False)]


def test_the_words_of_1_1_are_those_of_later_releases(tmp_path: Path) -> None:
    began = datetime(2026, 1, 1).timestamp()
    known = Registrations()
    known.note(1, 17, 40, began - 1)
    known.note(1, 18, 41, began + 0.001)
    known.note(1, 30, 42, began + 9)
    replica = "ReplicaId: {}; Topic: t; Partition: 0; isLocal: true; Highwatermark: 2 [0 : 99]"

    found = events_of(
        tmp_path,
        "[Partition t-0 broker=1] t-0 starts at Leader Epoch 3 from offset 0. Previous Leader "
        "Epoch was: 2",
        "Registered broker 1 at path /brokers/ids/1 with addresses: EndPoint(h,1)",
        "[Controller id=1] Epoch incremented to 5",
        APPENDS, "[Partition t-0 broker=1] High watermark updated to 5 [0 : 256]",
        "[Partition t-0 broker=1] Shrinking ISR from 1,2,3 to 1,2",
        f"[Partition t-0 broker=1] ISR updated to [{replica.format(1)},{replica.format(2)}] and "
        "zkVersion updated to [7]",
        "[Broker id=1] Stopped fetchers as part of become-follower request from controller 2 epoch "
        "1 with correlation id 5 for partition t-1",
        registrations=known,
    )  # fmt: skip
    steps = dict(found)

    assert steps["became_leader"]["leader_epoch"] == 3
    assert steps["registered"] == {"epoch": 18, "session": 41}
    assert steps["controller_elected"] == {"epoch": 5, "epoch_version": 4}
    assert steps["high_watermark_raised"]["now"] == 5
    assert steps["isr_updated"]["isr"] == [1, 2]


def question(number: int, at: float, api: str, asked: dict[str, int]) -> dict[str, Any]:
    return {
        "number": number, "kind": "request", "api": api, "from": "1", "to": "3", "at": at,
        "port": 5, "connection": number, "correlation": 0, "session_epoch": -1,
        "parts": {"t-0": {"leader_epoch": -1, **asked}},
    }  # fmt: skip


ASKS = (
    "[ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Sending OFFSET_FOR_LEADER_EPOCH {} with "
    "correlation id 0 to node 3"
)


BUILDS = "[ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Sending fetch request (x)"


@pytest.mark.parametrize(("before", "ms"), [(ASKS, 3), (BUILDS, 2)], ids=["asked", "fetched"])
def test_a_question_is_of_the_last_sending_of_its_number_before_it_came_and_of_no_fetch(
    before: str, ms: int, tmp_path: Path
) -> None:
    at = datetime(2026, 1, 1).timestamp() + ms / 1000
    asked = question(9, at, "OffsetForLeaderEpoch", {"epoch": 1})

    found = events_of(tmp_path, before, leads("t-1", 3), ASKS, messages=[asked])

    assert [step for step, _ in found] == ["became_leader", "epoch_asked"]


def test_up_to_2_0_a_follower_without_epochs_asks_for_none_and_nothing_comes_of_it(
    tmp_path: Path,
) -> None:
    at = datetime(2026, 1, 1).timestamp()

    found = events_of(
        tmp_path, ASKS, messages=[question(9, at, "OffsetForLeaderEpoch", {"epoch": -1})]
    )

    assert found == []


def test_an_answer_without_a_session_is_of_no_fetch_that_waits_in_one(tmp_path: Path) -> None:
    asked = fetch(50, 2, {}, t_0=0)
    within = {**asked[0], "number": 70, "correlation": 8, "session_epoch": 1, "parts": {}}
    found = events_of(
        tmp_path, *by_another(handles(50), reads("t-0", 0), records("t-0", 2, 0), sends(50)),
        done(50), *by_another(handles(50).replace("correlationId=7", "correlationId=8")),
        *by_another(reads("t-0", 0), records("t-0", 2, 0), "[KafkaApi-1] Handling request:another"),
        reads("t-0", 0), sends(0), APPENDS, reads("t-0", 0), sends(50),
        messages=[*asked, within],
    )  # fmt: skip
    served = [args.get("correlation") for _, args in found]

    assert served == [50, 70, None, 70]
    assert found[-1][1]["waited"]


def appends(first: int, end: int) -> str:
    return (
        f"[Log partition=t-0, dir=/data] Appended message set with last offset: {end - 1}, first "
        f"offset: {first}, next offset: {end}, and messages"
    )


def raises(offset: int) -> str:
    return f"[Partition t-0 broker=1] High watermark updated to (offset={offset} segment=[0:0])"


def test_threads_that_raise_a_high_watermark_at_once_did_so_in_the_order_of_their_appends(
    tmp_path: Path,
) -> None:
    leads_alone = (receives("t-0", 1, 3).replace("isr=2", "isr=1"), appends(0, 5), leads("t-0", 3))
    late = events_of(
        tmp_path, *leads_alone, appends(5, 6), *by_another(appends(6, 8)), raises(6),
        *by_another(raises(8)),
    )  # fmt: skip
    overtaken = events_of(
        tmp_path, *leads_alone, appends(5, 6), *by_another(appends(6, 8)), *by_another(raises(8)),
        raises(6),
    )  # fmt: skip

    assert late == overtaken
    assert [(step, args.get("before"), args.get("now")) for step, args in late[-4:]] == [
        ("records_appended", None, None), ("high_watermark_raised", 0, 6),
        ("records_appended", None, None), ("high_watermark_raised", 6, 8),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "log_read",
    [
        "Reading maximum 9 bytes at offset 5 from log with",
        "Reading 9 bytes from offset 5 of length",
    ],
)
def test_a_read_that_raised_a_high_watermark_counts_though_its_answer_was_refused_in_the_end(
    log_read: str, tmp_path: Path
) -> None:
    """It waited for records, and its leader was in another leader epoch by then."""
    refused = {"t-0": {"error": "NOT_LEADER_OR_FOLLOWER", "high_watermark": -1, "log_start": -1}}
    read = f"[Log partition=t-0, dir=/data] {log_read}"
    raised = [
        [step for step, _ in events_of(
            tmp_path, APPENDS, leads("t-0", 3), handles(50), *by_another(handles(60)),
            reads("t-0", 5), *by_another(reads("t-0", 5), *of_log), raises(5),
            records("t-0", 2, 5), *by_another(records("t-0", 3, 5)),
            messages=[*fetch(50, 2, {}, t_0=5), *fetch(60, 3, refused, t_0=5)],
        )] for of_log in ([read], [])
    ]  # fmt: skip

    assert raised[0][2:] == ["fetch_served", "fetch_served", "high_watermark_raised"]
    assert raised[1][2:] == ["fetch_served", "high_watermark_raised", "fetch_served"]


def test_an_append_that_others_have_read_stands_before_their_reads(tmp_path: Path) -> None:
    """The thread that appended came to tell of it when its records had been asked for already."""
    found = events_of(
        tmp_path, APPENDS, leads("t-0", 3), handles(50), reads("t-0", 7), reads("t-1", 0),
        records("t-0", 2, 7), records("t-1", 2, 0), *by_another(appends(5, 7)),
        messages=fetch(50, 2, {}, t_0=7, t_1=0),
    )  # fmt: skip

    assert [(step, args["partition"]) for step, args in found][2:] == [
        ("records_appended", "t-0"), ("fetch_served", "t-0"), ("fetch_served", "t-1")
    ]  # fmt: skip


def test_a_thread_may_answer_anothers_fetch_between_what_it_has_read_and_what_it_tells_of_it(
    tmp_path: Path,
) -> None:
    asked = fetch(50, 2, {}, t_0=5)
    other = fetch(60, -1, {}, t_0=5, t_1=0)
    found = events_of(
        tmp_path, APPENDS, leads("t-0", 3), *by_another(handles(60), reads("t-0", 5)),
        *by_another(reads("t-1", 0), "[KafkaApi-1] Handling request:another"),
        handles(50), reads("t-0", 5), reads("t-1", 0), sends(60), records("t-0", 2, 5),
        *by_another(reads("t-0", 5), sends(50)), done(50), messages=[*asked, *other],
    )  # fmt: skip
    served = [(args["reader"], args["partition"], args["waited"])
              for step, args in found if step == "fetch_served"]  # fmt: skip

    assert (2, "t-0", True) in served
    assert (2, "t-1", False) not in served


def test_what_is_read_again_is_for_no_fetch_that_its_own_thread_answers_at_once(
    tmp_path: Path,
) -> None:
    """Two followers ask for the same offset: one waits, the other's records are there by then."""
    found = events_of(
        tmp_path, APPENDS, leads("t-0", 3), *by_another(handles(60), reads("t-0", 5)),
        handles(50), reads("t-0", 5), records("t-0", 2, 5), *by_another(records("t-0", 3, 5)),
        reads("t-0", 5), sends(8), *by_another(sends(9)), done(60), done(50),
        messages=[*fetch(50, 2, {}, t_0=5), *fetch(60, 3, {}, t_0=5)],
    )  # fmt: skip

    assert [args["reader"] for _, args in found if args.get("waited")] == [2]


@pytest.mark.parametrize(
    "order", [pytest.param(slice(None), id="first"), pytest.param(slice(None, None, -1), id="last")]
)
@pytest.mark.parametrize(
    "words",
    [
        "[Log partition=t-0, dir=/data] Completed load of log with 1 segments, log start offset 0 "
        "and log end offset {} in 1 ms",
        "Completed load of Log(dir=/data, topic=t, partition=0, highWatermark=0, logEndOffset={})",
    ],
)
def test_a_log_that_is_to_be_deleted_is_loaded_as_that_of_no_partition(
    words: str, order: slice, tmp_path: Path
) -> None:
    """A replica was moved away and back, and its broker killed before the old log was deleted."""
    loaded = [("t-0", 9), ("t-0.52cd9cf3f24d41a18b07c4c66a0c718a-delete", 0)][order]
    found = events_of(
        tmp_path,
        *[text for name, end in loaded for text in (f"Loading log '{name}'", words.format(end))],
        "Replica loaded for partition t-0 with initial high watermark 7", leads("t-0", 3, 9),
        messages=[],
    )  # fmt: skip

    assert found[0] == ("log_loaded", {"partition": "t-0", "log_end": 9, "high_watermark": 7})


def test_who_comes_to_lead_while_it_refuses_an_epoch_had_refused_it_before(tmp_path: Path) -> None:
    """Two threads: one answers that it does not lead, and the other makes it leader before the
    answer is logged. Who led when it was asked refuses later."""
    handles_epoch = handles(50).replace("FETCH", "OFFSET_FOR_LEADER_EPOCH")
    thread, text = done(50)
    ends = (thread, text.replace("FETCH", "OFFSET_FOR_LEADER_EPOCH"))
    refused = {"t-0": {"error": "NOT_LEADER_OR_FOLLOWER", "epoch": -1, "end": -1}}
    asked, answered = fetch(50, 2, refused, t_0=5)
    asked["parts"] = {"t-0": {"leader_epoch": -1, "epoch": 2}}
    messages = [{**one, "api": "OffsetForLeaderEpoch"} for one in (asked, answered)]

    comes_to = events_of(
        tmp_path, *by_another(handles_epoch), leads("t-0", 3), ends, messages=messages
    )
    led = events_of(
        tmp_path, leads("t-0", 3), *by_another(handles_epoch), leads("t-0", 4), ends,
        messages=messages,
    )  # fmt: skip

    assert [step for step, _ in comes_to] == ["epoch_served", "became_leader"]
    assert [step for step, _ in led] == ["became_leader", "became_leader", "epoch_served"]


@pytest.mark.parametrize(("lines", "error"), [(1, "NOT_LEADER_FOR_PARTITION"), (2, "NONE")])
def test_what_waited_at_a_leader_that_is_none_any_more_was_refused_if_its_log_was_not_read(
    lines: int, error: str, tmp_path: Path
) -> None:
    """Nobody saw the answer."""
    log_read = "[Log partition=t-0, dir=/data] Reading 9 bytes from offset 5 of length 9"
    again = [reads("t-0", 5), log_read][:lines]
    question, _ = fetch(50, 2, {}, t_0=5)
    found = events_of(
        tmp_path, APPENDS, leads("t-0", 3), handles(50), reads("t-0", 5), log_read,
        records("t-0", 2, 5), *by_another(*again, sends(50)), done(50), messages=[question],
    )  # fmt: skip

    assert [(args["waited"], args["reply"]["error"]) for _, args in found[2:]] == [
        (False, "NONE"), (True, error)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "of"),
    [
        ("sessionId=0, sessionEpoch=0, topics=[fetchOffset=0]", False),
        ("sessionId=9, sessionEpoch=1, topics=[]", True),
        ("session_id=9,session_epoch=1,topics=[]", True),
    ],
)
def test_a_fetch_that_never_came_to_the_proxy_is_not_a_later_one_of_its_number(
    words: str, of: bool, tmp_path: Path
) -> None:
    """A fetcher thread counts from 0 again."""
    now = datetime(2026, 1, 1).timestamp()
    asked = {**fetch(50, 1, {}, t_0=5)[0], "to": "2", "session_epoch": 1, "at": now}
    sends_fetch = (
        "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Sending FETCH request with header "
        f"RequestHeader(correlationId=7): FetchRequestData({words})"
    )
    found = events_of(tmp_path, sends_fetch, messages=[asked])

    assert [step for step, _ in found] == ["records_asked"] * of


def test_a_high_watermark_that_is_logged_when_a_follower_is_beyond_it_is_no_step(
    tmp_path: Path,
) -> None:
    found = events_of(
        tmp_path, receives("t-0", 1, 3).replace("isr=2", "isr=1,2"), appends(0, 5), leads("t-0", 3),
        appends(5, 9), *by_another(raises(9)), raises(7),
    )  # fmt: skip

    raised = [args for step, args in found if step == "high_watermark_raised"]
    assert [(args["before"], args["now"]) for args in raised] == [(0, 9)]


NO_ANSWER = (
    "Conditional update of path /brokers/topics/t/partitions/0/state with data "
    '{{"leader":1,"isr":[1,2]}} and expected version 4 failed due to KeeperErrorCode = {} for /x'
)


def test_an_isr_write_whose_session_ended_was_asked_for_before_that_is_known(
    tmp_path: Path,
) -> None:
    failed = {"t-0": {"error": "UNKNOWN_SERVER_ERROR", "high_watermark": -1, "log_start": -1}}
    lines = (handles(50), reads("t-0", 5), ("other", "[Controller id=1] Resigned"))
    found = events_of(
        tmp_path, APPENDS, leads("t-0", 3), *lines, NO_ANSWER.format("Session expired"),
        done(50), messages=fetch(50, 2, failed, t_0=5),
    )  # fmt: skip

    assert [step for step, _ in found[-4:]] == [
        "fetch_served", "isr_expanding", "controller_resigned", "isr_update_failed"
    ]  # fmt: skip
    served, wants = found[-4][1], found[-3][1]
    assert (served["reply"]["error"], served["counted"]) == ("UNKNOWN_SERVER_ERROR", True)
    assert wants["wanted"] == [1, 2]

    refused = events_of(tmp_path, NO_ANSWER.format("BadVersion"))
    assert refused == []  # that is logged by the partition, in a line of its own


def test_who_is_in_a_leader_epoch_by_a_request_that_failed_follows_without_a_fetcher(
    tmp_path: Path,
) -> None:
    begins = (
        "[Broker id=1] Handling LeaderAndIsr request correlationId 5 from controller 2 epoch 1 "
        "starting the become-follower transition for partition {} with leader 2"
    )
    fails = (
        "[Broker id=1] Error while processing LeaderAndIsr request with correlationId 5 received "
        "from controller 2 epoch 1"
    )
    again = (
        "[Broker id=1] Ignoring LeaderAndIsr request from controller 2 with correlation id 6 epoch "
        "1 for partition t-1 since its associated leader epoch 3 matches the current leader epoch"
    )
    reported = (receives("t-1", 2, 3), receives("t-0", 2, 3))
    found = events_of(
        tmp_path, *reported, begins.format("t-1"), begins.format("t-0"), fails, *reported, again
    )
    follows = [(at, args) for at, (step, args) in enumerate(found) if step == "became_follower"]

    assert [(at, one["partition"], one["fetching"]) for at, one in follows] == [(2, "t-1", False)]
    assert found[-1][0] == "leader_and_isr_ignored"
    assert found[-1][1]["current"] == 3


def test_a_high_watermark_that_needs_no_newer_read_moves_none(tmp_path: Path) -> None:
    found = events_of(
        tmp_path, APPENDS, leads("t-0", 3),
        *by_another(handles(50), reads("t-0", 5), records("t-0", 2, 5)),
        *by_another(handles(60), reads("t-0", 5)),
        "[Partition t-0 broker=1] High watermark updated to (offset=5 segment=[0:1])",
        *by_another(records("t-0", 2, 5)),
        messages=[*fetch(50, 2, {}, t_0=5), *fetch(60, 2, {}, t_0=5)],
    )  # fmt: skip

    assert [args["correlation"] for step, args in found if step == "fetch_served"] == [50, 60]
    assert [step for step, _ in found[-2:]] == ["high_watermark_raised", "fetch_served"]


def test_a_batch_that_is_sent_again_is_answered_in_the_epoch_that_its_leader_is_in_now(
    tmp_path: Path,
) -> None:
    """By an idempotent producer, to a leader that has it of the leader before."""
    header = {"port": 50, "connection": 50, "correlation": 7, "from": "?", "to": "1",
              "api": "Produce", "at": 0.0}  # fmt: skip
    answered = {"t-0": {"error": "NONE", "first": 2}}
    completed = (
        f"Completed request:RequestHeader(apiKey=PRODUCE, correlationId=7) {FROM.format(50)}"
    )
    found = events_of(
        tmp_path, APPENDS, leads("t-0", 4), ("network", completed),
        messages=[
            {**header, "number": 1, "kind": "request", "acks": -1, "parts": {}},
            {**header, "number": 2, "kind": "answer", "parts": answered},
        ],
    )  # fmt: skip

    [(_, args)] = [one for one in found if one[0] == "producer_answered"]
    assert (args["leader_epoch"], args["first"], args["end"], args["acks"]) == (4, 2, 3, -1)


def test_2_3_and_2_8_tell_of_an_isr_in_other_words(tmp_path: Path) -> None:
    older = events_of(
        tmp_path, "[Partition t-0 broker=1] Expanding ISR from 1 to 1,2",
        "[Partition t-0 broker=1] ISR updated to [Replica(replicaId=1, topic=t, partition=0), "
        "Replica(replicaId=2, topic=t, partition=0)] and zkVersion updated to [4]",
    )  # fmt: skip
    newer = events_of(
        tmp_path, "[Partition t-0 broker=1] ISR updated to 1,2 and version updated to [4]"
    )

    assert [step for step, _ in older] == [step for step, _ in newer]
    assert older[1] == newer[1]
    assert older[1][1]["isr"] == [1, 2]


def test_a_controllers_request_is_read_in_the_words_of_2_3_and_of_2_8(tmp_path: Path) -> None:
    state = (
        "controllerEpoch=1, leader=2, leaderEpoch=3, isr={}, zkVersion=4, replicas={}, isNew=true"
    )
    sent = "correlation id 5 from controller 2 epoch 1"
    received = "[Broker id=1] Received LeaderAndIsr request"
    older = events_of(
        tmp_path,
        f"{received} PartitionState({state.format('2,1', '1,2')}) {sent} for partition t-0",
    )
    newer = events_of(
        tmp_path, f"{received} LeaderAndIsrPartitionState(topicName='t', partitionIndex=0, "
        f"{state.format('[2, 1]', '[1, 2]')}) {sent}",
    )  # fmt: skip

    assert older == newer
    assert older[0][1]["order"]["isr"] == [2, 1]


# Soaks


def test_faults_follow_from_the_seed_and_are_lines_of_a_schedule() -> None:
    some = list(faults(200, 3, (1, 2, 3)))

    assert some == list(faults(200, 3, (1, 2, 3)))
    assert some != list(faults(200, 4, (1, 2, 3)))
    verbs = {one.begins[0].split()[0] for one in some}
    assert verbs == {"kill", "pause", "expire", "hold", "drop"}  # TCP repeats no message
    assert len(KINDS) == 9
    for one in some:
        for line in (*one.begins, *one.ends):
            parse_line(line.split())


def test_a_soak_of_nothing_is_not_checked(tmp_path: Path) -> None:
    plan = SoakPlan(release_of("2.8.2"), 1, 1, 2)

    assert rounds_in(tmp_path, plan) == []
    assert verdict_of([]) is Verdict.NOT_CHECKED
    assert summary(plan, [])["share"] == 0.0


def test_a_soak_does_not_go_on_in_the_folder_of_another(tmp_path: Path) -> None:
    row = {
        "format": "insync.kafka_soak_round/1", "number": 1, "seed": 1001, "version": "2.8.2",
        "faults": ["kill 1 for 1.0 s"],
    }  # fmt: skip
    (tmp_path / "rounds.jsonl").write_text(json.dumps(row) + "\n" + '{"cut')

    assert len(rounds_in(tmp_path, SoakPlan(release_of("2.8.2"), 2, 1, 1))) == 1
    with pytest.raises(OtherSoak, match="another directory"):
        rounds_in(tmp_path, SoakPlan(release_of("2.3.1"), 2, 1, 1))
    with pytest.raises(OtherSoak, match="--clients"):
        rounds_in(tmp_path, SoakPlan(release_of("2.8.2"), 2, 1, 1, clients=(OURS,)))


def test_what_clients_saw_counts_beside_the_trace() -> None:
    def history(*found: str) -> ClientHistory:
        sends = [ProduceAttempt("w", 0, at, 1, -1, False, 0.0, 1.0, at) for at in range(2)]
        final = {0: dict(enumerate(found))}
        return ClientHistory(sends, [ReadRecords("r", 1, 0, 0, ((0, "w-0"),), 1.0)], final=final)

    fine, lost = seen_by_clients(history("w-0", "w-1"), ""), seen_by_clients(history("w-0"), "")
    assert fine["verdict"] == "holds"
    assert (lost["verdict"], lost["anomalies"][0]["kind"]) == ("broken", "lost")
    assert seen_by_clients(history("w-0", "w-1"), "no leader")["verdict"] == "unknown"
    assert seen_by_clients(ClientHistory(), "")["verdict"] == "not checked"

    done = [SoakRound(1, 1001, "2.8.2", clients=lost), SoakRound(2, 1002, "2.8.2", clients=fine)]
    reported = summary(SoakPlan(release_of("2.8.2"), 2, 1, 0, clients=(OURS,)), done)
    assert reported["clients"]["lost"] == 1
    assert reported["clients"]["acknowledged"] == 4
