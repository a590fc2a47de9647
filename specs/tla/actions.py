"""Writes a transition as an action: requirements with their reasons, writes, and UNCHANGED."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from model.language import Bound, SetOf, Sort
from model.language import terms as t
from model.language.recording import Recorded, Write
from model.language.schema import Field
from specs.tla.author_names import AuthorNames
from specs.tla.brackets import call
from specs.tla.expressions import Expressions
from specs.tla.layout import (
    COMPARE,
    IMPLIES,
    OPEN,
    SETS,
    Infix,
    LayoutNode,
    Parenthesised,
    Prefix,
    Word,
    bound,
    hanging,
    indented,
)
from specs.tla.limits import Limit, LimitDefinitions
from specs.tla.naming import local_names, with_places
from specs.tla.page import WIDTH, comment, conjuncts
from specs.tla.places import NameScope
from specs.tla.updates import Updates


class Actions:
    """Writes the transitions of a system."""

    def __init__(
        self,
        expressions: Expressions,
        heard: AuthorNames,
        fields: Mapping[str, Field],
        bounds: Mapping[str, Bound],
    ) -> None:
        self._of, self._heard, self._fields = expressions, heard, fields
        self._limits = LimitDefinitions(fields, bounds)
        self.rests: dict[tuple[str, ...], str] = {}
        """Variables that an action leaves as they are -> the name of their tuple."""

    # -- parameters ----------------------------------------------------------------------------

    def parameters(self, step: Recorded) -> dict[str, str]:
        """The names of the parameters in the module, by their names in the source."""
        called: dict[str, str] = {}
        for name in step.parameters:
            called[name] = self._of.names.local(name, called.values())
        return called

    def enabled(self, step: Recorded) -> LayoutNode:
        r"""`\E leader \in Brokers : leader_writes(leader)`."""
        called = self.parameters(step)
        action: LayoutNode = call(step.transition.name, *map(Word, called.values()))
        for name, sort in reversed(step.parameters.items()):
            action = bound(r"\E", called[name], self.choices(sort), action)
        return action

    def choices(self, sort: Sort | SetOf) -> LayoutNode:
        """The set of values of a parameter."""
        if isinstance(sort, SetOf):
            return Prefix("SUBSET ", self._of.names.domain(sort.element), SETS)
        return self._of.names.domain(sort)

    # -- one action ----------------------------------------------------------------------------

    def action(self, step: Recorded, kept: set[str]) -> list[str]:
        """The lines of an action, with its docstring above."""
        called = self.parameters(step)
        scope = NameScope({f"${name}": shown for name, shown in called.items()})
        writes = [write for write in step.writes if write.field in kept]
        roots = [requirement.condition for requirement in step.requires]
        roots += [term for write in writes for term in (*write.keys, write.value)]
        name = step.transition.name

        def render(outer: NameScope) -> tuple[list[str], list[str]]:
            inner, local = local_names(self._of, self._heard, name, roots, outer)
            return local, self._body(step, writes, inner)

        head = call(name, *map(Word, called.values())).flat()
        return [
            *comment(step.transition.function.__doc__ or ""),
            f"{head} ==",
            *with_places(self._of, self._heard, name, scope, render),
        ]

    def _body(self, step: Recorded, writes: Sequence[Write], scope: NameScope) -> list[str]:
        """What is required, what stays within the bounds, what changes, and what does not."""
        conditions = [(self._of.of(r.condition, scope), r.reason) for r in step.requires]
        for limit in self._limits.of(writes):
            bounded = getattr(limit.most, "bound", "")
            remark = f"within the bound {bounded}" if bounded else "within the bounds"
            conditions.append((self._limit(limit, scope), remark))
        return [*conjuncts(conditions, "    "), *self._effect(step, writes, scope, "    ")]

    def _limit(self, limit: Limit, scope: NameScope) -> LayoutNode:
        inner, heads = scope, []
        for variable in limit.variables:
            inner, name = self._of.bind(variable, None, inner)
            heads.append((name, self._of.names.domain(variable.sort)))
        most = self._of.names.end(limit.most)
        within: LayoutNode = call(
            self._of.names.helper("Within"), self._of.of(limit.value, inner), most
        )
        if limit.conditions:
            premise = self._of.of(t.and_(*limit.conditions), inner)
            within = Infix("=>", premise, within, IMPLIES)
        for name, domain in reversed(heads):
            within = bound(r"\A", name, domain, within)
        return within

    def _effect(
        self, step: Recorded, writes: Sequence[Write], scope: NameScope, indent: str
    ) -> list[str]:
        updates = Updates(self._of, self._heard, step.transition.name)
        scope = replace(scope, guards=False)
        lines: list[str] = []
        rest: list[str] = []
        for variable in self._of.shapes.variables:
            mine = [write for write in writes if write.field.split(".")[0] == variable]
            if mine:
                value = updates.variable(variable, mine, scope)
                if OPEN < value.level <= COMPARE:
                    value = Parenthesised(value)
                room = WIDTH - len(indent) - 3 - len(variable) - 4
                shown = hanging(f"{indent}/\\ {variable}' = ", value.lines(room))
                if len(shown) > 1 and len(variable) > 16:
                    deeper = indented(value.lines(WIDTH - len(indent) - 7), len(indent) + 7)
                    shown = [f"{indent}/\\ {variable}' =", *deeper]
                lines += shown
            else:
                rest.append(variable)
        if rest:
            lines.append(f"{indent}/\\ UNCHANGED {self._unchanged_tuple(tuple(rest))}")
        return lines

    def _unchanged_tuple(self, rest: tuple[str, ...]) -> str:
        every = tuple(self._of.shapes.variables)
        if rest == every:
            return "vars"
        if len(rest) == 1:
            return rest[0]
        listed = f"<<{', '.join(rest)}>>"
        if len(listed) <= 40:
            return listed
        if rest not in self.rests:
            changed = [name for name in every if name not in rest]
            name = f"all_but_{'_'.join(changed)}"
            self.rests[rest] = self._of.names.fresh(
                name if len(name) <= 64 else name[:60].rstrip("_") + "_etc"
            )
        return self.rests[rest]
