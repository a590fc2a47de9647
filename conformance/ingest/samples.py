"""Generates sample lines of a log statement: its holes filled with values, release by release.

Used to find out what the templates make of a statement, when the table is made and in the tests.
The text before a hole selects its value; the text of a partition's state differs from release to
release. Sources: LeaderAndIsr, LeaderIsrAndControllerEpoch, LeaderAndIsrRequest,
UpdateMetadataRequest, StopReplicaRequest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice, product

from conformance.ingest.statements import HOLE, STATE_CHANGE

_MOST = 4000  # ways to fill a shape that are tried

_SHORT = "(Leader:4,ISR:4,5,{}LeaderEpoch:1,{}ControllerEpoch:7)"
_SHORT_0 = _SHORT.format("", "")
_SHORT_1 = _SHORT.format("", "ZkVersion:2,")
_SHORT_2 = _SHORT.format("LeaderRecoveryState:RECOVERED,", "ZkVersion:2,")
_INFO = f"(LeaderAndIsrInfo:{_SHORT_0},ReplicationFactor:2),AllReplicas:4,5)"
_JSON = '{"leader":4,"leader_epoch":1,"isr":[4,5]}'
_STATE = "controllerEpoch=7, leader=4, leaderEpoch=1, isr={}, {}=2, replicas={}"
_OLD = _STATE.format("[4, 5]", "zkVersion", "[4, 5]")
_PLAIN = _STATE.format("4,5", "zkVersion", "4,5")
_NAMED = "topicName='orders', partitionIndex=0, "
_STOP = "StopReplicaPartitionState(partitionIndex=0, leaderEpoch=1, deletePartition=true)"
_EPOCHS = "List(BrokerState(brokerId=4, brokerEpoch=31), BrokerState(brokerId=5, brokerEpoch=-1))"


def _by_name(version: str, more: str = "") -> tuple[str, ...]:
    """From 2.4 on requests are generated messages, which name every field."""
    asked, sampled = (_STATE.format("[4, 5]", each, "[4, 5]") for each in (version, "zkVersion"))
    grown = ", addingReplicas=[], removingReplicas=[]"
    return (
        f"LeaderAndIsrPartitionState({_NAMED}{asked}{grown}, isNew=true{more})",
        f"UpdateMetadataPartitionState({_NAMED}{sampled}, offlineReplicas=[])",
        _STOP,
    )


FORMS: dict[tuple[int, ...], tuple[str, ...]] = {
    (0, 9): (_SHORT_0, _JSON, _INFO),
    (0, 10): (_SHORT_0, _JSON, _INFO, f"PartitionState({_OLD})"),
    (0, 11): (_SHORT_0, _JSON, _INFO, f"PartitionState({_PLAIN})"),
    (1, 0): (
        _SHORT_0,
        _JSON,
        f"PartitionState({_PLAIN}, isNew=true)",
        f"PartitionState({_PLAIN}, offlineReplicas=)",
    ),
    (1, 1): (
        _SHORT_0,
        "LeaderAndIsr(leader=4, leaderEpoch=1, isr=List(4, 5), zkVersion=2)",
        f"PartitionState({_PLAIN}, isNew=true)",
        f"PartitionState({_PLAIN}, offlineReplicas=)",
    ),
    (2, 4): (
        _SHORT_0,
        "LeaderAndIsr(leader=4, leaderEpoch=1, isr=List(4, 5), zkVersion=2)",
        *_by_name("zkVersion"),
    ),
    (2, 7): (
        _SHORT_1,
        "LeaderAndIsr(leader=4, leaderEpoch=1, isr=List(4, 5), zkVersion=2)",
        *_by_name("zkVersion"),
    ),
    (3, 0): (
        _SHORT_0,
        "LeaderAndIsr(leader=4, leaderEpoch=1, isr=List(4, 5), zkVersion=2)",
        *_by_name("zkVersion"),
    ),
    (3, 1): (
        _SHORT_1,
        "LeaderAndIsr(leader=4, leaderEpoch=1, isr=List(4, 5), zkVersion=2)",
        *_by_name("zkVersion"),
    ),
    (3, 2): (
        _SHORT_2,
        "LeaderAndIsr(leader=4, leaderEpoch=1, isr=List(4, 5), leaderRecoveryState=RECOVERED, "
        "zkVersion=2)",
        *_by_name("partitionEpoch", ", leaderRecoveryState=0"),
    ),
    (3, 3): (
        _SHORT_2,
        "LeaderAndIsr(leader=4, leaderEpoch=1, isr=List(4, 5), leaderRecoveryState=RECOVERED, "
        "partitionEpoch=2)",
        *_by_name("partitionEpoch", ", leaderRecoveryState=0"),
    ),
    (3, 5): (
        _SHORT_2,
        f"LeaderAndIsr(leader=4, leaderEpoch=1, isrWithBrokerEpoch={_EPOCHS}, "
        "leaderRecoveryState=RECOVERED, partitionEpoch=2)",
        *_by_name("partitionEpoch", ", leaderRecoveryState=0"),
    ),
}
"""How a partition's state is written, from each release on until the next."""

