"""A whole exported module, evaluated as TLA+: it begins, steps and judges as the explorer does.

On states of each system: Init is the initial state; Next has the explorer's steps, with the same
arguments, and after each every variable is what it is there; TypeOK holds, and every claim says
what it says there. The states are of random walks that prefer rare steps, and of walks turned a
little aside, so that every requirement refuses somewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from model.language import BOOL, Enumeration, LogOf, Record, Relation, SetOf, Sort, System
from model.language import Names as NamedValues
from model.language.evaluate import SparseState, blank_code
from model.language.schema import Field, Ghost, MapOf, Schema
from model.systems import SYSTEMS
from specs.tla import Export, exported
from tests.language.sampling import Small
from tests.language.tla_values import MODEL_VALUE, NoValue, TlaModule
from tests.specs.exported_tla import newest_variants

pytestmark = pytest.mark.filterwarnings(
    "ignore:int argument support is deprecated:DeprecationWarning"
)


def shown(sort: Sort, code: Any) -> Any:
    """A value of a sort as the module writes it."""
    if sort is BOOL:
        return bool(code)
    if isinstance(sort, NamedValues):
        return sort.values[code]
    if isinstance(sort, Enumeration):
        return code or MODEL_VALUE
    return code


class States:
    """States of a small instance as values of TLA+, by the schema alone."""

    def __init__(self, small: Small) -> None:
        self._small = small
        self._fields: Mapping[str, Field] = small.recorded.fields
        self._kept = {cell.field.name for cell in small.grounded.cells}

    def of(self, sparse: SparseState) -> dict[str, Any]:
        found = self._value(self._small.recorded.system.state, "", (), sparse)
        assert isinstance(found, dict)
        return found

    def _value(self, schema: Schema, name: str, at: tuple[int, ...], sparse: SparseState) -> Any:
        """A part of a state; None where nothing of it is kept."""
        while isinstance(schema, Ghost):
            schema = schema.of
        if isinstance(schema, Record):
            parts = {
                part: self._value(of, f"{name}.{part}" if name else part, at, sparse)
                for part, of in schema.parts.items()
            }
            return {part: value for part, value in parts.items() if value is not None} or None
        if isinstance(schema, MapOf):
            whole = {shown(schema.index, code): self._value(schema.of, name, (*at, code), sparse)
                     for code in self._domain(schema.index)}  # fmt: skip
            return None if None in whole.values() else whole
        if isinstance(schema, LogOf):
            end = sparse.get(f"{name}.end", {}).get(at, 0)
            records = [self._value(schema.record, f"{name}.at", (*at, offset), sparse)
                       for offset in range(end)]  # fmt: skip
            return dict(enumerate(records, 1)) if f"{name}.end" in self._kept else None
        if name not in self._kept:
            return None
        there = sparse.get(name, {})
        if isinstance(schema, SetOf | Relation):
            sorts = self._fields[name].dims[len(at) :]
            members = (key[len(at) :] for key in there if key[: len(at)] == at)
            seen = {tuple(map(shown, sorts, one)) for one in members}
            return frozenset(seen if len(sorts) > 1 else {one for (one,) in seen})
        leaf = self._fields[name].sort
        return shown(leaf, there.get(at, blank_code(leaf)))

    def _domain(self, sort: Sort) -> range:
        return sort.domain(self._small.bounds)


def module_of(made: Export) -> TlaModule:
    """The module with the constants that its configuration gives."""
    constants: dict[str, Any] = {}
    for name, value in made.constants.items():
        if value.startswith("{"):
            constants[name] = frozenset(int(one) for one in value.strip("{}").split(", "))
        else:
            constants[name] = MODEL_VALUE if name == MODEL_VALUE else int(value)
    return TlaModule(made.module, constants)


class Sides:
    """One small instance, as the explorer has it and as its module says it."""

    def __init__(self, system: System, version: str | None, bounds: Mapping[str, int]) -> None:
        self.small = Small(system, version, bounds)
        made = exported(self.small.recorded, self.small.bounds)
        self.module, self.states = module_of(made), States(self.small)

    def state(self, packed: Any) -> dict[str, Any]:
        return self.states.of(self.small.kept(self.small.sparse(packed)))

    def steps_explored(self, packed: Any) -> dict[Any, dict[str, Any]]:
        """The states after the steps of the explorer, by action and arguments."""
        instances = self.small.grounded.instances
        return {
            self._named(instances[number]): self.state(after)
            for number, after in self.small.successors(packed).items()
        }

    def _named(self, instance: Any) -> tuple[str, tuple[Any, ...]]:
        step = instance.step
        shown_to_it = tuple(
            value if isinstance(value, frozenset) else shown(sort, value)
            for value, sort in zip(instance.arguments, step.parameters.values(), strict=True)
        )
        return step.transition.name, shown_to_it

    def steps_said(self, packed: Any) -> dict[Any, dict[str, Any]]:
        """The same by the module."""
        return {
            (action, tuple(arguments.values())): after
            for action, arguments, after in self.module.steps(self.state(packed))
        }

    def agree(self, packed: Any) -> bool:
        """Both have the same steps from a state; False where TLC would stop at what has no
        value."""
        try:
            said = self.steps_said(packed)
        except NoValue:
            return False
        explored = self.steps_explored(packed)
        assert said.keys() == explored.keys()
        for action, after in explored.items():
            differs = {name: (said[action][name], value) for name, value in after.items()
                       if said[action][name] != value}  # fmt: skip
            assert not differs, action
        return True

    def judge(self, packed: Any, after: Any) -> None:
        """TypeOK holds, and each claim is what it is for the explorer, of a state or of a step."""
        small, state = self.small, self.state(packed)
        assert self.module.says("TypeOK", state) is True
        for name, (claim, _) in small.recorded.claims.items():
            if claim.kind == "always_step":
                later = self.state(after)
                holds = small.twin.holds_of_step(name, small.sparse(packed), small.sparse(after))
                assert self.module.says(name, state, later) == holds, name
                continue
            holds = small.twin.holds(name, small.sparse(packed))
            assert self.module.says(name, state) == holds, name
            if claim.kind == "sometimes":
                assert self.module.says(f"never_{name}", state) == (not holds), name


WALKS = {
    "classic": (100, 8), "election": (60, 5), "replication_history": (60, 4),
    "replication": (40, 2), "topics": (20, 1), "cluster": (6, 1), "reassignment": (6, 1),
}  # fmt: skip
"""Random walks of each system, and states for each step and each reason to refuse: of the larger
ones a walk has more to look at."""


def with_every_fault(system: System) -> dict[str, int]:
    """Bounds as by default, and of every fault one."""
    return {name: max(size, 1) for name, size in system.limits({}).items()}


def agree_everywhere(sides: Sides, walks: int, each: int, twists: int) -> None:
    """On states that are reached TLC never stops; on others it may, for it has no blank values."""
    small = sides.small
    assert sides.module.initial() == sides.state(small.code.initial)
    assert all(sides.agree(packed) for packed in small.reachable(40))
    sample = small.covering(1, walks, each, twists)
    agreed = [packed for packed in sample if sides.agree(packed)]
    for packed in agreed:
        sides.judge(packed, next(iter(small.successors(packed).values()), packed))
    assert len(agreed) > 0.9 * len(sample)


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_a_module_begins_steps_and_judges_as_the_explorer_does(system: System):
    sides = Sides(system, None, with_every_fault(system))

    agree_everywhere(sides, *WALKS[system.name], twists=60)


@pytest.mark.deep
@newest_variants
def test_a_module_of_each_version_has_every_step_of_the_explorer(system: System, version: str):
    sides = Sides(system, version, with_every_fault(system))

    agree_everywhere(sides, walks=150, each=2, twists=2000)
