"""Background threads whose failures reach the caller."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator


@contextlib.contextmanager
def working(
    works: Iterable[tuple[str, Callable[[], object]]], ended: threading.Event,
    patience_s: float = 10.0,
) -> Iterator[None]:  # fmt: skip
    """Each of the works, by its name, in a thread; at the end ``ended`` is set and they are waited
    for, each so long (s). Whoever interrupts that goes on without them."""
    threads = [threading.Thread(target=work, name=name, daemon=True) for name, work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        with contextlib.suppress(KeyboardInterrupt):
            for thread in threads:
                thread.join(patience_s)
