"""Consumer groups: who belongs to them, who reads what, how far they are (``GroupCoordinator``).

What has to outlast a coordinator is in ``__consumer_offsets``, a compacted topic like any other:
who leads a group's partition of it is the group's coordinator.
"""
