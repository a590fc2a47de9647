"""Templates of a controller's lines about elections outside the ISR, releases 0.9 to 1.0.

Later releases count such elections and do not log them; there, the written states show them
(`pipeline.rules_model`). Source: OfflinePartitionLeaderSelector.
"""

from __future__ import annotations

from conformance.ingest.notation import Template
from conformance.ingest.templates_before_2 import SELECTOR

_REST = " Elect leader {leader} from live brokers {detail}. There's potential data loss."

TEMPLATES = (
    Template(
        "unclean_election_before_1_0",
        "unclean_election",
        SELECTOR,
        "No broker in ISR is alive for [{topic},{partition}]." + _REST,
        "[OfflinePartitionLeaderSelector]: No broker in ISR is alive for [orders,0]. Elect leader "
        "5 from live brokers 5. There's potential data loss.",
    ),
    Template(
        "unclean_election",
        "unclean_election",
        SELECTOR,
        "No broker in ISR is alive for {tp}." + _REST,
        "[OfflinePartitionLeaderSelector]: No broker in ISR is alive for orders-0. Elect leader 5 "
        "from live brokers 5. There's potential data loss.",
    ),
)
