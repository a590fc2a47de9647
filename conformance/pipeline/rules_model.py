"""Rules about a partition's states in ZooKeeper, in version order: the model can take each step.

A znode's version counts its writes, whoever writes or logs them: so it orders the lines of all
brokers, without a clock. Two things are judged: all lines about one version agree (the ISR that a
leader wrote is the ISR that the controller then sends); and the protocol has one write that leads
from each version to the next (`model_writes`). Where a version is missing, nothing is compared
here; other rules check that epochs did not go back.

ZooKeeper's own transaction log, if it is there, has every write of a partition, and shows which
belong to one life: such writes are judged with certainty, together with the lines if all lines are
of that life.

The controller epoch in a request need not be the registered one: a controller that finds nothing to
change sends the state under its own epoch without writing it. Only a line about the write itself
gives the controller epoch of a state.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from conformance.ingest.schema import Event
from conformance.ingest.znode_rows import STATE_WRITTEN, TRANSACTIONS
from conformance.pipeline.history import History
from conformance.pipeline.model_writes import Fit, fit, is_configured, pairs, presets_for, shape_of
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import LEADER_WRITES_ISR, ONE_STATE, WRITE_FITS, FindingKind
from conformance.pipeline.znodes import StateZnodeLifetime, ZnodeHistory

_SURELY_ONE_LIFE = 2000  # milliseconds: a topic is not deleted, and made again, in less
_MAKES_ITS_LOG = 5000  # milliseconds from the creation of a partition to that of a log of it
_WRITTEN = frozenset(("partition_changed", "isr_removed", "leader_epoch_raised"))
_WHOLE = frozenset(
    (
        "partition_changed",
        "leader_and_isr_sent",
        "leader_and_isr_received",
        "metadata_sent",
        "metadata_cached",
        STATE_WRITTEN,
    )
)
_LEADERS_OWN = frozenset(("isr_updated", "leader_started"))

LeaderEpochIsr = tuple[int | None, int | None, frozenset[int] | None]  # leader, leader epoch, ISR
Whole = tuple[int, int, frozenset[int]]


@dataclass
class ZkVersionLines:
    """The lines about one version: each state with its lines, and its writer, where logged."""

    version: int
    shown: dict[LeaderEpochIsr, list[Event]]

    @property
    def whole(self) -> list[Whole]:
        """The complete states: the one that was written, then the one that is logged most often."""
        found = [
            (leader, epoch, isr)
            for leader, epoch, isr in self.shown
            if leader is not None and epoch is not None and isr is not None
        ]
        return sorted(
            found,
            key=lambda one: (
                not any(each.kind == STATE_WRITTEN for each in self.shown[one]),
                -len(self.shown[one]), *one[:2], sorted(one[2]),
            ),
        )  # fmt: skip

    @property
    def writer(self) -> int | None:
        """The controller epoch of the write, from the line about the write itself."""
        for events in self.shown.values():
            for event in events:
                if event.kind == STATE_WRITTEN:
                    return event.state_epoch
                if event.kind == "partition_changed" and event.controller_epoch is not None:
                    return event.controller_epoch
        return None


def check(context: RuleContext, release: str | None) -> None:
    """Checks each lifetime of every partition, version by version."""
    presets = presets_for(release)
    for versions in lives(
        context.history, context.innocent([*context.history.events, *context.history.transactions])
    ):
        context.sequences += 1
        for registered in versions.values():
            _one_state(context, registered)
        for before, after in pairs(versions):
            _leader_wrote(context, before, after)
            _complete(before, after)
            _one_write(context, before, after, presets)
    for epochs in without_leader(context.history, context.innocent(context.history.events)):
        for registered in epochs.values():
            _one_state(context, registered)
        for before, after in pairs(epochs):
            if all(leader == -1 for leader, _, _ in before.shown):
                _one_write(context, before, after, presets)


def without_leader(
    history: History, events: Iterable[Event]
) -> Iterable[dict[int, ZkVersionLines]]:
    """Controllers' writes by leader epoch, of lives where not all lines have the zkVersion.

    Only controllers overwrite a state without a leader, each time under the next leader epoch,
    which then counts writes as a version does. If a state has a leader, only its first line is
    what was written; later lines have what its leader has made of it.
    """
    found = _by_life(history, events, _written_state, lambda event: event.leader_epoch)
    for epochs in found.values():
        lines = [e for each in epochs.values() for some in each.shown.values() for e in some]
        if all(each.version is not None for each in lines):
            continue
        for epoch, registered in epochs.items():
            if any(leader != -1 for leader, _, _ in registered.shown):
                state = min(registered.shown, key=lambda one: history.key(registered.shown[one][0]))
                epochs[epoch] = replace(registered, shown={state: registered.shown[state][:1]})
        yield epochs


def _written_state(event: Event) -> LeaderEpochIsr | None:
    if event.kind not in _WRITTEN or event.isr is None or event.leader is None or event.leader < -1:
        return None
    return event.leader, event.leader_epoch, frozenset(event.isr)


def lives(history: History, events: Iterable[Event]) -> Iterable[dict[int, ZkVersionLines]]:
    """Versions of each partition, by the life of its topic and the age of its ZooKeeper."""
    events = list(events)
    written = [event for event in events if event.kind in TRANSACTIONS]
    of_brokers = (event for event in events if event.kind not in TRANSACTIONS)
    found = _by_life(history, of_brokers, state_of_line, lambda event: event.version)
    return [*_with_writes(history, found, written)]


Lives = dict[tuple[int, str, int, int], dict[int, ZkVersionLines]]
"""By age of ZooKeeper, topic, partition and life of the topic: lines by version."""


def _by_life(
    history: History,
    events: Iterable[Event],
    state_of: Callable[[Event], LeaderEpochIsr | None],
    number_of: Callable[[Event], int | None],
) -> Lives:
    begins: dict[tuple[str, int], list[int]] = defaultdict(list)
    made: set[tuple[str, tuple[str, int]]] = set()
    shown: list[tuple[tuple[str, int], Event, LeaderEpochIsr]] = []
    for event in events:
        if event.tp is None:
            continue
        if event.kind == "partition_changed":
            log = history.places[event.file].stream, event.tp
            # who is elected may find a partition that is New, and no line says that it became so
            if event.to_state == "NewPartition":
                begins[event.tp].append(event.at)
                made.add(log)
            elif event.from_state == "NewPartition":
                begins[event.tp] += [] if log in made else [event.at]
                made.discard(log)
        state = state_of(event)
        if state is not None:
            shown.append((event.tp, event, state))
    for times in begins.values():
        times.sort()
    found: Lives = defaultdict(dict)
    for tp, event, state in shown:
        age, number = history.age(event), number_of(event)
        if age is None or number is None:
            continue
        key = (age, *tp, bisect_right(begins[tp], event.at) if tp in begins else 0)
        registered = found[key].setdefault(number, ZkVersionLines(number, {}))
        registered.shown.setdefault(state, []).append(event)
    return found


def _with_writes(
    history: History,
    found: Lives,
    written: list[Event],
) -> Iterator[dict[int, ZkVersionLines]]:
    """Lives by lines and lives by the transaction log; merged if there is one of each."""
    znodes = ZnodeHistory(written)
    of_lines: dict[tuple[str, int], list[tuple[int, str, int, int]]] = defaultdict(list)
    of_znodes: dict[tuple[str, int], list[StateZnodeLifetime]] = defaultdict(list)
    for key in sorted(found):
        of_lines[key[1], key[2]].append(key)
    for life in znodes.lifetimes():
        of_znodes[life.topic, life.partition].append(life)
    for tp, lives_of in sorted(of_znodes.items()):
        keys, joined = of_lines[tp], False
        if len(keys) == 1 and len(lives_of) == 1 and lives_of[0].created:
            joined = not history.lived_twice(lives_of[0].events[0])
        for life in lives_of:
            versions = found[keys[0]] if joined else {}
            for event in life.events:
                state = state_of_line(event)
                if state is not None and event.version is not None:
                    fresh = ZkVersionLines(event.version, {})
                    registered = versions.setdefault(event.version, fresh)
                    registered.shown.setdefault(state, []).append(event)
            if not joined:
                yield versions
    for key in sorted(found):
        yield found[key]


def state_of_line(event: Event) -> LeaderEpochIsr | None:
    """The state under its version, as a line shows it; None if the line shows none."""
    if event.version is None or event.isr is None:
        return None
    isr = frozenset(event.isr)
    if event.kind in _WHOLE:
        if event.leader is None or event.leader < -1:  # -2: the topic is being deleted
            return None
        return event.leader, event.leader_epoch, isr
    if event.kind in _LEADERS_OWN:
        return event.broker, event.leader_epoch, isr
    return (None, None, isr) if event.kind == "isr_accepted" else None


def _one_state(context: RuleContext, registered: ZkVersionLines) -> None:
    """All lines about one version agree; the value that is logged least often is wrong."""
    context.looked(ONE_STATE, len(registered.shown))
    if len(registered.shown) < 2:
        return
    ranked = sorted(registered.shown.items(), key=_belief)
    right: list[tuple[LeaderEpochIsr, list[Event]]] = []
    for state, events in ranked:
        against = next((each for each in right if not _agree(each[0], state)), None)
        if against is None:
            right.append((state, events))
            continue
        (other, known), event = against, events[0]
        near = _beside(context.history, known, event)
        if another_life(context.history, near, event):
            continue
        sure = same_life(context.history, near, event)
        del registered.shown[state]  # it is no evidence of what stood there
        more = "" if sure else "; lines that show a new topic or ZooKeeper may be missing"
        for each in events if sure else events[:1]:
            context.report(
                FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
                ONE_STATE,
                each,
                f"{each.tp_name}: under {_number(registered)} stands {_text(state)} here, "
                f"and {_text(other)} at {near.where}{more}",
                _text(other),
            )


def _beside(history: History, known: list[Event], event: Event) -> Event:
    """The line to compare another with: its own broker's if it is certainly of one life, so that
    no two clocks are compared; otherwise the nearest."""
    logged = [each for each in known if each.kind != STATE_WRITTEN] or known
    logged = sorted(logged, key=lambda each: (abs(each.at - event.at), each.where))
    own = next((each for each in logged if each.broker == event.broker), None)
    if own is None or another_life(history, own, event) or not same_life(history, own, event):
        return logged[0]
    return own


def _leader_wrote(context: RuleContext, before: ZkVersionLines, after: ZkVersionLines) -> None:
    """A leader overwrites only a version that it was sent or wrote: it is the leader there."""
    if not before.whole:
        return
    leader, _, _ = before.whole[0]
    known = before.shown[before.whole[0]]
    last = _first([each for each in known if each.kind != STATE_WRITTEN] or known)
    for (whose, _, _), events in after.shown.items():
        event = next((each for each in events if each.kind == "isr_updated"), None)
        if event is None or last is None or whose is None or id(event) in context.blamed:
            continue
        context.looked(LEADER_WRITES_ISR)
        if whose == leader or another_life(context.history, last, event):
            continue
        sure = same_life(context.history, last, event)
        more = "" if sure else "; lines that show a new topic or ZooKeeper may be missing"
        context.report(
            FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
            LEADER_WRITES_ISR,
            event,
            f"{event.tp_name}: broker {whose} writes the ISR under zkVersion {after.version} here, "
            f"and {before.version} has leader {leader}, at {last.where}{more}",
            f"a write of broker {leader}",
        )


def _complete(before: ZkVersionLines, after: ZkVersionLines) -> None:
    """A leader's own write keeps leader and leader epoch, and does not log them."""
    if not before.whole or after.whole:
        return
    leader, epoch, _ = before.whole[0]
    for (whose, own, isr), events in list(after.shown.items()):
        if whose in (None, leader) and own in (None, epoch) and isr is not None:
            after.shown[leader, epoch, isr] = events