# What stands before a hole, and what may stand in it.
_AFTER: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(before + r"$"), values)
    for before, values in (
        (r"(?:partition|Follower|Leader|fetching|Truncating|state change for|replica) ?",
         ("orders-0", "7")),
        (r"(?:[Ll]og|segment) '?", ("orders-0", "7")),
        (r"(?:^|for |in |after )", ("orders-0", "7")),
        (r"-", ("0",)),
        (r"transition to ", ("OfflineReplica",)),
        (r"from ", ("NewPartition", "NonExistentPartition", "7", "5,4")),
        (r"(?:to|state) ", ("OnlinePartition", "NewPartition", "5,4", "7")),
        (r"Previous leader ", ("Some(4)", "None")),
        (r"ISR (?:for partition \S+ )?(?:updated to )?\[?", ("5,4", "[5,4]")),
        (r"[Rr]eplicas ", ("[4,5]",)),
        (r"(?:become-|[Ss]ending )", ("become-leader", "leader", "7")),
        (r"delete=", ("true",)),
        (r"sent to broker ", ("host4:9092 (id: 4 rack: null)",)),
        (r"(?:for|a) request ", ("UPDATE_METADATA", "7")),
        (r"topic ", ("orders", "7")),
        (r"with ", ("TruncationState(offset=16, completed=true)", "7")),
        (r"response ", ("{error_code=0}", "7")),
    )
)  # fmt: skip
_ANY = ("7", "orders-0", "orders", "Set(4)")
_TAKES_STATE = re.compile(r"(?:state|request|ISR|info|to|is|cache for \S+ is updated to|path) $")


def heads_of(logger: str, release: tuple[int, ...]) -> str:
    """The prefixes of a logger's messages: since 1.0 all have one in brackets."""
    if logger == STATE_CHANGE:
        return "" if release < (1, 0) else "[Controller id=4 epoch=7] "
    return "[Controller 4] "


def samples(shape: str, release: tuple[int, ...]) -> Iterator[str]:
    """Messages of that shape as the release writes them, the likeliest first."""
    literals = shape.split(HOLE)
    forms = FORMS[max(since for since in FORMS if since <= release)]
    choices = []
    before = ""
    for literal in literals[:-1]:
        before += literal
        values: tuple[str, ...] = ()
        if _TAKES_STATE.search(before):
            values = forms
        values += next((said for rule, said in _AFTER if rule.search(before)), ("7",))
        choices.append(tuple(dict.fromkeys((*values, *_ANY))))
        before += "7"
    for filled in islice(_likeliest(choices), _MOST):
        pieces = [part for pair in zip(literals, filled, strict=False) for part in pair]
        yield "".join(pieces) + literals[-1]


def _likeliest(choices: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """All combinations of choices, ordered by how few differ from the first choices."""
    for number in range(len(choices) + 1):
        for places in combinations(range(len(choices)), number):
            for others in product(*(choices[place][1:] for place in places)):
                filled = [values[0] for values in choices]
                for place, value in zip(places, others, strict=True):
                    filled[place] = value
                yield tuple(filled)
