"""Znodes of the cluster as a whole: controller, its epoch, id, failed log directories."""

from __future__ import annotations

import re

from impl.znodes import paths
from impl.znodes.text import MalformedZnode, ZnodeFields, write

LOG_DIR_FAILURE = 1
"""The one event of log directories: a log directory failed."""


def encode_controller(broker: int, timestamp_ms: int) -> str:
    """The text of ``/controller``."""
    return write({"version": 1, "brokerid": broker, "timestamp": str(timestamp_ms)})


def decode_controller(text: str) -> int:
    """The broker in ``/controller``; MalformedZnode names the wrong part."""
    return ZnodeFields.of(paths.CONTROLLER, text).whole("brokerid")


def decode_controller_epoch(text: str) -> int:
    """The number in ``/controller_epoch``, which is not JSON."""
    if not re.fullmatch(r"-?\d+", text):
        raise MalformedZnode(paths.CONTROLLER_EPOCH, "line 1 column 1", f"{text!r} is no epoch")
    return int(text)


def encode_cluster_id(cluster_id: str) -> str:
    """The text of ``/cluster/id``; here the version is a string."""
    return write({"version": "1", "id": cluster_id})


def decode_cluster_id(text: str) -> str:
    """The id in ``/cluster/id``; MalformedZnode names the wrong part."""
    return ZnodeFields.of(paths.CLUSTER_ID, text).string("id")


def encode_log_dir_event(broker: int) -> str:
    """The text of a notification about a failed log directory."""
    return write({"version": 1, "broker": broker, "event": LOG_DIR_FAILURE})


def decode_log_dir_event(path: str, text: str) -> int | None:
    """The broker whose log directory failed, None for an event of another kind."""
    reader = ZnodeFields.of(path, text)
    return reader.whole("broker") if reader.whole("event") == LOG_DIR_FAILURE else None
