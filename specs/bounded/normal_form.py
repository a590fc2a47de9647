"""Excludes runs from the search for which an equivalent run in normal form is searched instead.

Of all runs of one length that settle a claim, the search wants the first in the order of the
instances. That run never mentions a broker while an interchangeable broker with a smaller id is
unmentioned: otherwise an exchange would give an earlier run. So this may be forbidden. (That of two
adjacent independent steps the lower-numbered comes first may be asked as well; it saved no work.)
"""

from __future__ import annotations

from model.language.properties import DEADLOCK
from model.language.schema import SetOf
from model.language.symmetry import is_broker_like, why_not_symmetric
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance


class FirstOccurrences:
    """Rules that interchangeable brokers first occur in a run in the order of their ids.

    `all` has every broker, or is empty if the system distinguishes brokers.
    """

    def __init__(self, grounded: Grounded, claim: str) -> None:
        named = [] if claim == DEADLOCK else [claim]
        distinguished = why_not_symmetric(grounded.recorded, named) is not None
        self.all = () if distinguished else tuple(range(1, _brokers(grounded) + 1))

    def spoken_of(self, instance: Instance) -> set[int]:
        """The brokers among the parameters."""
        return {broker for group in self._groups(instance) for broker in group}

    def presumed(self, instance: Instance) -> set[int]:
        """The brokers that earlier steps must have mentioned."""
        said: set[int] = set()
        presumed: set[int] = set()
        for group in self._groups(instance):
            new = group - said
            presumed |= {one for one in self.all if new and one < max(new)} - said - group
            said |= group
        return presumed

    def _groups(self, instance: Instance) -> list[set[int]]:
        """The brokers of each parameter, in order; a set of them is one group."""
        found = []
        for sort, value in zip(instance.step.parameters.values(), instance.arguments, strict=True):
            element = sort.element if isinstance(sort, SetOf) else sort
            if self.all and is_broker_like(element):
                members = value if isinstance(value, frozenset) else {value}
                found.append({broker for broker in members if broker})
        return found


def _brokers(grounded: Grounded) -> int:
    for leaf in grounded.recorded.fields.values():
        for sort in (*leaf.dims, leaf.sort):
            if is_broker_like(sort):
                return sort.domain(grounded.bounds)[-1]
    return 0
