"""Finds lost lines: lines that one thread always logs together, of which one is missing.

A missing line breaks nothing by itself: it may have been cut off, left out by whoever collected the
logs, or be in a log that is not here. So no finding here is `broken`: if the code writes both
lines, the log goes on, and elsewhere both are there, then one of them is missing, and the verdict
says so. Two lines of one thread in the other order are the same: each lacks the other.

The pairs are taken from Kafka's code, from 0.9 to 3.9; a line that a release or a log level does
not log is in no pair. If more than a few lines lack their counterpart, lines were left out on
purpose. The model has no lines that could be missing.

Sources: `ReplicaManager.becomeLeaderOrFollower`, `makeLeaders`, `makeFollowers`; `Partition
.maybeShrinkIsr`, `maybeExpandIsr`, `updateIsr`, `createLogIfNotExists`; `KafkaController.elect`,
`processBrokerChange`, `processTopicChange`, `processTopicDeletion`; `PartitionStateMachine
.doHandleStateChanges`; `ControllerBrokerRequestBatch.sendRequestsToBrokers`; `KafkaServer.startup`,
`shutdown`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import groupby

from conformance.ingest.schema import Event
from conformance.pipeline.history import PROCESS, History, numbers
from conformance.pipeline.request_rows import release_number
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import LINES_TOGETHER, FindingKind
from conformance.pipeline.rules_channels import channels
from conformance.pipeline.rules_requests import since_elected
from conformance.pipeline.rules_states import QUIET

FEW = 2  # of one sort in one cluster: where more lack the other line, lines were left out
MANY = 3  # times as many have it
_AT_ONCE = 1000  # milliseconds in which a thread does what it does without a wait
_OF_PROCESSES = 2  # times as many processes log a line as lack it
_SETTLED = 10_000  # milliseconds after which a thread has logged what it logs of one thing
_LEFT = frozenset(
    ("controller_resigned", "controller_moved", "controller_lost", "session_expired", "step_failed")
)
"""Kinds after which a controller's thread has left what it did."""
_REQUEST_FAILED = "request_failed"
"""What the templates begin with by which a broker says that a request failed."""
_SKIPS = ("leader_unavailable", "step_skipped", "become_skipped", "follower_skipped")
_BROKERS = re.compile(r"([\d, ]*), ?deleted brokers: *([\d, ]*),(?: bounced brokers: *([\d, ]*),)?")
_NEW_TOPICS = re.compile(r"\w*\([^)]")
_NAMES = re.compile(r"[\w.-]+")

Key = object
Reading = Callable[[Event], Iterable[Key]]
"""What of a line has to be alike in the two; nothing where it is no such line."""


@dataclass(frozen=True)
class LoggedPair:
    """Two lines of one thread: `first`, and `then`, which follows it.

    `kinds`: the kinds of lines to look at. The first line may lack the second; with `back`, the
    second may lack the first. `sure`: each release logs both, so as many whole pairs as torn ones
    are enough. `ends`: lines after which the second is not logged, for the same key if they have
    one. First lines that are `alone` need no second. After a line that `closes`, or after `within`
    milliseconds, the thread has moved on. `applies`: whether the logs' release always logs both.
    `of_one_log`: one of the two names no broker.
    """

    what: str
    first: Reading
    other: str
    then: Reading
    kinds: AbstractSet[str]
    back: bool = False
    sure: bool = False
    ends: Reading = lambda event: ()
    closes: Reading = lambda event: ()
    within: int = _SETTLED
    alone: Reading = lambda event: ()
    applies: Callable[[History], bool] = lambda history: True
    of_one_log: bool = False


@dataclass
class MissingCounterpart:
    """A line without its counterpart: the place where this shows, and what is missing."""

    at: Event
    why: str


@dataclass
class PairCount:
    """One sort of pair in a cluster: the number of whole pairs, since when, and the torn ones."""

    least: int = MANY
    sure: bool = False
    whole: int = 0
    since: int | None = None
    torn: list[MissingCounterpart] = field(default_factory=list)

    def goes_together(self, event: Event) -> None:
        """Notes a whole pair."""
        self.whole += 1
        self.since = event.at if self.since is None else min(self.since, event.at)

    @property
    def missing(self) -> list[MissingCounterpart]:
        """The torn pairs, if they are so few that their lines must be lost.

        After an upgrade, the new release may be the first that logs both.
        """
        many = self.whole >= self.least * len(self.torn)
        if len(self.torn) > FEW or not many:
            return []
        return [each for each in self.torn if self.sure or each.at.at >= (self.since or 0)]


PairCounts = defaultdict[object, PairCount]
"""By pair, or by a name for what is counted."""


