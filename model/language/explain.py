"""Explains why a condition does not hold, by the values of the places that it reads.

`mine.zk_version == now.zk.version` becomes `view[1].zk_version 3, zk.version 5`. For a conjunction
only the failing parts are shown, for an `every` only the first value for which it fails.
"""

from __future__ import annotations

from model.language.recording import Requirement
from model.language.sorts import BOOL
from model.language.sparse import Environment, SparseState, Values
from model.language.terms import Term


def why_not(
    twin: Values, requirement: Requirement, state: SparseState, environment: Environment
) -> str:
    """`not possible: the version is current — false (view[1].zk_version 3, zk.version 5)`."""
    shown: dict[str, str] = {}
    _collect(twin, requirement.condition, False, state, environment, shown)
    # Sorted, because the order of a comparison's sides depends on which term was made first.
    values = ", ".join(f"{place} {value}" for place, value in sorted(shown.items()))
    return f"not possible: {requirement.reason} — false" + (f" ({values})" if values else "")


def _collect(
    twin: Values,
    term: Term,
    holds: bool,
    state: SparseState,
    environment: Environment,
    shown: dict[str, str],
) -> None:
    """Adds the places that make a term what it is; `holds` is what it is, if it is a condition."""
    op, args = term.op, term.args
    if op == "not":
        _collect(twin, args[0], not holds, state, environment, shown)
    elif op == ("or" if holds else "and"):
        # One part settles it: a conjunction fails by those that fail.
        for part in args:
            if bool(twin.value(part, state, environment)) == holds:
                _collect(twin, part, holds, state, environment, shown)
    elif op == ("some" if holds else "every"):
        variable, _, _, body = args
        for value in twin.range_of(term, state, environment):
            inner = {**environment, variable.args[0]: value}
            if bool(twin.value(body, state, inner)) == holds:
                _collect(twin, body, holds, state, inner, shown)
                return
    elif op in ("every", "some", "count", "least"):
        for limit in args[1:3]:
            if limit is not None:
                _collect(twin, limit, True, state, environment, shown)
        _show_all_that_is_fixed(twin, args[3], state, environment, shown)
    elif op == "get" and not args[0].startswith("$"):
        index = tuple(twin.value(i, state, environment) for i in args[1:])
        place, text = place_and_value(twin, state, args[0], index)
        shown[place] = text
    else:
        for part in args:
            if isinstance(part, Term):
                truth = part.sort is BOOL and bool(twin.value(part, state, environment))
                _collect(twin, part, truth, state, environment, shown)


def _show_all_that_is_fixed(
    twin: Values,
    term: Term,
    state: SparseState,
    environment: Environment,
    shown: dict[str, str],
) -> None:
    """No single value settles it: tell what does not depend on the quantified one."""
    if term.op == "get" and term.free <= set(environment):
        _collect(twin, term, False, state, environment, shown)
        return
    for part in term.args:
        if isinstance(part, Term):
            _show_all_that_is_fixed(twin, part, state, environment, shown)


def place_and_value(
    twin: Values, state: SparseState, name: str, index: tuple[int, ...]
) -> tuple[str, str]:
    """`view[1].isr` and `{1,2}`: a set is shown whole, an index stands behind the first part."""
    leaf = twin.recorded.fields[name]
    keep = len(index) if leaf.set_from is None else leaf.set_from
    keys = "".join(
        f"[{sort.show(i)}]" for sort, i in zip(leaf.dims[:keep], index[:keep], strict=True)
    )
    first, dot, rest = name.partition(".")
    if leaf.log is not None:
        # `log[1][0].epoch`, as the protocol's text says it.
        first, dot, rest = leaf.log, ".", name.removeprefix(f"{leaf.log}.at.")
    place = f"{first}{keys}{dot}{rest}"
    if leaf.set_from is None:
        return place, leaf.sort.show(twin.read(state, name, index))
    members = sorted(entry[keep:] for entry in state.get(name, {}) if entry[:keep] == index[:keep])
    shown = (
        ",".join(sort.show(part) for sort, part in zip(leaf.dims[keep:], member, strict=True))
        for member in members
    )
    return place, "{" + ",".join(
        f"({one})" if len(index) - keep > 1 else one for one in shown
    ) + "}"
