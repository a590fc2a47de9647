"""Rules about the states of one partition: all lines about a version agree.

Members of an ISR are replicas, znode versions grow, a controller moves a partition out of the state
that it moved it into, a follower changes no ISR, and a leader starts once in an epoch.

A step of the model needs the states before and after it, which neighbouring versions have
(`rules_model`). Here one of the two is not logged, or its line does not show it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, pairwise

from conformance.ingest.schema import Event
from conformance.pipeline.history import PASSED_ON, History
from conformance.pipeline.monotonicity import ValueSeen
from conformance.pipeline.rule_context import RuleContext, as_set
from conformance.pipeline.rules import (
    BEGINS_AS_ASSIGNED,
    BREAKS,
    HOLDS_AS_RECEIVED,
    ISR_OF_REPLICAS,
    LEADER_EPOCHS_NEVER_GO_BACK,
    LEADER_WRITES_ISR,
    NO_LEADER_FROM_OUTSIDE_ISR,
    NO_TRUNCATION_BELOW_HIGH_WATERMARK,
    ONE_LEADER,
    STARTS_ONCE,
    STATES_FOLLOW,
    VERSIONS_STRICTLY_GROW,
    WRITE_FITS,
    FindingKind,
)
from conformance.pipeline.rules_model import another_life, same_life

_LASTS = 300_000  # milliseconds: no move of a partition keeps a removed replica in the ISR so long
_ANNOUNCED = 10_000  # milliseconds between the news of a partition and its making
_ANSWERS_ARE_NEWER = frozenset(("2.7.0", "2.7.1", "2.8.0"))  # before KAFKA-12751
_MARKED = 50  # lines of one such broker that are handed on
_SETTLED = 1000  # milliseconds between two logs of one broker, within which no order is taken
_WRITTEN = frozenset(("partition_changed", "isr_removed"))
_CHANGES = frozenset(("isr_shrunk", "isr_expanded", "isr_updated"))
_VERSIONED = frozenset(("isr_updated", "isr_refused", "isr_accepted", "partition_changed"))
_SENDS = frozenset(("partition_changed", "leader_and_isr_sent", "metadata_sent"))
_STATE_CHANGES = "state.change.logger"
_STARTED = frozenset(("leader_started", "follower_started"))
_ROLES = _STARTED | {"leader_and_isr_applied"}
QUIET = frozenset(("OfflinePartition", "NonExistentPartition"))
"""States into which a move is logged at TRACE only, since 2.6, and not by every release before."""


def check_versions(context: RuleContext) -> None:
    """Checks zkVersions by themselves, before writes are compared by them."""
    partitions: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for event in context.history.events:
        if event.tp is not None and event.version is not None:
            partitions[event.tp].append(event)
    for _, events in sorted(partitions.items()):
        _no_write_leaves_the_first_version(context, events)
        _controllers_alone_write_for_one_replica(context, events)
        _versions_and_epochs(context, events)
        _writes_above_what_it_received(context, events)


def check(context: RuleContext) -> None:
    """Checks each partition separately."""
    partitions: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for event in context.history.events:
        if event.tp is not None:
            partitions[event.tp].append(event)
    for (topic, _), every in sorted(partitions.items()):
        events = context.innocent(every)
        _members_are_replicas(context, events)
        _members_are_brokers(context, context.innocent(events))
        _versions_grow(context, every)
        _sent_versions_grow(context, context.innocent(every))
        _removals_keep_the_leader(context, every)
        _states_follow(context, every, context.history.deletions(topic))
        _followers_change_no_isr(context, events)
        _starts_once(context, every)
        _one_start(context, events)
        _elected_as_written(context, events)
        for event in events:
            if event.kind == "unclean_election":
                context.report(
                    FindingKind.EXPLAINED,
                    NO_LEADER_FROM_OUTSIDE_ISR,
                    event,
                    f"{event.tp_name}: no broker of the ISR is alive, and broker {event.leader} is "
                    "elected from outside it: what it lacks of what was committed is lost",
                )


# -- replicas -------------------------------------------------------------------------------------


def _members_are_replicas(context: RuleContext, events: list[Event]) -> None:
    """No logged replica set has the member: either one was never logged, or none ever had it.

    While a partition is reassigned the old replicas stay in the ISR for a moment without being
    replicas; the assignment before the first line is unknown. So a line is certainly wrong only
    where the member enters the ISR beside a replica set without it, where the partition was just
    created, or where this lasts longer than any reassignment.
    """
    history = context.history
    lives: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        age = history.age(event)
        if age is not None:
            lives[age].append(event)
    for _, inside in sorted(lives.items()):
        assigned = {broker for event in inside for broker in event.replicas or ()}
        with_isr = [event for event in inside if event.isr is not None]
        if not assigned:
            continue
        assigned |= {b for _, some in history.assigned(inside[0].tp or ("", 0)) for b in some}
        context.looked(ISR_OF_REPLICAS, len(with_isr))
        _made_with_its_isr(context, inside)
        outsiders = sorted({b for event in with_isr for b in event.isr or ()} - assigned)
        for broker in outsiders:
            wrong = [
                event
                for event in with_isr
                if broker in (event.isr or ()) and history.suspects(event, "replicas")
            ]
            context.beside += [(event, "replicas") for event in wrong[:_MARKED]]
            if not wrong:
                continue
            sure = next((each for each in wrong if _never_a_replica(history, inside, each)), None)
            lasts = any(
                b.at - a.at > _LASTS and history.contiguous(a, b) and same_life(history, a, b)
                for a, b in _ends_of_logs(history, wrong)
            )
            if sure is None and not lasts:
                continue  # an assignment that no line shows may have had it
            event = sure or wrong[0]
            more = f" and in {len(wrong) - 1} other lines" if len(wrong) > 1 else ""
            context.report(
                FindingKind.VIOLATION,
                ISR_OF_REPLICAS,
                event,
                f"{event.tp_name}: broker {broker} is in the ISR {as_set(event.isr)} here{more}, "
                f"and every line that shows the replicas has {as_set(sorted(assigned))}",
                f"an ISR out of {as_set(sorted(assigned))}",
            )


def _made_with_its_isr(context: RuleContext, inside: list[Event]) -> None:
    """A partition's first ISR is the live ones of the replicas with which it is created."""
    history = context.history
    made: dict[str, Event] = {}
    for event in inside:
        stream = history.places[event.file].stream
        if event.to_state == "NewPartition" and event.replicas:
            made[stream] = event
            continue
        if event.kind != "partition_changed" or event.from_state != "NewPartition":
            continue
        line = made.pop(stream, None)
        if line is None or not history.contiguous(line, event) or event.at - line.at > _LASTS:
            continue
        context.looked(BEGINS_AS_ASSIGNED)
        alive = [broker for broker in line.replicas or () if broker in (event.isr or ())]
        first = alive[0] if alive else None
        if event.isr == alive and event.leader != first and context.lacks(event, line.where):
            context.report(
                FindingKind.VIOLATION,
                BEGINS_AS_ASSIGNED,
                event,
                f"{event.tp_name} is made with replicas {as_set(line.replicas)}, at {line.where}, "
                f"and ISR {as_set(event.isr)}, and its leader is {event.leader} here",
                f"leader {first}",
            )
        others = {b for each in inside if each is not line for b in each.replicas or ()}
        others |= {b for _, some in history.assigned(line.tp or ("", 0)) for b in some}
        _as_announced(context, line, event)
        missing = sorted(set(event.isr or ()) - set(line.replicas or ()))
        if not missing or not others.issuperset(event.isr or ()) or id(event) in context.blamed:
            continue  # by other lines they are no replicas either: the ISR is what is wrong
        if not context.lacks(line, event.where):
            continue
        context.report(
            FindingKind.VIOLATION,
            ISR_OF_REPLICAS,
            line,
            f"{line.tp_name} is made with replicas {as_set(line.replicas)} here, and its first ISR "
            f"is {as_set(event.isr)}, at {event.where}",
            f"replicas with {as_set(missing)} among them",
        )


