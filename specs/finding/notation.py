"""Writes found invariants as a file that can be put into `specs/proofs` unchanged."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence

from model.language import System
from model.language import terms as t
from model.language.scalars import Scalar
from model.language.schema import Ghost, Leaf, LogOf, MapOf, Record, Relation, Schema, SetOf
from model.language.sorts import BOOL, Enumeration, Names, Sort
from model.language.terms import Term
from specs.finding.candidates import InvariantCandidate
from specs.finding.result import InvariantSearchResult
from specs.invariants import DERIVED, Definition, given_symbol


class Notation:
    """Writes terms in the project's notation; `used` are the words and sorts that occur."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.used: set[str] = set()
        self.defined: set[str] = set()
        """Definitions of the proof that is given."""
        self.marks = False
        self.sorts: set[str] = set()
        self._state_module = _state_module(system)

    # -- names --------------------------------------------------------------------------------

    def sort(self, sort: Sort) -> str:
        """The name under which the system's state module has a sort."""
        found = _constants(self._state_module).get(sort)
        if found is None:
            return repr(sort)
        self.sorts.add(found)
        return found

    def _use_name(self, name: str) -> str:
        self.used.add(name)
        return name

    # -- terms --------------------------------------------------------------------------------

    def text(self, term: Term, names: Mapping[str, str]) -> str:
        """A term over the state `now`; `names` says how its variables are written."""
        op, args = term.op, term.args

        def go(part: Term) -> str:
            return self.text(part, names)

        if op == "const":
            if term.sort is BOOL:
                return str(args[0])
            return _literal(term)
        if op == "var":
            return names[args[0]]
        if op == "get" and args[0].startswith(DERIVED):
            if args[0] == given_symbol(args[1].sort):
                self.marks = True
                return f"given({go(args[1])})"
            self.defined.add(args[0].removeprefix(DERIVED))
            return f"{args[0].removeprefix(DERIVED)}({', '.join(['now', *map(go, args[1:])])})"
        if op == "get":
            return self._path(args[0], [go(index) for index in args[1:]])
        if op == "not":
            return f"{self._use_name('not_')}({go(args[0])})"
        if op == "and":
            return f"{self._use_name('all_of')}({', '.join(map(go, args))})"
        if op == "or":
            return self._clause(args, names)
        if op == "eq":
            return self._equal(args[0], args[1], names)
        if op in ("lt", "le"):
            return f"{go(args[0])} {'<' if op == 'lt' else '<='} {go(args[1])}"
        if op == "add":
            number = args[1].args[0]
            return f"{go(args[0])} {'-' if number < 0 else '+'} {abs(number)}"
        if op in ("every", "some"):
            return self._quantified(term, names)
        raise AssertionError(f"{op} has no text here")

    def _clause(self, parts: Sequence[Term], names: Mapping[str, str]) -> str:
        """A disjunction as an implication, where something is denied in it."""
        denied, said = denied_and_said(parts)
        conclusion = self._joined("any_of", said, names)
        if not denied:
            return conclusion
        return f"{self._use_name('implies')}({self._joined('all_of', denied, names)}, {conclusion})"

    def _joined(self, word: str, parts: Sequence[Term], names: Mapping[str, str]) -> str:
        texts = [self.text(part, names) for part in parts]
        return texts[0] if len(texts) == 1 else f"{self._use_name(word)}({', '.join(texts)})"

    def _equal(self, left: Term, right: Term, names: Mapping[str, str]) -> str:
        if right.op == "const" and isinstance(left.sort, Enumeration) and right.args[0] == 0:
            return f"{self._use_name('is_none')}({self.text(left, names)})"
        if right.op == "const" and isinstance(left.sort, Names):
            return f'{self.text(left, names)} == "{left.sort.values[right.args[0]]}"'
        return f"{self.text(left, names)} == {self.text(right, names)}"

    def _quantified(self, term: Term, names: Mapping[str, str]) -> str:
        variable, low, high, body = term.args
        letter = next(one for one in _letters(variable.sort) if one not in names.values())
        over = self.sort(variable.sort)
        if high is not None and low is None:
            over = f"{self._use_name('below')}({over}, {self.text(high, names)})"
        inner = self.text(body, {**names, variable.args[0]: letter})
        return f"{self._use_name(term.op)}({over}, lambda {letter}: {inner})"

    def _path(self, name: str, indices: list[str]) -> str:
        return "now" + "".join(_steps(self.system.state, name.split("."), indices))

    # -- files --------------------------------------------------------------------------------

    def imports(self) -> list[str]:
        """What the text needs, once everything is written."""
        words = ", ".join(sorted(self.used))
        sorts = ", ".join(sorted(self.sorts))
        return [
            *([f"from model.language import {words}"] if words else []),
            *([f"from {self._state_module} import {sorts}"] if sorts else []),
            *(f"from {_home_of(name)} import {name}" for name in sorted(self.defined)),
        ]


