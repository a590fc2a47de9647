"""A run of `election` driven by the lines of one ZooKeeper's controllers, line by line.

Everything that a line shows is taken as soon as the model allows it; that disables nothing that
another line shows, because whoever acts, obeys or leaves does so in his own part of the state. What
changes it for all is the next election, and epochs say which that is: so it comes when nothing
else is possible, and no order has to be guessed, and no clock asked. An election of which
no line shows is a hidden step, if the log in which its winner would tell of it has a hole there.
What then still cannot be taken is refused by the model for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.ingest.schema import Event
from conformance.pipeline.controllership_lines import Sight, What
from conformance.pipeline.election_log_matcher import NEWER, ElectionLogMatcher


@dataclass(frozen=True)
class Refusal:
    """Why the model does not have what a line shows: a step, and its requirement that fails.

    `near` is a line that shows what stands against it, `switch` what to throw back for it to fit.
    """

    step: str
    reason: str
    near: Event | None = None
    switch: str | None = None


class ControllershipRun(ElectionLogMatcher):
    """A run that all lines are taken into. `misfits` goes on until nothing is left."""

    # -- all lines ------------------------------------------------------------------------------

    def misfits(self) -> Iterator[tuple[Sight, Refusal]]:
        """Take all lines; each that no run has comes out, and is left out of what follows."""
        if not self.epochs:
            return
        self.model.jump(self.epochs[0] - 1)
        while True:
            self._settle()
            following = self._next_epoch()
            if following is not None and self._advance(following):
                continue
            refused = self._refused_for_good(following, self._heads())
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

    def _heads(self) -> list[Sight]:
        return [head for thread in self.lines.threads.values() for head in thread.heads()]

    # -- what is refused ------------------------------------------------------------------------

    def _refused_for_good(
        self, following: int | None, heads: Iterable[Sight], *, patient: bool = True
    ) -> tuple[Sight, Refusal] | None:
        """The earliest line that no later election makes possible; or none is waited for."""
        for head in sorted(heads, key=_when):
            if patient and self._waits(head):
                continue
            refusal = self._refusal(head, following)
            if refusal is not None:
                return head, refusal
        return None

    def _waits(self, head: Sight) -> bool:
        """Whether it speaks of an epoch that is still to come."""
        epoch = max(head.epoch, head.after)
        if head.what not in (What.ACTS, What.OBEYS):
            return False
        return epoch > self.model.epoch and epoch in self.lines.owners and epoch not in self._never

    def _refusal(self, head: Sight, following: int | None) -> Refusal | None:
        if head.what is What.WINS:
            return self._no_election(head, following)
        if head.what is What.ACTS:
            return self._no_act(head)
        if head.what is What.OBEYS:
            return self._no_order(head)
        if head.what is What.REFUSES and (head.event.known_epoch or 0) <= head.epoch:
            return Refusal("request_is_obeyed", "", None)
        if head.what is What.SEES and not any(
            owner == head.other and epoch > self.model.epoch and epoch not in self._never
            for epoch, owner in self.lines.owners.items()
        ):
            return Refusal("broker_wins_election", "", self._last.get(head.other))
        return None

    def _no_election(self, head: Sight, following: int | None) -> Refusal | None:
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

    def _no_act(self, head: Sight) -> Refusal:
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

    def _no_order(self, head: Sight) -> Refusal:
        model, who, sender = self.model, self._number[head.broker], self._number[head.other]
        reason = model.refusal("request_is_obeyed", who, sender, head.epoch)
        if reason != NEWER:
            return Refusal("request_is_obeyed", reason or "", self.lines_of_epoch.get(head.epoch))
        switch = model.fits_without("request_is_obeyed", who, sender, head.epoch)
        return Refusal("request_is_obeyed", NEWER, self.heard.get(head.broker), switch)

    def _leave_out(self, head: Sight) -> None:
        """What follows from a line that is wrong is not reported again."""
        thread = self.lines.threads.get((head.broker, ""))
        if head.what is What.ACTS:
            self._muted.add((head.broker, head.epoch))
        elif head.what is What.OBEYS:
            self._muted.add(head.same)
        elif head.what is What.WINS and thread is not None:
            number = self._number[head.broker]
            if head.epoch > self.model.epoch and self.model.belief(number) and not head.blamed:
                self.model.take("controller_resigns", number, hidden=True)
                if self._elect(head.broker, head.epoch, head) is None:
                    self._drop(head)
                    return
            for sight in sorted(thread.waiting(), key=_when):
                if sight is not head and sight.what in (What.WINS, What.LEAVES):
                    break
                if sight.what is What.ACTS:
                    self._excused.add((head.broker, sight.epoch))
                    break
        self._drop(head)


_VACANT = "/controller does not exist"  # its owner's session may end before
_AS_READ = "/controller_epoch is as it was read"
_BELIEVES = "the broker believes it is the controller"


def _when(sight: Sight) -> tuple[int, str, int]:
    return sight.event.at, sight.event.file, sight.event.line
