"""The result of grounding: the cells of a state, and transitions with chosen parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product

from model.language.recording import Recorded
from model.language.schema import Field, SetOf
from model.language.sorts import Sort
from model.language.terms import Term


@dataclass(frozen=True)
class Cell:
    """One leaf of the enumerated state: `view.isr[1][2]`, with the codes it may hold."""

    number: int
    field: Field
    index: tuple[int, ...]
    domain: range
    term: Term

    @property
    def name(self) -> str:
        """The leaf as a readable path: an element of a set is in the last brackets."""
        return self.field.name + "".join(
            f"[{sort.show(i)}]" for sort, i in zip(self.field.dims, self.index, strict=True)
        )


@dataclass(frozen=True)
class SuccessorCheck:
    """A condition on a successor; if it fails, the successor is beyond a bound, or impossible."""

    fine: Term
    bound: str | None
    what: str


@dataclass
class Instance:
    """A transition with its parameters chosen, over cells."""

    number: int
    step: Recorded
    arguments: tuple[int | frozenset[int], ...]
    requires: list[tuple[Term, int]]
    writes: dict[int, Term] = field(default_factory=dict)
    checks: list[SuccessorCheck] = field(default_factory=list)

    @property
    def label(self) -> str:
        """`leader_shrinks_isr(leader=1, laggard=2)`."""
        shown = self.step.shown(dict(zip(self.step.parameters, self.arguments, strict=True)))
        return f"{self.step.transition.name}({', '.join(shown)})"


def argument_choices(
    step: Recorded, domain: Callable[[Sort], Iterable[int]]
) -> Iterator[tuple[int | frozenset[int], ...]]:
    """Every choice of a step's parameters, where these are the values of a sort."""
    domains: list[list[int] | list[frozenset[int]]] = []
    for sort in step.parameters.values():
        if isinstance(sort, SetOf):
            members = list(domain(sort.element))
            sizes = range(len(members) + 1)
            domains.append(
                [frozenset(one) for size in sizes for one in combinations(members, size)]
            )
        else:
            domains.append(list(domain(sort)))
    yield from product(*domains)


_cells: dict[Term, frozenset[int]] = {}


def cells_of(term: Term) -> frozenset[int]:
    """The cells that a grounded term reads."""
    found = _cells.get(term)
    if found is None:
        if term.op == "cell":
            found = frozenset({term.args[0]})
        else:
            found = frozenset().union(*(
                cells_of(arg) for arg in term.args if isinstance(arg, Term)))  # fmt: skip
        _cells[term] = found
    return found
