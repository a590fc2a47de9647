"""The controller's two state machines as tables of valid previous states; the rest is derived.

A transition that is not in its table is skipped: the element does not change, and the rest of the
batch continues. The model's steps change states only by `state_after`; the claim
`state_changes_are_valid` checks every step independently; `rows` prints the tables.

Source: kafka.controller.PartitionState, ReplicaState (validPreviousStates)
"""

from collections.abc import Iterator, Mapping

from model.language import all_of, any_of, version, when

Table = Mapping[str, tuple[str, ...]]
"""Target state -> the states that it may follow."""

PARTITION_TABLE: Table = {
    "NewPartition":         ("NonExistentPartition",),
    "OnlinePartition":      ("NewPartition", "OnlinePartition", "OfflinePartition"),
    "OfflinePartition":     ("NewPartition", "OnlinePartition", "OfflinePartition"),
    "NonExistentPartition": ("OfflinePartition",),
}

_LIVING = ("NewReplica", "OnlineReplica", "OfflineReplica", "ReplicaDeletionIneligible")

REPLICA_TABLE: Table = {
    "NewReplica":                ("NonExistentReplica",),
    "OnlineReplica":             _LIVING,
    "OfflineReplica":            _LIVING,
    "ReplicaDeletionStarted":    ("OfflineReplica",),
    "ReplicaDeletionSuccessful": ("ReplicaDeletionStarted",),
    "ReplicaDeletionIneligible": ("OfflineReplica", "ReplicaDeletionStarted"),
    "NonExistentReplica":        ("ReplicaDeletionSuccessful",),
}
"""As of 2.3."""

REPLICA_TABLE_BEFORE: Table = {
    **REPLICA_TABLE, "ReplicaDeletionIneligible": ("ReplicaDeletionStarted",),
}
"""Up to 2.2 a replica that is offline already cannot become ineligible: it stays offline."""


def replica_table() -> Table:
    """The table of the version that is being recorded."""
    return REPLICA_TABLE if version.offline_becomes_ineligible else REPLICA_TABLE_BEFORE


def may_become(table: Table, state, target: str):
    """The table has the transition from a state to the target."""
    return any_of(*(state == before for before in table[target]))


def state_after(table: Table, state, target: str, chosen):
    """The state after a batch to the target, in which this element is if it is chosen."""
    return when(all_of(chosen, may_become(table, state, target)), target, state)


def rows(table: Table) -> Iterator[str]:
    """The table as text, a line for each target in the order of the table."""
    width = max(map(len, table))
    for target, before in table.items():
        yield f"{target:{width}} <- {', '.join(before)}"
