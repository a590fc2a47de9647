"""Runs and states as people read them, taken back to the dumb twin and checked there."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from model.language import RecordedSystem
from model.language.evaluate import Evaluator, SparseState, blank_code
from model.language.recording import Recorded
from model.language.schema import SetOf
from model.language.sorts import Names, Numbers, Sort
from specs.explorer import Exploration
from specs.lowering.instances import Instance
from specs.runs import Run
from specs.state_text import StateText
from specs.story import parse, play, story_from_run
from specs.verdict import Verdict


def code_of(sort: Sort, value: Any) -> int:
    """Plain data as the code that it stands for."""
    if value is None:
        return sort.none_code if isinstance(sort, Numbers) else 0
    if isinstance(sort, Names):
        return sort.code(value)
    assert isinstance(value, int)
    return value


def sparse(recorded: RecordedSystem, leaves: Mapping[str, Any]) -> SparseState:
    """Leaves by path (`view[1].isr`: a list of members) as the twin reads them."""
    found: SparseState = {}

    def put(name: str, index: tuple[int, ...], value: Any) -> None:
        sort = recorded.fields[name].sort
        if code_of(sort, value) != blank_code(sort):
            found.setdefault(name, {})[index] = code_of(sort, value)

    for path, value in leaves.items():
        match = re.fullmatch(r"(\w+)((?:\[\d+\])*)(\.[\w.]+)?", path)
        assert match is not None, path
        name = match[1] + (match[3] or "")
        keys = tuple(int(key) for key in re.findall(r"\d+", match[2]))
        if f"{name}.end" in recorded.fields and isinstance(value, list):
            put(f"{name}.end", keys, len(value))
            for offset, record in enumerate(value):
                for part, cell in record.items():
                    whole, here = f"{name}.at.{part}", (*keys, offset)
                    if isinstance(cell, list):
                        for member in cell:
                            put(whole, (*here, member), True)
                    elif isinstance(cell, dict):
                        for key, inner in cell.items():
                            put(whole, (*here, key), inner)
                    else:
                        put(whole, here, cell)
        elif isinstance(value, list):
            for member in value:
                put(name, (*keys, *(member if isinstance(member, list) else [member])), True)
        else:
            put(name, keys, value)
    return found


def step_named(recorded: RecordedSystem, name: str) -> Recorded:
    return next(step for step in recorded.steps if step.transition.name == name)


def arguments(step: Recorded, given: Mapping[str, Any]) -> dict[str, int | frozenset[int]]:
    """The arguments of a run's step, rendered as people write them, as the twin takes them."""
    return {
        name: frozenset(code_of(sort.element, one) for one in given[name])
        if isinstance(sort, SetOf)
        else code_of(sort, given[name])
        for name, sort in step.parameters.items()
    }


def codes(instance: Instance) -> dict[str, int | frozenset[int]]:
    """An instance's arguments as the twin takes them."""
    return dict(zip(instance.step.parameters, instance.arguments, strict=True))


def follow(exploration: Exploration, run: Run) -> list[SparseState]:
    """The run's states by the twin: each step is possible and changes exactly what is written."""
    grounded = exploration.grounded
    recorded = grounded.recorded
    twin = Evaluator(recorded, run.bounds)
    leaves = StateText(grounded).leaves(grounded.initial)
    states = [twin.initial()]
    for step in run.steps:
        taken = step_named(recorded, step.step)
        given = arguments(taken, step.args)
        assert twin.possible(taken, states[-1], given) is None, step.step
        states.append(twin.successor(taken, states[-1], given))
        for path, (before, after) in step.changes.items():
            assert leaves[path] == before != after, path
            leaves[path] = after
        kept = {k: v for k, v in states[-1].items() if k not in grounded.dropped_ghosts}
        assert sparse(recorded, leaves) == kept, step.step
    return states


def settles_in_its_last_state_only(exploration: Exploration, run: Run) -> bool:
    """The run shows what it is said to show, and nothing of it before: asked of the dumb twin.

    A state claim is broken (a `sometimes`: reached) at the end of the run and nowhere before, a
    claim about steps by its last step alone; an `eventually` by a fair loop without its condition.
    """
    twin = Evaluator(exploration.grounded.recorded, run.bounds)
    states = follow(exploration, run)
    kind = exploration.claims[run.claim].kind
    if kind == "eventually":
        return _loops_without_it(exploration, run, states)
    if kind == "always_step":
        reported = [twin.holds_of_step(run.claim, *pair) for pair in itertools.pairwise(states)]
        return reported == [True] * (len(run.steps) - 1) + [False]
    reported = [twin.holds(run.claim, state) for state in states]
    last = kind == "sometimes"
    return reported == [not last] * len(run.steps) + [last]


def _loops_without_it(exploration: Exploration, run: Run, states: list[SparseState]) -> bool:
    """The loop closes, never satisfies the condition, and neglects no fair instance."""
    assert run.loop is not None
    grounded = exploration.grounded
    twin = Evaluator(grounded.recorded, run.bounds)
    turn = states[run.loop :]
    taken = [
        (step.step, arguments(step_named(grounded.recorded, step.step), step.args))
        for step in run.steps[run.loop :]
    ]
    neglected = [
        instance.label
        for instance in grounded.instances
        if instance.step.transition.name in grounded.recorded.claim(run.claim)[0].fair
        and (instance.step.transition.name, given := codes(instance)) not in taken
        and all(twin.possible(instance.step, state, given) is None for state in turn)
    ]
    satisfied = [twin.holds(run.claim, state) for state in turn]
    first, last = (
        {name: cells for name, cells in state.items() if name not in grounded.dropped_ghosts}
        for state in (turn[0], turn[-1])
    )
    return first == last and not any(satisfied) and not neglected


def becomes_a_story_that_plays(recorded: RecordedSystem, run: Run) -> bool:
    """Is the run, written as a story and read again, played to the same end?"""
    outcome = play(parse(story_from_run(run, recorded)), recorded)
    return (
        outcome.failed is None
        and outcome.verdict is Verdict.HOLDS
        and outcome.steps == len(run.steps)
        and _tells_what_was_looked_for(outcome.lines[0], run)
    )


def _tells_what_was_looked_for(reported: Sequence[str], run: Run) -> bool:
    if run.loop is None:
        return any(line.startswith(f"{run.claim}: broken") for line in reported)
    closed = run.loop == len(run.steps) or "the state is the one marked here" in reported
    return closed and any(line.startswith(f"{run.claim}: not so here") for line in reported)
