"""Guard surgery: removes each `require` in turn, to see which claim then breaks.

A guard is *noticed* if without it a claim breaks (explored exactly, so the run is the shortest), a
lowering's check raises, or a story plays differently. A guard that is not noticed is either marked
in the code, `# redundant because …`, or a claim is missing.

A guard against a bound that is a capacity (`classic` has such) has no effect if the capacity is
never reached; it is tried again with the smallest sensible value of that bound.

Deleting a guard only adds steps, so it cannot make a `sometimes` false: only `always` and
`always_step` can notice. All of them are searched together, as one claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from model.language import ImpossibleValue, ProtocolError, RecordedSystem, all_of
from model.language.errors import unknown_name
from model.language.properties import Claim
from model.language.recording import bounds_read, record_condition, record_step_condition
from specs.explorer import Exploration, explore
from specs.redundant_guards import Marks, marks_of
from specs.rendering import FLAT, HIDDEN, parts, under_key
from specs.story import Story, play
from specs.verdict import Verdict

ANY = "any_claim_breaks"
Report = Callable[[str], None]

CLAIM, RAISES, STORY = "claim", "raises", "story"

SMALL = "it decides nothing within these bounds"


@dataclass(frozen=True)
class Guard:
    """One `require` of one transition."""

    step: str = field(metadata=under_key("transition"))
    reason: str

    def __str__(self) -> str:
        return f"{self.step}: {self.reason}"


@dataclass(frozen=True)
class GuardTrial:
    """The result of removing one guard from the system.

    `by` is `claim`, `raises` or `story`, or None if the guard is not noticed; `who` is that claim,
    error or story; `after` counts the steps of the shortest run to it (of the story: up to the
    difference). `more_states` and `more_steps` count what the guard excluded, if exploration was
    complete. `within` has the bounds that were made smaller to reach a capacity.
    """

    ALSO: ClassVar = parts("verdict")

    guard: Guard = field(metadata=FLAT)
    by: str | None = field(metadata=under_key("noticed_by"))
    who: str | None = None
    after: int | None = None
    mark: str | None = field(default=None, metadata=under_key("redundant"))
    own_mark: bool = field(default=False, metadata=HIDDEN)
    unknown: str | None = None
    more_states: int | None = None
    more_steps: int | None = None
    within: Mapping[str, int] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False, metadata=HIDDEN)

    @property
    def mark_is_wrong(self) -> bool:
        """Called redundant by its own transition, and a claim or a check breaks without it."""
        return self.own_mark and self.by in (CLAIM, RAISES)

    @property
    def verdict(self) -> Verdict:
        """Holds if noticed or marked; broken if neither, or if the mark is wrong."""
        if self.by is not None:
            return Verdict.BROKEN if self.mark_is_wrong else Verdict.HOLDS
        if self.mark is not None:
            return Verdict.HOLDS
        return Verdict.UNKNOWN if self.unknown else Verdict.BROKEN

    @property
    def changes_nothing(self) -> bool:
        """Whether other guards imply it in every state within the bounds: it can be removed."""
        return self.more_states == 0 and self.more_steps == 0


def guards_of(recorded: RecordedSystem, reason: str | None = None) -> list[Guard]:
    """Every guard of the version, or those with one reason; an unknown one is refused."""
    guards = [
        Guard(step.transition.name, one.reason) for step in recorded.steps for one in step.requires
    ]
    if reason is None:
        return guards
    chosen = [guard for guard in guards if guard.reason == reason]
    if not chosen:
        known = {guard.reason for guard in guards}
        raise ProtocolError(unknown_name(f"guard of {recorded.system.name}", reason, known))
    return chosen


def remove_guard(recorded: RecordedSystem, guard: Guard) -> RecordedSystem | None:
    """The same system without one guard; None if the version does not have this guard."""
    cut = recorded.system.recorded(recorded.version, recorded.without)
    for number, step in enumerate(cut.steps):
        kept = [one for one in step.requires if one.reason != guard.reason]
        if step.transition.name == guard.step and len(kept) < len(step.requires):
            cut.steps[number] = replace(step, requires=kept)
            return cut
    return None


def with_any_claim(recorded: RecordedSystem) -> RecordedSystem:
    """The system with one more claim: none of its `always` and `always_step` is broken.

    This claim breaks as soon as the first of them breaks, so that a search can end there.
    """
    claims = [claim for claim, _ in recorded.claims.values()]
    states = [claim for claim in claims if claim.kind == "always"]
    steps = [claim for claim in claims if claim.is_about_steps]
    if not states and not steps:
        raise ProtocolError(
            f"{recorded.system.name} has no claim about states or steps: no guard can be tested"
        )
    state, switches = recorded.system.state, recorded.switches
    if steps:
        # A state breaks as soon as a step has led to it, so that no claim is noticed later.
        def unbroken(now: Any, after: Any) -> Any:
            return all_of(*(one.function(after) for one in states),
                          *(one.function(now, after) for one in steps))  # fmt: skip

        term, kind = record_step_condition(unbroken, state, switches), "always_step"
    else:

        def all_hold(now: Any) -> Any:
            return all_of(*(one.function(now) for one in states))

        term, kind = record_condition(all_hold, state, switches), "always"
        unbroken = all_hold  # type: ignore[assignment]
    watch = Claim(ANY, kind, "no claim is broken", unbroken)
    recorded.claims[ANY] = (watch, term)
    return recorded


@dataclass
class Surgery:
    """Guard surgery on one system within bounds."""

    recorded: RecordedSystem
    bounds: Mapping[str, int]
    stories: Sequence[Story] = ()
    max_states: int | None = None
    symmetry: bool = False
    report: Report = lambda line: None

    def __post_init__(self) -> None:
        self.stories = [story for story in self.stories if self._can_notice(story)]
        self.marks: Marks = marks_of(self.recorded)

    def _can_notice(self, story: Story) -> bool:
        """Is it about this system, and as recorded as long as nothing is taken out?"""
        if story.heading is None:
            return False
        same = story.heading.recorded.system is self.recorded.system
        return same and play(story).verdict is Verdict.HOLDS

    def findings(self, guards: Sequence[Guard]) -> Iterator[GuardTrial]:
        """Tries the system without each guard, one by one, and yields the results."""
        whole = self._explore(self._system_with_guard())
        broken = _broken(whole)
        if broken:
            names = ", ".join(name for name, _ in broken)
            raise ProtocolError(
                f"{names} of {self.recorded.system.name} {self.recorded.version} breaks with every "
                "guard in place: surgery shows nothing where claims do not hold to begin with"
            )
        for number, guard in enumerate(guards, 1):
            self.report(f"guard {number} of {len(guards)}: {guard}")
            found = self._finding(guard, whole)
            yield self._with_least_capacities(found) if found.by is None else found

    def _with_least_capacities(self, found: GuardTrial) -> GuardTrial:
        """The finding where the capacities that the guard is about are the least, if it bites."""
        reached = {
            name: self.recorded.system.bounds[name].least for name in self._capacities(found.guard)
        }
        if not found.changes_nothing or reached.items() <= self.bounds.items():
            return found
        small = replace(self, bounds={**self.bounds, **reached}, stories=())
        whole = small._explore(self._system_with_guard())
        again = found if _broken(whole) else small._finding(found.guard, whole)
        return found if again.by is None else replace(again, within=reached)

    def _capacities(self, guard: Guard) -> list[str]:
        """The bounds that a guard's condition reads."""
        steps = (step for step in self.recorded.steps if step.transition.name == guard.step)
        conditions = (one.condition for step in steps for one in step.requires
                      if one.reason == guard.reason)  # fmt: skip
        return sorted({name for condition in conditions for name in bounds_read(condition)})

    def _system_with_guard(self) -> RecordedSystem:
        return self.recorded.system.recorded(self.recorded.version, self.recorded.without)

    def _finding(self, guard: Guard, whole: Exploration) -> GuardTrial:
        mark, own = self.marks.get(guard.step, guard.reason)
        found = GuardTrial(guard, None, mark=mark, own_mark=own)
        cut = remove_guard(self.recorded, guard)
        assert cut is not None, guard
        try:
            cut_off = self._explore(cut)
        except ImpossibleValue as error:
            return replace(found, by=RAISES, who=str(error))
        broken = _broken(cut_off)
        if broken:
            name, depth = broken[0]
            return replace(found, by=CLAIM, who=name, after=depth - 1)
        differing = self._story_that_differs(guard)
        if differing is not None:
            return replace(found, by=STORY, who=differing[0], after=differing[1])
        if not (cut_off.complete and whole.complete):
            return replace(found, unknown=cut_off.stopped or whole.stopped)
        found = replace(
            found,
            more_states=cut_off.distinct - whole.distinct,
            more_steps=sum(cut_off.fired.values()) - sum(whole.fired.values()),
        )
        # Where bounds cut successors off, a guard may decide nothing only for that reason.
        return replace(found, unknown=SMALL) if found.changes_nothing and whole.pruned else found

    def _explore(self, recorded: RecordedSystem) -> Exploration:
        names = [claim.name for claim, _ in recorded.claims.values() if _can_break(claim)]
        return explore(
            with_any_claim(recorded), self.bounds, [*names, ANY], self.max_states, self.report,
            stop_at=ANY, symmetry=self.symmetry,
        )  # fmt: skip

    def _story_that_differs(self, guard: Guard) -> tuple[str, int] | None:
        """The story that goes otherwise after the fewest lines without the guard."""
        best: tuple[int, str] | None = None
        for story in self.stories:
            # Only a line about the step itself can have another output.
            if guard.step not in {command.what for command in story.commands}:
                continue
            assert story.heading is not None
            cut = remove_guard(story.heading.recorded, guard)
            if cut is None:
                continue
            position = play(story, cut).first_difference
            if position is not None:
                steps = sum(command.is_step for command in story.commands[:position])
                best = min(best or (steps, story.source), (steps, story.source))
        return None if best is None else (best[1], best[0])


def _can_break(claim: Claim) -> bool:
    return claim.kind in ("always", "always_step")


def _broken(found: Exploration) -> list[tuple[str, int]]:
    """The claims that broke and their depths, the first of them first."""
    broken = [
        (depth, name)
        for name, depth in found.tally.settled.items()
        if name in found.grounded.claims and name != ANY
        and _can_break(found.grounded.recorded.claim(name)[0])
    ]  # fmt: skip
    return [(name, depth) for depth, name in sorted(broken)]