def _as_announced(context: RuleContext, made: Event, first: Event) -> None:
    """The line that shows a new topic, or new partitions, has the replicas of each.

    The controller reads them once, creates the partition with them, and elects among them.
    """
    history = context.history
    named = [
        (line, brokers)
        for line, brokers in history.assigned(made.tp or ("", 0))
        if line.broker == made.broker and 0 <= made.at - line.at <= _ANNOUNCED
    ]
    if len(named) != 1 or history.reduced or not first.isr:
        return
    ((line, brokers),) = named
    context.looked(BEGINS_AS_ASSIGNED)
    if set(brokers) == set(made.replicas or ()):
        return
    if history.reset(line, first) or history.clock_was_set(line, made):
        return
    others = [
        set(each.replicas)
        for each in history.of_partition(made.tp or ("", 0))
        if each.replicas and each is not made and 0 <= each.at - made.at <= _ANNOUNCED
    ]
    known = others or set(first.isr) - set(brokers)  # in other lines, or by the first ISR
    wrong = [made] if set(brokers) in others else [line] if known else [made, line]
    for event in wrong:
        context.report(
            FindingKind.VIOLATION if known else FindingKind.INCOMPLETE,
            BEGINS_AS_ASSIGNED,
            event,
            f"{made.tp_name} has replicas {as_set(brokers)} when it is found, at {line.where}, and "
            f"{as_set(made.replicas)} when it is made, at {made.where}; its first ISR is "
            f"{as_set(first.isr)}, at {first.where}",
            "the same replicas in both lines",
        )


