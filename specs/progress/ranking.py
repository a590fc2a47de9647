"""Rankings as data: sets that only shrink, and the fair steps that shrink them.

A ranking is a list of sets, the weightiest first, each given by a formula. Of two states the one
is below the other if the first set in which they differ has lost members, and gained none. As the
sets are finite in every state, nothing goes down for ever. Numbers are sets too: those below them.

A claim `@always_eventually` follows if, in every state that obeys the invariants and in which it
does not hold, and for every step from there to another such state:

* no set gains a member, unless a weightier one loses one;
* some fair instance is awaited; what is awaited is possible;
* taken, it takes a member away;
* any other step takes a member away, or leaves it awaited.

So the awaited instance is possible until the ranking falls; if it never fell, a fair run would take
the instance, and the ranking would fall. Each of these is a formula of first order about one step:
nothing is counted, and no step is followed by another.

Source of the idea: R. Lotan, S. Shoham, Implicit Rankings for Verifying Liveness Properties in
First-Order Logic, TACAS 2025; of the rule: Z. Manna, A. Pnueli, Completing the Temporal Picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from model.language.properties import Condition
from model.language.sorts import Sort
from model.language.system import System

Values = Callable[..., Sequence[Any]]


@dataclass(frozen=True)
class Rank:
    """One set of a ranking: the values of `over` of which `holds` is true in a state.

    `taken_by` names the steps that take a member away, and which: the state and the step's
    parameters by name -> that member. What a step does not say here it is not credited with.
    `limits` has, for each position of a sort of numbers, what members are below there; from the
    state and the values before that position.
    """

    name: str
    sentence: str
    over: tuple[Sort, ...]
    holds: Condition
    taken_by: Mapping[str, Values]
    limits: Mapping[int, Condition] = field(default_factory=dict)


@dataclass(frozen=True)
class LeastNumber:
    """A number that exists because every set of numbers that has a member has a least one.

    It is the least for which `such` holds, from the state and the values before it; `or_less` is
    one for which it does.
    """

    such: Condition
    or_less: Condition


@dataclass(frozen=True)
class AwaitedStep:
    """A fair step, and when an instance of it is awaited: for values of `over`, if `when` holds.

    `arguments` are the step's parameters then, from the state and those values. The last of the
    values may be a `least` one, where the search for it is all that shows that there is one.
    """

    step: str
    when: Condition
    arguments: Callable[..., Mapping[str, Any]]
    over: tuple[Sort, ...] = ()
    least: LeastNumber | None = None


@dataclass(frozen=True)
class Ranking:
    """Why an `@always_eventually` holds: sets, and what is awaited; `stays`, if so, for good.

    `twin` is the form for an explorer, which leaves some of each bound for when faults have ended:
    within `bounds` that holds too, and there is a loop where a fairness is dropped.
    """

    ranks: tuple[Rank, ...]
    awaited: tuple[AwaitedStep, ...]
    stays: Condition | None = None
    twin: System | None = None
    bounds: Mapping[str, int] = field(default_factory=dict)

    def without(self, step: str) -> Ranking:
        """The same where nothing is fair to a step."""
        return replace(self, awaited=tuple(one for one in self.awaited if one.step != step))

    @property
    def fair(self) -> tuple[str, ...]:
        """The steps that may not be ignored, in order."""
        return tuple(dict.fromkeys(one.step for one in self.awaited))
