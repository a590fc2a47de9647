"""Where replicas go: Kafka's own cases, the articles' worked example, and what holds for all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.plain_rules.placement import add_partitions, check_assignment, start_of_addition
from model.protocol.assignment import (
    AssignmentRefused,
    Racks,
    assign_replicas,
    rack_alternated,
)

VECTORS = Path(__file__).parents[3] / "shared" / "kafka" / "vectors"
THREE: Racks = dict.fromkeys(range(3))

Case = dict[str, Any]


def cases(file: str, in_slice: Callable[[Case], bool]) -> list[Any]:
    path = VECTORS / file
    if not path.exists():
        reason = f"shared/kafka/vectors/{file} is not beside the repository"
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason), id="absent")]
    found = [case for case in json.loads(path.read_text(encoding="utf-8")) if in_slice(case)]
    return [pytest.param(case, id=f"{case['case']}-{n}") for n, case in enumerate(found)]


def racks_of(given: Case) -> Racks:
    if "racks" in given:
        return {int(broker): rack for broker, rack in given["racks"].items()}
    return dict.fromkeys(given["brokers"])


def lists(assignment: dict[str, list[int]]) -> dict[int, list[int]]:
    return {int(partition): replicas for partition, replicas in assignment.items()}


def refused(case: Case, act: Callable[[], object]) -> None:
    with pytest.raises(AssignmentRefused) as caught:
        act()
    assert caught.value.exception in case["expected"]["error"]
    assert case["expected"].get("messageContains", "") in str(caught.value).replace(
        "assignment, partition", "assignment for topic 'new-topic5', partition"
    )


# -- Kafka's own cases -----------------------------------------------------------------------


@pytest.mark.parametrize("case", cases("assignment.json", lambda c: c["input"]["op"] == "assign"))
def test_replicas_are_placed_as_kafka_places_them(case: Case):
    given = case["input"]

    def act() -> dict[int, list[int]]:
        start, shift = given.get("startIndex", 0), given.get("replicaShift", 0)
        first = given.get("startPartitionId", 0)
        return assign_replicas(
            racks_of(given), given["nPartitions"], given["rf"], start, shift, first
        )

    if "error" in case["expected"]:
        refused(case, act)
    else:
        assert act() == lists(case["expected"]["assignment"])


@pytest.mark.parametrize(
    "case", cases("assignment.json", lambda c: c["input"]["op"] == "assignProperties")
)
def test_placements_have_the_properties_that_kafka_tests_for_every_draw(case: Case):
    given, expected, racks = case["input"], case["expected"], racks_of(case["input"])
    pairs = list(product(range(len(racks)), repeat=2))
    if given["startIndex"] != "any":
        pairs = [(given["startIndex"], given["startIndex"])]

    for start, shift in pairs:
        placed = assign_replicas(
            racks, given["nPartitions"], given["rf"], start, shift, given["startPartitionId"]
        ).values()
        assert all(len({*replicas}) == given["rf"] for replicas in placed)
        leaders = Counter(replicas[0] for replicas in placed)
        replicas = Counter(broker for replicas in placed for broker in replicas)
        if "leadersPerBroker" in expected:
            assert {*leaders.values()} == {expected["leadersPerBroker"]}
        if "replicasPerBroker" in expected:
            assert {*replicas.values()} == {expected["replicasPerBroker"]}
        if "racksPerPartition" in expected:
            spread = {len({racks[broker] for broker in one}) for one in placed}
            assert spread == {expected["racksPerPartition"]}


@pytest.mark.parametrize(
    "case", cases("assignment.json", lambda c: c["input"]["op"] == "rackAlternatedList")
)
def test_racks_take_turns_as_in_kafka(case: Case):
    racks = {int(broker): rack for broker, rack in case["input"]["racks"].items()}

    assert rack_alternated(racks) == case["expected"]["list"]


@pytest.mark.parametrize(
    "case", cases("assignment.json", lambda c: c["input"]["op"] == "addPartitions")
)
def test_partitions_are_added_as_in_kafka(case: Case):
    given, expected = case["input"], case["expected"]
    existing = lists(given["existing"])
    manual = lists(given["manual"]) if "manual" in given else None

    def act() -> dict[int, list[int]]:
        return add_partitions(existing, racks_of(given), given["newTotal"], manual)

    if "error" in expected:
        refused(case, act)
    else:
        assert act() == lists(expected["added"])
        assert start_of_addition(existing, given["brokers"]) == expected.get(
            "startIndex", start_of_addition(existing, given["brokers"])
        )
        assert min(act()) == expected.get("startPartitionId", min(act()))


@pytest.mark.parametrize(
    "case", cases("topic_admin.json", lambda c: c["input"]["op"] == "validateAssignment")
)
def test_an_assignment_that_does_not_fit_is_refused_as_in_kafka(case: Case):
    refused(case, lambda: check_assignment(lists(case["input"]["assignment"])))


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
    with pytest.raises(AssignmentRefused, match="Unknown broker"):
        add_partitions(existing, THREE, 2, {0: [1, 2], 1: [1, 7]})
