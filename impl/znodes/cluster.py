"""Znodes of the cluster as a whole: controller, its epoch, id, features, failed log directories."""

from __future__ import annotations

import re
from collections.abc import Mapping

from impl.znodes import paths
from impl.znodes.text import MalformedZnode, Reader, write

LOG_DIR_FAILURE = 1
"""The one event of log directories: a log directory failed."""


def encode_controller(broker: int, timestamp_ms: int) -> str:
    """The text of ``/controller``."""
    return write({"version": 1, "brokerid": broker, "timestamp": str(timestamp_ms)})


def decode_controller(text: str) -> int:
    """The broker in ``/controller``; MalformedZnode names what is wrong."""
    return Reader.of(paths.CONTROLLER, text).whole("brokerid")


def decode_controller_epoch(text: str) -> int:
    """The number in ``/controller_epoch``, which is no JSON."""
    if not re.fullmatch(r"-?\d+", text):
        raise MalformedZnode(paths.CONTROLLER_EPOCH, "line 1 column 1", f"{text!r} is no epoch")
    return int(text)


def encode_cluster_id(cluster_id: str) -> str:
    """The text of ``/cluster/id``; here the version is a string."""
    return write({"version": "1", "id": cluster_id})


def decode_cluster_id(text: str) -> str:
    """The id in ``/cluster/id``; MalformedZnode names what is wrong."""
    return Reader.of(paths.CLUSTER_ID, text).string("id")


def encode_log_dir_event(broker: int) -> str:
    """The text of a log directory's failure."""
    return write({"version": 1, "broker": broker, "event": LOG_DIR_FAILURE})


def decode_log_dir_event(path: str, text: str) -> int | None:
    """The broker whose log directory failed, None for an event of another kind."""
    reader = Reader.of(path, text)
    return reader.whole("broker") if reader.whole("event") == LOG_DIR_FAILURE else None


def encode_producer_id_block(broker: int, start: int, end: int) -> str:
    """The text of ``/latest_producer_id_block``: the last block that was handed out."""
    block = {"version": 1, "broker": broker, "block_start": str(start), "block_end": str(end)}
    return write(block)


def decode_producer_id_block(text: str) -> tuple[int, int, int]:
    """Broker, first and last id of the block; MalformedZnode names what is wrong."""
    reader = Reader.of(paths.PRODUCER_ID_BLOCK, text, range(1, 2))
    bounds = []
    for name in ("block_start", "block_end"):
        digits = reader.string(name)
        if not digits.isdecimal():
            raise reader.wrong(name, f"is {digits!r}, not a number in digits")
        bounds.append(int(digits))
    return reader.whole("broker"), bounds[0], bounds[1]


def encode_feature(status: int, features: Mapping[str, object]) -> str:
    """The text of ``/feature`` (2.7 and later)."""
    return write({"version": 1, "status": status, "features": dict(features)})


def decode_feature(text: str) -> tuple[int, dict[str, object]]:
    """Status and features; MalformedZnode names what is wrong."""
    reader = Reader.of(paths.FEATURE, text, range(1, 2))
    return reader.whole("status"), dict(reader.inner("features").fields)
