"""Searches loops for the plain engine with networkx, among states where a condition is false."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import networkx

from specs.lasso import LassoResult, holds, loop_from, unknown_beyond_bounds, vacuous
from specs.lowering.python_code import PythonCode, State
from specs.verdict import Verdict


def plain_ending(
    code: PythonCode, states: Sequence[State], claim: str, path_to: Callable[[int], list[int]]
) -> LassoResult:
    """The answer about an `eventually`, from all reachable states in the order of the search.

    `path_to` gives the shortest run to the state of a number.
    """
    fair = code.grounded.fair_instances(claim)
    without = _ConditionFalse(code, states, claim, fair)
    if not without.graph:
        return vacuous()
    fair_ones: list[tuple[int, set[int]]] = []
    beyond: set[int] = set()
    for members in networkx.strongly_connected_components(without.graph):
        missing = set(fair) - without.impossible_or_taken(members)
        if not missing:
            fair_ones.append((min(members), members))
        elif missing <= without.beyond_bounds(members):
            beyond |= missing
    if fair_ones:
        first, members = min(fair_ones)
        index = {states[n]: n for n in members}
        path = path_to(first)
        loop = loop_from(code, states[first], fair, index.__contains__)
        return LassoResult(Verdict.BROKEN, None, path + loop, len(path))
    return unknown_beyond_bounds(code.grounded, beyond) if beyond else holds()


class _ConditionFalse:
    """The states where the condition is false, and the steps between them."""

    def __init__(
        self, code: PythonCode, states: Sequence[State], claim: str, fair: Sequence[int]
    ) -> None:
        self.graph = networkx.DiGraph()
        self._taken: dict[tuple[int, int], set[int]] = {}
        self._impossible: dict[int, set[int]] = {}
        self._beyond: dict[int, set[int]] = {}
        index = {state: number for number, state in enumerate(states)}
        holds_in = code.claims[claim]
        self.graph.add_nodes_from(n for n, state in enumerate(states) if not holds_in(state))
        instances, reasons = code.grounded.instances, code.grounded.reasons
        spare = [0] * len(instances), bytearray(len(reasons))
        for number in list(self.graph):
            state = states[number]
            nexts = code.successors(state, *spare, {})
            for instance, after in nexts:
                if index[after] in self.graph:
                    self.graph.add_edge(number, index[after])
                    self._taken.setdefault((number, index[after]), set()).add(instance)
            possible = {n for n in fair if code.first_refusal(instances[n], state) is None}
            self._impossible[number] = set(fair) - possible
            self._beyond[number] = possible - {instance for instance, _ in nexts}

    def impossible_or_taken(self, members: set[int]) -> set[int]:
        """Fair instances that are taken between these states or impossible in one of them."""
        found: set[int] = set()
        for number in members:
            found |= self._impossible[number]
            for after in self.graph.successors(number):
                if after in members:
                    found |= self._taken[number, after]
        return found

    def beyond_bounds(self, members: set[int]) -> set[int]:
        """Fair instances that lead from one of these states beyond a bound."""
        return set().union(*(self._beyond[number] for number in members))
