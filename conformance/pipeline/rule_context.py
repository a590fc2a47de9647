"""The context of rules: collects findings, and counts every comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from conformance.ingest.schema import Event
from conformance.pipeline.history import History
from conformance.pipeline.monotonicity import Decrease, ValueSeen, decreases
from conformance.pipeline.rules import BREAKS, Finding, FindingKind, Rule

_AT_ONCE = 2000  # milliseconds in which a state is written, sent and applied
_OF_THAT_TIME = 900_000  # milliseconds by which clocks of two brokers may be apart


@dataclass
class RuleContext:
    """Collects what the rules find, and how often each rule compared."""

    history: History
    findings: list[Finding] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)
    fired: Counter[str] = field(default_factory=Counter)  # steps of the model that a write fits
    election_steps: Counter[str] = field(default_factory=Counter)  # the same of controllers' lines
    of_requests: Counter[str] = field(default_factory=Counter)
    """Of what was looked at, by rule, what the lines of a cluster's request logs tell alone."""
    sequences: int = 0
    blamed: set[int] = field(default_factory=set)
    beside: list[tuple[Event, str]] = field(default_factory=list)
    """Lines that do not go with a neighbour, and which that is: see `History.suspects`."""
    cut: bool = False
    """These are some of a partition's lines: what is not here may have been, or be elsewhere."""
    thinned: bool = False
    """Of these lines old ones were let go, but for a few of each kind."""
    _reported: set[tuple[str, int]] = field(default_factory=set)

    def looked(self, rule: Rule, times: int = 1) -> None:
        """Counts a comparison: a rule that never compared does not hold."""
        if times:
            self.checked[rule.name] = self.checked.get(rule.name, 0) + times

    def report(
        self, kind: FindingKind, rule: Rule, event: Event, why: str, allowed: str | None = None
    ) -> None:
        """Reports a line, once per rule. A line that broke a rule is no evidence for another."""
        if (rule.name, id(event)) in self._reported:
            return
        if kind is FindingKind.INCOMPLETE and not self.history.may_doubt(event, rule.name):
            return
        self._reported.add((rule.name, id(event)))
        if kind in BREAKS:
            self.blamed.add(id(event))
        self.findings.append(
            Finding(
                kind=kind.value,
                cluster=event.cluster,
                file=event.file,
                line=event.line,
                rule=rule.name,
                why=why,
                allowed=allowed or rule.allowed,
                positions=tuple(event.positions) or (event.where,),
            )
        )

    def lacks(self, event: Event, what: str) -> bool:
        """Whether a rule may report that another line, `what`, is missing beside this line.

        Where lines are left out, it may only if this was noted when all lines were there.
        """
        return not self.cut and self.beside_each_other(event, what)

    def beside_each_other(self, event: Event, other: Event | str) -> bool:
        """Notes that two lines contradict each other; returns whether they are known neighbours."""
        where = other if isinstance(other, str) else other.where
        self.beside.append((event, where))
        return self.history.suspects(event, where)

    def innocent(self, events: Iterable[Event]) -> list[Event]:
        """The events that no rule has blamed so far."""
        blamed = self.blamed
        return [event for event in events if id(event) not in blamed] if blamed else list(events)

    def never_falls(
        self,
        rule: Rule,
        what: str,
        steps: list[ValueSeen],
        excuse: Callable[[Event, Event], str | None],
        joined: Callable[[Event, Event], bool],
        column: str = "",
    ) -> list[Decrease]:
        """Judges a sequence of values and reports its decreases; `what` names the value in words.

        `column`: the column of the value, so that a value that only one line has can be blamed.
        """
        self.sequences += bool(steps)
        self.looked(rule, max(0, len(steps) - 1))
        found = list(decreases(steps, excuse, joined))
        for fall in found:
            if fall.kind is FindingKind.EXPLAINED:
                continue  # reported once for the whole cluster, not once a value
            last = fall.last
            if (
                fall.kind is FindingKind.VIOLATION
                and not _was_elected_first(fall.step.event)
                and (
                    (_alone(fall, steps, excuse) and not self._others_have(fall, column))
                    or (
                        column
                        and _goes_on_without(fall, steps)
                        and self._logged_nowhere_else(fall, column)
                    )
                )
            ):
                self.report(
                    fall.kind,
                    rule,
                    last.event,
                    f"{what} is {last.value} here and in no other line, and {fall.step.value} "
                    f"after it, at {fall.step.event.where}",
                    f"{fall.step.value}, as the lines around it have",
                )
                continue
            verb = (
                "stays at" if fall.step.value == last.value else f"goes back from {last.value} to"
            )
            why = (
                f"{what} {verb} {fall.step.value}; {last.value} was at {last.event.where}; "
                f"{fall.why}"
            )
            need = "at least" if not fall.step.strict else "more than"
            self.report(
                fall.kind, rule, fall.step.event, why, f"{need} {last.value}: {rule.allowed}"
            )
        return found

    def _others_have(self, fall: Decrease, column: str) -> bool:
        """Whether other lines have the higher value: for a partition, whose values grow, lines up
        to that moment; otherwise, lines of about that time with the controller epoch."""
        high = fall.last.event
        if column and high.tp is not None:
            return getattr(high, column) == fall.last.value and any(
                getattr(event, column) == fall.last.value
                and event is not high
                and event.at <= high.at + _AT_ONCE
                and self.history.topic_began(event, high) is None
                for event in self.history.of_partition(high.tp)
            )
        return high.controller_epoch == fall.last.value and any(
            event.controller_epoch == fall.last.value and event is not high
            for event in self.history.events
            if event.tp is None and abs(event.at - high.at) <= _OF_THAT_TIME
        )

    def _logged_nowhere_else(self, fall: Decrease, column: str) -> bool:
        """Whether no other line has the higher value, while several lines have the lower."""
        high, low = fall.last.event, fall.step.event
        if high is low or getattr(high, column) != fall.last.value:
            return False
        counted = self.history.value_counts(column, low.tp)
        alone = counted[fall.last.value] == 1 and counted[fall.step.value] > 1
        return alone and (low.tp is None or self.lacks(high, "alone"))


