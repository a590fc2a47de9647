"""The wide lowering: a 64-bit integer a cell, for real values and for following traces.

    attempt(instance, state, out) -> 0: taken, and `out` is the state after it
                                     p > 0: the instance's requirement number p (from 1) refuses
                                     -(check + 1): a value would leave its field (`WideCode.checks`)

Nothing is packed and nothing is looked up: a field may be as wide as 64 bits, and only sorts that
are used as indices need small bounds.
"""

from __future__ import annotations

from model.language.grounding import Grounded
from model.language.instances import Instance
from model.language.llvm_terms import TermWriter
from model.language.native_expand import Impossible
from model.language.sorts import BOOL
from model.language.terms import FALSE


class _Writer(TermWriter):
    number = "i64"

    def cell(self, number: int, is_bool: bool) -> str:
        """Read where it is first needed."""
        at = self.emit(f"getelementptr inbounds i64, ptr %s, i64 {number}")
        value = self.emit(f"load i64, ptr {at}")
        return self.emit(f"icmp ne i64 {value}, 0") if is_bool else value


class WideCode:
    """The IR text of `attempt` for every instance of a grounded system."""

    def __init__(self, grounded: Grounded) -> None:
        self.grounded = grounded
        self.checks: list[Impossible] = []
        self.cells = len(grounded.cells)
        writer = _Writer()
        cases = " ".join(f"i64 {one.number}, label %i{one.number}" for one in grounded.instances)
        for instance in grounded.instances:
            self._instance(instance, writer)
        self.text = "\n".join([
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
            "define i64 @attempt(i64 %instance, ptr noalias nocapture readonly %s, "
            "ptr noalias nocapture %out) nounwind {",
            "entry:",
            f"  switch i64 %instance, label %unknown [{cases}]",
            "unknown:",
            "  unreachable",
            *writer.lines,
            "}",
            "",
        ])  # fmt: skip

    def _instance(self, instance: Instance, writer: _Writer) -> None:
        name = f"i{instance.number}"
        writer.names = {}
        writer.label(name)
        for position, (condition, _) in enumerate(instance.requires, 1):
            holds = writer.value(condition)
            away = f"{name}no{position}"
            writer.lines.append(f"  br i1 {holds}, label %{name}r{position}, label %{away}")
            writer.label(away)
            writer.lines.append(f"  ret i64 {position}")
            writer.label(f"{name}r{position}")
            if condition is FALSE:
                writer.lines.append("  unreachable")
                return
        for position, check in enumerate(instance.checks):
            fine = writer.value(check.fine)
            away = f"{name}out{position}"
            writer.lines.append(f"  br i1 {fine}, label %{name}c{position}, label %{away}")
            writer.label(away)
            self.checks.append(Impossible(instance.label, check))
            writer.lines.append(f"  ret i64 {-len(self.checks)}")
            writer.label(f"{name}c{position}")
        after = []
        for number, value in sorted(instance.writes.items()):
            operand = writer.value(value)
            if value.sort is BOOL and value.op != "const":
                operand = writer.emit(f"zext i1 {operand} to i64")
            after.append((number, operand))
        writer.lines.append(
            f"  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %s, i64 {8 * self.cells}, i1 false)"
        )
        for number, operand in after:
            at = writer.emit(f"getelementptr inbounds i64, ptr %out, i64 {number}")
            writer.lines.append(f"  store i64 {operand}, ptr {at}")
        writer.lines.append("  ret i64 0")
