"""Claims: what always holds, what every step respects, what can happen, what eventually happens.

    @always("what was committed is in the log of every registered leader",
            companion="something_is_committed")
    def no_message_loss(now): ...

    @always_step("the leader epoch in ZooKeeper never goes back", companion="a_leader_is_elected")
    def leader_epoch_never_falls(now, after): ...

Every `always` and every `always_step` names a `sometimes` as its companion, against vacuity.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.language.errors import ProtocolError
from model.language.scalars import Scalar

DEADLOCK = "deadlock"
"""No claim is called so: `find deadlock` looks for a state in which nothing is possible."""

Condition = Callable[..., Scalar]


@dataclass(frozen=True)
class Claim:
    """A property in a sentence. `kind` is always, always_step, sometimes or eventually.

    The function of an `always_step` takes two states, that of every other kind takes one.
    """

    name: str
    kind: str
    sentence: str
    function: Condition
    companion: str | None = None
    fair: tuple[str, ...] = ()
    only: Callable[[Any], bool] | None = None

    @property
    def is_about_steps(self) -> bool:
        """Is the claim checked on every step, not in every state?"""
        return self.kind == "always_step"

    @property
    def kind_in_words(self) -> str:
        """`always`, `sometimes`, `always eventually`, `at every step`: as reports say it."""
        return {"always_step": "at every step", "eventually": "always eventually"}.get(
            self.kind, self.kind
        )


def _declare(kind: str, sentence: str, **more: Any) -> Callable[[Condition], Claim]:
    if not sentence.strip() or sentence.strip() != sentence:
        raise ProtocolError(f"@{kind} needs the claim as a sentence")

    def declare(function: Condition) -> Claim:
        name = function.__name__
        if name == DEADLOCK:
            raise ProtocolError(
                f"a claim cannot be called {DEADLOCK}: that is the question whether a state is "
                "reachable in which nothing is possible; choose another name"
            )
        if kind in _HAVE_COMPANIONS and more.get("companion") is None:
            where = function.__code__
            raise ProtocolError(
                f"{where.co_filename}:{where.co_firstlineno}: {name} has no companion; write "
                f'@{kind}("...", companion="NAME"), where NAME is a @sometimes that must be '
                "reachable: else the claim may hold because nothing happens"
            )
        if kind == "always_step" and len(inspect.signature(function).parameters) != 2:
            raise ProtocolError(f"{name} is about a step: write {name}(now, after)")
        return Claim(name, kind, sentence, function, **more)

    return declare


_HAVE_COMPANIONS = ("always", "always_step")


def always(
    sentence: str, *, companion: str | None = None, only: Callable[[Any], bool] | None = None
) -> Callable[[Condition], Claim]:
    """Holds in every reachable state; `companion` is the `sometimes` that keeps it honest.

    ProtocolError without one.
    """
    return _declare("always", sentence, companion=companion, only=only)


def always_step(
    sentence: str, *, companion: str | None = None, only: Callable[[Any], bool] | None = None
) -> Callable[[Condition], Claim]:
    """Holds of every step from a reachable state: `def hw_never_falls(now, after): ...`.

    `now` is the state before the step and `after` the one that it leads to. Steps beyond a bound
    are not looked at. `companion` is the `sometimes` that keeps it honest.
    """
    return _declare("always_step", sentence, companion=companion, only=only)


def sometimes(
    sentence: str, *, only: Callable[[Any], bool] | None = None
) -> Callable[[Condition], Claim]:
    """Holds in at least one reachable state."""
    return _declare("sometimes", sentence, only=only)


def always_eventually(
    sentence: str, *, fair: tuple[str, ...], only: Callable[[Any], bool] | None = None
) -> Callable[[Condition], Claim]:
    """Always eventually: on every fair run it holds again and again, without end.

    In the words of temporal logic: [] <> condition, under weak fairness of each instance of the
    steps named in `fair`, an instance being the step with its parameters chosen. That is, from
    every reachable state, however it was reached, every fair run comes to a state that satisfies
    the condition. It is not enough that it held once: a run that loses it must find it again.

    A run is fair if each of these instances is taken again and again, or is impossible again and
    again. Nothing else has to happen: no fault, no request of a client, no step that `fair` does
    not name; so a run may also stay for ever in a state where no fair instance is possible, and
    a state without any successor is the plainest case of that. A counterexample is a run into a
    loop (of one state without a step, if the run stays there) that is fair and nowhere satisfies
    the condition. A name in `fair` that the version at hand does not have asks for nothing.

    Within bounds: an instance that would lead beyond a bound is possible, and never taken. A loop
    that is unfair for this reason alone shows nothing: the claim is then unknown, never holds.
    """
    if not fair:
        raise ProtocolError(
            "@always_eventually needs fair=(...): the steps that may not be ignored"
        )
    return _declare("eventually", sentence, fair=fair, only=only)


eventually = always_eventually
"""The former name, for systems that have it. Reports call this kind of claim `eventually` still."""
