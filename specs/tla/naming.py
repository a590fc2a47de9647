"""The author's local names as a LET: `cut` is said once, and used by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model.language.terms import Term
from specs.tla.expressions import Expressions
from specs.tla.heard import Heard
from specs.tla.page import WIDTH, definition
from specs.tla.places import Scope

_WORTH_A_NAME = (
    "ite", "least", "count", "every", "some", "and", "or", "eq", "lt", "le", "add",
)  # fmt: skip


def local_names(
    expressions: Expressions, heard: Heard, text: str, roots: Sequence[Term], scope: Scope
) -> tuple[Scope, list[str]]:
    """Definitions of what the author named in a text and uses more than once, and their scope."""
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
        scope = Scope(scope.names, {**scope.named, term: name})
    return scope, lines


def _is_worth_it(term: Term) -> bool:
    if term.op == "get":
        return any(index.op not in ("var", "const") for index in term.args[1:])
    return term.op in _WORTH_A_NAME


def _below(term: Term, heard: Heard) -> tuple[Term, ...]:
    """The parts that stand in the text of a term: of a word, what it is said of."""
    use = heard.uses.get(term)
    if use is not None:
        return use.arguments
    return tuple(arg for arg in term.args if isinstance(arg, Term))


def _all_below(term: Term, heard: Heard) -> dict[Term, None]:
    found: dict[Term, None] = {}
    todo = [term]
    while todo:
        node = todo.pop()
        if node not in found:
            found[node] = None
            todo.extend(_below(node, heard))
    return found


def _uses(roots: Sequence[Term], called: Mapping[Term, str], heard: Heard) -> dict[Term, int]:
    """How often each term stands in the text; below a named term it counts once."""
    uses: dict[Term, int] = {}
    todo = list(roots)
    while todo:
        node = todo.pop()
        uses[node] = uses.get(node, 0) + 1
        # Twice is enough to be worth a name; what has one is spelled out once.
        if uses[node] == 1 or (uses[node] == 2 and node not in called):
            todo.extend(_below(node, heard))
    return uses
