"""Symmetry over brokers: one representative for all states that differ in broker ids only.

`model/language/symmetry.py` defines where it is sound. `canonical_text` is the IR that turns a
packed state into the least of its orbit. It is exact: the brokers' blocks are sorted by content,
and if two blocks are equal, all of their orders are tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from model.language.sorts import Enumeration
from model.language.symmetry import is_broker_like
from specs.lowering.grounding import Grounded
from specs.lowering.llvm_terms import LANES
from specs.lowering.packed_terms import PackedWriter
from specs.lowering.packing import Packing

MOST_BROKERS = 4
"""With n brokers n! orders are compiled."""

Permutation = dict[int, int]

WORD = f"<{LANES} x i64>"
"""A word of the state in every lane."""


def permutations(grounded: Grounded) -> list[Permutation]:
    """Every renaming of the brokers, the identity first; *none* (0) stays."""
    brokers = range(1, _brokers(grounded) + 1)
    return [
        {0: 0, **dict(zip(brokers, chosen, strict=True))}
        for chosen in itertools.permutations(brokers)
    ]


def _brokers(grounded: Grounded) -> int:
    for leaf in grounded.recorded.fields.values():
        for sort in (*leaf.dims, leaf.sort):
            if isinstance(sort, Enumeration):
                return sort.domain(grounded.bounds)[-1]
    return 0


def renamed_cell(grounded: Grounded, number: int, names: Mapping[int, int]) -> int:
    """The cell that has, after the renaming, the content of this cell."""
    cell = grounded.cells[number]
    index = tuple(
        names[i] if is_broker_like(sort) else i
        for sort, i in zip(cell.field.dims, cell.index, strict=True)
    )
    return grounded.cell(cell.field.name, *index).number


def renamed_codes(
    grounded: Grounded, codes: Sequence[int], names: Mapping[int, int]
) -> tuple[int, ...]:
    """A whole state with its brokers renamed: the definition that the IR is tested against."""
    after = list(codes)
    for cell in grounded.cells:
        code = codes[cell.number]
        value = names[code] if is_broker_like(cell.field.sort) else code
        after[renamed_cell(grounded, cell.number, names)] = value
    return tuple(after)


# -- the canonical state ----------------------------------------------------------------------


class _Function(PackedWriter):
    """Words of one state in every lane."""

    def masked(self, word: str, mask: int, shift: int) -> str:
        """Bits of a word, moved left (shift > 0) or right."""
        bits = self.emit(f"and {WORD} {word}, {self.literal('i64', mask)}")
        if shift > 0:
            return self.emit(f"shl {WORD} {bits}, {self.literal('i64', shift)}")
        return self.emit(f"lshr {WORD} {bits}, {self.literal('i64', -shift)}") if shift else bits


def canonical_text(packing: Packing) -> str:
    """`canonical(states, row)`: replaces `LANES` states by the least of their orbits, in place.

    Word w of state n lies at `states[w * row + n]`.
    """
    grounded = packing.grounded
    made = _Function(packing, LANES)
    allocated, places = [], []
    for word, name in enumerate(made.words):
        offset = made.emit(f"mul i64 %row, {word}")
        places.append(made.emit(f"getelementptr inbounds i64, ptr %s, i64 {offset}"))
        made.lines.append(f"  {name} = load {WORD}, ptr {places[-1]}, align 8")
        allocated.append(f"  %best{word} = alloca {WORD}")
        made.lines.append(f"  store {WORD} {made.literal('i64', -1)}, ptr %best{word}")
    keys = _keys(packing, made)
    ordered = _ordered_pairs(keys, made)
    for number, names in enumerate(permutations(grounded)):
        sorted_by_key = [ordered[a, b] for a, b in _must_be_ordered(names, len(keys))]
        consistent = made.fold("and", [made.literal("i1", 1), *sorted_by_key], made.kind("i1"))
        made.lines.append(
            f"  br i1 {made.any_lane(consistent)}, label %p{number}, label %p{number}end"
        )
        made.label(f"p{number}")
        _keep_if_less(_renamed_words(packing, names, made), consistent, made)
        made.lines.append(f"  br label %p{number}end")
        made.label(f"p{number}end")
    for word, place in enumerate(places):
        best = made.emit(f"load {WORD}, ptr %best{word}")
        made.lines.append(f"  store {WORD} {best}, ptr {place}, align 8")
    return "\n".join(
        ["define i64 @canonical(ptr noalias nocapture %s, i64 %row) nounwind {", "entry:",
         *allocated, *made.lines, "  ret i64 0", "}", ""]
    )  # fmt: skip


def _keys(packing: Packing, made: _Function) -> list[str]:
    """What a broker's own block holds, as far as it fits a word: the same for renamed brokers."""
    keys: list[str] = []
    for block in packing.blocks:
        # The first part only: a later one may lie in the same word for some brokers, not for all.
        first = [packing.places[number] for number in block[: packing.first_part]]
        low = min(place.shift for place in first)
        width = max(place.shift + place.width for place in first) - low
        keys.append(made.masked(made.words[first[0].word], ((1 << width) - 1) << low, -low))
    return keys


