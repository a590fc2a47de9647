"""Waiting for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 60.0
"""Long, as a machine may be busy: what comes at once is not waited for longer."""


def eventually(holds: Callable[[], object], seconds: float = PATIENCE_S) -> bool:
    """Whether something comes to hold within that time."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
