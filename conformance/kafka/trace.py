"""Writes the trace of a lab: files in the format of our own processes, of what real Kafka did.

DIR/trace/zookeeper-1.ndjson   ZooKeeper's own transaction log
DIR/trace/brokerN-S.ndjson     start S of broker N: what its threads logged (`broker_trace`); for
                               our brokers, what they wrote, with the request numbers that the
                               other files have for their fetchers' requests (`own_trace`)

`insync check DIR/trace` judges them as it judges `insync cluster start --trace`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conformance.kafka.broker_trace import UNSEEN, BrokerTraceReader, Registrations
from conformance.kafka.controller_trace import UNSEEN_OF_CONTROLLERS
from conformance.kafka.daemon import MESSAGES
from conformance.kafka.lab import TRACE, ZOOKEEPER, Lab
from conformance.kafka.log4j import starts_in
from conformance.kafka.own_trace import keep_own, write_own
from conformance.kafka.protocol_log import lines_in
from conformance.kafka.proxied_requests import ProxiedRequests
from conformance.kafka.transactions import Znodes, transactions_in
from impl.server.processes import ClusterError
from impl.server.trace import SUFFIX, TraceFile

IDS = "/brokers/ids/"
CLUSTER = "/cluster/id"
OLDER = (
    "event_begun, registrations_read, request_sent, request_received: requests that do not name "
    "the broker's registration (before 2.2) are not distinguished after a channel is made anew"
)


def write_trace(lab: Lab) -> list[Path]:
    """Writes the trace of what the lab's processes did so far, over an older one; its files.

    ClusterError if nothing was recorded.
    """
    if (why := lab.release.why_no_trace) is not None:
        raise ClusterError(f"{why}; judge its logs: insync check {lab.folder / 'logs'}")
    folder = lab.folder / TRACE
    messages = folder / MESSAGES
    if not messages.is_file():
        raise ClusterError(
            f"{folder} has no {MESSAGES}: nothing passed the proxies yet; write: "
            f"insync kafka start {lab.folder}"
        )
    theirs = [one for one in lab.brokers if not lab.is_ours(one)]
    if not any(starts_in(lab.logs(one)) for one in theirs):
        raise ClusterError(
            f"{lab.folder / 'logs'} has no protocol-1.log of any broker: it was made by an older "
            "insync; start a new one"
        )
    own = keep_own(folder, lab.state.ours)
    for old in sorted(set(folder.glob(f"*{SUFFIX}"))):
        old.unlink()
    znodes, lines = Znodes(), []
    sessions = Registrations()
    history: list[tuple[int, dict[int, int]]] = []
    cluster = ""
    for one in transactions_in(lab.folder / ZOOKEEPER / "data"):
        step, args = znodes.line(one)
        lines.append((step, args))
        _note_registrations(history, step, args)
        for op in args.get("ops", ()):
            if op["op"] == "Create" and op["path"].startswith(IDS):
                broker = int(op["path"].removeprefix(IDS))
                sessions.note(broker, one.zxid, one.session, one.at / 1000)
            if op["path"] == CLUSTER and "data" in op:
                cluster = str(json.loads(op["data"]).get("id", ""))
    _write(folder, ZOOKEEPER, ZOOKEEPER, {"cluster": cluster, "of": "ZooKeeper"}, lines)
    questions = ProxiedRequests(messages, lab.state.ours)
    write_own(folder, own, questions, lab.release.protocol)
    protocol = lab.release.protocol
    names_them = lab.release.since("2.2")
    head = {
        "cluster": cluster, "version": protocol, "of": f"Apache Kafka {lab.release.text}",
        "settings": {
            "protocol": protocol,
            "unclean": lab.setting("unclean.leader.election.enable") == "true",
        },
        "not_seen": [*UNSEEN, *UNSEEN_OF_CONTROLLERS] if names_them else [*UNSEEN, OLDER],
    }  # fmt: skip
    for broker in theirs:
        for path in starts_in(lab.logs(broker)):
            reader = BrokerTraceReader(
                broker, questions, sessions, lab.release.caches_epochs,
                history if names_them else None,
            )  # fmt: skip
            events = reader.run(lines_in(path))
            _write(folder, "broker", broker, head, events)
    return sorted(folder.glob(f"*{SUFFIX}"))


def _note_registrations(
    history: list[tuple[int, dict[int, int]]], step: str, args: dict[str, Any]
) -> None:
    """Who is registered from a transaction on, if it changes that."""
    there = dict(history[-1][1]) if history else {}
    if step == "session_ended":
        gone = [path for path in args["gone"] if path.startswith(IDS)]
    else:
        gone = [op["path"] for op in args["ops"]
                if op["op"] == "Delete" and op["path"].startswith(IDS)]  # fmt: skip
    for path in gone:
        there.pop(int(path.removeprefix(IDS)), None)
    for op in args.get("ops", ()):
        if op["op"] == "Create" and op["path"].startswith(IDS):
            there[int(op["path"].removeprefix(IDS))] = args["zxid"]
    if not history or there != history[-1][1]:
        history.append((args["zxid"], there))


def _write(
    folder: Path, kind: str, node: int | str, head: dict[str, Any],
    events: list[tuple[str, dict[str, Any]]],
) -> None:  # fmt: skip
    file = TraceFile(folder, kind, node, head)
    try:
        for step, args in events:
            file.line(step, args)
    finally:
        file.close()
