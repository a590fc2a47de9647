"""The decision tree of all guards, shared by the lowerings that make code.

Instances whose guards begin with the same conditions share the tests. A node records the reasons
that refuse if its condition fails. A term that several places need is computed once, in the
innermost node that contains all of its uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from model.language.recording import nodes
from model.language.terms import FALSE, Term
from specs.lowering.instances import SuccessorCheck

Path = tuple[int, ...]


class Guarded(Protocol):
    """An instance, as grounded or simplified: conditions with their reasons, then writes."""

    @property
    def number(self) -> int: ...
    @property
    def requires(self) -> list[tuple[Term, int]]: ...
    @property
    def writes(self) -> dict[int, Term]: ...
    @property
    def checks(self) -> list[SuccessorCheck]: ...


One = TypeVar("One", bound=Guarded)


def is_cheap(term: Term) -> bool:
    """Is the term cheaper to compute again than to keep in a local?"""
    if term.op in ("const", "cell"):
        return True
    if term.op == "not":
        return is_cheap(term.args[0])
    if term.op == "add":
        return term.args[0].op == "cell"  # type: ignore[no-any-return]
    return term.op in ("eq", "lt", "le") and all(a.op in ("const", "cell") for a in term.args)


@dataclass
class DecisionBlock(Generic[One]):
    """A node of the tree: the tests and successors that follow if its condition holds."""

    path: Path = ()
    children: dict[Term, DecisionBlock[One]] = field(default_factory=dict)
    reasons: set[int] = field(default_factory=set)
    done: list[One] = field(default_factory=list)
    refused_here: set[int] = field(default_factory=set)
    kept: list[Term] = field(default_factory=list)

    def below(self) -> Iterator[DecisionBlock[One]]:
        """This node and all under it, parents first."""
        yield self
        for child in self.children.values():
            yield from child.below()


def decision_tree(instances: Sequence[One], mark_first: bool = False) -> DecisionBlock[One]:
    """The tree of all guards, in the order of the instances.

    A guard whose first condition is FALSE by its parameters marks no reason, unless `mark_first`.
    """
    root: DecisionBlock[One] = DecisionBlock()
    for instance in instances:
        block = root
        for position, (condition, reason) in enumerate(instance.requires):
            if condition is FALSE:
                if position or mark_first:
                    block.refused_here.add(reason)
                break
            child = block.children.get(condition)
            if child is None:
                child = DecisionBlock((*block.path, len(block.children)))
                block.children[condition] = child
            child.reasons.add(reason)
            block = child
        else:
            block.done.append(instance)
    return root


def _common(one: Path, other: Path) -> Path:
    if one == other:
        return one
    same = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        same += 1
    return one[:same]


def place_locals(
    root: DecisionBlock[One],
    extra: Mapping[Path, Sequence[Term]] | None = None,
    cheap: Callable[[Term], bool] = is_cheap,
) -> None:
    """Finds the terms worth a local, and the innermost block that contains all of their uses."""
    uses: dict[Term, tuple[Path, bool]] = {}  # the innermost block of all uses; are there several?
    by_path: dict[Path, DecisionBlock[One]] = {}

    def used(term: Term, path: Path, several: bool = False) -> None:
        known = uses.get(term)
        uses[term] = (path, several) if known is None else (_common(known[0], path), True)

    for block in root.below():
        by_path[block.path] = block
        for term in block.children:
            used(term, block.path)
        for instance in block.done:
            for check in instance.checks:
                used(check.fine, block.path)
            for term in instance.writes.values():
                used(term, block.path)
        for term in (extra or {}).get(block.path, ()):
            used(term, block.path)
    # A term is made after its parts, so descending order visits users before what they use.
    for term in sorted(nodes(*uses), key=lambda made: -made.order):
        home, several = uses[term]
        kept = several and not cheap(term)
        if kept:
            by_path[home].kept.append(term)
        for arg in {arg for arg in term.args if isinstance(arg, Term)}:
            used(arg, home, several and not kept)


def order_of(root: DecisionBlock[One]) -> list[int]:
    """Instance numbers in the order in which generated code tries them."""
    return [one.number for block in root.below() for one in block.done]