def _members_are_brokers(context: RuleContext, events: list[Event]) -> None:
    """Doubts a member of an ISR that no line shows as a broker, and none as a replica.

    It may have been in the ISR before the first line, and may fetch unregistered if its session
    ended then; but for an offline or new partition a controller elects with an ISR of live
    brokers.
    """
    history = context.history
    known = history.live_brokers | history.writers
    with_isr = [event for event in events if event.isr]
    if not history.live_brokers or not with_isr:
        return
    replicas = {broker for event in events for broker in event.replicas or ()}
    for broker in sorted({b for event in with_isr for b in event.isr or ()} - known - replicas):
        wrong = [event for event in with_isr if broker in (event.isr or ())]
        before = [each for each in with_isr if broker not in (each.isr or ())]
        elected = [
            event
            for event in wrong
            if event.from_state in ("OfflinePartition", "NewPartition")
            and event.to_state == "OnlinePartition"
        ]
        if (
            not (elected or replicas)
            and min((e.at for e in before), default=wrong[0].at) >= wrong[0].at
        ):
            continue
        context.beside += [(event, "replicas") for event in wrong[:_MARKED]]
        event = elected[0] if elected else wrong[0]
        context.report(
            FindingKind.INCOMPLETE,
            ISR_OF_REPLICAS,
            event,
            f"{event.tp_name}: broker {broker} is in the ISR {as_set(event.isr)} here, no line has "
            "it among the replicas, and controllers count "
            f"{as_set(sorted(history.live_brokers))} among the live brokers",
            f"an ISR out of {as_set(sorted(known))}",
        )


def _never_a_replica(history: History, inside: list[Event], event: Event) -> bool:
    """Whether a line puts a broker into the ISR that could not enter it."""
    if event.kind == "partition_changed" and event.from_state == "NewPartition":
        made = [
            each
            for each in inside
            if each.to_state == "NewPartition" and history.contiguous(each, event)
        ]
        last = max(made, key=history.key, default=None)
        if last is None or not last.replicas or event.at - last.at > _LASTS:
            return False
        return not set(event.isr or ()) <= set(last.replicas)
    if event.kind == "isr_expanded":
        return _expands_beyond_its_replicas(history, inside, event)
    if event.version is None or event.isr is None:
        return False
    named = [each for each in inside if each.replicas and each.version == event.version]
    before = [
        each
        for each in inside
        if each.isr is not None
        and each.version == event.version - 1
        and same_life(history, each, event)
    ]
    outsiders = set(event.isr) - {b for each in inside for b in each.replicas or ()}
    return bool(named and before) and any(
        all(broker not in (each.isr or ()) for each in before) for broker in outsiders
    )


def _expands_beyond_its_replicas(history: History, inside: list[Event], event: Event) -> bool:
    """Whether the ISR has a member that is no replica in the last request this leader received."""
    came = [
        each
        for each in inside
        if each.kind == "leader_and_isr_received" and each.broker == event.broker and each.replicas
    ]
    before = [each for each in came if each.at < event.at - _SETTLED]
    last = max(before, key=lambda each: (each.at, history.key(each)), default=None)
    if last is None or any(abs(each.at - event.at) <= _SETTLED for each in came):
        return False
    return (
        not set(event.isr or ()) <= set(last.replicas or ())
        and history.log_covers(last, event.at)
        and history.same_process(last, event)
        and same_life(history, last, event)
        and not history.clock_was_set(last, event)
    )


def _ends_of_logs(history: History, events: list[Event]) -> list[tuple[Event, Event]]:
    logs: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        logs[history.places[event.file].stream].append(event)
    return [(some[0], some[-1]) for _, some in sorted(logs.items())]


# -- versions -------------------------------------------------------------------------------------


