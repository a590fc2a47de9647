"""What of a log depends on the release: the epoch cache's rules, and an index entry's offset.

A release is its numbers: (0, 11) for 0.11, (2, 3) for 2.3. A leader stores messages of format v1
up to 0.10 and v2 since, or an older one that a topic asks for; what came before is read, and a
follower keeps it as it comes.
"""

from __future__ import annotations

from dataclasses import replace

from impl.log.config import LogConfig
from impl.log.leader_epoch_cache import LeaderEpochFileCache
from impl.log.leader_epoch_cache_0_11 import LeaderEpochFileCache011

Numbers = tuple[int, ...]


def epoch_cache_of(release: Numbers) -> LeaderEpochFileCache:
    """An empty cache with that release's rules: KIP-279's since 2.0, KIP-101's before."""
    if release >= (2, 0):
        return LeaderEpochFileCache()
    return LeaderEpochFileCache011((), asks_undefined=release < (0, 11, 1))


def config_of(release: Numbers, config: LogConfig | None = None) -> LogConfig:
    """The configuration with that release's kind of index entry, and a message format it knows."""
    given = config or LogConfig()
    newest = 2 if has_epochs(release) else 1
    return replace(
        given,
        index_last_offset=release >= (2, 0),
        message_format=min(given.message_format, newest),
    )


def has_epochs(release: Numbers) -> bool:
    """Logs have leader epochs and start offsets, with a checkpoint file for each (0.11)."""
    return release >= (0, 11)
