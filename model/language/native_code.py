"""The native lowering: recorded terms as LLVM IR, one text per system, version and bounds.

Four functions over packed states (see `packing`), all pointers distinct:

    expand(state, out, fired, refused, pruned) -> successors written to `out`, or -(check + 1)
    judge(state)              -> bit i is the truth of claim i, 0 if it is about steps
    judge_step(state, after)  -> bit i is the truth of claim i, 0 if it is not about steps
    possible(state, bits)     -> bit i of `bits` is the truth of the guard of fair instance i

`fired` counts by instance, `refused` marks by reason, `pruned` counts by bound and, in its last
place, over all bounds. A negative answer names the check (see `NativeCode.checks`) whose value
would leave its field: nothing is ever written beyond a field's bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.language.decisions import Block, decision_tree, place_locals
from model.language.frozen import Frozen, Kept
from model.language.grounding import Grounded
from model.language.instances import Check
from model.language.llvm_terms import TermWriter, signed
from model.language.packing import WORD_BITS, Packing
from model.language.sorts import BOOL
from model.language.terms import FALSE, Term, and_


@dataclass(frozen=True)
class Impossible:
    """A check that a successor must pass: what the kernel's negative answers mean."""

    label: str
    check: Check


def is_free(term: Term) -> bool:
    """Literals are written where they are used; all else is worth keeping."""
    return term.op == "const"


class Writer(TermWriter):
    """A function over packed states."""

    def __init__(self, packing: Packing) -> None:
        super().__init__()
        self.packing = packing
        self.words = [f"%w{word}" for word in range(packing.words)]
        self.words_after = [f"%a{word}" for word in range(packing.words)]

    def load_words(self, pointer: str = "%s") -> None:
        """A state's words, read once: `%s` is the state, `%after` the one after a step."""
        for word, name in enumerate(self.words if pointer == "%s" else self.words_after):
            at = self.emit(f"getelementptr inbounds i64, ptr {pointer}, i64 {word}")
            self.lines.append(f"  {name} = load i64, ptr {at}")

    def cell(self, number: int, is_bool: bool) -> str:
        """Shifted out of its word, and masked."""
        cells = self.packing.grounded.cells
        words = self.words if number < len(cells) else self.words_after
        number %= len(cells)
        place = self.packing.places.get(number)
        if place is None:  # a domain of one value
            return str(cells[number].domain[0])
        moved = words[place.word]
        if place.shift:
            moved = self.emit(f"lshr i64 {moved}, {place.shift}")
        if is_bool:
            return self.emit(f"trunc i64 {moved} to i1")
        masked = self.emit(f"and i64 {moved}, {place.mask}")
        small = self.emit(f"trunc i64 {masked} to i32")
        return self.emit(f"add i32 {small}, {place.low}") if place.low else small

    # -- successors -------------------------------------------------------------------------

    def successor(self, writes: dict[int, Term]) -> list[str]:
        """The words of the state after the writes."""
        after = list(self.words)
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
            kept = self.emit(f"and i64 {self.words[word]}, {signed(~cleared)}")
            if literal:
                kept = self.emit(f"or i64 {kept}, {signed(literal)}")
            after[word] = self.fold("or", [kept, *parts], "i64")
        return after

    def _shifted(self, value: Term, shift: int, low: int) -> str:
        operand = self.value(value)
        if value.sort is BOOL:
            wide = self.emit(f"zext i1 {operand} to i64")
        else:
            if low:
                operand = self.emit(f"sub i32 {operand}, {low}")
            wide = self.emit(f"zext i32 {operand} to i64")
        return self.emit(f"shl i64 {wide}, {shift}") if shift else wide


