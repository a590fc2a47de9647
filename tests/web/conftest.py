"""A server of the explorer, and a browser to look at it with."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

OPENED = {"heading": "system replication version 2.3 brokers 3", "lines": []}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    uvicorn = pytest.importorskip("uvicorn", reason="the page's server is not installed")
    from conformance.web.server import application, free_socket

    place = free_socket()
    number = place.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(application(number, OPENED), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
    thread.start()
    until = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < until, "the server does not start"
        time.sleep(0.01)
    yield number
    server.should_exit = True
    thread.join(timeout=10)
    place.close()


def chromium() -> str:
    """Debian's Chromium; skips where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: install insync[browser]"
    )
    where = chromium()
    with sync_api.sync_playwright() as started:
        shown = started.chromium.launch(executable_path=where, args=["--no-sandbox"])
        yield shown
        shown.close()
