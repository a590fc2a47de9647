"""Writes terms over packed states: shifts cells out of words, and writes them back."""

from __future__ import annotations

from model.language.sorts import BOOL
from model.language.terms import Term
from specs.lowering.llvm_terms import TermWriter
from specs.lowering.packing import Packing


class PackedWriter(TermWriter):
    """A function over packed states: one state, or one in each of several lanes."""

    def __init__(self, packing: Packing, lanes: int = 1) -> None:
        super().__init__(lanes)
        self.packing = packing
        self.words = [f"%w{word}" for word in range(packing.words)]
        self.words_after = [f"%a{word}" for word in range(packing.words)]

    def load_words(self, pointer: str = "%s") -> None:
        """Reads a state's words once: `%s` is the state, `%after` the one after a step.

        With lanes, reads as many consecutive states.
        """
        names = self.words if pointer == "%s" else self.words_after
        if self.lanes > 1:
            self._load_lanes(pointer, names)
            return
        for word, name in enumerate(names):
            at = self.emit(f"getelementptr inbounds i64, ptr {pointer}, i64 {word}")
            self.lines.append(f"  {name} = load i64, ptr {at}")

    def _load_lanes(self, pointer: str, names: list[str]) -> None:
        wide = f"<{self.lanes * len(names)} x i64>"
        whole = self.emit(f"load {wide}, ptr {pointer}, align 8")
        for word, name in enumerate(names):
            chosen = ", ".join(f"i32 {lane * len(names) + word}" for lane in range(self.lanes))
            self.lines.append(
                f"  {name} = shufflevector {wide} {whole}, {wide} poison, "
                f"<{self.lanes} x i32> <{chosen}>"
            )

    def cell(self, number: int, is_bool: bool) -> str:
        """A cell, shifted out of its word and masked."""
        cells = self.packing.grounded.cells
        words = self.words if number < len(cells) else self.words_after
        number %= len(cells)
        place = self.packing.places.get(number)
        if place is None:  # a domain of one value
            return self.literal("i1" if is_bool else "i32", cells[number].domain[0])
        moved, word, small = words[place.word], self.kind("i64"), self.kind("i32")
        if is_bool:
            bit = self.emit(f"and {word} {moved}, {self.literal('i64', 1 << place.shift)}")
            return self.emit(f"icmp ne {word} {bit}, {self.literal('i64', 0)}")
        if place.shift:
            moved = self.emit(f"lshr {word} {moved}, {self.literal('i64', place.shift)}")
        cut = self.emit(f"trunc {word} {moved} to {small}")
        code = self.emit(f"and {small} {cut}, {self.literal('i32', place.mask)}")
        if not place.low:
            return code
        return self.emit(f"add {small} {code}, {self.literal('i32', place.low)}")

    def successor(self, writes: dict[int, Term]) -> list[str]:
        """The words of the state after the writes."""
        after, kind = list(self.words), self.kind("i64")
        for word in range(self.packing.words):
            cleared, literal = 0, 0
            parts: list[str] = []
            for number, place in self.packing.in_word(word):
                value = writes.get(number)
                if value is None or (value.op == "cell" and value.args[0] == number):
                    continue
                cleared |= place.mask << place.shift
                if value.op == "const":
                    literal |= (int(value.args[0]) - place.low) << place.shift
                else:
                    parts.append(self._shifted(value, place.shift, place.low))
            if not cleared:
                continue
            kept = self.emit(f"and {kind} {self.words[word]}, {self.literal('i64', ~cleared)}")
            if literal:
                kept = self.emit(f"or {kind} {kept}, {self.literal('i64', literal)}")
            after[word] = self.fold("or", [kept, *parts], kind)
        return after

    def _shifted(self, value: Term, shift: int, low: int) -> str:
        operand, word, small = self.value(value), self.kind("i64"), self.kind("i32")
        if value.sort is BOOL:
            wide = self.emit(f"zext {self.kind('i1')} {operand} to {word}")
        else:
            if low:
                operand = self.emit(f"sub {small} {operand}, {self.literal('i32', low)}")
            wide = self.emit(f"zext {small} {operand} to {word}")
        return self.emit(f"shl {word} {wide}, {self.literal('i64', shift)}") if shift else wide

    # -- lanes ------------------------------------------------------------------------------

    def spread(self, name: str) -> str:
        """A 64-bit value in every lane."""
        kind = self.kind("i64")
        one = self.emit(f"insertelement {kind} poison, i64 {name}, i64 0")
        return self.emit(
            f"shufflevector {kind} {one}, {kind} poison, <{self.lanes} x i32> zeroinitializer"
        )

    def numbered(self) -> str:
        """Every lane's own number."""
        return f"<{', '.join(f'i64 {lane}' for lane in range(self.lanes))}>"

    def part(self, scalar: str, vector: str, first: int, size: int) -> str:
        """Some of the lanes of a vector."""
        kind = self.kind(scalar)
        chosen = ", ".join(f"i32 {lane}" for lane in range(first, first + size))
        return self.emit(f"shufflevector {kind} {vector}, {kind} poison, <{size} x i32> <{chosen}>")

    def any_lane(self, truth: str) -> str:
        """Is this true in some lane?"""
        bits = self.emit(f"bitcast {self.kind('i1')} {truth} to i{self.lanes}")
        return self.emit(f"icmp ne i{self.lanes} {bits}, 0")

    def how_many(self, truth: str, lanes: int | None = None) -> str:
        """The number of lanes in which this is true."""
        lanes = lanes or self.lanes
        bits = self.emit(f"bitcast <{lanes} x i1> {truth} to i{lanes}")
        wide = self.emit(f"zext i{lanes} {bits} to i64")
        return self.emit(f"call i64 @llvm.ctpop.i64(i64 {wide})")
