"""Lines of no interest to the protocol in releases 3.0 to 3.9, by the end of the logger's name.

`UnifiedLog` has those of `Log` as well, whose successor it is (3.1).
"""

from __future__ import annotations

NOTES: dict[str, tuple[str, ...]] = {
    "UnifiedLog": (
        "Closing log",
        "Deleted log",
        "Deleting segments ",
        "Loading producer state till offset ",
        "Rebuilding producer state ",
        "Recovering unflushed segment ",
        "Rolled new ",
        "Truncated to offset ",
    ),
    "KafkaController": (
        "Acquired new producerId block ",
        "Creating feature ZK node at path: ",
        "Feature ZK node ",
        "Failed to ",
        "Received AlterPartition ",
        "Renewing feature ",
        "Updated ISR ",
    ),
    "Partition": (
        "Failed to alter partition to ",
        "Failed to enqueue ",
        "ISR update to ",
        "Ignoring new ISR ",
        "Trying to alter partition ",
    ),
    "ReplicaFetcherThread": ("Truncating to ", "Local leader endpoint "),
}
