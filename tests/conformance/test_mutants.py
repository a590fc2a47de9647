"""Faults in the implementation are caught by conformance alone; the judge itself is judged too."""

from __future__ import annotations

import pytest

from conformance.mutants import (
    MODULES,
    NOT_PLANTED,
    PLANTED,
    Mutant,
    interval,
    mutants_of,
    sample,
    score,
    try_planted,
    try_sample,
)
from conformance.mutants.mutate import function_named
from conformance.tours import tour, tours
from model.zoo import ZOO


def every() -> list[Mutant]:
    return [mutant for module in MODULES for mutant in mutants_of(module)]


@pytest.mark.parametrize("name", sorted(tours()))
def test_a_story_is_driven_on_both_sides(name: str) -> None:
    """An old release's story may end early; one of today's release goes to its end."""
    assert tour(name) > 0


def test_the_regressions_are_driven_to_their_end() -> None:
    for name in ("older_controller_is_refused", "deposed_election_is_fenced"):
        assert tour(name) == len(tours()[name][1])


def test_every_old_bug_is_caught() -> None:
    trials = list(try_planted())

    assert [trial.label for trial in trials if not trial.caught] == []
    assert len(trials) == len(PLANTED)


def test_what_is_planted_and_what_is_not_are_entries_of_the_zoo() -> None:
    known = {entry.id for entry in ZOO}

    assert {one.id for one in PLANTED} | set(NOT_PLANTED) <= known
    assert not {one.id for one in PLANTED} & set(NOT_PLANTED)


@pytest.mark.deep
def test_a_mutant_that_changes_nothing_survives() -> None:
    (mutant,) = [
        one for one in mutants_of("impl.log.leader_epoch_cache")
        if one.function.endswith("truncate_from_start")
    ][:1]  # fmt: skip

    (trial,) = try_sample([mutant])

    assert not trial.caught


def test_a_mutant_changes_its_process_only() -> None:
    before = function_named("impl.broker.partition", "Partition.may_join").__code__
    mutants = [m for m in mutants_of("impl.broker.partition") if m.function.endswith("may_join")]

    trials = list(try_sample(mutants[:2]))

    assert all(trial.caught for trial in trials)
    assert function_named("impl.broker.partition", "Partition.may_join").__code__ is before


def test_a_mutant_names_its_line_and_both_texts() -> None:
    labels = [one.label for one in mutants_of("impl.broker.partition")]

    assert any("Partition.may_join: end >= self.hw → end > self.hw" in label for label in labels)
    assert len(labels) == len(set(labels))


def test_what_is_only_logged_is_no_mutant() -> None:
    assert [one.label for one in every() if "journal" in one.before and "=" not in one.before] == []


def test_a_sample_is_the_same_for_the_same_seed_and_takes_from_every_file() -> None:
    population = every()

    drawn = sample(population, 120, seed=3)

    assert [one.label for one in drawn] == [one.label for one in sample(population, 120, seed=3)]
    assert len(drawn) == 120
    assert len({one.module for one in drawn}) >= 7


def test_the_interval_is_wilsons_and_nothing_tried_says_nothing() -> None:
    low, high = interval(90, 100)

    assert (round(low, 3), round(high, 3)) == (0.826, 0.945)
    assert interval(0, 0) == (0.0, 1.0)
    assert score([]).tried == 0
