"""Replication's rules by release, for any number of partitions, without clock, disk or network."""