Whole = defaultdict[Key, list[tuple[Event, Event]]]
"""By request, the pairs of it that are whole."""


def _kind(*kinds: str) -> Reading:
    return lambda event: (0,) if event.kind in kinds else ()


def _template(*templates: str) -> Reading:
    return lambda event: (0,) if event.template in templates else ()


def _about(reading: Reading, *columns: str) -> Reading:
    def of(event: Event) -> Iterable[Key]:
        return (tuple(getattr(event, each) for each in columns),) if reading(event) else ()

    return of


def _came(event: Event) -> Iterator[Key]:
    """Brokers that a controller finds new or under another epoch."""
    named = _changed(event)
    if named is not None:
        yield from (some for some in (numbers(named[1]), numbers(named[3])) if some)


def _gone(event: Event) -> Iterator[Key]:
    """Brokers that a controller finds gone, or back again after a failure."""
    named = _changed(event)
    if named is not None:
        yield from (some for some in (numbers(named[2]), numbers(named[3])) if some)


def _any_changed(event: Event) -> Iterable[Key]:
    return (0,) if [*_came(event), *_gone(event)] else ()


def _changed(event: Event) -> re.Match[str] | None:
    if not event.template.startswith("brokers_changed"):
        return None
    return _BROKERS.match((event.detail or "").strip())


def _named(template: str) -> Reading:
    return lambda event: (numbers(event.detail),) if event.template == template else ()


def _announced(event: Event) -> Iterable[Key]:
    """A topic or a partition that a controller finds created."""
    new = event.kind == "topics_changed" and _NEW_TOPICS.match(event.detail or "")
    return (0,) if new or event.kind == "partitions_added" else ()


def _has_no_replicas(event: Event) -> Iterable[Key]:
    """A topic that was deleted before the controller reads its assignment."""
    return () if "->" in (event.detail or "") else (0,)


def _is_made(event: Event) -> Iterable[Key]:
    made = event.kind == "partition_changed" and event.to_state == "NewPartition"
    return (event.tp,) if made else ()


def _is_first_online(event: Event) -> Iterable[Key]:
    first = event.kind == "partition_changed" and event.from_state == "NewPartition"
    return (event.tp,) if first else ()


def _leaves(event: Event) -> Iterable[Key]:
    return (0,) if event.kind in _LEFT else ()


def _fails(event: Event) -> Iterable[Key]:
    return (event.tp,) if event.kind == "change_failed" else _leaves(event)


def _isr_changes(event: Event) -> Iterable[Key]:
    return (event.tp,) if event.kind in ("isr_shrunk", "isr_expanded") else ()


def _isr_is_written(event: Event) -> Iterable[Key]:
    """A write of the leader's own; a controller's response (KIP-497) comes later."""
    own = event.kind == "isr_refused" or (
        event.kind == "isr_updated" and event.detail == "zkVersion"
    )
    return (event.tp,) if own else ()


def _by_controllers(history: History) -> bool:
    """Whether controllers write ISRs for leaders, which learn of it later (KIP-497)."""
    return any(
        (event.kind == "release" and release_number(event.detail or "") >= (2, 7))
        or (event.kind == "isr_updated" and event.detail != "zkVersion")
        for event in history.events
    )


def _next_request(event: Event) -> Iterable[Key]:
    """A controller sends a broker one request after the previous one was answered."""
    return (0,) if event.kind in ("leader_and_isr_received", "metadata_cached") else ()


def _closes_change(event: Event) -> Iterable[Key]:
    """After a controller has handled broker changes, it caches or rereads their epochs."""
    return (0,) if event.template.startswith(("brokers_changed", "broker_epochs")) else ()


def _skips(event: Event) -> Iterable[Key]:
    """A broker skips a step for one partition, or fails, and logs no more of that request."""
    if event.template.startswith(_REQUEST_FAILED):
        return (0,)
    if event.kind == "obeyed" and event.template.startswith(_SKIPS):
        return ((event.controller, event.correlation, event.tp),)
    return ()


def _fails_or_begins(event: Event) -> Iterable[Key]:
    """The same for a step that it has not begun (KIP-516)."""
    begins = event.template in ("step_skipped_for_topic_id", "become_skipped_3")
    return _skips(event) if begins or event.template.startswith(_REQUEST_FAILED) else ()


_REQUEST = ("controller", "correlation")
_STEP = (*_REQUEST, "tp")