def denied_and_said(parts: Sequence[Term]) -> tuple[list[Term], list[Term]]:
    """The premises and the conclusion of a clause; there always is a conclusion."""
    denied = [part.args[0] for part in parts if part.op == "not"]
    said = [part for part in parts if part.op != "not"]
    if not said and len(denied) > 1:
        return denied[:-1], [t.make("not", (denied[-1],), BOOL)]
    if not said:
        return [], [t.make("not", (denied[0],), BOOL)]
    return denied, said


def _literal(term: Term) -> str:
    return str(term.args[0])


def _steps(schema: Schema, parts: list[str], indices: list[str]) -> Iterator[str]:
    """`now` -> the value, as attributes and brackets in the order of the schema."""
    parts, indices = list(parts), list(indices)
    while True:
        if isinstance(schema, Ghost):
            schema = schema.of
        elif isinstance(schema, Record):
            name = parts.pop(0)
            yield f".{name}"
            schema = schema.parts[name]
        elif isinstance(schema, MapOf):
            yield f"[{indices.pop(0)}]"
            schema = schema.of
        elif isinstance(schema, (SetOf, Relation)):
            yield f".has({', '.join(indices)})"
            return
        elif isinstance(schema, LogOf):
            if parts.pop(0) == "end":
                yield ".end"
                return
            yield f"[{indices.pop(0)}]"
            schema = schema.record
        else:
            assert isinstance(schema, Leaf)
            return


def _state_module(system: System) -> str:
    """The module that declares the system's state."""
    for name, module in sorted(sys.modules.items()):
        is_its = getattr(module, "STATE", None) is system.state
        if is_its and name.startswith("model.") and name.endswith(".state"):
            return name
    raise AssertionError(f"{system.name} has no module of its state")


def _home_of(name: str) -> str:
    """The module that makes a definition."""
    for home, module in sorted(sys.modules.items()):
        if home.startswith("specs.proofs") and isinstance(vars(module).get(name), Definition):
            return home
    raise AssertionError(f"no proof defines {name}")


def _constants(home: str) -> dict[Sort, str]:
    module = sys.modules[home]
    found: dict[Sort, str] = {}
    for name, value in vars(module).items():
        if isinstance(value, Sort) and name.isupper():
            found.setdefault(value, name)
    return found


def _letters(sort: Sort) -> Iterator[str]:
    first = sort.name.split()[-1][0]
    return itertools.chain([first], (f"{first}{number}" for number in itertools.count(2)))


WAKES = 12
"""Alternatives that a trigger has at most."""