def _versions_grow(context: RuleContext, events: list[Event]) -> None:
    history = context.history

    def excuse(a: Event, b: Event) -> str | None:
        reset = history.reset(a, b)
        if reset is not None:
            return reset.why
        mark = history.topic_began(a, b) or history.replica_began(a, b)
        if mark is not None:
            return f"the topic was changed at {mark.where}"
        restart = history.restart_between(a, b) if b.kind == "isr_refused" else None
        if restart is not None:
            # A restarted leader has its version from a request; a controller that has not heard of
            # the leader's last write sends an older one, and ZooKeeper refuses what is based on it.
            return f"the leader was started again at {restart.where}, and sent an older version"
        return None

    def joined(a: Event, b: Event) -> bool:
        one_process = b.kind != "isr_refused" or history.same_process(a, b)
        return history.contiguous(a, b) and same_life(history, a, b) and one_process

    # A state that is wrong as a whole is reported once.
    known = {
        (finding.file, finding.line)
        for finding in context.findings
        if finding.kind in {kind.value for kind in BREAKS}
        or finding.rule == LEADER_EPOCHS_NEVER_GO_BACK.name
    }
    logs: dict[tuple[str, str, int | None], list[Event]] = defaultdict(list)
    leads_in: dict[tuple[str, int | None], int | None] = {}
    epochs: dict[int, int | None] = {}
    for event in events:
        stream = history.places[event.file].stream
        if event.kind == "leader_started":
            leads_in[stream, event.broker] = event.leader_epoch
        if event.version is None or event.kind not in _VERSIONED:
            continue
        epochs[id(event)] = leads_in.get((stream, event.broker))
        kind = "isr_updated" if event.kind == "isr_refused" else event.kind
        logs[kind, stream, event.broker].append(event)
    for (kind, _, broker), some in sorted(logs.items(), key=lambda item: str(item[0])):
        who = "its leader" if kind == "isr_updated" else "the controller"
        steps = []
        after_wrong, last = False, None
        for event in some:
            if (event.file, event.line) in known:
                after_wrong = True
                continue
            fresh = after_wrong or event.from_state == "NewPartition"
            strict = kind == "partition_changed" or (
                last is not None
                and event.kind == last.kind == "isr_updated"
                and (
                    _writes_again(history, last, event)
                    or (epochs[id(last)] or 0) < (epochs[id(event)] or 0)
                )
            )
            last = event
            steps.append(ValueSeen(event.version or 0, event, strict=strict, fresh=fresh))
            after_wrong = False
        context.never_falls(
            VERSIONS_STRICTLY_GROW,
            f"{some[0].tp_name}: the zkVersion that {who}, broker {broker}, writes",
            steps,
            excuse,
            joined,
            "version",
        )


def _sent_versions_grow(context: RuleContext, events: list[Event]) -> None:
    """A controller's writes and requests about a partition, and the requests that a broker gets,
    never go back to an older zkVersion: it sends what it has read or written last, in order."""
    history = context.history
    if not history.controllers_remember_writes:
        return
    terms: dict[tuple[str, bool, int | None, int | None, int], list[Event]] = defaultdict(list)
    for event in events:
        known = event.version is not None and event.version >= 0 and event.leader != -2
        if event.kind in PASSED_ON | _SENDS and known and event.controller_epoch:
            sends = event.kind in _SENDS
            whose = history.places[event.file].stream, sends, event.broker
            controller = event.broker if sends else event.controller
            terms[*whose, controller, event.controller_epoch].append(event)

    def excuse(a: Event, b: Event) -> str | None:
        sure = history.contiguous(a, b) and same_life(history, a, b)
        return None if sure and not another_life(history, a, b) else "lines may be missing"

    for (_, sends, broker, controller, epoch), some in sorted(terms.items(), key=str):
        comes = "goes out" if sends else f"comes to broker {broker}"
        context.never_falls(
            VERSIONS_STRICTLY_GROW,
            f"{some[0].tp_name}: the zkVersion that {comes} from controller {controller} in epoch "
            f"{epoch}",
            [ValueSeen(event.version or 0, event) for event in some],
            excuse,
            lambda a, b: True,
            "version",
        )


def _was_written(history: History, event: Event) -> bool:
    """Whether an updated ISR was written: by the leader's own conditional write, or by a controller
    whose response has a higher version. In most releases it may also mean that nothing changed.
    """
    known = history.releases
    return event.detail == "zkVersion" or (bool(known) and known <= _ANSWERS_ARE_NEWER)


def _writes_again(history: History, last: Event, event: Event) -> bool:
    """Whether a leader writes an ISR again in one process.

    A new process may take the previous one's write for its own (KAFKA-1382).
    """
    return (
        _was_written(history, event)
        and event.detail == last.detail
        and event.at > last.at
        and history.same_process(last, event)
        and history.restart_between(last, event) is None
    )