_OF_STEPS = frozenset(
    ("leader_and_isr_received", "leader_and_isr_handling", "leader_and_isr_applied", "obeyed",
     "metadata_cached", "same_epoch_refused", "old_epoch_refused", "request_refused",
     "step_failed")
)  # fmt: skip
_OF_ISRS = frozenset(("isr_shrunk", "isr_expanded", "isr_updated", "isr_refused", "step_failed"))
_OF_CONTROLLERS = _LEFT | {
    "brokers_changed", "broker_epochs", "topics_changed", "partitions_added", "partitions_created",
    "topic_deletion", "controller_won", "controller_elected", "controller_ready",
    "process_controller_thread",
}  # fmt: skip

PAIRS = (
    LoggedPair(
        "that it handles a request about a partition",
        _about(_kind("leader_and_isr_handling"), *_STEP),
        "that it has completed it", _about(_kind("leader_and_isr_applied"), *_STEP),
        kinds=_OF_STEPS, ends=_skips, closes=_next_request, within=60_000,
    ),
    LoggedPair(
        "a request that it received", _about(_kind("leader_and_isr_received"), *_STEP),
        "what becomes of it",
        _about(
            _kind(
                "leader_and_isr_handling", "same_epoch_refused", "old_epoch_refused",
                "request_refused",
            ),
            *_STEP,
        ),
        kinds=_OF_STEPS, ends=_fails_or_begins, closes=_next_request, within=60_000,
    ),
    LoggedPair(
        "that it has cut a log to follow", _about(_template("truncated_to_follow"), *_STEP),
        "that it has started to fetch", _about(_template("fetcher_started"), *_STEP),
        kinds=_OF_STEPS, back=True, ends=_skips, closes=_next_request, within=60_000,
    ),
    LoggedPair(
        "a change of the ISR", _isr_changes, "what was written of it", _isr_is_written,
        kinds=_OF_ISRS,
        back=True, ends=_kind("step_failed"), applies=lambda history: not _by_controllers(history),
    ),
    LoggedPair(
        "that a log is made", _about(_kind("log_created"), "tp"),
        "the high watermark that it begins with",
        _about(_kind("high_watermark_loaded", "replica_loaded"), "tp"), of_one_log=True,
        kinds=frozenset(("log_created", "high_watermark_loaded", "replica_loaded")),
    ),
    LoggedPair(
        "to where it will cut", _about(_kind("truncation_chosen"), "tp"),
        "what it has cut", _about(_kind("log_truncated", "truncation_without_effect"), "tp"),
        applies=lambda history: any(_kind("truncation_without_effect")(e) for e in history.events),
        of_one_log=True,
        kinds=frozenset(("truncation_chosen", "log_truncated", "truncation_without_effect")),
    ),
    LoggedPair(
        "brokers that came", _came, "what it does for them", _named("broker_startup"),
        kinds=_OF_CONTROLLERS, back=True, sure=True, within=_AT_ONCE, closes=_closes_change,
        ends=_leaves,
    ),
    LoggedPair(
        "brokers that are gone", _gone, "what it does about them", _named("broker_failure"),
        kinds=_OF_CONTROLLERS, back=True, sure=True, within=_AT_ONCE, closes=_closes_change,
        ends=_leaves,
    ),
    LoggedPair(
        "brokers that came or are gone", _any_changed,
        "the epochs of those that are there", _template("broker_epochs"),
        kinds=_OF_CONTROLLERS, ends=_leaves, closes=_template("brokers_changed"), within=_AT_ONCE,
    ),
    LoggedPair(
        "new topics", _announced, "the making of their partitions", _kind("partitions_created"),
        kinds=_OF_CONTROLLERS, back=True, sure=True, within=_AT_ONCE,
        closes=_template("brokers_changed"),
        ends=_leaves, alone=_has_no_replicas,
    ),
    LoggedPair(
        # A new controller finds some made already (PartitionStateMachine.initializePartitionState).
        "that a partition is made", _is_made, "that it is online", _is_first_online,
        kinds=_LEFT | {"partition_changed", "change_failed"},
        sure=True, within=_AT_ONCE, ends=_fails,
    ),
    LoggedPair(
        "that it begins to delete topics", _template("deletion_starting"),
        "which ones it handles", _template("deletion_handled"),
        kinds=_OF_CONTROLLERS, ends=_leaves,
    ),
    LoggedPair(
        "that it was elected", _about(_kind("controller_elected"), "controller_epoch"),
        "that it is ready", _about(_kind("controller_ready"), "controller_epoch"),
        kinds=_OF_CONTROLLERS, back=True, sure=True, ends=_leaves, within=300_000,
        closes=_template("brokers_changed", "topics_changed"),
    ),
    LoggedPair(
        "that it was elected", _kind("controller_won"),
        "the epoch that it takes", _kind("controller_elected"),
        kinds=_OF_CONTROLLERS, sure=True, ends=_leaves, closes=_kind("controller_ready"),
        within=60_000,
    ),
)  # fmt: skip


