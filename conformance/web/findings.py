"""Shows in the explorer findings of a command that are no run from the initial state.

A counterexample to induction is a state and a step; a removed guard is shown by a run that the
whole system refuses at that guard; wrong answers to questions are lines without states.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from conformance.web.board import Board
from conformance.web.compare import ComparedRow, ComparedSide, Comparison, compared_on
from conformance.web.run_files import ReplayedRun, line_of_step, of_story
from conformance.web.run_tree import RunNode
from model.language import ProtocolError, RecordedSystem
from model.language.evaluate import SparseState
from model.language.schema import Field
from model.language.sorts import BOOL, Enumeration, Names, Sort
from specs.state_text import place_of
from specs.story.heading import heading_line
from specs.story.read import parse

if TYPE_CHECKING:
    from specs.induction_counterexamples import InductionCounterexample
    from specs.surgery import Guard


def of_story_text(text: str) -> ReplayedRun:
    """The run of a story that is not in a file. Raises StoryError for text that is no story."""
    return of_story(parse(text, "the run"))


# -- a guard that was taken out ------------------------------------------------------------------


def without_guard(
    recorded: RecordedSystem, cut: RecordedSystem, guard: Guard, steps: Sequence[Any],
    bounds: dict[str, int], claim: str,
) -> Comparison:  # fmt: skip
    """The run that breaks a claim without a guard, beside the whole system, which refuses it."""
    heading = heading_line(recorded, {name: bounds[name] for name in ("brokers",)})
    lines = tuple(line_of_step(one.step, one.args) for one in steps)
    whole, opened = Board(heading), Board(heading, cut)
    result = compared_on(
        (whole, ReplayedRun("with every guard", heading, lines)),
        (opened, ReplayedRun(f"without “{guard.reason}”", heading, lines)),
    )
    result.diagnosis = f"{guard.step}: without “{guard.reason}” {claim} breaks"
    return result


# -- a counterexample to induction ----------------------------------------------------------------


def of_induction(shown: InductionCounterexample, recorded: RecordedSystem) -> Comparison:
    """The state that obeys every invariant, the step, and the state that does not."""
    here = Board(heading_line(recorded, {"brokers": _brokers(recorded, shown.state)}))
    before = RunNode(state_of(here, shown.state))
    line = line_of_step(shown.step, shown.args)
    after = RunNode(here.take(before.state, line))
    differs = tuple(here.leaves.changes(before.state, after.state))
    why = (f"{shown.obligation.invariant} does not hold after it: {shown.sentence}. "
           "The state before need not be reachable.")  # fmt: skip
    beginning = here.shown("a state that obeys every invariant", None, before)
    broken = here.shown(line, before, after, line)
    return Comparison(
        "a state that obeys every invariant", "one step later",
        [ComparedRow(
            ComparedSide(beginning.label, None, beginning), ComparedSide(line, None, broken),
            differs, why)],
        f"{shown.obligation.step} does not keep {shown.obligation.invariant}",
    )  # fmt: skip


def state_of(here: Board, leaves: dict[str, Any]) -> SparseState:
    """A state from its leaves by path, as reports write them; leaves that are missing are blank."""
    state: SparseState = {}
    known = set()
    for leaf in here.heading.recorded.fields.values():
        keep = len(leaf.dims) if leaf.set_from is None else leaf.set_from
        domains = [sort.domain(here.sizes) for sort in leaf.dims[:keep]]
        for keys in itertools.product(*domains):
            path = place_of(here.heading.recorded.fields, leaf, keys).path
            if path not in leaves:
                continue
            known.add(path)
            for index, code in _cells(leaf, keys, leaves[path]):
                if code != here.twin.read({}, leaf.name, index):
                    state.setdefault(leaf.name, {})[index] = code
    missing = sorted(set(leaves) - known)
    if missing:
        raise ProtocolError(f"{missing[0]} is no leaf of {here.name} within these sizes")
    return dict(sorted(state.items()))


def _cells(leaf: Field, keys: tuple[int, ...], value: Any) -> Iterable[tuple[tuple[int, ...], int]]:
    if leaf.set_from is None:
        return [(keys, _code(leaf.sort, value))]
    members = (one if isinstance(one, list | tuple) else [one] for one in value)
    return [((*keys, *map(int, member)), True) for member in members]


def _code(sort: Sort, value: Any) -> int:
    if sort is BOOL:
        return bool(value)
    if isinstance(sort, Names):
        return sort.values.index(value)
    if isinstance(sort, Enumeration):
        return value or 0
    none: int = getattr(sort, "none_code", 0)
    return none if value is None else int(value)


def _brokers(recorded: RecordedSystem, leaves: dict[str, Any]) -> int:
    """How many brokers a state mentions."""
    names = {leaf.name.partition(".")[0] for leaf in recorded.fields.values()
             if leaf.dims and isinstance(leaf.dims[0], Enumeration)}  # fmt: skip
    keyed = [path.partition("[")[2].partition("]")[0] for path in leaves
             if path.partition("[")[0] in names]  # fmt: skip
    return max([2, *(int(one) for one in keyed if one.isdecimal())])


# -- answers ---------------------------------------------------------------------------------------


def of_answers(wrong: Sequence[tuple[str, str, str]]) -> Comparison:
    """ProxiedRequests that were answered wrongly: which, the expected answer, and the actual
    one."""
    rows = [
        ComparedRow(
            ComparedSide(f"expected: {wanted}", None, None),
            ComparedSide(f"got: {got}", None, None),
            (),
            name,
        )
        for name, wanted, got in wrong
    ]
    return Comparison("what is expected", "what was answered", rows, wrong[0][0], "case")
