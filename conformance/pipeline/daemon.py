"""Spark's daemon for Python workers: imports what workers need once, before it forks them.

Each worker is a process that would otherwise import Arrow and our rules anew; for a small folder
of logs this took longer than all the rest. Used only for workers on this machine.
"""

from __future__ import annotations

from pyspark.daemon import manager

import conformance.pipeline.spark_steps  # noqa: F401

MODULE = __name__

if __name__ == "__main__":
    manager()
