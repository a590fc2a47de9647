"""Plays a system step by step: the state, the possible steps, and why others are not possible.

A game is a heading and lines, as in a story: `system replication version 2.3 brokers 3`, then
`broker_becomes_controller broker=1`. Only this text is stored; everything else is recomputed from
it, so that undo and branches are cheap, and a run is a text.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from conformance.web.claims_of_state import ClaimEvaluator, ClaimStatus, greatest_in
from conformance.web.in_flight import MessageInFlight, in_flight
from conformance.web.messages import TakenStep, aged, arrows
from conformance.web.phrases import heading_of, phrase
from conformance.web.picture import Picture
from conformance.web.run_tree import RunNode, RunTree
from model.language import ImpossibleValue, ProtocolError, RecordedSystem
from model.language.evaluate import SparseState
from model.language.recording import Recorded, Requirement
from model.language.sorts import Enumeration
from specs.lowering.python_terms import CompiledEvaluator
from specs.story.commands import Arguments, read_command, step_line, step_text
from specs.story.heading import ROOM, StoryHeading, read_heading
from specs.story.leaves import Leaves
from specs.story.play import choices
from specs.tla.rewriting import subterms

MOST_CHOICES = 400
"""Values of one step's parameters that are tried; the rest can be typed as a line."""

MOST_THINGS, MOST_NUMBERS = 9, 999
"""Brokers (or whatever else has a lane or a key of its own), and other numbers, that are shown."""


@dataclass(frozen=True)
class StepCard:
    """A step that is possible now: its line, and what it would change.

    `words` and `actor` say it plainly. `fresh`: it was not possible before the last step, so it
    probably comes next; `fault`: a failure, which is possible at nearly any time.
    """

    step: str
    line: str
    label: str
    summary: str
    changes: tuple[str, ...]
    words: str
    actor: str
    fresh: bool = False
    fault: bool = False


@dataclass(frozen=True)
class RefusedStep:
    """A step that is not possible now, for the parameters that come nearest, and why not.

    `others` counts its other choices of parameters.
    """

    step: str
    line: str
    label: str
    summary: str
    why: str
    others: int
    words: str


@dataclass(frozen=True)
class RunFrame:
    """One state on a run: the step that led to it, what it changed, and the whole picture.

    `words` describe the step.
    """

    label: str
    words: str
    changes: tuple[str, ...]
    picture: dict[str, Any]
    lamps: tuple[ClaimStatus, ...]


KEPT_CARDS = 256
"""For so many states the cards are kept: one goes back and forth, and asks what is new."""


