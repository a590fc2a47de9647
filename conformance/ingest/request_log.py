"""Reads kafka-request.log: fetches and epoch requests of followers, with their responses.

Since 2.8 a request and its response are one line of JSON (KIP-673); from 0.11 to 2.7 they are the
text of Kafka's structs, `{replica_id=2,topics=[{topic=t,partitions=[...]}]}`, with the response at
TRACE. Other requests are not read. A line becomes one event whose `detail` has a row per partition,
so that lines read are still events, continuation lines and rejected ones.

Source: RequestChannel.updateRequestMetrics, RequestConvertToJson, Struct.toString.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.ingest.notation import Template

REQUESTS = "kafka.request.logger"
FETCHES, EPOCHS = "fetch_served", "epochs_served"
FETCH, EPOCH = 1, 23
_KINDS = {"FETCH": FETCHES, "OFFSET_FOR_LEADER_EPOCH": EPOCHS, "1": FETCHES, "23": EPOCHS}
_HEADER = re.compile(
    r"RequestHeader\(apiKey=(?P<api>\w+), apiVersion=\d+, clientId=(?P<client>[^,]*), "
    r"correlationId=(?P<correlation>-?\d+)\) -- (?P<rest>.*)",
    re.DOTALL,
)
_FETCHER = re.compile(r"broker-(\d+)-fetcher-\d+")
_CONNECTION = re.compile(r" from connection ([^;]*);")
_RECORDS = re.compile(r"start=(\d+), end=(\d+)\)")
_ATOM = re.compile(r"[^,{}\[\]]*")
NONE = 0


@dataclass(frozen=True)
class RequestTemplate(Template):
    """A line of the request log; `kind` is the sort of request."""

    def match(self, text: str) -> tuple[str, ...] | None:
        """The client, the correlation id and one row per partition; None for another request or
        form.

        They take the place of the hole values of ``text``.
        """
        if not text.startswith(self.prefix):
            return None
        try:
            found = _served(text[len(self.prefix) :])
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            return None
        if found is None or found[0] != self.kind:
            return None
        _, client, correlation, replica, connection, rows = found
        fetcher = _FETCHER.fullmatch(client)
        follower = int(fetcher[1]) if fetcher else replica
        detail = {"connection": connection or (client if fetcher else ""), "rows": rows}
        return str(follower), str(correlation), json.dumps(detail, separators=(",", ":"))


_TEXT = "Completed request:{replica}{correlation}{detail}"
_JSON = (
    'Completed request:{"isForwarded":false,"requestHeader":{"requestApiKey":%d,'
    '"requestApiVersion":%d,"correlationId":7,"clientId":"broker-5-fetcher-0",'
    '"requestApiKeyName":"%s"},"request":{"replicaId":5,"topics":[{"topic":"orders","partitions":['
    '{"partition":0,"currentLeaderEpoch":3,%s}]}]},"response":{%s}}'
)
TEMPLATES = (
    RequestTemplate(
        "fetch_completed", FETCHES, REQUESTS, _TEXT,
        _JSON % (FETCH, 12, "FETCH", '"fetchOffset":14', '"responses":[{"topic":"orders",'
                 '"partitionResponses":[{"partition":0,"errorCode":0,"highWatermark":14}]}]'),
    ),
    RequestTemplate(
        "epochs_completed", EPOCHS, REQUESTS, _TEXT,
        _JSON % (EPOCH, 3, "OFFSET_FOR_LEADER_EPOCH", '"leaderEpoch":2', '"topics":[{"topic":'
                 '"orders","partitions":[{"errorCode":0,"partition":0,"leaderEpoch":2,'
                 '"endOffset":14}]}]'),
    ),
)  # fmt: skip


def served_of(detail: str | None) -> tuple[str, list[dict[str, Any]]]:
    """The connection of a request, "" if unknown, and its rows.

    A row has `topic` (its id, if the line has no name), `partition`, and the request and response
    about it. `insession`: a fetch that is not the first of its session, possibly older than 2.7,
    in which these lines became JSON. `bytes`: the size of the records in the response, if known;
    `diverging`: the response says where the follower's log diverges from the leader's (KIP-595).
    """
    whole: dict[str, Any] = json.loads(detail) if detail else {"connection": "", "rows": []}
    return str(whole["connection"]), list(whole["rows"])


def _served(text: str) -> tuple[str, str, int, int, str, list[dict[str, Any]]] | None:
    """Kind, client, correlation id, replica id, connection, rows."""
    if text.startswith("{"):
        whole = json.loads(text)
        head = whole["requestHeader"]
        api = str(head.get("requestApiKeyName") or head["requestApiKey"])
        connection = str(whole.get("connection") or "")
        client, correlation = str(head.get("clientId")), int(head["correlationId"])
        asked, answered = whole["request"], whole.get("response") or {}
    else:
        found = _HEADER.match(text)
        if found is None:
            return None
        api, client, correlation = found["api"], found["client"], int(found["correlation"])
        if api not in _KINDS:
            return None
        asked, end = _struct(found["rest"], 0)
        connected = _CONNECTION.search(found["rest"], end)
        connection = connected[1] if connected else ""
        answer = found["rest"].find("response:{", end)
        answered = {} if answer < 0 else _struct(found["rest"], answer + len("response:"))[0]
    kind = _KINDS.get(api)
    if kind is None:
        return None
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for part, wanted in (("asked", asked), ("answered", answered)):
        for topic, one in _partitions(wanted):
            number = int(one["partition"] if "partition" in one else one["partitionindex"])
            row = rows.setdefault((topic, number), {"topic": topic, "partition": number})
            row[part] = {name: int(one[name]) for name in _WANTED if name in one}
            size = next((one[name] for name in _SIZES if isinstance(one.get(name), int)), None)
            if part == "answered" and size is not None:
                row["bytes"] = size
            if int(_plain(one.get("divergingepoch") or {}).get("endoffset", -1)) >= 0:
                row["diverging"] = True
    fields = _plain(asked)
    if not text.startswith("{") and int(fields.get("sessionepoch", -1)) > 0:
        for row in rows.values():
            row["insession"] = True
    replica = int(fields.get("replicaid", -1))
    return kind, client, correlation, replica, connection, list(rows.values())


_WANTED = ("currentleaderepoch", "fetchoffset", "lastfetchedepoch", "leaderepoch", "endoffset",
           "errorcode", "highwatermark")  # fmt: skip
_NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"  # as Uuid.ZERO_UUID is written
_SIZES = ("recordsetsizeinbytes", "recordssizeinbytes", "recordset")


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields under one spelling for all releases; the fields of a header are included."""
    found = {name.replace("_", "").lower(): value for name, value in fields.items()}
    header = found.pop("partitionheader", None)
    return found | _plain(header) if isinstance(header, dict) else found


