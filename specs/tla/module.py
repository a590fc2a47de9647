"""Writes a whole TLA+ module: constants, definitions, the initial state, actions, claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from model.language import Enumeration, RecordedSystem, SetOf
from model.language.recording import Write
from model.language.terms import Term
from specs.tla.actions import Actions
from specs.tla.author_names import ProtocolWord, collect_names
from specs.tla.brackets import call
from specs.tla.claims import ClaimDefinitions
from specs.tla.expressions import Expressions
from specs.tla.layout import COMPARE, Infix, LayoutNode, Word, indented, junction
from specs.tla.names import ModuleNames, refuse_what_is_no_name
from specs.tla.naming import local_names, with_places
from specs.tla.page import WIDTH, comment, conjuncts, definition, listed, section, tuple_of
from specs.tla.places import NameScope
from specs.tla.shapes import Shapes
from specs.tla.updates import Updates
from specs.tla.vocabulary import spelled


class Module:
    """One system under one version's switches, within the bounds that are given.

    Only budgets of faults depend on the given bounds: a fault without a budget is left out of the
    state. The values of the bounds are for the configuration.
    """

    def __init__(
        self, name: str, recorded: RecordedSystem, bounds: Mapping[str, int], command: str
    ) -> None:
        self.name, self._recorded, self._command = name, recorded, command
        system = recorded.system
        terms = [term for _, term in recorded.claims.values()]
        self._kept = recorded.fields_needed(terms, bounds) & set(recorded.fields)
        self._heard = collect_names(recorded)
        refuse_what_is_no_name(_written_names(recorded))
        taken = [*system.state.parts, *(step.transition.name for step in recorded.steps)]
        taken += [form for claim in recorded.claims for form in (claim, f"never_{claim}")]
        self.names = ModuleNames(system, taken, _enumerations(recorded))
        self.shapes = Shapes(system.state, self._kept, self.names)
        self._of = Expressions(self.names, self.shapes, self._heard, recorded.fields)
        self._actions = Actions(self._of, self._heard, recorded.fields, system.bounds)
        self.invariants = self._of_kind("always")
        self.of_steps = self._of_kind("always_step")
        self.in_the_end = self._of_kind("eventually")
        self._text = self._module_text()

    def _of_kind(self, kind: str) -> list[str]:
        return [name for name, (one, _) in self._recorded.claims.items() if one.kind == kind]

    @property
    def text(self) -> str:
        """The module, ready to be written to `NAME.tla`."""
        return self._text

    @property
    def symmetric(self) -> str | None:
        """Why the values of an enumeration are not symmetric; None if TLC may permute them."""
        if not self.names.enumerations & set(self.names.constants):
            return "it has no set of brokers"
        if self.names.member_named:
            return "its text names a broker"
        if self._of.ordered_members:
            return "its text takes the least of some brokers"
        return None

    # -- the parts --------------------------------------------------------------------------------

    def _module_text(self) -> str:
        # What the later parts use decides what the earlier ones must declare.
        steps = self._recorded.steps
        actions = [self._actions.action(step, self._kept) for step in steps]
        rendered = ClaimDefinitions(self._of, self._actions, steps)
        claims = [rendered.claim(one, term) for one, term in self._recorded.claims.values()]
        following = [
            *definition("Next", junction(r"\/", [self._actions.enabled(step) for step in steps])),
            "",
            "Spec == Init /\\ [][Next]_vars",
        ]
        words = self._words()
        initial, types = self._initial(), self._types()
        blanks = [
            [*comment(f"What {name} is where nothing is known yet."), *definition(shown, value)]
            for name, (shown, value) in self.shapes.blanks.items()
        ]
        parts = [
            self._head(),
            self._constants(),
            self._variables(),
            *section("What values may be", self._sorts()),
            *section("The initial state", [*blanks, initial]),
            *section("Words", [*spelled(self.names.helpers), *words]),
            *section("Steps", actions),
            [following[0], *following[1:]],
            *section("Claims", [types, *claims]),
            *self._symmetry(),
        ]
        rule = "=" * 100
        return "\n\n".join("\n".join(part) for part in parts if part) + f"\n\n{rule}\n"

    def _head(self) -> list[str]:
        system = self._recorded.system
        about = system.versions[self._recorded.version].about
        switches = [f"{name} = {value}" for name, value in self._recorded.switches.items()]
        dropped = sorted(set(self._recorded.fields) - self._kept)
        text = [
            f"{system.name}: {system.about}.",
            f"Version {self._recorded.version}: {about}.",
            *(f"    {line}" for line in switches),
            "",
            f"{self.name}.cfg gives the bounds. TLC and `insync explore` count the same distinct",
            "states there, as both read one recorded text. Change that, and export it again:",
            f"    {self._command}",
        ]
        if dropped:
            text += [
                "",
                f"Left out, as no claim reads it or no bound is given: {', '.join(dropped)}.",
            ]
        title = f" MODULE {self.name} "
        extends = "EXTENDS Integers, FiniteSets, Sequences, TLC"
        return [f"{title:-^100}", *comment("\n".join(text)), "", extends]

    def _constants(self) -> list[str]:
        bounds = self._recorded.system.bounds
        declared = [
            (constant, bounds[bound].what)
            for bound, constant in sorted(
                self.names.constants.items(), key=lambda item: list(bounds).index(item[0])
            )
        ]
        if self.names.none_used:
            declared.append(("None", "nobody; a model value"))
        return ["CONSTANTS", *listed(declared)] if declared else []

    def _variables(self) -> list[str]:
        ghosts = {
            leaf.name.split(".")[0]
            for leaf in self._recorded.fields.values()
            if leaf.ghost and leaf.budget is None
        }
        names = list(self.shapes.variables)
        remarks = [
            (name, "history: for claims; no step requires anything of it" if name in ghosts else "")
            for name in names
        ]
        lines = ["VARIABLES", *listed(remarks), "", *tuple_of("vars", names)]
        for rest, name in self._actions.rests.items():
            lines += tuple_of(name, rest)
        return lines

    def _sorts(self) -> list[list[str]]:
        lines: list[str] = []
        for name, value in (*self.names.nones.values(), *self.names.sets.values()):
            lines += definition(name, value)
        return [lines] if lines else []

    def _words(self) -> list[list[str]]:
        """Every word that is used, after the words that it uses."""
        done: dict[str, list[str]] = {}

        def spell(word: ProtocolWord) -> None:
            if word.name in done:
                return
            before = set(self._of.words)
            self._of.words.clear()
            spelled = self._word(word)
            used = list(self._of.words.values())
            for other in used:
                spell(other)
            done[word.name] = spelled
            self._of.words.update({name: self._heard.words[name] for name in before})

        for word in list(self._of.words.values()):
            spell(word)
        return list(done.values())

    def _word(self, word: ProtocolWord) -> list[str]:
        names: dict[str, str] = {}
        for parameter in word.parameters:
            called = parameter.args[0]
            names[called] = self.names.local(called.removeprefix("$"), names.values())
        head = call(self._of.called[word.name], *map(Word, names.values())).flat()
        about = comment(word.about) if word.about else []
        # Its own parts: the whole is the word itself.
        parts = [arg for arg in word.says.args if isinstance(arg, Term)]
        body: list[LayoutNode] = []

        def render(outer: NameScope) -> tuple[list[str], list[str]]:
            inner, local = local_names(self._of, self._heard, word.name, parts, outer)
            body[:] = [self._of.spelled(word.says, inner)]
            return local, indented(body[0].lines(WIDTH - 4), 4)

        lines = with_places(self._of, self._heard, word.name, NameScope(names), render)
        if lines[0].startswith("    LET "):
            return [*about, f"{head} ==", *lines]
        return [*about, *definition(head, body[0])]

    def _initial(self) -> list[str]:
        writes: dict[str, list[Write]] = {name: [] for name in self.shapes.variables}
        for write in self._recorded.initial:
            if write.field in self._kept:
                writes[write.field.split(".")[0]].append(write)
        updates = Updates(self._of, self._heard, "")
        lines = (
            comment(self._recorded.system.initial.__doc__ or "")
            if (self._recorded.system.initial.__doc__)
            else []
        )
        lines.append("Init ==")
        values = [(name, updates.initial(name, mine)) for name, mine in writes.items()]
        equal = [(Infix("=", Word(name), value, COMPARE), "") for name, value in values]
        return [*lines, *conjuncts(equal, "    ")]

    def _types(self) -> list[str]:
        lines = [*comment("Every value is of its sort, and within the bounds."), "TypeOK =="]
        members = [
            (Infix(r"\in", Word(name), self.shapes.type(schema), COMPARE), "")
            for name, schema in self.shapes.variables.items()
        ]
        return [*lines, *conjuncts(members, "    ")]

    def _symmetry(self) -> list[list[str]]:
        if self.symmetric is not None:
            return []
        sets = [self.names.members(b) for b in sorted(self.names.enumerations)]
        alike = [call("Permutations", one).flat() for one in sets]
        text = "Values that are all alike: with SYMMETRY Symmetry, TLC tells no two of them apart."
        together = r" \cup ".join(alike)
        return [[*comment(text), f"Symmetry == {together}"]]


def _enumerations(recorded: RecordedSystem) -> Iterator[str]:
    """The bounds that say how many values an enumeration has."""
    sorts = [sort for leaf in recorded.fields.values() for sort in (leaf.sort, *leaf.dims)]
    for step in recorded.steps:
        for parameter in step.parameters.values():
            sorts.append(parameter.element if isinstance(parameter, SetOf) else parameter)
    return (sort.bound for sort in sorts if isinstance(sort, Enumeration))


def _written_names(recorded: RecordedSystem) -> Iterator[str]:
    for field in recorded.fields:
        yield from field.split(".")
    for step in recorded.steps:
        yield from (step.transition.name, *step.parameters)
    yield from recorded.claims
