"""A system whose faults end: from then on some of its transitions are not taken any more.

Nothing is written a second time: a transition is the system's own, with one more guard. Which of
its instances are faults is said by a rule over the state and its parameters; `faults_end` may
happen at any time, whatever state the faults left, and never ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from model.language import (
    BOOL,
    Claim,
    Record,
    System,
    Transition,
    any_of,
    not_,
    require,
)
from model.language.recording import Parameter
from model.language.scalars import Scalar

ENDED = "faults_ended"
"""The field that says so."""

Rule = Callable[..., Scalar]
"""The state and the transition's parameters by name -> is this instance a fault?"""


def always_a_fault(now: Any, **parameters: Any) -> Scalar:
    """No instance of the transition is taken once faults have ended."""
    return any_of(now.faults_ended, not_(now.faults_ended))


def after_faults(
    system: System,
    faults: Mapping[str, Any],
    claims: tuple[Claim, ...],
    chosen: Mapping[str, tuple[Any, Any]] | None = None,
    left_over: Mapping[str, Any] | None = None,
) -> System:
    """The system with `faults_end`; `faults` has the rules, by transition, of what is then gone.

    `chosen` are fields that get their value when faults end, any value, and keep it: each with its
    schema, and the sort of the parameter that gives it. `left_over` is for an explorer alone: what
    a step must leave of a bound as long as faults last, so that there is some when they have ended.
    """
    declared = {one.name for one in system.transitions}
    saved = left_over or {}
    for name in (*faults, *saved):
        if name not in declared:
            raise AssertionError(f"{system.name} has no transition {name}")
    given = dict(chosen or {})
    parts: dict[str, Any] = {
        **system.state.parts, ENDED: BOOL, **{name: schema for name, (schema, _) in given.items()},
    }  # fmt: skip
    return replace(
        system,
        name=f"{system.name}_after_faults",
        about=f"{system.about}; and faults that end",
        state=Record(**parts),
        transitions=(
            _faults_end({name: sort for name, (_, sort) in given.items()}),
            *(
                _guarded(one, faults.get(one.name), saved.get(one.name))
                for one in system.transitions
            ),
        ),
        claims=claims,
    )


def _faults_end(parameters: Mapping[str, Parameter]) -> Transition:
    def faults_end(now: Any, new: Any, **given: Any) -> None:
        """A step after which no fault happens."""
        require(not_(now.faults_ended), "faults have not ended")

        new.faults_ended = True
        for name, value in given.items():
            setattr(new, name, value)

    return Transition("faults_end", faults_end, dict(parameters))


def _guarded(one: Transition, rule: Rule | None, saved: Rule | None) -> Transition:
    if rule is None and saved is None:
        return one

    def function(now: Any, new: Any, **given: Any) -> None:
        if saved is not None:
            require(any_of(now.faults_ended, saved(now, **given)),
                    "faults have ended, or enough is left for when they have")  # fmt: skip
        if rule is always_a_fault:
            require(not_(now.faults_ended), "faults have not ended")
        elif rule is not None:
            require(any_of(not_(now.faults_ended), not_(rule(now, **given))),
                    "it is no fault, or faults have not ended")  # fmt: skip
        one.function(now, new, **given)

    function.__doc__ = one.function.__doc__
    return replace(one, function=function)
