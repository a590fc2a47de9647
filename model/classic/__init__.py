"""Five published designs of Kafka's replication without ZooKeeper, for comparison.

Quorum changes are atomic and visible at once; `election` and `replication` add ZooKeeper. The
capacities (log size, records, epochs) are guards and not pruning bounds, because the numbers of
reachable states, known from another checker, depend on this.
"""

from model.classic.claims import CLAIMS
from model.classic.controller import SHARED
from model.classic.first_three import FIRST_THREE
from model.classic.kip_320 import FENCED
from model.classic.kip_320_first_try import FIRST_TRY
from model.classic.state import STATE
from model.language import ALL, Bound, System, Version

_DESIGNS = {
    "hw_truncation": "followers cut to their high watermark (up to 0.10)",
    "kip_101": "followers ask where their last epoch ends (0.11)",
    "kip_279": "followers cut to the end of what both logs share (2.0)",
    "kip_320_first_try": "cut on fetch, by the epoch of the last record (never released)",
    "kip_320": "everything is fenced by the leader epoch (2.1)",
}


def initial(new):
    """Every replica is in the ISR, there is no leader, all logs are empty."""
    new.quorum.isr = ALL


SYSTEM = System(
    name="classic",
    about="five published designs of one partition's replication, ZooKeeper elided",
    state=STATE,
    initial=initial,
    transitions=(*SHARED, *FIRST_THREE, *FIRST_TRY, *FENCED),
    claims=CLAIMS,
    versions={
        name: Version(name, {"design": name}, about) for name, about in _DESIGNS.items()
    },
    default_version="kip_320",
    bounds={
        "brokers": Bound(3, 1, "replicas of the partition"),
        "log": Bound(2, 1, "records a log can hold"),
        "records": Bound(2, 1, "records that producers write"),
        "epoch": Bound(1, 0, "greatest leader epoch; the first is 0"),
    },
    switches={"design": "which of the five published designs"},
)