def _one_write(
    context: RuleContext, before: ZkVersionLines, after: ZkVersionLines, presets: tuple[str, ...]
) -> None:
    if not before.whole or not after.whole:
        return
    old, new = before.whole[0], after.whole[0]
    event, last = _first(after.shown[new]), _first(before.shown[old])
    if event is None or last is None or id(event) in context.blamed or id(last) in context.blamed:
        return
    context.looked(WRITE_FITS)
    found = _fit(before, after, presets)
    if found.step and not found.switch:
        context.fired[found.step] += 1
        return
    if another_life(context.history, last, event):
        return
    sure = same_life(context.history, last, event)
    change = (
        f"{event.tp_name}: {_number(before)} is {_text(old)} at {last.where}, and "
        f"{after.version} is {_text(new)} here; "
    )
    if found.unknown:
        context.report(
            FindingKind.INCOMPLETE, WRITE_FITS, event, change + "the solver gave no answer"
        )
    elif is_configured(found.switch, presets):
        why = f"{found.step} does that where {found.switch} is configured otherwise"
        context.report(FindingKind.EXPLAINED, WRITE_FITS, event, change + why)
    elif not sure:
        why = "no write does that, and lines that show a new topic or ZooKeeper may be missing"
        context.report(FindingKind.INCOMPLETE, WRITE_FITS, event, change + why)
    elif found.step:
        why = f"{found.step} does that only without {found.switch} ({source_of(found.switch)})"
        context.report(FindingKind.KNOWN_BUG, WRITE_FITS, event, change + why)
    else:
        why = f"no write of the protocol does that, of {presets[-1]} or with a switch reverted"
        context.report(FindingKind.IMPOSSIBLE, WRITE_FITS, event, change + why)