def _controllers_alone_write_for_one_replica(context: RuleContext, events: list[Event]) -> None:
    """With one replica the ISR never changes: zkVersion minus leader epoch is constant.

    A single line with another difference is wrong; if no other line exists, so is a line of leader
    epoch 0 without version 0.
    """
    lines = [
        each for each in events
        if each.leader_epoch is not None and (each.version or 0) >= 0 and each.leader != -2
    ]  # fmt: skip
    named = [(each, each.replicas) for each in events if each.replicas]
    named += context.history.assigned(events[0].tp or ("", 0))
    if len({broker for _, replicas in named for broker in replicas}) != 1:
        return
    context.looked(VERSIONS_STRICTLY_GROW, len(lines))
    distances = Counter((each.version or 0) - (each.leader_epoch or 0) for each in lines)
    usual, times = distances.most_common(1)[0] if distances else (0, 0)
    wrong = [each for each in lines if (each.version or 0) - (each.leader_epoch or 0) != usual]
    sure = times > 1 and usual == 0
    if len(lines) == 1 and lines[0].leader_epoch == 0 != usual:
        wrong, usual = lines, 0
    if len(wrong) != 1 or id(wrong[0]) in context.blamed or not (sure or lines == wrong):
        return
    (event,) = wrong
    if not context.lacks(event, "version"):
        return
    # Another life of the topic, or of ZooKeeper, may have had more replicas than the lines name.
    sure = sure and any(
        same_life(context.history, *sorted((each, event), key=lambda one: (one.at, one.line)))
        for each, _ in named
    )
    context.report(
        FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
        VERSIONS_STRICTLY_GROW,
        event,
        f"{event.tp_name}: zkVersion {event.version} stands beside leader epoch "
        f"{event.leader_epoch} here; with one replica, controllers alone write the state, each "
        "time under the next of both",
        f"a zkVersion of {(event.leader_epoch or 0) + usual}",
    )


def _is_below(event: Event) -> bool:
    """Whether a line shows a zkVersion below its leader epoch."""
    known = event.version is not None and event.version >= 0 and event.leader != -2
    return known and event.leader_epoch is not None and (event.version or 0) < event.leader_epoch


def _versions_and_epochs(context: RuleContext, events: list[Event]) -> None:
    """Both begin at 0, and each write that raises the leader epoch raises the zkVersion.

    If an operator copied the znodes into another ZooKeeper, versions begin anew there: so a line is
    only wrong after a line in which both are consistent. A partition's only line is doubted.
    """
    history = context.history
    logs: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        known = event.version is not None and event.leader_epoch is not None
        if known and event.leader != -2 and (event.version or 0) >= 0:
            logs[history.places[event.file].stream].append(event)
    alone = sum(map(len, logs.values())) == 1
    for _, some in sorted(logs.items()):
        context.looked(VERSIONS_STRICTLY_GROW, len(some))
        for number, event in enumerate(some):
            if not _is_below(event) or id(event) in context.blamed:
                continue
            before = some[number - 1] if number else None
            sure = (
                before is not None
                and not _is_below(before)
                and id(before) not in context.blamed
                and history.contiguous(before, event)
                and same_life(history, before, event)
            )
            if not (sure or alone) or not context.lacks(event, "version"):
                continue
            context.report(
                FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
                VERSIONS_STRICTLY_GROW,
                event,
                f"{event.tp_name}: leader epoch {event.leader_epoch} stands under zkVersion "
                f"{event.version}: each write of a leader epoch raises both"
                + ("" if sure else "; the state may have been copied from another ZooKeeper"),
                f"a zkVersion of {event.leader_epoch} or more",
            )


def _no_write_leaves_the_first_version(context: RuleContext, events: list[Event]) -> None:
    """A znode is created with version 0, and a leader writes only after a controller created it."""
    for event in events:
        if event.kind != "isr_updated" or not _was_written(context.history, event):
            continue
        context.looked(VERSIONS_STRICTLY_GROW)
        if event.version == 0:
            context.report(
                FindingKind.VIOLATION,
                VERSIONS_STRICTLY_GROW,
                event,
                f"{event.tp_name}: the ISR is written under zkVersion 0 here, with which the state "
                "of a partition is made",
                "a zkVersion of 1 or more",
            )


def _writes_above_what_it_received(context: RuleContext, events: list[Event]) -> None:
    """A leader's ISR write has a zkVersion above those of all states that it was sent before.

    A state that another line confirms is not the wrong one. Applies only if the leader's own log
    shows a version as high before; the sent state, from another log with perhaps another clock,
    decides which of the two lines is wrong.
    """
    history = context.history
    received: dict[int | None, list[Event]] = defaultdict(list)
    shown: Counter[tuple[int | None, int | None]] = Counter()
    for event in events:
        shown[event.version, event.leader_epoch] += event.kind != "isr_updated"
        if event.kind == "leader_and_isr_received" and event.leader == event.broker:
            received[event.broker].append(event)
    wrote: dict[tuple[str, int | None], Event] = {}
    for event in events:
        if event.kind != "isr_updated" or event.detail != "zkVersion" or event.version is None:
            continue
        log = history.places[event.file].stream, event.broker
        own, wrote[log] = wrote.get(log), event
        if own is None or (own.version or 0) < event.version or not history.contiguous(own, event):
            continue
        before = [
            each
            for each in received[event.broker]
            if each.at < event.at - _SETTLED
            and shown[each.version, each.leader_epoch] > 1
            and id(each) not in context.blamed
        ]
        if not before:
            continue
        last = max(before, key=lambda each: (each.at, history.key(each)))
        context.looked(VERSIONS_STRICTLY_GROW)
        if (
            event.version > (last.version or 0)
            or another_life(history, last, event)
            or not same_life(history, last, event)
            or history.clock_was_set(last, event)
            or not context.lacks(event, last.where)
        ):
            continue
        context.report(
            FindingKind.VIOLATION,
            VERSIONS_STRICTLY_GROW,
            event,
            f"{event.tp_name}: the zkVersion that its leader, broker {event.broker}, writes is "
            f"{event.version} here, and {last.version} was sent to it before, at {last.where}",
            f"a zkVersion above {last.version}",
        )


