"""A whole cluster with one scheduler: topics, reassignments, deletions, in-memory disks.

The world of one partition (``impl.world``) has finer steps and a model beside it. Here the
controller, the replication rules and the logs that brokers run as processes are joined in one
process, with every message, watch, answer and fault a step that the caller chooses.
"""

from impl.world.wide.claims import ClusterClaimBroken, WideClaims
from impl.world.wide.runs import WIDE_PROFILES, WideRun, WideSimulator, run_wide
from impl.world.wide.wide_steps import WIDE_KINDS
from impl.world.wide.wide_world import WideWorld

__all__ = [
    "WIDE_KINDS",
    "WIDE_PROFILES",
    "WideClaims",
    "ClusterClaimBroken",
    "WideRun",
    "WideSimulator",
    "WideWorld",
    "run_wide",
]
