"""Columns of ingested logs as Arrow schemas: events, rejected lines, one row per file.

All three kinds of rows are in one table while lines are read (`LINES`), distinguished by the column
`what`; so one pass over a file is enough, with Spark as well as without it.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

EVENT, REJECTED, FILE = "event", "rejected", "file"

_INT, _LONG, _TEXT = pa.int32(), pa.int64(), pa.string()

# What an event says, beside where it stands. Absent values are null.
SAID: dict[str, pa.DataType] = {
    "broker": _INT,  # who wrote the line
    "controller": _INT,  # the controller that is mentioned
    "controller_epoch": _INT,
    "topic": _TEXT,
    "partition": _INT,
    "leader": _INT,  # -1 none, -2 being deleted
    "leader_epoch": _INT,
    "state_epoch": _INT,  # the controller epoch inside a partition's state
    "isr": pa.list_(_INT),  # as the line puts it, order kept
    "replicas": pa.list_(_INT),  # the brokers that a partition is assigned to
    "offline": pa.list_(_INT),  # of its replicas, those that a controller counts as offline
    "version": _INT,  # of the znode that was written (zkVersion)
    "previous_epoch": _INT,  # the leader epoch held before
    # the controller epoch known to a broker that refuses an older one; that of a controller's text
    "known_epoch": _INT,
    "correlation": _LONG,
    "replica": _INT,  # the broker that a request goes to, or the replica that changes
    "from_state": _TEXT,
    "to_state": _TEXT,
    "is_new": pa.bool_(),
    "offset": _LONG,
    "high_watermark": _LONG,
    "detail": _TEXT,
    "again": _TEXT,  # the partition as the line names it elsewhere, where that is another one
    "beside": _TEXT,  # where lines are left out (`pipeline.screen`): what it does not go with
}

WHERE: dict[str, pa.DataType] = {
    "cluster": _TEXT,
    "file": _TEXT,
    "line": _LONG,  # 1 is the first
    "lines": _INT,  # this line and its continuation lines
    "at": _LONG,  # milliseconds since 1970, the stamp read as if it were UTC
    "level": _TEXT,
    "logger": _TEXT,
    "kind": _TEXT,
    "template": _TEXT,
    "digest": _LONG,  # of the stamped line, to recognise it in another file
}

EVENTS = pa.schema({**WHERE, **SAID})
NOTES = pa.schema(
    [*(each for each in EVENTS if each.name in WHERE and each.name not in ("kind", "template")),
     EVENTS.field("broker")]
)  # fmt: skip
"""The columns of a note that hold something; its kind and template are the same for all."""
REJECTS = pa.schema(
    {
        **{name: WHERE[name] for name in ("cluster", "file", "line", "at", "logger")},
        "reason": _TEXT,
        "template": _TEXT,  # the line with its numbers and names taken out
        "text": _TEXT,  # cut at 500 characters
    }
)
FILES = pa.schema(
    {
        "cluster": _TEXT,
        "file": _TEXT,
        "reason": _TEXT,  # why it could not be read (to its end); null when it could
        "read": _LONG,
        "events": _LONG,
        "continuation": _LONG,
        "rejected": _LONG,
        "protocol": _LONG,  # stamped lines of the loggers that mention the protocol
        "since": _LONG,  # the first stamp in it, as `at`
        "until": _LONG,  # and the last
        "jumps": pa.list_(_LONG),  # lines whose stamps go back by more than a minute
        "holes": pa.list_(_LONG),  # lines that could not be read: others may have stood there
        "hole_times": pa.list_(_LONG),  # of each the stamp before it, as `at`; 0 if there is none
        "nuls": _LONG,  # lines with NUL bytes in them
        "turns": _LONG,  # lines that Kafka's configuration has in another file than the one before
        "one_writer": pa.bool_(),  # they show that one process wrote all of these
        "brokers": pa.list_(_INT),  # those that name themselves as writers of its lines
        "named": pa.list_(_LONG),  # and how many of its lines name each, in the same order
        "release": _TEXT,
        "stated_id": _INT,  # broker.id as the file's configuration dump states it
    }
)
LINES = pa.schema(
    {
        "what": _TEXT,
        **{f.name: f.type for schema in (EVENTS, REJECTS, FILES) for f in schema},
    }
)
MERGED = pa.schema([*EVENTS, pa.field("positions", pa.list_(_TEXT)), pa.field("distinct", _LONG)])


@dataclass(slots=True)
class Event:
    """One stamped line that was understood. The fields are the columns of `MERGED`."""

    cluster: str = ""
    file: str = ""
    line: int = 0
    lines: int = 1
    at: int = 0
    level: str = ""
    logger: str = ""
    kind: str = ""
    template: str = ""
    digest: int = 0
    broker: int | None = None
    controller: int | None = None
    controller_epoch: int | None = None
    topic: str | None = None
    partition: int | None = None
    leader: int | None = None
    leader_epoch: int | None = None
    state_epoch: int | None = None
    isr: list[int] | None = None
    replicas: list[int] | None = None
    offline: list[int] | None = None
    version: int | None = None
    previous_epoch: int | None = None
    known_epoch: int | None = None
    correlation: int | None = None
    replica: int | None = None
    from_state: str | None = None
    to_state: str | None = None
    is_new: bool | None = None
    offset: int | None = None
    high_watermark: int | None = None
    detail: str | None = None
    again: str | None = None
    beside: str | None = None
    positions: list[str] = field(default_factory=list)

    @property
    def where(self) -> str:
        """File and line, in the form that editors accept."""
        return f"{self.file}:{self.line}"

    @property
    def tp(self) -> tuple[str, int] | None:
        """Topic and partition, if the line has one."""
        if self.topic is None or self.partition is None:
            return None
        return self.topic, self.partition

    @property
    def tp_name(self) -> str:
        """Topic and partition as Kafka writes them: `orders-0`."""
        return f"{self.topic}-{self.partition}"


EVENT_FIELDS = tuple(f.name for f in fields(Event))


def events_of(table: pa.Table) -> list[Event]:
    """Converts the rows of a table with the columns of `EVENTS` (or `MERGED`) to events."""
    size = table.num_rows
    if not size:
        return []
    columns = []
    for each in fields(Event):
        if each.name in table.column_names:
            columns.append(_values(table.column(each.name)))
        elif each.default_factory is not MISSING:
            columns.append([each.default_factory() for _ in range(size)])
        else:
            columns.append([each.default] * size)
    return [Event(*row) for row in zip(*columns, strict=True)]


def _values(column: pa.ChunkedArray) -> list[Any]:
    """A column as Python values. Equal texts are one object, to save memory."""
    size, kind = len(column), column.type
    if column.null_count == size:
        return [None] * size
    array = column.combine_chunks()
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_integer(kind) and not array.null_count:
        return array.to_numpy().tolist()  # type: ignore[no-any-return]
    if pa.types.is_string(kind):
        coded = array.dictionary_encode()
        texts = [*coded.dictionary.to_pylist(), None]
        return [texts[code] for code in coded.indices.fill_null(-1).to_numpy().tolist()]
    if pa.types.is_list(kind) and not array.null_count:
        inner, ends = _values(pa.chunked_array([array.flatten()])), array.offsets.to_numpy()
        ends = (ends - ends[0]).tolist()
        return [inner[low:high] for low, high in pairwise(ends)]
    if pa.types.is_integer(kind):
        values = np.full(size, None, object)
        known = array.is_valid().to_numpy(zero_copy_only=False)
        values[known] = array.drop_null().to_numpy()
        return values.tolist()
    return array.to_pylist()  # type: ignore[no-any-return]