class NativeCode:
    """The IR text of a grounded system, and how to read what it answers.

    `claims` are in the order of `judge`'s bits (at most 63); `bounds` in the order of `pruned`;
    `fair` are the instances that some `eventually` treats fairly, in the order of their bits.
    """

    def __init__(self, grounded: Grounded, frozen: Frozen, packing: Packing) -> None:
        self.grounded, self.frozen, self.packing = grounded, frozen, packing
        self.claims = list(grounded.claims)
        self.bounds = sorted(
            {c.bound for one in frozen.kept for c in one.checks if c.bound is not None}
        )
        self.checks: list[Impossible] = []
        # A guard that no step can ever pass marks its reasons, but has no successor.
        self.most_successors = sum(1 for one in frozen.kept if not _is_dead(one))
        self.fair = sorted({n for name in self.claims for n in grounded.fair_instances(name)})
        states = [n for n, name in enumerate(self.claims) if not grounded.is_about_steps(name)]
        steps = [n for n, name in enumerate(self.claims) if grounded.is_about_steps(name)]
        self.text = "\n".join([
            *self._expand(), "", *self._judge("judge", ["%s"], states), "",
            *self._judge("judge_step", ["%s", "%after"], steps), "", *self._possible(), "",
        ])  # fmt: skip

    # -- expand -----------------------------------------------------------------------------

    def _expand(self) -> list[str]:
        root = decision_tree(self.frozen.kept, mark_first=True)
        place_locals(root, cheap=is_free)
        # Refused in every state: marked once by the driver, not in every call.
        self.always_refused = sorted(root.refused_here)
        root.refused_here.clear()
        writer = Writer(self.packing)
        writer.load_words()
        self._block(root, writer, "b")
        last = writer.emit("load i64, ptr %n")
        tail = [f"  ret i64 {last}"]
        for number in range(len(self.checks)):
            tail += [f"broken{number}:", f"  ret i64 {-(number + 1)}"]
        return [
            "define i64 @expand(ptr noalias nocapture readonly %s, ptr noalias nocapture %out, "
            "ptr noalias nocapture %fired, ptr noalias nocapture %refused, "
            "ptr noalias nocapture %pruned) nounwind {",
            "entry:",
            "  %n = alloca i64",
            "  store i64 0, ptr %n",
            *writer.lines,
            *tail,
            "}",
        ]

    def _mark(self, writer: Writer, reason: int) -> None:
        at = writer.emit(f"getelementptr inbounds i8, ptr %refused, i64 {reason}")
        writer.lines.append(f"  store i8 1, ptr {at}")

    def _count(self, writer: Writer, array: str, index: int) -> None:
        at = writer.emit(f"getelementptr inbounds i64, ptr {array}, i64 {index}")
        before = writer.emit(f"load i64, ptr {at}")
        after = writer.emit(f"add i64 {before}, 1")
        writer.lines.append(f"  store i64 {after}, ptr {at}")

    def _block(self, block: Block[Kept], writer: Writer, name: str) -> None:
        mine = dict(writer.names)
        for term in sorted(block.kept, key=lambda made: made.order):
            writer.value(term)
        for reason in sorted(block.refused_here):
            self._mark(writer, reason)
        for position, one in enumerate(block.done):
            self._instance(one, writer, f"{name}i{position}")
        for position, (condition, child) in enumerate(block.children.items()):
            below = f"{name}_{position}"
            self._branch(condition, child, writer, below)
        writer.names = mine

    def _branch(self, condition: Term, child: Block[Kept], writer: Writer, name: str) -> None:
        """Into the child if the condition holds, else mark what refused."""
        holds = writer.value(condition)
        outer = dict(writer.names)
        writer.lines.append(f"  br i1 {holds}, label %{name}, label %{name}else")
        writer.label(name)
        self._block(child, writer, name)
        writer.lines.append(f"  br label %{name}end")
        writer.label(f"{name}else")
        for reason in sorted(child.reasons):
            self._mark(writer, reason)
        writer.lines.append(f"  br label %{name}end")
        writer.label(f"{name}end")
        writer.names = outer  # what was computed inside is not known after

    def _instance(self, one: Kept, writer: Writer, name: str) -> None:
        outer = dict(writer.names)
        for position, check in enumerate(one.checks):
            fine = writer.value(check.fine)
            ok = f"{name}c{position}"
            if check.bound is None:
                away = f"broken{len(self.checks)}"
                self.checks.append(Impossible(one.label, check))
                writer.lines.append(f"  br i1 {fine}, label %{ok}, label %{away}")
            else:
                writer.lines.append(f"  br i1 {fine}, label %{ok}, label %{ok}cut")
                writer.label(f"{ok}cut")
                self._count(writer, "%pruned", self.bounds.index(check.bound))
                self._count(writer, "%pruned", len(self.bounds))
                writer.lines.append(f"  br label %{name}end")
            writer.label(ok)
        after = writer.successor(one.writes)
        number = writer.emit("load i64, ptr %n")
        row = writer.emit(f"mul i64 {number}, {self.packing.words}")
        base = writer.emit(f"getelementptr inbounds i64, ptr %out, i64 {row}")
        for word, value in enumerate(after):
            at = writer.emit(f"getelementptr inbounds i64, ptr {base}, i64 {word}")
            writer.lines.append(f"  store i64 {value}, ptr {at}")
        more = writer.emit(f"add i64 {number}, 1")
        writer.lines.append(f"  store i64 {more}, ptr %n")
        self._count(writer, "%fired", one.number)
        writer.lines.append(f"  br label %{name}end")
        writer.label(f"{name}end")
        writer.names = outer

    # -- judge ------------------------------------------------------------------------------

    def _judge(self, name: str, pointers: list[str], positions: list[int]) -> list[str]:
        writer = Writer(self.packing)
        if positions:
            for pointer in pointers:
                writer.load_words(pointer)
        terms = {n: self.frozen.claims[self.claims[n]] for n in positions}
        answer = self._bits(writer, terms)
        given = ", ".join(f"ptr noalias nocapture readonly {pointer}" for pointer in pointers)
        return [
            f"define i64 @{name}({given}) nounwind {{",
            "entry:",
            *writer.lines,
            f"  ret i64 {answer}",
            "}",
        ]

    def _bits(self, writer: Writer, terms: dict[int, Term]) -> str:
        """A word with the truth of each term in its bit; what terms share is computed once."""
        root: Block[Kept] = Block()
        place_locals(root, {(): list(terms.values())}, cheap=is_free)
        for term in sorted(root.kept, key=lambda made: made.order):
            writer.value(term)
        bits: list[str] = []
        for position, term in terms.items():
            wide = writer.emit(f"zext i1 {writer.value(term)} to i64")
            bits.append(writer.emit(f"shl i64 {wide}, {position}"))
        return writer.fold("or", bits, "i64") if bits else "0"

    def _possible(self) -> list[str]:
        writer = Writer(self.packing)
        writer.load_words()
        by_number = {one.number: one for one in self.frozen.kept}
        guards = [and_(*(condition for condition, _ in by_number[n].requires)) for n in self.fair]
        for first in range(0, len(guards), WORD_BITS):
            word = self._bits(writer, dict(enumerate(guards[first : first + WORD_BITS])))
            at = writer.emit(f"getelementptr inbounds i64, ptr %bits, i64 {first // WORD_BITS}")
            writer.lines.append(f"  store i64 {word}, ptr {at}")
        return [
            "define i64 @possible(ptr noalias nocapture readonly %s, ptr noalias nocapture %bits) "
            "nounwind {",
            "entry:",
            *writer.lines,
            "  ret i64 0",
            "}",
        ]


def _is_dead(one: Kept) -> bool:
    return bool(one.requires) and one.requires[-1][0] is FALSE