def check(context: RuleContext) -> None:
    """Checks all sorts of pairs, in all logs of the cluster."""
    history = context.history
    if history.reduced:
        return  # where lines are left out, each would look lost
    tallies: PairCounts = defaultdict(PairCount)
    pairs = [pair for pair in PAIRS if pair.applies(history)]
    for pair in pairs:
        tallies[pair] = PairCount(1 if pair.sure else MANY, pair.sure)
    for kind in _IN_EACH_RELEASE:
        tallies[kind] = PairCount(_OF_PROCESSES, sure=True)
    for (_, broker), events in sorted(
        history.streams(lambda event: True).items(), key=lambda item: str(item[0])
    ):
        sole = all(history.places[each.file].sole for each in events)
        if broker is None and not sole:
            continue  # several processes write here, and say not who they are
        for pair in pairs:
            if sole or not pair.of_one_log:
                _pair(history, pair, events, tallies[pair])
        for part in (_handled, _sent, _missing_epoch_raises, _states, _deletions):
            part(history, events, tallies)
        if sole:
            _starts(history, events, tallies)
    _channels(context, tallies)
    for tally in tallies.values():
        if tally.whole or tally.torn:
            context.looked(LINES_TOGETHER, tally.whole + len(tally.torn))
        for lack in tally.missing:
            context.report(
                FindingKind.INCOMPLETE,
                LINES_TOGETHER,
                lack.at,
                f"{lack.why}; in {tally.whole} other places of these logs that goes together, so "
                "that a line is missing here, or stands elsewhere",
            )


def _note(tallies: PairCounts, about: object, at: Event, is_whole: bool, why: str) -> None:
    if is_whole:
        tallies[about].goes_together(at)
    else:
        tallies[about].torn.append(MissingCounterpart(at, why))


# -- pairs ----------------------------------------------------------------------------------------


def _pair(history: History, pair: LoggedPair, every: list[Event], tally: PairCount) -> None:
    """Pairs each first line with the next second one of its key, in one log of one broker."""
    events = [event for event in every if event.kind in pair.kinds]
    waiting: dict[Key, Event] = {}
    passed: dict[Key, tuple[Event, Event]] = {}
    early: dict[Key, Event] = {}
    whole: Whole = defaultdict(list)
    for event in events:
        if waiting and pair.closes(event):
            for key in [key for key, begun in waiting.items() if _is_over(begun, event)]:
                passed[key] = waiting.pop(key), event
        for key in pair.first(event):
            turned = early.pop(key, None)
            if turned is not None and turned.at == event.at:
                tally.goes_together(event)  # lines of one millisecond may stand in any order
                continue
            if turned is not None:
                _lacks_first(history, pair, every, turned, tally)
            before = waiting.get(key)
            if before is not None:
                again = before if event.correlation is None else event
                _lacks_second(history, pair, before, event, whole[_request(key)], tally, again)
            waiting[key] = event
        for key in pair.then(event):
            begun = waiting.pop(key, None)
            if begun is None and key in passed:
                begun, _ = passed.pop(key)
            if begun is not None:
                tally.goes_together(begun)
                whole[_request(key)].append((begun, event))
            elif pair.back:
                early[key] = event
        if waiting:
            for key in pair.ends(event):
                if key == 0:
                    waiting.clear()
                else:
                    waiting.pop(key, None)
    for key, (begun, closed) in passed.items():
        _lacks_second(history, pair, begun, closed, whole[_request(key)], tally)
    for turned in early.values():
        _lacks_first(history, pair, every, turned, tally)
    for key, begun in waiting.items():
        later = next((e for e in every if e.at > begun.at + pair.within), None)
        if later is not None:
            _lacks_second(history, pair, begun, later, whole[_request(key)], tally)


def _is_over(begun: Event, event: Event) -> bool:
    """Whether a line that closes a pair is about something later than the pair."""
    same = event.correlation is not None and event.correlation == begun.correlation
    return begun.at < event.at and not same


def _request(key: Key) -> Key:
    """The request in a key: the lines around it are about other requests."""
    return key[:-1] if isinstance(key, tuple) and len(key) == len(_STEP) else None


