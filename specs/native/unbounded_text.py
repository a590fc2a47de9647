"""Recorded steps as LLVM functions over cells without bounds (see `unbounded_layout`).

    attempt(move, args, cells, meta, out) -> n >= 0: possible, and n changes are in `out`
                                             -(k + 1): the step's requirement number k refuses

A change is six words: field, four indices, code. `out` needs room for `most` changes, and for
`sweeps` times as many as the longest list has entries. Nothing of the state is written here: who
calls takes the changes, or leaves them. The semantics are those of
`specs.partial.compiled_steps`, which writes the same steps as Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from model.language.recording import Write
from specs.native.unbounded_layout import CHANGE, COUNT, MOST_INDICES, Layout, NotNative
from specs.native.unbounded_terms import Function
from specs.partial.compiled_steps import CompiledSteps, TransitionMove
from specs.partial.written import blank_where_blank, limited, only_point

FIND = """
define internal i64 @find(ptr %cells, i64 %base, i64 %count, i64 %a, i64 %b, i64 %c, i64 %d,
                          i64 %blank) nounwind {
entry:
  br label %head
head:
  %n = phi i64 [ 0, %entry ], [ %next, %on ]
  %more = icmp slt i64 %n, %count
  br i1 %more, label %look, label %none
look:
  %far = mul i64 %n, 5
  %at = add i64 %base, %far
  %pa = getelementptr inbounds i64, ptr %cells, i64 %at
  %pb = getelementptr inbounds i64, ptr %pa, i64 1
  %pc = getelementptr inbounds i64, ptr %pa, i64 2
  %pd = getelementptr inbounds i64, ptr %pa, i64 3
  %pv = getelementptr inbounds i64, ptr %pa, i64 4
  %va = load i64, ptr %pa
  %vb = load i64, ptr %pb
  %vc = load i64, ptr %pc
  %vd = load i64, ptr %pd
  %ea = icmp eq i64 %va, %a
  %eb = icmp eq i64 %vb, %b
  %ec = icmp eq i64 %vc, %c
  %ed = icmp eq i64 %vd, %d
  %ab = and i1 %ea, %eb
  %cd = and i1 %ec, %ed
  %same = and i1 %ab, %cd
  br i1 %same, label %found, label %on
on:
  %next = add i64 %n, 1
  br label %head
found:
  %v = load i64, ptr %pv
  ret i64 %v
none:
  ret i64 %blank
}
"""
"""Looks an entry up in a list: five words each, the code last."""


class StepsText:
    """The IR text of `attempt` for all moves of a system; NotNative where there is none."""

    def __init__(self, moves: CompiledSteps, layout: Layout) -> None:
        self.moves, self.layout = moves, layout
        self.names = list(moves.by_name)
        self.most = self.sweeps = 0
        functions = [
            self._function(number, move) for number, move in enumerate(moves.by_name.values())
        ]
        cases = " ".join(f"i64 {n}, label %go{n}" for n in range(len(functions)))
        calls = []
        for n in range(len(functions)):
            given = "ptr %args, ptr %cells, ptr %meta, ptr %out"
            calls += [f"go{n}:", f"  %r{n} = call i64 @move{n}({given})", f"  ret i64 %r{n}"]
        self.text = "\n".join([
            FIND,
            *functions,
            "define i64 @attempt(i64 %move, ptr %args, ptr %cells, ptr %meta, ptr %out) nounwind {",
            "entry:",
            f"  switch i64 %move, label %unknown [{cases}]",
            "unknown:",
            "  unreachable",
            *calls,
            "}",
            "",
        ])  # fmt: skip

    def _function(self, number: int, move: TransitionMove) -> str:
        made = Function(self.layout, self.moves.twin)
        for place, name in enumerate(move.parameters):
            made.variables[f"${name}"] = made.word("%args", str(place))
        for position, requirement in enumerate(move.recorded.requires):
            holds = made.value(requirement.condition)
            made.branch(holds, f"holds{position}", f"refused{position}")
            made.begin(f"refused{position}")
            made.do(f"ret i64 {-(position + 1)}")
            made.begin(f"holds{position}")
        count, most, sweeps = made.slot(), 0, 0
        for write in move.writes:
            changes, swept = self._write(made, write, count)
            most, sweeps = most + changes, sweeps + swept
        made.do(f"ret i64 {made.load(count)}")
        self.most, self.sweeps = max(self.most, most), max(self.sweeps, sweeps)
        return "\n".join([
            f"define internal i64 @move{number}(ptr noalias readonly %args, "
            "ptr noalias readonly %cells, ptr noalias readonly %meta, ptr noalias %out) nounwind {",
            "entry:", *made.slots, "  br label %begin", "begin:", *made.lines, "}",
        ])  # fmt: skip

    def _write(self, made: Function, write: Write, count: str) -> tuple[int, int]:
        """Code of one write; how many changes it makes at most, and whether it sweeps a list."""
        number, twin = self.layout.numbers[write.field], self.moves.twin
        endless = [one for one in write.variables if limited(one.sort, twin) is None]
        if endless and blank_where_blank(write, self.moves.ledger.blanks[number]):
            self._sweep(made, number, write, count)
            return 0, 1
        points = {one: only_point(write, one) for one in endless}
        if any(point is None for point in points.values()):
            raise NotNative(f"{write.field} is defined for endlessly many indices at once")
        times = 1
        with ExitStack() as inside:
            for one in write.variables:
                point = points.get(one)
                if point is not None:
                    inside.enter_context(made.where(one.args[0], made.value(point)))
                    continue
                bounds = made.numbers_of(one.sort)
                assert bounds is not None
                times *= int(bounds[1]) - int(bounds[0])
                inside.enter_context(made.loop(*bounds, one.args[0]))
            index = [made.value(key) for key in (*write.keys, *write.variables)]
            self._change(made, number, index, made.number(write.value), count)
        return times, 0

    def _sweep(self, made: Function, number: int, write: Write, count: str) -> None:
        """Only entries that there are can change: the few in flight, of endlessly many."""
        if not self.layout.is_list(number):
            raise NotNative(f"{write.field} is no list, and all its cells are written at once")
        keys = [made.value(key) for key in write.keys]
        total = made.meta(number, COUNT)
        with made.loop("0", total, f"entry of {write.field}") as (entry, _):
            here = made.entry(number, entry)
            depth = len(keys) + len(write.variables)
            index = [made.word(here, str(place)) for place in range(depth)]
            inside = "1"
            for key, found in zip(keys, index, strict=False):
                same = made.emit(f"icmp eq i64 {key}, {found}")
                inside = made.emit(f"and i1 {inside}, {same}")
            with ExitStack() as inner:
                for one, found in zip(write.variables, index[len(keys) :], strict=True):
                    inner.enter_context(made.where(one.args[0], found))
                value = made.number(write.value)
            write_it, leave_it = f"write{made.fresh()}", f"leave{made.fresh()}"
            made.branch(inside, write_it, leave_it)
            made.begin(write_it)
            self._change(made, number, index, value, count)
            made.label(leave_it)

    @staticmethod
    def _change(made: Function, number: int, index: Sequence[str], code: str, count: str) -> None:
        n = made.load(count)
        here = made.at("%out", made.emit(f"mul i64 {n}, {CHANGE}"))
        words = [str(number), *index, *["0"] * (MOST_INDICES - len(index)), code]
        for place, word in enumerate(words):
            made.do(f"store i64 {word}, ptr {made.at(here, str(place))}")
        following = made.emit(f"add i64 {n}, 1")
        made.do(f"store i64 {following}, ptr {count}")
