"""A whole cluster with one scheduler: topics, reassignments, deletions, in-memory disks.

The world of one partition (``impl.world``) has finer steps and a model beside it. Here one process
runs the controllers, replication rules and logs of broker processes; every message, watch, response
and fault is a step that the caller chooses.
"""