def _goes_on_without(fall: Decrease, steps: list[ValueSeen]) -> bool:
    """Whether nothing falls without the higher value: the value before it is no higher."""
    last = next(n for n, step in enumerate(steps) if step is fall.last)
    return last == 0 or steps[last - 1].value <= fall.step.value


def _was_elected_first(event: Event) -> bool:
    """Whether a line shows an election under leader epoch 0, with which partitions are created."""
    elects = event.from_state in ("OnlinePartition", "OfflinePartition")
    return elects and event.kind == "partition_changed" and event.leader_epoch == 0


def _alone(
    fall: Decrease, steps: list[ValueSeen], excuse: Callable[[Event, Event], str | None]
) -> bool:
    """Whether the higher value is the wrong one: without it the other values are in order.

    One line has it, and the values before and after it agree, or continue below it.
    """
    places = [n for n, step in enumerate(steps) if step.value == fall.last.value]
    if len(places) != 1 or places[0] + 1 >= len(steps) or steps[places[0] + 1] is not fall.step:
        return False
    before, after = steps[: places[0]], steps[places[0] + 1 :]
    if before and before[-1].value == fall.step.value:
        return True
    lower = len(after) > 1 and not after[1].fresh and after[1].value < fall.last.value
    lower = lower and excuse(after[0].event, after[1].event) is None
    return lower and (not before or before[-1].value <= fall.step.value <= after[1].value)


def as_set(brokers: Iterable[int] | None) -> str:
    """Brokers as a finding shows them: `{1,2}`."""
    return "{" + ",".join(map(str, brokers or ())) + "}"
