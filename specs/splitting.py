"""A goal split into parts that are together equivalent to it and easier to prove.

Trusted, and therefore small: each part of a conjunction becomes a goal, under the same
alternatives; a universal goal becomes a goal about a new variable of which nothing is known.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from model.language import terms as t
from model.language.terms import Term


@dataclass(frozen=True)
class Subgoal:
    """A term to show for all values of the variables in their sorts."""

    variables: tuple[Term, ...]
    term: Term


class GoalSplitter:
    """Splits goals; every variable that it introduces is new."""

    def __init__(self) -> None:
        self._fresh = itertools.count()

    def subgoals(self, goal: Term, variables: tuple[Term, ...] = ()) -> list[Subgoal]:
        """The parts of a goal that must hold for all values of the variables."""
        return list(self._split(goal, (), variables))

    def _split(
        self, goal: Term, alternatives: tuple[Term, ...], variables: tuple[Term, ...]
    ) -> Iterator[Subgoal]:
        if goal is t.TRUE:
            return
        if goal.op == "and":
            for part in goal.args:
                yield from self._split(part, alternatives, variables)
        elif goal.op == "every":
            variable, low, high, body = goal.args
            chosen = t.var(f"one {variable.sort.name} {next(self._fresh)}", variable.sort)
            outside = (
                *(() if low is None else (t.lt(chosen, low),)),
                *(() if high is None else (t.le(high, chosen),)),
            )
            inside = substituted(body, variable, chosen)
            yield from self._split(inside, (*alternatives, *outside), (*variables, chosen))
        elif goal.op == "or":
            last = next((p for p in reversed(goal.args) if p.op in ("and", "every")), None)
            if last is None:
                yield Subgoal(variables, t.or_(*alternatives, goal))
            else:
                others = tuple(part for part in goal.args if part is not last)
                yield from self._split(last, (*alternatives, *others), variables)
        else:
            yield Subgoal(variables, t.or_(*alternatives, goal))


def substituted(term: Term, variable: Term, value: Term) -> Term:
    """The term with a variable replaced. `value` is new, so nothing can capture it."""
    memo: dict[Term, Term] = {}

    def go(part: Term) -> Term:
        if variable.args[0] not in part.free:
            return part
        if part is variable:
            return value
        if part not in memo:
            args = tuple(go(arg) if isinstance(arg, Term) else arg for arg in part.args)
            if part.op in ("every", "some", "count", "least") and part.args[0] is variable:
                # Bound again: only the range, outside its scope, mentions the outer one.
                args = (variable, args[1], args[2], part.args[3], *args[4:])
            memo[part] = t.make(part.op, args, part.sort)
        return memo[part]

    return go(term)
