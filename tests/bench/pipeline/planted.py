"""Faults and neutral changes are put into a cluster's logs, one at a time: what is found, where?

python -m tests.bench.pipeline.planted LOGS_OF_A_CLUSTER --seed 7 --plants 30 --kinds number,dropped
python -m tests.bench.pipeline.planted LOGS_OF_A_CLUSTER --seed 7 --plants 3

Each plant is by itself. `number`: a kind of line is drawn, a line of that kind, and a number in its
text (not in its stamp), which becomes a little larger or smaller. `dropped`: such a line is not
there. `swapped`: it stands where the next one should, each under the other's stamp. The others are
faults of a protocol's run, each made of lines that the cluster wrote, and changes that say nothing
of the protocol (`tests/pipeline/test_neutral_changes.py`).

A plant is `found` where a finding stands at its line (of a dropped one: near it) that the unchanged
logs have not, `elsewhere` where one stands at another. Some leave lines that a right cluster could
have written, such as a number that stands once: no rule finds those. A neutral change is `right`
where nothing is called broken that was not before.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from conformance.ingest.dialects import NOTE
from conformance.ingest.files import discover
from conformance.ingest.reader import lines_of
from conformance.ingest.schema import Event, events_of
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.rules import BREAKS
from tests.pipeline.test_neutral_changes import CHANGES, plain

_STAMP = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3}\] ")
_NUMBER = re.compile(r"(?<![\w.:/-])-?\d+(?![\w.:/]|\.\d)|(?<=[a-z]-)\d+(?=[ ,)\]:]|$)")
_ISR = re.compile(r"((?:\bisr=(?:\w*[(\[])?|\bISR:|\bISR \[|ISR updated to \[)\d+(?:, ?\d+)*)")
_OFFSETS = re.compile(r"(from offset |high watermark )(\d+)")
_STEPS = (1, 2, 3, 5, -1, -2, -3)
_SURE = frozenset(kind.value for kind in BREAKS)
_NEAR = 3  # lines from where one was dropped
_SETTLED = 6000  # milliseconds on either side of a role
_LATER = 40  # lines, within which a copy of a line is put
_TRIES = 4000
_ROLES = ("leader_started", "follower_started", "leader_and_isr_applied")
_ISR_LINES = ("isr_shrunk", "isr_expanded")

Found = frozenset[tuple[str, str, int, str]]
Edits = dict[Path, dict[int, list[str]]]
"""By file and line, what stands there instead: nothing, a line, or several."""


@dataclass(frozen=True)
class Plant:
    """Edits of the logs, and the lines at which they are to be found, as they are then."""

    kind: str
    what: str
    edits: Edits
    at: frozenset[tuple[str, int]]


def findings(folder: Path) -> Found:
    """Kind, file within the folder, line and rule of all that is found."""
    engine = LocalEngine()
    judged = engine.judge(engine.ingest(discover([str(folder)]), None))
    prefix = f"{folder}/"
    return frozenset(
        (each.kind, each.file.removeprefix(prefix), each.line, each.rule)
        for each in judged.findings
    )


class ClusterLogs:
    """The logs of a cluster, and the lines that rules read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._texts: dict[Path, list[str]] = {}

    @cached_property
    def events(self) -> list[Event]:
        """Lines that are understood and read by rules, in order of files and lines."""
        corpus = LocalEngine().ingest(discover([str(self.folder)]), None)
        found = [each for each in events_of(corpus.events) if each.kind != NOTE]
        return sorted(found, key=lambda each: (each.file, each.line))

    @cached_property
    def by_kind(self) -> dict[str, list[Event]]:
        """The same by kind."""
        found: dict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            found[event.kind].append(event)
        return found

    def file(self, event: Event) -> Path:
        """Within the folder."""
        return Path(event.file).relative_to(self.folder)

    def lines(self, file: Path) -> list[str]:
        """All lines of a file."""
        if file not in self._texts:
            self._texts[file] = list(lines_of(str(self.folder / file)))
        return self._texts[file]

    def server_log(self, event: Event) -> Path | None:
        """Where the server log of the writer of a line is, at that time."""
        own = [each for kind in ("process_started", "log_created", *_ISR_LINES)
               for each in self.by_kind[kind] if each.broker == event.broker]  # fmt: skip
        before = [each for each in own if each.at <= event.at]
        return self.file(max(before, key=lambda each: each.at)) if before else None

    def text(self, event: Event) -> str:
        """The line itself."""
        return self.lines(self.file(event))[event.line - 1]

    def drawn(self, chosen: random.Random, *kinds: str) -> Event:
        """A line of a kind that is drawn first: of all, or of these."""
        some = sorted(kind for kind in kinds or self.by_kind if self.by_kind.get(kind))
        if not some:
            raise LookupError
        return chosen.choice(self.by_kind[chosen.choice(some)])

    def after(self, file: Path, line: int, most: int = _LATER) -> Iterator[tuple[int, str]]:
        """Numbers and stamps of the lines after one."""
        for number, text in enumerate(islice(self.lines(file), line, line + most), line + 1):
            stamp = _STAMP.match(text)
            if stamp is not None:
                yield number, stamp[0]

    def put(self, kind: str, file: Path, line: int, text: str) -> Plant | None:
        """A line, under the stamp of the one after which it is put; that is not to be torn."""
        here, *following = self.lines(file)[line - 1 : line + 1]
        stamp = _STAMP.match(here)
        if stamp is None or not all(_STAMP.match(each) for each in following):
            return None
        text = stamp[0] + _STAMP.sub("", text, count=1)
        at = frozenset([(str(file), line + 1)])
        return Plant(kind, f"{file}:{line + 1} {text}", {file: {line: [here, text]}}, at)


