"""The native lowering: recorded terms as LLVM IR, one text per system, version and bounds.

Four functions over packed states (see `packing`), all pointers distinct:

    expand(states, number, first, out, begin, fired, refused, pruned) -> end, or -(check + 1)
    judge(states, truths)     -> bit i of truths[k] is the truth of claim i in state k
    judge_step(state, after)  -> bit i is the truth of claim i
    possible(state, bits)     -> bit i of `bits` is the truth of the guard of fair instance i

The first two take several consecutive states at once: `expand` uses the first `number` (at most
`LANES`), `judge` uses all `LANES`; `LANES` states must be readable. `judge` leaves the bit of a
claim about steps 0, and `judge_step` the bit of a claim about states.

Successors are appended to the planes of `out` from position `begin` to `end`: word w of successor n
is at `out[w * row + n]`, and `out[words * row + n]` has the number of its predecessor, where
`first` is the number of the first state. A call may overwrite up to `LANES` places past `end`. A
row must therefore have room for `BLOCK` successors plus those of one more call.

`fired` counts by instance, `refused` marks by reason, `pruned` counts by bound and, in its last
place, the states from which nothing is possible, within bounds or beyond. A negative answer names
the check (see `NativeCode.checks`) whose value would leave its field: nothing is ever written
beyond a field's bits.
"""

from __future__ import annotations

from model.language.terms import FALSE, Term, and_
from specs.lowering.constant_cells import ConstantCells, SimplifiedInstance
from specs.lowering.decisions import DecisionBlock, place_locals
from specs.lowering.grounding import Grounded
from specs.lowering.llvm_terms import LANES
from specs.lowering.native_expand import ExpandCode, is_free
from specs.lowering.packed_terms import PackedWriter
from specs.lowering.packing import WORD_BITS, Packing

BLOCK = 512
"""How many successors a caller should collect before it processes them."""


class NativeCode:
    """The IR text of a grounded system, and how to read its results.

    `claims` are in the order of `judge`'s bits (at most 63); `bounds` in the order of `pruned`;
    `fair` are the instances that some `eventually` treats fairly, in the order of their bits.
    """

    def __init__(self, grounded: Grounded, frozen: ConstantCells, packing: Packing) -> None:
        self.grounded, self.frozen, self.packing = grounded, frozen, packing
        self.claims = list(grounded.claims)
        self.bounds = sorted(
            {c.bound for one in frozen.kept for c in one.checks if c.bound is not None}
        )
        # A guard that no step can ever pass marks its reasons, but has no successor.
        self.most_successors = sum(1 for one in frozen.kept if not _is_dead(one))
        self.fair = sorted({n for name in self.claims for n in grounded.fair_instances(name)})
        states = [n for n, name in enumerate(self.claims) if not grounded.is_about_steps(name)]
        steps = [n for n, name in enumerate(self.claims) if grounded.is_about_steps(name)]
        expand = ExpandCode(frozen.kept, packing, self.bounds, self.row)
        self.checks, self.always_refused = expand.checks, expand.always_refused
        self.text = "\n\n".join(
            [expand.text, self._judge(states), self._judge_step(steps), self._possible(), ""]
        )

    @property
    def row(self) -> int:
        """The length of one plane of successors: never a multiple of 64, so that planes do not
        compete for one cache set."""
        needed = BLOCK + LANES * (self.most_successors + 1)
        return (needed + 63) // 64 * 64 + 8

    def _judge(self, positions: list[int]) -> str:
        writer = PackedWriter(self.packing, LANES)
        writer.load_words()
        answer = self._bits(writer, {n: self.frozen.claims[self.claims[n]] for n in positions})
        return "\n".join([
            "define i64 @judge(ptr noalias nocapture readonly %s, ptr noalias nocapture %truths) "
            "nounwind {",
            "entry:",
            *writer.lines,
            f"  store {writer.kind('i64')} {answer}, ptr %truths, align 8",
            "  ret i64 0",
            "}",
        ])  # fmt: skip

    def _judge_step(self, positions: list[int]) -> str:
        writer = PackedWriter(self.packing)
        writer.load_words("%s")
        writer.load_words("%after")
        answer = self._bits(writer, {n: self.frozen.claims[self.claims[n]] for n in positions})
        return "\n".join([
            "define i64 @judge_step(ptr noalias nocapture readonly %s, "
            "ptr noalias nocapture readonly %after) nounwind {",
            "entry:",
            *writer.lines,
            f"  ret i64 {answer}",
            "}",
        ])  # fmt: skip

    def _bits(self, writer: PackedWriter, terms: dict[int, Term]) -> str:
        """A word with the truth of each term in its bit; what terms share is computed once."""
        root: DecisionBlock[SimplifiedInstance] = DecisionBlock()
        word = writer.kind("i64")
        place_locals(root, {(): list(terms.values())}, cheap=is_free)
        for term in sorted(root.kept, key=lambda made: made.order):
            writer.value(term)
        bits: list[str] = []
        for position, term in terms.items():
            wide = writer.emit(f"zext {writer.kind('i1')} {writer.value(term)} to {word}")
            bits.append(writer.emit(f"shl {word} {wide}, {writer.literal('i64', position)}"))
        return writer.fold("or", bits, word) if bits else writer.literal("i64", 0)

    def _possible(self) -> str:
        writer = PackedWriter(self.packing)
        writer.load_words()
        by_number = {one.number: one for one in self.frozen.kept}
        guards = [and_(*(condition for condition, _ in by_number[n].requires)) for n in self.fair]
        for first in range(0, len(guards), WORD_BITS):
            word = self._bits(writer, dict(enumerate(guards[first : first + WORD_BITS])))
            at = writer.emit(f"getelementptr inbounds i64, ptr %bits, i64 {first // WORD_BITS}")
            writer.lines.append(f"  store i64 {word}, ptr {at}")
        return "\n".join([
            "define i64 @possible(ptr noalias nocapture readonly %s, ptr noalias nocapture %bits) "
            "nounwind {",
            "entry:",
            *writer.lines,
            "  ret i64 0",
            "}",
        ])  # fmt: skip


def _is_dead(one: SimplifiedInstance) -> bool:
    return bool(one.requires) and one.requires[-1][0] is FALSE