def _lacks_second(
    history: History,
    pair: LoggedPair,
    begun: Event,
    later: Event,
    whole: list[tuple[Event, Event]],
    tally: PairCount,
    at: Event | None = None,
) -> None:
    """The thread has moved on, in one process, and the second line is missing.

    This shows at `at`, or, if `whole` has other pairs of that request, at the place of the previous
    partition.
    """
    if not history.contiguous(begun, later) or _ended(history, begun, later):
        return
    if pair.alone(begun):
        return
    if pair.ends in (_leaves, _fails) and _is_left(history, begun, later):
        return
    before = [second for first, second in whole if history.key(first) < history.key(begun)]
    same = before and before[-1].correlation == begun.correlation is not None
    same = same and before[-1].controller_epoch == begun.controller_epoch
    tally.torn.append(
        MissingCounterpart(
            at or (before[-1] if same else begun),
            f"{_about_of(begun)}broker {begun.broker} logs {pair.what} at {begun.where}, and "
            f"nowhere up to {later.where} {pair.other}",
        )
    )


def _is_left(history: History, begun: Event, later: Event) -> bool:
    """Whether the controller failed or resigned between two lines, by any of its logs."""
    return any(
        event.kind in _LEFT
        and event.broker == begun.broker
        and begun.at - _AT_ONCE <= event.at <= later.at
        for event in history.events
    )


def _lacks_first(
    history: History, pair: LoggedPair, events: list[Event], then: Event, tally: PairCount
) -> None:
    since = _whole_since(history, events, then, min(pair.within, _SETTLED))
    if since is not None:
        tally.torn.append(
            MissingCounterpart(
                then,
                f"{_about_of(then)}broker {then.broker} logs {pair.other} here, and nowhere "
                f"before, from {since.where} on, {pair.what}",
            )
        )


def _whole_since(history: History, events: list[Event], then: Event, within: int) -> Event | None:
    """A line at least `within` ms earlier in a log, if nothing is missing between the two."""
    key = history.key(then)
    before = events[: bisect_left(events, key, key=history.key)]
    since = next((each for each in reversed(before) if each.at <= then.at - within), None)
    return since if since is not None and history.contiguous(since, then) else None


def _about_of(event: Event) -> str:
    return "" if event.tp is None else f"{event.topic}-{event.partition}: "


def _ended(history: History, a: Event, b: Event) -> bool:
    """Whether the process of two lines ended, or another began, between them.

    A process logs that it `started` long after its threads have begun.
    """
    return (
        b.kind not in PROCESS
        and history.restart_between(a, b, but=("process_started",)) is not None
    )


# -- requests of many partitions ------------------------------------------------------------------

_STARTS = {"leader_started": "fetchers_stopped_for_leader", "follower_started": "fetchers_stopped"}
_OF_ONE = frozenset(
    ("leader_started", "follower_started", "same_epoch_refused", "old_epoch_refused",
     "request_refused", "leader_and_isr_handling")
)  # fmt: skip
"""Kinds that tell what becomes of one partition of a request."""
_OF_REQUESTS = _OF_ONE | {"obeyed"}


def _handled(history: History, events: list[Event], tallies: PairCounts) -> None:
    """The lines about one request, between a broker's line that begins it and the one that ends it.

    This log has a replica's start since 2.7; before, it lacks part of a request.
    """
    begun: int | None = None
    done = -1
    tells = False
    for number, event in enumerate(events):
        tells |= event.kind in _STARTS
        if event.template == "handling_batch":
            if begun is not None:
                last, first = events[number - 1], events[begun]
                if history.contiguous(first, event) and not _ended(history, first, event):
                    _note(
                        tallies, "finished", last, False,
                        f"broker {first.broker} begins with request {first.correlation} of "
                        f"controller {first.controller} at {first.where}, and has not finished it "
                        f"before {event.where}",
                    )  # fmt: skip
            begun = number
        elif event.template == "finished_batch":
            since = done + 1 if begun is None else begun
            first, done = events[since], number
            same = (event.controller, event.correlation) == (first.controller, first.correlation)
            if not history.contiguous(first, event):
                pass
            elif begun is not None and same:
                tallies["finished"].goes_together(event)
                if tells:
                    _counts(events, begun, number, tallies)
            elif begun is None and since < number:
                inside = [e for e in events[since:number] if e.correlation == event.correlation]
                _note(
                    tallies, "finished", (inside or [event])[0], False,
                    f"broker {event.broker} has finished request {event.correlation} of controller "
                    f"{event.controller} at {event.where}, and nowhere from {first.where} on "
                    "begins with it",
                )  # fmt: skip
            begun = None
        elif event.kind == "step_failed":
            begun = None


def _counts(events: list[Event], begun: int, done: int, tallies: PairCounts) -> None:
    """A request, and each of its steps, has as many partition lines as it has partitions."""
    request, inside = events[begun], events[begun + 1 : done]
    moments = request.at, events[done].at
    around = [*events[max(0, begun - _MOMENT) : begun], *events[done + 1 : done + 1 + _MOMENT]]
    if any(each.kind in _OF_REQUESTS and each.at in moments for each in around):
        return  # lines of one millisecond may stand in any order
    wrong = next(_wrong_in(request, inside, moments), None)
    if wrong is None:
        tallies["of one request"].goes_together(request)
    else:
        tallies["of one request"].torn.append(wrong)


