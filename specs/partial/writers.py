"""Which steps write a cell, which cells a requirement reads, and what a written value depends on.

All of this is derived from the recorded terms once, and compiled, because it is used at every step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping

from model.language.recording import Write
from model.language.sorts import BOOL, Numbers, Sort
from model.language.sparse import Index
from model.language.terms import Term
from specs.lowering.python_terms import limited
from specs.partial.compiled_steps import CompiledSteps, TransitionMove
from specs.partial.written import could_write, same_cell

Step = tuple[TransitionMove, tuple[int, ...]]
Choice = tuple[int | None, ...]
"""Arguments, None where any will do."""

Place = tuple[int, Index]
"""(number of the field, index)."""

Changes = Mapping[str, Mapping[str, tuple[int, ...]]]
"""Transition -> field -> the codes that it may change a cell of the field to."""

PlacesOf = Callable[..., dict[Place, None]]
"""Arguments of a step -> places, in the order of the text."""

FEW, MANY = 3, 6
"""Numbers that are tried for one argument of a hidden step, and of a step that a line names: the
greatest that the state mentions."""

MOST_SCANNED = 32
"""Fields with more cells than this are not looked through for numbers."""


class WriterIndex:
    """The reads and writes of cells by the recorded steps of a system."""

    def __init__(self, moves: CompiledSteps, changes: Changes) -> None:
        self.moves, self.cells = moves, moves.ledger.cells
        self._changes = changes
        self._of_field: dict[int, list[tuple[TransitionMove, list[Write]]]] = {}
        falling: set[int] = set()
        for move in moves.by_name.values():
            known = changes.get(move.name, {})
            for write in move.writes:
                if known.get(write.field) == ():
                    continue  # it writes what is there already
                number = moves.numbers[write.field]
                found = self._of_field.setdefault(number, [])
                if not found or found[-1][0] is not move:
                    found.append((move, []))
                found[-1][1].append(write)
                if not _raises(write):
                    falling.add(number)
        self.rising = frozenset(self._of_field) - falling
        """The fields that no step lowers, and every step that writes them raises by one."""
        self._reads = {
            (move.name, number): self._places(move, [requirement.condition], {})
            for move in moves.by_name.values()
            for number, requirement in enumerate(move.recorded.requires)
        }
        self._made_of: dict[tuple[str, int], PlacesOf] = {}
        self._numbered: dict[str | None, list[int]] = {}
        for number, leaf in enumerate(moves.fields):
            if isinstance(leaf.sort, Numbers) and leaf.log is None:
                self._numbered.setdefault(_limit(leaf.sort), []).append(number)
        self._domains = {
            sort: list(sort.domain(moves.twin.bounds))
            for move in moves.by_name.values()
            for sort in move.sorts
            if not isinstance(sort, Numbers)
        }

    # -- places -----------------------------------------------------------------------------------

    def read_by(
        self, move: TransitionMove, requirement: int, arguments: tuple[int, ...]
    ) -> list[Place]:
        """The places that a requirement of a step reads."""
        return list(self._reads[move.name, requirement](*arguments))

    def made_of(
        self, move: TransitionMove, arguments: tuple[int, ...], place: Place
    ) -> list[Place]:
        """The places on which a step's write to a place depends, in its value or condition."""
        found: dict[Place, None] = {}
        for number, write in enumerate(move.writes):
            if self.moves.numbers[write.field] != place[0]:
                continue
            key = move.name, number
            if key not in self._made_of:
                inner = {one.args[0]: f"v{at}" for at, one in enumerate(write.variables)}
                self._made_of[key] = self._places(move, [write.value, *write.keys], inner)
            found.update(self._made_of[key](*arguments, *place[1][len(write.keys) :]))
        found.pop(place, None)
        return list(found)

    def _places(
        self, move: TransitionMove, terms: Iterable[Term], inner: Mapping[str, str]
    ) -> PlacesOf:
        """Compiles a function of the arguments, and of what `inner` names besides."""
        names = {f"${name}": f"p{number}" for number, name in enumerate(move.parameters)}
        names |= inner
        lines = ["out = {}"]
        for term in terms:
            for number, (field, indices) in enumerate(cells_read(term)):
                lines += self._lines(f"{term.order}_{number}", field, indices, names)
        given = ", ".join(names.values())
        found: PlacesOf = self.moves.compiled("places", given, [*lines, "return out"])
        return found

    def _lines(
        self, mark: str, field: str, indices: tuple[Term, ...], names: Mapping[str, str]
    ) -> list[str]:
        """Source that notes one cell; of a quantified variable every value, if they are few."""
        sorts = _sorts_of_variables(indices)
        here, pad, lines = dict(names), "", list[str]()
        for at, name in enumerate(sorted(set(sorts) - set(names))):
            values = limited(sorts[name], self.moves.twin)
            if values is None:
                return []
            here[name] = f"b{mark}_{at}"
            lines.append(f"{pad}for {here[name]} in {values!r}:")
            pad += "    "
        index = "".join(f"{self.moves.terms.expression(term, here, {})}, " for term in indices)
        return [*lines, f"{pad}out[{self.moves.numbers[field]}, ({index})] = None"]

    # -- steps ------------------------------------------------------------------------------------

    def of(self, place: Place, wanted: int | None = None) -> list[Step]:
        """Every step that may change a cell, to what is wanted, with arguments that the state
        suggests.
        """
        found: dict[Step, None] = {}
        number, index = place
        other = wanted
        if other is None and self.moves.fields[number].sort is BOOL:
            other = 1 - int(self.moves.ledger.read(number, index))
        for move, writes in self._of_field.get(number, ()):
            codes = self._changes.get(move.name, {}).get(self.moves.fields[number].name)
            if codes is not None and wanted is not None and wanted not in codes:
                continue
            for write in writes:
                if other is not None and not could_write(write, other):
                    continue
                known = _unified(write, index)
                if known is not None:
                    given = tuple(known.get(f"${name}") for name in move.parameters)
                    found.update(((move, chosen), None) for chosen in self.arguments(move, given))
        return list(found)

    def arguments(
        self, move: TransitionMove, known: Iterable[int | None], few: int = FEW
    ) -> list[tuple[int, ...]]:
        """The choices of values for the unknown arguments."""
        options = [
            self._choices(sort, few) if value is None else [value]
            for sort, value in zip(move.sorts, known, strict=True)
        ]
        return list(itertools.product(*options))

    def arguments_of_line(self, move: TransitionMove, known: Choice) -> list[tuple[int, ...]]:
        """The choices for a step that a line names, or that may be any: of a message in flight
        only those that are.
        """
        in_flight = self._in_flight(move, known)
        return self.arguments(move, known, MANY) if in_flight is None else in_flight

    def _in_flight(self, move: TransitionMove, known: Choice) -> list[tuple[int, ...]] | None:
        """The arguments for which `something[arguments].in_flight` holds, where it is required."""
        if None not in known or not any(isinstance(sort, Numbers) for sort in move.sorts):
            return None
        names = {f"${name}": place for place, name in enumerate(move.parameters)}
        for requirement in move.recorded.requires:
            term = requirement.condition
            if term.op != "get" or any(part.op != "var" for part in term.args[1:]):
                continue
            places = [names.get(part.args[0]) for part in term.args[1:]]
            if set(places) != set(range(len(move.parameters))):
                continue
            found = []
            for index in sorted(self.cells[self.moves.numbers[term.args[0]]]):
                values = [0] * len(places)
                for place, part in zip(places, index, strict=True):
                    values[place or 0] = part
                if all(k is None or k == v for k, v in zip(known, values, strict=True)):
                    found.append(tuple(values))
            return found
        return None

    def _choices(self, sort: Sort, few: int) -> list[int]:
        if not isinstance(sort, Numbers):
            return self._domains[sort]
        values: set[int] = set()
        for number in self._numbered.get(_limit(sort), ()):
            cells = self.cells[number]
            if len(cells) <= MOST_SCANNED or few == MANY:
                values.update(cells.values())
        return sorted((one for one in values if one >= sort.bottom), reverse=True)[:few]


