"""Rules about the controllership: brokers' lines are a run of the model `election`.

For each ZooKeeper in the logs there must be one run of the model in which every broker's lines
have a place (`controllership_run`). A line that fits no run is impossible; if it fits with a switch
of a historic bug reverted, it is a known bug; if lines may be missing that would show a new
ZooKeeper, a new topic or a new process, it is incomplete.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from conformance.ingest.schema import Event
from conformance.pipeline.controllership_lines import (
    ControllershipEvent,
    ControllershipEventKind,
    gather,
)
from conformance.pipeline.controllership_run import ControllershipReplay, Refusal
from conformance.pipeline.history import History
from conformance.pipeline.model_writes import presets_for
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import (
    CONTROLLER_EPOCHS_STRICTLY_GROW,
    CONTROLLERSHIP_FITS,
    FindingKind,
)
from conformance.pipeline.rules_model import another_life, lives, same_life, source_of

Segment = tuple[int, int]
HIDDEN, REFUSED = "hidden ", "refused "
_QUEUED_UNTIL = "0.10"
"""The last preset whose controllers run on several threads; 0.11 has one, with a queue."""


def check(context: RuleContext, release: str | None) -> None:
    """Checks each ZooKeeper's controllers, in one run of the model."""
    history = context.history
    preset = presets_for(release)[0]
    found = gather(history, history.events, context.blamed, _segments(context), _overtaken(history))
    for _, lines in sorted(found.items()):
        context.sequences += 1
        context.looked(CONTROLLERSHIP_FITS, lines.events)
        run = ControllershipReplay(history, lines, preset)
        for head, refusal in run.misfits():
            kind = _report(context, run, head, refusal)
            if kind is FindingKind.INCOMPLETE and head.what is ControllershipEventKind.WINS:
                break  # what follows may be of another ZooKeeper
        for head, heard, mark in run.forgotten:
            context.report(
                FindingKind.EXPLAINED,
                CONTROLLERSHIP_FITS,
                head.event,
                f"broker {head.broker} obeys controller {head.other} of epoch {head.epoch}, and "
                f"knew a newer one at {heard.where}; its process began anew at {mark.where}",
            )
        _count(context, run)


def _count(context: RuleContext, run: ControllershipReplay) -> None:
    model = run.model
    context.election_steps.update(model.taken)
    context.election_steps.update(
        {f"{HIDDEN}{step}": count for step, count in model.hidden.items()}
    )
    for (step, reason), count in model.refused.items():
        context.election_steps[f"{REFUSED}{step}: {reason}"] += count


def _segments(context: RuleContext) -> Callable[[Event], Segment | None]:
    """The ZooKeeper of a line. Where epochs restart and no line says why, another begins."""
    history = context.history
    doubted = {
        (finding.file, finding.line)
        for finding in context.findings
        if finding.kind == FindingKind.INCOMPLETE.value
        and finding.rule == CONTROLLER_EPOCHS_STRICTLY_GROW.name
    }
    times = sorted(each.at for each in history.events if (each.file, each.line) in doubted)

    def segment(event: Event) -> Segment | None:
        age = history.age(event)
        return None if age is None else (age, bisect_right(times, event.at))

    return segment


def _overtaken(history: History) -> dict[int, tuple[int, Event]]:
    """By the identity of a line that shows a write: a newer epoch that had written before it.

    The versions of the partition's state show this; no clock does.
    """
    found: dict[int, tuple[int, Event]] = {}
    writes = [event for event in history.events if event.kind == "partition_changed"]
    for versions in lives(history, writes):
        newest: Event | None = None
        for version in sorted(versions):
            for events in versions[version].shown.values():
                for event in events:
                    if event.controller_epoch is None:
                        continue
                    epoch = 0 if newest is None else newest.controller_epoch or 0
                    if newest is None or event.controller_epoch >= epoch:
                        newest = event
                    elif not another_life(history, newest, event):
                        found[id(event)] = epoch, newest
    return found


def _report(
    context: RuleContext, run: ControllershipReplay, head: ControllershipEvent, refusal: Refusal
) -> FindingKind:
    why, allowed = _words(run, head, refusal)
    if refusal.switch is not None:
        kind = FindingKind.KNOWN_BUG
        why += f"; {refusal.step} does that only without {refusal.switch}"
        why += f" ({source_of(refusal.switch)})"
    else:
        kind = FindingKind.IMPOSSIBLE
        if refusal.reason:
            why += f"; {refusal.step} requires that {refusal.reason}"
    near_is_left = refusal.near is not None and refusal.near is run.left.get(head.broker)
    if not _in_one_world(context.history, head, refusal):
        kind = FindingKind.INCOMPLETE
        why += "; lines that show a new beginning may be missing"
    elif near_is_left and run.model.preset == _QUEUED_UNTIL:
        kind = FindingKind.EXPLAINED
        why += "; such a release acts on what was queued before it resigned (KAFKA-4447)"
    doubted = kind is FindingKind.INCOMPLETE and any(
        (finding.file, finding.line) == (head.event.file, head.event.line)
        for finding in context.findings
    )
    if not doubted:
        context.report(kind, CONTROLLERSHIP_FITS, head.event, why, allowed)
    return kind


