"""Consumer groups: members, assignments, committed offsets (``GroupCoordinator``).

Durable state is in ``__consumer_offsets``, a compacted topic like any other. The leader of a
group's partition of this topic is the group's coordinator.
"""
