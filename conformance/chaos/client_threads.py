"""Threads of a chaos run: the writers and readers of each client, until the run ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from conformance.chaos.clients import CLIENTS
from conformance.chaos.workload import Workload
from conformance.running.traced_cluster import run_in_threads


@contextmanager
def at_work(workload: Workload, clients: Iterable[str], idempotent: bool) -> Iterator[None]:
    """Writers of each kind and readers of each client run; at the end they have stopped.

    ``clients`` are names of ``CLIENTS``. ``idempotent``: the release has idempotent producers.
    """
    works: list[tuple[str, Callable[[], object]]] = []
    for client in (CLIENTS[name] for name in clients):
        writers = [one for one in client.writers if idempotent or not one.idempotent]
        workload.history.clients[client.name] = (
            *(one.name for one in writers), *client.readers,
        )  # fmt: skip
        works += [(one.name, partial(client.write, workload, one)) for one in writers]
        works += [(one, partial(client.read, workload, one, client.group))
                  for one in client.readers]  # fmt: skip
    try:
        with run_in_threads(works, workload.ended, 20):
            yield
    finally:
        workload.give_up()