def _removals_keep_the_leader(context: RuleContext, events: list[Event]) -> None:
    """A controller that removes a replica from the ISR keeps the leader, or none if that led.

    If the previous leader epoch is logged, no controller has written in between, and leaders do not
    change the leader. The model is not asked, as releases up to 2.7 do not log the zkVersion.
    """
    history = context.history
    states: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event.leader_epoch is not None and event.leader is not None and event.leader != -2:
            states[event.leader_epoch].append(event)
    for event in events:
        if event.kind != "isr_removed" or event.leader_epoch is None or event.replica is None:
            continue
        before = [
            each
            for each in states.get(event.leader_epoch - 1, ())
            if each.kind in _WRITTEN
            and id(each) not in context.blamed
            and same_life(history, each, event)
            and not another_life(history, each, event)
        ]
        if not before or event.leader is None or id(event) in context.blamed:
            continue
        if any(
            each.at <= event.at and each is not event and not another_life(history, each, event)
            for each in states[event.leader_epoch]
        ):
            continue  # the replica was not in the ISR: nothing was written
        context.looked(WRITE_FITS)
        led = {each.leader for each in before}
        last = before[-1]
        right = last.leader if last.leader != event.replica else -1
        if len(led) == 1 and event.leader == right:
            _removes_one(context, last, event)
        if len(led) > 1 or event.leader == right or not context.lacks(event, last.where):
            continue
        context.report(
            FindingKind.VIOLATION,
            WRITE_FITS,
            event,
            f"{event.tp_name}: broker {event.replica} is taken out of the ISR, and leader "
            f"{event.leader} stands beside it in leader epoch {event.leader_epoch}; leader "
            f"{last.leader} was written in the one before, at {last.where}",
            f"leader {right}",
        )


def _removes_one(context: RuleContext, last: Event, event: Event) -> None:
    """The ISR from which a controller removes a replica is the previous one with its leader's
    changes (ReplicaStateMachine, up to 1.0 KafkaController.removeReplicaFromIsr)."""
    left = [broker for broker in last.isr or () if broker != event.replica]
    if not left or last.at > event.at or not context.history.isr_is_kept(last, event):
        return  # of the last member releases differ
    context.looked(WRITE_FITS)
    if set(event.isr or ()) == set(left) or not context.lacks(event, last.where):
        return
    context.report(
        FindingKind.VIOLATION,
        WRITE_FITS,
        event,
        f"{event.tp_name}: broker {event.replica} is taken out of the ISR, which is "
        f"{as_set(event.isr)} then; {as_set(last.isr)} was written before, at {last.where}, and "
        f"its leader, broker {last.leader}, has changed it in no line since",
        f"the ISR {as_set(left)}",
    )


# -- states ---------------------------------------------------------------------------------------


