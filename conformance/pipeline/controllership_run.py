"""Replays the lines of one ZooKeeper's controllers on the model `election`, line by line.

A line is taken as soon as the model allows it; this disables no other line, because acting, obeying
and resigning change only that broker's own part of the state. Only the next election changes the
state for all, and epochs say which election that is. So an election is taken when nothing else is
possible: no order is guessed, and no clock is used. An election without a line is a hidden step,
allowed where the log in which its winner would report it has a gap there.
The model rejects for good each line that still cannot be taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.ingest.schema import Event
from conformance.pipeline.controllership_lines import (
    ControllershipEvent,
    ControllershipEventKind,
    ControllershipLines,
)
from conformance.pipeline.controllership_model import (
    MOST_HIDDEN,
    ControllershipModel,
    reverted_switches,
)
from conformance.pipeline.history import History

NEWER = "the broker knows no newer controller"
_FENCE = "/controller_epoch is as it was won"


@dataclass(frozen=True)
class Refusal:
    """Why the model rejects a line: the step, and the requirement that fails.

    `near` is a line that contradicts it; `switch` is the switch whose reversal would make it fit.
    """

    step: str
    reason: str
    near: Event | None = None
    switch: str | None = None


class ControllershipReplay:
    """One run, and how far its lines are taken. `misfits` continues until no line is left."""

    def __init__(self, history: History, lines: ControllershipLines, preset: str) -> None:
        self.history, self.lines = history, lines
        self.model = ControllershipModel(len(lines.brokers), preset)
        self._number = {broker: n for n, broker in enumerate(lines.brokers, 1)}
        self.epochs = sorted(lines.owners)
        self.won: dict[int, int] = {}  # in this run: epoch -> broker
        self.lines_of_epoch: dict[int, Event] = {}
        self.seen_as_controller: dict[int, Event] = {}  # what shows the belief of a broker
        self.left: dict[int, Event] = {}
        self.heard: dict[int, Event] = {}  # what shows the highest epoch that a broker knows
        self._last: dict[int, Event] = {}  # of a controller's thread, dealt with
        self._held: dict[tuple[int, str], Event] = {}  # the last of each log that shows belief
        self._excused: set[tuple[int, int]] = set()
        self._never: set[int] = set()
        self._muted: set[tuple[object, ...]] = set()
        self.forgotten: list[tuple[ControllershipEvent, Event, Event]] = []
        """A line that obeys an older controller, what its broker knew, and its process's end."""

    def knows(self, broker: int) -> int:
        """The highest controller epoch that a broker knows."""
        return self.model.known_controller_epoch(self._number[broker])

    def _settle(self) -> None:
        for thread in self.lines.threads.values():
            going = True
            while going:
                going = False
                for head in thread.heads():
                    if self._take(head):
                        self._drop(head)
                        going = True
                        break

    def _drop(self, head: ControllershipEvent) -> None:
        obeying = head.what in (ControllershipEventKind.OBEYS, ControllershipEventKind.REFUSES)
        stream = self.history.places[head.event.file].stream
        self.lines.threads[head.broker, stream if obeying else ""].drop(head)
        if not obeying:
            self._last[head.broker] = head.last
            if head.what in (ControllershipEventKind.WINS, ControllershipEventKind.ACTS):
                self._held[head.broker, stream] = head.last

    # -- what a line shows ----------------------------------------------------------------------

    def _take(self, head: ControllershipEvent) -> bool:
        """Takes a line if the model allows it now; `_advance` takes elections."""
        if head.what is ControllershipEventKind.ACTS:
            return self._acts(head)
        if head.what is ControllershipEventKind.OBEYS:
            return self._obeys(head)
        if head.what is ControllershipEventKind.REFUSES:
            return self._refuses(head)
        if head.what is ControllershipEventKind.LEAVES:
            return self._leaves(head)
        if head.what is ControllershipEventKind.SEES:
            return head.other in self.won.values() or self._unseen(head.other)
        if head.what is ControllershipEventKind.READS:
            following = self._next_epoch()  # of epochs up to it no line may tell
            return head.epoch <= self.model.epoch or (following or head.epoch + 1) > head.epoch
        if head.what is ControllershipEventKind.IS_FENCED:
            return self._is_fenced(head)
        return self._logged_again(head)

    def _ends_after(self, line: Event, other: Event) -> bool:
        """Whether the file of a line is without gaps from that line to another."""
        place = self.history.places[line.file]
        whole = not place.jumps and not place.holes and not place.damaged
        return whole and (place.until or 0) >= other.at

    def _logged_again(self, head: ControllershipEvent) -> bool:
        """Whether the line repeats an election in another log of its winner, with another stamp."""
        first = self.lines_of_epoch.get(head.epoch)
        if first is None or self.won.get(head.epoch) != head.broker:
            return False
        places = self.history.places
        return places[first.file].stream != places[head.event.file].stream

    def _acts(self, head: ControllershipEvent) -> bool:
        number, model = self._number[head.broker], self.model
        if (head.broker, head.epoch) in self._muted:
            return True
        if head.after > model.epoch and head.after in self.lines.owners:
            return False  # the partition shows that this election came before
        if model.belief(number) != head.epoch and not self._elected_unseen(head):
            return False
        if head.blamed and not head.after:
            return True
        if head.writes:
            if model.fence(number) is not None:
                return False
            model.write(number, head.writes)
        orders = head.lines - head.writes
        if orders:
            model.taken["controller_sends_request"] += orders
        self.seen_as_controller.setdefault(head.broker, head.event)
        self.lines_of_epoch.setdefault(head.epoch, head.event)
        return True

    def _elected_unseen(self, head: ControllershipEvent) -> bool:
        """Whether the broker may have won an epoch, jumped by the run, before its first line."""
        if head.epoch > self.model.epoch or head.epoch in self.won:
            return False
        if head.broker in self._last or self.model.belief(self._number[head.broker]):
            return False
        self.won[head.epoch] = head.broker
        self.model.suppose_controllership(self._number[head.broker], head.epoch)
        return True

    def _obeys(self, head: ControllershipEvent) -> bool:
        model, who = self.model, self._number[head.broker]
        sender = self._number[head.other]
        if head.same in self._muted:
            return True
        if not model.was_sent(sender, head.epoch):
            unknown = head.epoch <= model.epoch and head.epoch not in self.won
            if not unknown and (head.other, head.epoch) not in self._muted:
                return False
            if unknown:
                self.won[head.epoch] = head.other
            model.suppose_sent(sender, head.epoch)
        refused = model.refusal("broker_handles_request", who, sender, head.epoch) is not None
        if refused and not self._began_anew(head):
            return False
        if not head.blamed:
            if head.epoch > model.known_controller_epoch(who):
                self.heard[head.broker] = head.event
            self.lines_of_epoch.setdefault(head.epoch, head.event)
            model.take("broker_handles_request", who, sender, head.epoch, lines=head.lines)
        return True

    def _began_anew(self, head: ControllershipEvent) -> bool:
        """The process that knew a newer controller ended; the one that obeys never heard of it.

        Up to 2.1 the model has that too; then it takes for granted that no request of an older
        controller reaches a process that is newer than it, which only the broker epoch sees to.
        """
        heard = self.heard.pop(head.broker, None)
        mark = None if heard is None else self.history.restart_between(heard, head.event)
        if heard is None or mark is None:
            if heard is not None:
                self.heard[head.broker] = heard
            return False
        if "broker_epoch" in reverted_switches(self.model.preset):
            self.forgotten.append((head, heard, mark))
        self.model.forget(self._number[head.broker])
        self.model.hidden["broker_crashes"] += 1
        return True

    def _refuses(self, head: ControllershipEvent) -> bool:
        """It knows a newer one; it may have heard of that by a request that no line shows."""
        model, who = self.model, self._number[head.broker]
        known = head.event.known_epoch or 0
        if model.known_controller_epoch(who) <= head.epoch < known:
            owner = self.won.get(known)
            if owner is None:
                return known <= model.epoch or known not in self.lines.owners
            model.take("broker_handles_request", who, self._number[owner], known, hidden=True)
            self.heard[head.broker] = head.event
        if model.known_controller_epoch(who) <= head.epoch:
            return False
        model.refused["broker_handles_request", NEWER] += head.lines
        return True

    def _leaves(self, head: ControllershipEvent) -> bool:
        number = self._number[head.broker]
        if self.model.belief(number):
            self.model.take("controller_resigns_and_deletes_znode", number)
            self.left[head.broker] = head.event
        self.seen_as_controller.pop(head.broker, None)
        return True

    def _is_fenced(self, head: ControllershipEvent) -> bool:
        number, model = self._number[head.broker], self.model
        belief = model.belief(number)
        if belief and belief == model.epoch and self._next_epoch() is not None:
            return False  # whoever came after it is still to come
        if belief and model.fence(number) is not None:
            model.write(number, head.lines)
            model.refused["write_is_applied", _FENCE] += head.lines
        return True

    # -- elections ------------------------------------------------------------------------------

    def _next_epoch(self) -> int | None:
        now = self.model.epoch
        return next((e for e in self.epochs if e > now and e not in self._never), None)

    def _line_of(self, epoch: int) -> ControllershipEvent | None:
        """The line in which its owner logs its election."""
        thread = self.lines.threads.get((self.lines.owners[epoch], ""))
        for shown in thread.waiting() if thread is not None else ():
            if (
                shown.what is ControllershipEventKind.WINS
                and shown.epoch == epoch
                and not shown.blamed
            ):
                return shown
        return None

    def _is_logged(self, epoch: int) -> bool:
        return self._line_of(epoch) is not None

    def _advance(self, epoch: int) -> bool:
        owner, line = self.lines.owners[epoch], self._line_of(epoch)
        if line is None:
            return self._unseen(owner, epoch) and self._elect(owner, epoch, None) is None
        if not any(line is head for head in self.lines.threads[owner, ""].heads()):
            return False
        if self._elect(owner, epoch, line) is not None:
            return False
        self._drop(line)
        return True

    def _elect(self, broker: int, epoch: int, line: ControllershipEvent | None) -> str | None:
        """Lets a broker win an epoch; or returns the requirement that prevents it."""
        number, model = self._number[broker], self.model
        before = model.hidden.total()
        if model.belief(number):
            how = self._lost_controllership(broker, line)
            if how is None:
                return model.refusal("broker_reads_epoch", number)
            model.take(how, number, hidden=True)
        if model.owner:
            model.take("session_expires", model.owner, hidden=True)
        model.take("broker_connects", number, hidden=True)
        if model.epoch != epoch - 1:
            model.jump(epoch - 1)
        model.take("broker_reads_epoch", number, hidden=True)
        won = model.take("broker_wins_election", number, hidden=line is None)
        assert won, "nobody is the controller, and the epoch was just read"
        model.take("broker_learns_it_won", number, hidden=True)
        model.take("controller_sends_request", number, hidden=True)
        assert model.hidden.total() - before <= MOST_HIDDEN
        self.won[epoch] = broker
        if line is not None:
            self.lines_of_epoch[epoch] = self.seen_as_controller[broker] = line.event
        return None

    def _lost_controllership(self, broker: int, line: ControllershipEvent | None) -> str | None:
        """The step by which it lost the controllership earlier, where lines allow one."""
        if line is None:
            return "controller_resigns_and_deletes_znode"
        held = self._held.get((broker, self.history.places[line.event.file].stream))
        if held is None or not self.history.contiguous(held, line.event):
            return "controller_resigns_and_deletes_znode"  # in the hole
        last = max((self._held[key] for key in self._held if key[0] == broker), key=_at)
        crashed = self.history.restart_between(last, line.event) is not None
        return "broker_crashes" if crashed else None

    def _unseen(self, broker: int, epoch: int = 0) -> bool:
        """Whether an election of this broker may have no line.

        It may where the broker's log has a gap (or begins) between the last line that shows it as
        controller and its next line that is not yet taken: it can have been elected in that gap,
        whatever else it did there.
        """
        if (broker, epoch) in self._excused:
            return True
        logs = self.lines.elections.get(broker)
        held = [event for (other, _), event in self._held.items() if other == broker]
        if not held or not logs:
            return True
        since, last = max(held, key=_at), self._last[broker]
        heads = self.lines.threads[broker, ""].heads()
        following = min((head.event for head in heads), key=_at, default=None)
        for events in logs.values():
            before = [event for event in events if event.at <= since.at]
            after = [event for event in events if event.at > last.at]
            if not before:
                continue
            # An election that no line shows is a strong claim: nothing is taken for granted of
            # files that were rolled in between.
            if after and before[-1].file == after[0].file:
                if self.history.contiguous(before[-1], after[0]):
                    return False
            elif not after and following is not None and self._ends_after(before[-1], following):
                return False
        return True

    # -- all lines ------------------------------------------------------------------------------

    def misfits(self) -> Iterator[tuple[ControllershipEvent, Refusal]]:
        """Takes all lines; yields each line that fits no run, and continues without it."""
        if not self.epochs:
            return
        self.model.jump(self.epochs[0] - 1)
        while True:
            self._settle()
            following = self._next_epoch()
            refused = None
            if following is not None and not self._is_logged(following):
                # What its winner did before comes first: an election would be held against it.
                owner = self.lines.owners[following]
                acts = [
                    h
                    for h in self._heads()
                    if h.broker == owner and h.what is ControllershipEventKind.ACTS
                ]
                refused = self._refused_for_good(following, acts)
            if refused is None and following is not None and self._advance(following):
                continue
            refused = refused or self._refused_for_good(following, self._heads())
            if refused is None and following is not None and self._is_logged(following):
                # Its line stands behind others of its broker, which can wait no longer.
                thread = self.lines.threads[self.lines.owners[following], ""]
                refused = self._refused_for_good(following, thread.heads(), patient=False)
            if refused is not None:
                head, refusal = refused
                self._leave_out(head)
                yield head, refusal
            elif following is not None and not self._is_logged(following):
                self._never.add(following)
            else:
                head_left = min(self._heads(), key=_when, default=None)
                if head_left is None:
                    return
                self._drop(head_left)  # it waits for what no line shows

    def _heads(self) -> list[ControllershipEvent]:
        return [head for thread in self.lines.threads.values() for head in thread.heads()]

    # -- what is refused ------------------------------------------------------------------------

    def _refused_for_good(
        self, following: int | None, heads: Iterable[ControllershipEvent], *, patient: bool = True
    ) -> tuple[ControllershipEvent, Refusal] | None:
        """The first line that no later election allows; `patient` skips lines that wait for one."""
        for head in sorted(heads, key=_when):
            if patient and self._waits(head):
                continue
            refusal = self._refusal(head, following)
            if refusal is not None:
                return head, refusal
        return None

    def _waits(self, head: ControllershipEvent) -> bool:
        """Whether the line mentions an epoch that is not yet reached."""
        epoch = max(head.epoch, head.after)
        if head.what not in (ControllershipEventKind.ACTS, ControllershipEventKind.OBEYS):
            return False
        return epoch > self.model.epoch and epoch in self.lines.owners and epoch not in self._never

    def _refusal(self, head: ControllershipEvent, following: int | None) -> Refusal | None:
        if head.what is ControllershipEventKind.WINS:
            return self._no_election(head, following)
        if head.what is ControllershipEventKind.ACTS:
            return self._no_act(head)
        if head.what is ControllershipEventKind.OBEYS:
            return self._no_order(head)
        if (
            head.what is ControllershipEventKind.REFUSES
            and (head.event.known_epoch or 0) <= head.epoch
        ):
            return Refusal("broker_handles_request", "", None)
        if head.what is ControllershipEventKind.SEES and not any(
            owner == head.other and epoch > self.model.epoch and epoch not in self._never
            for epoch, owner in self.lines.owners.items()
        ):
            return Refusal("broker_wins_election", "", self._last.get(head.other))
        return None

    def _no_election(self, head: ControllershipEvent, following: int | None) -> Refusal | None:
        model, number = self.model, self._number[head.broker]
        owner = self.lines.owners.get(head.epoch, head.broker)
        if head.epoch <= model.epoch or owner != head.broker or head.blamed:
            near = self.lines_of_epoch.get(head.epoch, self.lines_of_epoch.get(model.epoch))
            return Refusal("broker_wins_election", _AS_READ, near)
        if head.epoch != following:
            return None
        reason = model.refusal("broker_reads_epoch", number)
        return None if reason in (None, _VACANT) else Refusal(
            "broker_reads_epoch", reason, self.seen_as_controller.get(head.broker)
        )  # fmt: skip

    def _no_act(self, head: ControllershipEvent) -> Refusal:
        model, number = self.model, self._number[head.broker]
        if model.belief(number) == head.epoch:  # so its write is what is refused
            reason, switch = model.fence(number) or ("", None)
            return Refusal("write_is_applied", reason, head.witness, switch)
        if self.won.get(head.epoch) == head.broker and not model.belief(number):
            near = self.left.get(head.broker)
        else:
            near = self.lines_of_epoch.get(head.epoch, self.seen_as_controller.get(head.broker))
        step = "controller_starts_write" if head.writes else "controller_sends_request"
        return Refusal(step, _BELIEVES, near)

    def _no_order(self, head: ControllershipEvent) -> Refusal:
        model, who, sender = self.model, self._number[head.broker], self._number[head.other]
        reason = model.refusal("broker_handles_request", who, sender, head.epoch)
        if reason != NEWER:
            return Refusal(
                "broker_handles_request", reason or "", self.lines_of_epoch.get(head.epoch)
            )
        switch = model.fits_without("broker_handles_request", who, sender, head.epoch)
        return Refusal("broker_handles_request", NEWER, self.heard.get(head.broker), switch)

    def _leave_out(self, head: ControllershipEvent) -> None:
        """Leaves a wrong line out, so that its consequences are not reported again."""
        thread = self.lines.threads.get((head.broker, ""))
        if head.what is ControllershipEventKind.ACTS:
            self._muted.add((head.broker, head.epoch))
        elif head.what is ControllershipEventKind.OBEYS:
            self._muted.add(head.same)
        elif head.what is ControllershipEventKind.WINS and thread is not None:
            number = self._number[head.broker]
            if head.epoch > self.model.epoch and self.model.belief(number) and not head.blamed:
                self.model.take("controller_resigns_and_deletes_znode", number, hidden=True)
                if self._elect(head.broker, head.epoch, head) is None:
                    self._drop(head)
                    return
            for shown in sorted(thread.waiting(), key=_when):
                if shown is not head and shown.what in (
                    ControllershipEventKind.WINS,
                    ControllershipEventKind.LEAVES,
                ):
                    break
                if shown.what is ControllershipEventKind.ACTS:
                    self._excused.add((head.broker, shown.epoch))
                    break
        self._drop(head)


def _at(event: Event) -> int:
    return event.at


_VACANT = "/controller does not exist"  # its owner's session may end before
_AS_READ = "/controller_epoch is as it was read"
_BELIEVES = "the broker believes it is the controller"


def _when(shown: ControllershipEvent) -> tuple[int, str, int]:
    return shown.event.at, shown.event.file, shown.event.line