Planter = Callable[[ClusterLogs, random.Random], Plant | None]


def number(logs: ClusterLogs, chosen: random.Random) -> Plant | None:
    """A number of a line is another one."""
    event = logs.drawn(chosen)
    file, text = logs.file(event), logs.text(event)
    stamp = _STAMP.match(text)
    numbers = list(_NUMBER.finditer(text, stamp.end() if stamp else 0))
    if not numbers:
        return None
    one = chosen.choice(numbers)
    value = int(one[0]) + chosen.choice(_STEPS)
    if value < 0:
        return None
    after = f"{text[: one.start()]}{value}{text[one.end() :]}"
    what = (
        f"{event.kind} {file}:{event.line} {text[: one.start()]}>>{text[one.start() :]} ({value})"
    )
    return Plant("number", what, {file: {event.line: [after]}}, _at(file, event.line))


def _at(file: Path, *lines: int) -> frozenset[tuple[str, int]]:
    return frozenset((str(file), line) for line in lines)


def dropped(logs: ClusterLogs, chosen: random.Random) -> Plant | None:
    """A line is not there."""
    event = logs.drawn(chosen)
    file = logs.file(event)
    near = range(event.line - _NEAR, event.line + _NEAR)
    what = f"{event.kind} {file}:{event.line} {logs.text(event)}"
    return Plant("dropped", what, {file: {event.line: []}}, _at(file, *near))


def swapped(logs: ClusterLogs, chosen: random.Random) -> Plant | None:
    """Two lines of one file that follow each other stand in the other order, under their stamps."""
    place = chosen.randrange(len(logs.events) - 1)
    one, other = logs.events[place : place + 2]
    if one.file != other.file or one.at == other.at:
        return None
    file = logs.file(one)
    texts = logs.text(one), logs.text(other)
    stamps = [_STAMP.match(text) for text in texts]
    if stamps[0] is None or stamps[1] is None or texts[0][30:] == texts[1][30:]:
        return None
    turned = [stamps[0][0] + _STAMP.sub("", texts[1]), stamps[1][0] + _STAMP.sub("", texts[0])]
    edits = {file: {one.line: [turned[0]], other.line: [turned[1]]}}
    what = f"{one.kind}, {other.kind} {file}:{one.line} {texts[0]} | {texts[1]}"
    return Plant("swapped", what, edits, _at(file, one.line, other.line))


def isr_of_no_replica(logs: ClusterLogs, chosen: random.Random) -> Plant | None:
    """In all lines of one version of a state the ISR has a broker that is no replica."""
    event = logs.drawn(chosen, "partition_changed", "leader_and_isr_sent", "isr_updated")
    if (
        event.isr is None
        or event.version is None
        or not any(each.replicas for each in logs.events if each.tp == event.tp)
    ):
        return None
    stranger = max(each.broker for each in logs.events if each.broker is not None) + 7
    edits: Edits = {}
    places: set[tuple[str, int]] = set()
    for each in logs.events:
        if each.tp == event.tp and each.version == event.version and each.isr is not None:
            text, count = _ISR.subn(rf"\g<1>,{stranger}", logs.text(each), count=1)
            if count:
                edits.setdefault(logs.file(each), {})[each.line] = [text]
                places.add((str(logs.file(each)), each.line))
    what = f"{event.topic}-{event.partition} version {event.version}, {len(places)} lines"
    return Plant("isr_of_no_replica", what, edits, frozenset(places)) if edits else None