def _states_follow(context: RuleContext, events: list[Event], deleted: list[Event]) -> None:
    """A controller's own lines are consistent in one term: nobody else moves the partition."""
    history = context.history
    terms: dict[tuple[str, int | None], list[Event]] = defaultdict(list)
    for event in events:
        if event.kind == "partition_changed" and event.controller_epoch and event.to_state:
            stream = history.places[event.file].stream
            terms[stream, event.broker].append(event)
    for _, some in sorted(terms.items(), key=lambda item: str(item[0])):
        for number, (a, b) in enumerate(pairwise(some)):
            if id(a) in context.blamed or id(b) in context.blamed:
                continue  # what is compared with a wrong line is not wrong for that
            if a.controller_epoch != b.controller_epoch or not history.suspects(b, a.where):
                continue
            if not history.contiguous(a, b) or history.age(a) != history.age(b):
                continue
            if context.thinned and a.to_state == "NewPartition" and b.from_state != a.to_state:
                continue  # the line of a creation is kept when those after it were let go
            context.looked(STATES_FOLLOW)
            # What goes online from elsewhere than a creation has been elected, in an epoch above 0.
            made = a.to_state == "NewPartition" and b.leader_epoch == 0
            if b.from_state == a.to_state or (b.from_state in QUIET and not made):
                gone = [d for d in deleted if _between_them(a, d, b)]
                if b.to_state != "OnlinePartition" or not gone:
                    continue
                if b.from_state in ("NewPartition", "NonExistentPartition"):
                    continue
                why = f"the topic was deleted at {gone[-1].where}, and nothing created it since"
            elif _in_one_moment(some, number):
                continue
            else:
                why = f"it was moved to {a.to_state} at {a.where}, by the same controller"
            context.beside.append((b, a.where))
            sure = history.same_zookeeper(a, b, b.controller_epoch or 0)
            why += "" if sure else "; lines that show a new ZooKeeper may be missing"
            if b.from_state == "NewPartition" and a.file != b.file and history.topic_began(a, b):
                sure = False
                why += "; the topic was made anew, and the head of this file may be missing"
            context.report(
                FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
                STATES_FOLLOW,
                b,
                f"{b.tp_name} changes from {b.from_state} to {b.to_state} here; {why}",
                f"a change from {a.to_state}"
                if b.from_state != a.to_state
                else "the creation of the topic, before it is online",
            )


def _in_one_moment(events: list[Event], number: int) -> bool:
    """Whether two lines are consistent in the other order, and of one millisecond."""
    a, b = events[number : number + 2]
    return a.at == b.at and b.to_state == a.from_state


def _between_them(a: Event, deleted: Event, b: Event) -> bool:
    """Lines of one broker in two logs: within a second their order is not certain."""
    return a.broker == deleted.broker and a.at < deleted.at < b.at - _SETTLED


# -- roles ----------------------------------------------------------------------------------------


def _followers_change_no_isr(context: RuleContext, events: list[Event]) -> None:
    """Compares a broker's ISR changes with requests in its own log; other logs may lag."""
    history = context.history
    brokers: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event.broker is not None and event.kind in _ROLES | _CHANGES:
            brokers[event.broker].append(event)
    # Who is sent a leader that it does not know goes on as it was, and has completed the request.
    unknown = {
        _sent_by(event) for event in events if event.template.startswith("leader_unavailable")
    }
    for _, some in sorted(brokers.items()):
        roles = [
            event
            for event in some
            if event.kind in _ROLES
            and _role(event)
            and (event.kind != "leader_and_isr_applied" or _sent_by(event) not in unknown)
        ]
        for event in some:
            if event.kind not in _CHANGES:
                continue
            before = [role for role in roles if role.at < event.at]
            near = (role for role in roles if abs(role.at - event.at) <= _SETTLED)
            if not before or any(_role(role) == "leader" for role in near):
                continue
            last = max(before, key=lambda role: (role.at, history.key(role)))
            context.looked(LEADER_WRITES_ISR)
            if _role(last) == "leader" or another_life(history, last, event):
                continue
            context.beside.append((event, last.where))
            if not history.suspects(event, last.where):
                continue
            if not (
                history.log_covers(last, event.at)
                and history.same_process(last, event)
                and not history.clock_was_set(last, event)
            ):
                continue  # a line that makes it the leader may be missing
            one_log = history.places[last.file].stream == history.places[event.file].stream
            sure = one_log or history.in_step(last, event)
            context.report(
                FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
                LEADER_WRITES_ISR,
                event,
                f"{event.tp_name}: broker {event.broker} changes the ISR to {as_set(event.isr)} "
                f"here, and was sent to follow at {last.where}"
                + ("" if sure else "; the clocks of the two logs may be apart"),
            )


def _sent_by(event: Event) -> tuple[int | None, int | None, int | None]:
    return event.broker, event.controller, event.correlation


def _role(event: Event) -> str:
    if event.kind == "leader_and_isr_applied":
        return event.to_state or ""
    return "leader" if event.kind == "leader_started" else "follower"


