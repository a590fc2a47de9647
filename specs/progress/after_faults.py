"""Makes a system whose faults end: after the step `faults_end`, some transitions are not taken.

No transition is rewritten: each is the system's own, with one more guard. A rule over the state
and the parameters decides which of its instances are faults. `faults_end` is possible in any state
that the faults left, and is permanent.
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
"""The field that is true once faults have ended."""

Rule = Callable[..., Scalar]
"""The state and the transition's parameters by name -> is this instance a fault?"""


def always_a_fault(now: Any, **parameters: Any) -> Scalar:
    """The rule that every instance of a transition is a fault: none is taken after faults ended."""
    return any_of(now.faults_ended, not_(now.faults_ended))


def after_faults(
    system: System,
    faults: Mapping[str, Any],
    claims: tuple[Claim, ...],
    chosen: Mapping[str, tuple[Any, Any]] | None = None,
    left_over: Mapping[str, Any] | None = None,
) -> System:
    """The system with `faults_end`; `faults` has, by transition, the rule for faulty instances.

    `chosen` are fields that get an arbitrary, permanent value when faults end: each with its schema
    and the sort of the parameter that sets it. `left_over` is for the explorer only: the part of a
    bound that a step must leave unused while faults last, so that some remains after they end.
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