def _fit(before: ZkVersionLines, after: ZkVersionLines, presets: tuple[str, ...]) -> Fit:
    (leader, epoch, isr), (next_leader, next_epoch, next_isr) = before.whole[0], after.whole[0]
    rise = next_epoch - epoch
    if not 0 <= rise <= 1:
        return Fit()  # a write raises the leader epoch by one, or leaves it
    writer = None
    if before.writer is not None and after.writer is not None:
        writer = (after.writer > before.writer) - (after.writer < before.writer)
    return fit(shape_of((leader, isr), (next_leader, next_isr), rise, writer), presets)


def _number(registered: ZkVersionLines) -> str:
    has_version = any(
        each.version is not None for some in registered.shown.values() for each in some
    )
    return f"{'zkVersion' if has_version else 'leader epoch'} {registered.version}"


def _agree(one: LeaderEpochIsr, other: LeaderEpochIsr) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def _belief(item: tuple[LeaderEpochIsr, list[Event]]) -> tuple[int, int, int, int]:
    """Orders the states of a version: the write, most lines, the writer's lines, the fullest."""
    state, events = item
    written = any(event.kind == STATE_WRITTEN for event in events)
    own = any(event.kind in _LEADERS_OWN or event.kind == "partition_changed" for event in events)
    return -written, -len(events), -own, sum(part is None for part in state)


