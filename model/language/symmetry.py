"""Whether a system treats all brokers alike. If so, renaming brokers maps runs to runs.

Brokers are a scalarset: a system that never names a broker, never orders brokers and never takes
the least of them cannot distinguish them. Then one state may stand for all of its renamings.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.language.recording import nodes
from model.language.sorts import Enumeration, Sort
from model.language.system import RecordedSystem
from model.language.terms import AFTER, Term


def is_broker_like(sort: Sort) -> bool:
    """A scalarset: its values are interchangeable."""
    return isinstance(sort, Enumeration)


def why_not_symmetric(recorded: RecordedSystem, claims: Sequence[str]) -> str | None:
    """The first place that tells brokers apart, in words; None if there is none."""
    for step in recorded.steps:
        where = step.transition.name
        for requirement in step.requires:
            found = _named(requirement.condition, recorded)
            if found:
                return f"{where} requires that {requirement.reason}: {found}"
        for write in step.writes:
            for part in (*write.keys, write.value):
                found = _named(part, recorded)
                if found:
                    return f"{where} writes {write.field}: {found}"
    for write in recorded.initial:
        for part in (*write.keys, write.value):
            found = _named(part, recorded)
            if found:
                return f"the initial state has {write.field}: {found}"
    for name in claims:
        found = _named(recorded.claim(name)[1], recorded)
        if found:
            return f"the claim {name}: {found}"
    families = {sort.family for leaf in recorded.fields.values()
                for sort in (*leaf.dims, leaf.sort) if isinstance(sort, Enumeration)}  # fmt: skip
    if len(families) > 1:
        return f"there are several kinds of brokers: {', '.join(sorted(families))}"
    return None if families else "no field mentions brokers"


def _named(term: Term, recorded: RecordedSystem) -> str | None:
    for part in nodes(term):
        if part.op == "const" and isinstance(part.sort, Enumeration) and part.args[0]:
            return f"it names the {part.sort.name} {part.args[0]}"
        if part.op in ("lt", "le", "add"):
            ordered = next((a for a in part.args if is_broker_like(a.sort)), None)
            if ordered is not None:
                return f"it orders or counts with {ordered.sort.name}s"
        if part.op == "least" and is_broker_like(part.args[0].sort):
            return f"it takes the least {part.args[0].sort.name}"
        if part.op == "get" and not part.args[0].startswith("$"):
            dims = recorded.fields[part.args[0].removesuffix(AFTER)].dims
            for sort, index in zip(dims, part.args[1:], strict=False):
                if is_broker_like(sort) and index.op == "const":
                    return f"it names the {sort.name} {index.args[0]}"
    return None
