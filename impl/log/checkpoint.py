"""The high watermark checkpoint, which a broker reads when it starts."""

from __future__ import annotations


class HighWatermarkCheckpoint:
    """``replication-offset-checkpoint`` for one partition, in memory."""

    def __init__(self) -> None:
        self.offset = 0

    def write(self, high_watermark: int) -> None:
        """Replace the checkpointed high watermark."""
        self.offset = high_watermark

    def read_bounded(self, log_end: int) -> int:
        """The checkpointed high watermark, no lower than 0 and no higher than the log end."""
        return max(0, min(self.offset, log_end))
