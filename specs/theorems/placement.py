"""Proves properties of replica placement without racks, for any number of brokers and partitions.

Of n brokers the leader of partition p is the one at (p + start) mod n, and follower number k the
one at (leader + 1 + (shift + k) mod (n - 1)) mod n; shift is the same for all replicas of one
partition. A division with remainder is written as x = q * n + r with 0 <= r < n.

Source: AdminUtils.assignReplicasToBrokersRackUnaware; `model.protocol.assignment`, which the tests
hold against these formulas.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3

from specs.theorems.theorem import Part, Switches, Theorem, question


def remainder(number: Any, divisor: Any, name: str) -> tuple[Any, list[Any]]:
    """The remainder of a division, with known facts about it."""
    quotient, rest = z3.Ints(f"{name}_quotient {name}_rest")
    return rest, [number == quotient * divisor + rest, rest >= 0, rest < divisor]


def once_around(number: Any, size: Any) -> Any:
    """The remainder of a number below twice the size."""
    return z3.If(number < size, number, number - size)


def _multiples(times: Any, size: Any, product: Any) -> list[Any]:
    """What is to be known of `times` times a size that is 1 or more."""
    return [
        z3.Implies(times >= 2, product >= 2 * size),
        z3.Implies(times == 1, product == size),
        z3.Implies(times == 0, product == 0),
        z3.Implies(times <= -1, product <= -size),
    ]


def distinct(among: int = 1) -> Iterator[Part]:
    """No broker is twice among the replicas. `among`: followers turn among the n - `among`."""
    n, leader, shift, one, other = z3.Ints("n leader shift one other")
    others = n - among
    # Said of a divisor that is nothing but positive: fewer followers than it have other turns.
    divisor = z3.Int("divisor")
    turn_one, facts_one = remainder(shift + one, divisor, "one")
    turn_other, facts_other = remainder(shift + other, divisor, "other")
    numbers = [divisor >= 1, *(z3.And(k >= 0, k < divisor) for k in (one, other))]
    apart = z3.Int("apart")

    def near(times: Any) -> Any:
        return z3.And(times * divisor < divisor, times * divisor > -divisor)

    yield (
        "a multiple",
        "nearer than the divisor is none",
        question([divisor >= 1, near(apart)], apart == 0),
    )
    rounds = z3.Int("one_quotient") - z3.Int("other_quotient")
    known = z3.Implies(near(rounds), rounds == 0)
    yield (
        "two followers",
        "have different turns",
        question([*numbers, *facts_one, *facts_other, known, one != other], turn_one != turn_other),
    )
    x, y = z3.Ints("turn other_turn")
    turns = [n >= 2, leader >= 0, leader < n]
    turns += [z3.And(turn >= 0, turn < others) for turn in (x, y)]
    place, other_place = (once_around(leader + 1 + turn, n) for turn in (x, y))
    yield "a follower", "is not the leader", question(turns, place != leader)
    yield "a follower", "is a broker", question(turns, z3.And(place >= 0, place < n))
    yield (
        "two followers",
        "with different turns are two brokers",
        question([*turns, x != y], place != other_place),
    )


def balanced(extra: int = 0) -> Iterator[Part]:
    """After P partitions, with P = q * n + r, broker b leads q of them, plus one if (b - start) mod
    n < r.

    By induction on P. `extra` is added to every leader, wrongly, from the second round on.
    """
    n, r, start, broker, other, q = z3.Ints("n r start broker other q")
    quotient, rest = z3.Ints("quotient rest")
    divided = [n >= 1, q * n + r + start == quotient * n + rest, rest >= 0, rest < n]
    sizes = [n >= 1, start >= 0, start < n]
    sizes += [z3.And(one >= 0, one < n) for one in (broker, other)]
    count = [*sizes, q >= 0, r >= 0, r < n]
    within = [start >= 0, start < n, r >= 0, r < n]
    rounds = quotient - q
    yield (
        "a leader",
        "does not depend on whole rounds",
        question([*divided, *within], r + start == rounds * n + rest),
    )
    # A product of two unknowns is looked at once, alone; after that it is a number of its own.
    times, product = z3.Ints("times product")
    for sizes_of in _multiples(times, n, times * n):
        yield "a multiple", "is as large as its number says", question([n >= 1], sizes_of)
    around = [r + start == product + rest, rest >= 0, rest < n, *_multiples(times, n, product)]
    yield (
        "a leader",
        "is found by going around once",
        question([n >= 1, *within, *around], rest == once_around(r + start, n)),
    )

    def leads(one: Any, q: Any, r: Any) -> Any:
        turn = once_around(one - start + n, n)
        return q + z3.If(turn < r, 1, 0)

    yield "no partition", "is led by nobody", question(sizes, leads(broker, 0, 0) == 0)
    leader = once_around(r + start + z3.If(q > 0, extra, 0), n)
    more = z3.If(leader == broker, 1, 0)
    after = z3.If(r + 1 == n, leads(broker, q + 1, 0), leads(broker, q, r + 1))
    yield (
        "one more partition",
        "is one more for its leader",
        question(count, after == leads(broker, q, r) + more),
    )
    difference = leads(broker, q, r) - leads(other, q, r)
    yield (
        "any two brokers",
        "lead numbers that differ by one at most",
        question(count, z3.And(difference <= 1, difference >= -1)),
    )


def _distinct(_version: str | None, _switches: Switches) -> Iterator[Part]:
    return distinct()


def _balanced(_version: str | None, _switches: Switches) -> Iterator[Part]:
    return balanced()


LABEL = "the placement without racks, any number of brokers, partitions and replicas"

PLACEMENT = (
    Theorem(
        "placement_is_distinct",
        "no broker is twice among the replicas of a partition, and the replicas are brokers",
        LABEL,
        _distinct,
        ("there are no more replicas than brokers: more are refused",),
    ),
    Theorem(
        "placement_is_balanced",
        "the numbers of partitions that any two brokers lead differ by one at most",
        f"{LABEL}; by induction on the number of partitions",
        _balanced,
        (
            "the partitions are numbered from 0, as those of a new topic are; what is added later "
            "goes on from a start that is not drawn",
        ),
    ),
)
