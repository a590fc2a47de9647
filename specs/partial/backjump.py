"""Searches runs for lines that name no step: plans from change to change, with back-jumping.

A line that fits the current state needs no step: steps are delayed until a line shows a change.
A plan that worked before, or a new one, makes the change. If there is no plan, an earlier choice
was wrong. The search jumps back to the lines where numbers that never fall were last raised: there
a controllership or a leader epoch began, and later lines contradict the choice of the broker. It
then tries the nearest lines, takes another plan, and keeps later plans as far as possible. If that
fails, steps that the line needs are inserted before an earlier line. A trace without a run found is
unknown, never broken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from model.language.sparse import SparseState
from specs.partial.compiled_steps import CompiledSteps
from specs.partial.plan_cache import PlanCache
from specs.partial.plans import OutOfBudget, Planner, SearchBudget
from specs.partial.ways import FittingRun, PartialLine, fits
from specs.partial.writers import Changes, Place, Step
from specs.verdict import Verdict

MOST_PLANNED = 12
"""Steps of one plan at most, however many lines it may be spread over."""

FUEL = 1_500
"""Turns that looking for one plan may cost."""

FAR, NEAR = 400, 12
"""Changes that are looked back over: for where a number rose, and for anything else."""

ERAS = 4
"""So many times that each number rose."""

MOST_OTHERS = 10
"""Other plans that are tried at one line."""

MOST_PREPARED = 4
"""Plans that are tried to do in time what a later line needs."""

TRIES_A_CHANGE = 400
"""Steps that every change adds to what the whole trace may cost."""


@dataclass(frozen=True)
class Conflict:
    """The index `at` of a line that does not fit the state, and the index `since` of the line at
    which steps were last taken; at most `room` steps may have been taken between them."""

    at: int
    since: int
    room: int


@dataclass
class Decision:
    """A plan that was taken to make a change."""

    change: Conflict
    mark: int
    """The position of the journal before the plan."""
    plan: list[Step]
    raised: frozenset[int]
    """Fields that never fall and that the plan raised."""

    @property
    def spare_steps(self) -> int:
        """The number of further steps that could have been taken."""
        return self.change.room - len(self.plan)


class Backjumping:
    """Searches a run for one trace whose lines name no step."""

    def __init__(self, moves: CompiledSteps, hidden: int, tried: int, changes: Changes) -> None:
        self.moves, self.ledger, self.hidden = moves, moves.ledger, hidden
        self.planner = Planner(moves, changes)
        self.rising = self.planner.writers.rising
        self.plans = PlanCache(moves, self.rising)
        self.budget = tried
        self.choices: list[Decision] = []
        self.furthest: tuple[int, SparseState] | None = None
        self._dead: set[tuple[int, int]] = set()
        self._lines: Sequence[PartialLine] = ()
        self._next: list[int] = []

    @property
    def tried(self) -> int:
        """The number of steps tried so far."""
        return self.planner.tried

    def find(self, lines: Sequence[PartialLine]) -> FittingRun:
        """Searches a run over all lines. Leaves the ledger in the last state of the search."""
        self._lines, self._next = lines, _next_others(lines)
        why = ""
        try:
            while (change := self._next_change(len(lines))) is not None:
                self.budget += TRIES_A_CHANGE
                if self._come_to(change):
                    continue
                self._keep_furthest(change)
                if not self._jump_back(change):
                    why = "no other choice at an earlier line was found to lead on"
                    break
        except OutOfBudget:
            why = f"{self.tried:,} steps were tried"
        if why:
            assert self.furthest is not None
            return FittingRun(Verdict.UNKNOWN, self.furthest[0], [], self.tried, why)
        self.furthest = len(lines), {}
        return FittingRun(Verdict.HOLDS, len(lines), list(self._steps()), self.tried)

    def _steps(self) -> Iterator[tuple[int, Step, bool]]:
        """The run: (number of the line at or before which it is, step, is it hidden)."""
        for choice in self.choices:
            number = self._lines[choice.change.at].number
            for place, step in enumerate(choice.plan, 1):
                yield number, step, place < len(choice.plan)

    def _keep_furthest(self, change: Conflict) -> None:
        if self.furthest is None or change.at > self.furthest[0]:
            self.furthest = change.at, self.ledger.state()

    # -- forward ----------------------------------------------------------------------------------

    def _next_change(self, end: int) -> Conflict | None:
        """The first line since the last choice, and before `end`, that does not fit as it is."""
        since = self.choices[-1].change.at if self.choices else -1
        at = since + 1
        while at < end:
            if not fits(self.ledger, self._lines[at]):
                return Conflict(at, since, (at - since) * (self.hidden + 1))
            at = self._next[at]
        return None

    def _come_to(self, change: Conflict) -> bool:
        """Take the first plan that comes to a change; no way is remembered."""
        key, mark = (change.at, self.ledger.key), self.ledger.mark()
        if key in self._dead:
            return False
        for plan in self._plans_to(change):
            self._take(change, mark, plan)
            return True
        self._dead.add(key)
        return False

    def _take(self, change: Conflict, mark: int, plan: list[Step]) -> None:
        """The ledger is at the end of a plan, which is now the choice."""
        raised = frozenset(n for n, _, _ in self.ledger.journal[mark:] if n in self.rising)
        self.choices.append(Decision(change, mark, plan, raised))

    def _goal(self, at: int) -> dict[Place, int]:
        line = self._lines[at]
        goal = {(number, index): code for number, index, code in line.cells}
        for number, cells in line.whole:
            goal.update({(number, index): code for index, code in cells})
        return goal

    def _plans_to(self, change: Conflict, is_brief: bool = False) -> Iterator[list[Step]]:
        """Plans to a change; the ledger shows each until the next is asked for."""
        goal, mark = self._goal(change.at), self.ledger.mark()
        most = min(change.room, MOST_PLANNED)
        kind, zeros = self.plans.kind(goal), self.plans.zeros()

        def is_there() -> bool:
            return fits(self.ledger, self._lines[change.at])

        for plan in self.plans.ways(kind, most, is_there):
            if self._has_time(change, plan, mark):
                yield plan
        path = self.planner.path
        path.clear()
        for _ in self.planner.ways(goal, most, SearchBudget(FUEL), is_brief=is_brief):
            self._check_budget()
            plan = list(path)
            if is_there() and self._has_time(change, plan, mark):
                self.plans.keep(kind, plan, zeros)
                yield plan
                path[:] = plan

    def _has_time(self, change: Conflict, plan: list[Step], mark: int) -> bool:
        """Steps that no single gap can hide: do the lines that were passed over still fit?"""
        early = len(plan) - self.hidden - 1
        if early <= 0:
            return True
        between, at = list[PartialLine](), max(0, change.since)
        while at < change.at:
            between.append(self._lines[at])
            at = self._next[at]
        self.ledger.undo(mark)
        fine = True
        for taken, step in enumerate(plan, 1):
            self.moves.take(*step)
            if taken <= early and not all(fits(self.ledger, line) for line in between):
                fine = False
        return fine

    def _check_budget(self) -> None:
        if self.tried > self.budget:
            raise OutOfBudget

    # -- back -------------------------------------------------------------------------------------

    def _jump_back(self, change: Conflict) -> bool:
        """Take another plan at an earlier change, so that one comes past this one."""
        old = list(self.choices)
        for at in self._suspects(change):
            self._back_to(old, at)
            plans = self._alternative_plans(old[at])
            for plan in plans:
                if self._try_alternative(old, at, plan, change):
                    return True
        for at in range(len(old) - 1, max(-1, len(old) - NEAR), -1):
            self._back_to(old, at)
            for plan in self._prepared(old, at, change):
                if self._try_alternative(old, at, plan, change):
                    return True
        self._back_to(old, len(old))
        return False

    def _try_alternative(
        self, old: list[Decision], at: int, plan: list[Step], change: Conflict
    ) -> bool:
        """Does another plan at a choice lead past a change? Then the run is another one since."""
        there = old[at].change
        mark = self.ledger.mark()
        if self._retake(plan) and fits(self.ledger, self._lines[there.at]):
            self._take(there, mark, plan)
            if self._follow(old[at + 1 :], change):
                return True
            self._back_to(old, at)
        else:
            self.ledger.undo(mark)
        return False

    def _suspects(self, change: Conflict) -> Iterable[int]:
        """Choices that may be wrong: where a number that is shown rose last, then the nearest."""
        last = len(self.choices)
        shown = {number for number, _ in self._goal(change.at)}
        eras: dict[int, int] = {}
        found: dict[int, None] = {}
        for at in range(last - 1, max(-1, last - FAR), -1):
            for number in self.choices[at].raised & shown:
                eras[number] = eras.get(number, 0) + 1
                if eras[number] <= ERAS:
                    found[at] = None
        found.update(dict.fromkeys(range(last - 1, max(-1, last - NEAR), -1)))
        return found

    def _back_to(self, old: list[Decision], at: int) -> None:
        """The state before a choice, or at the end of all; what lies before it is as it was."""
        same = 0
        while same < min(len(self.choices), at) and self.choices[same] is old[same]:
            same += 1
        if same < len(self.choices):
            self.ledger.undo(self.choices[same].mark)
            del self.choices[same:]
        for choice in old[same:at]:
            self._retake(choice.plan)
            self.choices.append(choice)

    def _retake(self, plan: list[Step]) -> bool:
        mark = self.ledger.mark()
        for move, given in plan:
            self.planner.tried += 1
            if move.refusal(*given) >= 0:
                self.ledger.undo(mark)
                return False
            self.moves.take(move, given)
        return True

    def _alternative_plans(self, choice: Decision) -> list[list[Step]]:
        """Other plans for a choice that end in other states."""
        mark, seen, found = self.ledger.mark(), set[int](), list[list[Step]]()
        self._retake(choice.plan)
        seen.add(self.ledger.key)
        self.ledger.undo(mark)
        for plan in self._plans_to(choice.change, is_brief=True):
            if self.ledger.key not in seen:
                seen.add(self.ledger.key)
                found.append(plan)
                if len(found) >= MOST_OTHERS:
                    break
        self.ledger.undo(mark)
        return found

    def _prepared(self, old: list[Decision], at: int, change: Conflict) -> list[list[Step]]:
        """The choice's plan after steps that a later line needs, as far as there is time for them.

        They are those of a plan to what changes there, but for its last one, which is for later.
        """
        choice, mark, found = old[at], self.ledger.mark(), list[list[Step]]()
        before = self._goal(old[-1].change.at)
        goal = dict(self._goal(old[at - 1].change.at)) if at else {}
        for place, code in self._goal(change.at).items():
            if before.get(place) != code:
                rise = code - before.get(place, code) if place[0] in self.rising else 0
                goal[place] = self.ledger.read(*place) + rise if rise else code
        path = self.planner.path
        path.clear()
        most = min(choice.spare_steps + 1, MOST_PLANNED)
        for _ in self.planner.ways(goal, most, SearchBudget(FUEL), is_brief=True):
            self._check_budget()
            early = path[:-1]
            kept = list(path)
            if early and early not in found:
                found.append([*early])
            path[:] = kept
            if len(found) >= MOST_PREPARED:
                break
        self.ledger.undo(mark)
        path.clear()
        return [early + choice.plan for early in found]

    def _follow(self, old: list[Decision], change: Conflict) -> bool:
        """Go on as before where that is possible, otherwise again, past the line in question."""
        plans = {choice.change.at: choice.plan for choice in old}
        while (next_change := self._next_change(change.at + 1)) is not None:
            self._check_budget()
            mark = self.ledger.mark()
            if (next_change.at, self.ledger.key) in self._dead:
                return False
            plan = plans.get(next_change.at)
            if plan is not None and len(plan) <= next_change.room and self._retake(plan):
                if fits(self.ledger, self._lines[next_change.at]) and self._has_time(
                    next_change, plan, mark
                ):
                    self._take(next_change, mark, plan)
                    continue
                self.ledger.undo(mark)
            if not self._come_to(next_change):
                return False
        return True


def _next_others(lines: Sequence[PartialLine]) -> list[int]:
    """For every line the number of the first one after it that shows anything else."""
    found = [len(lines)] * len(lines)
    for at in range(len(lines) - 2, -1, -1):
        found[at] = found[at + 1] if _same_observations(lines[at], lines[at + 1]) else at + 1
    return found


def _same_observations(one: PartialLine, other: PartialLine) -> bool:
    return one.cells == other.cells and one.whole == other.whole and one.leading == other.leading
