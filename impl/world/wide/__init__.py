"""A whole cluster with one scheduler: topics, reassignments, deletions, in-memory disks.

The world of one partition (``impl.world``) has finer steps and a model beside it. Here the
controller, the replication rules and the logs that brokers run as processes are joined in one
process, with every message, watch, answer and fault a step that the caller chooses.
"""
