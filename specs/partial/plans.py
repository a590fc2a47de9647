"""Plans hidden steps backwards from an observed line: other steps establish failing requirements.

A step that writes a cell is first evaluated as if it were possible. If the goal would then hold,
the planner establishes the step's failing requirements in turn. If not, the cells on which the
written value depends must change first. No impossible step is taken; not finding a plan proves
nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from specs.partial.compiled_steps import CompiledSteps
from specs.partial.ledger import Change
from specs.partial.writers import Changes, Place, Step, WriterIndex

Goal = Mapping[Place, int]
"""What cells shall be."""

Holds = Callable[[], bool]

Answer = TypeVar("Answer")

DEPTHS = (3, 9, 12)
"""So many steps a plan may have: shorter ones are looked for first."""

DEPTHS_OF_A_PART = (1, 2, 4, 12)
"""The same for each condition that a plan must establish."""

MOST_OPTIONS = 8
"""Steps that are tried to establish one condition, the best ranked first."""

MOST_LAST = 16
"""Steps that are tried as the last step of a plan."""

MOST_HELPERS = 40
"""Steps that may change one cell."""

FUEL_OF_ONE = 150
"""Turns that one of them may cost."""

FEEDS = 2
"""The number of consecutive steps that may only change the values that the next step writes."""


class SearchBudget:
    """A limit on the attempts for one way; optionally a part of a larger budget."""

    def __init__(self, units: int, of: SearchBudget | None = None) -> None:
        self.units, self.of = units, of

    def burn(self) -> bool:
        """Spends one unit; is the budget not exhausted?"""
        self.units -= 1
        return self.units >= 0 and (self.of is None or self.of.burn())


class OutOfBudget(Exception):
    """Raised if more was tried than the limit allows: the answer is then unknown."""


class Option(NamedTuple):
    """A step that may help, ranked by what it breaks, its failing requirements, and its size."""

    lacks: int
    size: int
    name: str
    arguments: tuple[int, ...]
    step: Step
    places: tuple[Place, ...]
    """The places that it writes, among those that the condition reads."""


class PlanOptions(NamedTuple):
    """Steps that would make a condition hold at once (`helpful`), that could if other cells were
    different (`fed`), and that would but break another part of the goal (`harmful`)."""

    helpful: list[Option]
    fed: list[Option]
    harmful: list[Option]


class Planner:
    """Makes plans from the ledger's current state.

    Each way is one item of a generator: the ledger and `path` show it until the next is requested.
    `most_tried`: the number of steps after which OutOfBudget is raised.
    """

    def __init__(self, moves: CompiledSteps, changes: Changes, most_tried: int) -> None:
        self.moves, self.ledger = moves, moves.ledger
        self.writers = WriterIndex(moves, changes)
        self.path: list[Step] = []
        self.tried = 0
        """The number of steps tried so far."""
        self.most_tried = most_tried

    def spend(self) -> None:
        """Counts one more step that is tried. Raises OutOfBudget."""
        self.tried += 1
        if self.tried > self.most_tried:
            raise OutOfBudget

    def ways(
        self, goal: Goal, most: int, fuel: SearchBudget, last: frozenset[Step] | None = None
    ) -> Iterator[None]:
        """Ways to a goal in at most `most` steps, short ones first; some come more than once.

        `last` has the steps that may be the last one; None: any. Each last step is first tried with
        one way, so that the last step varies before the way to it.
        """
        yield from _GoalSearch(self, goal).ways(most, fuel, last)

    def ways_to_step(self, step: Step, most: int, fuel: SearchBudget) -> Iterator[None]:
        """Ways to take a step after the steps that it needs, in at most `most` steps together."""
        yield from _GoalSearch(self, {}).achieve(step, most, fuel)

    def helpers(self, place: Place, wanted: int | None = None) -> list[Step]:
        """Steps that may change a cell, to what is wanted, those that lack least first."""
        return sorted(self.writers.of(place, wanted), key=lacks)[:MOST_HELPERS]

    def helpers_of(self, step: Step) -> list[Step]:
        """Steps that write what the first failing requirement of a step looks at."""
        move, arguments = step
        lacking = move.refusal(*arguments)
        if lacking < 0:
            return []
        found: dict[Step, None] = {}
        for place in self.writers.read_by(move, lacking, arguments):
            found.update(dict.fromkeys(self.helpers(place)))
        return list(found)


class _GoalSearch:
    """The search for plans to one goal."""

    def __init__(self, planner: Planner, goal: Goal) -> None:
        self.moves, self.ledger = planner.moves, planner.ledger
        self.writers, self.path, self.spend = planner.writers, planner.path, planner.spend
        self._goal = dict(goal)
        self._wanted: set[Step] = set()
        self._in_vain: dict[tuple[Step, int], int] = {}
        self._options: dict[Hashable, PlanOptions] = {}

    def ways(self, most: int, fuel: SearchBudget, last: frozenset[Step] | None) -> Iterator[None]:
        """Ways to the goal, as `Planner.ways`."""
        if not most or (last is None and not self.distance()):
            if not self.distance():
                yield
            return
        for ways in (1, None):
            for depth in sorted({min(depth, most) for depth in DEPTHS}):
                yield from self._to_goal(depth, fuel, last, ways)

    def distance(self) -> int:
        """How far the state is from the goal."""
        read, rising = self.ledger.read, self.writers.rising
        far = 0
        for (number, index), code in self._goal.items():
            here = read(number, index)
            if here != code:
                far += 10 * abs(code - here) if number in rising else 1
        return far

    def _to_goal(
        self, most: int, fuel: SearchBudget, last: frozenset[Step] | None, ways: int | None
    ) -> Iterator[None]:
        far = self.distance()
        if not far and last is None:
            yield
            return
        if most < 1:
            return
        before, mark, wanted = len(self.path), self.ledger.mark(), set(self._wanted)
        for option in self._last_options(last):
            share = SearchBudget(FUEL_OF_ONE, fuel)
            found = self.achieve(option.step, most, share, is_last=True)
            for _ in itertools.islice(found, ways):
                if last is not None:
                    if not self.distance():
                        yield
                elif self.distance() < far:
                    left = most - (len(self.path) - before)
                    yield from self._to_goal(left, fuel, None, ways)
            # Ways that are not asked for do not take themselves back.
            self.ledger.undo(mark)
            del self.path[before:]
            self._wanted = set(wanted)

    def _last_options(self, last: frozenset[Step] | None) -> list[Option]:
        """The steps that come closest to the goal; `lacks` is how far from it they end."""
        steps = dict.fromkeys(last or ())
        if last is None:
            for place, code in self._goal.items():
                if self.ledger.read(*place) != code:
                    steps.update(dict.fromkeys(self.writers.of(place)))
        ranked = []
        for step in steps:
            changes = step[0].changes(*step[1])
            if not self._overshoots(changes):
                ends = self._as_if(changes, self.distance)
                ranked.append(Option(ends, lacks(step), step[0].name, step[1], step, ()))
        return sorted(ranked, key=lambda option: option[:4])[:MOST_LAST]

    # -- one step ---------------------------------------------------------------------------------

    def achieve(
        self, step: Step, most: int, fuel: SearchBudget, is_last: bool = False
    ) -> Iterator[None]:
        """Ways to take a step after the steps that it needs, in at most `most` steps together.

        If `is_last`, the step should write the values of the goal, if that can be achieved.
        """
        if most < 1 or not fuel.burn():
            return
        self.spend()
        move, arguments = step
        lacking = move.refusal(*arguments)
        if lacking < 0:
            if is_last and step not in self._wanted:
                yield from self._improved_step(step, most, fuel)
            mark = self.ledger.mark()
            self.moves.take(move, arguments)
            if self.ledger.mark() != mark:  # a step that changes nothing brings nothing about
                self.path.append(step)
                yield
                self.path.pop()
            self.ledger.undo(mark)
            return
        key = step, self.ledger.key
        if most < 2 or step in self._wanted or self._in_vain.get(key, 0) >= most:
            return
        required, before, any_way = move.requires[lacking], len(self.path), False
        places = self.writers.read_by(move, lacking, arguments)

        def holds() -> bool:
            return required(*arguments)

        self._wanted.add(step)
        for _ in self._bring_about(holds, places, most - 1, fuel, FEEDS, (step, lacking), step):
            self._wanted.discard(step)
            for _ in self.achieve(step, most - (len(self.path) - before), fuel, is_last):
                any_way = True
                yield
            self._wanted.add(step)
        self._wanted.discard(step)
        if not any_way and fuel.units > 0:
            self._in_vain[key] = most

    def _improved_step(self, step: Step, most: int, fuel: SearchBudget) -> Iterator[None]:
        """Ways to a step that is possible, by which it writes more of what is wanted."""
        changes, before = step[0].changes(*step[1]), len(self.path)
        ends = self._as_if(changes, self.distance)
        made: dict[Place, None] = {}
        for number, index, code in changes if ends and most > 1 else ():
            if self._goal.get((number, index), code) != code:
                made.update(dict.fromkeys(self.writers.made_of(*step, (number, index))))
        if not made:
            return

        def would() -> bool:
            return self._as_if(step[0].changes(*step[1]), self.distance) < ends

        self._wanted.add(step)
        for _ in self._bring_about(
            would, list(made), most - 1, fuel, FEEDS, (step, "better"), step
        ):
            self._wanted.discard(step)
            yield from self.achieve(step, most - (len(self.path) - before), fuel, is_last=True)
            self._wanted.add(step)
        self._wanted.discard(step)

    def _bring_about(
        self, holds: Holds, places: list[Place], most: int, fuel: SearchBudget, feeds: int,
        label: Hashable,
        target: Step,
    ) -> Iterator[None]:  # fmt: skip
        """Ways to make a condition hold that looks at these places; `label` names it.

        `target` is the step that is to come then.
        """
        if most < 1 or not fuel.burn():
            return
        key = label, self.ledger.key
        if key not in self._options:
            self._options[key] = self._ranked(holds, places, target)
        options = self._options[key]
        seen: set[int] = set()
        # What a few steps bring about is looked for before what seems ready and takes many.
        for depth in sorted({min(depth, most) for depth in DEPTHS_OF_A_PART}):
            for ways in self._by_options(options, holds, depth, fuel, feeds, label):
                for _ in ways:
                    if holds() and self.ledger.key not in seen:
                        seen.add(self.ledger.key)
                        yield

    def _by_options(
        self,
        options: PlanOptions,
        holds: Holds,
        most: int,
        fuel: SearchBudget,
        feeds: int,
        label: Hashable,
    ) -> Iterator[Iterator[None]]:
        for option in options.helpful[:MOST_OPTIONS]:
            if option.step not in self._wanted:
                yield self.achieve(option.step, most, fuel)
        if feeds and most > 1:
            for option in options.fed[:MOST_OPTIONS]:
                if option.step not in self._wanted:
                    yield self._after_source_changes(option, holds, most, fuel, feeds, label)
        for option in options.harmful[:MOST_OPTIONS]:
            if option.step not in self._wanted:
                yield self.achieve(option.step, most, fuel)

    def _after_source_changes(
        self,
        option: Option,
        holds: Holds,
        most: int,
        fuel: SearchBudget,
        feeds: int,
        label: Hashable,
    ) -> Iterator[None]:
        """Ways by a step that writes the place, once what it makes the value of has changed."""
        step, before = option.step, len(self.path)
        made: dict[Place, None] = {}
        for place in option.places:
            made.update(dict.fromkeys(self.writers.made_of(*step, place)))

        def would() -> bool:
            return self._as_if(step[0].changes(*step[1]), holds)

        if not made:
            return
        self._wanted.add(step)
        inner = label, step, option.places
        for _ in self._bring_about(would, list(made), most - 1, fuel, feeds - 1, inner, step):
            self._wanted.discard(step)
            for _ in self.achieve(step, most - (len(self.path) - before), fuel):
                if holds():
                    yield
            self._wanted.add(step)
        self._wanted.discard(step)

    def _ranked(self, holds: Holds, places: list[Place], target: Step) -> PlanOptions:
        """Steps by what they would do for a condition, which a step to come asks for."""
        options, ledger, steps = PlanOptions([], [], []), self.ledger, dict[Step, list[Place]]()
        keyed, lacking = ledger.is_keyed, lacks(target)
        for place in places:
            for step in self.writers.of(place):
                steps.setdefault(step, []).append(place)
        for step, there in steps.items():
            self.spend()
            changes = step[0].changes(*step[1])
            if self._overshoots(changes):
                continue
            mark = ledger.mark()
            ledger.is_keyed = False
            ledger.apply(changes)
            size = ledger.mark() - mark
            helps = size > 0 and holds()
            spoilt = self._mismatches() if helps else 0
            harms = helps and lacks(target) > max(0, lacking - 1)
            ledger.undo(mark)
            ledger.is_keyed = keyed
            missing = spoilt + lacks(step)
            found = Option(missing, size, step[0].name, step[1], step, tuple(there))
            if harms:
                options.harmful.append(found)
            else:
                (options.helpful if helps else options.fed).append(found)
        for some in options:
            some.sort(key=lambda option: option[:4])
        return options

    def _as_if(self, changes: list[Change], ask: Callable[[], Answer]) -> Answer:
        """What would be said after changes that nobody asks the right to."""
        mark, keyed = self.ledger.mark(), self.ledger.is_keyed
        self.ledger.is_keyed = False  # the key is the same again when all is taken back
        self.ledger.apply(changes)
        answer = ask()
        self.ledger.undo(mark)
        self.ledger.is_keyed = keyed
        return answer

    def _overshoots(self, changes: list[Change]) -> bool:
        """Would a number that never falls be greater than what is seen?"""
        goal, rising = self._goal, self.writers.rising
        return any(
            number in rising and code > goal.get((number, index), code)
            for number, index, code in changes
        )

    def _mismatches(self) -> int:
        read = self.ledger.read
        return sum(read(*place) != code for place, code in self._goal.items())


def lacks(step: Step) -> int:
    """The number of requirements of a step that do not hold."""
    return sum(not holds(*step[1]) for holds in step[0].requires)
