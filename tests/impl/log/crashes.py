"""A broker's disk, worked on at random and killed at random, beside plain lists that remember.

Each round of a run does some operations on two partitions, is killed in the midst of one (or in
the midst of a recovery), and starts again. What must be there then:

* the log is a contiguous beginning of what it was, record by record, epoch by epoch;
* of a killed process nothing that an operation had returned from is lost; of lost power nothing
  that was flushed;
* the high watermark is within the log, no higher than it was, no lower than its checkpoint or the
  log's end; so every record below it is there;
* the epoch cache answers as the records do;
* whatever was cut or built again is reported, and the log goes on.

A disk that lies about syncs breaks Kafka's assumption: there every log must still be readable, or
refused with the name of a file, and no record may be there that was never appended at its offset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from impl.disk import Killed, MemoryDisk
from impl.log.config import LogConfig
from impl.log.errors import CorruptRecord, InvalidBatch, StorageError
from impl.log.log import Log
from impl.log.log_directory import LogSettings
from impl.log.log_manager import LogManager
from impl.log.record import StoredRecord
from impl.log.record_batch import batches_in, encode_batch

PARTITIONS = (("orders", 0), ("orders", 1))

PRODUCER = 7
"""An idempotent producer: the sequence of each of its records is the offset."""

Kept = tuple[int, bytes | None]
"""Leader epoch and value of a record."""

TINY = LogConfig(
    segment_bytes=700,
    index_interval_bytes=100,
    segment_index_bytes=600,
    file_delete_delay_ms=50,
    retention_ms=-1,
)


@dataclass
class Memory:
    """What one partition should hold. ``ends``: where batches end. ``safe``: flushed up to here."""

    records: dict[int, Kept] = field(default_factory=dict)
    ends: set[int] = field(default_factory=lambda: {0})
    start: int = 0
    end: int = 0
    safe: int = 0
    hw: int = 0
    marked_hw: int = 0

    def copy(self) -> Memory:
        return Memory(
            dict(self.records), set(self.ends), self.start, self.end, self.safe, self.hw,
            self.marked_hw,
        )  # fmt: skip

    def cut(self, end: int) -> None:
        if end == self.end:
            return
        self.records = {offset: kept for offset, kept in self.records.items() if offset < end}
        self.end = end
        self.start = min(self.start, end)
        self.safe = min(self.safe, end)
        self.hw = self.marked_hw = max(self.start, min(self.hw, end))


class Wrong(AssertionError):
    """Something that must hold does not."""


@dataclass
class CrashTally:
    """What a campaign met: how often each operation was cut short, and what recoveries did."""

    killed: Counter[str] = field(default_factory=Counter)
    recoveries: int = 0
    scanned: int = 0
    cut: int = 0
    noted: int = 0
    offline: int = 0
    below_end: int = 0


class CrashRun:
    """One seed: a disk, a manager, and what must be there."""

    def __init__(self, seed: int, power: bool, lies: bool, tally: CrashTally) -> None:
        self.chance = Random(seed)
        self.power = power
        self.now = 1_000
        self.disk = MemoryDisk(lambda: self.now, Random(seed + 1))
        self.lying = lies
        if lies:  # not of meta.properties: no broker starts, nor does Kafka's, until it is mended
            self.disk.lies = lambda path: (
                "meta.properties" not in path and self.chance.random() < 0.5
            )
        self.tally = tally
        self.before = {name: Memory() for name in PARTITIONS}
        self.after = {name: Memory() for name in PARTITIONS}
        self.ever: dict[tuple[tuple[str, int], int], set[Kept]] = {}
        self.serial = 0
        self.epoch = 0
        self.doing = "start"
        self.lost_power = False
        self.manager = self.make()

    def make(self) -> LogManager:
        settings = LogSettings(lambda: self.now, TINY, scan_everything=self.lying)
        return LogManager(self.disk, ["/d"], settings, unique=self.unique)

    def unique(self) -> str:
        self.serial += 1
        return f"{self.serial:032x}"

    # One life after the other

    def rounds(self, count: int) -> None:
        """Live and die that often; Wrong names what does not hold."""
        for _ in range(count):
            self.disk.kill_after = self.chance.choice((None, self.chance.randrange(40)))
            try:
                self.doing = "start"
                self.manager.start(1)
                for name in PARTITIONS:
                    self.manager.create(name)
                self.check()
                self.disk.kill_after = self.chance.randrange(self.chance.choice((30, 120, 400)))
                while True:
                    self.operate()
            except Killed:
                self.tally.killed[self.doing] += 1
            # Where power fails, processes die as well: what a recovery found in the page cache of
            # a dead process is not durable by that.
            power = self.power and self.chance.random() < 0.6
            self.lost_power |= power
            self.disk.crash(power)
            self.manager = self.make()

    def operate(self) -> None:
        """One operation, chosen at random, on one partition."""
        self.now += self.chance.randrange(20)
        name = self.chance.choice(PARTITIONS)
        work = self.chance.choices(OPERATIONS, WEIGHTS)[0]
        self.doing = work.__name__
        log = self.manager.log(name)
        assert log is not None
        self.after[name] = self.before[name].copy()
        work(self, log, self.after[name])
        self.before[name] = self.after[name]

    def append(self, log: Log, memory: Memory) -> None:
        self._append(log, memory, 1)

    def append_many(self, log: Log, memory: Memory) -> None:
        self._append(log, memory, self.chance.randrange(2, 6))

    def _append(self, log: Log, memory: Memory, count: int) -> None:
        if self.chance.random() < 0.2:
            self.epoch += self.chance.randrange(1, 3)
        records = []
        for offset in range(memory.end, memory.end + count):
            value = b"%d " % self.serial * self.chance.randrange(1, 20)
            self.serial += 1
            records.append(StoredRecord(offset, self.now, None, value))
            memory.records[offset] = self.epoch, value
            self._note(memory, offset)
        codec = self.chance.choice(("none", "none", "gzip"))
        # A leader refuses what does not continue a producer's sequence, and must know it.
        producer = (-1, -1, -1) if self.lying else (PRODUCER, 0, memory.end)
        memory.end += count
        memory.ends.add(memory.end)
        if self.chance.random() < 0.5:
            batch = encode_batch(records, codec=codec, producer=producer)
            try:
                appended = log.append_as_leader(batch, self.epoch)
            except InvalidBatch as error:
                raise Wrong(f"a producer's next batch is refused: {error}") from error
            if appended.last_offset + 1 != memory.end:
                raise Wrong(f"a producer's next batch is taken for a duplicate: {appended}")
        else:
            log.append_as_follower(encode_batch(records, self.epoch, codec, producer=producer))

    def _note(self, memory: Memory, offset: int) -> None:
        for name in PARTITIONS:
            if self.after[name] is memory:
                self.ever.setdefault((name, offset), set()).add(memory.records[offset])

    def lead(self, log: Log, memory: Memory) -> None:
        self.epoch += 1
        log.epochs.assign(self.epoch, log.log_end)

    def truncate(self, log: Log, memory: Memory) -> None:
        end = self.chance.choice(
            sorted(each for each in memory.ends if memory.start <= each <= memory.end)
            or [memory.end]
        )
        memory.cut(end)
        memory.ends = {each for each in memory.ends if each <= end} | {end}
        log.truncate_to(end)

    def start_over(self, log: Log, memory: Memory) -> None:
        at = memory.end + self.chance.randrange(-3, 4)
        memory.records.clear()
        memory.start = memory.end = memory.safe = memory.hw = memory.marked_hw = max(0, at)
        memory.ends = {memory.end}
        log.truncate_fully_and_start_at(memory.end)

    def remake(self, log: Log, memory: Memory) -> None:
        """The topic is deleted and made again: nothing of the old one may be met in the new one."""
        memory.records.clear()
        memory.start = memory.end = memory.safe = memory.hw = memory.marked_hw = 0
        memory.ends = {0}
        [name] = [each for each in PARTITIONS if self.after[each] is memory]
        self.manager.delete(name)
        self.manager.create(name)

    def flush(self, log: Log, memory: Memory) -> None:
        log.flush()
        memory.safe = memory.end

    def roll(self, log: Log, memory: Memory) -> None:
        log.roll()

    def flush_rolled(self, log: Log, memory: Memory) -> None:
        self.manager.flush_rolled()

    def commit(self, log: Log, memory: Memory) -> None:
        memory.hw = self.chance.choice(
            sorted(each for each in memory.ends if memory.hw <= each <= memory.end) or [memory.hw]
        )
        log.high_watermark = memory.hw

    def checkpoint(self, log: Log, memory: Memory) -> None:
        self.manager.checkpoint()
        for name in PARTITIONS:
            self.before[name].marked_hw = self.before[name].hw
            self.after[name].marked_hw = self.after[name].hw

    def advance_start(self, log: Log, memory: Memory) -> None:
        memory.start = self.chance.randint(memory.start, memory.hw)
        log.advance_log_start(memory.start)

    def retain(self, log: Log, memory: Memory) -> None:
        self.manager.apply_retention()
        self.manager.remove_due()

    def clean_stop(self, log: Log, memory: Memory) -> None:
        self.manager.stop()
        self.manager = self.make()
        self.manager.start(1)
        for each in PARTITIONS:
            for memory in (self.before[each], self.after[each]):
                memory.safe, memory.marked_hw = memory.end, memory.hw

    # What must be there

    def check(self) -> None:
        """Compare every partition with what it was; from here on it is what it should be."""
        for directory in self.manager.directories:
            self.tally.noted += len(directory.notes)
            for reported in directory.recoveries:
                self.tally.recoveries += 1
                self.tally.scanned += reported.scanned_bytes
                self.tally.cut += reported.cut_bytes
                self.tally.noted += len(reported.notes)
                if reported.cut_bytes and not reported.notes:
                    raise Wrong(
                        f"{reported.directory}: {reported.cut_bytes} bytes cut without a word"
                    )
        for name in PARTITIONS:
            try:
                log = self.manager.log(name)
            except StorageError as error:
                raise Wrong(f"{name} is offline: {error}") from error
            assert log is not None
            try:
                found = read_all(log)
            except (CorruptRecord, StorageError) as error:
                raise Wrong(f"{name} cannot be read: {error}") from error
            if self.lying:
                self._check_lied(name, log, found)
            else:
                self._check(name, log, found)
            self.tally.below_end += log.log_end < self.before[name].end
            self._adopt(name, log, found)
        self.lost_power = False

    def _check(self, name: tuple[str, int], log: Log, found: dict[int, Kept]) -> None:
        before, after = self.before[name], self.after[name]
        most = max(before.end, after.end)
        if after != before and not after.records:
            least = 0  # all was to go, from the end on: any beginning is a state on the way
        else:
            least = min(after.end, before.safe if self.lost_power else before.end)
        if not least <= log.log_end <= most:
            raise Wrong(f"{name}: ends at {log.log_end}, not within {least} and {most}")
        for offset, kept in found.items():
            expected = before.records.get(offset, after.records.get(offset))
            if kept != expected:
                raise Wrong(f"{name}: offset {offset} holds {kept}, not {expected}")
        if log.log_start > max(before.start, after.start):
            raise Wrong(f"{name}: starts at {log.log_start}, later than {before.start}")
        if not log.log_start <= log.high_watermark <= log.log_end:
            raise Wrong(f"{name}: high watermark {log.high_watermark} outside the log")
        if log.high_watermark > max(before.hw, after.hw):
            raise Wrong(f"{name}: high watermark {log.high_watermark} was never {before.hw}")
        marked = min(before.marked_hw, after.marked_hw, log.log_end)
        if log.high_watermark < marked:
            raise Wrong(f"{name}: high watermark {log.high_watermark}, checkpointed {marked}")
        self._check_epochs(name, log, found)
        known = log.producers.states.entries.get(PRODUCER)
        if found and (known is None or known.last_sequence != log.log_end - 1):
            raise Wrong(f"{name}: ends at {log.log_end}; of its producer {known} is known")

    def _check_epochs(self, name: tuple[str, int], log: Log, found: dict[int, Kept]) -> None:
        """Every epoch that a record has ends where its last record does, seen from the cache.

        Epoch 0 is not entered again by a recovery (Kafka's, too): it is asked only where known.
        """
        for known, start in log.epochs.entries:
            if start > log.log_end or known < 0:
                raise Wrong(f"{name}: epoch {known} starts at {start}, after the log's end")
        epochs = sorted({kept[0] for kept in found.values()})
        for epoch in epochs:
            if epoch == 0 and epoch not in dict(log.epochs.entries):
                continue
            end = max(offset for offset, kept in found.items() if kept[0] == epoch) + 1
            answer = log.end_offset_for(epoch)
            if answer != (epoch, end):
                raise Wrong(f"{name}: epoch {epoch} answers {answer}; its records end at {end}")

    def _check_lied(self, name: tuple[str, int], log: Log, found: dict[int, Kept]) -> None:
        for offset, kept in found.items():
            if kept not in self.ever.get((name, offset), set()):
                raise Wrong(f"{name}: offset {offset} holds {kept}, which was never there")
        if not log.log_start <= log.high_watermark <= log.log_end:
            raise Wrong(f"{name}: high watermark {log.high_watermark} outside the log")

    def _adopt(self, name: tuple[str, int], log: Log, found: dict[int, Kept]) -> None:
        end = log.log_end
        ends = {batch.next_offset for each in log.segments for _, batch in each.batches()}
        memory = Memory(
            found, {each for each in ends if each >= log.log_start} | {end},
            log.log_start, end, end, log.high_watermark,
            min(log.high_watermark, self.before[name].marked_hw),
        )  # fmt: skip
        self.before[name], self.after[name] = memory, memory.copy()


def read_all(log: Log) -> dict[int, Kept]:
    """Every record by offset, as a consumer reads them; Wrong if there is a gap."""
    found: dict[int, Kept] = {}
    offset = log.log_start
    while offset < log.log_end:
        fetched = log.read(offset, 700)
        data = fetched.region.read()
        records = list(fetched.region.records(offset))
        if not records:
            raise Wrong(f"offset {offset} below the log's end {log.log_end} is not there")
        for record, epoch in zip(records, _epochs(data, offset), strict=True):
            if record.offset != offset:
                raise Wrong(f"offset {record.offset} where {offset} should be")
            found[offset] = epoch, record.value
            offset += 1
    return found


def _epochs(data: bytes, from_offset: int) -> list[int]:
    return [
        batch.leader_epoch
        for _, batch in batches_in(data)
        for offset in range(batch.base_offset, batch.next_offset)
        if offset >= from_offset
    ]


OPERATIONS: list[Callable[[CrashRun, Log, Memory], None]] = [
    CrashRun.append, CrashRun.append_many, CrashRun.lead, CrashRun.truncate,
    CrashRun.start_over, CrashRun.remake, CrashRun.flush, CrashRun.roll,
    CrashRun.flush_rolled, CrashRun.commit, CrashRun.checkpoint, CrashRun.advance_start,
    CrashRun.retain, CrashRun.clean_stop,
]  # fmt: skip
WEIGHTS = [30, 20, 3, 4, 1, 1, 6, 2, 6, 14, 6, 4, 6, 1]


def campaign(seeds: range, rounds: int, power: bool, lies: bool) -> CrashTally:
    """Many runs; Wrong names the seed of the one that failed, and what it was doing."""
    tally = CrashTally()
    for seed in seeds:
        run = CrashRun(seed, power, lies, tally)
        try:
            run.rounds(rounds)
        except Wrong as error:
            kind = "lies" if lies else "power" if power else "process"
            raise Wrong(f"seed {seed} ({kind}), after {run.doing}: {error}") from error
    return tally