def _in_one_world(history: History, head: ControllershipEvent, refusal: Refusal) -> bool:
    """Whether a line that would reconcile two contradictory lines would be in these logs."""
    near, event = refusal.near, head.event
    if near is None:
        return (
            head.what is ControllershipEventKind.REFUSES
        )  # the line by itself, whatever else is missing
    if near.file != event.file and history.clock_was_set(near, event):
        return False
    if history.out_of_step(event.broker) or history.out_of_step(near.broker):
        return False
    if head.what is ControllershipEventKind.OBEYS and refusal.switch is not None:
        return history.contiguous(near, event) and history.same_process(near, event)
    if head.what is ControllershipEventKind.ACTS and head.after:
        return same_life(history, near, event)
    if head.what is ControllershipEventKind.SEES:
        return history.complete(near) and history.complete(event)
    if any(history.places[each.file].jumps for each in (near, event)):
        return False  # the order of a broker's logs is by its clock
    if refusal.step == "broker_reads_epoch" and not _would_show_a_start(history, near, event):
        return False
    return history.same_zookeeper(near, event, max(head.epoch, near.controller_epoch or 0))


def _would_show_a_start(history: History, near: Event, event: Event) -> bool:
    """Whether these logs would show a new process of the broker between two of its lines.

    The server log shows it; since 1.1 the controller's log does too, by its event thread.
    """
    if history.same_process(near, event):
        return True
    stream = history.places[event.file].stream
    return history.contiguous(near, event) and any(
        each.kind == "process_controller_thread" and history.places[each.file].stream == stream
        for each in history.events
    )


def _words(
    run: ControllershipReplay, head: ControllershipEvent, refusal: Refusal
) -> tuple[str, str]:
    """The error in words, and what would have been allowed."""
    broker, epoch, other = head.broker, head.epoch, head.other
    at = "" if refusal.near is None else f", at {refusal.near.where}"
    more = f" and in {head.lines - 1} lines after it" if head.lines > 1 else ""
    if head.what is ControllershipEventKind.WINS:
        if refusal.step == "broker_reads_epoch":
            return (
                f"broker {broker} is elected with controller epoch {epoch} here, and has not "
                f"resigned since its last election{at}: no line between says that it resigned, "
                "lost its session or began anew",
                "a resignation, a lost session or a new process before its next election",
            )
        now = run.model.epoch
        owner = run.won.get(epoch)
        held = f"broker {owner} has epoch {epoch}" if owner is not None else f"the epoch is {now}"
        return (
            f"broker {broker} is elected with controller epoch {epoch} here, and {held}{at}",
            f"controller epoch {now + 1}, the next one",
        )
    if head.what is ControllershipEventKind.ACTS:
        if refusal.step == "write_is_applied":
            return (
                f"broker {broker} writes {head.event.tp_name} under controller epoch {epoch} "
                f"here{more}, and the partition had been written under epoch {head.after}{at}",
                f"a write of controller epoch {head.after} or above, or none",
            )
        if run.won.get(epoch) == broker:
            return (
                f"broker {broker} acts as the controller of epoch {epoch} here{more}, and had left "
                f"the controllership{at}",
                "an election, under the next epoch, before it acts again",
            )
        return (
            f"broker {broker} acts as the controller of epoch {epoch} here{more}, and no line says "
            f"that it was elected with it{_holder_note(run, epoch, at)}",
            f"an act of the broker that won controller epoch {epoch}",
        )
    if head.what is ControllershipEventKind.OBEYS:
        if refusal.switch is not None:
            return (
                f"broker {broker} obeys controller {other} of epoch {epoch} here{more}, and knew "
                f"epoch {run.knows(broker)}{at}",
                f"a refusal: controller epoch {run.knows(broker)} or above is obeyed",
            )
        return (
            f"broker {broker} obeys controller {other} of epoch {epoch} here{more}, and no line "
            f"says that broker {other} won it{_holder_note(run, epoch, at)}",
            f"a request of the broker that won controller epoch {epoch}",
        )
    if head.what is ControllershipEventKind.REFUSES:
        known = head.event.known_epoch
        return (
            f"broker {broker} refuses controller {other} of epoch {epoch}, and knows {known}",
            f"to obey: no controller epoch above {epoch} is known to it",
        )
    return (
        f"broker {broker} finds broker {other} as controller here, and broker {other} was never "
        f"elected: its own log is whole{at}",
        "a broker that was elected",
    )


def _holder_note(run: ControllershipReplay, epoch: int, at: str) -> str:
    owner = run.won.get(epoch)
    return "" if owner is None else f": broker {owner} holds it{at}"
