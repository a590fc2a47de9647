"""The lab's own ZooKeeper client, past the proxies; it can end another client's session."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any


def connect(hosts: str, timeout_s: float = 30.0, session: tuple[int, bytes] | None = None) -> Any:
    """A kazoo client with a session, or with another's, by its id and password."""
    from kazoo.client import KazooClient  # type: ignore[import-untyped]

    client = KazooClient(hosts=hosts, timeout=timeout_s, client_id=session)
    client.start(timeout=30)
    return client


def disconnect(client: Any) -> None:
    """End a client's session."""
    with contextlib.suppress(Exception):
        client.stop()
        client.close()


def expire(hosts: str, session: tuple[int, bytes]) -> None:
    """Ends another client's session, as if it had expired; its owner learns so when it connects."""
    disconnect(connect(hosts, 10.0, session))


def await_gone(hosts: str, path: str, patience_s: float) -> None:
    """Waits until there is no such node, or the time is up."""
    client = connect(hosts)
    try:
        deadline = time.monotonic() + patience_s
        while client.exists(path) and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        disconnect(client)


def controller_of(hosts: str) -> int | None:
    """The registered controller; None if there is none, or ZooKeeper does not answer."""
    from kazoo.exceptions import KazooException  # type: ignore[import-untyped]
    from kazoo.handlers.threading import KazooTimeoutError  # type: ignore[import-untyped]

    try:
        client = connect(hosts, 10.0)
    except (KazooException, KazooTimeoutError):
        return None
    try:
        return int(json.loads(client.get("/controller")[0])["brokerid"])
    except (KazooException, ValueError, KeyError):
        return None
    finally:
        disconnect(client)
