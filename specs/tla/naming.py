"""Writes the author's local names as LET: `cut` is defined once, and used by its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from model.language.terms import Term
from specs.tla.author_names import AuthorNames
from specs.tla.expressions import Expressions
from specs.tla.page import WIDTH, definition, let
from specs.tla.places import NameScope

_WORTH_A_NAME = (
    "ite", "least", "count", "every", "some", "and", "or", "eq", "lt", "le", "add",
)  # fmt: skip


Render = Callable[[NameScope], tuple[list[str], list[str]]]


def with_places(
    expressions: Expressions, heard: AuthorNames, text: str, scope: NameScope, render: Render
) -> list[str]:
    """A text in which records have the author's names: `mine == replica[leader]`.

    `render` gives the definitions and the lines of the text in a scope. A name that is used less
    than twice, or that means something else in the module, is left out.
    """
    found: dict[str, str] = {}
    for (place, indices), wanted in heard.places.get(text, {}).items():
        taken = {*scope.used, *found.values()}
        if expressions.names.local(wanted, taken) != wanted:
            continue
        if all(index.free <= set(scope.names) for index in indices):
            shown = expressions.places.record(place, indices, scope)
            if shown is not None:
                found[shown] = wanted
    local, lines = render(replace(scope, places=found))
    code = [line.partition("\\*")[0] for line in (*local, *lines)]
    often = {
        shown: name
        for shown, name in found.items()
        if sum(len(re.findall(rf"\b{name}\.", line)) for line in code) > 1
    }
    if often != found:
        local, lines = render(replace(scope, places=often))
    return [*let([*(f"{name} == {shown}" for shown, name in often.items()), *local]), *lines]


def local_names(
    expressions: Expressions, heard: AuthorNames, text: str, roots: Sequence[Term], scope: NameScope
) -> tuple[NameScope, list[str]]:
    """Definitions of the terms that the author named and uses more than once, and their scope."""
    called = heard.locals.get(text, {})
    uses = _uses(roots, called, heard)
    named = [
        term
        for term in called
        if uses.get(term, 0) > 1 and term.free <= set(scope.names) and _is_worth_it(term)
    ]
    lines: list[str] = []
    # What a name stands for may use other names: these are shorter.
    for term in sorted(named, key=lambda term: (len(_all_below(term, heard)), called[term])):
        name = expressions.names.local(called[term], scope.used)
        lines += definition(name, expressions.said(term, scope), WIDTH - len("    LET  IN"))
        scope = replace(scope, named={**scope.named, term: name})
    return scope, lines


def _is_worth_it(term: Term) -> bool:
    if term.op == "get":
        return any(index.op not in ("var", "const") for index in term.args[1:])
    return term.op in _WORTH_A_NAME


def _below(term: Term, heard: AuthorNames) -> tuple[Term, ...]:
    """The parts that stand in the text of a term: of a word, what it is said of."""
    use = heard.uses.get(term)
    if use is not None:
        return use.arguments
    return tuple(arg for arg in term.args if isinstance(arg, Term))


def _all_below(term: Term, heard: AuthorNames) -> dict[Term, None]:
    found: dict[Term, None] = {}
    todo = [term]
    while todo:
        node = todo.pop()
        if node not in found:
            found[node] = None
            todo.extend(_below(node, heard))
    return found


def _uses(roots: Sequence[Term], called: Mapping[Term, str], heard: AuthorNames) -> dict[Term, int]:
    """How often each term occurs in the text; below a named term it counts once."""
    uses: dict[Term, int] = {}
    todo = list(roots)
    while todo:
        node = todo.pop()
        uses[node] = uses.get(node, 0) + 1
        # Twice is enough to be worth a name; what has one is spelled out once.
        if uses[node] == 1 or (uses[node] == 2 and node not in called):
            todo.extend(_below(node, heard))
    return uses
