"""Kafka's clients that write and read in a run of chaos: ours, librdkafka, kafka-python, aiokafka.

Each module has ``write`` and ``read``, which run in a thread until the run ends, and note in the
`Workload` what was sent, acknowledged, read and committed. One judge judges all of these notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from conformance.chaos.history import ALL, ProducerKind
from conformance.running.traced_cluster import run_in_threads

if TYPE_CHECKING:
    from conformance.chaos.workload import Workload


class ChaosClient(NamedTuple):
    """A library. ``package`` is what to install, ``imported`` its module; ours has neither."""

    name: str
    module: str
    package: str
    imported: str
    writers: tuple[ProducerKind, ...]

    @property
    def is_installed(self) -> bool:
        """Whether the client library can be imported."""
        return not self.imported or find_spec(self.imported) is not None

    @property
    def readers(self) -> tuple[str, ...]:
        """Two members of a group of their own, so that clients' faults stay separate."""
        return tuple(f"{self._named('reader')} {one}" for one in (1, 2))

    @property
    def group(self) -> str:
        """The group that its readers belong to."""
        return self._named("readers")

    def _named(self, what: str) -> str:
        return f"{self.name} {what}" if self.imported else what

    @property
    def write(self) -> Callable[[Workload, ProducerKind], None]:
        """Writes until the run ends."""
        found: Callable[[Workload, ProducerKind], None] = import_module(self.module).write
        return found

    @property
    def read(self) -> Callable[[Workload, str, str], None]:
        """Reads as a group member until the run ends; takes the reader's and the group's name."""
        found: Callable[[Workload, str, str], None] = import_module(self.module).read
        return found


def _real(name: str, module: str, package: str, imported: str) -> ChaosClient:
    writers = (
        ProducerKind(f"{name} plain", ALL),
        ProducerKind(f"{name} leader", 1),
        ProducerKind(f"{name} none", 0),
        ProducerKind(f"{name} idempotent", ALL, True),
    )
    return ChaosClient(name, f"{__name__}.{module}", package, imported, writers)


OURS = "ours"
CLIENTS: dict[str, ChaosClient] = {
    one.name: one
    for one in (
        ChaosClient(OURS, f"{__name__}.ours", "", "", (
            ProducerKind("plain", ALL), ProducerKind("leader", 1),
            ProducerKind("idempotent", ALL, True), ProducerKind("second", ALL, True),
        )),
        _real("librdkafka", "librdkafka", "confluent-kafka", "confluent_kafka"),
        _real("kafka-python", "kafka_python", "kafka-python", "kafka"),
        _real("aiokafka", "aio", "aiokafka", "aiokafka"),
    )
}  # fmt: skip
"""By name. A real client also writes with acks=0."""


class WrongClients(ValueError):
    """A client is unknown or not installed; the message says what to write or install."""


def clients_named(text: str) -> tuple[str, ...]:
    """Splits names at commas, each once; ``all`` for every client. Raises WrongClients."""
    found = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if found == ("all",):
        found = tuple(CLIENTS)
    for name in found:
        client = CLIENTS.get(name)
        if client is None:
            raise WrongClients(f"{name!r} is no client; write {', '.join(CLIENTS)}, or all")
        if not client.is_installed:
            raise WrongClients(
                f"{name} is not installed; write: pip install {client.package}, or leave it out"
            )
    return found


@contextmanager
def at_work(workload: Workload, clients: Iterable[str], idempotent: bool) -> Iterator[None]:
    """Runs writers of each kind and readers of each client; stops them at the end.

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
