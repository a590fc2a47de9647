"""Consumer groups: members, assignments, committed offsets (``GroupCoordinator``).

What has to outlast a coordinator is in ``__consumer_offsets``, a compacted topic like any other:
who leads a group's partition of it is the group's coordinator.
"""
