"""Declares rankings as data: sets that only shrink, and the fair steps that shrink them.

A ranking is a list of sets, the most significant first, each defined by a formula. A state is below
another if the first set in which they differ has lost members and gained none. The sets are finite
in every state, so no ranking falls forever. A number is the set of the numbers below it.

A claim `@always_eventually` follows if, in every state that obeys the invariants and in which it
does not hold, and for every step from there to another such state:

* no set gains a member, unless a more significant set loses one;
* some fair instance is awaited, and an awaited instance is possible;
* the awaited instance removes a member;
* any other step removes a member, or leaves the instance awaited.

So the awaited instance is possible until the ranking falls; if it never fell, a fair run would take
the instance, and the ranking would fall. Each condition is a first-order formula about one step,
without counting and without sequences of steps.

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
    """One set of a ranking: the values of `over` for which `holds` is true in a state.

    `taken_by` names the steps that remove a member, and the member: the state and the step's
    parameters by name -> that member. Other steps are not assumed to remove members.
    `limits` has, for each position with a number sort, the exclusive upper limit of the members,
    from the state and the values before that position.
    """

    name: str
    sentence: str
    over: tuple[Sort, ...]
    holds: Condition
    taken_by: Mapping[str, Values]
    limits: Mapping[int, Condition] = field(default_factory=dict)


@dataclass(frozen=True)
class LeastNumber:
    """A number that exists because every non-empty set of numbers has a least member.

    It is the least number for which `such` holds, given the state and the values before it;
    `or_less` is some number for which `such` holds.
    """

    such: Condition
    or_less: Condition


@dataclass(frozen=True)
class AwaitedStep:
    """A fair step; an instance is awaited for the values of `over` for which `when` holds.

    `arguments` gives the step's parameters from the state and those values. The last value may be
    a `least` number, if only the search for the least shows that one exists.
    """

    step: str
    when: Condition
    arguments: Callable[..., Mapping[str, Any]]
    over: tuple[Sort, ...] = ()
    least: LeastNumber | None = None


@dataclass(frozen=True)
class Ranking:
    """The reason why an `@always_eventually` holds: sets, awaited steps, and optionally `stays`.

    `explored` is the form for an explorer, which reserves a part of each bound for after faults
    ended: within `bounds` the claim holds there too, and without a fairness there is a loop.
    """

    ranks: tuple[Rank, ...]
    awaited: tuple[AwaitedStep, ...]
    stays: Condition | None = None
    explored: System | None = None
    bounds: Mapping[str, int] = field(default_factory=dict)

    def without(self, step: str) -> Ranking:
        """The same ranking without the fairness of a step."""
        return replace(self, awaited=tuple(one for one in self.awaited if one.step != step))

    @property
    def fair(self) -> tuple[str, ...]:
        """The steps that need fairness, in order."""
        return tuple(dict.fromkeys(one.step for one in self.awaited))