def _wrong_in(
    request: Event, inside: list[Event], moments: tuple[int, int]
) -> Iterator[MissingCounterpart]:
    """The lines of one request that a broker's log lacks, or has in another order."""
    name = f"request {request.correlation} of controller {request.controller}"
    for event in inside:
        same = event.correlation in (None, request.correlation)
        if not same and event.controller == request.controller and event.at not in moments:
            yield MissingCounterpart(
                event,
                f"broker {event.broker} logs request {event.correlation} of controller "
                f"{event.controller} here, before it has finished {name}: its controller sends it "
                "one after the other",
            )
    skipped = sum(each.template == "step_skipped" for each in inside)
    for kind, template in _STARTS.items():
        starts = [each for each in inside if each.kind == kind]
        counted = [each for each in inside if each.template == template]
        stated = sum(min(numbers(each.detail), default=0) for each in counted)
        if abs(len(starts) - stated) > skipped:
            yield MissingCounterpart(
                (counted or starts)[-1],
                f"broker {request.broker} stops fetchers of {stated} partitions for {name}, and "
                f"{len(starts)} of them start, by their lines",
            )
        leads = kind == "leader_started"
        for line in counted:
            early = [each for each in starts if (each.at < line.at) is leads and each.at != line.at]
            if early:
                yield MissingCounterpart(
                    line,
                    f"broker {request.broker} stops fetchers for {name} here, "
                    f"{'before' if leads else 'after'} a partition starts, at {early[0].where}, by "
                    "what it logs of each request",
                )
    asked = min(numbers(request.detail), default=0)
    named = {each.tp for each in inside if each.kind in _OF_ONE or _skips(each)} - {None}
    if len(named) != asked:
        yield MissingCounterpart(
            inside[-1] if inside else request,
            f"broker {request.broker} handles {name} for {asked} partitions, at {request.where}, "
            f"and tells what becomes of {len(named)} of them",
        )


_WRITTEN = frozenset(("partition_changed", "isr_removed"))
_METADATA, _LEADERS = "metadata_batch", "leader_and_isr_batch"
_OF_BATCHES = _WRITTEN | {_METADATA, _LEADERS, "stop_replica_sent"}
_STOP_OF_ONE = "stop_replica_sent_2_6"


def _sent(history: History, events: list[Event], tallies: PairCounts) -> None:
    """A controller sends in batches: LeaderAndIsr, then UpdateMetadata, then StopReplica.

    UpdateMetadata is always logged; a newly elected leader is sent a LeaderAndIsr.
    """
    own = [each for each in events if each.kind in _OF_BATCHES and each.template != _STOP_OF_ONE]
    moments = {each.at for each in own if each.kind == _METADATA}
    elected: dict[int, Event] = {}
    named: set[int | None] = set()
    for number, event in enumerate(own):
        if event.kind in _WRITTEN:
            if event.to_state == "OnlinePartition" and event.leader is not None:
                elected.setdefault(event.leader, event)
        elif event.kind == _METADATA:
            near = own[number + 1 : number + 1 + _MOMENT]
            named |= {e.replica for e in near if e.kind == _LEADERS and e.at == event.at}
            for leader, line in elected.items():
                if leader >= 0 and line.at != event.at and history.contiguous(line, event):
                    _note(
                        tallies, "elected", line, leader in named,
                        f"controller {event.broker} elects broker {leader} here, and sends no "
                        f"LeaderAndIsr request to it before {event.where}",
                    )  # fmt: skip
            elected, named = {}, set()
        else:
            leads = event.kind == _LEADERS
            named |= {event.replica} if leads else set()
            rest = own[number + 1 :] if leads else own[:number][::-1]
            other = next((each for each in rest[:_MOMENT] if each.at != event.at), None)
            if other is None or other.kind == event.kind:
                continue
            if not history.contiguous(*((event, other) if leads else (other, event))):
                continue
            place = "after" if leads else "before"
            _note(
                tallies, f"metadata {place}", event,
                other.kind == _METADATA or event.at in moments,
                f"controller {event.broker} sends a request here, and logs no UpdateMetadata "
                f"request {place} it, between it and {other.where}",
            )  # fmt: skip


