"""Release-dependent rules of a log: of the epoch cache, and an index entry's offset.

A release is its numbers: (0, 11) for 0.11, (2, 3) for 2.3. A leader stores messages of format v1
up to 0.10 and v2 since, or an older one that a topic asks for; what came before is read, and a
follower keeps it as it comes.
"""

from __future__ import annotations

from dataclasses import replace

from impl.log.config import LogConfig
from impl.log.leader_epoch_cache import LeaderEpochFileCache
from impl.log.leader_epoch_cache_0_11 import LeaderEpochFileCache011
from impl.log.producer_state import OUT_OF_ORDER, UNKNOWN, ProducerRules

Numbers = tuple[int, ...]


def epoch_cache_of(release: Numbers) -> LeaderEpochFileCache:
    """An empty cache with that release's rules: KIP-279's since 2.0, KIP-101's before."""
    if release >= (2, 0):
        return LeaderEpochFileCache()
    return LeaderEpochFileCache011((), asks_undefined=release < (0, 11, 1))


def config_of(release: Numbers, config: LogConfig | None = None) -> LogConfig:
    """The configuration with that release's kind of indexes, its treatment of older message
    formats, and a message format it knows."""
    given = config or LogConfig()
    newest = 2 if has_epochs(release) else 1
    return replace(
        given,
        index_last_offset=release >= (2, 0),
        epochs_by_format=release == (2, 1) or release >= (2, 1, 1),  # a line means its last release
        older_format_ends_epochs=release == (2, 2) or release >= (2, 2, 1),
        time_index=release >= (0, 10, 1),
        message_format=min(given.message_format, newest),
    )


def producer_rules_of(release: Numbers, expiration_ms: int | None = None) -> ProducerRules:
    """How that release checks sequences: KAFKA-5494 (1.0), KAFKA-7190 (2.4), KIP-360 (2.5)."""
    unknown = OUT_OF_ORDER if release < (1, 0) else UNKNOWN if release < (2, 5) else ""
    return ProducerRules(
        batches=1 if release < (1, 0) else 5,
        unknown=unknown,
        unsequenced=UNKNOWN if (2, 1) <= release < (2, 5) else OUT_OF_ORDER,
        tells_older=(1, 0) <= release < (1, 1),
        forgets_with_records=release < (2, 4),
        kept_when_cut=release >= (2, 0),
        expiration_ms=ProducerRules().expiration_ms if expiration_ms is None else expiration_ms,
    )


def has_epochs(release: Numbers) -> bool:
    """Whether logs have leader epochs and start offsets, with a checkpoint file for each (0.11)."""
    return release >= (0, 11)