def cells_read(term: Term) -> list[tuple[str, tuple[Term, ...]]]:
    """The cells that a term looks at, each once, in the order of the text: (field, index)."""
    found: dict[tuple[str, tuple[Term, ...]], None] = {}

    def walk(part: Term) -> None:
        if part.op == "get":
            found[part.args[0], part.args[1:]] = None
        for inner in part.args:
            if isinstance(inner, Term):
                walk(inner)

    walk(term)
    return list(found)


def _limit(sort: Numbers) -> str | None:
    bound: str | None = getattr(sort.high, "bound", None)
    return bound


def _raises(write: Write) -> bool:
    value = write.value
    return value.op == "add" and any(
        isinstance(part, Term) and same_cell(write, part) for part in value.args
    )


def _unified(write: Write, index: Index) -> dict[str, int] | None:
    """Arguments for which the write's keys are an index; None if none are."""
    known: dict[str, int] = {}
    for key, value in zip(write.keys, index, strict=False):
        if key.op == "var":
            if known.setdefault(key.args[0], value) != value:
                return None
        elif key.op == "const" and key.args[0] != value:
            return None
    return known


def _sorts_of_variables(terms: Iterable[Term]) -> dict[str, Sort]:
    found: dict[str, Sort] = {}

    def walk(term: Term) -> None:
        if term.op == "var":
            found[term.args[0]] = term.sort
        for part in term.args:
            if isinstance(part, Term):
                walk(part)

    for term in terms:
        walk(term)
    return found