def _ordered_pairs(keys: list[str], made: _Function) -> dict[tuple[int, int], str]:
    return {
        (a, b): made.emit(f"icmp ule {WORD} {keys[a - 1]}, {keys[b - 1]}")
        for a in range(1, len(keys) + 1)
        for b in range(1, len(keys) + 1)
        if a != b
    }


def _must_be_ordered(names: Permutation, count: int) -> Iterator[tuple[int, int]]:
    """The brokers that become neighbours: the renamed state has its blocks in order."""
    back = {new: old for old, new in names.items()}
    for position in range(1, count):
        yield back[position], back[position + 1]


def _renamed_words(packing: Packing, names: Permutation, made: _Function) -> list[str]:
    """The words after a renaming; cells that move together are moved together."""
    grounded = packing.grounded
    moves: dict[tuple[int, int, int], int] = {}
    parts: list[list[str]] = [[] for _ in made.words]
    for number, place in sorted(packing.places.items()):
        target = packing.places[renamed_cell(grounded, number, names)]
        if is_broker_like(grounded.cells[number].field.sort):
            parts[target.word].append(_renamed_value(packing, number, target.shift, names, made))
            continue
        key = (place.word, target.word, target.shift - place.shift)
        moves[key] = moves.get(key, 0) | place.mask << place.shift
    for (source, into, shift), mask in sorted(moves.items()):
        parts[into].append(made.masked(made.words[source], mask, shift))
    nothing = made.literal("i64", 0)
    return [made.fold("or", part or [nothing], WORD) for part in parts]


SLOT = 4
"""Bits of an entry in the table of renamed values: brokers are fewer than 16."""


def _renamed_value(
    packing: Packing, number: int, shift: int, names: Permutation, made: _Function
) -> str:
    """A cell that holds a broker: its value is looked up in a table that is one literal."""
    place = packing.places[number]
    domain = packing.grounded.cells[number].domain
    table = 0
    for code in domain:
        table |= (names[code] - place.low) << (SLOT * (code - place.low))
    value = made.masked(f"%w{place.word}", place.mask << place.shift, -place.shift)
    amount = made.emit(f"shl {WORD} {value}, {made.literal('i64', 2)}")
    looked_up = made.emit(f"lshr {WORD} {made.literal('i64', table)}, {amount}")
    entry = made.emit(f"and {WORD} {looked_up}, {made.literal('i64', (1 << SLOT) - 1)}")
    return made.emit(f"shl {WORD} {entry}, {made.literal('i64', shift)}") if shift else entry


def _keep_if_less(candidate: list[str], consistent: str, made: _Function) -> None:
    """In the lanes that it is for. Compare from the last word, so that the first decides."""
    truth = made.kind("i1")
    best = [made.emit(f"load {WORD}, ptr %best{word}") for word in range(len(candidate))]
    less = made.literal("i1", 0)
    for one, other in reversed(list(zip(candidate, best, strict=True))):
        below = made.emit(f"icmp ult {WORD} {one}, {other}")
        equal = made.emit(f"icmp eq {WORD} {one}, {other}")
        tied = made.emit(f"and {truth} {equal}, {less}")
        less = made.emit(f"or {truth} {below}, {tied}")
    chosen = made.emit(f"and {truth} {less}, {consistent}")
    for word, (one, other) in enumerate(zip(candidate, best, strict=True)):
        kept = made.emit(f"select {truth} {chosen}, {WORD} {one}, {WORD} {other}")
        made.lines.append(f"  store {WORD} {kept}, ptr %best{word}")
