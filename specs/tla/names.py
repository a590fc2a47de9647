"""Chooses names in a module: constants for bounds, sets for sorts; each name is used once.

TLA+ has one namespace: a parameter may not have the name of a variable of the module. Such a
parameter becomes `the_replica`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from model.language import Names as NamedValues
from model.language import Numbers, ProtocolError, Sort, System
from model.language.sorts import BOOL, Bounded, Enumeration
from specs.tla.brackets import Enclosed, call
from specs.tla.layout import PLUS, SETS, Infix, LayoutNode, Word

_STANDARD = """
    Append At Below Between BOOLEAN Cardinality Cut DOMAIN FALSE Head Init Int IsFiniteSet Larger
    Least Len Logs Nat Next None Permutations Real SelectSeq Seq Smaller Spec STRING SubSeq
    Symmetry Tail TRUE TypeOK Within vars
""".split()  # noqa: SIM905
_RESERVED = """
    ACTION ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS
    DOMAIN ELSE ENABLED EXCEPT EXTENDS HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW
    OBVIOUS OMITTED ONLY OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE SF_ STATE STRONG SUBSET
    SUFFICES TAKE TEMPORAL THEN THEOREM UNCHANGED UNION USE VARIABLE VARIABLES WF_ WITH WITNESS
""".split()  # noqa: SIM905


def refuse_what_is_no_name(names: Iterable[str]) -> None:
    """Refuses a field, step, parameter or claim whose name TLA+ could not read."""
    for name in names:
        plain = re.fullmatch(r"(?![WS]F_)\w*[A-Za-z]\w*", name, re.ASCII)
        if plain is None or name in _RESERVED:
            raise ProtocolError(
                f"{name} is no name in TLA+: give the field, step, parameter or claim of that name "
                "another one to export the system"
            )


def camel(text: str) -> str:
    """`leader epoch` and `leader_epoch` as `LeaderEpoch`."""
    words = re.split(r"[^A-Za-z0-9]+", text)
    return "".join(word[:1].upper() + word[1:] for word in words)


def snake(text: str) -> str:
    """`leader epoch` as `leader_epoch`."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text)


def plural(noun: str) -> str:
    """`epoch` as `epochs`, `fetch` as `fetches`."""
    if re.search(r"[^s]s$", noun):
        return noun  # it is one already, as the name of a bound is
    if re.search(r"(ss|x|z|[^o]ch|sh)$", noun):
        return noun + "es"
    if re.search(r"[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + "s"


def literal(code: int) -> LayoutNode:
    """A number."""
    return Word(str(code))


class ModuleNames:
    """The names of the module's own definitions; asking for a sort or a bound declares it."""

    def __init__(self, system: System, taken: Iterable[str], enumerations: Iterable[str]) -> None:
        self.enumerations = set(enumerations)
        self._taken = {*_STANDARD, *_RESERVED, *taken}
        self.sets: dict[Sort, tuple[str, LayoutNode]] = {}
        self.nones: dict[Numbers, tuple[str, LayoutNode]] = {}
        self.helpers: set[str] = set()
        self.constants: dict[str, str] = {}
        """Bound -> its constant; only those that the text uses."""
        self.none_used = False
        self.member_named = False
        """The text names single values of an enumeration, so its values are not symmetric."""
        self._reserved = {
            bound: self.fresh(*self._wanted(bound, camel(bound))) for bound in system.bounds
        }

    def _wanted(self, bound: str, name: str) -> tuple[str, str]:
        return (name, f"All{name}") if bound in self.enumerations else (f"Max{name}", f"Most{name}")

    def fresh(self, *wanted: str) -> str:
        """Reserves the first of the names that is free, else the last with a number."""
        for name in wanted:
            if name not in self._taken:
                self._taken.add(name)
                return name
        number = 2
        while f"{wanted[-1]}{number}" in self._taken:
            number += 1
        return self.fresh(f"{wanted[-1]}{number}")

    def local(self, wanted: str, scope: Iterable[str] = ()) -> str:
        """A name for a parameter or a bound variable: neither the module's nor the scope's."""
        used = self._taken | set(scope)
        candidates = (
            wanted,
            f"the_{wanted}",
            f"this_{wanted}",
            *(f"{wanted}{n}" for n in range(2, 1000)),
        )
        return next(name for name in candidates if name not in used)

    def members(self, bound: str) -> LayoutNode:
        """The set of an enumeration's values, e.g. Brokers."""
        return Word(self.constants.setdefault(bound, self._reserved[bound]))

    def size(self, bound: str) -> LayoutNode:
        """The value of a bound, e.g. MaxEpoch."""
        constant = Word(self.constants.setdefault(bound, self._reserved[bound]))
        return call("Cardinality", constant) if bound in self.enumerations else constant

    def no_member(self) -> LayoutNode:
        """The constant for no member of an enumeration."""
        self.none_used = True
        return Word("None")

    def helper(self, name: str) -> str:
        """A word of the module's own vocabulary; its use adds its definition to the module."""
        self.helpers.add(name)
        return name

    def end(self, high: int | Bounded) -> LayoutNode:
        """The upper end of a sort of numbers."""
        if isinstance(high, int):
            return literal(high)
        size = self.size(high.bound)
        if not high.plus:
            return size
        return Infix("+" if high.plus > 0 else "-", size, literal(abs(high.plus)), PLUS)

    def domain(self, sort: Sort) -> LayoutNode:
        """The set of a sort's values."""
        if sort is BOOL:
            return Word("BOOLEAN")
        if isinstance(sort, Enumeration):
            everyone = self.members(sort.bound)
            return _or_none(everyone, self.no_member()) if sort.none_allowed else everyone
        if isinstance(sort, Numbers):
            plain = Numbers(sort.name, sort.low, sort.high, False, sort.beyond)
            if plain not in self.sets:
                assert sort.high is not None, f"{sort.name} has no upper bound"
                span = Infix("..", literal(sort.low), self.end(sort.high), 9)
                self.sets[plain] = (self.fresh(camel(plural(sort.name))), span)
            numbers = Word(self.sets[plain][0])
            return _or_none(numbers, self.none(sort)) if sort.none_allowed else numbers
        assert isinstance(sort, NamedValues), f"{sort.name} has no form in TLA+"
        if sort not in self.sets:
            values = Enclosed("{", tuple(Word(f'"{value}"') for value in sort.values), "}")
            self.sets[sort] = (self.fresh(camel(plural(sort.name))), values)
        return Word(self.sets[sort][0])

    def none(self, sort: Numbers) -> LayoutNode:
        """The number for none: it is below all others of the sort."""
        plain = Numbers(sort.name, sort.low, None, True)
        if plain not in self.nones:
            self.nones[plain] = (self.fresh(f"No{camel(sort.name)}"), literal(sort.none_code))
        return Word(self.nones[plain][0])

    def value(self, sort: Sort, code: int | bool) -> LayoutNode:
        """A literal of a sort."""
        if sort is BOOL:
            return Word("TRUE" if code else "FALSE")
        if isinstance(sort, NamedValues):
            return Word(f'"{sort.values[code]}"')
        if isinstance(sort, Enumeration):
            self.member_named = self.member_named or code != 0
            return literal(code) if code else self.no_member()
        if isinstance(sort, Numbers) and sort.none_allowed and code == sort.none_code:
            return self.none(sort)
        return literal(code)


def _or_none(values: LayoutNode, none: LayoutNode) -> LayoutNode:
    return Infix(r"\cup", values, Enclosed("{", (none,), "}"), SETS)