def version_goes_back(logs: ClusterLogs, chosen: random.Random) -> Plant | None:
    """A leader writes its ISR under a zkVersion that the state had before."""
    event = logs.drawn(chosen, "isr_updated")
    if not event.version:
        return None
    file, text = logs.file(event), logs.text(event)
    lower = chosen.randrange(max(0, event.version - 5), event.version)
    after = re.sub(r"(ersion updated to \[)\d+", rf"\g<1>{lower}", text)
    what = f"{file}:{event.line} {after}"
    return Plant("version_goes_back", what, {file: {event.line: [after]}}, _at(file, event.line))


def shrunk_by_a_follower(logs: ClusterLogs, chosen: random.Random) -> Plant | None:
    """A broker that follows changes the ISR."""
    change, role = logs.drawn(chosen, *_ISR_LINES), logs.drawn(chosen, *_ROLES)
    if role.broker == change.broker or not _follows(role):
        return None
    own = [each for kind in _ROLES for each in logs.by_kind[kind] if each.broker == role.broker]
    leads = [each.at for each in own if each.tp == role.tp and not _follows(each)]
    file = logs.server_log(role)
    times = [each for each in logs.events if file is not None and logs.file(each) == file]
    until = min((at for at in leads if at >= role.at), default=times[-1].at if times else 0)
    after = [each for each in times if role.at + _SETTLED < each.at < until - _SETTLED]
    if file is None or not after:
        return None
    text = re.sub(r"(broker[= ])\d+", rf"\g<1>{role.broker}", logs.text(change), count=1)
    for old, new in zip(_names(change), _names(role), strict=True):
        text = text.replace(old, new)
    return logs.put("shrunk_by_a_follower", file, chosen.choice(after).line, text)


def _names(event: Event) -> tuple[str, str]:
    return f"{event.topic}-{event.partition}", f"[{event.topic},{event.partition}]"


def _follows(role: Event) -> bool:
    return role.kind == "follower_started" or role.to_state == "follower"


def starts_again_lower(logs: ClusterLogs, chosen: random.Random) -> Plant | None:
    """A leader starts again in its leader epoch, with a log that ends lower."""
    start = logs.drawn(chosen, "leader_started")
    if not start.offset:
        return None
    less = chosen.randrange(start.offset)
    text = _OFFSETS.sub(lambda found: f"{found[1]}{min(int(found[2]), less)}", logs.text(start))
    text = re.sub(r"(Previous [Ll]eader [Ee]poch was:? )-?\d+", rf"\g<1>{start.leader_epoch}", text)
    places = list(logs.after(logs.file(start), start.line))
    if not places:
        return None
    return logs.put("starts_again_lower", logs.file(start), chosen.choice(places)[0], text)


def starts_in_anothers_epoch(logs: ClusterLogs, chosen: random.Random) -> Plant | None:
    """A second broker starts as leader in a leader epoch."""
    start, other = logs.drawn(chosen, "leader_started"), logs.drawn(chosen, "leader_started")
    if start.tp != other.tp or start.broker == other.broker:
        return None
    text = re.sub(r"(broker=|Broker id=|on broker )\d+", rf"\g<1>{other.broker}", logs.text(start))
    return logs.put("starts_in_anothers_epoch", logs.file(other), other.line, text)


def online_after_deletion(logs: ClusterLogs, chosen: random.Random) -> Plant | None:
    """A partition of a deleted topic goes online, and nobody made it."""
    gone = logs.drawn(chosen, "topic_deleted", "topic_deletion")
    online = logs.drawn(chosen, "partition_changed")
    if online.to_state != "OnlinePartition":
        return None
    named = {gone.topic} if gone.topic else set(re.findall(r"[\w.-]+", gone.detail or ""))
    if online.topic not in named or online.broker != gone.broker:
        return None
    first = _STAMP.match(logs.text(gone))
    file = logs.file(online)
    for line, stamp in logs.after(file, online.line, len(logs.lines(file))):
        if first is not None and stamp > first[0] and chosen.random() < 0.3:
            text = logs.text(online).replace("from NewPartition", "from OfflinePartition")
            return logs.put("online_after_deletion", file, line, text)
    return None


FAULTS: tuple[Planter, ...] = (
    number, dropped, swapped, isr_of_no_replica, version_goes_back, shrunk_by_a_follower,
    starts_again_lower, starts_in_anothers_epoch, online_after_deletion,
)  # fmt: skip


def plants(logs: ClusterLogs, planter: Planter, seed: int, count: int) -> Iterator[Plant]:
    """So many different changes of the logs, by seed; fewer where the logs have not the lines."""
    chosen = random.Random(f"{seed} {planter.__name__}")
    seen: set[str] = set()
    for _ in range(_TRIES):
        if len(seen) == count:
            return
        try:
            plant = planter(logs, chosen)
        except LookupError:
            return
        if plant is not None and plant.what not in seen:
            seen.add(plant.what)
            yield plant


