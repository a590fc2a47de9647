"""Rules about controllers: epochs strictly grow, have one owner, and restart only with reason.

The model decides whether controllers' lines are a run of `election` (`rules_controllership`). These
rules come first, and decide what the model cannot: which of two contradictory lines is wrong (the
run takes no blamed line), where epochs begin anew because the ZooKeeper is another, and checks that
need more than the model has, such as znode versions and the list of live brokers. Each rule was
left out in turn, on planted faults and in the tests: without it, a wrong line is not found, another
line is blamed, or a doubt is not reported.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import groupby, pairwise

from conformance.ingest.schema import Event
from conformance.pipeline.monotonicity import ValueSeen
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import (
    CONTROLLER_EPOCHS_STRICTLY_GROW,
    EPOCH_VERSION,
    ONE_OWNER,
    REQUEST_AS_SENT,
    FindingKind,
)

# Lines that a controller writes while it acts; its head carries the epoch that it acts with.
WRITES = frozenset(
    (
        "partition_changed",
        "isr_removed",
        "replica_changed",
        "leader_and_isr_sent",
        "leader_and_isr_batch",
        "metadata_sent",
        "metadata_batch",
        "stop_replica_sent",
    )
)
SAYS = WRITES | {"response_received", "change_failed"}
"""Lines whose head carries the epoch that a controller has then."""
_OVERLAP = 1000  # milliseconds by which threads that write one log may be out of order
_TELL_VERSION = frozenset(("controller_elected", "controller_epoch_read"))
_SENDS_TO_LIVE = (2, 4)
"""The first release of which that is taken for certain."""
_SENDS = frozenset(("leader_and_isr_batch", "leader_and_isr_sent"))
_ELECTIONS = frozenset(("controller_elected", "controller_ready"))
_SIGHTED_BY_OTHERS = frozenset(
    (
        "obeyed",
        "metadata_cached",
        "leader_and_isr_received",
        "leader_and_isr_handling",
        "leader_and_isr_applied",
        "same_epoch_refused",
        "old_epoch_refused",
        "old_controller_refused",
    )
)


def check(context: RuleContext) -> None:
    """Reports resets first, once each; then checks epochs, writers, owners and requests sent."""
    for reset in context.history.resets:
        context.report(
            FindingKind.EXPLAINED,
            CONTROLLER_EPOCHS_STRICTLY_GROW,
            reset.event,
            f"a new ZooKeeper begins here: {reset.why}; epochs start again",
        )
    _ready_with_what_was_taken(context)
    _version_rises_with_epoch(context)
    _elections_grow(context)
    _writers_grow(context)
    _one_owner(context)
    _unknown_election_winner(context)
    _sends_to_brokers(context)


def _ready_with_what_was_taken(context: RuleContext) -> None:
    """A controller gets ready with the epoch that it took; else the less used of the two is wrong.

    Its writes as controller in this term count, and brokers' lines about it; otherwise the version
    of the znode, which rises with each epoch.
    """
    history = context.history
    taken = history.streams(lambda event: event.kind in _ELECTIONS)
    writes: dict[int | None, list[Event]] = defaultdict(list)
    for event in history.events:
        if event.kind in WRITES and _own(event):
            writes[event.broker].append(event)
        elif event.kind in _SIGHTED_BY_OTHERS:
            writes[event.controller].append(event)
    for (_, broker), events in sorted(taken.items(), key=_by_stream):
        terms = [*events[1:], None]
        for (elected, ready), after in zip(pairwise(events), terms[1:], strict=True):
            if elected.kind != "controller_elected" or ready.kind != "controller_ready":
                continue
            if not history.contiguous(elected, ready):
                continue
            context.looked(CONTROLLER_EPOCHS_STRICTLY_GROW)
            if elected.controller_epoch == ready.controller_epoch:
                continue
            used = Counter(
                event.controller_epoch
                for event in writes[broker]
                if elected.at <= event.at and (after is None or event.at < after.at)
            )
            uses = [used[event.controller_epoch] for event in (elected, ready)]
            if uses[0] == uses[1] and elected.version is not None:
                near = (elected.version, elected.version + 1)
                uses = [int(event.controller_epoch in near) for event in (elected, ready)]
            wrong, right = (elected, ready) if uses[0] < uses[1] else (ready, elected)
            context.report(
                FindingKind.VIOLATION,
                CONTROLLER_EPOCHS_STRICTLY_GROW,
                wrong,
                f"broker {broker} is controller with epoch {wrong.controller_epoch} here, and with "
                f"{right.controller_epoch} at {right.where}, in one term as controller",
                f"controller epoch {right.controller_epoch}",
            )


def _version_rises_with_epoch(context: RuleContext) -> None:
    """Epoch and zkVersion of one znode, which both rise by one: they stay as far apart.

    How far, the first writes of a ZooKeeper decide: the znode is created with epoch 1, or with 0.
    """
    history = context.history
    ages: dict[int, list[Event]] = defaultdict(list)
    for event in history.events:
        if event.kind in _TELL_VERSION and event.version is not None and event.controller_epoch:
            age = history.age(event)
            if age is not None:
                ages[age].append(event)
    for _, events in sorted(ages.items()):
        context.looked(EPOCH_VERSION, len(events))
        for event in events:
            if _apart(event) < 0:
                context.report(
                    FindingKind.VIOLATION,
                    EPOCH_VERSION,
                    event,
                    f"controller epoch {event.controller_epoch} stands under zkVersion "
                    f"{event.version}: each write raises both, and the first has epoch 1 or more",
                    f"zkVersion {event.controller_epoch} or less",
                )
        events = context.innocent(events)
        apart = Counter(_apart(event) for event in events)
        if len(apart) < 2:
            continue
        right = max(apart, key=lambda far: (apart[far], far in (0, 1), -far))
        known = [event for event in events if _apart(event) == right]
        for event in events:
            if _apart(event) == right or id(event) in context.blamed:
                continue
            near = min(known, key=lambda each: (abs(each.at - event.at), history.key(each)))
            sure = apart[right] > apart[_apart(event)] and history.same_zookeeper(
                near, event, event.controller_epoch or 0
            )
            more = "" if sure else "; lines that show a new ZooKeeper may be missing"
            context.report(
                FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
                EPOCH_VERSION,
                event,
                f"controller epoch {event.controller_epoch} stands under zkVersion {event.version} "
                f"here, and {near.controller_epoch} under {near.version} at {near.where}{more}",
                f"zkVersion {(event.controller_epoch or 0) - right}",
            )


def _apart(event: Event) -> int:
    return (event.controller_epoch or 0) - (event.version or 0)


def _elections_grow(context: RuleContext) -> None:
    history = context.history
    taken = history.streams(lambda event: event.kind in _ELECTIONS)
    for (_, broker), every in sorted(taken.items(), key=_by_stream):
        events = context.innocent(every)
        steps = [
            # The line that says "ready" repeats the epoch of the election before it.
            ValueSeen(event.controller_epoch, event, strict=event.kind == "controller_elected")
            for event in events
            if event.controller_epoch is not None
        ]
        context.never_falls(
            CONTROLLER_EPOCHS_STRICTLY_GROW,
            f"the controller epoch taken by broker {broker}",
            steps,
            _new_zookeeper(context),
            _same_zookeeper(context),
            "controller_epoch",
        )


def _writers_grow(context: RuleContext) -> None:
    history = context.history
    written = history.streams(lambda event: event.kind in SAYS and _own(event))
    for (_, broker), events in sorted(written.items(), key=_by_stream):
        _one_epoch_a_term(context, events)
        steps = [
            ValueSeen(event.controller_epoch, event)
            for event in context.innocent(events)
            if event.controller_epoch  # it is 0 once the controllership was left
        ]
        context.never_falls(
            CONTROLLER_EPOCHS_STRICTLY_GROW,
            f"the controller epoch that broker {broker} writes with",
            steps,
            _new_zookeeper(context),
            _same_zookeeper(context),
            "controller_epoch",
        )


def _one_epoch_a_term(context: RuleContext, events: list[Event]) -> None:
    """Between two lines of a controller with one epoch, it has no other and does not leave it.

    A controller never returns to an epoch that it left. So the line between them is wrong, in
    whatever order lines of one millisecond stand.
    """
    joined, excuse = _same_zookeeper(context), _new_zookeeper(context)
    moments = [list(some) for _, some in groupby(events, key=lambda each: (each.file, each.at))]
    for before, together, after in zip(moments, moments[1:], moments[2:], strict=False):
        first, last = before[-1], after[0]
        epoch = first.controller_epoch
        if not epoch or last.controller_epoch != epoch or first.at > last.at:
            continue
        for event in together:
            if event.controller_epoch in (epoch, None) or not joined(first, last):
                continue
            if excuse(first, last) is not None:
                continue
            context.looked(CONTROLLER_EPOCHS_STRICTLY_GROW)
            context.report(
                FindingKind.VIOLATION,
                CONTROLLER_EPOCHS_STRICTLY_GROW,
                event,
                f"broker {event.broker} writes with controller epoch {event.controller_epoch} "
                f"here, and with {epoch} before it, at {first.where}, and after it, at "
                f"{last.where}",
                f"controller epoch {epoch}",
            )


def _one_owner(context: RuleContext) -> None:
    """Compares epochs across brokers by value, never by time."""
    history = context.history
    sightings: dict[tuple[int, int], dict[int, list[Event]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for event in context.innocent(history.events):
        epoch, owner = event.controller_epoch, event.controller
        if event.kind == "controller_ready":
            owner = event.broker
        if epoch is None or owner is None or epoch <= 0 or owner < 0:
            continue
        if event.kind in WRITES | _ELECTIONS | _SIGHTED_BY_OTHERS:
            age = history.age(event)
            if age is not None:
                sightings[age, epoch][owner].append(event)
    for (_, epoch), owners in sorted(sightings.items()):
        context.looked(ONE_OWNER, sum(map(len, owners.values())))
        # Who tells of its election holds it, before who is seen with it more often.
        ranked = sorted(
            owners.items(),
            key=lambda item: (
                all(event.kind != "controller_elected" for event in item[1]),
                -len(item[1]),
                item[1][0].at,
                item[0],
            ),
        )
        owner, known = ranked[0]
        for other, events in ranked[1:]:
            event = events[0]
            near = min(known, key=lambda each: (abs(each.at - event.at), history.key(each)))
            sure = history.same_zookeeper(near, event, epoch)
            more = f" and {len(events) - 1} more lines" if len(events) > 1 else ""
            context.report(
                FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
                ONE_OWNER,
                event,
                f"controller epoch {epoch} is held by broker {other} here{more}, and by broker "
                f"{owner} at {near.where}"
                + ("" if sure else "; lines that show a new ZooKeeper may be missing"),
                f"controller epoch {epoch} held by broker {owner} only",
            )


def _unknown_election_winner(context: RuleContext) -> None:
    """A broker that stops its election for another one names the broker that was controller then.

    Doubted if no other line shows the named broker as controller, and a third broker was elected
    before and stays controller after it. Clocks may differ: it is never certain.
    """
    history = context.history
    owners: Counter[int | None] = Counter()
    terms: dict[tuple[int | None, int | None], list[Event]] = defaultdict(list)
    lost = [each for each in history.events if each.kind == "controller_lost"]
    for event in history.events:
        if event.kind in WRITES | _SIGHTED_BY_OTHERS | {"controller_lost"}:
            owners[event.controller] += 1
        if event.kind in _ELECTIONS or (event.kind in WRITES and _own(event)):
            owners[event.broker] += event.kind in _ELECTIONS
            terms[event.broker, event.controller_epoch].append(event)
    for event in lost:
        context.looked(ONE_OWNER)
        if event.controller is None or owners[event.controller] > 1:
            continue
        for (broker, epoch), lines in sorted(terms.items(), key=str):
            first = min(lines, key=lambda each: each.at)
            last = max(lines, key=lambda each: each.at)
            if first.kind not in _ELECTIONS or broker == event.controller:
                continue
            if first.at + _OVERLAP <= event.at <= last.at - _OVERLAP:
                context.report(
                    FindingKind.INCOMPLETE,
                    ONE_OWNER,
                    event,
                    f"broker {event.broker} stops its election for broker {event.controller}, "
                    f"which no other line knows as controller; broker {broker} was it in epoch "
                    f"{epoch}, from {first.where} to {last.where}",
                    f"broker {broker} as controller",
                )
                break


def _sends_to_brokers(context: RuleContext) -> None:
    """A controller sends only to brokers that its lines before and after show as alive.

    It leaves out all others (AbstractControllerBrokerRequestBatch.sendRequestsToBrokers).
    """
    history = context.history
    if history.oldest_release < _SENDS_TO_LIVE or not history.live_brokers:
        return
    lists = history.streams(lambda event: event.kind == "broker_epochs")
    known = history.live_brokers | history.writers
    for event in context.innocent(history.events):
        if event.kind not in _SENDS or event.replica is None or not _own(event):
            continue
        context.looked(REQUEST_AS_SENT)
        if event.replica in known:
            continue
        sure = any(
            history.log_covers(listed, event.at + 1)
            and listed.at < event.at
            and not history.clock_was_set(listed, event)
            and history.same_zookeeper(listed, event, event.controller_epoch or 0)
            for (_, broker), some in lists.items()
            if broker == event.broker
            for listed in some
        )
        if not sure:
            continue  # the line that counts it among the live ones may be missing
        context.report(
            FindingKind.VIOLATION,
            REQUEST_AS_SENT,
            event,
            f"controller {event.broker} sends to broker {event.replica}, and no line counts that "
            f"one among the live brokers, nor is a line of it here",
            f"a request to one of {sorted(history.live_brokers)}",
        )


def _own(event: Event) -> bool:
    return event.broker is not None and event.broker == event.controller


def _new_zookeeper(context: RuleContext) -> Callable[[Event, Event], str | None]:
    def excuse(a: Event, b: Event) -> str | None:
        reset = context.history.reset(a, b)
        return None if reset is None else reset.why

    return excuse


def _same_zookeeper(context: RuleContext) -> Callable[[Event, Event], bool]:
    def joined(a: Event, b: Event) -> bool:
        if a.file != b.file and b.at < a.at - _OVERLAP:
            return False  # the files may have been written in the other order
        if context.history.put_together(a, b):
            return False
        if context.history.same_zookeeper_throughout(a, b):
            return True
        # The first epoch of all, without a further sign, may be that of a new ZooKeeper.
        first = b.controller_epoch == 1 and b.kind in _ELECTIONS
        if first or not context.history.contiguous(a, b):
            return False
        return context.history.same_zookeeper(a, b, b.controller_epoch or 0)

    return joined


def _by_stream(item: tuple[tuple[str, int | None], list[Event]]) -> tuple[str, int]:
    (stream, broker), _ = item
    return stream, -1 if broker is None else broker
