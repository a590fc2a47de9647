"""Computes intervals of number terms, to find the writes that need no domain check."""

from __future__ import annotations

from model.language.terms import Term

Interval = tuple[int, int]


class Intervals:
    """Intervals of number terms over cells with known domains; memoised."""

    def __init__(self, domains: list[range]) -> None:
        self._domains = domains
        self._memo: dict[Term, Interval] = {}

    def of(self, term: Term) -> Interval:
        """The least and the greatest value that the term can have."""
        found = self._memo.get(term)
        if found is None:
            found = self._memo[term] = self._compute(term)
        return found

    def _compute(self, term: Term) -> Interval:
        op, args = term.op, term.args
        if op == "const":
            return int(args[0]), int(args[0])
        if op == "cell":
            domain = self._domains[args[0]]
            return domain[0], domain[-1]
        if op == "add":
            low, high = self.of(args[0])
            return low + args[1].args[0], high + args[1].args[0]
        if op == "ite":
            (a, b), (c, d) = self.of(args[1]), self.of(args[2])
            return min(a, c), max(b, d)
        if op == "total":
            return 0, len(args)
        return 0, 1  # every other grounded operation is a Bool