def _starts_once(context: RuleContext, events: list[Event]) -> None:
    history = context.history
    brokers: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event.kind in _STARTED and event.leader_epoch is not None:
            brokers[-1 if event.broker is None else event.broker].append(event)
    for _, some in sorted(brokers.items()):
        # Copies of a log are merged, so that one log's lines may stand in two files.
        for a, b in pairwise(sorted(some, key=lambda each: (each.at, history.key(each)))):
            if id(a) in context.blamed or id(b) in context.blamed:
                continue
            context.looked(STARTS_ONCE)
            _holds_the_epoch_of_the_last_start(context, a, b)
            if a.leader_epoch != b.leader_epoch or another_life(history, a, b):
                continue
            less = a.offset is not None and b.offset is not None and b.offset < a.offset
            ends = f" with a log that ends at {b.offset}, and ended at {a.offset}" if less else ""
            why = (
                f"{b.tp_name}: broker {b.broker} starts as {_role(b)} in leader epoch "
                f"{b.leader_epoch} here again{ends}; it started in it, as {_role(a)}, at {a.where}"
            )
            mark = history.restart_between(a, b)
            if mark is not None:
                if less:
                    why += f", and began anew at {mark.where}: what its disk lost is lost"
                    context.report(
                        FindingKind.EXPLAINED, NO_TRUNCATION_BELOW_HIGH_WATERMARK, b, why
                    )
                continue
            sure = (
                history.contiguous(a, b)
                and history.same_process(a, b)
                and (not history.replica_stopped(a, b) or history.server_log_covers(a, b))
                and same_life(history, a, b)
            )
            if sure or less:
                more = "" if sure else "; a new start of its process may be missing"
                kind = FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE
                context.report(kind, STARTS_ONCE, b, why + more)


def _holds_the_epoch_of_the_last_start(context: RuleContext, a: Event, b: Event) -> None:
    """Since 2.6 each start of a replica is logged in one log, with the leader epoch held before.

    That epoch is the one of the previous start, or -1 if the replica is new to its process
    (Partition.makeLeader, makeFollower): restarts and topic deletions need not be known.
    """
    held = b.previous_epoch
    if held is None or held == -1 or not a.logger == b.logger == _STATE_CHANGES or a.at == b.at:
        return
    if not context.history.contiguous(a, b):
        return
    context.looked(HOLDS_AS_RECEIVED)
    if held == a.leader_epoch or not context.lacks(b, a.where):
        return
    counted = context.history.value_counts("leader_epoch", b.tp)
    alone = counted[a.leader_epoch or 0] == 1 and counted[held] > 0
    contradiction = (
        f"starts in leader epoch {a.leader_epoch} here, and held {held} when it started next, at "
        f"{b.where}"
        if alone
        else f"held leader epoch {held} before it starts here, and started last in "
        f"{a.leader_epoch}, at {a.where}"
    )
    context.report(
        FindingKind.VIOLATION,
        HOLDS_AS_RECEIVED,
        a if alone else b,
        f"{b.tp_name}: broker {b.broker} {contradiction}",
        f"leader epoch {held if alone else a.leader_epoch}",
    )


def _one_start(context: RuleContext, events: list[Event]) -> None:
    """Finds two brokers that start as leader in one epoch, by their own lines."""
    history = context.history
    epochs: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for event in context.innocent(events):
        if event.kind == "leader_started" and event.leader_epoch is not None:
            age = history.age(event)
            if age is not None:
                epochs[age, event.leader_epoch].append(event)
    for (_, epoch), some in sorted(epochs.items()):
        brokers = {event.broker for event in some}
        context.looked(ONE_LEADER, len(some) - 1)
        if len(brokers) < 2:
            continue
        for first, other in combinations(some, 2):
            if other.broker == first.broker or another_life(history, first, other):
                continue
            sure = same_life(history, first, other)
            context.report(
                FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
                ONE_LEADER,
                other,
                f"{other.tp_name}: broker {other.broker} starts as leader in leader epoch {epoch} "
                f"here, and broker {first.broker} did at {first.where}"
                + ("" if sure else "; lines that show a new topic or ZooKeeper may be missing"),
                f"one leader in leader epoch {epoch}",
            )
            break


def _elected_as_written(context: RuleContext, events: list[Event]) -> None:
    """The leader that a controller sends after a preferred election is the one it wrote last."""
    history = context.history
    written: dict[int | None, list[Event]] = defaultdict(list)
    for event in events:
        if event.kind in _WRITTEN and event.leader is not None:
            written[event.broker].append(event)
    for event in events:
        if event.kind != "preferred_election" or event.leader is None:
            continue
        own = [each for each in written[event.broker] if each.at <= event.at + _SETTLED]
        near = [each for each in own if event.at - each.at <= _SETTLED]
        if not near or {each.leader for each in near} != {near[0].leader}:
            continue
        last = near[-1]
        context.looked(ONE_LEADER)
        if event.leader == last.leader or not context.lacks(event, last.where):
            continue
        if another_life(history, last, event) or not (
            history.log_covers(last, event.at)
            and history.same_process(last, event)
            and not history.clock_was_set(last, event)
        ):
            continue
        context.report(
            FindingKind.VIOLATION,
            ONE_LEADER,
            event,
            f"{event.tp_name}: leader {event.leader} is logged here as the one of the election, "
            f"and leader {last.leader} was written in leader epoch {last.leader_epoch}, at "
            f"{last.where}",
            f"leader {last.leader}",
        )
