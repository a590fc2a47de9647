"""Compiles the steps of a recorded system to functions over a ledger, with real values.

Ghosts are left out: no step of the protocol depends on them. The other fields behave exactly as in
the twin (`model.language.evaluate`), thousands of times as fast on long logs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from model.language import RecordedSystem
from model.language.errors import ProtocolError
from model.language.evaluate import Evaluator, blank_code
from model.language.recording import Recorded, Write, fields_read
from model.language.sorts import Sort
from model.language.terms import Term
from specs.lowering.python_terms import SparseTerms, limited
from specs.partial.ledger import Change, Ledger
from specs.partial.written import blank_where_blank, only_point, repeated


@dataclass(eq=False)
class TransitionMove:
    """One transition: its requirements and its changes.

    `refusal(*arguments)` is the number of the first requirement that fails, -1 if it is possible;
    `changes(*arguments)` is what a possible step writes.
    """

    recorded: Recorded
    parameters: tuple[str, ...]
    sorts: tuple[Sort, ...]
    refusal: Callable[..., int]
    changes: Callable[..., list[Change]]
    requires: tuple[Callable[..., bool], ...]
    writes: tuple[Write, ...]

    @property
    def name(self) -> str:
        """The transition's name."""
        return self.recorded.transition.name


class CompiledSteps:
    """All steps of a system over one ledger."""

    def __init__(
        self, recorded: RecordedSystem, bounds: Mapping[str, int], left_out: frozenset[str],
        is_started: bool = True,
    ) -> None:  # fmt: skip
        """`is_started`: the ledger holds the initial state; else it is blank."""
        self.recorded = recorded
        self.twin = Evaluator(recorded, bounds)
        read = _fields_read(recorded)
        self.fields = [
            leaf
            for name, leaf in recorded.fields.items()
            if not leaf.ghost and leaf.budget is None and (name not in left_out or name in read)
        ]
        self.numbers = {leaf.name: number for number, leaf in enumerate(self.fields)}
        logs: dict[int, list[int]] = {}
        for leaf in self.fields:
            if leaf.log is not None:
                logs.setdefault(self.numbers[f"{leaf.log}.end"], []).append(self.numbers[leaf.name])
        self.ledger = Ledger([(leaf.name, blank_code(leaf.sort)) for leaf in self.fields], logs)
        if is_started:
            self.ledger.load(self.twin.initial())
        self.terms = SparseTerms(self.twin, lambda field: f"F{self.numbers[field]}")
        self._space: dict[str, Any] = {
            f"F{number}": cells for number, cells in enumerate(self.ledger.cells)
        }
        self.by_name = {step.transition.name: self._compiled(step) for step in recorded.steps}

    # -- compiling ------------------------------------------------------------------------------

    def _compiled(self, step: Recorded) -> TransitionMove:
        writes = tuple(write for write in step.writes if write.field in self.numbers)
        names = {f"${name}": f"p{number}" for number, name in enumerate(step.parameters)}
        given = ", ".join(names.values())
        sorts = []
        for name, sort in step.parameters.items():
            if not isinstance(sort, Sort):
                raise ProtocolError(f"partial traces know no parameter that is a set: {name}")
            sorts.append(sort)
        space = dict(self._space)
        singles, lines = [], []
        for number, requirement in enumerate(step.requires):
            holds = self.terms.expression(requirement.condition, names, {})
            singles.append(self._function(f"require{number}", given, [f"return {holds}"], space))
            lines.append(f"if not ({holds}): return {number}")
        refusal = self._function("refusal", given, [*lines, "return -1"], space)
        changes = self._function("changes", given, self._changes(writes, names, space), space)
        return TransitionMove(
            step, tuple(step.parameters), tuple(sorts), refusal, changes, tuple(singles), writes
        )

    @staticmethod
    def _function(name: str, given: str, lines: list[str], space: dict[str, Any]) -> Any:
        source = f"def {name}({given}):\n" + "".join(f"    {line}\n" for line in lines)
        exec(compile(source, f"<{name}>", "exec"), space)
        return space[name]

    def _changes(
        self, writes: tuple[Write, ...], names: Mapping[str, str], space: dict[str, Any]
    ) -> list[str]:
        kept: dict[Term, str] = {}
        lines = ["out = []"]
        for term in repeated([write.value for write in writes]):
            source = self.terms.expression(term, names, kept)
            kept[term] = f"k{term.order}"
            lines.append(f"{kept[term]} = {source}")
        for number, write in enumerate(writes):
            lines += self._write(number, write, dict(names), kept, space)
        return [*lines, "return out"]

    def _write(
        self, number: int, write: Write, names: dict[str, str], kept: dict[Term, str],
        space: dict[str, Any],
    ) -> list[str]:  # fmt: skip
        field = self.numbers[write.field]
        endless = [one for one in write.variables if limited(one.sort, self.twin) is None]
        if endless:
            if blank_where_blank(write, self.ledger.blanks[field]):
                return self._over_entries(field, write, names, kept)
            if not all(only_point(write, one) for one in endless):
                return self._by_the_twin(number, field, write, names, space)
        pad, lines = "", []
        for one in write.variables:
            names[one.args[0]] = inner = f"w{number}_{one.order}"
            values = limited(one.sort, self.twin)
            if values is not None:
                lines.append(f"{pad}for {inner} in {values!r}:")
                pad += "    "
        for one in endless:
            point = only_point(write, one)
            assert point is not None
            source = self.terms.expression(point, names, kept)
            lines.append(f"{pad}{names[one.args[0]]} = {source}")
        at = "".join(
            f"{self.terms.expression(term, names, kept)}, "
            for term in (*write.keys, *write.variables)
        )
        value = self.terms.expression(write.value, names, kept)
        return [*lines, f"{pad}out.append(({field}, ({at}), {value}))"]

    def _over_entries(
        self, field: int, write: Write, names: dict[str, str], kept: dict[Term, str]
    ) -> list[str]:
        """Only cells that are not blank can change: the few in flight, of endlessly many."""
        keys = [self.terms.expression(key, names, kept) for key in write.keys]
        for place, one in enumerate(write.variables, len(keys)):
            names[one.args[0]] = f"at[{place}]"
        inside = " and ".join(f"at[{place}] == {key}" for place, key in enumerate(keys))
        value = self.terms.expression(write.value, names, kept)
        return [
            f"for at in F{field}:",
            *([f"    if not ({inside}): continue"] if inside else []),
            f"    out.append(({field}, at, {value}))",
        ]

    def _by_the_twin(
        self, number: int, field: int, write: Write, names: dict[str, str], space: dict[str, Any]
    ) -> list[str]:
        """A definition that no rule here covers is evaluated term by term: slower, as exact."""
        twin, ledger = self.twin, self.ledger

        def evaluated(environment: dict[str, Any]) -> list[Change]:
            state = ledger.state()
            leaf = twin.recorded.fields[write.field]
            found = dict(twin._values(write, leaf, state, environment))
            return [(field, index, value) for index, value in found.items()]

        space[f"twin{number}"] = evaluated
        given = ", ".join(f"{name!r}: {local}" for name, local in names.items())
        return [f"out += twin{number}({{{given}}})"]

    def compiled(self, name: str, given: str, lines: list[str]) -> Callable[..., Any]:
        """A function over the ledger's cells, whose source names field number n `Fn`."""
        found: Callable[..., Any] = self._function(name, given, lines, dict(self._space))
        return found

    # -- taking steps ---------------------------------------------------------------------------

    def take(self, move: TransitionMove, arguments: tuple[int, ...]) -> None:
        """Takes a step that is possible."""
        self.ledger.apply(move.changes(*arguments))


def _fields_read(recorded: RecordedSystem) -> set[str]:
    """The fields that a requirement looks at, or that some other field's value is made of."""
    conditions = (one.condition for step in recorded.steps for one in step.requires)
    values = (
        write.value
        for step in recorded.steps
        for write in step.writes
        if not recorded.fields[write.field].ghost
    )
    return {name for term in (*conditions, *values) for name in fields_read(term)}
