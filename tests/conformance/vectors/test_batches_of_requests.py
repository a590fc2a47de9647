"""What one batch sends is the same to the implementation and the plain rule, whatever fills it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.vectors.cases import Case
from conformance.vectors.compare import agrees
from conformance.vectors.implementation.batches import batch
from conformance.vectors.model import batches
from conformance.vectors.shapes import completed
from impl.releases import PRESETS

BROKERS, PARTITIONS = (3, 5, 7, 9), ("t-0", "t-1", "u-0")
SOME = st.lists(st.sampled_from((*BROKERS, -1)), min_size=1, max_size=3, unique=True)
STATES = st.fixed_dictionaries(
    {
        "leader": st.sampled_from((3, 5, -1)),
        "isr": st.lists(st.sampled_from(BROKERS), min_size=1, max_size=3, unique=True),
        "leaderEpoch": st.integers(0, 4),
    }
)
NAMED = st.sampled_from(PARTITIONS)
CALLS = st.one_of(
    st.builds(
        lambda to, states, new: {"add": "leaderAndIsr", "to": to, "partitions": states,
                                 "isNew": new},
        SOME, st.dictionaries(NAMED, STATES, min_size=1, max_size=2), st.booleans(),
    ),
    st.builds(
        lambda to, names: {"add": "updateMetadata", "to": to, "partitions": names},
        SOME, st.lists(NAMED, max_size=2, unique=True),
    ),
    st.builds(
        lambda to, stops: {"add": "stopReplica", "to": to, "partitions": stops},
        SOME, st.dictionaries(NAMED, st.booleans(), min_size=1, max_size=3),
    ),
)  # fmt: skip
BATCHES = st.fixed_dictionaries(
    {
        "controllerId": st.just(3),
        "controllerEpoch": st.just(2),
        "live": st.lists(st.sampled_from(BROKERS), min_size=1, unique=True),
        "leadership": st.dictionaries(NAMED, STATES, max_size=3),
        "queuedForDeletion": st.lists(st.sampled_from(("t", "u")), max_size=2, unique=True),
        "deletionStarted": st.lists(st.sampled_from(("t", "u")), max_size=2, unique=True),
        "calls": st.lists(CALLS, min_size=1, max_size=4),
    }
)


@given(BATCHES, st.sampled_from((*PRESETS, "1.0", "2.2", "2.6")))
def test_both_sides_send_the_same(asked: dict[str, Any], release: str):
    whole = completed("request_batch", "batch", asked, release)
    question = {"input": whole, "release": release, "versions": release}
    case = Case("request_batch", 0, "", "", release, release, "batch", asked, None)

    assert agrees(dict(batches.by_rule(question)), batch(question), case)
