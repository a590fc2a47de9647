"""Templates of brokers' lines about their logs at DEBUG and TRACE, releases 0.10 to 3.9.

Sources: Partition (DEBUG: followers' offsets, the leader's high watermark) and
ReplicaFetcherThread (TRACE: a follower's responses and their effect), in server.log.
"""

from __future__ import annotations

from conformance.ingest.notation import Template
from conformance.ingest.templates_broker import FETCHER, PARTITION

RECORDED, RAISED = "follower_recorded", "high_watermark_raised"
RECEIVED, REPLICATED, FOLLOWED = "fetch_received", "records_replicated", "high_watermark_followed"
KINDS = (RECORDED, RAISED, RECEIVED, REPLICATED, FOLLOWED)

_HEAD = "[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] "
_OLD = "Follower {broker} "

TEMPLATES = (
    Template(
        "follower_recorded",
        RECORDED,
        PARTITION,
        "Recorded replica {replica} log end offset (LEO) position {offset}{...=.*}",
        "[Partition orders-0 broker=4] Recorded replica 5 log end offset (LEO) position 16 and log "
        "start offset 0.",
    ),
    Template(
        "leader_high_watermark",
        RAISED,
        PARTITION,
        "High watermark {...=updated (?:from .* )?to \\(?(?:offset=)?}{high_watermark}{...=.*}",
        "[Partition orders-0 broker=4] High watermark updated from (offset=14 segment=[0:980]) to "
        "(offset=16 segment=[0:1120])",
    ),
    Template(
        "leader_high_watermark_before_1_0",
        RAISED,
        PARTITION,
        "High watermark for partition {tp} updated to {high_watermark}{...=.*}",
        "Partition [orders,0] on broker 4: High watermark for partition [orders,0] updated to 16 "
        "[0 : 1120]",
    ),
    *(
        template
        for since, subject, head in (
            ("", "Follower ", _HEAD),
            ("_before_1_0", _OLD, "[ReplicaFetcherThread-0-4], Follower 5 "),
        )
        for template in (
            Template(
                f"fetch_received{since}",
                RECEIVED,
                FETCHER,
                subject + "has replica log end offset {offset} for partition {tp}. Received "
                "{...=\\d+ (?:bytes of )?messages} and leader hw {high_watermark}",
                (head if since else head + "Follower ") + "has replica log end offset 14 for "
                "partition orders-0. Received 140 messages and leader hw 14",
            ),
            Template(
                f"records_replicated{since}",
                REPLICATED,
                FETCHER,
                subject + "has replica log end offset {offset} after appending {...=\\d+} bytes of "
                "messages for partition {tp}",
                (head if since else head + "Follower ") + "has replica log end offset 16 after "
                "appending 140 bytes of messages for partition orders-0",
            ),
            Template(
                f"high_watermark_followed{since}",
                FOLLOWED,
                FETCHER,
                subject + "set replica high watermark for partition {tp} to {high_watermark}",
                (head if since else head + "Follower ") + "set replica high watermark for "
                "partition orders-0 to 14",
            ),
        )
    ),
    Template(
        "high_watermark_followed_since_3",
        FOLLOWED,
        FETCHER,
        "Follower received high watermark {...=\\d+} from the leader and updated replica high "
        "watermark to {high_watermark} for partition {tp}",
        _HEAD + "Follower received high watermark 14 from the leader and updated replica high "
        "watermark to 14 for partition orders-0",
    ),
)