def _partitions(fields: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    plain = _plain(fields)
    for topic in plain.get("topics") or plain.get("responses") or ():
        inside = _plain(topic)
        # Since 3.1 fetches name a topic by its id alone (KIP-516): another life has another one.
        name = inside.get("topic") or inside.get("name") or inside.get("topicid")
        if not isinstance(name, str) or name == _NO_ID:
            continue
        for one in inside.get("partitions") or inside.get("partitionresponses") or ():
            yield name, _plain(one)


def _struct(text: str, at: int) -> tuple[Any, int]:
    """A value of `Struct.toString` that begins at a place, and its end."""
    if text[at] == "{":
        fields: dict[str, Any] = {}
        at += 1
        while text[at] != "}":
            equals = text.index("=", at)
            name = text[at:equals].lstrip(", ")
            fields[name], at = _struct(text, equals + 1)
        return fields, at + 1
    if text.startswith("record_set=[]", at - len("record_set=")):
        return 0, at + 2
    if text[at] == "[":
        items: list[Any] = []
        at += 1
        while text[at] != "]":
            if text[at] in ", ":
                at += 1
                continue
            item, at = _struct(text, at)
            items.append(item)
        return items, at + 1
    if text.startswith("FileRecords(", at) or text.startswith("MemoryRecords(", at):
        end = text.index(")", at) + 1
        size = _RECORDS.search(text, at, end)
        return int(size[2]) - int(size[1]) if size else None, end
    atom = _ATOM.match(text, at)
    assert atom is not None, "anything matches"
    return atom[0], atom.end()