def copied(folder: Path, out: Path, edits: Edits) -> None:
    """The logs with edits in them; files that stay as they are, are the same files."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        copy = out / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        changes = edits.get(path.relative_to(folder))
        if changes is None:
            copy.symlink_to(path.resolve())
            continue
        lines: list[str] = []
        for line, text in enumerate(lines_of(str(path)), 1):
            lines += changes.get(line, [text])
        text = "\n".join(lines) + "\n"
        if copy.suffix == ".gz":
            copy.write_bytes(gzip.compress(text.encode("utf-8", "surrogateescape")))
        else:
            copy.write_text(text, encoding="utf-8", errors="surrogateescape")


def outcome(new: Found, plant: Plant) -> str:
    """Where a plant was found."""
    return (
        "found" if any(each[1:3] in plant.at for each in new) else "elsewhere" if new else "missed"
    )


def _faults(
    logs: ClusterLogs, planter: Planter, seed: int, count: int, before: Found
) -> Counter[str]:
    counts: Counter[str] = Counter()
    for plant in plants(logs, planter, seed, count):
        with tempfile.TemporaryDirectory(prefix="insync-planted-") as name:
            folder = Path(name) / logs.folder.name
            copied(logs.folder, folder, plant.edits)
            new = findings(folder) - _moved(before, plant.edits)
        where = outcome(new, plant)
        here = {each for each in new if each[1:3] in plant.at}
        counts[where] += 1
        counts["broken"] += any(each[0] in _SURE for each in here or new)
        if where != "found":
            print(f"{plant.kind} {where}: {plant.what}")
            for each in sorted(new)[:3]:
                print(f"    {each[0]}: {each[3]} at {each[1]}:{each[2]}")
    return counts


def _moved(before: Found, edits: Edits) -> Found:
    """What was found in the unchanged logs, at the lines where it is after the edits."""
    found = set()
    for kind, file, line, rule in before:
        changes = edits.get(Path(file), {})
        by = sum(len(texts) - 1 for at, texts in changes.items() if at < line)
        found.add((kind, file, line + by, rule))
    return frozenset(found)


def _neutral(folder: Path, seed: int, count: int, before: Found) -> dict[str, Counter[str]]:
    known = {(kind, rule) for kind, _, _, rule in before}
    found: dict[str, Counter[str]] = {}
    for change in CHANGES:
        counts = found[change.__name__] = Counter()
        for number in range(count):
            with tempfile.TemporaryDirectory(prefix="insync-planted-") as name:
                copy = Path(name) / folder.name
                shutil.copytree(folder, copy)
                for path in [copy, *copy.rglob("*")]:
                    path.chmod(0o755 if path.is_dir() else 0o644)
                plain(copy)
                change(copy, random.Random(seed * 1000 + number))
                after = findings(copy)
            wrong = [each for each in after if each[0] in _SURE and (each[0], each[3]) not in known]
            counts["broken" if wrong else "right"] += 1
            for each in sorted(wrong)[:3]:
                print(f"{change.__name__}, seed {seed * 1000 + number}: {each}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Plants, checks, and says what was found; what was not, with its line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pipeline.planted")
    parser.add_argument("logs", type=Path, help="the folder of one cluster's logs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plants", type=int, default=30, help="of each kind")
    names = [each.__name__ for each in FAULTS] + ["neutral"]
    parser.add_argument("--kinds", default=",".join(names), help="separated by commas")
    chosen = parser.parse_args(arguments)
    logs = ClusterLogs(chosen.logs)
    before = findings(chosen.logs)
    rows = {
        each.__name__: _faults(logs, each, chosen.seed, chosen.plants, before)
        for each in FAULTS
        if each.__name__ in chosen.kinds.split(",")
    }
    print(f"{chosen.logs.name}, seed {chosen.seed}")
    for name, counts in rows.items():
        planted = sum(counts[each] for each in ("found", "elsewhere", "missed"))
        print(
            f"  {name}: {planted} planted, {counts['found']} found at their line, "
            f"{counts['elsewhere']} elsewhere, {counts['missed']} not; {counts['broken']} as broken"
        )
    if "neutral" in chosen.kinds.split(","):
        for name, counts in _neutral(chosen.logs, chosen.seed, chosen.plants, before).items():
            print(f"  {name}: {counts['right']} right, {counts['broken']} called broken")
    return 0


if __name__ == "__main__":
    sys.exit(main())
