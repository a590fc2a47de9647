"""A leader's ISR write that waits for ZooKeeper: its steps, with its state as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from impl.core.partition import Partition, PartitionMemory, SomeLog
from impl.core.replica_events import silent
from impl.sim.effects import EffectPort, ZkOperation
from impl.sim.pending import CompletedWork, carry_out, run_until_next_operation
from impl.zookeeper.errors import ConnectionLoss


@dataclass(frozen=True, slots=True)
class IsrWrite:
    """A leader's ISR write that waits for ZooKeeper.

    It began with the memory ``began``, has received the answers ``heard``, and waits for ``ask``.
    ``answer`` is ZooKeeper's result, or None if no session can send it again.
    """

    began: PartitionMemory
    replica: int
    joins: bool
    heard: tuple[Any, ...]
    ask: ZkOperation
    answer: Any

    @property
    def version(self) -> int | None:
        """The new zkVersion, None if the write was refused."""
        first = self.answer[0] if isinstance(self.answer, tuple) else None
        return first if isinstance(first, int) else None


class SteppedIsr(Partition[SomeLog]):
    """A replica whose ISR changes are separate steps; its client's operations are effects.

    ``isr_write`` is the write that waits, None if there is none.
    """

    isr_write: IsrWrite | None = None

    async def expand(self, replica: int, now_ms: int) -> None:
        """The fetch handler is suspended here: Kafka takes another lock for the expansion."""

    async def expand_now(self, replica: int) -> None:
        """Begin the ISR write; its answer arrives in a later step."""
        await super().expand(replica, 0)

    async def shrink_now(self, replica: int) -> None:
        """Shrink the ISR, as a check that finds a replica out of sync."""
        await self.shrink([replica], 0)

    def begin_isr_write(self, replica: int, joins: bool) -> None:
        """Add a follower to the ISR, or drop it: ZooKeeper carries out the write, or refuses it."""
        self._goes_on(self.memory(), replica, joins, (), None)

    def learn_isr_write(self) -> None:
        """Receive the answer."""
        write = self._write_under_way()
        self._heard(write, write.answer)

    def lose_isr_answer(self) -> None:
        """Break the connection: the write is sent again as soon as there is a session."""
        broken = ConnectionLoss("the connection broke before the reply came")
        self._heard(self._write_under_way(), broken)

    def end_isr_write(self) -> None:
        """End a refused write: read the state back if the session is alive."""
        while (write := self.isr_write) is not None:
            sent_again = write.answer is None
            self._heard(write, carry_out(self._port.embedded, write.ask) if sent_again
                        else write.answer)  # fmt: skip

    def write_isr(self, replica: int, joins: bool) -> None:
        """Write and receive the answer in one step."""
        self.begin_isr_write(replica, joins)
        if self.isr_write is not None:
            self.end_isr_write()

    def save(self) -> Any:
        """Everything but the records, as a value."""
        return self.memory(), self.isr_write, self.log.high_watermark

    def load(self, saved: Any) -> None:
        """Restore what `save` returned."""
        memory, self.isr_write, self.log.high_watermark = saved
        self.recall(memory)

    def _write_under_way(self) -> IsrWrite:
        assert self.isr_write is not None, "no ISR write is under way"
        return self.isr_write

    @property
    def _port(self) -> EffectPort:
        assert self.client is not None, "who writes has a session"
        port = self.client().port
        assert isinstance(port, EffectPort), "its client asks by effects"
        return port

    def _heard(self, write: IsrWrite, answer: Any) -> None:
        self.recall(write.began)
        self._goes_on(write.began, write.replica, write.joins, write.heard, answer)

    def _goes_on(
        self, began: PartitionMemory, replica: int, joins: bool, heard: tuple[Any, ...], answer: Any
    ) -> None:
        observer_before = self.observer

        def answers() -> Iterator[Any]:
            yield from heard
            self.observer = observer_before
            if answer is not None:
                yield answer

        if answer is not None:
            self.observer = silent  # what is done over was reported before
        work = self.expand_now(replica) if joins else self.shrink_now(replica)
        try:
            progress = run_until_next_operation(work, answers(), self.memory)
        finally:
            self.observer = observer_before
        if isinstance(progress, CompletedWork):
            self.isr_write = None
            return
        self.recall(progress.memory)
        passed = heard if answer is None else (*heard, answer)
        sent = carry_out(self._port.embedded, progress.ask) if self._port.alive else None
        self.isr_write = IsrWrite(began, replica, joins, passed, progress.ask, sent)
