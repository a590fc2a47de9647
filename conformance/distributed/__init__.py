"""Explores on Spark: visited states are partitioned by hash, and kept in files."""

from conformance.distributed.search import distributed_search
from conformance.distributed.segments import Segments
from conformance.distributed.task import ExplorationTask

__all__ = ["ExplorationTask", "Segments", "distributed_search"]
