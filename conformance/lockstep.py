"""Runs model and implementation in lock-step: each step of one is a step of the other.

*Sound*: a step of the implementation is one possible transition of the model and leads to the same
state, or it is silent and changes nothing that the model sees. *Complete*: every transition that
the model allows can be driven in the implementation, after silent steps if necessary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.mapping import (
    MAP,
    Facts,
    StepRow,
    SystemMap,
    implementation_arguments,
    model_arguments,
)
from conformance.model_stepper import Key, ModelStepper
from impl.sim.simulation import Step

BOUNDS = {
    "brokers": 3, "log": 4, "records": 6, "epoch": 6, "controllers": 4, "versions": 14,
}  # fmt: skip
"""How far a lock-step run may go; a step beyond is left out on both sides."""


class Mismatch(AssertionError):
    """Model and implementation disagree. The message says how; `conformance.diagnosis` says more.

    `steps` are the implementation's; the last one fails. If the implementation cannot be driven to
    what the model allows, `key` is that transition, and the steps lead to where it is allowed.
    """

    def __init__(self, message: str, steps: Iterable[Step], key: Key | None = None) -> None:
        super().__init__(message)
        self.steps = tuple(steps)
        self.key = key


Watcher = Callable[[Any, SystemMap, Callable[[], None]], list[str]]
"""(world, map, act) -> acts, and says what is wrong with it."""


@dataclass
class WalkProgress:
    """What a lock-step run saw."""

    steps: int = 0
    silent: int = 0
    fired: dict[str, int] = field(default_factory=dict)


class Lockstep:
    """One run of both sides. A `watcher` is called at every step of the implementation, and returns
    the faults that it finds as sentences."""

    def __init__(
        self,
        bounds: Mapping[str, int] | None = None,
        about: SystemMap = MAP,
        version: str | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        self.watcher = watcher
        self.bounds = dict(bounds or BOUNDS)
        self.about = about
        self.model = ModelStepper.of(self.bounds, about, version)
        self.world: Any = about.world(self.bounds, version)
        self.state: Any = self.model.code.initial
        self._candidates: dict[Step, list[Key]] = {}
        self.history: list[Step] = []
        self._here: Any = None
        self._offers: tuple[Any, list[Step]] = (None, [])
        self.last: Key | None = None
        self.progress = WalkProgress()
        self._compare("at the start")

    # -- one step -----------------------------------------------------------------------------

    def _leader_of(self, broker: int) -> int:
        return 0 if self.about.leader_of is None else self.about.leader_of(self.world, broker)

    def facts(self) -> Facts:
        """What the implementation shows, as facts of the model."""
        return self.about.facts(self.world)

    def candidates(self, step: Step) -> list[Key]:
        """The model's transitions that a step of the implementation may be."""
        known = self._candidates.get(step)
        if known is not None:
            return known
        row = self.about.rows[step.name]
        arguments = dict(zip(row.parameters, step.args, strict=True))
        renamed, names = model_arguments(row, arguments, self._leader_of), row.transitions
        if row.possible_now is not None:
            names, more = row.possible_now(self.world, *step.args)
            renamed |= more
        keys = [
            self.model.key(name, renamed)
            for name in names
            if name in self.model.parameters  # else not in this release
        ]
        if row.leader_of is None and row.possible_now is None:
            self._candidates[step] = keys  # the arguments alone decide
        return keys

    def _offered(self) -> list[Step]:
        """The steps that the world may take, but those that the model has none of; looked for once
        as long as it stands there."""
        if self._here is None or self._offers[0] is not self._here:
            rows, world = self.about.rows, self.world
            self._offers = (
                self._here,
                [
                    one
                    for one in world.enabled()
                    if not rows[one.name].is_unmodelled(world, one.args)
                ],
            )
        return self._offers[1]

    def choices(self) -> list[Step]:
        """The implementation's enabled steps that stay within the bounds."""
        enabled = self.model.enabled(self.state)
        found = []
        for step in self._offered():
            keys = self.candidates(step)
            if any(key in enabled for key in keys) or not any(
                self.model.possible_beyond_bounds(key, self.state) for key in keys
            ):
                found.append(step)
        return found

    def take(self, step: Step) -> None:
        """Takes a step of the implementation; the model must follow, to the same state."""
        keys = self.candidates(step)
        enabled = self.model.enabled(self.state)
        possible = [key for key in keys if key in enabled]
        row = self.about.rows[step.name]
        if not possible and row.silent is None:
            reasons = "\n".join(
                f"    {name}{args}: not possible: {self.model.why_not((name, args), self.state)}"
                for name, args in keys
            )
            raise Mismatch(
                f"the implementation can take {self._shown(step)}, and the model refuses it:\n"
                f"{reasons}\n{self._story()}",
                [*self.history, step],
            )
        self._here = None
        if self.watcher is None:
            self.world.do(step)
        else:
            wrong = self.watcher(self.world, self.about, lambda: self.world.do(step))
            if wrong:
                raise Mismatch(
                    f"{self._shown(step)} does what the model knows nothing of: "
                    f"{'; '.join(wrong)}\n{self._story()}",
                    [*self.history, step],
                )
        self.history.append(step)
        self.progress.steps += 1
        self.last = self._outcome(possible, enabled, row.silent is not None)
        if self.last is None:
            self.progress.silent += 1
        else:
            self.state = enabled[self.last]
            fired = self.progress.fired
            fired[self.last[0]] = fired.get(self.last[0], 0) + 1
        self._compare(
            f"after {self._shown(step)} as {self.last[0] if self.last else 'a silent step'}"
        )

    def begin(self, steps: Iterable[Step]) -> list[Key]:
        """Takes the first steps of a family; returns their transitions, for `not_alike`."""
        begun = []
        for step in steps:
            self.take(step)
            if self.last is not None:
                begun.append(self.last)
        return begun

    def _outcome(self, possible: list[Key], enabled: dict[Key, Any], silent: bool) -> Key | None:
        """Which of the possible transitions the step was, by the state that it left."""
        if len(possible) == 1 and not silent:
            return possible[0]
        facts = self.facts()
        if silent and not self.model.differences(self.state, facts):
            # The race was lost, or what was tried is refused, which is a transition of its own.
            return next((key for key in possible if enabled[key] == self.state), None)
        for key in possible:
            if not self.model.differences(enabled[key], facts):
                return key
        return possible[0] if possible else None

    def restore(self, state: Any, snapshot: Any) -> None:
        """Restores both sides to a state and its snapshot."""
        self._back_to(snapshot)
        self.state = state
        self.history.clear()

    def _back_to(self, snapshot: Any) -> None:
        self.world.restore(snapshot)
        self._here = snapshot

    def snapshot(self) -> Any:
        """Returns a snapshot of the world; takes a new one only after the world has moved."""
        if self._here is None:
            self._here = self.world.snapshot()
        return self._here

    def _compare(self, when: str) -> None:
        lines = self.model.differences(self.state, self.facts())
        if lines:
            shown = "\n".join(f"    {line}" for line in lines)
            raise Mismatch(f"{when}, the two differ:\n{shown}\n{self._story()}", self.history)

    def _shown(self, step: Step) -> str:
        return shown(step, self.about)

    def _story(self) -> str:
        steps = "\n".join(f"    {self._shown(step)}" for step in self.history)
        return f"the steps so far:\n{steps or '    (none)'}"

    # -- enabledness --------------------------------------------------------------------------

    def compare_enabledness(self) -> int:
        """Checks that each transition the model allows can be driven, and the reverse; how many."""
        enabled = self.model.enabled(self.state)
        for key in sorted(enabled):
            if self.driving_steps(key) is None and not self._is_beyond(key):
                raise Mismatch(
                    f"the model allows {key[0]}{key[1]} and the implementation cannot be driven "
                    f"to it\n{self._story()}",
                    self.history,
                    key,
                )
        self.choices_are_allowed(enabled)
        return len(enabled)

    def choices_are_allowed(self, enabled: dict[Key, Any]) -> None:
        """Checks that the model allows each step on offer, without taking it."""
        for step in self._offered():
            keys = self.candidates(step)
            allowed = any(
                key in enabled or self.model.possible_beyond_bounds(key, self.state) for key in keys
            )
            if allowed:
                continue
            if self.about.rows[step.name].silent is None:
                raise Mismatch(
                    f"the implementation offers {self._shown(step)}, which the model refuses: "
                    f"{self.model.why_not(keys[0], self.state)}\n{self._story()}",
                    [*self.history, step],
                )

    def silent_steps_are_silent(self, enabled: dict[Key, Any]) -> None:
        """Checks that offered steps that are no transition here change nothing the model sees."""
        if all(row.silent is None for row in self.about.rows.values()):
            return
        before = None
        for step in self._offered():
            if self.about.rows[step.name].silent is None or any(
                key in enabled or self.model.possible_beyond_bounds(key, self.state)
                for key in self.candidates(step)
            ):
                continue
            before = before or self.snapshot()
            self.world.do(step)
            lines = self.model.differences(self.state, self.facts())
            self._back_to(before)
            if lines:
                shown_lines = "\n".join(f"    {line}" for line in lines)
                raise Mismatch(
                    f"{self._shown(step)} is no step of the model here, and changes\n"
                    f"{shown_lines}\n{self._story()}",
                    [*self.history, step],
                )

    def driving_steps(self, key: Key) -> list[Step] | None:
        """Silent steps and then the step that is this transition; None if no such steps exist."""
        transition, values = key
        named = dict(zip(self.model.parameters[transition], values, strict=True))
        for row in self.about.steps_of[transition]:
            for target in self._targets(row, named):
                if row.leader_of and self._leader_of(target.args[0]) != named["leader"]:
                    continue
                steps = self._way_to(target, named.get("broker", 0), key)
                if steps is not None:
                    return steps
        return None

    def _step_of_same_name(self, key: Key) -> Step | None:
        """A step that is this transition by its name, and ends otherwise: taken, it shows where."""
        named = dict(zip(self.model.parameters[key[0]], key[1], strict=True))
        for row in self.about.steps_of[key[0]]:
            for target in self._targets(row, named):
                if self.world.why_not(target) is None and key in self.candidates(target):
                    return target
        return None

    def _is_beyond(self, key: Key) -> bool:
        """The step that it would be may be taken, and its row says that the model has none like it
        now: in that release, say."""
        named = dict(zip(self.model.parameters[key[0]], key[1], strict=True))
        return any(
            self.world.why_not(target) is None and row.is_unmodelled(self.world, target.args)
            for row in self.about.steps_of[key[0]]
            for target in self._targets(row, named)
        )

    def _targets(self, row: StepRow, named: Mapping[str, int]) -> list[Step]:
        """The steps of a row that a transition may be; those on offer, where they say more."""
        if all(row.arguments[name] in named for name in row.parameters):
            return [Step(row.step, implementation_arguments(row, named))]
        return [
            one
            for one in self.world.enabled()
            if one.name == row.step
            and all(named.get(row.arguments[name], value) == value
                    for name, value in zip(row.parameters, one.args, strict=True))
        ]  # fmt: skip

    def _fits(self, target: Step, key: Key) -> bool:
        """The target may be taken now, and is this transition and no other."""
        if self.world.why_not(target) is not None or key not in self.candidates(target):
            return False
        if self.about.rows[target.name].silent is None:
            return True
        before = self.snapshot()
        self.world.do(target)
        after = self.model.enabled(self.state).get(key, self.state)
        fits = not self.model.differences(after, self.facts())
        self._back_to(before)
        return fits

    def _way_to(self, target: Step, broker: int, key: Key) -> list[Step] | None:
        if self._fits(target, key):
            return [target]
        if not broker or not self.about.may_be_silent:
            return None
        before = self.snapshot()
        found = self._search(target, broker, key)
        self._back_to(before)
        return found

    def _search(self, target: Step, broker: int, key: Key) -> list[Step] | None:
        """Silent steps of one broker that lead to the target, the fewest first."""
        state = self.facts()
        frontier: list[tuple[Any, list[Step]]] = [(self.snapshot(), [])]
        for _ in range(MOST_SILENT):
            found: list[tuple[Any, list[Step]]] = []
            for snapshot, path in frontier:
                for name in self.about.may_be_silent:
                    self._back_to(snapshot)
                    step = Step(name, (broker,))
                    if self.world.why_not(step) is not None:
                        continue
                    self.world.do(step)
                    self._here = None
                    if self.facts() != state:
                        continue
                    longer = [*path, step]
                    if self._fits(target, key):
                        return [*longer, target]
                    found.append((self.snapshot(), longer))
            frontier = found
        return None

    def drive(self, key: Key) -> bool:
        """Drives the implementation to a transition, which the model takes too.

        Returns False, and takes no step, where the map names another step that the implementation
        has instead.
        """
        steps = self.driving_steps(key)
        if steps is None:
            if self._is_beyond(key):
                return False
            nearest = self._step_of_same_name(key)
            if nearest is None:
                raise Mismatch(
                    f"the model allows {key[0]}{key[1]} and the implementation cannot be driven "
                    f"to it\n{self._story()}",
                    self.history,
                    key,
                )
            steps = [nearest]
        for step in steps:
            self.take(step)
        if self.last != key:
            raise Mismatch(
                f"driven to {key[0]}{key[1]}, it was {self.last}\n{self._story()}",
                self.history,
                key,
            )
        return True


MOST_SILENT = 3
"""Silent steps before a transition: lose a reply, check the outcome, read the epoch again."""


def shown(step: Step, about: SystemMap = MAP) -> str:
    """A step of the implementation with the names of its arguments."""
    pairs = zip(about.rows[step.name].parameters, step.args, strict=True)
    return f"{step.name}({', '.join(f'{name}={value}' for name, value in pairs)})"