def _channels(context: RuleContext, tallies: PairCounts) -> None:
    """A controller's requests to a broker have consecutive numbers, and both sides log each."""
    history = context.history
    known = [
        channel
        for channel in channels(context)
        if all(history.contiguous(some[0], some[-1]) for some in (channel.sent, channel.came))
    ]
    whole_since: dict[int | None, Event] = {}
    for channel in known:
        if channel.offset == 0 and channel.came[0].correlation == 0:
            tallies["first requests"].goes_together(channel.came[0])
            whole_since.setdefault(channel.sent[0].controller_epoch, channel.sent[0])
    for channel in known:
        lost = channel.lost_where_sent()
        if lost is not None:
            came, before, after = lost
            tallies["sent"].goes_together(channel.came[0])
            tallies["sent"].whole += len(channel.came) - 1
            _note(
                tallies, "sent", after, False,
                f"controller {after.broker} logs no request here, and none at {before.where}, "
                f"that came to broker {came.broker} as number {came.correlation}, at "
                f"{came.where}; those before and after it go together",
            )  # fmt: skip
            continue
        if channel.offset is None:
            continue
        since = whole_since.get(channel.sent[0].controller_epoch)
        if channel.begins_before and (
            since_elected(context, channel.sent[0], channel.sent[-1])
            or (since is not None and history.key(since) < history.key(channel.sent[0]))
        ):
            first = channel.came[0]
            _note(
                tallies, "first requests", channel.sent[0], False,
                f"controller {first.controller} sends here the second request that came to broker "
                f"{first.broker} on its channel, and no line sends the first, which came at "
                f"{first.where}",
            )  # fmt: skip
        for name, event, sent in channel.lost_where_came():
            _note(
                tallies, f"{name} that came", event, sent is None,
                f"broker {event.broker} logs request {event.correlation} of controller "
                f"{event.controller} here, and not the {name} request before it that was sent"
                + ("" if sent is None else f" at {sent.where}"),
            )  # fmt: skip


# -- leader epochs --------------------------------------------------------------------------------


def _missing_epoch_raises(history: History, events: list[Event], tallies: PairCounts) -> None:
    """While a controller is elected nobody else raises leader epochs, and each raise is logged.

    Up to 2.5 the raise that removes a replica from an ISR is not logged.
    """
    if not any(event.kind == "isr_removed" for event in events):
        return
    partitions: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for event in events:
        if event.tp is not None and event.kind in (*_WRITTEN, "leader_epoch_raised"):
            partitions[event.tp].append(event)
    for some in partitions.values():
        last: Event | None = None
        for event in _in_moments(some):
            epoch = event.leader_epoch
            if epoch is None or event.from_state == "NewPartition":
                last = event
                continue
            before, last = last, event
            if before is None or before.leader_epoch is None or epoch <= before.leader_epoch:
                continue
            if before.controller_epoch != event.controller_epoch or not event.controller_epoch:
                continue
            if not history.contiguous(before, event) or history.age(before) != history.age(event):
                continue
            _note(
                tallies, "leader epochs", event, epoch == before.leader_epoch + 1,
                f"{event.topic}-{event.partition}: leader epoch {epoch} is written here, and "
                f"{before.leader_epoch} was by the same controller, at {before.where}; what it "
                "wrote in between is not there",
            )  # fmt: skip


def _in_moments(events: list[Event]) -> Iterator[Event]:
    """Lines in their order; those of one millisecond by their leader epochs."""
    for _, moment in groupby(events, key=lambda each: each.at):
        yield from sorted(moment, key=lambda each: each.leader_epoch or 0)


# -- states ---------------------------------------------------------------------------------------


def _states(history: History, events: list[Event], tallies: PairCounts) -> None:
    """A partition that leaves the offline state, or is created, was moved there by an earlier line.

    Other moves have rules of their own. Since 2.6 that move is logged at TRACE, and the line that
    is compared with it at INFO: the log level may be between them.
    """
    last: dict[tuple[str, int], Event] = {}
    for event in events:
        if event.kind != "partition_changed" or event.tp is None or not event.to_state:
            continue
        before, last[event.tp] = last.get(event.tp), event
        if before is None or event.from_state not in QUIET or not before.to_state:
            continue
        if event.level != "TRACE":
            continue
        epochs = {before.controller_epoch, event.controller_epoch} - {None}
        if len(epochs) > 1 or before.at == event.at:
            continue  # lines of one millisecond may stand in any order
        if history.contiguous(before, event) and history.age(before) == history.age(event):
            _note(
                tallies, f"moves to {event.from_state}", event, before.to_state == event.from_state,
                f"{event.topic}-{event.partition} changes from {event.from_state} here, and was "
                f"moved to {before.to_state} by the same controller, at {before.where}; the move "
                "in between is not there",
            )  # fmt: skip


# -- topics ---------------------------------------------------------------------------------------


