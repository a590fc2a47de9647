"""Bounds of the instance: a step that would write beyond a bound is disabled.

The engines prune a successor if a written value, or the index at which it is written, is above its
sort's upper end. In TLA+ this is an enabling condition, so that TLC never makes such a state. A
condition is left out only if no value can be above the end, whatever the bounds are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from model.language import Bound, Numbers, Sort
from model.language import terms as t
from model.language.recording import Write
from model.language.schema import Field
from model.language.sorts import Bounded
from model.language.terms import Term


@dataclass(frozen=True)
class Limit:
    """A condition: `value` is at most `most` for all `variables` that satisfy the conditions."""

    value: Term
    most: int | Bounded
    conditions: tuple[Term, ...] = ()
    variables: tuple[Term, ...] = ()


class LimitDefinitions:
    """The limits of one system's steps."""

    def __init__(self, fields: Mapping[str, Field], bounds: Mapping[str, Bound]) -> None:
        self._fields, self._bounds = fields, bounds

    def of(self, writes: Sequence[Write]) -> list[Limit]:
        """The conditions that keep a step with these writes within the bounds, each once."""
        found: dict[Limit, None] = {}
        for write in writes:
            leaf = self._fields[write.field]
            for sort, key in zip(leaf.dims, write.keys, strict=False):
                found.update(dict.fromkeys(self._limits(sort, key, (), None)))
            offset_and_end = self._log_end(leaf, write)
            found.update(
                dict.fromkeys(self._limits(leaf.sort, write.value, write.variables, offset_and_end))
            )
        # What holds anyhow need not be said again for a case of it.
        anyhow = {(one.value, one.most) for one in found if not (one.conditions or one.variables)}
        return [one for one in found if not self._follows(one, anyhow)]

    def _follows(self, limit: Limit, anyhow: set[tuple[Term, int | Bounded]]) -> bool:
        if not (limit.conditions or limit.variables):
            return False
        return all(
            (arm, limit.most) in anyhow or not self._may_exceed(arm, limit.most)
            for _, arm in _cases_of(limit.value)
        )

    def _log_end(self, leaf: Field, write: Write) -> Term | None:
        """The condition under which a cell of a log is the one that an append adds."""
        if leaf.log is None:
            return None
        end = self._fields[f"{leaf.log}.end"]
        return t.eq(write.variables[-1], t.get(end.name, write.keys, end.sort))

    def _limits(
        self, sort: Sort, value: Term, variables: tuple[Term, ...], at_end: Term | None
    ) -> Iterator[Limit]:
        if not isinstance(sort, Numbers) or sort.beyond != "prune" or sort.high is None:
            return
        varying = {variable.args[0] for variable in variables}
        for conditions, arm in _cases_of(value):
            if not self._may_exceed(arm, sort.high):
                continue
            # An append to a full log is beyond the bound of its end already.
            conditions = tuple(one for one in conditions if one is not at_end)
            free = arm.free.union(*(one.free for one in conditions))
            if not free & varying:
                yield Limit(arm, sort.high, conditions)
            else:
                yield Limit(value, sort.high, (), variables)
                return

    def _may_exceed(self, term: Term, most: int | Bounded) -> bool:
        if term.op == "const":
            return not self._at_most(int(term.args[0]), most)
        base, plus = (term.args[0], term.args[1].args[0]) if term.op == "add" else (term, 0)
        if base.op == "ite":
            condition, then, other = base.args
            exceeding = [self._may_exceed(t.add(arm, t.const(plus)), most) for arm in (then, other)]
            smaller = condition is t.le(then, other)
            return all(exceeding) if smaller else any(exceeding)
        if base.op == "least":
            highest = t.var("", base.args[0].sort)
            either = (t.add(highest, t.const(plus)), t.add(base.args[4], t.const(plus)))
            return any(self._may_exceed(one, most) for one in either)
        sort = base.sort
        high = sort.high if base.op in ("get", "var") and isinstance(sort, Numbers) else None
        if isinstance(high, int):
            return not self._at_most(high + plus, most)
        if isinstance(high, Bounded) and isinstance(most, Bounded):
            return high.bound != most.bound or high.plus + plus > most.plus
        return True

    def _at_most(self, value: int, most: int | Bounded) -> bool:
        if isinstance(most, int):
            return value <= most
        return value <= self._bounds[most.bound].least + most.plus


def _cases_of(term: Term, given: tuple[Term, ...] = ()) -> Iterator[tuple[tuple[Term, ...], Term]]:
    """The values that a choice may have, each with its conditions; a minimum is one value."""
    if term.op != "ite" or term.args[0] is t.le(term.args[1], term.args[2]):
        yield given, term
        return
    condition, then, other = term.args
    yield from _cases_of(then, (*given, condition))
    yield from _cases_of(other, (*given, t.not_(condition)))
