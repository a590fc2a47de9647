"""Counterexamples to liveness claims: a path from the initial state into a loop, and the loop.

Both engines find the states from which a fair run need never satisfy an `eventually`. This module
builds the loop itself, from generated Python, so that both engines report the same loop.
`model.language.properties.always_eventually` defines fairness.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from specs.lowering.grounding import Grounded
from specs.lowering.python_code import PythonCode, State
from specs.verdict import Verdict


@dataclass(frozen=True)
class LassoResult:
    """The answer about one `eventually`.

    A broken claim has the instance numbers of a run: those from `loop` on repeat forever. If none
    follow `loop`, the run stays in its last state, where no fair instance is possible.
    """

    verdict: Verdict
    why: str | None = None
    path: list[int] = field(default_factory=list)
    loop: int | None = None


def unknown_beyond_bounds(grounded: Grounded, instances: Iterable[int]) -> LassoResult:
    """Unknown: loops exist that are unfair only to instances that lead beyond a bound."""
    names = sorted({grounded.instances[n].step.transition.name for n in instances})
    return LassoResult(
        Verdict.UNKNOWN,
        f"a run can come to where {' or '.join(names)} must follow and leads beyond a bound",
    )


def vacuous() -> LassoResult:
    """The condition is never false: nothing has to happen for it."""
    return LassoResult(Verdict.UNKNOWN, "vacuous: it holds in every reachable state already")


def holds() -> LassoResult:
    """Every fair run within the bounds satisfies the condition again and again."""
    return LassoResult(Verdict.HOLDS)


def loop_from(
    code: PythonCode, start: State, fair: Sequence[int], inside: Callable[[State], bool]
) -> list[int]:
    """The instance numbers of a fair loop through `start` that stays inside.

    Each fair instance is taken on the loop or is impossible in some state of it. The loop goes to
    the nearest missing evidence each time, then back. Empty if all are impossible at `start`.
    """
    return _LassoWalk(code, inside).around(start, set(fair))


class _LassoWalk:
    def __init__(self, code: PythonCode, inside: Callable[[State], bool]) -> None:
        self._code, self._inside = code, inside
        grounded = code.grounded
        self._spare = [0] * len(grounded.instances), bytearray(len(grounded.reasons))

    def around(self, start: State, missing: set[int]) -> list[int]:
        """A loop from the start through all instances that fairness requires, and back."""
        missing -= self._disabled_instances(start, missing)
        state, taken = start, list[int]()
        while missing:
            reached = functools.partial(self._shows_one_of, frozenset(missing))
            steps, state = self._shortest_path_to(state, reached)
            taken += steps
            missing -= {steps[-1]} | self._disabled_instances(state, missing)
        if taken and state != start:
            steps, _ = self._shortest_path_to(state, lambda number, after: after == start)
            taken += steps
        return taken

    def _shows_one_of(self, wanted: frozenset[int], number: int, after: State) -> bool:
        return number in wanted or bool(self._disabled_instances(after, wanted))

    def _disabled_instances(self, state: State, numbers: Iterable[int]) -> set[int]:
        instances = self._code.grounded.instances
        return {n for n in numbers if self._code.first_refusal(instances[n], state) is not None}

    def _shortest_path_to(
        self, state: State, reached: Callable[[int, State], bool]
    ) -> tuple[list[int], State]:
        """The shortest way inside, of at least one step, whose last step is what is looked for."""
        came: dict[State, tuple[State, int] | None] = {state: None}
        queue = deque([state])
        while queue:
            here = queue.popleft()
            for number, after in self._code.successors(here, *self._spare, {}):
                if not self._inside(after):
                    continue
                if reached(number, after):
                    return [*_path_to(came, here), number], after
                if after not in came:
                    came[after] = (here, number)
                    queue.append(after)
        raise AssertionError("a fair component lacks what makes it fair: the engines disagree")


def _path_to(came: dict[State, tuple[State, int] | None], state: State) -> list[int]:
    steps: list[int] = []
    before = came[state]
    while before is not None:
        state, number = before
        steps.append(number)
        before = came[state]
    return steps[::-1]
