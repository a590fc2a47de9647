"""A server of the explorer, and a browser to look at it with."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

OPENED = {"heading": "system replication version 2.3 brokers 3", "lines": []}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    pytest.importorskip("uvicorn", reason="the page's server is not installed")
    from conformance.web.pictures import served

    with served(OPENED) as number:
        yield number


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
