"""The explorer: exact, deterministic, shortest, and never green about what it has not seen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from model.classic import SYSTEM as CLASSIC
from model.language import Claim, ProtocolError, always, always_eventually, sometimes
from specs.explorer import Exploration, explore
from specs.rendering import as_data
from specs.verdict import Verdict, combine
from tests.language.small import epoch_grows, system

HOLDS = ("holds", None)
COUNTS: list[Any] = [
    # design, greatest epoch, distinct states, depth, strong_isr, weak_isr
    ("hw_truncation", 1, 67807, 21, ("broken", 9), ("broken", 9)),
    ("kip_101", 1, 59788, 22, ("broken", 12), HOLDS),
    ("kip_279", 1, 60106, 22, ("broken", 12), HOLDS),
    ("kip_320_first_try", 1, 59092, 22, HOLDS, HOLDS),
    ("kip_320", 1, 39619, 22, HOLDS, HOLDS),
    pytest.param("kip_320", 2, 737794, 26, HOLDS, HOLDS, marks=pytest.mark.deep),
]
"""As another checker, TLC, counts them, for three replicas, two records and logs of two."""

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "design" / "classic-counts.json"
SMALLEST = {"brokers": 2, "epoch": 2, "log": 1, "hottest": 1}


def classic_bounds(epoch: int) -> dict[str, int]:
    return {"brokers": 3, "log": 2, "records": 2, "epoch": epoch}


@always("the epoch is at most one", companion="the_epoch_is_two")
def the_epoch_is_small(now):
    return now.epoch <= 1


@always("the epoch is at most nine", companion="the_epoch_is_two")
def the_epoch_is_a_digit(now):
    return now.epoch <= 9


@sometimes("the epoch is two")
def the_epoch_is_two(now):
    return now.epoch == 2


@sometimes("the epoch is nine")
def the_epoch_is_nine(now):
    return now.epoch == 9


def growing(*claims: Claim, top: int = 2, **more: Any) -> Exploration:
    return explore(system(epoch_grows, claims=claims), {**SMALLEST, "epoch": top}, **more)


# -- counts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("design", "epoch", "distinct", "depth", "strong", "weak"), COUNTS)
def test_the_published_designs_have_the_counts_of_another_checker(
    design, epoch, distinct, depth, strong, weak
):
    found = explore(CLASSIC.recorded(design), classic_bounds(epoch))

    reported = {name: (one.verdict.value, one.depth) for name, one in found.claims.items()}
    assert (found.distinct, found.depth, found.complete) == (distinct, depth, True)
    assert (reported["strong_isr"], reported["weak_isr"], reported["leader_in_isr"]) == (
        strong,
        weak,
        HOLDS,
    )
    assert sum(found.levels) == distinct
    assert (found.never_fired, found.pruned) == ([], {})


def test_the_counts_here_are_the_ones_that_were_handed_over():
    if not SHARED.exists():
        pytest.skip("the counts of the other checker are not beside this repository")
    ours = [one.values if hasattr(one, "values") else one for one in COUNTS]

    theirs = [
        (
            row["design"], row["epoch"], row["distinct"], row["depth"],
            *((row[c]["verdict"], row[c].get("violated_at")) for c in ("strong_isr", "weak_isr")),
        )
        for row in json.loads(SHARED.read_text())["rows"]
        if (row["log"], row["records"]) == (2, 2)
    ]  # fmt: skip

    assert theirs == [tuple(one) for one in ours]


# -- determinism ------------------------------------------------------------------------------


CLOCKS = ("seconds", "setup_seconds", "peak_memory_mb")


def without_clocks(reported: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in reported.items() if key not in CLOCKS}


def test_two_visits_see_the_same_in_the_same_order():
    one, other = (explore(CLASSIC.recorded("kip_101"), classic_bounds(1)) for _ in range(2))

    assert without_clocks(as_data(one)) == without_clocks(as_data(other))
    assert as_data(one)["claims"]["strong_isr"]["trace"] is not None


def test_the_order_of_python_s_sets_changes_nothing():
    line = "explore election --without broker_epoch --bound epoch=1 --json -"

    said = [
        subprocess.run(
            [sys.executable, "-m", "conformance.cli", *line.split(" ")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            check=False,
        ).stdout
        for seed in ("1", "2")
    ]

    one, other = (without_clocks(json.loads(text)) for text in said)
    assert one["distinct"] > 100
    assert one == other


# -- verdicts ---------------------------------------------------------------------------------


def test_an_always_is_broken_at_the_first_state_that_breaks_it():
    found = growing(the_epoch_is_small, the_epoch_is_two)

    broken = found.claims["the_epoch_is_small"]
    assert (broken.verdict, broken.depth) == (Verdict.BROKEN, 3)
    assert (found.complete, found.distinct) == (True, 3)


def test_an_always_whose_companion_is_never_reached_is_unknown():
    found = growing(the_epoch_is_a_digit, the_epoch_is_two, top=1)

    vacuous = found.claims["the_epoch_is_a_digit"]
    assert (vacuous.verdict, vacuous.why) == (
        Verdict.UNKNOWN, "vacuous: the_epoch_is_two is never reached",
    )  # fmt: skip


def test_an_always_asked_for_alone_is_vacuous_all_the_same():
    found = growing(the_epoch_is_a_digit, the_epoch_is_two, top=1, claims=["the_epoch_is_a_digit"])

    assert found.claims["the_epoch_is_a_digit"].verdict is Verdict.UNKNOWN
    assert list(found.claims) == ["the_epoch_is_a_digit", "the_epoch_is_two"]


def test_a_companion_that_does_not_exist_is_refused_by_name():
    with pytest.raises(ProtocolError, match="unknown companion 'the_epoch_is_two'"):
        growing(the_epoch_is_a_digit)


def test_a_sometimes_holds_where_it_is_reached_and_is_broken_where_it_is_not():
    reached = growing(the_epoch_is_two).claims["the_epoch_is_two"]
    not_reached = growing(the_epoch_is_nine).claims["the_epoch_is_nine"]

    assert (reached.verdict, reached.depth) == (Verdict.HOLDS, 3)
    assert (not_reached.verdict, not_reached.depth) == (Verdict.BROKEN, None)
    assert not_reached.why == "no reachable state within the bounds"


def test_an_eventually_is_unknown_where_the_visit_was_cut_short():
    @always_eventually("the epoch is two in the end", fair=("epoch_grows",))
    def it_ends(now):
        return now.epoch == 2

    ended = growing(it_ends, max_states=2).claims["it_ends"]

    assert (ended.verdict, ended.depth) == (Verdict.UNKNOWN, None)
    assert ended.why == "the bound of 2 states is reached"


def test_no_claims_at_all_are_no_verdict():
    found = growing()

    assert (found.distinct, found.claims) == (3, {})
    assert combine(one.verdict for one in found.claims.values()) is Verdict.NOT_CHECKED


def test_an_unknown_claim_is_refused_with_the_nearest():
    with pytest.raises(ProtocolError, match=r"strong_irs.*strong_isr"):
        explore(CLASSIC.recorded(), classic_bounds(1), ["strong_irs"])


# -- giving up --------------------------------------------------------------------------------


def test_what_a_visit_cut_short_has_not_settled_is_unknown():
    found = growing(
        the_epoch_is_small, the_epoch_is_a_digit, the_epoch_is_two, the_epoch_is_nine,
        top=5, max_states=3,
    )  # fmt: skip

    reported = {name: one.verdict.value for name, one in found.claims.items()}
    assert (found.complete, found.distinct, found.depth) == (False, 3, 3)
    assert found.stopped == "the bound of 3 states is reached"
    assert reported == {
        "the_epoch_is_small": "broken",
        "the_epoch_is_a_digit": "unknown",
        "the_epoch_is_two": "holds",
        "the_epoch_is_nine": "unknown",
    }


def test_a_limit_that_is_just_enough_cuts_nothing_short():
    exact, short = (growing(the_epoch_is_two, max_states=limit) for limit in (3, 2))

    assert (exact.complete, exact.claims["the_epoch_is_two"].verdict) == (True, Verdict.HOLDS)
    assert (short.complete, short.claims["the_epoch_is_two"].verdict) == (False, Verdict.UNKNOWN)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_senseless_limit_is_refused_with_the_smallest_that_makes_sense(limit):
    with pytest.raises(ProtocolError, match=rf"max_states={limit} is too small: .* is 1"):
        growing(max_states=limit)
