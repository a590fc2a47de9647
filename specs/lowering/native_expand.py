"""Writes successors as LLVM IR: one tree of all guards, evaluated for several states at once.

Every lane has one state. A condition is evaluated in all lanes at once, and a branch is entered as
soon as some lane needs it; a mask disables the other lanes inside. The processor mispredicts
branches that depend on one state alone; here sixteen states share each branch.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.language.terms import Term
from specs.lowering.constant_cells import SimplifiedInstance
from specs.lowering.decisions import DecisionBlock, decision_tree, place_locals
from specs.lowering.instances import SuccessorCheck
from specs.lowering.llvm_terms import LANES
from specs.lowering.packed_terms import PackedWriter
from specs.lowering.packing import Packing

HALF = 8
"""Lanes that are stored together: those of one vector of 512 bits."""

COMPRESS = (
    "declare <8 x i64> @llvm.experimental.vector.compress.v8i64(<8 x i64>, <8 x i1>, <8 x i64>)"
)


@dataclass(frozen=True)
class Impossible:
    """A check that a successor must pass; a negative answer of the kernel means that it failed."""

    label: str
    check: SuccessorCheck


def is_free(term: Term) -> bool:
    """Is the term a literal, written where it is used? All other terms are worth a local."""
    return term.op == "const"


class ExpandCode:
    """The text of `expand`, its `checks`, and the reasons that refuse in every state.

    `row` is the distance, in words, between two planes of the successors (see `native_code`).
    """

    def __init__(
        self, kept: list[SimplifiedInstance], packing: Packing, bounds: list[str], row: int
    ) -> None:
        self.bounds, self.row = bounds, row
        self.checks: list[Impossible] = []
        root = decision_tree(kept, mark_first=True)
        place_locals(root, cheap=is_free)
        # Refused in every state: marked once by the driver, not in every call.
        self.always_refused = sorted(root.refused_here)
        root.refused_here.clear()
        self._reasons = sorted(
            {reason for block in root.below() for reason in (*block.reasons, *block.refused_here)}
        )
        self._writer = writer = PackedWriter(packing, LANES)
        writer.load_words()
        lane = writer.numbered()
        active = writer.emit(f"icmp ult {writer.kind('i64')} {lane}, {writer.spread('%number')}")
        self._block(root, "b", active)
        self._finish(active)
        self.text = self._text()

    def _text(self) -> str:
        truth = self._writer.kind("i1")
        masks = ["%stepped", *(f"%reason{reason}" for reason in self._reasons)]
        allocated = [
            line
            for mask in masks
            for line in (
                f"  {mask} = alloca {truth}",
                f"  store {truth} zeroinitializer, ptr {mask}",
            )
        ]
        broken = [
            line
            for number in range(len(self.checks))
            for line in (f"broken{number}:", f"  ret i64 {-(number + 1)}")
        ]
        return "\n".join([
            "declare i64 @llvm.ctpop.i64(i64)",
            keep_text(self._writer.packing, self.row),
            "define i64 @expand(ptr noalias nocapture readonly %s, i64 %number, i64 %first, "
            "ptr noalias nocapture %out, i64 %begin, ptr noalias nocapture %fired, "
            "ptr noalias nocapture %refused, ptr noalias nocapture %pruned) nounwind {",
            "entry:",
            "  %n = alloca i64",
            "  store i64 %begin, ptr %n",
            *allocated,
            *self._writer.lines,
            *broken,
            "}",
        ])  # fmt: skip

    def _finish(self, active: str) -> None:
        """What was gathered over the lanes goes where the caller counts it."""
        writer = self._writer
        stepped = writer.emit(f"load {writer.kind('i1')}, ptr %stepped")
        stuck = self._and(active, writer.negated(stepped))
        self._add("%pruned", len(self.bounds), writer.how_many(stuck))
        for reason in self._reasons:
            refusing = writer.emit(f"load {writer.kind('i1')}, ptr %reason{reason}")
            mark = writer.emit(f"zext i1 {writer.any_lane(refusing)} to i8")
            at = writer.emit(f"getelementptr inbounds i8, ptr %refused, i64 {reason}")
            before = writer.emit(f"load i8, ptr {at}")
            after = writer.emit(f"or i8 {before}, {mark}")
            writer.lines.append(f"  store i8 {after}, ptr {at}")
        last = writer.emit("load i64, ptr %n")
        writer.lines.append(f"  ret i64 {last}")

    # -- small pieces -----------------------------------------------------------------------

    def _and(self, one: str, other: str) -> str:
        return self._writer.emit(f"and {self._writer.kind('i1')} {one}, {other}")

    def _include(self, mask: str, lanes: str) -> None:
        writer, truth = self._writer, self._writer.kind("i1")
        before = writer.emit(f"load {truth}, ptr {mask}")
        after = writer.emit(f"or {truth} {before}, {lanes}")
        writer.lines.append(f"  store {truth} {after}, ptr {mask}")

    def _add(self, array: str, index: int, amount: str) -> None:
        writer = self._writer
        at = writer.emit(f"getelementptr inbounds i64, ptr {array}, i64 {index}")
        before = writer.emit(f"load i64, ptr {at}")
        after = writer.emit(f"add i64 {before}, {amount}")
        writer.lines.append(f"  store i64 {after}, ptr {at}")

    def _branch(self, condition: str, then: str, other: str) -> None:
        self._writer.lines.append(f"  br i1 {condition}, label %{then}, label %{other}")

    def _end_at(self, name: str) -> None:
        self._writer.lines.append(f"  br label %{name}")
        self._writer.label(name)

    # -- the tree ---------------------------------------------------------------------------

    def _block(self, block: DecisionBlock[SimplifiedInstance], name: str, active: str) -> None:
        writer = self._writer
        mine = dict(writer.names)
        for term in sorted(block.kept, key=lambda made: made.order):
            writer.value(term)
        for reason in sorted(block.refused_here):
            self._include(f"%reason{reason}", active)
        for position, one in enumerate(block.done):
            self._instance(one, f"{name}i{position}", active)
        for position, (condition, child) in enumerate(block.children.items()):
            self._child(condition, child, f"{name}_{position}", active)
        writer.names = mine

    def _child(
        self, condition: Term, child: DecisionBlock[SimplifiedInstance], name: str, active: str
    ) -> None:
        """Marks what refused in some lane, and enters where the condition holds in some lane."""
        writer = self._writer
        holds = writer.value(condition)
        refusing = self._and(active, writer.negated(holds))
        for reason in sorted(child.reasons):
            self._include(f"%reason{reason}", refusing)
        entering = self._and(active, holds)
        outer = dict(writer.names)
        self._branch(writer.any_lane(entering), name, f"{name}end")
        writer.label(name)
        self._block(child, name, entering)
        self._end_at(f"{name}end")
        writer.names = outer  # what was computed inside is not known after

    def _instance(self, one: SimplifiedInstance, name: str, active: str) -> None:
        writer = self._writer
        outer = dict(writer.names)
        for position, check in enumerate(one.checks):
            active = self._checked(one, check, f"{name}c{position}", active)
        self._include("%stepped", active)
        self._store(one, active)
        self._add("%fired", one.number, writer.how_many(active))
        writer.names = outer

    def _checked(
        self, one: SimplifiedInstance, check: SuccessorCheck, name: str, active: str
    ) -> str:
        """The lanes whose successor passes."""
        writer = self._writer
        fine = writer.value(check.fine)
        failing = self._and(active, writer.negated(fine))
        away = f"{name}cut" if check.bound is not None else f"broken{len(self.checks)}"
        self._branch(writer.any_lane(failing), away, name)
        if check.bound is None:
            self.checks.append(Impossible(one.label, check))
            writer.label(name)
            return active
        writer.label(away)
        self._add("%pruned", self.bounds.index(check.bound), writer.how_many(failing))
        self._include("%stepped", failing)
        self._end_at(name)
        return self._and(active, fine)

    def _store(self, one: SimplifiedInstance, active: str) -> None:
        """The successors of the active lanes, packed together, behind those that are there."""
        writer = self._writer
        words = writer.successor(one.writes)
        number = writer.emit("load i64, ptr %n")
        given = ", ".join(f"{writer.kind('i64')} {word}" for word in words)
        after = writer.emit(
            f"call fastcc i64 @keep({given}, {writer.kind('i1')} {active}, i64 %first, ptr %out, "
            f"i64 {number})"
        )
        writer.lines.append(f"  store i64 {after}, ptr %n")


def keep_text(packing: Packing, row: int) -> str:
    """`keep(words..., lanes, first, out, begin) -> end`: one function for all instances.

    Inside `expand` it would be most of its text, and take most of the time to compile.
    """
    writer = PackedWriter(packing, LANES)
    kind, number = writer.kind("i64"), "%begin"
    origin = writer.emit(f"add {kind} {writer.numbered()}, {writer.spread('%first')}")
    for first in range(0, LANES, HALF):
        chosen = writer.part("i1", "%lanes", first, HALF)
        base = writer.emit(f"getelementptr inbounds i64, ptr %out, i64 {number}")
        for plane, whole in enumerate([*writer.words, origin]):
            half = writer.part("i64", whole, first, HALF)
            packed = writer.emit(
                "call <8 x i64> @llvm.experimental.vector.compress.v8i64("
                f"<8 x i64> {half}, <8 x i1> {chosen}, <8 x i64> poison)"
            )
            at = writer.emit(f"getelementptr inbounds i64, ptr {base}, i64 {plane * row}")
            writer.lines.append(f"  store <8 x i64> {packed}, ptr {at}, align 8")
        number = writer.emit(f"add i64 {number}, {writer.how_many(chosen, HALF)}")
    given = ", ".join(f"{kind} {word}" for word in writer.words)
    return "\n".join([
        COMPRESS,
        f"define internal fastcc i64 @keep({given}, {writer.kind('i1')} %lanes, i64 %first, "
        "ptr noalias nocapture %out, i64 %begin) noinline nounwind {",
        "entry:",
        *writer.lines,
        f"  ret i64 {number}",
        "}",
    ])  # fmt: skip
