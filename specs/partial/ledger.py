"""One state that steps change in place, with a journal of changes so that each can be undone.

The state is sparse, like the twin's: field -> {index -> code}, without blank cells. With `mark`
and `undo` the cost of trying a step depends on its changes only, not on the length of the logs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from model.language.sparse import Index, SparseState

Change = tuple[int, Index, Any]
"""(number of the field, index, code)."""

_WORD = (1 << 64) - 1


class Ledger:
    """The state, and the journal of the changes that led to it.

    `fields` names the fields by number, with the blank code of each; `logs` maps a field that is
    the end of a log to the fields of its records; records at and above the end do not exist.
    """

    def __init__(self, fields: list[tuple[str, Any]], logs: dict[int, list[int]]) -> None:
        self.names = [name for name, _ in fields]
        self.blanks = [blank for _, blank in fields]
        self.logs = logs
        self.cells: list[dict[Index, Any]] = [{} for _ in fields]
        self.journal: list[Change] = []
        self.is_keyed = True
        """Is `key` kept? Where states are not compared with each other it need not be."""
        self._sum = 0

    @property
    def key(self) -> int:
        """Equal for equal states: the sum of two hashes of 64 bits for each cell that is not blank.

        Two states that differ have the same key with a chance of about one in 2^128.
        """
        return self._sum

    def load(self, state: SparseState) -> None:
        """Replaces the state; earlier changes can no longer be undone."""
        for cells in self.cells:
            cells.clear()
        self.journal.clear()
        self._sum = 0
        numbers = {name: number for number, name in enumerate(self.names)}
        for name, cells in state.items():
            if name in numbers:
                for index, code in cells.items():
                    self._put(numbers[name], index, code)

    def state(self) -> SparseState:
        """A copy of the state, in the twin's form."""
        return {
            name: dict(cells)
            for name, cells in sorted(zip(self.names, self.cells, strict=True))
            if cells
        }

    def read(self, number: int, index: Index) -> Any:
        """The code of a cell."""
        return self.cells[number].get(index, self.blanks[number])

    def apply(self, changes: Iterable[Change]) -> None:
        """Applies all changes of one step."""
        for number, index, code in changes:
            before = self.cells[number].get(index, self.blanks[number])
            if before == code:
                continue
            self.journal.append((number, index, before))
            self._put(number, index, code)
            if number in self.logs and code < before:
                self._cut(number, index, code, before)

    def _cut(self, number: int, index: Index, end: int, before: int) -> None:
        for part in self.logs[number]:
            cells, blank = self.cells[part], self.blanks[part]
            for offset in range(end, before):
                at = (*index, offset)
                if at in cells:
                    self.journal.append((part, at, cells[at]))
                    self._put(part, at, blank)

    def _put(self, number: int, index: Index, code: Any) -> None:
        cells, blank = self.cells[number], self.blanks[number]
        if not self.is_keyed:
            if code == blank:
                cells.pop(index, None)
            else:
                cells[index] = code
            return
        before = cells.get(index, blank)
        if before != blank:
            self._sum = (self._sum - _hash(number, index, before)) & (_WORD << 64 | _WORD)
        if code == blank:
            cells.pop(index, None)
        else:
            cells[index] = code
            self._sum = (self._sum + _hash(number, index, code)) & (_WORD << 64 | _WORD)

    def mark(self) -> int:
        """The current position of the journal, for `undo`."""
        return len(self.journal)

    def undo(self, mark: int) -> None:
        """Undoes all changes since a mark, the last change first."""
        journal = self.journal
        while len(journal) > mark:
            self._put(*journal.pop())


def _hash(number: int, index: Index, code: Any) -> int:
    # Integers and tuples of them hash alike in every process, so that a search repeats exactly.
    one, other = hash((number, index, int(code))), hash((int(code), 7919, index, number))
    return (one & _WORD) << 64 | (other & _WORD)
