"""Wide states: the same steps as generated Python, refused for the same reasons, on real values."""

from __future__ import annotations

import random

import pytest

from model.language.grounding import Grounded
from model.language.python_code import PythonCode
from model.systems import SYSTEMS, system
from specs.native.wide import WideKernel

LARGE = 3_000_000_000_000
"""A value that no packed field could hold."""


def wide(
    name: str, version: str | None = None, claims: list[str] | None = None, **bounds: int
) -> tuple[WideKernel, PythonCode]:
    chosen = system(name)
    grounded = Grounded(chosen.recorded(version), chosen.limits(bounds), claims)
    return WideKernel(grounded), PythonCode(grounded)


@pytest.mark.parametrize(
    ("name", "version"),
    [(name, version) for name, one in SYSTEMS.items() for version in one.versions],
)
def test_a_walk_is_followed_as_generated_python_takes_it(name: str, version: str) -> None:
    kernel, code = wide(name, version)
    chooser = random.Random(7)
    state, walk = code.initial, []
    for _ in range(60):
        nexts = code.successors(state, [0] * 10_000, bytearray(10_000), {})
        if not nexts:
            break
        number, state = chooser.choice(nexts)
        walk.append(number)

    followed = kernel.follow(walk)

    assert (followed.steps, followed.why_not) == (len(walk), None)
    assert followed.state == code.decode(state)
    assert len(walk) > 5


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_every_instance_is_refused_where_generated_python_refuses_it(name: str) -> None:
    kernel, code = wide(name)
    chooser = random.Random(3)
    state = code.initial
    for _ in range(25):
        codes = code.decode(state)
        for instance in kernel.grounded.instances:
            followed = kernel.follow([instance.number], codes)
            position = code.first_refusal(instance, state)
            after = code.attempt(instance, state)
            if position is not None:
                _, reason = instance.requires[position]
                assert followed.why_not is not None
                assert followed.why_not.endswith(kernel.grounded.reasons[reason][1])
            elif after is None:
                assert followed.why_not is not None  # beyond a bound
            else:
                assert followed.state == code.decode(after)
        nexts = code.successors(state, [0] * 10_000, bytearray(10_000), {})
        if not nexts:
            break
        state = chooser.choice(nexts)[1]


def test_values_far_beyond_a_packed_field_are_kept_exactly() -> None:
    # What clients were told is kept for each record, so claims about that are left out here.
    kernel, code = wide("replication", None, ["no_message_loss"], versions=LARGE, records=LARGE)
    codes = list(kernel.grounded.initial)
    version = kernel.grounded.cell("zk.version").number
    codes[version] = LARGE - 1
    chooser = random.Random(1)
    state = code.encode(codes)

    walk, seen = [], {LARGE - 1}
    for _ in range(400):
        nexts = code.successors(state, [0] * 10_000, bytearray(10_000), {})
        if not nexts:
            break
        number, state = chooser.choice(nexts)
        walk.append(number)
        seen.add(code.decode(state)[version])

    followed = kernel.follow(walk, codes)
    assert followed.state == code.decode(state)
    assert max(seen) == LARGE  # the version moved, and stopped at its bound


def test_a_number_that_is_no_instance_is_refused() -> None:
    kernel, _ = wide("election")

    instances = len(kernel.grounded.instances)

    with pytest.raises(ValueError, match=f"instances are 0 to {instances - 1}"):
        kernel.follow([instances])
    with pytest.raises(ValueError, match="instances are 0 to"):
        kernel.follow([-1])


def test_no_steps_lead_nowhere() -> None:
    kernel, _ = wide("election")

    assert kernel.follow([]).state == kernel.grounded.initial
