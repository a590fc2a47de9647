"""Searches hidden steps: only those that can establish the failing requirements of a step.

A failing requirement reads some cells; the steps that write them are tried, and their own failing
requirements are established in turn. It finds most of them at once; a failure proves nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

from model.language.sorts import Numbers
from model.language.sparse import Index
from model.language.terms import Term, const
from specs.partial.compiled_steps import CompiledSteps, TransitionMove
from specs.partial.written import could_write

Step = tuple[TransitionMove, tuple[int, ...]]
Choice = tuple[int | None, ...]
"""Arguments, None where any will do."""


Place = tuple[int, Index]
"""(number of the field, index)."""

Targets = Mapping[Place, int]


CellRead = tuple[str, tuple[Term, ...]]
"""(field, index): a cell that a term looks at."""


Changes = Mapping[str, Mapping[str, tuple[int, ...]]]
"""Transition -> field -> the codes that it may change a cell of the field to."""


class SearchBudget:
    """A limit on the attempts for one way; optionally a part of a larger budget."""

    def __init__(self, units: int, of: SearchBudget | None = None) -> None:
        self.units, self.of = units, of

    def burn(self) -> bool:
        """Spends one unit; is the budget not exhausted?"""
        self.units -= 1
        return self.units >= 0 and (self.of is None or self.of.burn())


class OutOfBudget(Exception):
    """Raised if more was tried than the limit allows: the answer is then unknown."""


class PathSearch:
    """Paths to a step, each as changes of the ledger that last until the next path is requested."""

    def __init__(self, moves: CompiledSteps, budget: int, changes: Changes) -> None:
        self.moves, self.ledger = moves, moves.ledger
        self.budget, self._changes = budget, changes
        self.path: list[Step] = []
        self._writers: dict[str, list[TransitionMove]] = {}
        for move in moves.by_name.values():
            for write in move.writes:
                found = self._writers.setdefault(write.field, [])
                if move not in found:
                    found.append(move)
        self._reads = {
            (move.name, number): cells_read(requirement.condition)
            for move in moves.by_name.values()
            for number, requirement in enumerate(move.recorded.requires)
        }
        self._plain = {move.name: self._said_plainly(move) for move in moves.by_name.values()}
        self._wanted: set[tuple[str, tuple[int, ...], int | Place]] = set()

    def _said_plainly(self, move: TransitionMove) -> list[tuple[Place, int | str]]:
        """The single cells that a step sets to a literal, or to one of its arguments."""
        found: list[tuple[Place, int | str]] = []
        for write in move.writes:
            if not write.keys and not write.variables:
                place = self.moves.numbers[write.field], ()
                if write.value.op == "const":
                    found.append((place, int(write.value.args[0])))
                elif write.value.op == "var":
                    found.append((place, write.value.args[0].removeprefix("$")))
        return found

    def spend(self) -> None:
        """Counts one more state. Raises OutOfBudget if the budget is exhausted."""
        self.budget -= 1
        if self.budget < 0:
            raise OutOfBudget

    # -- arguments ------------------------------------------------------------------------------

    def candidate_arguments(self, move: TransitionMove, known: Choice) -> list[tuple[int, ...]]:
        """Every choice of the unknown arguments, among the values that this state suggests."""
        choices: list[list[int]] = []
        for sort, value in zip(move.sorts, known, strict=True):
            if value is not None:
                choices.append([value])
            elif isinstance(sort, Numbers):
                choices.append(self._numbers(sort))
            else:
                choices.append(list(sort.domain(self.moves.twin.bounds)))
        in_flight = self._entries(move, known)
        if in_flight is not None:
            return in_flight
        return list(itertools.product(*choices))

    def _entries(self, move: TransitionMove, known: Choice) -> list[tuple[int, ...]] | None:
        """The arguments for which `something[arguments].in_flight` holds, where it is required."""
        if all(value is not None for value in known) or not any(
            isinstance(sort, Numbers) for sort in move.sorts
        ):
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
            for index in sorted(self.ledger.cells[self.moves.numbers[term.args[0]]]):
                values = [0] * len(places)
                for place, part in zip(places, index, strict=True):
                    values[place or 0] = part
                if all(k is None or k == v for k, v in zip(known, values, strict=True)):
                    found.append(tuple(values))
            return found
        return None

    def _numbers(self, sort: Numbers) -> list[int]:
        """The numbers of a kind that the state mentions."""
        bound = getattr(sort.high, "bound", None)
        found: set[int] = set()
        for number, leaf in enumerate(self.moves.fields):
            mine = leaf.sort
            if not isinstance(mine, Numbers) or leaf.log is not None:
                continue
            if getattr(mine.high, "bound", None) == bound:
                found |= set(self.ledger.cells[number].values())
        bottom = sort.bottom
        return sorted((value for value in found if value >= bottom), reverse=True)[:6]

    # -- ways -----------------------------------------------------------------------------------

    def achieve(
        self, move: TransitionMove, arguments: tuple[int, ...], most: int, fuel: SearchBudget,
        targets: Targets | None = None,
    ) -> Iterator[None]:  # fmt: skip
        """Ways to take a step, after hidden ones, in at most so many steps together.

        Of the cells that the step writes, `targets` says what is wanted.
        """
        if most < 1 or not fuel.burn():
            return
        self.spend()
        if targets and self._writes_other_value(move, arguments, targets):
            return
        lacking = move.refusal(*arguments)
        off = (
            None if lacking >= 0 or not targets else self._first_mismatch(move, arguments, targets)
        )
        if lacking < 0 and off is None:
            mark = self.ledger.mark()
            self.moves.take(move, arguments)
            if self.ledger.mark() != mark:  # a step that changes nothing brings nothing about
                self.path.append((move, arguments))
                yield
                self.path.pop()
            self.ledger.undo(mark)
            return
        wanted = (move.name, arguments, lacking if off is None else off)
        if wanted in self._wanted or most < 2:
            return
        names = {f"${n}": value for n, value in zip(move.parameters, arguments, strict=True)}
        if off is None:
            cells = self._reads[move.name, lacking]
            wishes = _wanted(move.recorded.requires[lacking].condition)
            required = move.requires[lacking]

            def holds() -> bool:
                return required(*arguments)
        else:
            cells, wishes = self._made_of(move, off), {}
            if targets and targets[off] == 1:  # of a conjunction every part must hold
                wishes = self._all_of(move, off)
            cell = off
            assert targets is not None
            wish = targets

            def holds() -> bool:
                return self._value(move, arguments, cell) in (None, wish[cell])

        self._wanted.add(wanted)
        before = len(self.path)
        for _ in self._establish(cells, names, holds, wishes, most - 1, fuel):
            self._wanted.discard(wanted)
            left = most - (len(self.path) - before)
            yield from self.achieve(move, arguments, left, fuel, targets)
            self._wanted.add(wanted)
        self._wanted.discard(wanted)

    def _writes_other_value(
        self, move: TransitionMove, arguments: tuple[int, ...], targets: Targets
    ) -> bool:
        """Do the arguments alone say that the step writes another value than is wanted?"""
        for place, value in self._plain[move.name]:
            code = targets.get(place)
            if code is not None:
                said = arguments[move.parameters.index(value)] if isinstance(value, str) else value
                if said != code:
                    return True
        return False

    def _first_mismatch(
        self, move: TransitionMove, arguments: tuple[int, ...], targets: Targets
    ) -> Place | None:
        """The first cell that the step would write otherwise than wanted."""
        for number, index, code in move.changes(*arguments):
            if targets.get((number, index), code) != code:
                return number, index
        return None

    @staticmethod
    def _value(move: TransitionMove, arguments: tuple[int, ...], place: Place) -> int | None:
        """What a step would write to a cell; None if nothing."""
        for number, index, code in move.changes(*arguments):
            if (number, index) == place:
                return int(code)
        return None

    def _made_of(self, move: TransitionMove, place: Place) -> list[tuple[str, tuple[Term, ...]]]:
        """The cells of which a step makes the value of another."""
        field = self.moves.fields[place[0]].name
        found: list[tuple[str, tuple[Term, ...]]] = []
        for write in move.writes:
            if write.field == field:
                given = dict(zip(write.variables, place[1][len(write.keys) :], strict=True))
                for name, terms in cells_read(write.value):
                    there = tuple(
                        const(given[term], term.sort) if term in given else term for term in terms
                    )
                    found.append((name, there))
        return found

    def _all_of(self, move: TransitionMove, place: Place) -> dict[CellRead, int]:
        """What cells must be for the value that a step writes to be true, where that is plain."""
        found: dict[CellRead, int] = {}
        for write in move.writes:
            if write.field == self.moves.fields[place[0]].name:
                given = dict(zip(write.variables, place[1][len(write.keys) :], strict=True))
                for (name, terms), code in _wanted(write.value).items():
                    there = tuple(
                        const(given[term], term.sort) if term in given else term for term in terms
                    )
                    found[name, there] = code
        return found

    def _establish(
        self, cells: list[CellRead], names: dict[str, int], holds: Callable[[], bool],
        wanted: Mapping[CellRead, int], most: int, fuel: SearchBudget,
    ) -> Iterator[None]:  # fmt: skip
        """Ways to make a condition hold that looks at these cells."""
        second: list[tuple[Step, str, tuple[int | None, ...]]] = []
        before = len(self.path)
        for field, terms in cells:
            index = tuple(self._known(term, names) for term in terms)
            for helper, given in self.helpers(field, index, wanted.get((field, terms))):
                for _ in self.achieve(helper, given, most, fuel):
                    if holds():
                        yield
                    elif len(self.path) - before == 1:
                        second.append(((helper, given), field, index))
        # A step that writes the cell, and not yet what is wanted: first change what it writes.
        for (helper, given), field, index in second[:12]:
            for feeder, fed in self._feeders(helper, given, field, index):
                for _ in self.achieve(feeder, fed, min(most - 1, 2), fuel):
                    left = most - (len(self.path) - before)
                    for _ in self.achieve(helper, given, left, fuel):
                        if holds():
                            yield

    def _known(self, term: Term, names: dict[str, int]) -> int | None:
        if not term.free <= set(names):
            return None
        return self.moves.twin.value(term, self._view(), dict(names))

    def _view(self) -> dict[str, dict[tuple[int, ...], int]]:
        return dict(zip(self.ledger.names, self.ledger.cells, strict=True))

    def helpers_of(self, move: TransitionMove, arguments: tuple[int, ...]) -> list[Step]:
        """Steps that write what the first failing requirement of a step looks at."""
        lacking = move.refusal(*arguments)
        if lacking < 0:
            return []
        names = {f"${n}": value for n, value in zip(move.parameters, arguments, strict=True)}
        found: dict[Step, None] = {}
        wanted = _wanted(move.recorded.requires[lacking].condition)
        for cell in self._reads[move.name, lacking]:
            index = tuple(self._known(term, names) for term in cell[1])
            found.update(dict.fromkeys(self.helpers(cell[0], index, wanted.get(cell))))
        return list(found)

    def helpers(self, field: str, index: Choice, wanted: int | None = None) -> list[Step]:
        """Steps that write a cell, and may write what is wanted, the readiest first."""
        found = self._writing(field, index, wanted)
        return sorted(found, key=lambda step: self.lacks(*step))[:40]

    def ready(self, field: str, index: Choice, wanted: int) -> list[Step]:
        """Those of them that are possible now."""
        found = self._writing(field, index, wanted)
        return [(move, given) for move, given in found if move.refusal(*given) < 0]

    def _writing(self, field: str, index: Choice, wanted: int | None) -> list[Step]:
        found: dict[Step, None] = {}
        for helper in self._writers.get(field, []):
            known: dict[str, int] = {}
            changes = self._changes.get(helper.name, {})
            useful = False
            for write in helper.writes:
                if write.field != field:
                    continue
                useful = (
                    useful
                    or wanted is None
                    or (could_write(write, wanted) and wanted in changes.get(field, (wanted,)))
                )
                for key, value in zip(write.keys, index, strict=False):
                    if key.op == "var" and value is not None:
                        known[key.args[0]] = value
            if useful:
                choice = tuple(known.get(f"${name}") for name in helper.parameters)
                found.update(
                    ((helper, given), None) for given in self.candidate_arguments(helper, choice)
                )
        return list(found)

    def _feeders(
        self, helper: TransitionMove, given: tuple[int, ...], field: str, index: Choice
    ) -> list[Step]:
        """Steps that write what another step's value of a cell is made of."""
        names = {f"${n}": value for n, value in zip(helper.parameters, given, strict=True)}
        if any(part is None for part in index):
            return []
        place = self.moves.numbers[field], tuple(part or 0 for part in index)
        found: list[Step] = []
        for other, terms in self._made_of(helper, place):
            if other != field:
                there = tuple(self._known(term, names) for term in terms)
                found += [
                    step for step in self.helpers(other, there)
                    if step != (helper, given) and step not in found
                ]  # fmt: skip
        return sorted(found, key=lambda step: self.lacks(*step))[:20]

    @staticmethod
    def lacks(move: TransitionMove, arguments: tuple[int, ...]) -> int:
        """How many requirements of a step do not hold."""
        return sum(not holds(*arguments) for holds in move.requires)


def cells_read(term: Term) -> list[tuple[str, tuple[Term, ...]]]:
    """The cells that a term looks at, each once, in the order of the text."""
    found: dict[tuple[str, tuple[Term, ...]], None] = {}

    def walk(part: Term) -> None:
        if part.op == "get":
            found[part.args[0], part.args[1:]] = None
        for inner in part.args:
            if isinstance(inner, Term):
                walk(inner)

    walk(term)
    return list(found)


def _wanted(condition: Term) -> dict[CellRead, int]:
    """What single cells must be for a condition to hold, where that is plain."""
    found: dict[CellRead, int] = {}
    for part in condition.args if condition.op == "and" else (condition,):
        if part.op == "get":
            found[part.args[0], part.args[1:]] = 1
        elif part.op == "not" and part.args[0].op == "get":
            found[part.args[0].args[0], part.args[0].args[1:]] = 0
        elif part.op == "eq":
            for one, other in (part.args, part.args[::-1]):
                if one.op == "get" and other.op == "const":
                    found[one.args[0], one.args[1:]] = int(other.args[0])
    return found
