"""Judges a partial trace: is there a run of the model that fits its lines?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from conformance.mapping import AS_RELEASED, ROWS, UNOBSERVED
from conformance.partial.laws import CHANGES, find_broken_law
from conformance.partial.leaves import ObservedLeaves, observed_leaves
from conformance.partial.read_partial import PartialEvent, PartialTrace, read_partial
from conformance.trace_report import TraceReport, unreadable
from impl.world.trace import TraceError
from model.language.explain import place_and_value
from model.systems import system
from specs.partial.compiled_steps import CompiledSteps, TransitionMove
from specs.partial.search import MOST_TRIED, PartialSearch, find_run
from specs.partial.ways import FittingRun, PartialLine, mismatches
from specs.partial.writers import Choice
from specs.verdict import FindingKind, Verdict


def check_partial(path: str | Path, hidden: int | None = None) -> TraceReport:
    """Judges one file; a file with an error (TraceError, OSError) is not checked."""
    where = Path(path)
    try:
        trace = read_partial(where)
    except (TraceError, OSError) as error:
        return unreadable(where, error)
    return judge_partial(trace, str(where), hidden)


def judge_partial(
    trace: PartialTrace, name: str = "", hidden: int | None = None, tried: int = MOST_TRIED
) -> TraceReport:
    """Judges a trace that is in memory; `hidden` overrides its header."""
    return _Judge(trace, name, trace.hidden if hidden is None else hidden, tried).run()


class _Judge:
    def __init__(self, trace: PartialTrace, name: str, hidden: int, tried: int) -> None:
        self.trace, self.name, self.hidden, self.tried = trace, name, hidden, tried
        recorded = system("replication").recorded(trace.version, AS_RELEASED)
        self.moves = CompiledSteps(recorded, {"brokers": trace.brokers}, frozenset(UNOBSERVED))
        self.report = TraceReport(name, Verdict.NOT_CHECKED, events=len(trace.events))

    def run(self) -> TraceReport:
        report, trace = self.report, self.trace
        if not any(event.step or event.observed for event in trace.events):
            return self._misfit(
                1, Verdict.NOT_CHECKED, "a trace has something to compare",
                f"of {len(trace.events)} lines none names a step or shows a leaf",
                "a step's name, or leaves that were seen, at some line",
            )  # fmt: skip
        search = PartialSearch(self.moves, self.hidden, self.tried, CHANGES)
        first = self._line(1, None, observed_leaves(trace.initial, trace.brokers))
        wrong = mismatches(self.moves.ledger, first)
        if wrong:
            return self._misfit(
                1,
                Verdict.BROKEN,
                "a run starts in the initial state",
                self._mismatch_text(wrong),
                "leaves as they are before anything has happened",
            )
        lines = [
            self._line(event.line, event, observed_leaves(event.observed, trace.brokers))
            for event in trace.events
        ]
        law = find_broken_law([first, *lines], self.moves, self.hidden)
        if law is not None:
            return self._misfit(law.line, Verdict.BROKEN, law.rule, law.why, law.allowed)
        search, found = find_run(self.moves, lines, self.hidden, self.tried, CHANGES)
        report.verdict, report.accepted, report.tried = found.verdict, found.reached, found.tried
        report.silent = found.reached
        if found.verdict is Verdict.HOLDS:
            self._count(found)
            return report
        return self._explain(search, found, lines)

    def _line(self, number: int, event: PartialEvent | None, leaves: ObservedLeaves) -> PartialLine:
        numbers = self.moves.numbers
        steps: tuple[tuple[TransitionMove, Choice], ...] = ()
        silent = True
        if event is not None and event.step is not None:
            row = ROWS[event.step]
            silent = row.silent is not None
            given = {row.arguments[name]: value for name, value in event.args.items()}
            moves = (self.moves.by_name[transition] for transition in row.transitions)
            steps = tuple(
                (move, tuple(given.get(name) for name in move.parameters)) for move in moves
            )
        cells = tuple((numbers[name], at, code) for (name, at), code in leaves.cells.items())
        whole = tuple(
            (numbers[name], tuple(sorted(there.items()))) for name, there in leaves.whole.items()
        )
        role = numbers["replica.role"]
        leading = tuple(
            ((role, (broker,), 1), tuple((numbers[n], at, code) for (n, at), code in ends.items()))
            for broker, ends in leaves.leading.items()
        )
        return PartialLine(number, steps, silent, cells, whole, leading)

    def _count(self, found: FittingRun) -> None:
        fired = Counter(step[0].name for _, step, _ in found.steps)
        self.report.fired = dict(sorted(fired.items()))
        self.report.hidden = sum(hidden for _, _, hidden in found.steps)
        self.report.silent = self.report.accepted - (fired.total() - self.report.hidden)
        self.report.run = [
            (line, f"{move.name}({', '.join(map(str, arguments))})", hidden)
            for line, (move, arguments), hidden in found.steps
        ]

    def _misfit(
        self, line: int, verdict: Verdict, rule: str, why: str, allowed: str
    ) -> TraceReport:
        kinds = {
            Verdict.BROKEN: FindingKind.IMPOSSIBLE,
            Verdict.NOT_CHECKED: FindingKind.UNREADABLE,
        }
        self.report.verdict = verdict
        self.report.add(
            kinds.get(verdict, FindingKind.INCOMPLETE), self.name, line, rule, why, allowed
        )
        return self.report

    def _explain(
        self, search: PartialSearch, found: FittingRun, lines: list[PartialLine]
    ) -> TraceReport:
        assert search.furthest is not None
        at, state = search.furthest
        line = lines[at]
        self.moves.ledger.load(state)
        event = self.trace.events[at]
        what = event.step or "what is seen"
        texts: list[str] = []
        nearest: tuple[int, str] | None = None
        for move, known in line.steps:
            for arguments in search.planner.writers.arguments_of_line(move, known):
                values = dict(zip(move.parameters, arguments, strict=True))
                lacking = move.refusal(*arguments)
                if lacking >= 0:
                    requirement = move.recorded.requires[lacking]
                    reason = self.moves.twin.explain(requirement, state, values)
                    texts.append(f"{move.name}: {reason}")
                    continue
                mark = self.moves.ledger.mark()
                self.moves.take(move, arguments)
                wrong = mismatches(self.moves.ledger, line)
                if nearest is None or len(wrong) < nearest[0]:
                    nearest = (
                        len(wrong),
                        f"{move.name} would end where {self._mismatch_text(wrong)}",
                    )
                self.moves.ledger.undo(mark)
        if nearest is not None:
            texts.insert(0, nearest[1])
        if not line.steps:
            texts.append(self._mismatch_text(mismatches(self.moves.ledger, line)))
        last = lines[at - 1].number if at else 1
        why = f"{'; '.join(texts[:6])} (the furthest run ends at line {last}"
        why += f"; {found.why})" if found.why else ")"
        rule = f"{what} fits a run with at most {self.hidden} hidden steps before a line"
        allowed = "a step whose requirements hold, ending in what is seen"
        return self._misfit(line.number, found.verdict, rule, why, allowed)

    def _mismatch_text(self, wrong: list[tuple[int, tuple[int, ...], int]]) -> str:
        """Observed values and the model's, in words."""
        found: dict[str, str] = {}
        state = self.moves.ledger.state()
        for number, index, code in wrong:
            name = self.moves.fields[number].name
            observed: dict[str, Any] = {n: dict(cells) for n, cells in state.items()}
            cells = observed.setdefault(name, {})
            cells[index] = code
            if code == self.moves.ledger.blanks[number]:
                del cells[index]
            path, mine = place_and_value(self.moves.twin, state, name, index)
            _, theirs = place_and_value(self.moves.twin, observed, name, index)
            found.setdefault(path, f"{path} is {theirs}, where the model has {mine}")
        return "; ".join(list(found.values())[:4])