def _first(events: list[Event]) -> Event | None:
    """The line nearest to the write: the write itself, or the writer's own, or the earliest."""
    nearest = (STATE_WRITTEN, "partition_changed")
    order = sorted(
        events,
        key=lambda each: (
            nearest.index(each.kind) if each.kind in nearest else 2, each.at, each.where
        ),
    )  # fmt: skip
    return order[0] if order else None


def another_life(history: History, a: Event, b: Event) -> bool:
    """Whether a line shows that the topic or its ZooKeeper began anew between two lines."""
    return not _both_written(a, b) and bool(
        history.reset(a, b)
        or history.reset(b, a)
        or history.topic_began(a, b)
        or history.topic_began(b, a)
        or _replica_began_anew(history, a, b)
        or history.forgotten(a, b)
        or history.forgotten(b, a)
    )


def _replica_began_anew(history: History, a: Event, b: Event) -> bool:
    """Whether a log was created between two lines, except right after the creation of the
    partition."""
    began = history.replica_began(a, b) or history.replica_began(b, a)
    made = min(a, b, key=lambda each: each.at)
    follows = made.from_state == "NewPartition" and made.to_state == "OnlinePartition"
    return began is not None and not (
        follows and began.kind == "log_created" and began.at - made.at < _MAKES_ITS_LOG
    )


def same_life(history: History, a: Event, b: Event) -> bool:
    """Whether the logs would have a line that shows a new topic or a new ZooKeeper."""
    if _both_written(a, b):
        return True
    epoch = max(a.controller_epoch or 0, b.controller_epoch or 0)
    if not history.same_zookeeper(a, b, epoch):
        return False
    if a.broker != b.broker and a.file != b.file and history.lived_twice(b):
        return False
    if abs(b.at - a.at) < _SURELY_ONE_LIFE:
        return True
    if a.broker != b.broker and history.lived_twice(b):
        return False
    logs_them = _deletions_are_logged(a, b)
    if history.server_log_covers(a, b):
        return logs_them or _has_a_log(max(a, b, key=lambda each: each.at))
    return logs_them and history.contiguous(a, b) and not history.replica_stopped(a, b)


def _deletions_are_logged(a: Event, b: Event) -> bool:
    """Whether the writer of `b` took part in a deletion of the topic after `a`.

    A replica of it is stopped and removed, and one controller handles all deletions in its term.
    Any other broker only gets UpdateMetadata, of which its log shows little from 2.6 on.
    """
    earlier = min(a, b, key=lambda each: each.at)
    if earlier.replicas is not None and b.broker in earlier.replicas:
        return True
    if (
        earlier.kind in _LEADERS_OWN
        or earlier.leader == b.broker
        or b.broker in (earlier.isr or ())
    ):
        return True
    return a.controller == b.controller == b.broker and a.controller_epoch == b.controller_epoch


def _has_a_log(event: Event) -> bool:
    """Whether its broker created the replica's log before: UpdateMetadata follows LeaderAndIsr."""
    return event.kind == "metadata_cached" and event.broker in (event.replicas or ())


def _both_written(a: Event, b: Event) -> bool:
    """Whether both are writes of one life, by ZooKeeper's transaction log."""
    return a.kind == b.kind == STATE_WRITTEN


def source_of(switch: str) -> str:
    """The KIP or JIRA ticket of a switch."""
    from model.versions import SWITCHES

    return SWITCHES[switch].source


def _text(state: LeaderEpochIsr) -> str:
    leader, epoch, isr = state
    parts = [
        "" if leader is None else f"leader {leader}" if leader >= 0 else "no leader",
        "" if epoch is None else f"leader epoch {epoch}",
        "" if isr is None else "ISR {" + ",".join(map(str, sorted(isr))) + "}",
    ]
    return ", ".join(filter(None, parts))