def _deletions(history: History, events: list[Event], tallies: PairCounts) -> None:
    """A topic is created again: the line that ends its deletion comes before."""
    open_since: dict[str, Event] = {}
    handled: Event | None = None
    last: dict[str, Event] = {}
    for event in events:
        if event.kind in _LEFT or event.kind == "controller_elected":
            open_since, handled = {}, None  # another controller may have ended them
        elif event.kind == "topic_deletion":
            if event.topic is not None:
                _resumed(history, events, handled, event, tallies)
                open_since[event.topic] = last[event.topic] = event
            for topic in open_since.keys() & set(_NAMES.findall(event.detail or "")):
                last[topic] = event
            if event.template == "deletion_handled":
                handled = event
        elif event.kind == "topic_deleted" and event.topic in open_since:
            begun = open_since.pop(event.topic)
            if history.contiguous(begun, event):
                tallies["deletions"].goes_together(begun)
        elif event.kind == "topics_changed" and _announced(event):
            made = (event.detail or "").partition("deleted topics")[0]
            for topic in open_since.keys() & set(_NAMES.findall(made)):
                begun = open_since.pop(topic)
                if history.contiguous(begun, event):
                    _note(
                        tallies, "deletions", last[topic], False,
                        f"the deletion of {topic} began at {begun.where}, and no line says that it "
                        f"is over before the topic is made again, at {event.where}",
                    )  # fmt: skip


def _resumed(
    history: History,
    events: list[Event],
    handled: Event | None,
    begun: Event,
    tallies: PairCounts,
) -> None:
    """A deletion is (re)started where the controller handles the topics queued for deletion."""
    if _whole_since(history, events, begun, _AT_ONCE) is None:
        return
    named = set() if handled is None else set(_NAMES.findall(handled.detail or ""))
    _note(
        tallies, "deletions that are handled", begun, begun.topic in named,
        f"the deletion of {begun.topic} is (re)started here, and the last line before it that says "
        "which deletions are handled does not name it",
    )  # fmt: skip


# -- processes ------------------------------------------------------------------------------------

_OF_STARTS = {
    "process_starting": "that it starts",
    "cluster_id": "the id of its cluster",
    "broker_registered": "its registration",
    "release": "its release",
}


def _starts(history: History, events: list[Event], tallies: PairCounts) -> None:
    """The lines that a process logs before it reports its start, and before its shutdown."""
    seen: dict[str, Event] = {}
    begun: Event | None = None
    stopping = False
    for event in events:
        if event.kind in _OF_STARTS:
            if event.kind == "process_starting":
                seen = {}
            seen.setdefault(event.kind, event)
        elif event.kind == "process_started":
            _one_start(history, events[0], seen, event, tallies)
            seen, begun, stopping = {}, event, False
        elif event.kind == "process_stopping":
            _lived(history, seen, event, tallies)
            stopping = True
        elif event.kind == "process_stopped":
            if begun is not None and history.contiguous(begun, event):
                _note(
                    tallies, "process_stopping", event, stopping,
                    f"broker {event.broker} is shut down here, and no line since {begun.where} "
                    "says that it shuts down",
                )  # fmt: skip
            seen, begun, stopping = {}, None, False


def _lived(history: History, seen: dict[str, Event], event: Event, tallies: PairCounts) -> None:
    """A process that is registered for a while has started. One that registers again after its
    session expired started long before: it shows nothing about a start."""
    registered = seen.get("broker_registered")
    if registered is None or not seen.keys() & {"process_starting", "cluster_id"}:
        return
    if event.at - registered.at < _SETTLED:
        return
    if history.contiguous(registered, event):
        _note(
            tallies, "process_started", registered, False,
            f"broker {event.broker} registers here and shuts down at {event.where}, and no line in "
            "between says that it has started",
        )  # fmt: skip


def _one_start(
    history: History, since: Event, seen: dict[str, Event], started: Event, tallies: PairCounts
) -> None:
    first = min(seen.values(), key=history.key, default=None)
    if first is None or not history.contiguous(first, started):
        return
    tallies["process_started"].goes_together(started)
    for kind, what in _OF_STARTS.items():
        other = seen.get(kind)
        if other is None and kind == "process_starting" and first is since:
            continue  # the log may begin after it
        near = started if kind in ("release", "broker_registered") else first
        _note(
            tallies, kind, other or near, other is not None,
            f"broker {started.broker} started at {started.where}, and no line from {first.where} "
            f"on has {what}",
        )  # fmt: skip


_IN_EACH_RELEASE = frozenset(
    ("process_starting", "process_started", "process_stopping", "release", "cluster_id")
)
_MOMENT = 50  # lines at most that are looked at around one
