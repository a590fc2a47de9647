"""The states of a game as a tree, so that branches and undo need no recomputation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.web.in_flight import MessageInFlight
from conformance.web.messages import Aged
from model.language.evaluate import SparseState

MOST = 20_000
"""States that are kept for a system; then all are forgotten, and computed again when asked for."""


@dataclass(eq=False)
class RunNode:
    """A state, and the states after it by line.

    Once computed: `lit`, the claims that hold here; `flight`, the messages in flight, and `ages`,
    since how many steps; `witness`, by claim the places that decide it; `cut`, records that logs
    have lost on the way.
    """

    state: SparseState
    after: dict[str, RunNode] = field(default_factory=dict)
    lit: dict[str, bool] | None = None
    flight: tuple[MessageInFlight, ...] | None = None
    ages: Aged | None = None
    witness: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cut: dict[str, dict[int, dict[str, Any]]] | None = None


class RunTree:
    """The tree below one initial state. `take(state, line, number)` is a step; it may refuse."""

    def __init__(
        self, start: SparseState, take: Callable[[SparseState, str, int], SparseState]
    ) -> None:
        self._start, self._take = start, take
        self._root, self._count = RunNode(start), 0

    def along(self, lines: Sequence[str]) -> RunNode:
        """The state after these lines. Raises what `take` raises for an impossible one."""
        return self.path(lines)[-1]

    def path(self, lines: Sequence[str]) -> list[RunNode]:
        """Every state along these lines, the first and the last included."""
        if self._count > MOST:
            self._root, self._count = RunNode(self._start), 0
        node = self._root
        found = [node]
        for number, line in enumerate(lines, 1):
            after = node.after.get(line)
            if after is None:
                after = RunNode(self._take(node.state, line, number))
                node.after[line] = after
                self._count += 1
            node = after
            found.append(node)
        return found