@dataclass
class Board:
    """The system of a heading. Raises ProtocolError for a heading that is not valid.

    `other` is played instead if it is given: the same system without a guard.
    """

    heading_text: str
    other: RecordedSystem | None = None
    heading: StoryHeading = field(init=False)

    def __post_init__(self) -> None:
        self.heading = read_heading(self.heading_text)
        if self.other is not None:
            self.heading = replace(self.heading, recorded=self.other)
        recorded = self.heading.recorded
        _refuse_crowds(self.heading)
        self.sizes = self.heading.step_bounds  # the heading works them out each time it is asked
        self._steps = {step.transition.name: step for step in recorded.steps}
        self.twin = CompiledEvaluator(recorded, self.sizes)
        judged = [term for claim, term in recorded.claims.values() if claim.kind != "eventually"]
        self.leaves = Leaves(self.twin, recorded.fields_needed(judged, self.heading.given))
        self.picture = Picture(self.twin)
        self.start = self.twin.initial()
        self._known = RunTree(self.start, self.take)
        self._lamps = ClaimEvaluator(self.heading)
        self._without_parameters: dict[str, list[int]] = {}
        self._cards_at = lru_cache(KEPT_CARDS)(lambda node: self.cards(node.state))

    # -- a game ---------------------------------------------------------------------------------

    def at(self, lines: Sequence[str]) -> SparseState:
        """The state after these lines. Raises ProtocolError for one that is not possible."""
        return self._known.along(lines).state

    def take(self, state: SparseState, line: str, number: int = 1) -> SparseState:
        """The state after one line. Raises ProtocolError, with the first reason that fails."""
        step, arguments = self.read(line, number)
        refused = self.twin.possible(step, state, arguments)
        if refused is not None:
            raise ProtocolError(
                f"step {number}: {step_text(step, arguments)} is "
                f"{self.twin.explain(refused, state, arguments)}"
            )
        try:
            after = self.twin.after(step, state, arguments)
        except ImpossibleValue as error:
            raise ProtocolError(f"step {number}: {line}: {error}") from error
        # What a step leaves alone stays the same object: it is drawn and judged only once.
        return {name: state[name] if state.get(name) == cells else cells
                for name, cells in after.items()}  # fmt: skip

    def read(self, line: str, number: int) -> tuple[Recorded, Arguments]:
        """The step of a line, and its parameters. Raises ProtocolError."""
        if not line.strip():
            raise ProtocolError(f"step {number}: a step is a name and its parameters, not nothing")
        command = read_command(number, line, self.heading)
        if not command.is_step:
            raise ProtocolError(f"step {number}: {line!r} is no step of {self.name}")
        return self._steps[command.what], command.arguments

    def frame(self, lines: Sequence[str]) -> RunFrame:
        """The state after these lines, as the page shows it."""
        path = self._known.path(lines)
        for before, here in zip([None, *path], path, strict=False):
            self._messages_in_flight(before, here)
        if not lines:
            return self.shown("the beginning", None, path[0])
        step, arguments = self.read(lines[-1], len(lines))
        return self.shown(step_text(step, arguments), path[-2], path[-1], lines[-1])

    def shown(
        self, label: str, before: RunNode | None, here: RunNode, line: str | None = None
    ) -> RunFrame:
        """A state as the page shows it, after step `label` led to it from `before`, by a `line`."""
        if before is None:
            return RunFrame(label, label, (), self._pictured(None, here, None),
                         self._lamps.evaluate(None, here))  # fmt: skip
        return RunFrame(
            label,
            phrase(line) if line is not None else label,
            tuple(self.leaves.changes(before.state, here.state)),
            self._pictured(before, here, line),
            self._lamps.evaluate(before, here),
        )

    def _pictured(self, before: RunNode | None, here: RunNode, line: str | None) -> dict[str, Any]:
        """The lanes, and the arrows between them."""
        picture = self.picture.of(
            here.state, before.state if before is not None else None, here.cut
        )
        taken = None
        if before is not None and line is not None:
            old, new = before.state, here.state
            both = ((one, old.get(one), new.get(one)) for one in self.heading.recorded.fields)
            changed = tuple(one for one, was, now in both if was is not now and was != now)
            taken = TakenStep(*self.read(line, 1), changed)
        sent = self._messages_in_flight(None, before) if before is not None else ()
        flying = self._messages_in_flight(before, here)
        picture["messages"] = arrows(sent, flying, here.ages or {}, taken)
        return picture

    def _messages_in_flight(
        self, before: RunNode | None, here: RunNode
    ) -> tuple[MessageInFlight, ...]:
        """What is on its way in a state; how long it is, goes on from the state before."""
        if here.flight is None:
            here.flight = in_flight(self.twin, here.state)
            here.ages = aged(before.ages if before is not None else None, here.flight)
            if before is not None:
                here.cut = self.picture.cut(before.state, here.state, before.cut or {})
        return here.flight

    @property
    def name(self) -> str:
        """`replication 2.3`."""
        return f"{self.heading.recorded.system.name} {self.heading.recorded.version}"

    # -- what can happen --------------------------------------------------------------------------

    def choices(self, lines: Sequence[str]) -> tuple[list[StepCard], list[RefusedStep]]:
        """Like `cards`, after these lines, the likeliest first: those that the last step made
        possible."""
        path = self._known.path(lines)
        possible, refused = self._cards_at(path[-1])
        if len(path) > 1:
            known = {one.line for one in self._cards_at(path[-2])[0]}
            possible = [replace(one, fresh=one.line not in known) for one in possible]
        return sorted(possible, key=lambda one: (one.fault, not one.fresh)), refused

    def cards(self, state: SparseState) -> tuple[list[StepCard], list[RefusedStep]]:
        """Every step that is possible now, and of every other step the nearest choice."""
        greatest = greatest_in(state)
        possible: list[StepCard] = []
        refused: list[RefusedStep] = []
        for step in self.heading.recorded.steps:
            nearest: tuple[int, Requirement, Arguments] | None = None
            allowed = 0
            choices = list(itertools.islice(self._choices(step, greatest), MOST_CHOICES))
            known = self._known_guards(step, state)
            # Beyond a guard that fails whatever the parameters are, no choice comes.
            most = next((n for n, holds in known.items() if not holds), None)
            for arguments in choices:
                place = self._first_failing(step, state, arguments, known)
                if place is None:
                    card = self._step_card(step, state, arguments)
                    if card is not None:
                        allowed += 1
                        possible.append(card)
                    continue
                if nearest is None or place > nearest[0]:
                    nearest = place, step.requires[place], arguments
                if place == most:
                    break
            if not allowed and nearest is not None:
                _, failing, arguments = nearest
                why = self.twin.explain(failing, state, arguments)
                line = step_line(step, arguments)
                refused.append(
                    RefusedStep(
                        step.transition.name, line, step_text(step, arguments),
                        step.transition.summary,
                        why.removeprefix("not possible: "), len(choices) - 1, phrase(line),
                    )
                )  # fmt: skip
        # What goes wrong by itself comes last: it can happen at nearly any time.
        return sorted(possible, key=lambda card: card.fault), refused

    def _known_guards(self, step: Recorded, state: SparseState) -> dict[int, bool]:
        """By position: the guards that do not depend on the step's parameters, and if they hold."""
        positions = self._without_parameters.get(step.transition.name)
        if positions is None:
            positions = [n for n, one in enumerate(step.requires) if not _reads_parameters(one)]
            self._without_parameters[step.transition.name] = positions
        return {n: bool(self.twin.value(step.requires[n].condition, state, {})) for n in positions}

    def _first_failing(
        self, step: Recorded, state: SparseState, arguments: Arguments, known: dict[int, bool]
    ) -> int | None:
        environment = {f"${name}": value for name, value in arguments.items()}
        for place, requirement in enumerate(step.requires):
            if place in known:
                if not known[place]:
                    return place
            elif not self.twin.value(requirement.condition, state, environment):
                return place
        return None

    def _step_card(
        self, step: Recorded, state: SparseState, arguments: Arguments
    ) -> StepCard | None:
        try:
            after = self.twin.after(step, state, arguments)
        except ProtocolError:
            return None  # beyond a bound that the heading names
        line = step_line(step, arguments)
        return StepCard(
            step.transition.name,
            line,
            step_text(step, arguments),
            step.transition.summary,
            tuple(self.leaves.changes(state, after)) or ("nothing changes",),
            phrase(line),
            heading_of(step.transition, arguments),
            fault=step.transition.fault,
        )

    def _choices(self, step: Recorded, greatest: int) -> Iterator[Arguments]:
        """Every choice of parameters among the numbers that are in use, and the next ones."""
        bounds = dict.fromkeys(self.heading.recorded.system.bounds, greatest + 1)
        # What has a size of its own (brokers, what the heading names) has that size.
        bounds |= {n: size for n, size in self.sizes.items() if size != ROOM}
        return choices(step, bounds)

    # -- claims -----------------------------------------------------------------------------------

    def lamps(self, before: SparseState | None, after: SparseState) -> tuple[ClaimStatus, ...]:
        """Every claim that can be evaluated in a state, or of the step that led to it."""
        return self._lamps.evaluate(RunNode(before) if before is not None else None, RunNode(after))

    def guards_that_save(self, lines: Sequence[str]) -> list[dict[str, str]]:
        """Guards without which a claim would break by the next step.

        A step that only one guard refuses is taken anyway; the claims that then break show what the
        guard is for in this state.
        """
        state, found = self.at(lines), []
        greatest = greatest_in(state)
        held = {lamp.claim for lamp in self.lamps(None, state) if lamp.lit}
        for step in self.heading.recorded.steps:
            for arguments in itertools.islice(self._choices(step, greatest), MOST_CHOICES):
                guard, unguarded = self._only_guard(step, state, arguments)
                if guard is None:
                    continue
                try:
                    after = self.twin.successor(unguarded, state, arguments)
                except ProtocolError:
                    continue
                found += [
                    {"step": step_text(step, arguments), "guard": guard.reason, "claim": lamp.claim,
                     "sentence": lamp.sentence}
                    for lamp in self.lamps(state, after)
                    if lamp.is_broken
                    and (lamp.claim in held)
                ]  # fmt: skip
        return found

    def _only_guard(
        self, step: Recorded, state: SparseState, arguments: Arguments
    ) -> tuple[Requirement | None, Recorded]:
        """The guard that alone refuses a step, if it does, and the step without it."""
        first = self.twin.possible(step, state, arguments)
        others = [one for one in step.requires if one is not first]
        unguarded = Recorded(step.transition, step.parameters, others, step.writes)
        if first is None or self.twin.possible(unguarded, state, arguments) is not None:
            return None, step
        return first, unguarded


def _refuse_crowds(heading: StoryHeading) -> None:
    """What would never end: thousands of brokers to draw, or of numbers to choose among."""
    fields = heading.recorded.fields.values()
    counted = {sort.bound for leaf in fields for sort in (*leaf.dims, leaf.sort)
               if isinstance(sort, Enumeration)}  # fmt: skip
    for name, number in heading.given.items():
        most = MOST_THINGS if name in counted else MOST_NUMBERS
        if number > most:
            raise ProtocolError(f"{name} {number} is too many to show; write {name} {most} or less")


@lru_cache(maxsize=32)
def board(heading: str) -> Board:
    """The board of a heading; a few are cached, because recording a system takes a moment."""
    return Board(heading)


def _reads_parameters(requirement: Requirement) -> bool:
    """Does a guard name a parameter, as a value or as a set?"""
    return any(
        term.op in ("var", "get") and str(term.args[0]).startswith("$")
        for term in subterms(requirement.condition)
    )