def triggers_of(one: InvariantCandidate, nested: bool = False) -> list[tuple[Term, ...]]:
    """All smallest sets of terms of the clause that mention all of its variables.

    A nested lookup triggers a solver again and again: it is used only if no other term suffices,
    or if `nested` asks for all terms. A variable that no term mentions gets a mark.
    """
    variables = {v.args[0]: v for v in one.slice.variables}
    gets = [term for literal in one.literals for term in _field_reads(literal.term)]
    gets = list(dict.fromkeys(term for term in gets if term.free))
    plain = [term for term in gets if all(part.op == "var" for part in term.args[1:])]
    marks = [t.get(given_symbol(v.sort), (v,), BOOL) for v in variables.values()]
    for offered in ([gets] if nested else [plain, gets]) + [[*gets, *marks]]:
        for size in range(1, len(variables) + 1):
            found = [
                chosen
                for chosen in itertools.combinations(offered, size)
                if frozenset().union(*(term.free for term in chosen)) == set(variables)
            ]
            if found:
                return found[:WAKES]
    return []


def _field_reads(term: Term) -> list[Term]:
    found = [term] if term.op == "get" and all(
        part.op in ("var", "get") for part in term.args[1:]) else []  # fmt: skip
    return [
        *found,
        *(one for part in term.args if isinstance(part, Term) for one in _field_reads(part)),
    ]


FILE = '''"""Invariants of {claim}, as `insync prove {claim} --find` found them."""

{imports}

{invariants}

{proof}
'''


def as_file(found: InvariantSearchResult) -> str:
    """The found invariants as a module for `specs/proofs`: `PROOF`, or `INVARIANTS` to
    join those that were given."""
    notation = Notation(found.recorded.system)
    written = []
    for one, candidate in zip(found.found, found.candidates, strict=True):
        variables = candidate.slice.variables
        names = {v.args[0]: v.args[0] for v in variables}
        over = ", ".join(notation.sort(v.sort) for v in variables)
        lines = ["@invariant(", f"    {json.dumps(one.sentence)},"]
        if over:
            lines.append(f"    over=({over},),")
        wakes: list[tuple[Term, ...]] = []
        if one.triggers is not None:
            wakes = [tuple(part.term for part in parts)
                     for parts in one.triggers(None, *map(Scalar, variables))]  # fmt: skip
        arguments = ", ".join(["now", *names.values()])
        if wakes:
            shown = ", ".join(
                "(" + ", ".join(notation.text(part, names) for part in parts) + ",)"
                for parts in wakes
            )
            lines.append(f"    triggers=lambda {arguments}: [{shown}],")
        by = ", ".join(sorted(found.needed_by.get(one.name, set()) - {one.name}))
        lines.append(f"    why={json.dumps('needed by ' + by if by else 'it keeps itself')},")
        lines.append(")")
        body = notation.text(candidate.matrix, names)
        if len(body) > LINE:
            body = "(\n        " + body.replace(", lambda", ",\n        lambda") + ")"
        written.append("\n".join([*lines, f"def {one.name}({arguments}):", f"    return {body}"]))
    names_of = "".join(f"    {one.name},\n" for one in found.found)
    if len(found.found) == len(found.proof.invariants):
        assumed = "".join(f"        {json.dumps(words)},\n" for words in found.proof.assumes)
        proof = (
            f'PROOF = Proof(\n    claim="{found.proof.claim}",\n'
            f'    system="{found.proof.system}",\n'
            f"    invariants=(\n{names_of.replace('    ', ' ' * 8)}    ),\n"
            f"    assumes=(\n{assumed}    ),\n)"
        )
        needed = "Proof, invariant"
    else:
        proof, needed = f"INVARIANTS = (\n{names_of})", "invariant"
    if found.hinted:
        proof += "\n" + "".join(f"# {step} is proved with Definitions.of_fields in its hints.\n"
                               for step in found.hinted)  # fmt: skip
    if notation.marks:
        needed = "Proof, given, invariant" if "Proof" in needed else "given, invariant"
    imports = "\n".join([*notation.imports(), f"from specs.invariants import {needed}"])
    return FILE.format(claim=found.proof.claim, imports=imports,
                       invariants="\n\n\n".join(written), proof=proof)  # fmt: skip


LINE = 88
