"""Where replicas go: the articles' worked example, and what holds for all."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.plain_rules.placement import add_partitions, check_assignment
from model.protocol.assignment import (
    AssignmentRefused,
    Racks,
    assign_replicas,
)

THREE: Racks = dict.fromkeys(range(3))

# -- the articles' example -------------------------------------------------------------------


def test_topic_a_is_placed_as_the_article_computes():
    placed = assign_replicas(THREE, partitions=3, replication_factor=3, start=1, shift=2)

    assert placed == {0: [1, 2, 0], 1: [2, 0, 1], 2: [0, 1, 2]}


def test_partition_3_is_placed_by_the_start_of_the_first_and_nothing_is_drawn():
    topic_a = {0: [1, 2, 0], 1: [2, 0, 1], 2: [0, 1, 2]}

    assert add_partitions(topic_a, THREE, total=4) == {3: [1, 2, 0]}


def test_one_draw_of_four_places_partition_3_otherwise():
    at_once = assign_replicas(THREE, partitions=4, replication_factor=3, start=1, shift=2)

    assert at_once[0] == [1, 2, 0]
    assert at_once[3] == [1, 0, 2]


# -- what holds for all ----------------------------------------------------------------------

clusters = st.sets(st.integers(0, 30), min_size=1, max_size=7)


@st.composite
def placements(draw: st.DrawFn, racks: bool) -> tuple[Racks, int, int, int, int, int]:
    brokers = sorted(draw(clusters))
    kinds = st.sampled_from("abc") if racks else st.none()
    of = {broker: draw(kinds) for broker in brokers}
    size = len(brokers)
    numbers = st.integers(0, size - 1)
    first = draw(st.integers(0, 2 * size))
    count, factor = draw(st.integers(1, 3 * size)), draw(st.integers(1, size))
    return of, count, factor, draw(numbers), draw(numbers), first


@given(st.one_of(placements(racks=False), placements(racks=True)))
def test_a_broker_is_never_twice_in_a_partition(placement):
    racks, count, factor, start, shift, first = placement

    placed = assign_replicas(racks, count, factor, start, shift, first)

    assert list(placed) == list(range(first, first + count))
    assert all(len({*one}) == len(one) == factor for one in placed.values())
    assert {broker for one in placed.values() for broker in one} <= {*racks}


@given(st.one_of(placements(racks=False), placements(racks=True)))
def test_no_broker_leads_more_than_one_partition_more_than_another(placement):
    racks, count, factor, start, shift, first = placement

    placed = assign_replicas(racks, count, factor, start, shift, first)

    leaders = Counter(dict.fromkeys(racks, 0))
    leaders.update(one[0] for one in placed.values())
    assert max(leaders.values()) - min(leaders.values()) <= 1


@given(placements(racks=True))
def test_no_rack_has_two_replicas_of_a_partition_while_another_has_none(placement):
    racks, count, factor, start, shift, first = placement

    placed = assign_replicas(racks, count, factor, start, shift, first)

    kinds = len({*racks.values()})
    assert {len({racks[b] for b in one}) for one in placed.values()} == {min(factor, kinds)}


@given(placements(racks=False), st.integers(1, 9))
def test_added_partitions_leave_the_others_and_are_placed_like_them(placement, more):
    racks, count, factor, start, shift, _ = placement
    existing = assign_replicas(racks, count, factor, start, shift)

    added = add_partitions(existing, racks, count + more)

    assert list(added) == list(range(count, count + more))
    check_assignment({**existing, **added}, racks)


# -- refusals --------------------------------------------------------------------------------


def test_racks_of_only_some_brokers_are_refused():
    with pytest.raises(AssignmentRefused, match="Not all brokers have rack information"):
        assign_replicas({0: "a", 1: None}, 1, 1, 0, 0)


@pytest.mark.parametrize(("partitions", "factor"), [(0, 1), (1, 0), (1, 4)])
def test_what_cannot_be_placed_is_refused(partitions, factor):
    with pytest.raises(AssignmentRefused):
        assign_replicas(THREE, partitions, factor, 0, 0)


@pytest.mark.parametrize("total", [2, 3])
def test_partitions_are_only_ever_added(total):
    topic_a = {0: [1, 2, 0], 1: [2, 0, 1], 2: [0, 1, 2]}

    with pytest.raises(AssignmentRefused, match="can only be increased"):
        add_partitions(topic_a, THREE, total)


def test_a_manual_addition_names_every_partition_and_known_brokers():
    existing = {0: [1, 2]}

    with pytest.raises(AssignmentRefused, match="must name the partitions up to 2"):
        add_partitions(existing, THREE, 3, {0: [1, 2], 2: [0, 1]})
    with pytest.raises(AssignmentRefused, match="brokers that are not available: 7"):
        add_partitions(existing, THREE, 2, {0: [1, 2], 1: [1, 7]})
