"""Converts ZooKeeper's transaction log to typed rows, like those that `parse` makes of log lines.

An operation is a line: the first of a file is line 1, and a multi of three is three lines. Records
that are no writes (new sessions, failed writes), and writes irrelevant to the protocol, are
continuations. The columns of an operation are

    offset          the zxid
    correlation     the session
    high_watermark  the zxid from which on the file has every transaction up to this one
    version         what the write left
    detail          the operation as JSON: op, path, and of a Create or SetData its data
                    or, of a topic's assignment, whether something moves in it

`detail` also has a state's topic and partition, which are not in their columns: the state goes with
the rest of the log to where a cluster is judged as a whole, however many lines its partitions have.

Times are UTC by the clock of the ensemble's leader, and stamps of logs are not: the two are never
compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from conformance.ingest.notation import Template
from conformance.ingest.schema import FILE, REJECTED
from conformance.ingest.statements import NOTE
from conformance.ingest.transaction_log import Transaction, TransactionLogReader, ZooKeeperWrite

STATE_WRITTEN, ZNODE_WRITTEN, SESSION_CLOSED, TRANSACTIONS_READ = (
    "state_written", "znode_written", "session_closed", "transactions_read",
)  # fmt: skip
TRANSACTIONS = frozenset((STATE_WRITTEN, ZNODE_WRITTEN, SESSION_CLOSED, TRANSACTIONS_READ))
"""Kinds of what ZooKeeper's transaction log says. The last ends each file, with its last zxid."""
LOGGER = "org.apache.zookeeper.server.persistence.FileTxnLog"
NO_STATE = "is no state of a partition"
_STATE = re.compile(r".*/brokers/topics/([A-Za-z0-9._-]{1,249})/partitions/(\d{1,9})/state")
_OF_PROTOCOL = re.compile(
    r".*/(?:controller|controller_epoch|migration|brokers/ids/\d+|brokers/topics/[^/]+"
    r"|brokers/topics/[^/]+/partitions|admin/reassign_partitions|isr_change_notification/[^/]+)"
)
_WITH_DATA = re.compile(r".*/(?:controller|controller_epoch|migration|admin/reassign_partitions)")
_TOPIC = re.compile(r".*/brokers/topics/[^/]+")
_SHOWN = 500


def parsed_transactions(cluster: str, file: str, path: str) -> Iterator[Any]:
    """The rows of `parse.parsed_file` for a transaction log. Never raises because of the file."""
    log = TransactionLogReader(path)
    line = events = rejected = continuation = 0
    for one in log:
        if not one.writes and not one.closes:
            line, continuation = line + 1, continuation + 1
        for number, (kind, said) in enumerate(_operations(one)):
            line += 1
            if isinstance(said, str):
                rejected += 1
                yield _rejected(cluster, file, line, one, said)
                continue
            continuation += kind == NOTE
            events += kind != NOTE
            if kind == NOTE:
                continue
            said |= {"offset": one.zxid, "correlation": one.session,
                     "high_watermark": one.whole_since}  # fmt: skip
            text = f"{one.digest:x} {number}"
            yield (cluster, file, line, one.at, 1, "", LOGGER, text, _template_of(kind), said, ())
    if log.read:
        line, events = line + 1, events + 1
        said = {"offset": log.last, "high_watermark": log.whole_since}
        text = f"{cluster} {file} {log.last}"
        known = _template_of(TRANSACTIONS_READ)
        yield (cluster, file, line, 0, 1, "", LOGGER, text, known, said, ())
    yield {
        "what": FILE, "cluster": cluster, "file": file, "reason": log.reason, "read": line,
        "events": events, "continuation": continuation, "rejected": rejected, "protocol": 0,
        "since": None, "until": None, "jumps": [], "holes": [], "hole_times": [], "nuls": 0,
        "turns": 0, "one_writer": True,
        "brokers": [], "named": [], "release": None, "stated_id": None,
    }  # fmt: skip


@lru_cache
def _template_of(kind: str) -> Template:
    return Template(kind, kind, "", "")


def _operations(one: Transaction) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Kind and columns of each operation; a text if it cannot be understood."""
    if one.closes:
        yield SESSION_CLOSED, {"detail": json.dumps({"op": "Close", "by_client": one.by_client})}
    for write in one.writes:
        yield _operation(write)


def _operation(write: ZooKeeperWrite) -> tuple[str, dict[str, Any] | str]:
    shown: dict[str, Any] = {"op": write.kind, "path": write.path}
    state = _STATE.fullmatch(write.path)
    if write.kind == "Check" or not (state or _OF_PROTOCOL.fullmatch(write.path)):
        return NOTE, {}
    if state is not None and write.data is not None:
        found = _state(write.data)
        if found is None:
            return STATE_WRITTEN, write.data
        shown |= {"topic": state[1], "partition": int(state[2])}
        return STATE_WRITTEN, found | {"version": write.version, "detail": json.dumps(shown)}
    if write.data is not None and _WITH_DATA.fullmatch(write.path):
        shown["data"] = write.data
    if write.data is not None and _TOPIC.fullmatch(write.path) and _moves(write.data):
        shown["moves"] = True
    if write.ephemeral:
        shown["ephemeral"] = True
    if not write.readable:
        shown["readable"] = False
    version = write.version if write.kind != "Delete" else None
    return ZNODE_WRITTEN, {"version": version, "detail": json.dumps(shown)}


def _moves(data: str) -> bool:
    """Whether a topic's znode says that partitions of it are moving (KIP-455)."""
    try:
        fields = json.loads(data)
        return any(fields.get(name) for name in ("adding_replicas", "removing_replicas"))
    except (ValueError, AttributeError):
        return False


def _state(data: str) -> dict[str, Any] | None:
    """A partition's state (`TopicPartitionStateZNode`) as columns; None if it is not one."""
    try:
        fields = json.loads(data)
        found: dict[str, Any] = {
            "leader": int(fields["leader"]),
            "leader_epoch": int(fields["leader_epoch"]),
            "state_epoch": int(fields["controller_epoch"]),
            "isr": [int(one) for one in fields["isr"]],
        }
    except (ValueError, TypeError, KeyError):
        return None
    isr: list[int] = found.pop("isr")
    fits = all(-(1 << 31) <= one < 1 << 31 for one in (*isr, *found.values()))
    return found | {"isr": isr} if fits else None


def _rejected(cluster: str, file: str, line: int, one: Transaction, text: str) -> dict[str, Any]:
    return {
        "what": REJECTED, "cluster": cluster, "file": file, "line": line, "at": one.at,
        "logger": LOGGER, "reason": NO_STATE, "template": NO_STATE, "text": text[:_SHOWN],
    }  # fmt: skip
