"""Packs states into 64-bit words: the place of each cell of an enumerated state.

A cell takes as many bits as its domain needs. No cell straddles two words, and a cell that no step
changes takes no bits. The cells of one broker are adjacent, in the same order for every broker, so
that exchanging brokers moves whole blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from model.language.errors import ProtocolError
from model.language.symmetry import is_broker_like
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Cell

WORD_BITS = 64
MOST_WORDS = 64


class TooWide(ProtocolError):
    """Raised if a state does not fit into the kernel's words."""


@dataclass(frozen=True)
class BitPlace:
    """The bits of a cell: `shift` to `shift + width` of word `word`."""

    word: int
    shift: int
    width: int
    low: int

    @property
    def mask(self) -> int:
        """The cell's bits, not shifted."""
        return (1 << self.width) - 1


def width_of(cell: Cell) -> int:
    """Bits that a cell's domain needs."""
    return (len(cell.domain) - 1).bit_length()


class Packing:
    """The layout: `places` by cell number; `words` is how many a state takes.

    `frozen` cells (number -> code) hold one value in every reachable state and are not stored.
    Raises TooWide, with the widest fields, if more than `MOST_WORDS` are needed.
    """

    def __init__(self, grounded: Grounded, frozen: Mapping[int, int]) -> None:
        self.grounded = grounded
        self.frozen = dict(frozen)
        self.places: dict[int, BitPlace] = {}
        self._used: list[int] = []
        self.blocks: list[list[int]] = []
        """By broker, the numbers of the cells of its block (the same fields for each)."""
        self.first_part = 0
        """How many cells of a block lie together in one word, for every broker alike."""
        stored = [c for c in grounded.cells if c.number not in self.frozen and width_of(c)]
        blocks = self._broker_blocks(stored)
        placed = {number for block in blocks for number in block}
        self._place_blocks(blocks)
        for cell in sorted(
            (c for c in stored if c.number not in placed), key=lambda c: (-width_of(c), c.number)
        ):
            self._place_one(cell)
        self.words = max(1, len(self._used))
        self.bits = sum(self._used)
        if self.words > MOST_WORDS:
            raise TooWide(self._why_too_wide())
        self._by_word: list[list[tuple[int, BitPlace]]] = [[] for _ in range(self.words)]
        for number, place in sorted(self.places.items()):
            self._by_word[place.word].append((number, place))

    # -- layout -----------------------------------------------------------------------------

    def _broker_blocks(self, stored: Sequence[Cell]) -> list[list[int]]:
        """Cells indexed by exactly one broker whose value is none; aligned over the brokers."""
        by_broker: dict[int, dict[tuple[object, ...], int]] = {}
        for cell in stored:
            dims = cell.field.dims
            positions = [i for i, sort in enumerate(dims) if is_broker_like(sort)]
            if len(positions) != 1 or is_broker_like(cell.field.sort):
                continue
            (at,) = positions
            rest = (cell.field.name, *cell.index[:at], *cell.index[at + 1 :])
            by_broker.setdefault(cell.index[at], {})[rest] = cell.number
        if not by_broker:
            return []
        common = set.intersection(*(set(cells) for cells in by_broker.values()))
        size = {rest: width_of(self.grounded.cells[next(iter(by_broker.values()))[rest]])
                for rest in common}  # fmt: skip
        order = sorted(common, key=lambda rest: (-size[rest], str(rest)))
        return [[by_broker[broker][rest] for rest in order] for broker in sorted(by_broker)]

    def _place_blocks(self, blocks: list[list[int]]) -> None:
        """Each block in parts of at most a word; the same parts for every broker."""
        self.blocks = blocks
        if not blocks:
            return
        cells = self.grounded.cells
        parts: list[list[int]] = [[]]
        room = WORD_BITS
        for position, number in enumerate(blocks[0]):
            width = width_of(cells[number])
            if width > room:
                parts.append([])
                room = WORD_BITS
            parts[-1].append(position)
            room -= width
        self.first_part = len(parts[0])
        for part in parts:
            size = sum(width_of(cells[blocks[0][position]]) for position in part)
            for block in blocks:
                word, shift = self._room_for(size)
                for position in part:
                    shift = self._place_cell(cells[block[position]], word, shift)

    def _place_one(self, cell: Cell) -> None:
        self._place_cell(cell, *self._room_for(width_of(cell)))

    def _room_for(self, width: int) -> tuple[int, int]:
        for word, used in enumerate(self._used):
            if used + width <= WORD_BITS:
                self._used[word] += width
                return word, used
        self._used.append(width)
        return len(self._used) - 1, 0

    def _place_cell(self, cell: Cell, word: int, shift: int) -> int:
        self.places[cell.number] = BitPlace(word, shift, width_of(cell), cell.domain[0])
        return shift + width_of(cell)

    def _why_too_wide(self) -> str:
        widths: dict[str, int] = {}
        for number, place in self.places.items():
            name = self.grounded.cells[number].field.name
            widths[name] = widths.get(name, 0) + place.width
        widest = sorted(widths.items(), key=lambda pair: (-pair[1], pair[0]))
        shown = ", ".join(f"{name} {bits}" for name, bits in widest[:12])
        return (
            f"a state takes {self.bits} bits and {MOST_WORDS} words of {WORD_BITS} are the most; "
            f"bits by field: {shown}; choose smaller bounds, or --engine python"
        )

    # -- values -----------------------------------------------------------------------------

    def pack(self, codes: Sequence[int]) -> tuple[int, ...]:
        """Codes by cell -> words. A frozen cell must hold its value."""
        words = [0] * self.words
        for number, code in self.frozen.items():
            if codes[number] != code:
                name = self.grounded.cells[number].name
                raise ProtocolError(
                    f"{name} never changes from {code} and would be {codes[number]}"
                )
        for number, place in self.places.items():
            words[place.word] |= (codes[number] - place.low) << place.shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> tuple[int, ...]:
        """Words -> codes by cell."""
        codes = [cell.domain[0] for cell in self.grounded.cells]
        for number, code in self.frozen.items():
            codes[number] = code
        for number, place in self.places.items():
            codes[number] = ((int(words[place.word]) >> place.shift) & place.mask) + place.low
        return tuple(codes)

    def in_word(self, word: int) -> Iterable[tuple[int, BitPlace]]:
        """The cells of one word, by number."""
        return self._by_word[word]
