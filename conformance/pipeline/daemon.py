"""Spark's daemon of Python workers, which imports what they need once, before it forks them.

Each worker is a process of its own that would import Arrow and our rules anew: for a small folder
of logs that took longer than all the rest. Only where the workers are on this machine.
"""

from __future__ import annotations

from pyspark.daemon import manager

import conformance.pipeline.spark_steps  # noqa: F401

MODULE = __name__

if __name__ == "__main__":
    manager()
