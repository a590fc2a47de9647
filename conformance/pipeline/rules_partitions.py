"""Rules about states that controllers write: epochs grow, one leader each, from the ISR.

The model says which writes may lead from one version of a state to the next (`rules_model`). These
rules compare what it cannot: a line that contradicts itself is no evidence for a write, releases up
to 1.0 log no version, and the broker that starts as leader logs it without the version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from conformance.ingest.schema import Event
from conformance.pipeline.history import History, numbers
from conformance.pipeline.monotonicity import ValueSeen
from conformance.pipeline.rule_context import RuleContext, as_set
from conformance.pipeline.rules import (
    LEADER_EPOCHS_NEVER_GO_BACK,
    LEADER_IN_ISR,
    ONE_LEADER,
    WRITERS_EPOCH,
    FindingKind,
)
from conformance.pipeline.rules_controllers import WRITES
from conformance.pipeline.rules_model import another_life, same_life

_STATES = frozenset(
    ("partition_changed", "isr_removed", "leader_epoch_raised", "leader_and_isr_sent",
     "metadata_sent")
)  # fmt: skip
_ANNOUNCED = frozenset(("isr_shrunk", "isr_expanded"))
_LEADERS_OWN_ISR = frozenset(("isr_shrunk", "isr_expanded", "isr_updated"))


def check(context: RuleContext) -> None:
    """Checks each line by itself first, so that a bad line is not compared with good ones."""
    for event in context.history.events:
        _leader_in_isr(context, event)
        _writers_epoch(context, event)
    _epochs_grow(context)
    _leaders_are_the_elected(context)
    _fetched_from_the_leader(context)


def _leader_in_isr(context: RuleContext, event: Event) -> None:
    leader = event.broker if event.kind in _LEADERS_OWN_ISR else event.leader
    if event.kind == "leader_started" and event.isr is not None:
        leader = event.broker
    if event.isr is None or leader is None or leader < 0:
        return
    context.looked(LEADER_IN_ISR)
    if leader not in event.isr:
        context.report(
            FindingKind.VIOLATION,
            LEADER_IN_ISR,
            event,
            f"{event.tp_name}: leader {leader} is not in the ISR {as_set(event.isr)}",
            f"a leader from {as_set(event.isr)}, or an ISR with {leader} in it",
        )
    elif event.kind in _ANNOUNCED and event.detail and leader not in numbers(event.detail):
        before = as_set(sorted(numbers(event.detail)))
        context.report(
            FindingKind.VIOLATION,
            LEADER_IN_ISR,
            event,
            f"{event.tp_name}: broker {leader} changes the ISR {before} here, in which it is not: "
            "only a leader does, and it is in it",
            f"a change by a broker from {before}",
        )


def _writers_epoch(context: RuleContext, event: Event) -> None:
    state, writer = event.state_epoch, event.controller_epoch
    if state is None or not writer:  # a controller that has just resigned writes under 0
        return
    context.looked(WRITERS_EPOCH)
    wrong = state != writer if event.kind == "isr_removed" else state > writer
    if wrong and not context.history.is_of_a_successor(event):
        context.report(
            FindingKind.VIOLATION,
            WRITERS_EPOCH,
            event,
            f"{event.tp_name}: the state carries controller epoch {state}, its writer has {writer}",
            f"controller epoch {writer}"
            + ("" if event.kind == "isr_removed" else ", or an older one that was only passed on"),
        )


def _epochs_grow(context: RuleContext) -> None:
    """Compares all controllers' writes, in the order of their epochs and of each one's lines."""
    history = context.history
    written: dict[tuple[int, str, int], list[Event]] = defaultdict(list)
    for event in context.innocent(history.events):
        if event.kind not in _STATES or event.leader_epoch is None or event.tp is None:
            continue
        if event.controller_epoch is None or event.leader == -2 or _is_not_kept(event):
            continue
        if (event.state_epoch or 0) > event.controller_epoch:
            continue  # its successor wrote that, and may have sent less before
        age = history.age(event)
        if age is not None:
            written[(age, *event.tp)].append(event)
    joined = _joined(context)

    def excuse(a: Event, b: Event) -> str | None:
        reset = history.reset(a, b)
        if reset is not None:
            return reset.why
        began = history.topic_began(a, b)
        if began is not None:
            return f"the topic was changed at {began.where}"
        if history.wrote_deposed(a, b):
            return f"{a.where} is a write of a controller that was deposed (KAFKA-6082)"
        return None

    for (_, topic, partition), events in sorted(written.items()):
        events.sort(key=lambda event: (event.controller_epoch, history.key(event)))
        passed_on = history.passed_on(events)
        events = [event for event in events if id(event) not in passed_on]
        context.never_falls(
            LEADER_EPOCHS_NEVER_GO_BACK,
            f"{topic}-{partition}: the leader epoch",
            [_step(event) for event in events],
            excuse,
            joined,
            "leader_epoch",
        )
        _one_leader(context, context.innocent(events), joined)


def _is_not_kept(event: Event) -> bool:
    """Whether the line raises the leader epoch for a reassignment: the epoch is written and sent,
    but the cache keeps the old one until a read (updateLeaderEpochAndSendRequest, up to 2.3)."""
    return event.kind == "leader_epoch_raised" and event.leader is not None


def _step(event: Event) -> ValueSeen:
    """Removing a replica that is not in the ISR writes nothing: the line has the current state.

    The last member stays in the ISR that is written without a leader.
    """
    created = event.kind == "partition_changed" and event.from_state == "NewPartition"
    first = event.is_new is True and event.leader_epoch == 0
    stays = event.kind == "isr_removed" and event.isr == [event.replica]
    return ValueSeen(
        event.leader_epoch or 0,
        event,
        strict=(event.kind == "partition_changed" and not created) or stays,
        fresh=created or first,
    )


def _one_leader(
    context: RuleContext, events: list[Event], joined: Callable[[Event, Event], bool]
) -> None:
    last: Event | None = None
    for event in events:
        if last is not None and not _step(event).fresh and event.leader_epoch == last.leader_epoch:
            context.looked(ONE_LEADER)
            if event.leader != last.leader and context.history.topic_began(last, event) is None:
                sure = joined(last, event)
                context.report(
                    FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
                    ONE_LEADER,
                    event,
                    f"{event.tp_name}: leader epoch {event.leader_epoch} has leader {event.leader} "
                    f"here, and leader {last.leader} at {last.where}",
                    f"leader {last.leader} in leader epoch {event.leader_epoch}, or a higher epoch",
                )
        last = event


def _leaders_are_the_elected(context: RuleContext) -> None:
    """The broker that starts as leader in an epoch is the one that the controller wrote for it.

    Compared across brokers by epoch, if both logs are complete, or lines would show a new topic or
    ZooKeeper in between; and only within one life of the topic.
    """
    history = context.history
    written: dict[tuple[int | None, str, int, int], list[Event]] = defaultdict(list)
    started: dict[tuple[int | None, str, int, int], set[int | None]] = defaultdict(set)
    starters: set[int | None] = set()
    for event in context.innocent(history.events):
        if event.tp is None or event.leader_epoch is None:
            continue
        if event.kind in _STATES:
            written[(history.age(event), *event.tp, event.leader_epoch)].append(event)
        elif event.kind == "leader_started":
            started[(history.age(event), *event.tp, event.leader_epoch)].add(event.broker)
            starters.add(event.broker)
    for event in context.innocent(history.events):
        if event.kind != "leader_started" or event.tp is None or event.leader_epoch is None:
            continue
        here = history.age(event), *event.tp, event.leader_epoch
        states = [
            state
            for state in written.get(here, ())
            if state.leader not in (None, -2)
            and history.topic_began(state, event) is None
            and history.topic_began(event, state) is None
            and (
                history.same_zookeeper(state, event, state.controller_epoch or 0)
                and not (state.broker != event.broker and history.lived_twice(event))
                if history.complete(state) and history.complete(event)
                else same_life(history, state, event)
            )
        ]
        if not states or here[0] is None:
            continue
        context.looked(ONE_LEADER)
        if any(state.leader == event.broker for state in states):
            continue
        state = states[0]
        if len(states) == 1 and state.leader in starters - started[here]:
            context.report(
                FindingKind.VIOLATION,
                ONE_LEADER,
                state,
                f"{state.tp_name}: leader {state.leader} is written for leader epoch "
                f"{state.leader_epoch} here, and broker {event.broker} starts as leader in it, at "
                f"{event.where}; broker {state.leader} does not",
                f"leader {event.broker} in leader epoch {event.leader_epoch}",
            )
            continue
        context.report(
            FindingKind.VIOLATION,
            ONE_LEADER,
            event,
            f"{event.tp_name}: broker {event.broker} starts as leader in leader epoch "
            f"{event.leader_epoch}, for which leader {state.leader} was written at "
            f"{state.where}",
            f"leader {state.leader} in leader epoch {event.leader_epoch}",
        )


def _fetched_from_the_leader(context: RuleContext) -> None:
    """A follower fetches from the leader of its leader epoch (2.1 and later)."""
    history = context.history
    leaders: dict[tuple[str, int, int], list[tuple[int | None, Event]]] = defaultdict(list)
    for event in context.innocent(history.events):
        if event.tp is None or event.leader_epoch is None:
            continue
        if event.kind == "leader_started":
            leaders[*event.tp, event.leader_epoch].append((event.broker, event))
        elif event.kind in _STATES and (event.leader or 0) >= 0:
            leaders[*event.tp, event.leader_epoch].append((event.leader, event))
    writers = {e.broker for e in history.events if e.kind == "leader_started"}
    for topic, partition in sorted({(topic, partition) for topic, partition, _ in leaders}):
        for fetcher in history.fetchers((topic, partition)):
            key = topic, partition, fetcher.leader_epoch or 0
            some = leaders[key]
            leaders[key] = [*some, (fetcher.leader, fetcher)]
            one_life = [each for each in some if not _lived_again(history, each[1], fetcher)]
            known = [each for each in one_life if same_life(history, *_by_time(each[1], fetcher))]
            if not known and (not one_life or fetcher.leader not in writers):
                continue
            context.looked(ONE_LEADER)
            if any(
                leader == fetcher.leader
                and not (known and another_life(history, *_by_time(event, fetcher)))
                for leader, event in some
            ):
                continue
            leaders[key] = some  # a line that breaks this rule is no evidence for another
            leader, event = (known or one_life)[0]
            context.report(
                FindingKind.VIOLATION if known else FindingKind.INCOMPLETE,
                ONE_LEADER,
                fetcher,
                f"{fetcher.tp_name}: broker {fetcher.broker} fetches from broker {fetcher.leader} "
                f"in leader epoch {fetcher.leader_epoch}, in which broker {leader} leads, by "
                f"{event.where}"
                + ("" if known else "; lines of another topic of that name may be missing"),
                f"broker {leader} in leader epoch {fetcher.leader_epoch}",
            )


def _lived_again(history: History, leads: Event, fetches: Event) -> bool:
    """Whether a line shows a new topic or ZooKeeper between two. A follower's new log does not:
    it is created after the leader has started."""
    a, b = _by_time(leads, fetches)
    if a.broker == b.broker:
        return another_life(history, a, b)
    return bool(history.reset(a, b) or history.topic_began(a, b))


def _by_time(a: Event, b: Event) -> tuple[Event, Event]:
    return (a, b) if a.at <= b.at else (b, a)


def _joined(context: RuleContext) -> Callable[[Event, Event], bool]:
    """Whether no write of a partition between two lines can be missing.

    Within one controller epoch its one writer's log decides. Across epochs, the log of every
    controller in between has to be here as well.
    """
    history = context.history
    writers: dict[tuple[int | None, int], set[str]] = defaultdict(set)
    for event in history.events:
        if event.kind in WRITES and event.controller_epoch is not None:
            stream = history.places[event.file].stream
            writers[history.age(event), event.controller_epoch].add(stream)

    def joined(a: Event, b: Event) -> bool:
        first, last = a.controller_epoch or 0, b.controller_epoch or 0
        if last - first > 1000 or not history.same_zookeeper(a, b, last):
            return False
        streams = {history.places[a.file].stream, history.places[b.file].stream}
        for epoch in range(first + 1, last):
            between = writers.get((history.age(a), epoch))
            if not between:
                return False
            streams |= between
        if len(streams) == 1:
            return history.contiguous(a, b)
        return history.complete(a) and history.complete(b)

    return joined
